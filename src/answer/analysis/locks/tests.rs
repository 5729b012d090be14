use super::{LockKind, LockReport, Locks};
use crate::answer::analysis::test_formats::{format, number, record};
use crate::answer::analysis::{InOrder, TaskSet};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::event::{Lost, Record};

const BEGIN: u16 = 1;
const END: u16 = 2;
const STACK: u16 = 3;

fn follow(events: &[(u64, i32, u16, &[i64])], lost_before: Option<u64>) -> LockReport {
    let formats = [
        format("lock", "contention_begin", BEGIN, &["lock_addr", "flags"], "\"\""),
        format("lock", "contention_end", END, &["lock_addr", "ret"], "\"\""),
        format("ftrace", "kernel_stack", STACK, &["caller"], "\"\""),
    ];
    let mut locks = Locks::new(&formats, Abi::HOST, TaskSet::All);
    assert!(locks.has_events());
    for &(at, task, id, fields) in events {
        let fields: Vec<Vec<u8>> = fields.iter().map(|value| number(*value)).collect();
        let data = record(id, task, &fields);
        let lost = if lost_before == Some(at) { Lost::Count(3) } else { Lost::None };
        locks.record(&Record { timestamp: Timestamp(at), cpu: CpuId(0), buffer: 0, lost, data: &data });
    }
    locks.finish()
}

#[test]
fn spinning_and_sleeping_for_a_mutex_is_one_wait() {
    let events: &[(u64, i32, u16, &[i64])] = &[
        (5, 8, END, &[0xd0, 0]), // began before
        (10, 7, BEGIN, &[0xa0, 0x21]),
        (11, 7, STACK, &[0x1000, 0x2000]),
        (15, 7, BEGIN, &[0xb0, 1]), // in an interrupt
        (17, 7, END, &[0xb0, 0]),
        (20, 7, BEGIN, &[0xa0, 0x20]),
        (30, 8, BEGIN, &[0xa0, 0x21]),
        (50, 7, END, &[0xa0, 0]),
        (55, 8, END, &[0xa0, -4]),
        (60, 8, BEGIN, &[0xc0, 2]), // goes on
    ];
    let report = follow(events, None);
    let rows: Vec<_> = report.locks.iter().map(|(key, waits)| (key.0, key.1.name(), waits.times.total())).collect();
    assert_eq!(rows, [(0xa0, "mutex".to_owned(), 65), (0xb0, "spinlock".to_owned(), 2)]);
    let tasks: Vec<_> = report.tasks.iter().map(|(pid, waits)| (*pid, waits.times.total(), waits.failed)).collect();
    assert_eq!(tasks, [(Pid(7), 42, 0), (Pid(8), 25, 1)]);
    let stacks: Vec<_> = report.stacks.iter().map(|(stack, waits)| (stack.clone(), waits.times.total())).collect();
    assert_eq!(stacks, [(vec![0x1000, 0x2000], 40)]);
    assert_eq!((report.counts.unfinished, report.counts.without_begin), (1, 1));
    assert_eq!(report.window, Some((5, 60)));
    let lossy = follow(events, Some(30));
    assert_eq!((lossy.counts.censored, lossy.counts.losses, lossy.counts.without_begin), (1, 1, 2));
    assert_eq!(lossy.tasks.len(), 2);
}

#[test]
fn kinds_have_names() {
    let names = |flags: &[u32]| flags.iter().map(|flags| LockKind(*flags).name()).collect::<Vec<_>>();
    let known = ["semaphore", "spinlock", "rwlock:R", "rwlock:W", "rwsem:R", "rwsem:W"];
    assert_eq!(names(&[0, 1, 3, 5, 2, 4]), known);
    let known = ["rtmutex", "rt-rwlock:R", "rt-rwlock:W", "percpu-rwsem:R", "percpu-rwsem:W", "mutex", "mutex"];
    assert_eq!(names(&[8, 0xa, 0xc, 0x12, 0x14, 0x20, 0x21]), known);
}
