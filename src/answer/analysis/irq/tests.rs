use super::{HandlerKind, IrqReport, Irqs};
use crate::answer::analysis::InOrder;
use crate::answer::analysis::test_formats::{comm, format, number, record};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Timestamp};
use crate::file::trace_dat::Coverage;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;

const HARD: u16 = 1;
const HARD_END: u16 = 2;
const RAISE: u16 = 3;
const SOFT: u16 = 4;
const SOFT_END: u16 = 5;
const TIMER: u16 = 6;
const TIMER_END: u16 = 7;
const QUEUE: u16 = 8;
const WORK: u16 = 9;
const WORK_END: u16 = 10;
const SWITCH: u16 = 11;

fn formats() -> Vec<EventFormat> {
    let one = |system: &str, name: &str, id: u16, fields: &[&str]| format(system, name, id, fields, "\"\"");
    let mut hard = one("irq", "irq_handler_entry", HARD, &["irq", "comm"]);
    // A text of a fixed length does as well.
    hard.fields.iter_mut().filter(|field| field.name == "comm").for_each(|field| field.name = "name".to_owned());
    vec![
        hard,
        one("irq", "irq_handler_exit", HARD_END, &["irq", "ret"]),
        one("irq", "softirq_raise", RAISE, &["vec"]),
        one("irq", "softirq_entry", SOFT, &["vec"]),
        one("irq", "softirq_exit", SOFT_END, &["vec"]),
        one("timer", "timer_expire_entry", TIMER, &["timer", "now", "function"]),
        one("timer", "timer_expire_exit", TIMER_END, &["timer"]),
        one("workqueue", "workqueue_queue_work", QUEUE, &["work", "function"]),
        one("workqueue", "workqueue_execute_start", WORK, &["work", "function"]),
        one("workqueue", "workqueue_execute_end", WORK_END, &["work"]),
        one("sched", "sched_switch", SWITCH, &["prev_pid", "next_pid"]),
    ]
}

/// Events of (time, CPU, current task, id, fields).
fn follow(events: &[(u64, u32, i32, u16, &[i64])], lost_before: Option<u64>) -> IrqReport {
    let mut irqs = Irqs::new(&formats(), Abi::HOST).covering(&Coverage::default());
    assert!(irqs.has_events());
    for &(at, cpu, task, id, fields) in events {
        let mut fields: Vec<Vec<u8>> = fields.iter().map(|value| number(*value)).collect();
        if id == HARD {
            fields.push(comm("disk"));
        }
        let data = record(id, task, &fields);
        let lost = if lost_before == Some(at) { Lost::Unknown } else { Lost::None };
        irqs.record(&Record { timestamp: Timestamp(at), cpu: CpuId(cpu), buffer: 0, lost, data: &data });
    }
    irqs.finish()
}

/// Kind, id, runs, time, own time (999: unknown) and number of delays of each handler.
fn rows(report: &IrqReport) -> Vec<(HandlerKind, u64, u64, u64, u64, u64)> {
    let one = |source: &super::IrqSource| {
        (
            source.kind,
            source.id,
            source.times.count(),
            source.times.total(),
            source.own.unwrap_or(999),
            source.delays.count(),
        )
    };
    report.sources.iter().map(one).collect()
}

#[test]
fn time_of_handlers_within_is_not_the_outer_ones_own() {
    let report = follow(
        &[
            (100, 0, 7, RAISE, &[1]),
            (105, 0, 7, RAISE, &[1]), // asked for already
            (110, 0, 7, SOFT, &[1]),
            (120, 0, 7, TIMER, &[0xa, 0, 0xf00]),
            (125, 0, 7, HARD, &[24]),
            (127, 1, 0, HARD, &[24]), // another CPU's
            (131, 0, 7, HARD_END, &[24, 1]),
            (140, 0, 7, TIMER_END, &[0xa]),
            (150, 0, 7, SOFT_END, &[1]),
            (160, 1, 0, HARD_END, &[24, 1]),
        ],
        None,
    );
    assert_eq!(
        rows(&report),
        [
            (HandlerKind::Irq, 24, 2, 6 + 33, 6 + 33, 0),
            (HandlerKind::SoftIrq, 1, 1, 40, 20, 1),
            (HandlerKind::Timer, 0xf00, 1, 20, 14, 0),
        ]
    );
    assert_eq!((report.sources[0].name.as_slice(), report.sources[1].delays.total()), (b"disk".as_slice(), 10));
    let longest = report.sources[0].longest.unwrap();
    assert_eq!((longest.time, longest.at, longest.cpu), (33, 127, CpuId(1)));
    // Own times add up to the time in any handler.
    let own: Vec<u64> = report.cpus.iter().map(|cpu| cpu.own.iter().flatten().sum()).collect();
    assert_eq!((own, report.window), (vec![40, 33], Some((100, 160))));
}

#[test]
fn a_work_item_is_its_workers() {
    let report = follow(
        &[
            (10, 0, 3, QUEUE, &[0x1, 0xf]),
            (30, 1, 50, WORK, &[0x1, 0xf]),
            (35, 1, 50, HARD, &[9]),
            (37, 1, 50, HARD_END, &[9, 0]),
            (40, 1, 50, SWITCH, &[50, 0]),
            (55, 0, 0, SWITCH, &[0, 50]),
            (60, 0, 50, WORK_END, &[0x1]),
            // A switch to it is missing.
            (70, 0, 50, WORK, &[0x2, 0xe]),
            (71, 0, 50, SWITCH, &[50, 0]),
            (80, 0, 50, WORK_END, &[0x2]),
        ],
        None,
    );
    let work = |id, time, own, delays| (HandlerKind::Work, id, 1, time, own, delays);
    assert_eq!(rows(&report), [(HandlerKind::Irq, 9, 1, 2, 2, 0), work(0xf, 30, 15, 1), work(0xe, 10, 999, 0)]);
    let own = report.cpus.iter().map(|cpu| cpu.own[HandlerKind::Work as usize]).collect::<Vec<_>>();
    assert_eq!(own, [None, Some(0)]);
    assert_eq!(report.sources[1].delays.total(), 20);
    assert_eq!(report.cpus.iter().map(|cpu| cpu.runs[HandlerKind::Work as usize]).collect::<Vec<_>>(), [2, 0]);
}

#[test]
fn what_does_not_fit_is_counted_and_no_duration() {
    let report = follow(
        &[
            (5, 0, 1, SOFT_END, &[3]),
            (10, 0, 1, SOFT, &[3]),
            (12, 0, 1, HARD, &[24]), // its exit is missing
            (20, 0, 1, SOFT_END, &[3]),
            (30, 0, 1, SOFT, &[9]),
        ],
        None,
    );
    assert_eq!(rows(&report), [(HandlerKind::SoftIrq, 3, 1, 10, 10, 0)]);
    let counts = report.counts;
    assert_eq!((counts.without_entry, counts.contradictions, counts.unfinished), (1, 1, 1));
}

#[test]
fn nothing_spans_lost_events_of_its_cpu() {
    let report = follow(
        &[
            (10, 0, 1, SOFT, &[3]),
            (11, 1, 1, SOFT, &[4]),
            (12, 1, 50, WORK, &[0x1, 0xf]),
            (20, 0, 1, SOFT_END, &[3]), // events before it were lost
            (21, 1, 1, SOFT_END, &[4]),
            (22, 1, 50, WORK_END, &[0x1]),
        ],
        Some(20),
    );
    assert_eq!(rows(&report), [(HandlerKind::SoftIrq, 4, 1, 10, 10, 0)]);
    assert_eq!((report.counts.losses, report.counts.censored, report.counts.without_entry), (1, 2, 2));
}
