//! Apply, then undo: nothing may differ, whatever failed in between.

use super::fake::{EVENTS, Fake};
use super::{Journal, Orphan, WriteLog, find_orphans};
use crate::control::tracefs::{Error, EventName, EventSelection, Instance, WriteMode};
use proptest::prelude::*;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// One thing a recording does.
#[derive(Clone, Debug)]
enum Step {
    Enable(Vec<usize>),
    Disable(Vec<usize>),
    Filter(usize, &'static str),
    Trigger(usize, String),
    Clock(&'static str),
    Buffer(u64),
    On(bool),
    Option(&'static str, bool),
    Pids(&'static str),
    MorePids(&'static str),
}

fn event(i: usize) -> EventName {
    EventName::new(EVENTS[i].0, EVENTS[i].1)
}

fn take(journal: &mut Journal, instance: &Instance, step: &Step) -> Result<(), Error> {
    let events = |which: &[usize]| which.iter().map(|i| event(*i)).collect::<Vec<_>>();
    match step {
        Step::Enable(which) => journal.enable_events(instance, &events(which)),
        Step::Disable(which) => journal.disable_events(instance, &events(which)),
        Step::Filter(i, filter) => journal.set_filter(instance, &event(*i), filter),
        Step::Trigger(i, trigger) => journal.add_trigger(instance, &event(*i), trigger),
        Step::Clock(clock) => journal.set_clock(instance, clock),
        Step::Buffer(kib) => journal.set_buffer_size(instance, *kib).map(drop),
        Step::On(on) => journal.set(instance, "tracing_on", if *on { "1" } else { "0" }).map(drop),
        Step::Option(name, on) => journal.set_option(instance, name, *on),
        Step::Pids(pids) => journal.set(instance, "set_event_pid", pids).map(drop),
        Step::MorePids(pids) => journal.append_to_list(instance, "set_event_pid", pids),
    }
}

fn some_events() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::btree_set(0..4usize, 1..=4).prop_map(|set| set.into_iter().collect())
}

fn step() -> impl Strategy<Value = Step> {
    let trigger = prop_oneof![
        Just("stacktrace".to_owned()),
        Just("hist:var".to_owned()),
        (0..4usize).prop_map(|i| format!("hist:ref:{}:{}", EVENTS[i].0, EVENTS[i].1)),
        (0..4usize).prop_map(|i| format!("enable_event:{}:{}", EVENTS[i].0, EVENTS[i].1)),
    ];
    prop_oneof![
        some_events().prop_map(Step::Enable),
        some_events().prop_map(Step::Disable),
        (0..4usize, prop::sample::select(vec!["common_pid == 1", "common_pid != 7", "0", "nonsense == 1"]))
            .prop_map(|(i, filter)| Step::Filter(i, filter)),
        (0..4usize, trigger).prop_map(|(i, trigger)| Step::Trigger(i, trigger)),
        prop::sample::select(vec!["local", "mono", "x86-tsc", "sundial"]).prop_map(Step::Clock),
        (1..5000u64).prop_map(Step::Buffer),
        any::<bool>().prop_map(Step::On),
        (prop::sample::select(vec!["sym-addr", "overwrite", "event-fork", "no-such"]), any::<bool>())
            .prop_map(|(name, on)| Step::Option(name, on)),
        prop::sample::select(vec!["1", "1 22 333", ""]).prop_map(Step::Pids),
        prop::sample::select(vec!["4", "22 5"]).prop_map(Step::MorePids),
    ]
}

/// Takes the steps until one fails.
fn run(journal: &mut Journal, private: bool, steps: &[Step]) -> Result<(), Error> {
    let instance = if private { journal.create_instance("own")? } else { journal.tracefs().top() };
    steps.iter().try_for_each(|step| take(journal, &instance, step))
}

/// The kernel lists an event among the enabled ones that has a trigger or that one may enable; its `enable` says `0*`.
#[test]
fn an_event_that_waits_for_a_trigger_is_not_enabled() {
    let (tracefs, _fake) = Fake::tracefs();
    let top = tracefs.top();
    let mut other = Journal::in_memory(&tracefs);
    other.add_trigger(&top, &event(1), "enable_event:sched:sched_waking").unwrap();
    other.keep().unwrap();
    let state = || top.read("events/sched/sched_waking/enable").unwrap();
    assert_eq!(state(), "0*\n");
    assert_eq!(top.read("events/sched/sched_switch/enable").unwrap(), "0*\n");
    assert_eq!(top.enabled_events().unwrap(), [event(1), event(2)]);
    let mut journal = Journal::in_memory(&tracefs);
    journal.enable_events(&top, &[event(2)]).unwrap();
    assert_eq!(state(), "1*\n");
    journal.undo().unwrap();
    assert_eq!(state(), "0*\n");
    let mut journal = Journal::in_memory(&tracefs);
    journal.disable_events(&top, &[event(2)]).unwrap();
    assert_eq!(state(), "0*\n");
    journal.undo().unwrap();
    assert_eq!(state(), "0*\n", "what was not enabled is not enabled by the undo");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// From any state, in the top level or a private instance, with each write failing once.
    #[test]
    fn undo_restores_whatever_fails(
        before in prop::collection::vec(step(), 0..6),
        steps in prop::collection::vec(step(), 0..8),
        private in any::<bool>(),
    ) {
        let (tracefs, fake) = Fake::tracefs();
        // A state to start from, that somebody else wants to keep.
        let mut other = Journal::in_memory(&tracefs);
        for step in &before {
            let _ = take(&mut other, &tracefs.top(), step);
        }
        other.keep().unwrap();
        let snapshot = fake.lock().unwrap().snapshot();

        let start = fake.lock().unwrap().writes;
        let mut journal = Journal::in_memory(&tracefs);
        let _ = run(&mut journal, private, &steps);
        let writes = fake.lock().unwrap().writes - start;
        journal.undo().unwrap();
        prop_assert_eq!(&fake.lock().unwrap().snapshot(), &snapshot);

        for k in 0..writes {
            fake.lock().unwrap().fail_in = Some(k);
            let mut journal = Journal::in_memory(&tracefs);
            prop_assert!(run(&mut journal, private, &steps).is_err());
            fake.lock().unwrap().fail_in = None;
            drop(journal);
            prop_assert_eq!(&fake.lock().unwrap().snapshot(), &snapshot, "write {} failed", k);
        }
    }

    /// A killed process undoes nothing; its journal does, even if it is killed while undoing and starts over.
    #[test]
    fn an_orphan_restores_everything(
        steps in prop::collection::vec(step(), 1..8),
        private in any::<bool>(),
        interrupted in 0..12usize,
    ) {
        let dir = tempfile::TempDir::new().unwrap();
        let (tracefs, fake) = Fake::tracefs();
        let snapshot = fake.lock().unwrap().snapshot();
        let mut journal = Journal::on_disk(&tracefs, dir.path(), "rtrace record -e all");
        let _ = run(&mut journal, private, &steps);
        prop_assert!(find_orphans(dir.path()).orphans.is_empty(), "it lives");
        let noted = std::fs::read_dir(dir.path()).unwrap().count();
        journal.forget_like_a_killed_process();
        let orphans = orphans_in(dir.path());
        prop_assert_eq!(orphans.len(), noted);
        for orphan in orphans {
            prop_assert_eq!(orphan.command(), "rtrace record -e all");
            fake.lock().unwrap().fail_in = Some(interrupted);
            let _ = orphan.undo_in(&tracefs, None);
            fake.lock().unwrap().fail_in = None;
        }
        for orphan in orphans_in(dir.path()) {
            orphan.undo_in(&tracefs, None).unwrap();
        }
        prop_assert_eq!(&fake.lock().unwrap().snapshot(), &snapshot);
        prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

fn logged(journal: Journal) -> (Journal, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink: WriteLog = Box::new({
        let lines = lines.clone();
        move |line| lines.lock().unwrap().push(line.to_owned())
    });
    (journal.verbose(sink), lines)
}

#[test]
fn each_write_is_a_line_for_a_shell() {
    let (tracefs, _fake) = Fake::tracefs();
    let (mut journal, lines) = logged(Journal::in_memory(&tracefs));
    let top = tracefs.top();
    let all = EventSelection::new("all").select(&top.events().unwrap()).unwrap();
    let sched = EventSelection::new("sched").select(&all).unwrap();
    journal.set_buffer_size(&top, 4096).unwrap();
    journal.set_filter(&top, &event(1), "common_pid == 1").unwrap();
    journal.add_trigger(&top, &event(1), "stacktrace").unwrap();
    journal.enable_events(&top, &sched).unwrap();
    journal.enable_events(&top, &all).unwrap();
    journal.set_clock(&top, "local").unwrap(); // as it is: not written
    journal.act(&top, "tracing_on", "1", WriteMode::Truncate).unwrap();
    journal.undo().unwrap();
    assert_eq!(
        lines.lock().unwrap().as_slice(),
        [
            "cd /fake",
            "echo 4096 > buffer_size_kb",
            "echo 'common_pid == 1' > events/sched/sched_switch/filter",
            "echo stacktrace >> events/sched/sched_switch/trigger",
            "echo 1 > events/sched/enable",
            "echo 1 > events/irq/irq_handler_entry/enable",
            "echo 1 > events/timer/timer_start/enable",
            "echo 1 > tracing_on",
            "echo 0 > events/timer/timer_start/enable",
            "echo 0 > events/irq/irq_handler_entry/enable",
            "echo 0 > events/sched/enable",
            "echo '!stacktrace' >> events/sched/sched_switch/trigger",
            "echo 0 > events/sched/sched_switch/filter",
            "echo 1410 > buffer_size_kb",
        ]
    );
}

#[test]
fn all_events_at_once_and_the_instance_as_a_whole() {
    let (tracefs, _fake) = Fake::tracefs();
    let (mut journal, lines) = logged(Journal::in_memory(&tracefs));
    let own = journal.create_instance("own").unwrap();
    journal.enable_events(&own, &own.events().unwrap()).unwrap();
    journal.add_trigger(&own, &event(0), "enable_event:sched:sched_switch").unwrap();
    assert_eq!(journal.set_buffer_size(&own, 100).unwrap().kib(), Some(103));
    journal.undo().unwrap();
    assert_eq!(
        lines.lock().unwrap().as_slice(),
        [
            "cd /fake",
            "mkdir instances/own",
            "echo 1 > instances/own/events/enable",
            "echo enable_event:sched:sched_switch >> instances/own/events/irq/irq_handler_entry/trigger",
            "echo 100 > instances/own/buffer_size_kb",
            "echo '!enable_event:sched:sched_switch' >> instances/own/events/irq/irq_handler_entry/trigger",
            "rmdir instances/own",
        ]
    );
}

#[test]
fn an_untouched_clock_is_not_written_back() {
    let (tracefs, fake) = Fake::tracefs();
    let mut journal = Journal::in_memory(&tracefs);
    assert!(journal.set_clock(&tracefs.top(), "sundial").is_err());
    journal.undo().unwrap();
    assert_eq!(fake.lock().unwrap().cleared(), 0);
}

#[test]
fn a_refusal_quotes_the_kernel() {
    let (tracefs, _fake) = Fake::tracefs();
    let mut journal = Journal::in_memory(&tracefs);
    let error = journal.set_filter(&tracefs.top(), &event(1), "nextpid == 1").unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to set `filter` of sched:sched_switch: Invalid argument\n  kernel: nextpid == 1\n          ^ Field not found"
    );
}

#[test]
fn names_and_existing_instances() {
    let (tracefs, fake) = Fake::tracefs();
    let mut journal = Journal::in_memory(&tracefs);
    for bad in ["", ".", "..", "a/b", "a\nb"] {
        assert!(matches!(journal.create_instance(bad), Err(Error::InstanceName { .. })), "{bad:?}");
    }
    let mut other = Journal::in_memory(&tracefs);
    other.create_instance("theirs").unwrap();
    let snapshot = fake.lock().unwrap().snapshot();
    assert_eq!(journal.create_instance("theirs").unwrap_err().errno(), Some(nix::errno::Errno::EEXIST));
    journal.undo().unwrap();
    assert_eq!(fake.lock().unwrap().snapshot(), snapshot, "one that existed is not removed");
}

#[test]
fn journals_that_are_not_ours_to_undo() {
    let dir = tempfile::TempDir::new().unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let header = |boot: &str| {
        format!("{{\"rtrace_journal\":1,\"boot\":\"{boot}\",\"pid\":1,\"tracefs\":\"/fake\",\"command\":\"x\"}}\n")
    };
    let write = |name: &str, text: String| std::fs::write(dir.path().join(name), text).unwrap();
    write("1-0.journal", header("from before a reboot"));
    assert!(orphans_in(dir.path()).is_empty());
    assert!(!dir.path().join("1-0.journal").exists(), "nothing of it is left after a reboot");

    // The last line was being written when its process died.
    write("2-0.journal", header(boot.trim()) + "{\"instance\":{\"name\":\"a\"}}\n{\"restore\":{\"fi");
    let orphans = orphans_in(dir.path());
    assert_eq!((orphans[0].len(), orphans[0].instances()), (1, vec!["a"]));
    drop(orphans);

    // A line that cannot be used is named, and the others are found all the same.
    let with = |line: &str| header(boot.trim()) + line + "\n";
    for (text, line) in [
        ("{\"rtrace_journal\":99}\n".to_owned(), 1),
        (String::new(), 1),
        (with("{}"), 2),
        (with("{\"restore\":{\"file\":\"../../etc/passwd\",\"said\":\"\",\"write\":\"x\"}}"), 2),
        (with("{\"restore\":{\"file\":\"/etc/passwd\",\"said\":\"\",\"write\":\"x\"}}"), 2),
        (with("{\"remove\":{\"file\":\"events/../../x\",\"said\":\"\",\"text\":\"x\"}}"), 2),
        (with("{\"instance\":{\"name\":\"../../victim\"}}"), 2),
        (with("{\"instance\":{\"name\":\"..\"}}"), 2),
    ] {
        write("3-0.journal", text.clone());
        let found = find_orphans(dir.path());
        assert!(matches!(found.unusable[..], [Error::JournalContent { line: at, .. }] if at == line), "{text}");
        assert_eq!(found.orphans.len(), 1, "{text}");
    }
    std::fs::remove_file(dir.path().join("3-0.journal")).unwrap();
    assert!(orphans_in(&dir.path().join("nowhere")).is_empty());
}

/// All of them: each can be used.
fn orphans_in(dir: &Path) -> Vec<Orphan> {
    let found = find_orphans(dir);
    assert!(found.unusable.is_empty(), "{:?}", found.unusable);
    found.orphans
}

#[test]
fn what_others_may_have_planted_is_not_read_and_blocks_nothing() {
    let dir = tempfile::TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let good = format!(
        "{{\"rtrace_journal\":1,\"boot\":\"{}\",\"pid\":1,\"tracefs\":\"/fake\",\"command\":\"x\"}}\n",
        boot.trim()
    );
    let mode = |path: &Path, mode: u32| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    std::fs::write(at("1-0.journal"), &good).unwrap();
    std::fs::write(at("victim"), &good).unwrap();
    nix::unistd::mkfifo(&at("2-0.journal"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    symlink("/dev/zero", at("3-0.journal")).unwrap();
    symlink(at("victim"), at("4-0.journal")).unwrap();
    std::fs::create_dir(at("5-0.journal")).unwrap();
    std::fs::write(at("6-0.journal"), &good).unwrap();
    mode(&at("6-0.journal"), 0o662);
    std::fs::File::create(at("7-0.journal")).unwrap().set_len(1 << 40).unwrap();
    let mut bad = 6;
    if nix::unistd::geteuid().is_root() {
        bad += 1;
        std::fs::write(at("8-0.journal"), &good).unwrap();
        nix::unistd::chown(&at("8-0.journal"), Some(65534.into()), None).unwrap();
    }
    let found = find_orphans(dir.path());
    assert_eq!((found.orphans.len(), found.unusable.len()), (1, bad), "{:?}", found.unusable);
    // Nor a directory that others may write to, or that is a link.
    mode(dir.path(), 0o777);
    let found = find_orphans(dir.path());
    assert_eq!((found.orphans.len(), found.unusable.len()), (0, 1), "{:?}", found.unusable);
    let (tracefs, _fake) = Fake::tracefs();
    let mut journal = Journal::on_disk(&tracefs, dir.path(), "x");
    assert!(matches!(journal.create_instance("new"), Err(Error::Journal { .. })), "none is written there either");
    mode(dir.path(), 0o700);
    let link = tempfile::TempDir::new().unwrap();
    symlink(dir.path(), link.path().join("link")).unwrap();
    let found = find_orphans(&link.path().join("link"));
    assert_eq!((found.orphans.len(), found.unusable.len()), (0, 1), "{:?}", found.unusable);
}

#[test]
fn only_tracefs_is_put_back() {
    let dir = tempfile::TempDir::new().unwrap();
    let tree = tempfile::TempDir::new().unwrap();
    for name in ["events", "instances"] {
        std::fs::create_dir(tree.path().join(name)).unwrap();
    }
    for name in ["trace_clock", "tracing_on"] {
        std::fs::write(tree.path().join(name), "1\n").unwrap();
    }
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let text = format!(
        "{{\"rtrace_journal\":1,\"boot\":\"{}\",\"pid\":1,\"tracefs\":{:?},\"command\":\"x\"}}\n\
         {{\"restore\":{{\"file\":\"tracing_on\",\"said\":\"0\\n\",\"write\":\"0\"}}}}\n",
        boot.trim(),
        tree.path()
    );
    std::fs::write(dir.path().join("1-0.journal"), text).unwrap();
    let (other, _fake) = Fake::tracefs();
    let error = orphans_in(dir.path()).remove(0).undo(&other, None).unwrap_err();
    assert!(matches!(error.failures[..], [Error::NotOnTracefs { .. }]), "{error}");
    assert_eq!(std::fs::read_to_string(tree.path().join("tracing_on")).unwrap(), "1\n");
    // The directory that the caller named is used.
    let named = crate::control::tracefs::Tracefs::at(tree.path()).unwrap();
    orphans_in(dir.path()).remove(0).undo(&named, None).unwrap();
    assert_eq!(std::fs::read_to_string(tree.path().join("tracing_on")).unwrap(), "0\n");
    assert!(orphans_in(dir.path()).is_empty());
}

#[test]
fn taken_names_are_passed_over() {
    let dir = tempfile::TempDir::new().unwrap();
    let (tracefs, fake) = Fake::tracefs();
    let mut first = Journal::on_disk(&tracefs, dir.path(), "first");
    assert_eq!(first.create_own_instance("rtrace-2").unwrap().name(), Some("rtrace-2"));
    let snapshot = fake.lock().unwrap().snapshot();
    let mut second = Journal::on_disk(&tracefs, dir.path(), "second");
    assert_eq!(second.create_own_instance("rtrace-2").unwrap().name(), Some("rtrace-2-1"));
    let journals = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(journals, 2, "neither journal has taken the other's name");
    second.undo().unwrap();
    assert_eq!(fake.lock().unwrap().snapshot(), snapshot);
    // An instance that somebody else made in the meantime is not removed by the one who wanted to make it.
    let pid = std::process::id();
    let line = "{\"instance\":{\"name\":\"a\"}}\n{\"instance\":{\"name\":\"b\"}}\n{\"not_made\":{\"name\":\"a\"}}\n";
    let header = std::fs::read_to_string(dir.path().join(format!("{pid}-0.journal"))).unwrap();
    let header = header.lines().next().unwrap();
    std::fs::write(dir.path().join("0-0.journal"), format!("{header}\n{line}")).unwrap();
    assert_eq!(orphans_in(dir.path()).remove(0).instances(), ["b"]);
    first.undo().unwrap();
}
