//! `rtrace attach`: the recordings of a host and of its guest, made apart, become one report.

use crate::common::environment::TestEnvironment;
use crate::common::guest_files::{self, IDS, TSC_OFFSET};
use rtrace::internal::trace_dat::write::Version;
use rtrace::internal::trace_dat::{Codec, GuestFacts, OptionId, Trace};
use rtrace::units::{CpuId, Pid};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;

const V7: Version = Version::V7(Codec::Zstd);

fn with_files(by_events: bool, version: Version) -> TestEnvironment {
    let env = TestEnvironment::new();
    guest_files::write(env.path(), by_events, version);
    env
}

/// On each CPU the guest's events lie where it ran: after it was entered, and before it came out again.
fn check_order(env: &TestEnvironment) {
    let report = env.rtrace(&["report", "-t", "host.dat", "guest.dat"]).exits(0).stdout();
    for cpu in ["[000]", "[001]"] {
        let of_cpu = report.lines().filter(|line| line.contains(cpu) && !line.contains("-5300 "));
        let names = of_cpu.map(|line| {
            let named = |name: &str| line.contains(&format!(" {name}:"));
            match () {
                () if named("kvm_entry") => "entry",
                () if named("kvm_exit") => "exit",
                () if named("kvm_write_tsc_offset") => "write",
                () if line.starts_with("guest.dat:") => "guest",
                () => "host",
            }
        });
        let names: Vec<&str> = names.skip_while(|name| *name == "write").collect();
        assert_eq!(names.len(), 400, "{cpu}");
        for turn in names.chunks(4) {
            assert_eq!(turn, ["entry", "guest", "exit", "host"], "{cpu}");
        }
    }
}

fn guests(env: &TestEnvironment) -> Vec<GuestFacts> {
    let host = Trace::open(File::open(env.path().join("host.dat")).unwrap()).unwrap();
    host.options(OptionId::GUEST).map(|option| GuestFacts::read(option, host.prefix.abi).unwrap()).collect()
}

#[test]
fn the_offset_is_found_in_the_hosts_recording() {
    for version in [V7, Version::V7(Codec::None), Version::V6] {
        let env = with_files(true, version);
        let said = env.rtrace(&["attach", "host.dat", "guest.dat"]).exits(0).stdout();
        assert_eq!(
            said,
            "host.dat: guest guest, 2 CPUs run by threads 4300, 4302\n\
             guest.dat: times by the host's clock x86-tsc: its own and 5000000000000\n"
        );
        check_order(&env);
        let cpus = vec![(CpuId(0), Some(Pid(4300))), (CpuId(1), Some(Pid(4302)))];
        assert_eq!(guests(&env), [GuestFacts { name: "guest".to_owned(), id: IDS[1], cpus }]);
        for file in ["host.dat", "guest.dat"] {
            env.rtrace(&["dump", "--validate", file]).exits(0);
        }
    }
}

#[test]
fn the_offset_is_given() {
    let env = with_files(false, V7);
    env.rtrace(&["attach", "host.dat", "guest.dat"]).exits(2).complains_with("host.dat has no kvm_write_tsc_offset");
    let offset = (-TSC_OFFSET).to_string();
    let path = env.path().join("guest.dat");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("guest.dat", env.path().join("link.dat")).unwrap();
    let attach = |offset: &str, more: &[&str]| {
        let line = [&["attach", "-s", offset], more].concat();
        env.rtrace(&line).exits(0).stdout()
    };
    // A second time replaces the first, whatever that said.
    assert!(attach("-77", &["host.dat", "link.dat", "--name", "vm"]).starts_with("host.dat: guest vm, 2 CPUs"));
    let one = attach(&format!("{offset},4,2,0"), &["host.dat", "link.dat", "4299,4302", "-c", "2"]);
    assert!(one.contains("1 CPU run by threads 4302; 1 CPU did not run in it"), "{one}");
    attach(&offset, &["host.dat", "link.dat", "4299", "4300", "4302"]);
    assert_eq!(guests(&env).len(), 1);
    check_order(&env);
    assert!(env.path().join("link.dat").is_symlink());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}

/// Files that cannot be joined stay as they are.
#[test]
fn nothing_is_half_done() {
    let env = with_files(true, V7);
    let read = |name: &str| fs::read(env.path().join(name)).unwrap();
    let (host, guest) = (read("host.dat"), read("guest.dat"));
    fs::write(env.path().join("cut.dat"), &guest[..guest.len() - 9]).unwrap();
    // A bit of the events' data, in the middle of the file's end.
    let mut flipped = host.clone();
    let at = host.len() - 1500;
    flipped[at] ^= 0x10;
    fs::write(env.path().join("flipped.dat"), &flipped).unwrap();
    let local = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/host/small-zlib.dat");
    for (line, exit, says) in [
        ("host.dat host.dat", 2, "the guest of itself"),
        ("guest.dat host.dat", 2, "guest.dat, the host's, has no kvm_entry or kvm_exit"),
        ("host.dat guest.dat 1 2", 2, "none of the threads given ran a guest in host.dat"),
        ("host.dat no-such.dat", 1, "failed to read no-such.dat"),
        ("host.dat guest.dat -s x", 2, "expected OFFSET"),
        ("host.dat cut.dat", 4, "cut.dat is damaged, and stays as it is"),
        ("flipped.dat guest.dat", 4, "flipped.dat is damaged, and stays as it is"),
    ] {
        let words: Vec<&str> = ["attach"].into_iter().chain(line.split(' ')).collect();
        env.rtrace(&words).exits(exit).complains_with(says);
    }
    env.rtrace(&["attach", "host.dat", local]).exits(2).complains_with("its clock is local, the host's is x86-tsc");
    assert!(read("host.dat") == host && read("guest.dat") == guest && read("flipped.dat") == flipped);
    let left: Vec<_> = fs::read_dir(env.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{left:?}");
}

/// Threads of two guests have the same CPU numbers.
#[test]
fn one_guest_of_several_is_named() {
    let env = TestEnvironment::new();
    guest_files::write_two_guests(env.path());
    let attach = |more: &[&str]| env.rtrace(&[&["attach", "host.dat", "guest.dat"], more].concat());
    attach(&[]).exits(2).complains_with("several guests ran in host.dat: CPU 0 in threads 4300, 5300");
    attach(&["4300", "4302"]).exits(0);
    check_order(&env);
}
