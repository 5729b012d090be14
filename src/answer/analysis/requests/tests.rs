use super::{MarkerPattern, RequestPart, RequestPlan, RequestReport, RequestSide, RequestTimes};
use crate::answer::analysis::test_formats::{comm, format, number, record};
use crate::answer::analysis::{Chosen, InOrder, KeyPart};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;
use proptest::prelude::*;

const SWITCH: u16 = 1;
const WAKING: u16 = 2;
const DONE: u16 = 3;
const LOCK: u16 = 4;
const UNLOCK: u16 = 5;
const BEGIN: u16 = 6;
const END: u16 = 7;
const TAKE: u16 = 8;
const EXIT: u16 = 9;

fn formats() -> Vec<EventFormat> {
    let one = |system: &str, name: &str, id: u16, fields: &[&str]| format(system, name, id, fields, "\"\"");
    vec![
        one("sched", "sched_switch", SWITCH, &["prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid"]),
        one("sched", "sched_waking", WAKING, &["comm", "pid", "target_cpu"]),
        one("block", "block_rq_complete", DONE, &["dev"]),
        one("lock", "contention_begin", LOCK, &["lock_addr", "flags"]),
        one("lock", "contention_end", UNLOCK, &["lock_addr", "ret"]),
        one("my", "begin", BEGIN, &["id"]),
        one("my", "end", END, &["id"]),
        one("my", "take", TAKE, &["id"]),
        one("irq", "irq_handler_exit", EXIT, &["irq"]),
    ]
}

/// A CPU within a hard interrupt.
const IRQ: u32 = 100;

/// An event: time, CPU, the task that is running, its id, and its numbers (of a switch: from, state, to).
type Step = (u64, u32, i32, u16, [i64; 3]);

fn follow(steps: &[Step], lost_before: Option<u64>) -> RequestReport {
    let formats = formats();
    let comms = Comms::default();
    let side = |id: u16| {
        let chosen = Chosen::new(&formats, Abi::HOST, &comms, |format| {
            (format.id.0 == id).then(|| (None, vec![KeyPart::of(format, "id").unwrap()]))
        });
        RequestSide::Events(chosen.into_owned())
    };
    let plan = RequestPlan {
        begin: side(BEGIN),
        end: side(END),
        carry: Some(side(TAKE)),
        events: Vec::new(),
        keep: 100,
        pieces: true,
    };
    let mut times = RequestTimes::new(&formats, Abi::HOST, plan);
    for &(at, cpu, task, id, [a, b, c]) in steps {
        let fields = match id {
            SWITCH => vec![comm("a"), number(a), number(b), comm("b"), number(c)],
            WAKING => vec![comm("a"), number(a), number(b)],
            _ => vec![number(a), number(b)],
        };
        let mut data = record(id, task, &fields);
        data[2] = if cpu >= IRQ { 0x08 } else { 0 };
        let lost = if lost_before == Some(at) { Lost::Count(3) } else { Lost::None };
        times.record(&Record { timestamp: Timestamp(at), cpu: CpuId(cpu % IRQ), buffer: 0, lost, data: &data });
    }
    times.finish()
}

/// The times of a request in run, wait, preempted, io, locks, blocked, sleep, queued, unknown.
fn of(report: &RequestReport, key: &str) -> [u64; 9] {
    let request = report.longest.iter().find(|one| one.key == key.as_bytes()).unwrap();
    RequestPart::ALL.map(|part| request.time(part))
}

const S: i64 = 1;
const D: i64 = 2;

#[test]
fn a_thread_waits_for_a_device_a_lock_and_a_cpu() {
    let steps: &[Step] = &[
        (10, 0, 7, BEGIN, [1, 0, 0]),
        (15, 0, 7, SWITCH, [7, D, 0]), // for a device
        (18, IRQ + 1, 9, DONE, [0; 3]),
        (20, IRQ + 1, 9, WAKING, [7, 0, 0]),
        (21, 0, 0, SWITCH, [0, 0, 7]),
        (25, 0, 7, LOCK, [0xa0, 0, 0]),
        (26, 0, 7, SWITCH, [7, D, 0]),       // for a lock
        (33, IRQ + 1, 9, WAKING, [7, 0, 0]), // by the same handler
        (34, 1, 9, EXIT, [3, 0, 0]),
        (35, 0, 0, SWITCH, [0, 0, 7]),
        (36, 0, 7, UNLOCK, [0xa0, 0, 0]),
        (40, 0, 7, SWITCH, [7, 0, 8]), // preempted
        (47, 0, 8, SWITCH, [8, S, 7]),
        (48, 0, 7, SWITCH, [7, D, 0]), // for something else
        (49, IRQ + 1, 9, WAKING, [7, 0, 0]),
        (49, 0, 0, SWITCH, [0, 0, 7]),
        (50, 0, 7, SWITCH, [7, S, 0]), // likewise
        (53, 1, 9, WAKING, [7, 0, 0]),
        (53, 0, 0, SWITCH, [0, 0, 7]),
        (60, 0, 7, END, [1, 0, 0]),
        (70, 0, 7, SWITCH, [7, S, 0]),
    ];
    let report = follow(steps, None);
    assert_eq!(of(&report, "1"), [5 + 5 + 5 + 1 + 1 + 7, 1 + 2, 7, 5, 7, 1, 3, 0, 0]);
    assert_eq!((report.counts.requests, report.spans.total(), report.longest[0].threads), (1, 50, 1));
    assert!(report.has_io && report.has_locks);
    let lossy = follow(steps, Some(33));
    assert_eq!((lossy.counts.requests, lossy.counts.censored, lossy.counts.without_begin), (0, 1, 1));
}

#[test]
fn a_request_is_handed_on_and_a_thread_carries_one_at_a_time() {
    let steps: &[Step] = &[
        (10, 0, 7, BEGIN, [1, 0, 0]),
        (20, 0, 7, BEGIN, [2, 0, 0]), // 1 waits
        (24, 0, 7, END, [2, 0, 0]),   // and goes on
        (30, 0, 7, BEGIN, [3, 0, 0]),
        (35, 1, 8, TAKE, [1, 0, 0]),
        (50, 1, 8, SWITCH, [8, S, 0]),
        (60, 0, 7, END, [3, 0, 0]),
        (61, 0, 7, END, [1, 0, 0]), // 8 carries it, and sleeps
        (62, 0, 7, BEGIN, [4, 0, 0]),
        (63, 0, 7, BEGIN, [4, 0, 0]),
        (64, 0, 7, END, [9, 0, 0]),
    ];
    let report = follow(steps, None);
    assert_eq!(of(&report, "1"), [10 + 6 + 15, 0, 0, 0, 0, 0, 11, 4 + 5, 0]);
    assert_eq!((of(&report, "2")[0], of(&report, "3")[0]), (4, 30));
    let counts = report.counts;
    assert_eq!((counts.requests, counts.begun_again, counts.without_begin, counts.unfinished), (3, 1, 1, 1));
    assert_eq!(counts.ended_elsewhere, 1);
    let longest: Vec<_> = report.longest.iter().map(|one| (one.span(), one.task, one.threads)).collect();
    assert_eq!(longest, [(51, Some(Pid(7)), 2), (30, Some(Pid(7)), 1), (4, Some(Pid(7)), 1)]);
}

#[test]
fn lines_have_keys() {
    let text = "name: print\nID: 5\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
                \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
                \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
                \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
                \tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n\
                \tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\nprint fmt: \"%s\", REC->buf\n";
    let formats = [EventFormat::parse("ftrace", text).unwrap()];
    for (pattern, line, key) in [
        ("begin *", "begin 17 GET /x\n", Some("17")),
        ("begin *", "begin \n", None),
        ("begin *", "beginning 17\n", None),
        ("req=* done", "req=a-b done in time\n", Some("a-b")),
        ("req=* done", "req=a-b\n", None),
        ("<*>", "<a>\n", Some("a")),
        ("<*>", "<>>\n", Some(">")),
        ("start", "start\n", Some("7")),
        ("start", "start of it\n", Some("7")),
        ("start", "started\n", None),
        ("B|", "B|12|draw\n", Some("7")),
    ] {
        let side = RequestSide::Marker(MarkerPattern::new(&formats, Abi::HOST, pattern).unwrap());
        let data = record(5, 7, &[number(0), line.as_bytes().to_vec()]);
        let one = Record { timestamp: Timestamp(1), cpu: CpuId(0), buffer: 0, lost: Lost::None, data: &data };
        let mut bytes = Vec::new();
        let named = side.named(&one, Pid(7), &mut bytes).map(|named| String::from_utf8(named.text).unwrap());
        assert_eq!(named.as_deref(), key, "{pattern} {line}");
    }
}

proptest! {
    /// Parts of a request add up to it, whatever happens.
    #[test]
    fn parts_add_up(events in prop::collection::vec((0..3u64, prop::sample::select(vec![0, 1, IRQ, IRQ + 1]), 1..4i32, 1..10u16, 0..4i64, 0..3i64, 0..4i64), 0..200),
                    lost in prop::option::of(0..200u64)) {
        let mut at = 0;
        let mut steps: Vec<Step> = Vec::new();
        for (later, cpu, task, id, a, b, c) in events {
            at += later;
            steps.push((at, cpu, task, id, [a, b, c]));
        }
        let report = follow(&steps, lost);
        for request in &report.longest {
            let parts: u64 = RequestPart::ALL.iter().map(|part| request.time(*part)).sum();
            prop_assert_eq!(parts, request.span());
        }
        let all: u64 = report.parts.iter().map(|(_, times)| times.total()).sum();
        prop_assert_eq!(all, report.spans.total());
        prop_assert_eq!(report.spans.count(), report.counts.requests);
    }
}
