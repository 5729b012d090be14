use super::{FoldedFrame, FunctionReport, FunctionTimes};
use crate::answer::analysis::test_formats::{format, number, record};
use crate::answer::analysis::{InOrder, TaskSet};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;

const ENTRY: u16 = 1;
const EXIT: u16 = 2;
const SWITCH: u16 = 3;

const A: i64 = 0x1000;
const B: i64 = 0x2000;
const IRQ: i64 = 0x3000;
const HARD: u8 = 0x08;

fn formats() -> Vec<EventFormat> {
    vec![
        format("ftrace", "funcgraph_entry", ENTRY, &["func", "depth"], "\"\""),
        format("ftrace", "funcgraph_exit", EXIT, &["func", "depth"], "\"\""),
        format("sched", "sched_switch", SWITCH, &["prev_pid", "next_pid", "prev_state"], "\"\""),
    ]
}

/// Events of (time, current task, flags, id, fields).
fn follow(of: TaskSet, events: &[(u64, i32, u8, u16, &[i64])], lost_before: Option<u64>) -> FunctionReport {
    let mut functions = FunctionTimes::new(&formats(), Abi::HOST, of);
    assert!(functions.has_events());
    for &(at, task, flags, id, fields) in events {
        let fields: Vec<Vec<u8>> = fields.iter().map(|value| number(*value)).collect();
        let mut data = record(id, task, &fields);
        data[2] = flags;
        let lost = if lost_before == Some(at) { Lost::Count(3) } else { Lost::None };
        let record = Record { timestamp: Timestamp(at), cpu: CpuId(0), buffer: 0, lost, data: &data };
        if functions.wants(&record) {
            functions.record(&record);
        }
    }
    functions.finish()
}

/// Calls, whole, net, own, asleep, preempted and interrupted time of a function.
fn of(report: &FunctionReport, address: i64) -> (u64, u64, u64, u64, u64, u64, u64) {
    let Some(f) = report.functions.iter().find(|function| function.address == address as u64) else {
        return Default::default();
    };
    (f.whole.count(), f.whole.total(), f.net.total(), f.own, f.asleep, f.preempted, f.interrupted)
}

#[test]
fn times_off_the_cpu_and_of_interrupts_are_taken_out() {
    let report = follow(
        TaskSet::All,
        &[
            (100, 7, 0, ENTRY, &[A, 0]),
            (110, 7, 0, ENTRY, &[B, 1]),
            (120, 7, 0, SWITCH, &[7, 8, 1]), // sleeps
            (150, 8, 0, SWITCH, &[8, 7, 0]),
            (155, 7, HARD, ENTRY, &[IRQ, 2]),
            (158, 7, HARD, ENTRY, &[B, 3]), // the interrupt's own callee
            (160, 7, HARD, EXIT, &[B, 3]),
            (165, 7, HARD, EXIT, &[IRQ, 2]),
            (170, 7, 0, SWITCH, &[7, 8, 0]), // preempted
            (175, 8, 0, SWITCH, &[8, 7, 1]),
            (180, 7, 0, EXIT, &[B, 1]),
            (200, 7, 0, EXIT, &[A, 0]),
        ],
        None,
    );
    assert_eq!(report.window, Some((100, 200)));
    assert_eq!(of(&report, A), (1, 100, 55, 30, 30, 5, 10));
    assert_eq!(of(&report, B), (2, 72, 27, 27, 30, 5, 10));
    assert_eq!(of(&report, IRQ), (1, 10, 10, 8, 0, 0, 0));
    // The outermost call is its own times and what is not its task's.
    assert_eq!(report.functions.iter().map(|f| f.own).sum::<u64>() + 30 + 5, 100);
    let longest = report.functions.iter().find(|f| f.address == B as u64).unwrap().longest.unwrap();
    assert_eq!((longest.time, longest.at, longest.pid), (70, 110, Pid(7)));
    let folded: Vec<(Vec<FoldedFrame>, u64)> = report.folded.into_iter().map(|one| (one.frames, one.own)).collect();
    let (a, b, irq) = (0x1000, 0x2000, 0x3000);
    use FoldedFrame::{Function, Interrupt};
    assert_eq!(
        folded,
        [
            (vec![Function(a)], 30),
            (vec![Function(a), Function(b)], 25),
            (vec![Interrupt, Function(irq)], 8),
            (vec![Interrupt, Function(irq), Function(b)], 2)
        ]
    );
}

#[test]
fn calls_that_are_not_whole_are_no_durations() {
    let events: &[(u64, i32, u8, u16, &[i64])] = &[
        (90, 7, 0, EXIT, &[A, 0]),   // began before
        (100, 7, 0, ENTRY, &[B, 1]), // within one that did
        (105, 7, 0, EXIT, &[B, 1]),
        (110, 7, 0, EXIT, &[A, 0]),
        (120, 7, 0, ENTRY, &[A, 0]),
        (125, 8, 0, ENTRY, &[B, 0]), // goes on
        (130, 7, 0, EXIT, &[A, 0]),
    ];
    let report = follow(TaskSet::All, events, None);
    assert_eq!((of(&report, A).0, of(&report, A).1, of(&report, B).1), (1, 10, 5));
    assert_eq!((report.counts.unfinished, report.counts.without_entry, report.counts.losses), (1, 2, 0));
    assert!(!report.has_switches);
    let of_eight = follow(TaskSet::from_iter([Pid(8)]), events, None);
    assert!(of_eight.functions.is_empty());
    assert_eq!((of_eight.counts.unfinished, of_eight.counts.without_entry), (1, 0));
    // The call from 120 to 130 spans a loss.
    let lossy = follow(TaskSet::All, events, Some(125));
    assert_eq!((of(&lossy, A).0, of(&lossy, B).1), (0, 5));
    assert_eq!((lossy.counts.unfinished, lossy.counts.without_entry, lossy.counts.losses), (2, 3, 1));
}
