//! `attach` against trace-cmd's: both join the same two recordings, and both programs report each result alike.

use super::same_lines;
use crate::common::environment::TestEnvironment;
use crate::common::guest_files::{self, TSC_OFFSET};
use rtrace::internal::trace_dat::write::Version;
use rtrace::internal::trace_dat::{Codec, TimeShift, Trace};
use std::fs::{self, File};

#[test]
fn files_joined_by_either_are_reported_alike_by_both() {
    let Some(trace_cmd) = crate::common::trace_cmd::fetched() else { return };
    let offset = (-TSC_OFFSET).to_string();
    let mut compared = 0;
    // Of a single sample trace-cmd's report takes the offset alone: docs/trace-cmd.md.
    for shift in [offset.clone(), format!("{offset},1,0"), format!("{offset},1,0,0")] {
        for codec in [Codec::None, Codec::Zstd] {
            let env = TestEnvironment::new();
            guest_files::write(env.path(), false, Version::V7(codec));
            fs::create_dir(env.path().join("theirs")).unwrap();
            for name in ["host.dat", "guest.dat"] {
                fs::copy(env.path().join(name), env.path().join("theirs").join(name)).unwrap();
            }
            env.rtrace(&["attach", "-c", "2", "-s", &shift, "host.dat", "guest.dat", "4299", "4300", "4302"]).exits(0);
            let line =
                ["attach", "-c", "2", "-s", &shift, "theirs/host.dat", "theirs/guest.dat", "4299", "4300", "4302"];
            env.run(&trace_cmd, &line).exits(0);
            let shift_of = |name: &str| {
                let trace = Trace::open(File::open(env.path().join(name)).unwrap()).unwrap();
                TimeShift::read(
                    trace.option(rtrace::internal::trace_dat::OptionId::TIME_SHIFT).unwrap(),
                    trace.prefix.abi,
                )
                .unwrap()
            };
            assert_eq!(shift_of("guest.dat"), shift_of("theirs/guest.dat"));
            let report = |dir: &str, theirs: bool| {
                let (host, guest) = (format!("{dir}host.dat"), format!("{dir}guest.dat"));
                let line = ["report", "-t", "-i", &host, "-i", &guest];
                if theirs { env.run(&trace_cmd, &line).stdout() } else { env.rtrace(&line).stdout() }
            };
            let ours = report("", false);
            same_lines(&report("theirs/", true), &ours);
            same_lines(&report("", true), &ours);
            same_lines(&report("theirs/", false), &ours);
            compared += ours.lines().count();
        }
    }
    assert!(compared > 4000, "{compared} lines");
    println!("{compared} lines of files joined by both");
}
