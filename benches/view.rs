//! `rtrace view` on a terminal that a program reads: CPU time to the first picture, and from each key to its picture, once
//! while the recording is still being decoded and once after; to windows of a millisecond anywhere; and through all events for a
//! filter.
//!
//! `RTRACE_VIEW_FILE` names the recording (default: a synthetic one of 16 CPUs); `RTRACE` the program (default: this build's),
//! `RTRACE_BENCH_EVENTS` the events of the synthetic one. With the words `--join FROM TO CPUS GIGABYTES` it makes a large
//! recording of a small one, and nothing else.

use nix::pty::{Winsize, openpty};
use rtrace::internal::trace_dat::write::Version;
use rtrace::internal::trace_dat::{Codec, TimeOptions, Trace};
use rtrace::record::chunk_size;
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[path = "view/joined.rs"]
mod joined;
#[path = "../tests/common/synthetic.rs"]
#[expect(dead_code, reason = "tests write smaller chunks")]
mod synthetic;

/// Keys, and what they do, each pressed `TIMES` times.
const KEYS: [(&str, &str); 8] = [
    ("zoom in", "+"),
    ("move", "\x1b[C"),
    ("pan", "]"),
    ("pan back", "["),
    ("whole and back", "0\x7f"),
    ("mark", "m"),
    ("pin", "p"),
    ("zoom out", "-"),
];
const TIMES: usize = 40;
/// The longest that is waited for the whole to be decoded.
const DECODED: Duration = Duration::from_secs(600);
/// A picture is complete if nothing was drawn for so long.
const QUIET: Duration = Duration::from_millis(60);

/// What the terminal got, and when the last of it.
struct Drawn {
    bytes: u64,
    last: Instant,
}

/// Waits for the next picture; gives the time to its last byte.
fn picture(drawn: &Mutex<Drawn>, before: u64, since: Instant) -> Duration {
    loop {
        let (bytes, last) = {
            let drawn = drawn.lock().expect("the bytes");
            (drawn.bytes, drawn.last)
        };
        let is_complete = bytes > before && last.elapsed() > QUIET;
        if is_complete || since.elapsed() > Duration::from_secs(120) {
            return last.saturating_duration_since(since);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// CPU seconds and resident MiB of a process.
fn used(pid: u32) -> (f64, f64) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<f64> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .skip(1)
        .map(|word| word.parse().unwrap_or(0.0))
        .collect();
    let ticks = fields.get(10).zip(fields.get(11)).map_or(0.0, |(user, system)| user + system);
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<f64>().ok());
    (ticks / 100.0, peak.unwrap_or(0.0) / 1024.0)
}

/// Waits until nothing changes on the screen any more: with each piece that is decoded something does.
fn settle(drawn: &Mutex<Drawn>) {
    let begin = Instant::now();
    let quiet = || drawn.lock().expect("the bytes").last.elapsed();
    while begin.elapsed() < DECODED && quiet() < Duration::from_secs(4) {
        thread::sleep(Duration::from_millis(100));
    }
}

/// Length of the recording, in nanoseconds.
fn length(file: &str) -> u64 {
    let trace = Trace::open(File::open(file).expect("the recording")).expect("a recording");
    let buffer = &trace.buffers[0];
    let ends = (0..buffer.cpus.len())
        .filter_map(|cpu| trace.span(buffer, cpu, &TimeOptions::default(), &mut |_| {}).expect("its times"));
    let (begin, end) = ends.fold((u64::MAX, 0), |(begin, end), (first, last)| (begin.min(first.0), end.max(last.0)));
    end.saturating_sub(begin)
}

fn main() {
    let words: Vec<String> = std::env::args().skip_while(|word| word != "--join").skip(1).collect();
    if let [from, to, cpus, gigabytes] = &words[..] {
        let number = |word: &String| word.parse::<u64>().expect("a number");
        return joined::join(from.as_ref(), to.as_ref(), number(cpus) as usize, number(gigabytes) << 30);
    }
    let number = |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let rtrace = std::env::var("RTRACE").unwrap_or_else(|_| env!("CARGO_BIN_EXE_rtrace").to_owned());
    let dir = tempfile::tempdir().expect("a folder");
    let file = std::env::var("RTRACE_VIEW_FILE").unwrap_or_else(|_| {
        let path = dir.path().join("synthetic.dat");
        let storm = synthetic::fork_storm(16, number("RTRACE_BENCH_EVENTS", 2_000_000), 400, 1);
        storm.write_in_chunks(&path, Version::V7(Codec::Zstd), chunk_size(4096, 16, None));
        path.to_string_lossy().into_owned()
    });
    let size = Winsize { ws_row: 36, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(Some(&size), None).expect("a pty");
    let (mut master, slave) = (File::from(pty.master), File::from(pty.slave));
    let drawn = Arc::new(Mutex::new(Drawn { bytes: 0, last: Instant::now() }));
    let (keys, all) = (master.try_clone().expect("its keys"), Arc::clone(&drawn));
    thread::spawn(move || {
        let mut some = [0; 1 << 16];
        while let Ok(count @ 1..) = master.read(&mut some) {
            let mut all = all.lock().expect("the bytes");
            (all.bytes, all.last) = (all.bytes + count as u64, Instant::now());
        }
    });
    let end = || Stdio::from(slave.try_clone().expect("the terminal"));
    let begin = Instant::now();
    let mut command = Command::new(&rtrace);
    let mut child = command
        .args(["view", &file])
        .env("TERM", "xterm")
        .stdin(end())
        .stdout(end())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let bytes = |drawn: &Mutex<Drawn>| drawn.lock().expect("the bytes").bytes;
    // What is decoded after the first picture does not count.
    while bytes(&drawn) < 1000 {
        thread::sleep(Duration::from_millis(1));
    }
    let (first, (cpu, peak)) = (begin.elapsed(), used(child.id()));
    println!("first picture after {first:?}, {cpu:.2} s of CPU time, {peak:.0} MiB");
    let press = |text: &str| (&keys).write_all(text.as_bytes()).expect("to press keys");
    let (length, mut place) = (length(&file), 0.5);
    // Places all over the recording, none twice.
    let mut windows = |when: &str| {
        let zooms = (0..20).find(|zooms| length >> (3 * zooms) <= 1_000_000).unwrap_or(20);
        let mut times = Vec::new();
        press(&format!("g+{:.6}\r{}", length as f64 / 3e9, "\r".repeat(zooms)));
        picture(&drawn, bytes(&drawn), Instant::now());
        for _ in 0..TIMES {
            place = (place + 0.618_034) % 1.0;
            let (before, since) = (bytes(&drawn), Instant::now());
            press(&format!("g+{:.6}\r", place * length as f64 / 1e9));
            times.push(picture(&drawn, before, since));
        }
        press("0");
        times.sort();
        let span = Duration::from_nanos(length >> (3 * zooms));
        println!(
            "| g to a window of {span:?}, {when} | {:?} | {:?} | {:?} |",
            times[TIMES / 2],
            times[TIMES - 2],
            times[TIMES - 1]
        );
    };
    for when in ["while the whole is decoded", "with the whole decoded"] {
        println!("| key, {when} | median | 39 of 40 | slowest |\n|---|---|---|---|");
        for (name, key) in KEYS {
            let mut times = Vec::new();
            for _ in 0..TIMES {
                let (before, since) = (bytes(&drawn), Instant::now());
                press(key);
                times.push(picture(&drawn, before, since));
            }
            times.sort();
            println!("| {name} | {:?} | {:?} | {:?} |", times[TIMES / 2], times[TIMES - 2], times[TIMES - 1]);
        }
        windows(when);
        settle(&drawn);
        println!("then {:.2} s of CPU time, {:.0} MiB", used(child.id()).0, used(child.id()).1);
    }
    let (before, since) = (used(child.id()).0, Instant::now());
    let shown = bytes(&drawn);
    press("0/next_prio < 100\r");
    let first = picture(&drawn, shown, since);
    settle(&drawn);
    let (seconds, events) =
        (used(child.id()).0 - before, Trace::open_path(&file).expect("it").indexed_events().unwrap_or(0));
    let speed = events as f64 / 1e6 / seconds;
    println!(
        "filter: first picture after {first:?}, {seconds:.2} s of CPU time for all events, {speed:.1} million a second"
    );
    let (cpu, peak) = used(child.id());
    println!("in all {cpu:.2} s of CPU time, {peak:.0} MiB");
    press("q");
    let _ = child.wait();
}
