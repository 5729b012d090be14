use super::{Strip, StripScale, Strips};
use crate::answer::analysis::Analysis;
use crate::answer::analysis::test_formats::{comm, format, number, record};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Lost, Pid, Timestamp};
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use proptest::prelude::*;

const SWITCH: u16 = 1;
const OTHER: u16 = 2;

/// Time, CPU, running task, the next one if it is a switch, and if events were dropped before.
type Step = (u64, u32, i32, Option<i32>, bool);

fn formats() -> [EventFormat; 2] {
    let fields = ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"];
    [format("sched", "sched_switch", SWITCH, &fields, "\"\""), format("x", "y", OTHER, &["z"], "\"\"")]
}

/// The strips of these events, of which a part of its own begins at each number of `cuts`.
fn strips(scale: StripScale, steps: &[Step], cuts: &[usize]) -> Vec<Strip> {
    let formats = formats();
    let strips = Strips::new(&formats, Abi::HOST, scale);
    let (mut known, mut part) = (strips.begin(), None);
    for (place, (at, cpu, task, next, lost)) in steps.iter().enumerate() {
        if cuts.contains(&place) {
            let later = part.take();
            if let Some(mut later) = later {
                strips.merge(&mut known, &mut later);
                part = Some(strips.fork(Some(later)));
            } else {
                part = Some(strips.fork(None));
            }
        }
        let data = match next {
            Some(next) => {
                let [prev, next, zero] = [i64::from(*task), i64::from(*next), 0].map(number);
                record(SWITCH, *task, &[comm(""), prev, zero.clone(), zero.clone(), comm(""), next, zero])
            }
            None => record(OTHER, *task, &[number(0)]),
        };
        let lost = if *lost { Lost::Count(5) } else { Lost::None };
        let record = Record { timestamp: Timestamp(*at), cpu: CpuId(*cpu), buffer: 0, lost, data: &data };
        strips.record(&record, || None, part.as_mut().unwrap_or(&mut known));
    }
    if let Some(mut later) = part {
        strips.merge(&mut known, &mut later);
    }
    strips.finish(known)
}

#[test]
fn a_cpu_is_busy_from_switch_to_switch() {
    let steps: &[Step] = &[
        (20, 0, 7, None, false),
        (30, 0, 7, Some(0), false),
        (60, 0, 0, Some(8), false),
        (65, 0, 8, None, false),
        (75, 0, 9, Some(0), true), // what ran from 65 to 75 is not known
    ];
    let found = strips(StripScale::new(0, 99, 10), steps, &[]);
    let cells: Vec<_> = found[0].cells.iter().map(|c| (c.events, c.lost, c.known, c.busy)).collect();
    let idle = (0, 0, 10, 0);
    assert_eq!(
        cells,
        [
            (0, 0, 10, 10), // the task of the first event ran before it
            (0, 0, 10, 10),
            (1, 0, 10, 10),
            (1, 0, 10, 0),
            idle,
            idle,
            (2, 0, 5, 5),
            (1, 5, 5, 0),
            idle,
            idle
        ]
    );
    assert_eq!(found[0].tasks.iter().map(|(pid, time)| (pid.0, *time)).collect::<Vec<_>>(), [(0, 55), (7, 30), (8, 5)]);
    let sum = found[0].sum();
    assert_eq!((sum.known, sum.busy, found[0].switches, found[0].last), (90, 35, 3, Some(75)));
}

#[test]
fn after_a_loss_nothing_is_known_of_the_time_before() {
    let found = strips(StripScale::new(0, 99, 1), &[(40, 3, 7, Some(0), true)], &[]);
    assert_eq!((found[0].cpu, found[0].sum().known, found[0].sum().busy), (CpuId(3), 60, 0));
}

#[test]
fn a_column_is_at_least_one_unit_long() {
    let scale = StripScale::new(10, 12, 80);
    assert_eq!((scale.columns(), (10..13).map(|at| scale.column(at)).collect::<Vec<_>>()), (3, vec![0, 1, 2]));
    let all = StripScale::new(0, u64::MAX, 7);
    assert_eq!((all.column(u64::MAX), all.column(0), all.edge(7)), (6, 0, u64::MAX));
}

proptest! {
    #[test]
    fn columns_and_edges_agree(from in 0..u64::MAX / 2, span in 0..1u64 << 60, columns in 1..500usize, part in 0.0..1.0f64) {
        let scale = StripScale::new(from, from + span, columns);
        let at = from + (span as f64 * part) as u64;
        let column = scale.column(at.min(from + span));
        prop_assert!(scale.edge(column) <= at && at < scale.edge(column + 1));
        prop_assert_eq!((scale.column(scale.edge(column)), scale.edge(scale.columns())), (column, from + span + 1));
    }

    #[test]
    fn parts_of_the_time_add_up(
        steps in proptest::collection::vec((0..40u64, 0..3u32, 0..4i32, proptest::option::of(0..4i32), 0..20u8), 0..60),
        cuts in proptest::collection::vec(0..60usize, 0..6),
        columns in 1..90usize,
    ) {
        let mut at = 0;
        let steps: Vec<Step> = steps.into_iter().map(|(pause, cpu, task, next, lost)| {
            at += pause;
            (at, cpu, task, next, lost == 0)
        }).collect();
        let scale = StripScale::new(0, at.max(1), columns);
        let whole = strips(scale, &steps, &[]);
        prop_assert_eq!(&strips(scale, &steps, &cuts), &whole);
        let events: u64 = whole.iter().map(|strip| strip.sum().events).sum();
        prop_assert_eq!(events, steps.len() as u64);
        for strip in &whole {
            let fits = strip.cells.iter().enumerate().all(|(column, cell)| {
                cell.busy <= cell.known && cell.known <= scale.edge(column + 1) - scale.edge(column)
            });
            prop_assert!(fits);
            let busy: u64 = strip.tasks.iter().filter(|(pid, _)| *pid != Pid(0)).map(|(_, time)| time).sum();
            prop_assert_eq!((busy, strip.tasks.iter().map(|(_, time)| time).sum::<u64>()), (strip.sum().busy, strip.sum().known));
        }
    }
}
