//! Triggers over a recording against the kernel's own tables of the same events.
//!
//! An instance counts and records at once: its list of tasks, which both obey, names a load whose shell waits until all is set.
//! The list is never emptied in between: without one all tasks count, and while it comes back an event may be counted alone.
//! Nothing may be lost; then the tables that the recording gives equal the kernel's, entry by entry.

use crate::guest_machine::{Guest, Kernel, on_kernels};
use rtrace::analysis::{EventTrigger, HistNames, HistSetup, HistTrigger, Histograms};
use rtrace::format::EventFormat;
use rtrace::hist::spec::{HistExpr, HistSpec};
use rtrace::hist::table::{self, HistEntry, HistKey, HistTable, KeyValue};
use rtrace::recording::Recording;
use rtrace::synth::SynthDef;
use rtrace::units::Pid;
use std::fmt::Write as _;
use std::fs::File;

/// A paragraph of `recorded_hist_cases.txt`.
struct Group {
    stacks: bool,
    /// Its tables hold times.
    times: bool,
    synthetic: Vec<&'static str>,
    /// Event as a path, and hist trigger.
    triggers: Vec<(&'static str, &'static str)>,
    /// The same of other triggers, which are set after them.
    gates: Vec<(&'static str, &'static str)>,
}

fn groups() -> Vec<Group> {
    let groups = include_str!("recorded_hist_cases.txt").split("\n\n").map(|paragraph| {
        let lines = || paragraph.lines().filter(|line| !line.starts_with('#'));
        let all = || lines().filter(|l| !l.starts_with("synth ")).filter_map(|line| line.split_once(' '));
        Group {
            stacks: lines().any(|line| line == "stacks"),
            times: lines().any(|line| line == "times"),
            synthetic: lines().filter_map(|line| line.strip_prefix("synth ")).collect(),
            triggers: all().filter(|(_, text)| text.starts_with("hist:")).collect(),
            gates: all().filter(|(_, text)| !text.starts_with("hist:")).collect(),
        }
    });
    groups.filter(|group| !group.triggers.is_empty()).collect()
}

/// The load: forks, execs, files, sleeps; its shell waits for a line before it begins.
const LOAD: &str = "read go; i=0; while [ $i -lt 3 ]; do ls -R /proc/self >/dev/null 2>&1; cat /proc/version /nosuch >/dev/null 2>&1; \
                    usleep 300; i=$((i+1)); done";

fn script(groups: &[Group]) -> String {
    let mut script = format!(
        "T=/sys/kernel/tracing; I=$T/instances/both; echo 1408 > $T/buffer_size_kb; knobs > before\n\
         put() {{ (printf '%s\\n' \"$3\" >> $I/events/$2/trigger) 2> $1.err; echo $? > $1.rc; }}\n\
         del() {{ [ $(cat $1.rc) = 0 ] || return; (printf '%s\\n' \"!$3\" >> $I/events/$2/trigger) 2>> $1.err; }}\n\
         see() {{ [ $(cat $1.rc) = 0 ] || return; cat $I/events/$2/hist > $1.hist; cat $I/events/$2/trigger > $1.trigger; }}\n\
         run() {{ mkfifo go; taskset 1 sh -c '{LOAD}' < go & pid=$!; exec 3> go; echo $pid >> $I/set_event_pid; echo >&3; exec 3>&-\n\
           wait $pid; rm go; }}\n"
    );
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    for (g, group) in groups.iter().enumerate() {
        for synth in &group.synthetic {
            let _ = writeln!(script, "printf '%s\\n' {} >> $T/synthetic_events", quoted(synth));
        }
        script.push_str(
            "mkdir $I; echo global > $I/trace_clock; echo 16384 > $I/buffer_size_kb; echo 1 > $I/options/event-fork\n",
        );
        script.push_str("echo 4000000 > $I/set_event_pid\n");
        if group.stacks {
            script.push_str("echo 1 > $I/options/stacktrace\n");
        }
        for (t, (event, trigger)) in group.triggers.iter().enumerate() {
            let _ = writeln!(script, "put {g}.{t} {event} {}", quoted(trigger));
        }
        for (t, (event, trigger)) in group.gates.iter().enumerate() {
            let _ = writeln!(script, "put {g}.g{t} {event} {}", quoted(trigger));
        }
        let mut events: Vec<_> = group.triggers.iter().chain(&group.gates).map(|(event, _)| *event).collect();
        events.sort_unstable();
        events.dedup();
        for event in events.iter().filter(|event| !event.starts_with("synthetic/")) {
            let _ = writeln!(script, "echo 1 > $I/events/{event}/enable");
        }
        script.push_str("run\n");
        for (t, (event, _)) in group.triggers.iter().enumerate() {
            let _ = writeln!(script, "see {g}.{t} {event}");
        }
        let _ = writeln!(script, "cat $I/per_cpu/cpu*/stats > {g}.stats; rtrace extract -q -B both -o {g}.dat");
        for (t, (event, trigger)) in group.gates.iter().enumerate().rev() {
            let _ = writeln!(script, "del {g}.g{t} {event} {}", quoted(trigger));
        }
        for (t, (event, trigger)) in group.triggers.iter().enumerate().rev() {
            let _ = writeln!(script, "del {g}.{t} {event} {}", quoted(trigger));
        }
        script.push_str("rmdir $I\n");
        for synth in &group.synthetic {
            let _ =
                writeln!(script, "echo '!{}' >> $T/synthetic_events", synth.split_whitespace().next().unwrap_or(""));
        }
    }
    script.push_str("knobs > after; diff before after > changed\nexit 0\n");
    script
}

/// The recorded kernel's symbols; of system calls and tasks only that there is a name.
struct Names<'r>(&'r Recording);

impl HistNames for Names<'_> {
    fn symbol(&self, address: u64, offset: bool) -> String {
        let Some(symbol) = self.0.symbols.kallsyms.lookup_first(address) else { return format!("0x{address:x}") };
        let mut name = String::from_utf8_lossy(symbol.name).into_owned();
        if offset {
            let _ = write!(name, "+0x{:x}/0x{:x}", address - symbol.address, symbol.size.unwrap_or(0));
        }
        if !symbol.module.is_empty() {
            let _ = write!(name, " [{}]", String::from_utf8_lossy(symbol.module));
        }
        name
    }

    fn syscall(&self, _: u64) -> Option<String> {
        None
    }

    fn comm(&self, _: Pid) -> String {
        String::new()
    }
}

fn gate((path, text): &(&'static str, &'static str)) -> EventTrigger {
    let (system, event) = path.split_once('/').unwrap();
    EventTrigger { system: system.to_owned(), event: event.to_owned(), trigger: text.parse().unwrap() }
}

/// The tables of a group's triggers that the kernel took, from its recording.
fn recorded(guest: &Guest, g: usize, taken: &[(HistTrigger, usize)], group: &Group, threads: usize) -> Vec<HistTable> {
    let recording = Recording::open(File::open(guest.file(&format!("{g}.dat"))).unwrap()).unwrap();
    let formats: Vec<&EventFormat> = recording.trace.formats().collect();
    let setup = HistSetup {
        definitions: group.synthetic.iter().map(|text| SynthDef::parse(text).unwrap()).collect(),
        triggers: taken.iter().map(|(trigger, _)| trigger.clone()).collect(),
        kernel_limits: true,
        gates: group.gates.iter().map(gate).collect(),
        ..HistSetup::default()
    };
    let analysis = Histograms::new(&setup, &formats, recording.trace.abi, &recording.symbols)
        .unwrap_or_else(|error| panic!("group {g}: {}: {error}", taken[error.trigger].0.spec));
    let (findings, outcome) = recording.query().threads(threads).analyse(analysis).unwrap();
    assert_eq!((outcome.lost, outcome.gaps), (0, 0), "group {g}: a loss");
    (0..taken.len()).map(|number| findings.table(number, &Names(&recording)).unwrap()).collect()
}

/// An entry without what a recording knows otherwise: the name that a task had at its first event, the old word for stacks.
fn comparable(entry: &HistEntry) -> HistEntry {
    let mut entry = entry.clone();
    for HistKey { name, value } in &mut entry.keys {
        if name == "stacktrace" {
            name.insert_str(0, "common_");
        }
        match value {
            KeyValue::Execname { comm, .. } => comm.clear(),
            KeyValue::Syscall { name, .. } => name.clear(),
            _ => {}
        }
    }
    entry
}

/// The values that the table is sorted by: entries with equal ones have no order.
fn order(spec: &HistSpec, entry: &HistEntry) -> String {
    let mut text = String::new();
    for key in &spec.sort {
        let name = key.field.as_str();
        let value = entry.values.iter().find(|column| column.name == name && name != "hitcount");
        let own = entry.keys.iter().find(|key| key.name == name);
        let _ = match (name, value, own) {
            ("hitcount", ..) => write!(text, "{:?} ", entry.hitcount),
            (_, Some(value), _) => write!(text, "{:?} ", value.value),
            (_, _, Some(own)) => write!(text, "{:?} ", own.value),
            _ => Ok(()),
        };
    }
    text
}

/// Where the two tables differ.
fn differences(kernel: &HistTable, ours: &HistTable) -> String {
    let mut found = String::new();
    let totals = |table: &HistTable| (table.hits, table.entry_count, table.dropped);
    if totals(kernel) != totals(ours) {
        let _ = writeln!(found, "  (hits, entries, dropped) {:?} here {:?}", totals(kernel), totals(ours));
    }
    let sorted = |table: &HistTable| {
        let mut lines: Vec<String> = table.entries.iter().map(|entry| comparable(entry).to_string()).collect();
        lines.sort_unstable();
        lines
    };
    let (theirs, mine) = (sorted(kernel), sorted(ours));
    for line in theirs.iter().filter(|line| !mine.contains(line)).take(3) {
        let _ = writeln!(found, "  kernel only: {line}");
    }
    for line in mine.iter().filter(|line| !theirs.contains(line)).take(3) {
        let _ = writeln!(found, "  here only:   {line}");
    }
    let orders = |table: &HistTable| -> Vec<String> {
        table.entries.iter().map(|entry| order(&kernel.spec, &comparable(entry))).collect()
    };
    // A named table is shown in the order of the trigger whose file it is.
    if found.is_empty() && orders(kernel) != orders(ours) {
        let _ = writeln!(found, "  the entries are in another order: {:?} here {:?}", orders(kernel), orders(ours));
    }
    found
}

on_kernels!(long a_recordings_tables_are_the_kernels: V6_1, AllTracers; suites V6_12 => |kernel| {
    let groups = groups();
    let Some(guest) = Guest::run(kernel, &script(&groups), &[]) else { return };
    let (mut equal, mut refused, mut slipped, mut entries, mut wrong) = (0, 0, 0, 0, String::new());
    for (g, group) in groups.iter().enumerate() {
        let mut taken = Vec::new();
        for (t, (path, text)) in group.triggers.iter().enumerate() {
            if guest.text(&format!("{g}.{t}.rc")).trim() != "0" {
                refused += 1;
                continue;
            }
            let (system, event) = path.split_once('/').unwrap();
            let spec = HistSpec::parse(text).unwrap();
            taken.push((HistTrigger { system: system.to_owned(), event: event.to_owned(), spec }, t));
        }
        for t in 0..group.gates.len() {
            assert_eq!(guest.text(&format!("{g}.g{t}.rc")).trim(), "0", "{:?}: {}", group.gates[t], guest.text(&format!("{g}.g{t}.err")));
        }
        // A kernel that guesses its stacks (CONFIG_UNWINDER_GUESS) walks the same one twice with different ends.
        if taken.is_empty() || (group.stacks && kernel == Kernel::AllTracers) {
            continue;
        }
        for counter in ["overrun", "dropped events", "commit overrun"] {
            for line in guest.text(&format!("{g}.stats")).lines().filter(|line| line.starts_with(counter)) {
                assert!(line.ends_with(" 0"), "group {g}: {line}");
            }
        }
        let one = recorded(&guest, g, &taken, group, 1);
        assert_eq!(one, recorded(&guest, g, &taken, group, 3), "group {g}: threads differ");
        for ((trigger, t), ours) in taken.iter().zip(&one) {
            let tables = table::parse(&std::fs::read(guest.file(&format!("{g}.{t}.hist"))).unwrap()).unwrap();
            let Some(theirs) = tables.iter().find(|table| table.spec == ours.spec) else {
                let all: Vec<_> = tables.iter().map(|table| table.trigger.as_str()).collect();
                let _ = writeln!(wrong, "{}: the kernel shows {all:?}, here {}", trigger.spec, ours.trigger);
                continue;
            };
            let differs = differences(theirs, ours);
            if differs.is_empty() {
                equal += 1;
                entries += ours.entries.len();
            } else if group.times && theirs.hits == ours.hits {
                slipped += 1;
                println!("{kernel:?}: {}:{} {}:\n{differs}", trigger.system, trigger.event, trigger.spec);
            } else {
                let _ = writeln!(wrong, "{}:{} {}:\n{differs}", trigger.system, trigger.event, trigger.spec);
            }
        }
    }
    println!("{kernel:?}: {equal} tables equal, {entries} entries, {refused} triggers refused by the kernel");
    assert!(wrong.is_empty(), "{kernel:?}: {equal} equal, but:\n{wrong}");
    assert!(slipped <= 3, "{kernel:?}: {slipped} tables of times differ");
    assert!(equal + refused + slipped >= 72 && equal >= 60 && entries > 300, "{equal} equal, {refused} refused, {entries} entries");
    assert_eq!(guest.text("changed"), "", "{kernel:?}");
});

/// The cases have an expression in every place that has one.
#[test]
fn cases_hold_every_construct() {
    let specs: Vec<HistSpec> =
        groups().iter().flat_map(|group| &group.triggers).map(|(_, text)| HistSpec::parse(text).unwrap()).collect();
    let has = |test: &dyn Fn(&HistSpec) -> bool| specs.iter().any(test);
    assert!(specs.len() >= 75, "{} triggers", specs.len());
    assert!(has(&|spec| spec.vals.iter().any(|value| matches!(value.value, HistExpr::Var(_)))));
    assert!(has(&|spec| spec.name.is_some()) && has(&|spec| spec.no_hitcount) && has(&|spec| spec.filter.is_some()));
}
