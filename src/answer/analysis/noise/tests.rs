use super::*;
use crate::answer::analysis::InOrder;
use crate::answer::analysis::test_formats::{comm, format, number, record as bytes};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;

const ABI: Abi = Abi::HOST;
const TIMERLAT: [u16; 2] = [1, 2];
const OSNOISE: u16 = 3;
const THRESHOLD: u16 = 4;
const NMI: u16 = 5;
const THREAD: u16 = 6;
const STACK: u16 = 7;

fn formats() -> Vec<EventFormat> {
    let timer = ["seqnum", "context", "timer_latency"];
    let counts =
        ["runtime", "noise", "max_sample", "hw_count", "nmi_count", "irq_count", "softirq_count", "thread_count"];
    vec![
        format("ftrace", "timerlat", TIMERLAT[0], &timer, "\"\""),
        format("osnoise", "timerlat_sample", TIMERLAT[1], &timer, "\"\""),
        format("ftrace", "osnoise", OSNOISE, &counts, "\"\""),
        format("osnoise", "sample_threshold", THRESHOLD, &["start", "duration", "interference"], "\"\""),
        format("osnoise", "nmi_noise", NMI, &["start", "duration"], "\"\""),
        format("osnoise", "thread_noise", THREAD, &["start", "duration", "pid", "comm"], "\"\""),
        format("ftrace", "kernel_stack", STACK, &["caller"], "\"\""),
    ]
}

/// Feeds events of CPU 0, each with its time, task and fields.
fn feed<A: InOrder>(mut analysis: A, events: &[(u16, u64, i32, &[i64])], lost_before: Option<usize>) -> A::Finding {
    for (place, (id, at, task, fields)) in events.iter().enumerate() {
        let mut fields: Vec<Vec<u8>> = fields.iter().map(|value| number(*value)).collect();
        if *id == THREAD {
            fields.push(comm("cat"));
        }
        let data = bytes(*id, *task, &fields);
        let lost = if lost_before == Some(place) { Lost::Count(3) } else { Lost::None };
        let record = Record { timestamp: Timestamp(*at), cpu: CpuId(0), buffer: 0, lost, data: &data };
        if analysis.wants(&record) {
            InOrder::record(&mut analysis, &record);
        }
    }
    analysis.finish()
}

const SAMPLES: [(u16, u64, i32, &[i64]); 9] = [
    (TIMERLAT[0], 100, 9, &[1, 0, 20]),
    (TIMERLAT[1], 101, 9, &[1, 0, 20]),
    (THREAD, 110, 9, &[95, 10, 9]),
    (NMI, 112, 9, &[111, 1]),
    (TIMERLAT[1], 120, 5, &[1, 1, 45]),
    (TIMERLAT[0], 121, 5, &[1, 1, 45]),
    (STACK, 122, 6, &[0x10]),
    (STACK, 123, 5, &[0x20, 0x30]),
    (TIMERLAT[0], 200, 9, &[2, 0, 30]),
];

#[test]
fn a_sample_that_is_written_twice_counts_once() {
    let report = feed(Timerlat::new(&formats(), ABI, None), &SAMPLES, None);
    let (cpu, times) = &report.cpus[0];
    assert_eq!((cpu.0, times.irq.count(), times.thread.count(), times.user.count()), (0, 2, 1, 0));
    assert_eq!((times.last, times.unfinished), ([Some(30), Some(45), None], 1));
    let sample = report.sample.unwrap();
    assert_eq!((sample.seq, sample.irq, sample.thread, sample.pid, sample.partial), (1, 20, 45, Pid(5), false));
    assert_eq!(sample.causes.len(), 2);
    assert_eq!(sample.blocking().map(|noise| noise.duration), Some(10));
    assert_eq!((sample.timer_irq(), sample.irq_delay()), (None, None));
    // Of the late thread, not of the task 6.
    assert_eq!(sample.stack, Some(vec![0x20, 0x30]));
}

#[test]
fn the_first_beyond_a_limit_is_beyond_it() {
    let found = |beyond| feed(Timerlat::new(&formats(), ABI, Some(beyond)), &SAMPLES, None).sample.is_some();
    assert!(found(44) && !found(45));
}

#[test]
fn losses_make_a_sample_partial() {
    let report = feed(Timerlat::new(&formats(), ABI, None), &SAMPLES, Some(3));
    assert_eq!((report.losses, report.sample.map(|sample| sample.partial)), (1, Some(true)));
    // After the sample its stack may be any other's.
    let report = feed(Timerlat::new(&formats(), ABI, None), &SAMPLES, Some(7));
    assert_eq!(report.sample.map(|sample| (sample.partial, sample.stack)), Some((false, None)));
}

#[test]
fn causes_of_a_noise_begin_in_it() {
    let events: [(u16, u64, i32, &[i64]); 5] = [
        (NMI, 10, 5, &[8, 1]),
        (THREAD, 30, 5, &[21, 7, 9]),
        (THRESHOLD, 41, 5, &[20, 20, 1]),
        (THRESHOLD, 60, 5, &[45, 10, 0]),
        (OSNOISE, 99, 5, &[1000, 30, 20, 1, 0, 0, 0, 1]),
    ];
    let report = feed(Osnoise::new(&formats(), ABI, None), &events, None);
    let sample = report.sample.unwrap();
    assert_eq!((sample.start, sample.duration, sample.causes.len(), sample.partial), (20, 20, 1, false));
    let of_cpu = report.cpus[0].1;
    assert_eq!((of_cpu.periods, of_cpu.runtime, of_cpu.noise, of_cpu.hw, of_cpu.thread), (1, 1000, 30, 1, 1));
    assert_eq!(report.window, Some((10, 99)));
    let partial = feed(Osnoise::new(&formats(), ABI, None), &events, Some(2)).sample;
    assert!(partial.is_some_and(|sample| sample.partial));
}
