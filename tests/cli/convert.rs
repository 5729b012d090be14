//! `rtrace convert` to formats of events: which format, what is written, what is refused, and what is left behind.

use crate::common::corpus::own;
use crate::common::environment::TestEnvironment;
use crate::common::synthetic::fork_storm;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use rtrace::units::counted;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

fn with_recordings() -> TestEnvironment {
    let env = TestEnvironment::new();
    for (name, from) in [("a.dat", "vm-6.1/trig.dat"), ("b.dat", "s390x/inst.dat"), ("g.dat", "host/small-zlib.dat")] {
        std::fs::copy(own().join(from), env.path().join(name)).expect("a copy");
    }
    env
}

fn read(env: &TestEnvironment, name: &str) -> Vec<u8> {
    std::fs::read(env.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn json_and_csv_are_those_of_report() {
    let env = with_recordings();
    for (convert, report) in [
        ("a.dat x.json", "--format json a.dat"),
        ("a.dat b.dat x.jsonl", "--format json a.dat b.dat"),
        ("a.dat --to csv -o x", "--format csv a.dat"),
        (
            "-i a.dat x.csv --fields ts,next_pid --filter sched:sched_switch",
            "--format csv a.dat --fields ts,next_pid --filter sched:sched_switch",
        ),
        ("a.dat x.ndjson --first 5 --cpu 0", "--format json a.dat --first 5 --cpu 0"),
        ("a.dat x.json --since +10ms -F sched_switch", "--format json a.dat --since +10ms -F sched_switch"),
    ] {
        let words: Vec<&str> = convert.split(' ').collect();
        let out = words.iter().find(|word| word.starts_with('x')).expect("the file to write").to_string();
        let line = env.rtrace(&[&["convert", "--force"], &words[..]].concat()).exits(0).complains("").stdout();
        let expected =
            env.rtrace(&[&["report"], &report.split(' ').collect::<Vec<_>>()[..]].concat()).exits(0).stdout();
        assert!(read(&env, &out) == expected.as_bytes(), "{convert}");
        let events = expected.lines().count() - 1; // the header
        assert!(line.starts_with(&format!("{out}: {} as ", counted(events as u64, "event"))), "{convert}: {line}");
        assert!(line.ends_with("left out: nothing\n"), "{convert}: {line}");
        // To standard output: the same, and the line where it does not get into the events.
        let mut words = words;
        words.retain(|word| *word != out);
        words.retain(|word| *word != "-o" && *word != "--to" && *word != "csv");
        let to = if expected.starts_with('{') { "json" } else { "csv" };
        let piped = env.rtrace(&[&["convert"], &words[..], &["--to", to, "-o", "-"]].concat());
        piped.exits(0).prints(&expected).complains_with("standard output: ");
    }
}

/// A part of a recording is a recording, in which a report finds what it finds of that part.
#[test]
fn a_part_is_a_recording() {
    let env = with_recordings();
    for part in [
        "a.dat --since +1ms",
        "a.dat --until -2ms --cpu 0",
        "a.dat --cpu 1 --filter sched:*",
        "b.dat --around +1ms",
        "g.dat --since +500us --pid 0 --file-version 6",
        "g.dat --until +1ms --compression none",
        "a.dat --first 3",
        "a.dat --last 7",
        "a.dat --since +1ms --filter sched:* --last 5",
        "a.dat --until -1ms --cpu 1 --first 20",
        "g.dat --last 100",
    ] {
        let words: Vec<&str> = part.split(' ').collect();
        env.rtrace(&[&["convert", "--force", "-o", "part.dat"], &words[..]].concat()).exits(0);
        let asked = part.split(" --file").next().and_then(|asked| asked.split(" --comp").next()).expect("a part");
        let report = |words: &[&str]| {
            let out = env.rtrace(&[&["report"], words].concat()).exits(0).stdout();
            out.lines().filter(|line| !line.starts_with("cpus=")).map(|line| format!("{line}\n")).collect::<String>()
        };
        let expected = report(&asked.split(' ').collect::<Vec<_>>());
        assert!(!expected.is_empty(), "{part}");
        assert_eq!(report(&["part.dat"]), expected, "{part}");
        env.rtrace(&["dump", "--validate", "part.dat"]).exits(0);
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let env = with_recordings();
    let before = std::fs::read_dir(env.path()).expect("the folder").count();
    for (line, status, why) in [
        ("a.dat b.dat c.dat", 2, "b.dat is a file too many"),
        ("a.dat c.dat --since 99999", 1, "holds nothing in this window"),
        ("a.dat c.dat --ts-offset 3", 2, "gets events and their times as they are"),
        ("a.dat c.dat --fields ts", 2, "gets events and their times as they are"),
        ("a.dat c.json --fields ts", 2, "--fields names the columns of csv"),
        ("a.dat c.json --compression none", 2, "--compression is for trace.dat"),
        ("a.dat c.json --file-version 7", 2, "--file-version is for trace.dat"),
        ("a.dat c.csv --fields no_such", 2, "no event has a field `no_such`"),
        ("a.dat c.json --filter sched:sched_swich", 2, "no event is called `sched:sched_swich`"),
        ("a.dat c.json --filter sched:sched_switch:x==", 2, "invalid"),
        ("a.dat --to json", 2, "a.dat is the one to read"),
        ("--to json", 2, "no file to write is named"),
        ("a.dat b.dat --to json", 2, "b.dat exists already"),
        ("nothing.dat c.json", 1, "nothing.dat"),
        ("a.dat no-such-folder/c.json", 1, "no-such-folder/c.json"),
        ("a.dat --to perfetto -o /dev/full --force", 1, "not a regular file"),
    ] {
        env.rtrace(&[&["convert"], &line.split(' ').collect::<Vec<_>>()[..]].concat())
            .exits(status)
            .complains_with(why);
        assert_eq!(std::fs::read_dir(env.path()).expect("the folder").count(), before, "{line}");
    }
}

#[test]
fn a_write_that_fails_leaves_nothing() {
    let env = TestEnvironment::new();
    fork_storm(2, 20_000, 100, 7).write(&env.path().join("a.dat"), Version::V7(Codec::Zstd));
    for to in ["json", "csv", "perfetto", "firefox", "chrome"] {
        let limited = format!("ulimit -f 64; \"$0\" convert a.dat --to {to} -o out");
        let done = env.run("bash", &["-c", &limited, env!("CARGO_BIN_EXE_rtrace")]);
        done.exits(1).complains_with("failed to write out: File too large");
        let full = format!("\"$0\" convert a.dat --to {to} -o - >/dev/full");
        let done = env.run("bash", &["-c", &full, env!("CARGO_BIN_EXE_rtrace")]);
        done.exits(1).complains_with("failed to write to standard output: No space left");
        // The reader is gone: no error.
        let closed = format!("\"$0\" convert a.dat --to {to} -o - | head -c 10; exit ${{PIPESTATUS[0]}}");
        env.run("bash", &["-c", &closed, env!("CARGO_BIN_EXE_rtrace")]).exits(0).complains("");
    }
    // Directories, the pictures of `flame`, and parts: nothing of a first part is left if the second fails.
    for (line, what) in [
        ("convert a.dat out.ctf", "out.ctf"),
        ("flame a.dat --off-cpu -o out.svg", "out.svg"),
        ("convert a.dat out.json --split 4M", "out."),
    ] {
        let limited = format!("ulimit -f 2; \"$0\" {line}");
        env.run("bash", &["-c", &limited, env!("CARGO_BIN_EXE_rtrace")]).exits(1).complains_with(what);
    }
    let full = "\"$0\" flame a.dat --off-cpu -o - >/dev/full";
    env.run("bash", &["-c", full, env!("CARGO_BIN_EXE_rtrace")]).exits(1).complains_with("No space left");
    let closed = "\"$0\" flame a.dat --off-cpu -o - 2>/dev/null | head -c 10; exit ${PIPESTATUS[0]}";
    env.run("bash", &["-c", closed, env!("CARGO_BIN_EXE_rtrace")]).exits(0);
    assert_eq!(std::fs::read_dir(env.path()).expect("the folder").count(), 1, "something was left");
}

#[test]
fn parts_are_the_whole() {
    let env = TestEnvironment::new();
    fork_storm(2, 20_000, 100, 7).write(&env.path().join("a.dat"), Version::V7(Codec::Zstd));
    env.rtrace(&["convert", "a.dat", "whole.csv", "--fields", "ts,cpu,name,pid"]).exits(0);
    let done = env
        .rtrace(&["convert", "a.dat", "part.csv", "--split", "100K", "--fields", "ts,cpu,name,pid"])
        .exits(0)
        .stdout();
    let whole = String::from_utf8(read(&env, "whole.csv")).expect("text");
    let (head, lines) = whole.split_once('\n').expect("a heading");
    let mut found = String::new();
    let count = done.lines().count();
    assert!(count > 4, "{done}");
    // As many as samples said that it takes, and few more.
    assert!(count <= whole.len() * 5 / 4 / (100 << 10) + 2, "{count} parts of {} bytes", whole.len());
    for number in 1..=count {
        let part = String::from_utf8(read(&env, &format!("part.{number}.csv"))).expect("text");
        assert!(part.len() <= 100 << 10, "part {number}: {} bytes", part.len());
        let (its_head, its_lines) = part.split_once('\n').expect("a heading");
        assert_eq!(its_head, head);
        found.push_str(its_lines);
    }
    assert!(found == lines, "{} bytes of {}", found.len(), lines.len());
    // One that is in the way stops all.
    let before = std::fs::read_dir(env.path()).expect("the folder").count();
    std::fs::remove_file(env.path().join("part.1.csv")).expect("a part");
    env.rtrace(&["convert", "a.dat", "part.csv", "--split", "100K"]).exits(2).complains_with("exists already");
    assert_eq!(std::fs::read_dir(env.path()).expect("the folder").count(), before - 1);
    for (line, why) in [
        ("a.dat c.dat --split 1M", "not written in parts"),
        ("a.dat c.ctf --split 1M", "makes several files"),
        ("a.dat --to json -o - --split 1M", "makes several files"),
        ("a.dat c.json --split 1M --first 3", "not with --first"),
    ] {
        env.rtrace(&[&["convert"], &line.split(' ').collect::<Vec<_>>()[..]].concat()).exits(2).complains_with(why);
    }
}

#[test]
fn a_damaged_file_gives_what_is_whole() {
    let env = with_recordings();
    let whole = read(&env, "b.dat");
    std::fs::write(env.path().join("cut.dat"), &whole[..whole.len() - 3000]).expect("a file");
    for out in ["x.json", "x.csv", "x.pftrace", "x.firefox.json"] {
        env.rtrace(&["convert", "cut.dat", out]).exits(4).complains_with("cut.dat");
        assert!(!read(&env, out).is_empty(), "{out}");
    }
}

#[test]
fn every_format_is_the_same_on_any_number_of_threads() {
    let env = TestEnvironment::new();
    fork_storm(3, 30_000, 400, 11).write(&env.path().join("a.dat"), Version::V7(Codec::Zstd));
    for to in ["perfetto", "json", "csv", "firefox"] {
        let convert = |threads: &str| {
            env.rtrace(&["convert", "--force", "--threads", threads, "a.dat", "--to", to, "-o", "out"]).exits(0);
            read(&env, "out")
        };
        let expected = convert("1");
        assert!(expected.len() > 1000, "{to}: {} bytes", expected.len());
        for threads in ["2", "3", "8"] {
            assert!(convert(threads) == expected, "{to}: {threads} threads");
        }
    }
}

/// A signal ends a conversion, and takes along what is half written.
#[test]
fn a_signal_leaves_nothing_half_written() {
    let env = TestEnvironment::new();
    fork_storm(2, 60_000, 100, 7).write(&env.path().join("a.dat"), Version::V7(Codec::Zstd));
    let moments: [Duration; 16] = std::array::from_fn(|nth| Duration::from_millis(4 * nth as u64));
    for out in ["out.json", "out.ctf", "out.parquet"] {
        let mut ended = 0;
        for moment in moments {
            let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
            let mut child = command.args(["convert", "a.dat", out, "--threads", "1"]).spawn().expect("rtrace");
            let half = env.path().join(format!("{out}.{}.tmp", child.id()));
            let mut is_over = false;
            while !half.exists() && !is_over {
                is_over = child.try_wait().expect("a status").is_some();
                std::thread::yield_now();
            }
            if !is_over {
                std::thread::sleep(moment);
                let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process id"));
                kill(pid, Signal::SIGTERM).expect("a signal");
            }
            let status = child.wait().expect("a status");
            // A slow test finds it complete.
            if status.success() {
                break;
            }
            assert_eq!(status.signal(), Some(15), "{out}, {moment:?}: {status}");
            let left: Vec<_> = std::fs::read_dir(env.path())
                .expect("the folder")
                .map(|entry| entry.expect("one").file_name())
                .collect();
            assert_eq!(left, ["a.dat"], "{out}, {moment:?}");
            ended += 1;
        }
        assert!(ended > 0, "{out} was complete before the first signal");
        let whole = env.path().join(out);
        let _ = std::fs::remove_file(&whole).or_else(|_| std::fs::remove_dir_all(&whole));
    }
}

/// A page is about all events of a time: what is selected otherwise is refused, a second recording as well.
#[test]
fn a_page_is_of_one_recording_and_says_what_it_holds() {
    let env = TestEnvironment::new();
    let late = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/readme/late.dat");
    let late = late.to_string_lossy();
    env.rtrace(&["convert", &late, "late.html"])
        .exits(0)
        .prints_with("as html")
        .prints_with("left out: the events one by one");
    let page = fs::read_to_string(env.path().join("late.html")).unwrap();
    let count = env.rtrace(&["report", "--count", &late]).exits(0).stdout();
    let count = count.lines().last().and_then(|line| line.split_whitespace().next()).unwrap();
    let count = counted(count.parse().unwrap(), "").trim_end_matches([' ', 's']).to_owned();
    assert!(page.contains(&format!("events</td><td class=\"left\">{count}<")), "{count}");
    // The longest wait of `analyze sched`, in the list and in the table.
    let json = env.rtrace(&["analyze", "sched", "--json", "--top", "0", &late]).stdout();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let tasks = json["buffers"][0]["tasks"].as_array().unwrap();
    let longest = tasks.iter().filter(|task| task["comm"] == "server");
    let longest = longest.filter_map(|task| task["waits"]["max"].as_u64()).max().unwrap();
    let shown = format!("{}.{:03} us: server", longest / 1_000_000 * 1000 + longest / 1000 % 1000, longest % 1000);
    assert!(page.contains(&shown), "{shown}");
    assert_eq!(page.matches("<details").count().min(10), page.matches("show in the timeline").count());
    assert!(page.contains("<h2 id=\"section0\">sched</h2>") && !page.contains("src=") && !page.contains("href=\"http"));
    env.rtrace(&["convert", &late, "part.html", "--around", "+10ms"]).exits(0);
    // The same page beside verdicts.
    let check = ["check", &late, "-a", "max(wait(server)) < 1ms", "--html", "check.html"];
    env.rtrace(&check).exits(3);
    let page = fs::read_to_string(env.path().join("check.html")).unwrap();
    assert!(page.contains("<h2 id=\"section0\">Assertions</h2>\n<pre>FAIL") && page.contains(&shown));
    env.rtrace(&check).exits(2).complains_with("exists already");
    // And beside tables: what was asked for in place of what the page has else.
    let analyze = ["analyze", "sched", &late, "--comm", "server", "--html", "sched.html"];
    env.rtrace(&analyze).exits(0).prints_with("server");
    let page = fs::read_to_string(env.path().join("sched.html")).unwrap();
    assert_eq!(page.matches(">sched</h2>").count(), 1);
    let table = page.split("id=\"section0\">sched</h2>").nth(1).and_then(|rest| rest.split("<h2").next());
    assert!(page.contains(&shown));
    assert!(table.is_some_and(|table| table.contains(">server</td>") && !table.contains(">backup</td>")));
    env.rtrace(&analyze).exits(2).complains_with("exists already").complains_with("--force").prints("");
    env.rtrace(&[&analyze[..], &["--force", "--json"]].concat()).exits(0).prints_with("rtrace.analyze.sched");
    env.rtrace(&["analyze", "wakers", &late, "--html", "wakers.html"]).exits(0);
    env.rtrace(&["analyze", "all", &late, "--html", "all.html"]).exits(0);
    for (name, heading) in [("wakers.html", "wakers"), ("all.html", "sched")] {
        let page = fs::read_to_string(env.path().join(name)).unwrap();
        assert!(page.contains(&format!("<h2 id=\"section0\">{heading}</h2>")) && page.contains(&shown), "{name}");
    }
    env.rtrace(&["analyze", "sched", &late, "--timehist", "--html", "t.html"]).exits(2).complains_with("--html");
    // And beside a comparison: the new side's recording, if it is one.
    env.rtrace(&["baseline", "save", &late, "-o", "base.json"]).exits(0);
    let diff = ["diff", "base.json", &late, "--run-spread", "5%", "--allow-indeterminate", "--html", "diff.html"];
    let printed = env.rtrace(&diff).exits(0).stdout();
    let page = fs::read_to_string(env.path().join("diff.html")).unwrap();
    assert!(page.contains("<h2 id=\"section0\">Comparison</h2>\n<pre>base: ") && page.contains(&shown));
    let last = printed.lines().last().unwrap();
    assert!(page.contains(&format!("{last}\n</pre>")), "{last}");
    env.rtrace(&diff).exits(2).complains_with("exists already");
    env.rtrace(&["diff", &late, "base.json", "--run-spread", "5%", "--html", "saved.html"]).exits(4);
    let page = fs::read_to_string(env.path().join("saved.html")).unwrap();
    assert!(page.contains("a saved summary, which has no events to show") && page.contains(&format!("{last}\n</pre>")));
    for refused in [&["--filter", "sched:sched_switch"][..], &["--first", "3"], &["--cpu", "0"], &[&late]] {
        env.rtrace(&[&["convert", &*late, "-o", "refused.html", "--to", "html"], refused].concat()).exits(2);
    }
}
