//! The systemd unit of the packages in a booted Debian (`service.sh`), with the package installed there.

use crate::common::not_run::not_run;
use crate::guest_machine::{Guest, Kernel};
use crate::suites::is_left_out;
use std::path::Path;
use std::process::Command;

/// Figures of a minute in `soak`: the minute, resident memory in KiB, threads, descriptors, the disk in KiB.
fn minutes(soak: &str) -> Vec<[u64; 5]> {
    let numbers = |line: &str| line.split(' ').take(5).map(|word| word.parse().expect(line)).collect::<Vec<u64>>();
    soak.lines().map(|line| numbers(line).try_into().expect("five numbers")).collect()
}

/// `RTRACE_SOAK` names the minutes of a soak, none otherwise; of sixty, the last has what the tenth had.
#[test]
fn a_booted_systemd_keeps_a_recorder() {
    if is_left_out("a booted systemd") {
        return;
    }
    let dir = tempfile::TempDir::new().expect("a temporary folder");
    let [program, image, minutes_file] = ["rtrace", "debian.img", "minutes"].map(|name| dir.path().join(name));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = |command: &mut Command| {
        let output = command.current_dir(sources).output().expect("it starts");
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (code, said) = run(Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_rtrace")));
    assert_eq!(code, Some(0), "{said}");
    let (code, package) = run(Command::new("packaging/deb").arg(&program).arg(dir.path()).env("COMPRESSION", "none"));
    assert_eq!(code, Some(0), "{package}");
    match run(Command::new("tests/kernel/debian").args(["bookworm", package.trim()]).arg(&image)) {
        (Some(0), _) => {}
        (Some(77), said) => return not_run(said.trim_end()),
        (_, said) => panic!("{said}"),
    }
    let mut files = Vec::new();
    let soak = std::env::var("RTRACE_SOAK").ok();
    if let Some(minutes) = &soak {
        std::fs::write(&minutes_file, minutes).expect("the minutes are written");
        files.push(minutes_file.as_path());
    }
    let options = ["-d", image.to_str().expect("a path of letters")];
    let Some(guest) = Guest::run_with(&options, Kernel::V6_12, include_str!("service.sh"), &files) else { return };
    for said in
        ["saved", "reloaded", "killed and recovered", "rotated", "full disk: ended with 4, began again", "stopped"]
    {
        assert!(guest.text("stdout").contains(said), "{said}: {}", guest.text("stdout"));
    }
    if soak.is_some() {
        let minutes = minutes(&guest.text("soak"));
        let (early, last) = (minutes[minutes.len().min(11) - 1], minutes[minutes.len() - 1]);
        let grown = |at: usize, most: u64| last[at] <= early[at] + most;
        assert!(grown(1, 4096) && grown(2, 0) && grown(3, 0) && grown(4, 4096), "{early:?} became {last:?}");
    }
}
