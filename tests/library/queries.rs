//! Queries hand out what a walk over the merged streams finds.

use crate::common::corpus::own;
use crate::common::synthetic::fork_storm;
use rtrace::analysis::Analysis;
use rtrace::event::{Lost, Record};
use rtrace::internal::merge::Merge;
use rtrace::internal::trace_dat::write::Version;
use rtrace::internal::trace_dat::{Codec, TimeOptions};
use rtrace::recording::{Query, Recording};
use rtrace::units::{CpuId, Pid, Timestamp};
use std::error::Error;
use std::fs::File;
use std::path::PathBuf;

fn files() -> Vec<PathBuf> {
    ["host/small-zlib.dat", "i386/events-v6.dat", "i386/kprobe.dat", "s390x/inst.dat", "vm-6.1/trig.dat"]
        .map(|name| own().join(name))
        .to_vec()
}

/// All events by the merge alone: time, CPU and bytes.
fn walked(recording: &Recording) -> Vec<(u64, CpuId, Vec<u8>)> {
    let trace = &recording.trace;
    let mut merge = Merge::default();
    let mut buffers: Vec<_> = trace.buffers.iter().collect();
    buffers.sort_by_key(|buffer| !buffer.name.is_empty());
    for buffer in buffers {
        for cpu in 0..buffer.cpus.len() {
            merge.add(trace.stream(buffer, cpu, &TimeOptions::default()).unwrap(), 0);
        }
    }
    let mut all = Vec::new();
    while merge.advance().unwrap() {
        let record = merge.record();
        all.push((record.timestamp.0, record.cpu, record.data.to_vec()));
    }
    all
}

#[test]
fn windows_tasks_and_filters_are_what_a_walk_selects() {
    for file in files() {
        let recording = Recording::open(File::open(&file).unwrap()).unwrap();
        let all = walked(&recording);
        assert!(all.len() > 10, "{}", file.display());
        let mut queried = Vec::new();
        let outcome = recording
            .query()
            .for_each(|event| queried.push((event.timestamp().0, event.cpu(), event.data().to_vec())))
            .unwrap();
        assert_eq!(queried, all, "{}", file.display());
        assert_eq!((outcome.events, outcome.damage.count), (all.len() as u64, 0));
        let (since, until) = (all[all.len() / 3].0, all[all.len() * 2 / 3].0);
        let mut within = 0;
        let mut query = recording.query().since(Timestamp(since)).until(Timestamp(until));
        query.clone().for_each(|_| within += 1).unwrap();
        assert_eq!(within, all.iter().filter(|(time, ..)| (since..=until).contains(time)).count());
        let mut first = Vec::new();
        query = query.first(3);
        query.for_each(|event| first.push(event.timestamp().0)).unwrap();
        let wanted = all.iter().map(|(time, ..)| *time).filter(|time| *time >= since).take(3);
        assert_eq!(first, wanted.collect::<Vec<_>>());
        let (mut pids, mut names) = (Vec::new(), Vec::new());
        recording.query().for_each(|event| pids.push((event.pid(), event.name().to_owned()))).unwrap();
        let (pid, name) = pids[pids.len() / 2].clone();
        recording.query().pid(pid).filter(&name).unwrap().for_each(|event| names.push(event.text())).unwrap();
        assert_eq!(names.len(), pids.iter().filter(|(of, event)| *of == pid && *event == name).count());
        assert!(names.iter().all(|text| !text.is_empty()));
    }
}

#[test]
fn filters_are_a_list_and_an_error_ends_the_walk() {
    let recording = Recording::open(File::open(own().join("host/small-zlib.dat")).unwrap()).unwrap();
    let count = |filters: &[&str]| recording.query().filters(filters).unwrap().for_each(|_| ()).unwrap().events;
    let (switches, wakings) = (count(&["sched:sched_switch"]), count(&["sched:sched_waking"]));
    assert!(switches > 0 && wakings > 0);
    assert_eq!(count(&["sched:sched_switch", "sched:sched_waking"]), switches + wakings);
    let twice = recording.query().filter("sched:sched_switch").unwrap().filter("sched:sched_waking").unwrap();
    assert_eq!(twice.for_each(|_| ()).unwrap().events, wakings);

    let mut seen = 0;
    let ended = recording.query().try_for_each(|event| {
        seen += 1;
        if event.name() == "sched_switch" { Err(Box::<dyn Error>::from("a switch")) } else { Ok(()) }
    });
    assert_eq!(ended.unwrap_err().to_string(), "a switch");
    assert!(seen < recording.query().try_for_each(|_| Ok::<_, Box<dyn Error>>(())).unwrap().events);
}

/// A field that was found once gives what its name gives, of its own events alone.
#[test]
fn a_field_is_found_once_for_all_events() {
    let recording = Recording::open(File::open(own().join("host/small-zlib.dat")).unwrap()).unwrap();
    let next = recording.field("sched_switch", "next_pid").unwrap();
    let (comm, pid) = (
        recording.field("sched:sched_switch", "next_comm").unwrap(),
        recording.field("sched_switch", "common_pid").unwrap(),
    );
    let (mut switches, mut others) = (0, 0);
    let outcome = recording.query().for_each(|event| {
        if event.name() != "sched_switch" {
            others += u64::from(event.value(&next).is_none());
            return;
        }
        let [next, comm] = [&next, &comm].map(|field| event.value(field).unwrap());
        assert_eq!(next.as_i64(), event.field("next_pid").unwrap().as_i64());
        assert_eq!(comm.as_str(), event.field("next_comm").unwrap().as_str());
        assert_eq!(event.value(&pid).unwrap().as_i64(), Some(event.pid().0.into()));
        switches += 1;
    });
    assert_eq!(switches + others, outcome.unwrap().events);
    assert!(switches > 0 && others > 0);
    assert!(
        recording.field("irq:sched_switch", "next_pid").is_none() && recording.field("sched_switch", "pid").is_none()
    );
}

#[test]
fn a_filter_of_no_event_names_what_resembles_it() {
    let recording = Recording::open(File::open(own().join("host/small-zlib.dat")).unwrap()).unwrap();
    let error = recording.query().filter("sched:sched_swich").unwrap().for_each(|_| ()).unwrap_err();
    assert!(format!("{error:?}").contains("sched_switch"), "{error:?}");
    let error = recording.query().filter("sched:sched_switch: no_field == 1").unwrap().for_each(|_| ()).unwrap_err();
    assert!(error.to_string().contains("no_field"), "{error}");
}

/// An event that was handed out: time, CPU, events lost before it, bytes.
type HandedOut = (u64, u32, u64, Vec<u8>);

/// All events that it is given.
struct All;

impl Analysis for All {
    type Part = Vec<HandedOut>;
    type Finding = Vec<HandedOut>;

    fn begin(&self) -> Vec<HandedOut> {
        Vec::new()
    }

    fn fork(&self, _: Option<Vec<HandedOut>>) -> Vec<HandedOut> {
        Vec::new()
    }

    fn record<'n>(&self, record: &Record<'_>, _: impl FnOnce() -> Option<Record<'n>>, all: &mut Vec<HandedOut>) {
        let lost = if let Lost::Count(lost) = record.lost { lost } else { 0 };
        all.push((record.timestamp.0, record.cpu.0, lost, record.data.to_vec()));
    }

    fn merge(&self, known: &mut Vec<HandedOut>, later: &mut Vec<HandedOut>) {
        known.append(later);
    }

    fn finish(self, known: Vec<HandedOut>) -> Vec<HandedOut> {
        known
    }
}

#[test]
fn a_loss_before_an_event_that_is_not_selected_is_told_before_the_next_that_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lossy.dat");
    let mut storm = fork_storm(2, 40_000, 30, 11);
    for (number, event) in (100..17_000).step_by(171).enumerate() {
        storm.lose(number % 2, event, 1 + number as u64);
    }
    storm.write(&path, Version::V7(Codec::Zstd));
    let recording = Recording::open(File::open(&path).unwrap()).unwrap();
    let (all, outcome) = recording.query().analyse(All).unwrap();
    let lost_of_all: u64 = all.iter().map(|event| event.2).sum();
    assert_eq!((outcome.lost, lost_of_all), (lost_of_all, (1..=99).sum()));

    type Narrow = for<'r> fn(Query<'r>) -> Query<'r>;
    let selections: [Narrow; 7] = [
        |query| query,
        |query| query.filter("sched:sched_switch").unwrap(),
        |query| query.filter("sched:sched_wakeup_new: pid == 7").unwrap(),
        |query| query.filters(["sched:sched_sw*", "sched:sched_wakeup"]).unwrap(),
        |query| query.pid(Pid(5)),
        |query| query.comm("sh"),
        |query| query.filter("sched:sched_switch: next_pid == 9999").unwrap(),
    ];
    for (number, narrow) in selections.into_iter().enumerate() {
        for threads in [1, 2, 3] {
            let (selected, outcome) = narrow(recording.query()).threads(threads).analyse(All).unwrap();
            let (mut pending, mut next) = ([0, 0], selected.iter().peekable());
            for (time, cpu, lost, data) in &all {
                pending[*cpu as usize] += lost;
                if let Some((.., told, _)) = next.next_if(|of| (of.0, of.1, &of.3) == (*time, *cpu, data)) {
                    assert_eq!(*told, std::mem::take(&mut pending[*cpu as usize]), "{number} on {threads} at {time}");
                }
            }
            assert!(next.next().is_none() && (selected.is_empty() == (number == 6)), "{number}");
            assert_eq!(outcome.lost, lost_of_all, "selection {number} on {threads} threads");
        }
        let mut told = 0;
        let outcome = narrow(recording.query()).for_each(|event| told += u64::from(event.lost() != Lost::None));
        assert_eq!((outcome.unwrap().lost, told == 0), (lost_of_all, number == 6));
    }
    // Those before a window, and before the last events, are not among its own.
    let (begin, end) = (all[all.len() / 3].0, all[all.len() / 2].0);
    let window = recording.query().filter("sched:sched_switch").unwrap().since(Timestamp(begin)).until(Timestamp(end));
    let within: u64 = all.iter().filter(|event| (begin..=end).contains(&event.0)).map(|event| event.2).sum();
    assert_eq!(window.threads(2).analyse(All).unwrap().1.lost, within);
    let last = recording.query().filter("sched:sched_switch").unwrap().last(1).for_each(|_| ()).unwrap();
    assert!(last.events == 1 && last.lost < 200, "{last:?}");
}
