//! Queries hand out what a walk over the merged streams finds.

use crate::common::corpus::own;
use rtrace::merge::Merge;
use rtrace::recording::Recording;
use rtrace::trace_dat::TimeOptions;
use rtrace::units::{CpuId, Timestamp};
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
fn a_filter_of_no_event_names_what_resembles_it() {
    let recording = Recording::open(File::open(own().join("host/small-zlib.dat")).unwrap()).unwrap();
    let error = recording.query().filter("sched:sched_swich").unwrap().for_each(|_| ()).unwrap_err();
    assert!(format!("{error:?}").contains("sched_switch"), "{error:?}");
    let error = recording.query().filter("sched:sched_switch: no_field == 1").unwrap().for_each(|_| ()).unwrap_err();
    assert!(error.to_string().contains("no_field"), "{error}");
}
