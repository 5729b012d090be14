use super::{SyscallReport, Syscalls};
use crate::answer::analysis::DescriptorCalls;
use crate::answer::analysis::InOrder;
use crate::answer::analysis::test_formats::{comm, format, number, record};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;

const ENTER: u16 = 1;
const EXIT: u16 = 2;
const SWITCH: u16 = 3;
const ENTER_READ: u16 = 4;
const EXIT_READ: u16 = 5;
const ENTER_OPEN: u16 = 6;
const EXIT_OPEN: u16 = 7;

const READ: i64 = 0;
const OPEN: i64 = 2;

fn formats() -> Vec<EventFormat> {
    vec![
        format("raw_syscalls", "sys_enter", ENTER, &["id", "args", "more"], "\"\""),
        format("raw_syscalls", "sys_exit", EXIT, &["id", "ret"], "\"\""),
        format("sched", "sched_switch", SWITCH, &["prev_pid", "next_pid"], "\"\""),
        format("syscalls", "sys_enter_read", ENTER_READ, &["__syscall_nr", "fd"], "\"\""),
        format("syscalls", "sys_exit_read", EXIT_READ, &["__syscall_nr", "ret"], "\"\""),
        format("syscalls", "sys_enter_open", ENTER_OPEN, &["__syscall_nr", "filename", "__filename_val"], "\"\""),
        format("syscalls", "sys_exit_open", EXIT_OPEN, &["__syscall_nr", "ret"], "\"\""),
    ]
}

/// Events of (time, current task, id, fields).
fn follow(syscalls: Syscalls, events: &[(u64, i32, u16, &[i64])], lost_before: Option<u64>) -> SyscallReport {
    let mut syscalls = syscalls;
    for &(at, task, id, fields) in events {
        let fields: Vec<Vec<u8>> = fields.iter().map(|value| number(*value)).collect();
        let data = record(id, task, &fields);
        let lost = if lost_before == Some(at) { Lost::Count(3) } else { Lost::None };
        syscalls.record(&Record { timestamp: Timestamp(at), cpu: CpuId(0), buffer: 0, lost, data: &data });
    }
    syscalls.finish()
}

fn all() -> Syscalls {
    let syscalls = Syscalls::new(&formats(), Abi::HOST);
    assert!(syscalls.has_events());
    syscalls
}

#[test]
fn a_call_lasts_from_its_entry_to_its_exit() {
    let events: &[(u64, i32, u16, &[i64])] = &[
        (90, 5, EXIT, &[OPEN, 3]), // began before
        (100, 5, ENTER, &[READ]),
        (110, 5, SWITCH, &[5, 6]),
        (115, 6, ENTER, &[READ]),
        (117, 6, EXIT, &[READ, -11]),
        (140, 6, SWITCH, &[6, 5]),
        (150, 5, EXIT, &[READ, 8]),
        (160, 5, ENTER, &[OPEN]),
        (165, 5, EXIT, &[OPEN, -4095]),
        (166, 5, ENTER, &[OPEN]),
        (168, 5, EXIT, &[OPEN, -4096]), // an address
        (170, 6, ENTER, &[60]),         // never returns
    ];
    let report = follow(all(), events, None);
    assert_eq!((report.window, report.has_switches), (Some((90, 170)), true));
    let [read, open] = &report.calls[..] else { panic!("{:?}", report.calls) };
    assert_eq!((read.number, read.times.count(), read.times.total(), read.off_cpu), (READ, 2, 52, 30));
    assert_eq!(read.errors.iter().collect::<Vec<_>>(), [(&11, &1)]);
    let longest = read.longest.first().unwrap();
    assert_eq!((longest.time, longest.at, longest.pid), (50, 100, Pid(5)));
    assert_eq!((open.times.count(), open.failed(), open.errors.get(&4095)), (2, 1, Some(&1)));
    let tasks: Vec<_> = report.tasks.iter().map(|task| (task.pid.0, task.calls, task.errors, task.time)).collect();
    assert_eq!(tasks, [(5, 3, 1, 57), (6, 1, 1, 2)]);
    assert_eq!((report.counts.unfinished, report.counts.without_entry), (1, 1));
    assert_eq!((report.times.count(), report.times.total()), (4, 59));
    let one = follow(all().of_tasks([Pid(6)]), events, None);
    assert_eq!((one.calls.len(), one.tasks.len(), one.times.total()), (1, 1, 2));
}

#[test]
fn nothing_spans_lost_events() {
    let events: &[(u64, i32, u16, &[i64])] =
        &[(10, 5, ENTER, &[READ]), (20, 5, EXIT, &[READ, 0]), (30, 5, ENTER, &[READ]), (90, 5, EXIT, &[READ, 0])];
    let report = follow(all(), events, Some(90));
    assert_eq!((report.times.count(), report.times.total()), (1, 10));
    assert_eq!((report.counts.losses, report.counts.censored, report.counts.without_entry), (1, 1, 1));
}

#[test]
fn an_exit_of_another_call_ends_none() {
    let events: &[(u64, i32, u16, &[i64])] = &[(10, 5, ENTER, &[READ]), (20, 5, EXIT, &[OPEN, 0])];
    let report = follow(all(), events, None);
    assert!(report.calls.is_empty());
    assert_eq!((report.counts.unfinished, report.counts.without_entry), (1, 1));
}

#[test]
fn calls_that_are_reported_twice_count_once_and_have_their_name() {
    let events: &[(u64, i32, u16, &[i64])] = &[
        (10, 5, ENTER_READ, &[READ, 3]),
        (11, 5, ENTER, &[READ]),
        (20, 5, EXIT, &[READ, 7]),
        (21, 5, EXIT_READ, &[READ, 7]),
    ];
    let report = follow(all(), events, None);
    let [read] = &report.calls[..] else { panic!("{:?}", report.calls) };
    assert_eq!((read.name.as_deref(), read.times.count(), read.times.total()), (Some("read"), 1, 9));
    let named: Vec<_> = events.iter().filter(|event| event.2 >= ENTER_READ).copied().collect();
    let report = follow(all(), &named, None);
    assert_eq!((report.calls[0].name.as_deref(), report.times.total()), (Some("read"), 11));
}

/// (pid, is a process, descriptor, file, calls, time).
type Row = (i32, bool, i32, Option<String>, u64, u64);

fn row(pid: i32, is_process: bool, fd: i32, file: Option<&str>, calls: u64, time: u64) -> Row {
    (pid, is_process, fd, file.map(str::to_owned), calls, time)
}

fn descriptors(report: &SyscallReport) -> Vec<Row> {
    let rows = report.descriptors.iter().map(|one| {
        let file = one.file.as_deref().map(|file| std::str::from_utf8(file).unwrap());
        row(one.pid.0, one.is_process, one.fd, file, one.calls, one.time)
    });
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_unstable();
    rows
}

fn with_descriptors() -> Syscalls {
    let calls = [(READ, "read", Some(0)), (OPEN, "open", None), (CLOSE, "close", Some(0))];
    all().with_descriptors(DescriptorCalls::new(calls, [(Pid(5), Pid(5)), (Pid(6), Pid(5))]))
}

const CLOSE: i64 = 3;

/// One event of a task.
fn take(syscalls: &mut Syscalls, (at, task, id): (u64, i32, u16), fields: &[Vec<u8>], lost: Lost) {
    let data = record(id, task, fields);
    syscalls.record(&Record { timestamp: Timestamp(at), cpu: CpuId(0), buffer: 0, lost, data: &data });
}

/// An open of `file` by a task, the raw events within those of the call's own.
fn open(syscalls: &mut Syscalls, task: i32, at: u64, file: &str, fd: i64) {
    take(syscalls, (at, task, ENTER_OPEN), &[number(OPEN), number(0), comm(file)], Lost::None);
    take(syscalls, (at + 1, task, ENTER), &[number(OPEN), number(0), number(0)], Lost::None);
    take(syscalls, (at + 2, task, EXIT), &[number(OPEN), number(fd)], Lost::None);
    take(syscalls, (at + 3, task, EXIT_OPEN), &[number(OPEN), number(fd)], Lost::None);
}

/// A call of five units with descriptor 3, perhaps after lost events.
fn call(syscalls: &mut Syscalls, task: i32, at: u64, id: i64, lost: Lost) {
    take(syscalls, (at, task, ENTER), &[number(id), number(3), number(0)], lost);
    take(syscalls, (at + 5, task, EXIT), &[number(id), number(1)], Lost::None);
}

#[test]
fn a_descriptor_has_the_name_of_its_file_until_it_is_closed() {
    let mut syscalls = with_descriptors();
    call(&mut syscalls, 5, 10, READ, Lost::None); // opened before the window
    call(&mut syscalls, 5, 20, CLOSE, Lost::None);
    open(&mut syscalls, 5, 30, "/a", 3);
    call(&mut syscalls, 6, 40, READ, Lost::None); // another task of the process
    call(&mut syscalls, 5, 50, CLOSE, Lost::None);
    open(&mut syscalls, 6, 60, "/b", 3);
    open(&mut syscalls, 6, 70, "/none", -2);
    call(&mut syscalls, 5, 80, READ, Lost::None);
    open(&mut syscalls, 7, 90, "/c", 3); // of a process that is not known
    call(&mut syscalls, 7, 100, READ, Lost::None);
    call(&mut syscalls, 5, 110, READ, Lost::Count(1)); // a close may be lost
    let report = syscalls.finish();
    assert_eq!(
        descriptors(&report),
        [
            row(5, true, 3, None, 3, 15),
            row(5, true, 3, Some("/a"), 2, 10),
            row(5, true, 3, Some("/b"), 1, 5),
            row(7, false, 3, None, 1, 5)
        ]
    );
    assert_eq!(report.counts.unfinished, 0);
}

#[test]
fn a_call_of_its_own_event_has_its_descriptor() {
    let events: &[(u64, i32, u16, &[i64])] =
        &[(10, 5, ENTER_READ, &[READ, 3]), (21, 5, EXIT_READ, &[READ, 7]), (22, 5, ENTER_READ, &[READ, -1])];
    assert_eq!(descriptors(&follow(with_descriptors(), events, None)), [row(5, true, 3, None, 1, 11)]);
    assert_eq!(descriptors(&follow(all(), events, None)), []);
    let of_other = with_descriptors().of_tasks([Pid(6)]);
    assert_eq!(descriptors(&follow(of_other, events, None)), []);
}
