//! Several processes that change one buffer, and end or are killed in every order.

use super::fake::{EVENTS, Fake};
use super::{Journal, find_orphans};
use crate::control::tracefs::{EventName, Instance, Tracefs};
use proptest::prelude::*;
use std::path::Path;

/// What a recorder does to an existing buffer.
#[derive(Clone, Debug)]
struct FakeRecorder {
    events: Vec<usize>,
    filter: Option<(usize, &'static str)>,
    pids: &'static str,
    clock: &'static str,
}

fn record(tracefs: &Tracefs, dir: &Path, what: &FakeRecorder) -> Journal {
    let top = tracefs.top();
    let mut journal = Journal::on_disk(tracefs, dir, format!("rtrace record {what:?}"));
    set_up(&mut journal, &top, what);
    journal
}

fn set_up(journal: &mut Journal, instance: &Instance, what: &FakeRecorder) {
    let event = |i: usize| EventName::new(EVENTS[i].0, EVENTS[i].1);
    journal.remember_on(instance).unwrap();
    journal.set_clock(instance, what.clock).unwrap();
    journal.append_to_list(instance, "set_event_pid", what.pids).unwrap();
    if let Some((i, filter)) = what.filter {
        journal.set_filter(instance, &event(i), filter).unwrap();
    }
    let events: Vec<_> = what.events.iter().copied().map(event).collect();
    journal.enable_events(instance, &events).unwrap();
    journal.set_on(instance, true).unwrap();
}

/// The way a recorder goes.
#[derive(Clone, Copy, Debug)]
enum End {
    /// It puts its settings back; true if it stops the ring before.
    Ends(bool),
    Killed,
    /// It is killed, and another command puts its settings back at once.
    KilledAndUndone,
}

fn end(tracefs: &Tracefs, dir: &Path, mut journal: Journal, end: End) {
    match end {
        End::Ends(stops) => {
            if stops {
                journal.set_on(&tracefs.top(), false).unwrap();
            }
            journal.undo().unwrap();
        }
        End::Killed => journal.forget_like_a_killed_process(),
        End::KilledAndUndone => {
            journal.forget_like_a_killed_process();
            undo_orphans(tracefs, dir);
        }
    }
}

fn undo_orphans(tracefs: &Tracefs, dir: &Path) {
    let found = find_orphans(dir);
    assert!(found.unusable.is_empty(), "{:?}", found.unusable);
    found.orphans.into_iter().for_each(|orphan| orphan.undo_in(tracefs, None).unwrap());
}

fn recorder() -> impl Strategy<Value = FakeRecorder> {
    let filter = (0..4usize, prop::sample::select(vec!["common_pid == 1", "common_pid != 7"]));
    (
        prop::collection::btree_set(0..4usize, 1..=4),
        prop::option::of(filter),
        prop::sample::select(vec!["11", "22 23", "33"]),
        prop::sample::select(vec!["local", "mono", "x86-tsc"]),
    )
        .prop_map(|(events, filter, pids, clock)| FakeRecorder {
            events: events.into_iter().collect(),
            filter,
            pids,
            clock,
        })
}

fn any_end() -> impl Strategy<Value = End> {
    prop_oneof![any::<bool>().prop_map(End::Ends), Just(End::Killed), Just(End::KilledAndUndone)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// All begin; then they go in any order. A fourth begins when the first has gone.
    #[test]
    fn the_last_one_leaves_what_the_first_one_found(
        recorders in prop::collection::vec((recorder(), any_end()), 4),
        order in Just(vec![0usize, 1, 2]).prop_shuffle(),
    ) {
        let dir = tempfile::TempDir::new().unwrap();
        let (tracefs, fake) = Fake::tracefs();
        let mut admin = Journal::in_memory(&tracefs);
        admin.set_filter(&tracefs.top(), &EventName::new("sched", "sched_switch"), "common_pid == 99").unwrap();
        admin.keep().unwrap();
        let before = fake.lock().unwrap().snapshot();
        let journal = |i: usize| record(&tracefs, dir.path(), &recorders[i].0);
        let mut running: Vec<Option<Journal>> = (0..3).map(|i| Some(journal(i))).collect();
        let mut fourth = None;
        for i in order {
            end(&tracefs, dir.path(), running[i].take().unwrap(), recorders[i].1);
            fourth.get_or_insert_with(|| journal(3));
        }
        end(&tracefs, dir.path(), fourth.unwrap(), recorders[3].1);
        undo_orphans(&tracefs, dir.path());
        prop_assert_eq!(&fake.lock().unwrap().snapshot(), &before);
        prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

#[test]
fn what_another_uses_stays_as_it_is_until_that_one_ends() {
    let dir = tempfile::TempDir::new().unwrap();
    let (tracefs, _fake) = Fake::tracefs();
    let top = tracefs.top();
    let with = |events: &[usize], filter| FakeRecorder {
        events: events.to_vec(),
        filter: Some((1, filter)),
        pids: "11",
        clock: "mono",
    };
    // The first switches a whole system, the second one event of it, which is on already.
    let first = record(&tracefs, dir.path(), &with(&[1, 2], "common_pid == 1"));
    let second = record(&tracefs, dir.path(), &with(&[1], "common_pid == 2"));
    assert_eq!(second.users_of(&top), [(std::process::id(), first_command(&first))]);
    first.undo().unwrap();
    let now = |file: &str| top.read(file).unwrap().trim().to_owned();
    assert_eq!(now("events/sched/sched_switch/filter"), "common_pid == 2");
    assert_eq!(
        (now("events/sched/sched_switch/enable"), now("events/sched/sched_waking/enable")),
        ("1".into(), "0".into())
    );
    assert_eq!((now("trace_clock"), now("tracing_on")), ("local [mono] x86-tsc".into(), "1".into()));
    assert!(second.users_of(&top).is_empty());
    second.undo().unwrap();
    assert_eq!(
        (now("events/sched/sched_switch/filter"), now("trace_clock")),
        ("none".into(), "[local] mono x86-tsc".into())
    );
}

fn first_command(_: &Journal) -> String {
    format!(
        "rtrace record {:?}",
        FakeRecorder { events: vec![1, 2], filter: Some((1, "common_pid == 1")), pids: "11", clock: "mono" }
    )
}

#[test]
fn an_instance_goes_with_its_last_user() {
    let dir = tempfile::TempDir::new().unwrap();
    let (tracefs, fake) = Fake::tracefs();
    let before = fake.lock().unwrap().snapshot();
    let what = FakeRecorder { events: vec![1], filter: None, pids: "11", clock: "mono" };
    let mut maker = Journal::on_disk(&tracefs, dir.path(), "maker");
    let made = maker.create_instance("made").unwrap();
    set_up(&mut maker, &made, &what);
    let mut guest = Journal::on_disk(&tracefs, dir.path(), "guest");
    set_up(&mut guest, &made, &what);
    assert_eq!(maker.users_of(&made), [(std::process::id(), "guest".to_owned())]);
    maker.undo().unwrap();
    assert_eq!(made.read("events/sched/sched_switch/enable").unwrap(), "1\n");
    guest.undo().unwrap();
    assert_eq!(fake.lock().unwrap().snapshot(), before);
}

#[test]
fn a_line_that_a_killed_process_left_torn_swallows_none() {
    let dir = tempfile::TempDir::new().unwrap();
    let (tracefs, fake) = Fake::tracefs();
    let before = fake.lock().unwrap().snapshot();
    let what = FakeRecorder { events: vec![1], filter: None, pids: "11", clock: "mono" };
    let first = record(&tracefs, dir.path(), &what);
    let second = record(&tracefs, dir.path(), &what);
    second.forget_like_a_killed_process();
    let name = dir.path().join(format!("{}-1.journal", std::process::id()));
    let mut text = std::fs::read_to_string(&name).unwrap();
    text.push_str("{\"at\":1,\"resto");
    std::fs::write(&name, text).unwrap();
    first.undo().unwrap();
    undo_orphans(&tracefs, dir.path());
    assert_eq!(fake.lock().unwrap().snapshot(), before);
}
