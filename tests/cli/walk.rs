//! Every daily verb once: which instance it acts on, what its exit code says, and what its help shows.

use crate::common::environment::{Outcome, TestEnvironment};
use rtrace::internal::trace_dat::Trace;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Verbs that act on tracefs, and verbs that read a file.
const OF_TRACEFS: [&str; 12] =
    ["start", "set", "stop", "restart", "show", "stat", "reset", "clear", "extract", "stream", "record", "snapshot"];
const OF_FILES: [&str; 7] = ["split", "convert", "dump", "recover", "mem", "hist", "report"];

fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces").join(name).to_str().expect("a path").to_owned()
}

const STATS: &str = "entries: 3\noverrun: 0\ncommit overrun: 0\nbytes: 100\noldest event ts:  1.000000\n\
                     now ts:  2.000000\ndropped events: 0\nread events: 0\n";

/// A tree like tracefs: the top level, and the instances `one` and `two`; each has the sub-buffers of a real recording.
pub(crate) struct Tree {
    pub(crate) env: TestEnvironment,
    root: PathBuf,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let env = TestEnvironment::new();
        let root = env.path().join("tracing");
        let tree = Tree { env, root };
        let recording = Trace::open(File::open(data("vm-6.1/trig.dat")).expect("it")).expect("a recording");
        let (mut available, mut formats) = (String::new(), Vec::new());
        for format in recording.ftrace_formats.iter().chain(&recording.event_formats) {
            formats.push((format!("{}/{}", format.system, format.name), format.to_string()));
            if format.system != "ftrace" {
                available.push_str(&format!("{}:{}\n", format.system, format.name));
            }
        }
        let mut pages = Vec::new();
        let mut source = recording.raw_pages(&recording.buffers[0], 0);
        source.next(&mut pages).expect("sub-buffers");
        for place in ["", "instances/one/", "instances/two/"] {
            let put = |file: &str, text: &[u8]| tree.put(&format!("{place}{file}"), text);
            for (file, text) in [
                ("trace_clock", "[local] global mono\n"),
                ("tracing_on", "1\n"),
                ("trace", "# tracer: nop\n"),
                ("current_tracer", "nop\n"),
                ("buffer_size_kb", "1408\n"),
                ("set_event", ""),
                ("set_event_pid", ""),
                ("tracing_cpumask", "3\n"),
                ("trace_options", "print-parent\noverwrite\n"),
                ("options/print-parent", "1\n"),
                ("options/overwrite", "1\n"),
                ("events/enable", "0\n"),
                ("per_cpu/cpu0/stats", STATS),
            ] {
                put(file, text.as_bytes());
            }
            put("per_cpu/cpu0/trace_pipe_raw", &pages);
            for (path, text) in &formats {
                put(&format!("events/{path}/format"), text.as_bytes());
                if !path.starts_with("ftrace/") {
                    put(&format!("events/{path}/enable"), b"0\n");
                    put(&format!("events/{path}/filter"), b"none\n");
                    put(&format!("events/{path}/trigger"), b"# Available triggers:\n");
                    let system = path.split('/').next().expect("a system");
                    put(&format!("events/{system}/enable"), b"0\n");
                }
            }
        }
        for (file, text) in [
            ("available_events", available.as_str()),
            ("available_tracers", "nop\n"),
            ("printk_formats", ""),
            ("saved_cmdlines", "1 init\n"),
            ("README", "tracing mini-HOWTO\n"),
        ] {
            tree.put(file, text.as_bytes());
        }
        tree.put("events/header_page", &recording.header_texts.0);
        tree.put("events/header_event", &recording.header_texts.1);
        tree
    }

    pub(crate) fn put(&self, file: &str, text: &[u8]) {
        let path = self.root.join(file);
        fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// The contents of FILE at the top level, in `one` and in `two`.
    fn says(&self, file: &str) -> [String; 3] {
        ["", "instances/one/", "instances/two/"]
            .map(|place| fs::read_to_string(self.root.join(place).join(file)).expect("a file").trim().to_owned())
    }

    /// Runs verbs on it, each of which must end with its status and say so on stderr; shows all that do not.
    #[track_caller]
    fn walk(&self, lines: &[(&str, i32, &str)]) {
        let differs = |(line, status, complaint): &(&str, i32, &str)| {
            let outcome = self.rtrace(line);
            let (found, printed) = (outcome.status(), outcome.stderr());
            (found != Some(*status) || !printed.contains(complaint))
                .then(|| format!("{line}: {found:?} instead of {status}, not {complaint:?} but {printed}"))
        };
        let wrong: Vec<String> = lines.iter().filter_map(differs).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Runs a verb on it.
    fn rtrace(&self, line: &str) -> Outcome {
        let mut words = line.split_whitespace();
        let verb = words.next().expect("a verb");
        self.env.rtrace(&[&[verb, "--tracefs", "tracing"], &words.collect::<Vec<_>>()[..]].concat())
    }
}

#[test]
fn each_help_has_examples_and_names_the_instance() {
    let env = TestEnvironment::new();
    let mut verbs: Vec<&str> = OF_TRACEFS.to_vec();
    verbs.extend(OF_FILES);
    verbs.extend(["list", "options", "check-events", "stack", "latency", "instance", "trigger", "filter"]);
    for verb in verbs {
        let help = env.rtrace(&[verb, "--help"]).exits(0).stdout();
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let has_subcommands = words.contains("Commands: ");
        assert!(words.to_lowercase().contains("examples: ") || has_subcommands, "{verb} has no examples:\n{help}");
        if OF_TRACEFS.contains(&verb) {
            let says = ["orks on the top level", "the top level", "buffer of its own", "instance"];
            assert!(says.iter().any(|what| words.contains(what)), "{verb} does not say where it works:\n{help}");
            assert!(words.contains("-B, --instance <"), "{verb} has no -B:\n{help}");
        }
        // An unknown option is a usage error, and so is one too many.
        env.rtrace(&[verb, "--no-such-option"]).exits(2).complains_with("--no-such-option");
    }
}

#[test]
fn the_top_level_one_instance_or_all() {
    let tree = Tree::new();
    for (line, on) in [
        ("stop", ["0", "1", "1"]),
        ("restart", ["1", "1", "1"]),
        ("stop -B one", ["1", "0", "1"]),
        ("stop -B one -B two -t", ["0", "0", "0"]),
        ("restart -a", ["0", "1", "1"]),
        ("restart -a -t", ["1", "1", "1"]),
        ("stop --all", ["1", "0", "0"]),
        ("restart --all --top", ["1", "1", "1"]),
    ] {
        tree.rtrace(line).exits(0).complains("").prints("");
        assert_eq!(tree.says("tracing_on"), on, "{line}");
    }
    for (line, left) in [
        ("clear", ["", "x", "x"]),
        ("clear -B two", ["x", "x", ""]),
        ("clear -a", ["", "", ""]),
        ("clear --all", ["", "", ""]),
        ("clear -B one -t", ["", "", "x"]),
    ] {
        for place in ["", "instances/one/", "instances/two/"] {
            tree.put(&format!("{place}trace"), b"x\n");
        }
        tree.rtrace(line).exits(0).complains("").prints("");
        assert_eq!(tree.says("trace"), left, "{line}");
    }
    for (line, size) in [
        ("reset -b 64", ["64", "1408", "1408"]),
        ("reset -B one -b 128", ["64", "128", "1408"]),
        ("reset -a -b 32", ["64", "32", "32"]),
        ("reset -a -t -b 96", ["96", "96", "96"]),
    ] {
        tree.rtrace(line).exits(0).complains("");
        assert_eq!(tree.says("buffer_size_kb"), size, "{line}");
    }
    for (line, size) in [
        ("set -b 50", ["50", "96", "96"]),
        ("set -B two -b 60", ["50", "96", "60"]),
        ("set -b 70 -B one -b 80", ["70", "80", "60"]),
    ] {
        tree.rtrace(&format!("{line} --journal-dir journals")).exits(0).complains("");
        assert_eq!(tree.says("buffer_size_kb"), size, "{line}");
    }
    tree.rtrace("start --journal-dir journals -B one -e sched:sched_switch").exits(0).complains("");
    assert_eq!(tree.says("events/sched/sched_switch/enable"), ["0", "1", "0"]);
    tree.rtrace("stat").exits(0).prints_with("Instances");
    tree.rtrace("stat -a").exits(0).prints_with("one").prints_with("two");
    tree.put("instances/one/set_event", b"sched:sched_switch\n");
    tree.rtrace("stat -B one --json").exits(0).prints_with("sched_switch");
    tree.rtrace("show -B one trace_clock").exits(0).prints("[local] global mono\n");
}

#[test]
fn extract_takes_one_some_or_all() {
    for (line, buffers) in [
        ("extract", &[""][..]),
        ("extract -B two", &[""]),
        ("extract -t -B one", &["", "one"]),
        ("extract -B one -B two", &["", "one", "two"]),
        ("extract -a", &["", "one", "two"]),
        ("extract -a -t", &["", "one", "two"]),
    ] {
        let tree = Tree::new();
        tree.rtrace(&format!("{line} -o out.dat -q")).exits(0).complains("").prints("");
        let trace = Trace::open(File::open(tree.env.path().join("out.dat")).expect("a file")).expect("a recording");
        assert!(trace.damage.is_empty(), "{line}: {:?}", trace.damage);
        let names: Vec<&str> = trace.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
        assert_eq!(names, buffers, "{line}");
        let filled = trace.buffers.iter().filter(|buffer| !buffer.cpus.is_empty()).count();
        let top_is_empty = buffers.len() > 1 && !line.contains("-t");
        assert_eq!(filled, buffers.len() - usize::from(top_is_empty), "{line}");
        let off = tree.says("tracing_on").iter().filter(|on| *on == "0").count();
        assert_eq!(off, filled, "{line}: what was extracted is off, and nothing else");
        tree.env.rtrace(&["report", "--count", "out.dat"]).exits(0).complains("");
        tree.env.rtrace(&["dump", "--validate", "out.dat"]).exits(0).prints_with("no defects");
    }
    let tree = Tree::new();
    tree.put("instances/one/trace_clock", b"local [mono]\n");
    tree.rtrace("extract -a --date").exits(2).complains_with("--date is about one clock");
    assert_eq!(tree.says("tracing_on"), ["1", "1", "1"], "refused before anything was done");
    tree.rtrace("extract -B three").exits(2).complains_with("Hint: instances are one, two");
    tree.rtrace("extract -s").exits(5).complains_with("CONFIG_TRACER_SNAPSHOT");
    for instance in ["one", "two"] {
        fs::remove_dir_all(tree.root.join("instances").join(instance)).expect("to remove it");
    }
    tree.rtrace("extract -a").exits(2).complains_with("there is no instance to extract");
}

#[test]
fn what_the_exit_code_says_of_tracefs() {
    let tree = Tree::new();
    // 2: what does not exist or contradicts itself. The same answer in every verb.
    let none = "no instance is called `three`";
    tree.walk(&[
        ("stop -B three", 2, none),
        ("restart -B three", 2, none),
        ("clear -B three", 2, none),
        ("reset -B three", 2, none),
        ("reset -d -B three", 2, none),
        ("stat -B three", 2, none),
        ("show -B three", 2, none),
        ("extract -B three", 2, none),
        ("snapshot -s -B three", 2, none),
        ("start", 2, "nothing to trace"),
        ("set", 2, "nothing to set"),
        ("set -F -b 64", 2, "CMD"),
        ("start -e sched -c", 2, "-F"),
        ("start -f x==1", 2, "belongs to the -e before it"),
        ("stream -q", 2, "no event is selected"),
        ("stream -e sched -C tsc2nsec", 2, "`-C mono` counts nanoseconds"),
        ("record -e sched -F", 2, "-F"),
        ("record -V 3 -e sched", 2, "expected CID:PORT in numbers"),
        ("record -e sched --proxy host -e sched", 2, "--proxy takes CID or CID:PORT in numbers, not `host`"),
        ("record -e sched --no-fifos", 2, "without a `-A`"),
        ("record -e sched --tsync-interval=3", 2, "without a `-A` before it"),
        ("record --udp -e sched", 2, "--to"),
        ("record -N 1 --udp -t -e sched", 2, "cannot be used with"),
        ("record --no-such-option -e sched", 2, "unknown option `--no-such-option`"),
        ("reset -d", 2, "the top level cannot be deleted"),
        ("list -F", 2, "-e"),
    ]);
    // Names that this tracefs does not have.
    tree.walk(&[
        ("start --journal-dir j -e nosuch", 2, "no event matches `nosuch`"),
        ("set --journal-dir j -e sched:nosuch", 2, "no event matches `sched:nosuch`"),
        ("stream --journal-dir j -e nosuch", 2, "no event matches `nosuch`"),
        ("record --journal-dir j -e nosuch", 2, "no event matches `nosuch`"),
        ("set --journal-dir j -C nosuch", 2, "nosuch"),
        ("set --journal-dir j -O nosuch", 2, "no trace option `nosuch`"),
        ("record --journal-dir j -e nosuch -- true", 2, "no event matches `nosuch`"),
        ("list -e nosuch", 2, "no event matches `nosuch`"),
    ]);
    // 1: what is no tracefs.
    for verb in ["stop", "restart", "stat", "clear", "reset", "extract", "show"] {
        tree.env.rtrace(&[verb, "--tracefs", "nowhere"]).exits(1).complains_with("nowhere is not a tracefs");
    }
    // 5: what this kernel cannot do, with the name of its option. With a command, whose statuses are its own, 125.
    tree.walk(&[
        ("start --journal-dir j -p function", 5, "CONFIG_FUNCTION_TRACER"),
        ("set --journal-dir j -p function_graph", 5, "CONFIG_FUNCTION_GRAPH_TRACER"),
        ("stream --top --journal-dir j -p blk", 5, "CONFIG_BLK_DEV_IO_TRACE"),
        ("record --top --journal-dir j -p hwlat", 5, "CONFIG_HWLAT_TRACER"),
        ("record --top --journal-dir j -p irqsoff", 5, "CONFIG_IRQSOFF_TRACER"),
        ("record --top --journal-dir j -p preemptoff", 5, "CONFIG_PREEMPT_TRACER"),
        ("record --top --journal-dir j -p wakeup", 5, "CONFIG_SCHED_TRACER"),
        ("record --top --journal-dir j -p osnoise", 5, "CONFIG_OSNOISE_TRACER"),
        ("record --top --journal-dir j -p timerlat", 5, "CONFIG_TIMERLAT_TRACER"),
        ("record --top --journal-dir j --for osnoise", 5, "CONFIG_OSNOISE_TRACER"),
        ("record --journal-dir j --for timerlat", 5, "CONFIG_TIMERLAT_TRACER"),
        ("record --top --journal-dir j -p mmiotrace", 5, "CONFIG_MMIOTRACE"),
        ("record --top --journal-dir j -p hwlat -- true", 125, "CONFIG_HWLAT_TRACER"),
        // Nothing is set for what is not there: neither `set_ftrace_pid` nor `set_graph_function` exists here.
        ("start --journal-dir j -p function_graph -g vfs_open -F -- true", 125, "CONFIG_FUNCTION_GRAPH_TRACER"),
        ("record --top --journal-dir j -p nop -O funcgraph-args", 5, "CONFIG_FUNCTION_TRACE_ARGS"),
        ("set --journal-dir j -O funcgraph-retval", 5, "CONFIG_FUNCTION_GRAPH_RETVAL"),
        ("start --journal-dir j -p hwlat -- true", 125, "CONFIG_HWLAT_TRACER"),
        ("show -s", 5, "CONFIG_TRACER_SNAPSHOT"),
        ("extract -s", 5, "CONFIG_TRACER_SNAPSHOT"),
        ("snapshot -s", 5, "CONFIG_TRACER_SNAPSHOT"),
        ("stack", 5, "CONFIG_STACK_TRACER"),
        ("stack --start", 5, "CONFIG_STACK_TRACER"),
        ("list -f", 5, "CONFIG_DYNAMIC_FTRACE"),
    ]);
    // A feature of the kernel, but not for instances.
    tree.put("available_tracers", b"function_graph nop\n");
    tree.put("instances/one/available_tracers", b"nop\n");
    tree.walk(&[("start --journal-dir j -B one -p function_graph", 5, "leave out -B")]);
}

#[test]
fn what_the_exit_code_says_of_files() {
    let env = TestEnvironment::new();
    let whole = fs::read(data("vm-6.1/trig.dat")).expect("a recording");
    fs::write(env.path().join("whole.dat"), &whole).expect("a file");
    fs::write(env.path().join("text"), "no recording\n").expect("a file");
    fs::write(env.path().join("cut.dat"), &whole[..whole.len() - 6000]).expect("a file");
    fs::write(env.path().join("x.cpu0"), b"").expect("a file");
    let mut wrong = Vec::new();
    let mut line = |text: &str, file: &str, status: i32| {
        let words: Vec<&str> = text.split_whitespace().map(|word| if word == "FILE" { file } else { word }).collect();
        let outcome = env.rtrace(&words);
        let (found, printed) = (outcome.status(), outcome.stderr());
        if found != Some(status) || (status == 1 && !printed.contains(file)) {
            wrong.push(format!("{text}, {file}: {found:?} instead of {status}: {printed}"));
        }
    };
    for verb in [
        "report FILE",
        "split --force -i FILE -o part.dat",
        "convert --force FILE new.dat",
        "dump FILE",
        "dump --validate FILE",
        "recover FILE",
        "hist -i FILE",
        "restore --force -i FILE -o new.dat x.cpu0",
    ] {
        line(verb, "whole.dat", 0);
        line(verb, "none.dat", 1);
        line(verb, "text", 1);
    }
    // It has no event of kmem.
    for file in ["whole.dat", "none.dat", "text"] {
        line("mem FILE", file, 1);
    }
    // 4: all that is whole was shown, and where it is not is said.
    for verb in ["report FILE", "dump --validate FILE", "convert --force FILE -o new.dat", "hist -i FILE"] {
        line(verb, "cut.dat", 4);
    }
    // Nothing found may mean that it was lost; a failed write is a failure all the same.
    for (verb, of_whole) in [("mem FILE", 1), ("report -F nosuch FILE", 2), ("report --filter nosuch:x FILE", 2)] {
        line(verb, "whole.dat", of_whole);
        line(verb, "cut.dat", 4);
    }
    for window in ["-B nosuch", "9999998 9999999"] {
        line(&format!("split -i FILE -o part.dat --force {window}"), "cut.dat", 4);
    }
    line("convert FILE -o no-such-folder/new.dat", "cut.dat", 1);
    for words in [
        "split -e 10 -u 5 -i FILE",
        "convert --file-version 8 -i FILE -o new.dat",
        "convert --compression lzma -i FILE -o new.dat",
        "report --cpu x FILE",
        "dump --no-such FILE",
    ] {
        line(words, "whole.dat", 2);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    env.rtrace(&["options"]).exits(0).complains("");
    env.rtrace(&["no-such-verb"]).exits(2);
    env.rtrace(&["--help"]).exits(0);
}
