//! The commands that make files of files: nothing of the recording may get lost.

use crate::common::environment::TestEnvironment;
use rtrace::units::counted;
use std::path::{Path, PathBuf};

const RECORDINGS: [&str; 5] =
    ["vm-6.1/trig.dat", "s390x/inst.dat", "i386/events-v6.dat", "i386/kprobe.dat", "host/small-zlib.dat"];

pub(crate) fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces").join(name)
}

/// The output of `report` for a file's events, without the lines about the file and about losses at its start.
fn report(env: &TestEnvironment, file: &str) -> Vec<String> {
    let text = env.rtrace(&["report", file]).exits(0).stdout();
    let of_event = |line: &&str| !line.starts_with("cpus=") && !line.contains("EVENTS DROPPED]");
    text.lines().filter(of_event).map(str::to_owned).collect()
}

/// Of a machine whose bytes come in the other order as well; a header says an order, and is not believed against the data.
#[test]
fn the_byte_order_of_raw_data_is_found_in_it() {
    let env = TestEnvironment::new();
    let big = env!("CARGO_MANIFEST_DIR").to_owned() + "/tests/data/traces/s390x/inst.dat";
    env.rtrace(&["convert", "--file-version", "6", &big, "big.dat"]).exits(0);
    // The block of its instance lies at the end; its table has an offset and a size for each CPU.
    let bytes = std::fs::read(env.path().join("big.dat")).expect("a copy");
    let mark = b"flyrecord\0";
    let table = bytes.windows(mark.len()).rposition(|at| at == mark).expect("a block") + mark.len();
    let number = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize;
    for cpu in 0..2 {
        let (offset, size) = (number(table + 16 * cpu), number(table + 16 * cpu + 8));
        std::fs::write(env.path().join(format!("b.cpu{cpu}")), &bytes[offset..offset + size]).expect("a file");
    }
    let _declared = copied_events(&env);
    env.rtrace(&["restore", "-t", "events", "-o", "run.dat", "b.cpu0", "b.cpu1"]).exits(0);
    env.rtrace(&["dump", "--json", "run.dat"]).exits(0).prints_with("\"big_endian\": true");
    env.rtrace(&["dump", "--validate", "run.dat"]).prints_with(" events in 1 buffer");
    let times = |file: &str| {
        let text = env.rtrace(&["report", file]).stdout();
        // `one:` may stand first, the name of a buffer.
        let time =
            |line: &str| line.split(' ').find(|word| word.ends_with(':') && word.contains('.')).map(str::to_owned);
        text.lines().filter(|line| line.contains('[')).filter_map(time).collect::<Vec<_>>()
    };
    let found = times("run.dat");
    let all = times("big.dat");
    assert!(found.len() > 100 && found.iter().all(|time| all.contains(time)), "{} of {}", found.len(), all.len());
    env.rtrace(&["restore", "-c", "-t", "events", "-o", "head.dat"]).exits(0);
    env.rtrace(&["restore", "-i", "head.dat", "--force", "-o", "run.dat", "b.cpu0", "b.cpu1"])
        .exits(1)
        .complains_with("of another byte order than what describes them");
}

#[test]
fn convert_keeps_every_event_and_option() {
    let env = TestEnvironment::new();
    for name in RECORDINGS {
        let file = recording(name);
        let file = file.to_str().expect("a plain path");
        let wanted = env.rtrace(&["report", file]).exits(0).stdout();
        for version in [["7", "zstd"], ["7", "zlib"], ["7", "none"], ["6", "none"]] {
            let [number, codec] = version;
            env.rtrace(&["convert", "--force", "--file-version", number, "--compression", codec, file, "new.dat"])
                .exits(0);
            let found = env.rtrace(&["report", "new.dat"]).exits(0).stdout();
            assert!(
                found == wanted,
                "{name} as {version:?}: {} lines, not {}",
                found.lines().count(),
                wanted.lines().count()
            );
            let uname = env.rtrace(&["report", "--uname", "new.dat"]).exits(0).stdout();
            assert_eq!(uname, env.rtrace(&["report", "--uname", file]).exits(0).stdout(), "{name} as {version:?}");
        }
        // There and back again.
        env.rtrace(&["convert", "-i", "new.dat", "-o", "new.dat", "--force"]).exits(0);
        assert!(env.rtrace(&["report", "new.dat"]).exits(0).stdout() == wanted, "{name} back from version 6");
    }
}

/// The sub-buffers of each CPU in a file of their own, as trace-cmd leaves them when it is killed.
#[test]
fn restore_makes_a_recording_of_the_files_of_its_cpus() {
    let env = TestEnvironment::new();
    for name in ["vm-6.1/trig.dat", "i386/events-v6.dat", "host/small-zlib.dat"] {
        let file = recording(name);
        let file = file.to_str().expect("a plain path");
        env.rtrace(&["convert", "-i", file, "--compression", "none", "bare.dat", "--force"]).exits(0);
        let wanted = env.rtrace(&["report", "bare.dat"]).exits(0).stdout();
        let printed = env.rtrace(&["dump", "--json", "bare.dat"]).exits(0).stdout();
        let printed: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
        let buffers = printed["buffers"].as_array().expect("buffers");
        assert_eq!(buffers.len(), 1, "{name}");
        let bare = std::fs::read(env.path().join("bare.dat")).expect("the file");
        let mut command = ["restore", "--force", "-i", file, "-o", "new.dat"].map(str::to_owned).to_vec();
        for cpu in buffers[0]["cpus"].as_array().expect("CPUs") {
            let at = |what: &str| cpu[what].as_u64().expect("a number") as usize;
            let path = format!("{}.cpu{}", name.replace('/', "-"), at("cpu"));
            let mut data = bare[at("offset")..][..at("bytes")].to_vec();
            data.extend(b"torn");
            std::fs::write(env.path().join(&path), data).expect("a file");
            command.insert(1, path); // the numbers are in the names, whatever the order
        }
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        env.rtrace(&command).exits(0).prints_with("new.dat: restored, ").prints_with(" of torn ends dropped");
        assert!(env.rtrace(&["report", "new.dat"]).exits(0).stdout() == wanted, "{name}");
        env.rtrace(&["dump", "--validate", "new.dat"]).exits(0).prints_with("no defects");
    }
    env.rtrace(&["restore", "a.cpu0", "b.cpu1"]).exits(2).complains_with("are of different recordings");
    env.rtrace(&["restore", "a", "b"]).exits(2).complains_with("one recording at a time");
    env.rtrace(&["restore", "-o", "new.dat"]).exits(2).complains_with("no files of CPUs are named");
    env.rtrace(&["restore", "-c", "a.cpu0"]).exits(2);
    env.rtrace(&["restore", "-o", "x.dat", "new.dat"]).exits(2).complains_with("is a recording, not the file of a CPU");
    let header = recording("vm-6.1/trig.dat");
    let header = header.to_str().expect("a plain path");
    std::fs::write(env.path().join("x.cpu1"), b"").expect("a file");
    env.rtrace(&["restore", "-i", header, "x.cpu1", "x.cpu1"]).exits(2).complains_with("is of CPU 1 too");
    env.rtrace(&["restore", "-i", header, "y.cpu1"]).exits(1).complains_with("failed to open y.cpu1");
    assert!(!env.path().join("trace.dat").exists(), "nothing is left of a failure");
}

/// Puts the formats of a 6.12 kernel into the folder `events`, as they lie in tracefs; gives the text of its header_page.
fn copied_events(env: &TestEnvironment) -> String {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/forms/6.12");
    let said = |name: &str| std::fs::read_to_string(data.join(name)).expect("a captured file");
    let put = |name: &str, text: &str| {
        let path = env.path().join("events").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    let mut formats = std::collections::BTreeMap::<&str, String>::new();
    let captured = said("formats");
    for (name, line) in captured.lines().filter_map(|line| line.split_once(':')) {
        *formats.entry(name).or_default() += &format!("{line}\n");
    }
    formats.iter().for_each(|(name, text)| put(name, text));
    put("header_event", "");
    put("header_page", &said("header_page"));
    said("header_page")
}

/// A sub-buffer of 4 KiB with markers, a microsecond apart, of a 64-bit little-endian kernel.
fn page_of_markers(lines: &[&str]) -> Vec<u8> {
    let mut items = Vec::new();
    for line in lines {
        let mut record = vec![5, 0, 0, 0, 42, 0, 0, 0]; // ftrace:print of task 42
        record.extend([0; 8]);
        record.extend(line.as_bytes());
        record.resize((record.len() + 1).next_multiple_of(4), 0);
        items.extend(((record.len() / 4) as u32 | 1000 << 5).to_le_bytes());
        items.extend(record);
    }
    let mut page = [1_000_000_000u64.to_le_bytes(), (items.len() as u64).to_le_bytes()].concat();
    page.extend(items);
    page.resize(4096, 0);
    page
}

/// Lines as rt-app and lisa write them are events for every verb, through a copy.
#[test]
fn lines_of_markers_become_events() {
    let env = TestEnvironment::new();
    copied_events(&env);
    let lines = [
        "rtapp_loop: event=start thread_loop=0 phase=0",
        "rtapp_stats: period=16000 slack=-12 load=0.5",
        "a line of text\n",
        "rtapp_loop: event=end thread_loop=0 phase=1\n",
        "rtapp_loop: event=start thread_loop=1 phase=1",
        "rtapp_stats: period=8000 slack=4 load=1",
    ];
    std::fs::write(env.path().join("a.cpu0"), page_of_markers(&lines)).expect("a file");
    env.rtrace(&["restore", "-t", "events", "-o", "run.dat", "a.cpu0"]).exits(0);
    env.rtrace(&["convert", "run.dat", "made.dat", "--marker-events"])
        .exits(0)
        .prints_with("made.dat: 6 events as trace.dat")
        .complains_with("5 lines of markers as events: marker:rtapp_loop (3), marker:rtapp_stats (2)");
    env.rtrace(&["dump", "--validate", "made.dat"]).exits(0).prints_with("no defects");
    let text = env.rtrace(&["report", "made.dat"]).exits(0).stdout();
    for line in [
        "rtapp_loop:           event=start thread_loop=0 phase=0",
        "rtapp_stats:          period=16000 slack=-12 load=0.5",
        "a line of text",
        "rtapp_stats:          period=8000 slack=4 load=1",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // The same times, CPUs and tasks.
    let places = |file: &str| {
        let text = env.rtrace(&["report", file]).exits(0).stdout();
        let places: Vec<String> = text.lines().filter_map(|line| Some(line.split_once(": ")?.0.to_owned())).collect();
        places
    };
    assert_eq!(places("made.dat"), places("run.dat"));
    let json = env.rtrace(&["report", "--json", "made.dat"]).exits(0).stdout();
    assert!(json.contains(r#""slack":-12"#) && json.contains(r#""load":"0.5""#), "{json}");
    env.rtrace(&["hist", "-i", "made.dat", "rtapp_loop", "--key", "phase", "--val", "thread_loop"])
        .exits(0)
        .prints_with("2 entries, 3 hits");
    env.rtrace(&["report", "made.dat", "--filter", "rtapp_stats: period > 10000", "--count"]).exits(0).prints_with("1");
    for (assertion, exit) in [("count(marker:rtapp_loop) == 3", 0), ("count(marker:rtapp_stats) > 2", 3)] {
        env.rtrace(&["check", "made.dat", "--assert", assertion]).exits(exit);
    }
    // Some names only, and nothing to name.
    env.rtrace(&["convert", "run.dat", "some.dat", "--marker-events=*_stats"])
        .exits(0)
        .complains_with("2 lines of markers as events: marker:rtapp_stats (2)");
    env.rtrace(&["convert", "run.dat", "none.dat", "--marker-events=x"])
        .exits(0)
        .complains_with("no marker has the form");
    assert_eq!(
        env.rtrace(&["report", "none.dat"]).exits(0).stdout(),
        env.rtrace(&["report", "run.dat"]).exits(0).stdout()
    );
    env.rtrace(&["convert", "run.dat", "x.csv", "--marker-events"]).exits(2).complains_with("makes a recording");
    env.rtrace(&["convert", "run.dat", "x.dat", "--marker-events", "--cpu", "0"])
        .exits(2)
        .complains_with("copies all events");
}

/// Copies of `trace_pipe_raw` and of the folder `events` of a 6.12 kernel suffice, wherever they are read.
#[test]
fn copies_of_raw_data_and_of_formats_become_a_recording() {
    let env = TestEnvironment::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/forms/6.12");
    let declared = copied_events(&env);
    for cpu in ["0", "1"] {
        std::fs::copy(data.join(format!("{cpu}.raw")), env.path().join(format!("board.cpu{cpu}"))).expect("a copy");
    }
    // Also where the kernel's usual size is not that of the copied buffer.
    let larger = declared.replace("size:4080", "size:16368");
    assert_ne!(larger, declared);
    let mut seen = Vec::new();
    for header_page in [declared, larger] {
        std::fs::write(env.path().join("events/header_page"), &header_page).expect("a file");
        env.rtrace(&["restore", "-t", "events", "--force", "-o", "run.dat", "board.cpu0", "board.cpu1"])
            .exits(0)
            .prints_with("run.dat: restored, ");
        env.rtrace(&["dump", "--validate", "run.dat"]).exits(0).prints_with("no defects");
        seen.push(env.rtrace(&["report", "run.dat"]).exits(0).stdout());
        // The host's name and symbols are not those of the copied machine.
        let host = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("this kernel's release");
        let uname = env.rtrace(&["report", "--uname", "run.dat"]).exits(0).stdout();
        assert!(!uname.contains(host.trim()), "{uname}");
    }
    assert_eq!(seen[0], seen[1]);
    assert!(seen[0].lines().count() > 20, "{}", seen[0]);
    env.rtrace(&["restore", "-c", "-t", "events", "-o", "head.dat"]).exits(0).prints_with("head.dat: ");
    env.rtrace(&["restore", "-i", "head.dat", "--force", "-o", "run.dat", "board.cpu0", "board.cpu1"]).exits(0);
    assert_eq!(env.rtrace(&["report", "run.dat"]).exits(0).stdout(), seen[1]);
    // A text behind a pointer is counted by its address where the kernel does that.
    let bprint = |key: &str| env.rtrace(&["hist", "-i", "run.dat", "ftrace:bprint", "--key", key]);
    bprint("fmt.buckets=1048576").exits(0).prints_with("18383108083783041024-18383108083784089599");
    bprint("fmt.buckets=1048576").prints_with("4 entries, 22 hits");
    bprint("fmt.log2").exits(0).prints_with("1 entry, 22 hits");
    bprint("fmt").exits(2).complains_with("a pointer: the text behind it is not in the recording");
}

/// Each verb that reads a recording says what else it was given, and what reads that.
#[test]
fn other_files_are_named() {
    let env = TestEnvironment::new();
    let put = |name: &str, bytes: &[u8]| {
        let path = env.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    };
    for (name, bytes, what, way) in [
        ("t.gz", &b"\x1f\x8b\x08\0"[..], "packed (gzip)", "`zcat t.gz | rtrace report -`"),
        ("t.xz", b"\xfd7zXZ\0\0", "packed (xz)", "`xzcat t.xz | rtrace report -`"),
        ("t.zst", b"\x28\xb5\x2f\xfd\0", "packed (zstd)", "`zstdcat t.zst | rtrace report -`"),
        ("t.zip", b"PK\x03\x04\0", "packed (zip)", "`unzip -p t.zip | rtrace report -`"),
        ("perf.data", b"PERFILE2\0", "perf's data", "`perf script -i perf.data`"),
        ("lfs", b"version https://git-lfs.github.com/spec/v1\n", "git-lfs pointer", "`git lfs pull`"),
        ("t.pftrace", b"\x0a\x03\x10\x50\x01\x0a\0", "a Perfetto trace", "ui.perfetto.dev"),
        ("t.html", b"<!DOCTYPE html>\n", "an HTML page", "ui.perfetto.dev"),
        ("t.txt", b"# tracer: nop\n#\n", "the text of a trace", "grep"),
        ("ctf/metadata", b"/* CTF 1.8 */", "Common Trace Format", "babeltrace2"),
        ("ctf2/metadata", b"\x1e{\"type\":\"preamble\",\"version\":2}\n", "Common Trace Format", "babeltrace2"),
        ("x.cpu2", &[1; 64], "the bare data of CPU 2", "`rtrace restore -o run.dat x.cpu2`"),
    ] {
        put(name, bytes);
        env.rtrace(&["report", name]).exits(1).complains_with(what).complains_with(way);
    }
    for line in ["report ctf", "check --assert lost==0 ctf", "diff ctf ctf", "baseline save ctf -o b.json"] {
        let said = env.rtrace(&line.split(' ').collect::<Vec<_>>());
        said.exits(1).complains_with("a folder in the Common Trace Format");
    }
    for line in [
        "check --assert lost==0 t.gz",
        "analyze sched t.gz",
        "convert t.gz x.dat",
        "split t.gz",
        "dump t.gz",
        "recover t.gz",
        "flame t.gz",
        "mem t.gz",
        "diff t.gz t.gz",
        "hist -i t.gz sched:sched_switch --key next_pid",
    ] {
        env.rtrace(&line.split(' ').collect::<Vec<_>>()).exits(1).complains_with("t.gz is not a trace.dat file");
    }
    // What is nothing of the kind is said as before.
    put("zeros", &[0; 64]);
    env.rtrace(&["report", "zeros"]).exits(1).complains_with("the first bytes are not");
    let line = "p:w /bin/sh:work";
    env.rtrace(&["probe", "add", line]).complains_with("`rtrace probe add uprobe /bin/sh:work` takes the names");
}

#[test]
fn convert_says_what_cannot_be() {
    let env = TestEnvironment::new();
    let file = recording("vm-6.1/trig.dat");
    let file = file.to_str().expect("a plain path");
    env.rtrace(&["convert", "-i", file]).exits(2).complains_with("no file to write is named");
    env.rtrace(&["convert", "-i", file, "--file-version", "6", "--compression", "zstd", "x"])
        .exits(2)
        .complains_with("version 6 cannot be compressed");
    env.rtrace(&["convert", "-i", file, "--file-version", "5", "x"]).exits(2);
    env.rtrace(&["convert", "-i", "nothing.dat", "x"]).exits(1).complains_with("nothing.dat");
    assert_eq!(std::fs::read_dir(env.path()).expect("the folder").count(), 0, "something was left");
}

/// Contents of each file, by name.
fn contents(env: &TestEnvironment) -> std::collections::BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(env.path()).expect("the folder").map(|entry| entry.expect("a file"));
    let name = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    files.map(|entry| (name(&entry), std::fs::read(entry.path()).expect("it"))).collect()
}

#[test]
fn what_is_named_first_is_read_and_nothing_is_overwritten() {
    let env = TestEnvironment::new();
    for (name, from) in [("trace.dat", "vm-6.1/trig.dat"), ("big.dat", "s390x/inst.dat"), ("7", "s390x/inst.dat")] {
        std::fs::copy(recording(from), env.path().join(name)).expect("a copy");
    }
    std::fs::write(env.path().join("x.cpu0"), b"").expect("a file");
    let before = contents(&env);
    env.rtrace(&["convert", "big.dat"]).exits(2).complains_with("big.dat is the one to read");
    for line in [
        "convert trace.dat big.dat",
        "convert -i trace.dat big.dat",
        "convert -o big.dat",
        "convert trace.dat -o big.dat",
        "convert -i trace.dat -o trace.dat",
        "split trace.dat -o big.dat",
        "split -o big.dat",
        "restore -i trace.dat -o big.dat x.cpu0",
        "restore -i big.dat x.cpu0",
        "convert trace.dat big.dat more.dat",
        "convert -i trace.dat -o new.dat big.dat",
    ] {
        let outcome = env.rtrace(&line.split(' ').collect::<Vec<_>>());
        outcome.exits(2);
        let printed = outcome.stderr();
        assert!(
            printed.contains("exists already") && printed.contains("--force")
                || line.contains("more")
                || line.contains("new")
        );
    }
    env.rtrace(&["split", "-i", "trace.dat", "1", "2", "3"]).exits(2).complains_with("three times");
    env.rtrace(&["split", "trace.dat", "big.dat"]).exits(2).complains_with("`big.dat` is no time");
    assert!(contents(&env) == before, "no file has changed");
    let wanted = report(&env, "big.dat");
    for line in ["convert big.dat one.dat", "convert big.dat -o two.dat", "convert -i big.dat three.dat"] {
        env.rtrace(&line.split(' ').collect::<Vec<_>>()).exits(0);
        assert!(report(&env, line.rsplit(' ').next().expect("a name")) == wanted, "{line}");
    }
    // A number is a time, as in trace-cmd; a file of that name is for -i.
    env.rtrace(&["split", "7"]).exits(0);
    assert!(env.path().join("trace.dat.1").exists());
    env.rtrace(&["split", "-i", "7"]).exits(0);
    assert!(report(&env, "7.1") == wanted);
    env.rtrace(&["convert", "trace.dat", "big.dat", "--force"]).exits(0);
    assert!(report(&env, "big.dat") == report(&env, "trace.dat"));
    // Never in place of a device: a new file would have its name.
    for line in ["convert trace.dat /dev/null --force", "split trace.dat -o /dev/null --force"] {
        env.rtrace(&line.split(' ').collect::<Vec<_>>()).exits(1).complains_with("not a regular file");
    }
}

#[test]
fn what_is_made_gives_no_more_away_than_its_input() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnvironment::new();
    std::fs::copy(recording("vm-6.1/trig.dat"), env.path().join("in.dat")).expect("a copy");
    let mode = |name: &str| {
        let metadata = std::fs::metadata(env.path().join(name)).expect("the file");
        metadata.permissions().mode() & 0o7777
    };
    for (given, wanted) in [(0o600, 0o600), (0o400, 0o600), (0o640, 0o640), (0o666, 0o644), (0o755, 0o644)] {
        let permissions = std::fs::Permissions::from_mode(given);
        std::fs::set_permissions(env.path().join("in.dat"), permissions).expect("a mode");
        let script = format!(
            "umask 022; r={}; $r convert --force in.dat c.dat && $r split --force in.dat -o s.dat && $r split -r --force in.dat -o p",
            env!("CARGO_BIN_EXE_rtrace")
        );
        env.run("sh", &["-c", &script]).exits(0);
        for made in ["c.dat", "s.dat", "p.0001"] {
            assert_eq!(mode(made), wanted, "{made} of {given:o}: {:o}", mode(made));
        }
    }
    // Of somebody else's file: his group is not ours.
    if std::os::unix::fs::chown(env.path().join("in.dat"), Some(65534), Some(65534)).is_ok() {
        for (given, wanted) in [(0o660, 0o600), (0o644, 0o644)] {
            let permissions = std::fs::Permissions::from_mode(given);
            std::fs::set_permissions(env.path().join("in.dat"), permissions).expect("a mode");
            env.rtrace(&["convert", "--force", "in.dat", "c.dat"]).exits(0);
            assert_eq!(mode("c.dat"), wanted, "{given:o}");
        }
    }
}

#[test]
fn a_window_without_events_leaves_everything_as_it_was() {
    let env = TestEnvironment::new();
    std::fs::copy(recording("vm-6.1/trig.dat"), env.path().join("trace.dat")).expect("a copy");
    std::fs::write(env.path().join("old.dat"), "of before").expect("a file");
    for more in [&["-o", "old.dat", "--force"][..], &[], &["-r"], &["--json"]] {
        let split = env.rtrace(&[&["split"], more, &["99999999"]].concat());
        split.exits(1).prints("").complains_with("rtrace: there are no events between START and END\n");
    }
    let mut files: Vec<_> = std::fs::read_dir(env.path()).expect("it").map(|e| e.expect("it").file_name()).collect();
    files.sort();
    assert_eq!(files, ["old.dat", "trace.dat"]);
    assert_eq!(std::fs::read(env.path().join("old.dat")).expect("it"), b"of before");
}

#[test]
fn parts_and_what_is_recovered_as_json() {
    let env = TestEnvironment::new();
    std::fs::copy(recording("vm-6.1/trig.dat"), env.path().join("trace.dat")).expect("a copy");
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&env.rtrace(args).exits(0).complains("").stdout()).expect("JSON")
    };
    let parts = json(&["split", "-e", "100", "-r", "-o", "part", "--json"]);
    assert_eq!(parts["schema"], "rtrace.split");
    assert_eq!(
        parts["parts"],
        serde_json::json!([{"file": "part.0001", "events": 100}, {"file": "part.0002", "events": 38}])
    );
    let nothing = json(&["recover", "--json"]);
    assert_eq!((&nothing["schema"], &nothing["done"]), (&"rtrace.recover".into(), &"complete".into()));
}

#[test]
fn the_parts_of_a_split_are_the_whole() {
    let env = TestEnvironment::new();
    for name in ["vm-6.1/trig.dat", "s390x/inst.dat", "i386/events-v6.dat"] {
        let file = recording(name);
        let file = file.to_str().expect("a plain path");
        let whole = report(&env, file);
        for step in [&["-e", "101"][..], &["-m", "40"], &["-p", "3"], &["-c", "-e", "60"]] {
            let printed = env.rtrace(&[&["split", "-i", file, "-o", "part", "-r"], step].concat()).exits(0).stdout();
            let mut parts = Vec::new();
            for (number, line) in (1..).zip(printed.lines()) {
                let part = format!("part.{number:04}");
                let lines = report(&env, &part);
                assert!(
                    line.starts_with(&format!("{part}: {}", counted(lines.len() as u64, "event"))),
                    "{name} {step:?}: {line}"
                );
                std::fs::remove_file(env.path().join(part)).expect("the part");
                parts.extend(lines);
            }
            let mut whole = whole.clone();
            if step.contains(&"-p") || step.contains(&"-c") {
                whole.sort();
                parts.sort();
            }
            assert!(parts == whole, "{name} {step:?}: {} lines in parts, {} in all", parts.len(), whole.len());
        }
    }
}

#[test]
fn one_part_is_called_as_asked() {
    let env = TestEnvironment::new();
    std::fs::copy(recording("vm-6.1/trig.dat"), env.path().join("whole.dat")).expect("a copy");
    env.rtrace(&["split", "-i", "whole.dat", "-e", "20", "-o", "some.dat"]).exits(0).prints("some.dat: 20 events\n");
    env.rtrace(&["split", "-i", "whole.dat", "-e", "20"]).exits(0).prints("whole.dat.1: 20 events\n");
    assert_eq!(report(&env, "some.dat"), report(&env, "whole.dat.1"));
}

#[test]
fn dump_tells_what_is_there_and_what_is_broken() {
    let env = TestEnvironment::new();
    for name in RECORDINGS {
        let file = recording(name);
        let file = file.to_str().expect("a plain path");
        let events = report(&env, file).len();
        let printed = env.rtrace(&["dump", "--validate", file]).exits(0).complains("").stdout();
        assert!(
            printed.contains(&format!(": {} in ", counted(events as u64, "event")))
                && printed.ends_with("no defects\n"),
            "{name}: {printed}"
        );
        env.rtrace(&["dump", file]).exits(0).prints_with("\t[Initial format]\n");
        let json = env.rtrace(&["dump", "--json", file]).exits(0).stdout();
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(json["schema"], "rtrace.dump");
    }
    let bytes = std::fs::read(recording("vm-6.1/trig.dat")).expect("a recording");
    std::fs::write(env.path().join("cut.dat"), &bytes[..bytes.len() - 5000]).expect("a file");
    let printed = env.rtrace(&["dump", "-v", "cut.dat"]);
    printed.exits(4).complains_with("cut.dat: ");
    let named = printed.stderr().lines().count() as u64;
    assert!(printed.stdout().ends_with(&format!(": {}\n", counted(named, "defect"))), "{}", printed.stdout());
}

#[test]
fn dump_prints_what_trace_cmd_prints() {
    let Some(trace_cmd) = crate::common::installed_trace_cmd::installed() else { return };
    let env = TestEnvironment::new();
    let mut compared = 0;
    for name in RECORDINGS {
        let file = recording(name);
        let file = file.to_str().expect("a plain path");
        for parts in [
            "",
            "--summary --flyrecord --clock",
            "--all",
            "--options",
            "--flyrecord",
            "--sections --strings",
            "--systems",
            "--head-page",
            "--head-event --clock",
            "--ftrace-events --cmd-lines --printk",
            "--kallsyms --events",
        ] {
            let words = [&["dump", "-i", file][..], &parts.split_whitespace().collect::<Vec<_>>()].concat();
            let theirs = std::process::Command::new(&trace_cmd).args(&words).output().expect("trace-cmd runs");
            // Debian's has no zlib.
            if !theirs.status.success() {
                continue;
            }
            let ours = env.rtrace(&words).exits(0).stdout();
            let theirs = String::from_utf8_lossy(&theirs.stdout);
            let differ = theirs.lines().zip(ours.lines()).find(|(theirs, ours)| theirs != ours);
            assert!(theirs == ours, "{name} {parts}: {differ:?}");
            compared += 1;
        }
    }
    assert!(compared > 30, "only {compared} compared");
}

#[test]
fn report_says_what_it_could_not_decode() {
    let env = TestEnvironment::new();
    let file = recording("i386/events-v6.dat");
    let sound = env.rtrace(&["report", file.to_str().expect("a plain path")]).exits(0).stderr();
    assert_eq!(sound, "", "nothing to complain of");
    // No format has a text any more; those that have a wording of trace-cmd's plugins do not need one.
    let mut bytes = std::fs::read(&file).expect("the recording");
    let mark = b"print fmt: \"";
    let places: Vec<usize> = memchr::memmem::find_iter(&bytes, mark).collect();
    for at in places {
        bytes[at + mark.len() - 1] = b'(';
    }
    std::fs::write(env.path().join("broken.dat"), bytes).expect("the broken file");
    for format in [&["report", "broken.dat"][..], &["report", "--format", "kernel", "broken.dat"]] {
        let complaint = env.rtrace(format).exits(0).stderr();
        let of_sched =
            complaint.lines().any(|line| line.contains(" of sched:") && line.contains(" shown as raw fields: "));
        assert!(of_sched, "{complaint}");
    }
    assert_eq!(env.rtrace(&["report", "-R", "broken.dat"]).exits(0).stderr(), "", "raw fields were asked for");
}

/// The end of trace-cmd 3.4's `report -w` on this file, and the number of events before it.
const WAKEUPS: &str = "
Average wakeup latency: 1470.197 usecs
Maximum Latency: 12313.294 usecs at timestamp: 14.604700
Minimum Latency: 0.000 usecs at timestamp: 14.594900

";
const WAKEUP_LINES: usize = 92;

#[test]
fn a_limit_on_file_sizes_is_an_error_like_a_full_disk() {
    let env = TestEnvironment::new();
    let file = recording("vm-6.1/trig.dat");
    for verb in ["convert", "split"] {
        let limited = format!("ulimit -f 8; \"$0\" {verb} -i {} -o out.dat", file.display());
        let done = env.run("bash", &["-c", &limited, env!("CARGO_BIN_EXE_rtrace")]);
        done.exits(1).complains_with("File too large");
        assert!(!env.path().join("out.dat").exists());
    }
}

#[test]
fn nothing_waits_for_a_pipe() {
    let env = TestEnvironment::new();
    nix::unistd::mkfifo(&env.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for verb in ["report", "report --stat", "dump", "mem", "hist", "profile", "split", "convert -o to.dat"] {
        let [verb, options] = verb.split_once(' ').map_or([verb, ""], |(a, b)| [a, b]);
        let args: Vec<&str> = [verb].into_iter().chain(options.split_whitespace()).chain(["--input", "pipe"]).collect();
        env.rtrace(&args).exits(1).complains_with("failed to read pipe: it is a pipe, ");
    }
}

#[test]
fn what_many_events_say_together() {
    let env = TestEnvironment::new();
    let file = |name: &str| recording(name).to_str().expect("a plain path").to_owned();
    let printed = env.rtrace(&["report", "-w", &file("i386/events-v6.dat")]).exits(0).stdout();
    assert!(printed.ends_with(WAKEUPS), "{}", &printed[printed.len().saturating_sub(600)..]);
    assert_eq!(
        printed.lines().filter(|line| line.contains("sched_switch: ") && line.contains(" Latency: ")).count(),
        WAKEUP_LINES
    );
    env.rtrace(&["hist", "-P", "-i", &file("vm-6.1/trig.dat")]).exits(0).prints(
        "  %94.93 <all pids>                   sched_switch #131\n         |\n         --- *sched_switch*\n\n\
         \x20 %5.07 <all pids>             sched_process_exec #7\n         |\n         --- *sched_process_exec*\n",
    );
    let json = env.rtrace(&["hist", "-i", &file("vm-6.1/trig.dat"), "--json"]).exits(0).stdout();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["buffers"][0]["total"], 138);
    env.rtrace(&["mem", &file("vm-6.1/trig.dat")]).exits(1).complains_with("holds no events of kmem");
    env.rtrace(&["hist", "sched:sched_switch"]).exits(2).complains_with("--key");
    env.rtrace(&["hist"]).exits(2);
}

#[test]
fn report_words_events_as_asked() {
    let env = TestEnvironment::new();
    let file = recording("vm-6.1/trig.dat");
    let file = file.to_str().expect("a plain path");
    env.rtrace(&["report", "-r", "sched_sw.*", file]).exits(0).prints_with(": sched_switch:          prev_comm=");
    env.rtrace(&["report", "-n", "SCHED", file]).exits(0).prints_with("sched_switch:         prev_comm=");
    env.rtrace(&["report", "-O", "fgraph:tail", file]).exits(2).complains_with("there is no option `tail`");
    env.rtrace(&["report", "-O", "indent=2", file]).exits(2).complains_with("neither 1 nor 0");
    env.rtrace(&["report", "-T", "-F", "sched_switch: next_pid == 1", file])
        .exits(0)
        .prints(" 'sched_switch: next_pid == 1'\n");
    let filters = ["report", "-T", "--json", "-F", "sched_switch: next_pid == 1", "-v", "-F", "sched", file];
    let document: serde_json::Value =
        serde_json::from_str(&env.rtrace(&filters).exits(0).stdout()).expect("one JSON document");
    let expected = serde_json::json!({"schema": "rtrace.filters", "version": 1, "filters": [
        {"filter": "sched_switch: next_pid == 1", "keeps": true}, {"filter": "sched", "keeps": false}]});
    assert_eq!(document, expected);
    env.rtrace(&["report", "--check-events", file]).exits(0).prints("");
    env.rtrace(&["report", "--ts-check", file]).exits(0).complains("");
    let aligned = env.rtrace(&["report", "--align-ts", file]).exits(0).stdout();
    assert!(aligned.lines().nth(1).is_some_and(|line| line.contains("     0.000000: ")), "{aligned:.200}");
    env.rtrace(&["options"]).exits(0).prints_with("  option:\tretval-hex\n");
    env.rtrace(&["list", "-O", "-P", "--json"]).exits(0).prints_with("\"plugin_options\"");
}

/// A field that no event has is a typing error, and not an answer; events that lack it are left out where others have it.
#[test]
fn a_field_that_no_event_has_is_refused() {
    let env = TestEnvironment::new();
    let file = recording("vm-6.1/trig.dat");
    let file = file.to_str().expect("a plain path");
    let report = |option: &str, filter: &str| env.rtrace(&["report", option, filter, file]);
    report("-F", "sched_switch: nxt_comm == \"sh\"").exits(2).complains_with("did you mean `next_comm`?");
    report("-F", "*: nosuchfield == 1").exits(2).complains_with("not found in any of the");
    let wanted = report("-F", "sched_switch: next_pid != 0").exits(0).stdout();
    assert!(wanted.lines().count() > 1, "{wanted}");
    for (option, filter) in [("-F", "*: next_pid != 0"), ("--filter", "*: next_pid != 0")] {
        assert_eq!(report(option, filter).exits(0).stdout(), wanted, "{option} {filter}");
    }
    report("--filter", "*: nxt_pid == 1").exits(2).complains_with("did you mean `next_pid`");
    report("--filter", "next_pid == 1").exits(2).complains_with("`*: ` stands for all that have the field");
    let linked = env.path().join("trace-cmd");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_rtrace"), &linked).expect("a link");
    let filter = "sched_switch: nxt_comm == \"sh\"";
    env.run(linked.to_str().expect("a plain path"), &["report", "-F", filter, file]).exits(0);
}

#[test]
fn all_facts_asked_for_are_printed() {
    let env = TestEnvironment::new();
    let file = recording("host/small-zlib.dat");
    let text = env
        .rtrace(&["report", "-e", "-p", "--cpus", "--uname", file.to_str().expect("a plain path")])
        .exits(0)
        .stdout();
    let starts = ["List of CPUs in ", "file is little endian and host is ", "file page size is 4096, and ", "cpus="];
    let places: Vec<_> = starts.iter().map(|start| text.find(start)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
}
