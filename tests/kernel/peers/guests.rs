//! A host's recording and one of its guest, whose times are shifted to the host's clock. No guest is recorded here: the
//! option with the shift is put into other files.

use super::same_lines;
use crate::common::environment::TestEnvironment;
use rtrace::abi::{Abi, Endian};
use rtrace::internal::trace_dat::write::{Version, convert};
use rtrace::internal::trace_dat::{Codec, FilePart, OptionId, RawOption, Trace};
use std::fs::File;
use std::path::Path;

/// One measurement: from `time` on, `ts * scaling >> fraction + offset`.
#[derive(Clone, Copy)]
struct Sample {
    time: u64,
    offset: i64,
    scaling: u64,
    fraction: u64,
}

const PEER: u64 = 0x1122_3344_5566_7788;
const INTERPOLATE: u32 = 1;
const ONE_THAT_SCALES: &str = "one sample that scales";

/// A TIME_SHIFT option (trace-cmd.dat.v7(5)); the fractions are what newer files have besides.
fn time_shift(abi: Abi, flags: u32, cpus: &[Vec<Sample>], fractions: bool) -> Vec<u8> {
    let mut data = Vec::new();
    let put4 = |data: &mut Vec<u8>, n: u32| match abi.endian {
        Endian::Little => data.extend(n.to_le_bytes()),
        Endian::Big => data.extend(n.to_be_bytes()),
    };
    let put8 = |data: &mut Vec<u8>, n: u64| match abi.endian {
        Endian::Little => data.extend(n.to_le_bytes()),
        Endian::Big => data.extend(n.to_be_bytes()),
    };
    put8(&mut data, PEER);
    put4(&mut data, flags);
    put4(&mut data, cpus.len() as u32);
    for samples in cpus {
        put4(&mut data, samples.len() as u32);
        samples.iter().for_each(|s| put8(&mut data, s.time));
        samples.iter().for_each(|s| put8(&mut data, s.offset as u64));
        samples.iter().for_each(|s| put8(&mut data, s.scaling));
    }
    if fractions {
        cpus.iter().flatten().for_each(|s| put8(&mut data, s.fraction));
    }
    data
}

pub(crate) fn open(file: &str) -> Trace {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces");
    Trace::open(File::open(data.join(file)).unwrap()).unwrap()
}

/// Writes `trace` with one more option to `path`.
pub(crate) fn with_option(trace: &mut Trace, id: OptionId, data: Vec<u8>, path: &Path) {
    trace.options.retain(|option| option.id != id);
    trace.options.push(RawOption { id, data, offset: 0, place: FilePart::Prefix });
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path).unwrap();
    convert(trace, file, Version::V7(Codec::Zstd), 1, &mut |damage| panic!("{damage}")).unwrap();
}

/// Times of a report with nanoseconds: the first and the last.
fn span(report: &str) -> (u64, u64) {
    let time = regex::Regex::new(r" (\d+)\.(\d{9}): ").expect("a pattern");
    let times = report.lines().filter_map(|line| time.captures(line));
    let times: Vec<u64> =
        times.map(|c| c[1].parse::<u64>().unwrap() * 1_000_000_000 + c[2].parse::<u64>().unwrap()).collect();
    (*times.first().unwrap(), *times.last().unwrap())
}

/// File, task, CPU, time and name: what the shift decides, and the order of the lines. Instances are left out: trace-cmd
/// shifts the top buffer alone.
fn heads(report: &str) -> String {
    let head = regex::Regex::new(r"^.*? \d+\.\d{9}: \w+:").expect("a pattern");
    let of_top = |line: &&str| line.trim_start().starts_with("host.dat:") || line.starts_with("guest.dat:");
    report
        .lines()
        .filter(of_top)
        .filter_map(|line| head.find(line))
        .map(|head| format!("{}\n", head.as_str()))
        .collect()
}

#[test]
fn guests_are_shifted_to_their_hosts_clock() {
    let Some(trace_cmd) = crate::common::trace_cmd::fetched() else { return };
    let env = TestEnvironment::new();
    let mut host = open("host/small-zlib.dat");
    let peer = PEER.to_le_bytes().to_vec();
    with_option(&mut host, OptionId::TRACEID, peer, &env.path().join("host.dat"));
    let (host_first, _) = span(&env.rtrace(&["report", "-t", "host.dat"]).exits(0).stdout());
    let mut compared = 0;
    for guest in ["i386/kprobe.dat", "s390x/inst.dat"] {
        let mut guest = open(guest);
        let cpus = guest.cpu_count as usize;
        let path = env.path().join("guest.dat");
        guest.options.retain(|option| option.id != OptionId::TIME_SHIFT);
        with_option(&mut guest, OptionId::TRACEID, vec![7; 8], &path);
        let (first, last) = span(&env.rtrace(&["report", "-t", "guest.dat"]).exits(0).stdout());
        let to_host = host_first.wrapping_sub(first) as i64;
        let at = |part: u64| first + (last - first) * part / 8;
        // as far apart as clocks drift, and much farther
        let fine = |i: u64| Sample { time: at(i), offset: to_host + 1000 * i as i64, scaling: 1, fraction: 0 };
        // no more than trace-cmd's 64 bits hold
        let coarse =
            |i: u64| Sample { time: at(i), offset: to_host - 77_777 * i as i64, scaling: (1 << 12) + i, fraction: 12 };
        let each = |make: &dyn Fn(u64) -> Sample, parts: &[u64]| vec![parts.iter().map(|i| make(*i)).collect(); cpus];
        let mut uneven = each(&fine, &[0, 3, 5]);
        uneven[0] = vec![fine(1)];
        let cases: [(&str, u32, Vec<Vec<Sample>>, bool); 9] = [
            ("one sample", 0, each(&fine, &[0]), false),
            ("one sample with a fraction of 0", 0, each(&fine, &[0]), true),
            (ONE_THAT_SCALES, 0, each(&coarse, &[3]), true),
            ("two samples", 0, each(&fine, &[2, 6]), true),
            ("two samples, interpolated", INTERPOLATE, each(&fine, &[2, 6]), true),
            ("many samples that scale", 0, each(&coarse, &[1, 2, 4, 5, 7]), true),
            ("many samples that scale, interpolated", INTERPOLATE, each(&coarse, &[1, 2, 4, 5, 7]), true),
            ("many samples of an older file", INTERPOLATE, each(&fine, &[1, 2, 4, 5, 7]), false),
            ("not as many for each CPU", INTERPOLATE, uneven, true),
        ];
        for (name, flags, samples, fractions) in cases {
            let option = time_shift(guest.prefix.abi, flags, &samples, fractions);
            with_option(&mut guest, OptionId::TIME_SHIFT, option, &path);
            let ours = env.rtrace(&["report", "-t", "-i", "host.dat", "-i", "guest.dat"]);
            let theirs = env.run(&trace_cmd, &["report", "-t", "-i", "host.dat", "-i", "guest.dat"]);
            println!("{name}: {} lines", ours.stdout().lines().count());
            let (theirs, shown) = (heads(&theirs.stdout()), heads(&ours.stdout()));
            if name == ONE_THAT_SCALES {
                // trace-cmd takes the offset alone, whatever `attach -s OFFSET,SCALE,FRACTION` said
                assert_ne!(theirs, shown, "trace-cmd scales by one sample now");
                let sample = samples[0][0];
                let scaled = ((u128::from(first) * u128::from(sample.scaling)) >> sample.fraction) as u64;
                let all = ours.stdout();
                let of_guest: Vec<&str> = all.lines().filter(|line| !line.contains(" host.dat:")).collect();
                assert_eq!(span(&of_guest.join("\n")).0, scaled.wrapping_add_signed(sample.offset));
                continue;
            }
            same_lines(&theirs, &shown);
            compared += ours.exits(0).stdout().lines().count();
        }
    }
    assert!(compared > 10_000, "{compared} lines compared");
    println!("{compared} lines of host and guest compared");
}
