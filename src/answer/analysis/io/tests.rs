use super::{BlockDevice, Io, IoOperation, IoReport};
use crate::answer::analysis::InOrder;
use crate::answer::analysis::test_formats::{comm, format, number, record};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Timestamp};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;

const INSERT: u16 = 1;
const ISSUE: u16 = 2;
const REQUEUE: u16 = 3;
const COMPLETE: u16 = 4;
const FRONT: u16 = 5;
const MERGE: u16 = 6;

const DISK: i64 = 8 << 20;

fn formats() -> Vec<EventFormat> {
    let one = |name: &str, id: u16| {
        let mut made = format("block", name, id, &["dev", "sector", "nr_sector", "error", "comm"], "\"\"");
        made.fields.iter_mut().filter(|field| field.name == "comm").for_each(|field| field.name = "rwbs".to_owned());
        made
    };
    vec![
        one("block_rq_insert", INSERT),
        one("block_rq_issue", ISSUE),
        one("block_rq_requeue", REQUEUE),
        one("block_rq_complete", COMPLETE),
        one("block_bio_frontmerge", FRONT),
        one("block_rq_merge", MERGE),
    ]
}

/// Events of (time, id, sector, sectors, letters).
fn follow(events: &[(u64, u16, i64, i64, &str)], lost_before: Option<u64>) -> IoReport {
    let mut io = Io::new(&formats(), Abi::HOST);
    assert!(io.has_events());
    for &(at, id, sector, sectors, letters) in events {
        let error = if letters.ends_with('!') { -5 } else { 0 };
        let fields =
            [number(DISK), number(sector), number(sectors), number(error), comm(letters.trim_end_matches('!'))];
        let data = record(id, 1, &fields);
        let lost = if lost_before == Some(at) { Lost::Unknown } else { Lost::None };
        io.record(&Record { timestamp: Timestamp(at), cpu: CpuId(1), buffer: 0, lost, data: &data });
    }
    io.finish()
}

#[test]
fn a_request_waits_and_is_served() {
    let report = follow(
        &[
            (100, INSERT, 64, 8, "WS"),
            (110, ISSUE, 64, 8, "WS"),
            (120, ISSUE, 800, 16, "R"),   // not inserted
            (130, COMPLETE, 64, 3, "WS"), // a part
            (150, COMPLETE, 67, 5, "WS"), // the rest
            (160, COMPLETE, 800, 16, "R!"),
            (170, ISSUE, 0, 0, "FF"),
            (175, COMPLETE, 0, 0, "FF"),
        ],
        None,
    );
    let [read, write, flush] = &report.requests[..] else { panic!("{:?}", report.requests) };
    assert_eq!((write.operation, write.bytes, write.device.to_string()), (IoOperation::Write, 4096, "8,0".to_owned()));
    assert_eq!((write.total.total(), write.queued.total(), write.device_time.total()), (50, 10, 40));
    let longest = write.longest.unwrap();
    assert_eq!((longest.time, longest.at, longest.sector), (50, 100, 64));
    assert_eq!((read.total.total(), read.queued.count(), read.errors.get(&5)), (40, 0, Some(&1)));
    assert_eq!((flush.operation, flush.total.total(), flush.bytes), (IoOperation::Flush, 5, 0));
    let [device] = &report.devices[..] else { panic!("{:?}", report.devices) };
    // 100 to 110 and 160 to 170 none; 110 to 120, 150 to 160 and 170 to 175 one; 120 to 150 two.
    assert_eq!((device.device, device.all.times()), (BlockDevice(DISK as u32), [20, 25, 30].as_slice()));
    assert_eq!((device.all.busy(), device.all.greatest(), &device.ended), (55, 2, &device.all));
}

#[test]
fn a_request_that_is_given_back_waits_again() {
    let report = follow(
        &[
            (10, ISSUE, 64, 8, "R"),
            (20, REQUEUE, 64, 8, "R"),
            (25, INSERT, 64, 8, "R"),
            (30, ISSUE, 64, 8, "R"),
            (45, COMPLETE, 64, 8, "R"),
        ],
        None,
    );
    let [read] = &report.requests[..] else { panic!("{:?}", report.requests) };
    assert_eq!((read.total.total(), read.queued.total(), read.device_time.total()), (35, 20, 15));
    assert_eq!((report.counts.requeued, report.counts.unfinished), (1, 0));
    assert_eq!(report.devices[0].all.times(), [10, 25]);
}

#[test]
fn nothing_spans_lost_events_and_what_does_not_fit_is_counted() {
    let report = follow(
        &[
            (10, COMPLETE, 1, 8, "R"),
            (20, ISSUE, 64, 8, "R"),
            (30, COMPLETE, 64, 8, "R"), // events before it were lost
            (40, INSERT, 70, 8, "W"),
            (41, INSERT, 70, 8, "R"),   // the first was merged
            (50, COMPLETE, 70, 8, "R"), // never issued
        ],
        Some(30),
    );
    assert!(report.requests.is_empty(), "{:?}", report.requests);
    let counts = report.counts;
    assert_eq!((counts.losses, counts.censored, counts.without_issue, counts.unfinished), (1, 1, 3, 1));
}

#[test]
fn a_completion_that_is_missing_leaves_depth_between_two_bounds() {
    let report = follow(
        &[
            (10, ISSUE, 64, 8, "R"), // never complete
            (20, ISSUE, 800, 8, "R"),
            (30, COMPLETE, 800, 8, "R"),
            (40, ISSUE, 800, 8, "R"),
            (60, COMPLETE, 800, 8, "R"),
            (70, ISSUE, 64, 8, "R"), // another at its place
            (75, COMPLETE, 64, 8, "R"),
            (110, INSERT, 7, 8, "W"),
        ],
        None,
    );
    let device = &report.devices[0];
    assert_eq!((device.ended.busy(), device.ended.greatest(), device.ended.total()), (35, 1, 100));
    assert_eq!((device.all.busy(), device.all.greatest(), device.all.total()), (65, 2, 100));
    assert_eq!(report.counts.unfinished, 2);
}

#[test]
fn a_request_that_grows_at_its_front_waits_since_its_insertion() {
    let report = follow(
        &[
            (10, INSERT, 64, 8, "W"),
            (20, FRONT, 56, 8, "W"),
            (25, FRONT, 48, 8, "W"),
            (30, INSERT, 72, 8, "W"),
            (35, MERGE, 72, 8, "W"), // into the first
            (40, ISSUE, 48, 32, "W"),
            (70, COMPLETE, 48, 32, "W"),
        ],
        None,
    );
    let [write] = &report.requests[..] else { panic!("{:?}", report.requests) };
    assert_eq!((write.queued.total(), write.total.total(), write.bytes), (30, 60, 32 * 512));
    assert_eq!(write.longest.unwrap().sector, 48);
    assert_eq!(report.counts.unfinished, 0);
}
