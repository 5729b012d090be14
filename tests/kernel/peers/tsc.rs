//! Times of a time stamp counter, and their conversion to nanoseconds: that option is put into other files.

use super::guests::{open, with_option};
use super::same_lines;
use crate::common::environment::TestEnvironment;
use rtrace::abi::Endian;
use rtrace::internal::trace_dat::OptionId;

/// Lines without the flags of timers, which trace-cmd gets wrong.
fn without_flags(report: &str) -> String {
    let lines = report.lines().map(|line| line.split_once(" flags=").map_or(line, |(head, _)| head));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn ticks_are_reported_in_nanoseconds() {
    let Some(trace_cmd) = crate::common::trace_cmd::fetched() else { return };
    let env = TestEnvironment::new();
    let mut all = Vec::new();
    for file in ["host/small-zlib.dat", "s390x/inst.dat", "i386/kprobe.dat"] {
        let mut trace = open(file);
        // counters of 3.2 GHz, of 2.4 GHz as a kernel words it, and some that are slower than nanoseconds; trace-cmd takes
        // a factor of more than 31 bits for a negative one
        for (mult, shift) in [(10_485_760_u32, 25_u32), (894_784_853, 31), (7, 1), (i32::MAX as u32, 30)] {
            let word = |n: u32| if trace.prefix.abi.endian == Endian::Big { n.to_be_bytes() } else { n.to_le_bytes() };
            let option = [word(mult), word(shift), [0; 4], [0; 4]].concat();
            with_option(&mut trace, OptionId::TSC2NSEC, option, &env.path().join("trace.dat"));
            for layout in [&["report"][..], &["report", "-t"], &["report", "--raw-ts"], &["report", "--ts-diff"]] {
                let ours = env.rtrace(layout);
                let ours = ours.exits(0).complains("").stdout();
                // A name without a value, which trace-cmd takes for 0.
                let known = |text: &str| without_flags(text).replace("I_DIRTY_SYNC", "");
                same_lines(&known(&env.run(&trace_cmd, layout).stdout()), &known(&ours));
                all.push(ours);
            }
        }
    }
    let lines: usize = all.iter().map(|report| report.lines().count()).sum();
    println!("{lines} lines");
    all.sort();
    all.dedup();
    // with --raw-ts nothing is turned into anything: one of them for each file
    assert_eq!(all.len(), 3 * (4 * 3 + 1));
}
