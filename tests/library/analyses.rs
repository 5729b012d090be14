//! Analyses find the same on any number of threads, of windows and selections too.

use crate::common::corpus::{has_all, is_small};
use crate::common::synthetic::fork_storm;
use crate::common::trace_files::trace_files;
use rtrace::analysis::{
    Analysis, CallChains, Faults, FunctionTimes, Grouped, Idle, InOrder, Io, Irqs, Locks, Memory, MemoryUse, Net,
    Osnoise, Profile, Reclaim, Sched, Syscalls, TaskSet, Timerlat, Together, Wakeups,
};
use rtrace::event::Record;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use rtrace::recording::{Query, Recording};
use rtrace::units::Timestamp;
use std::fs::File;
use std::path::PathBuf;

/// The findings of all analyses, as text.
fn findings(recording: &Recording, query: &Query<'_>) -> [String; 4] {
    let (trace, symbols) = (&recording.trace, &recording.symbols);
    fn of<A: Analysis>(query: &Query<'_>, each: impl Fn() -> A) -> Vec<A::Finding> {
        let all = query.sources().iter().map(|_| each()).collect();
        query.analyse(Grouped::by_buffer(all)).unwrap().0
    }
    let wakeups = of(query, || Wakeups::new(trace.formats(), trace.abi, symbols));
    let memory = of(query, || MemoryUse::new(trace.formats(), trace.abi, symbols));
    let chains = of(query, || CallChains::new(trace.formats(), trace.abi, symbols, false));
    let profiles = of(query, || Profile::new(trace.formats(), trace.abi, false));
    let latencies = wakeups.iter().map(|found| format!("{:?} {:?}", found.all, found.real_time)).collect();
    let chain = |found: &CallChains<'_>| format!("{:?} {:?}", found.total(), found.tops().collect::<Vec<_>>());
    let profile = |found: &Profile| {
        let tasks = found.tasks(symbols, false);
        let event = |event: &rtrace::analysis::ProfiledEvent<'_>| {
            format!("{} {:?} {:?}", event.label(symbols), event.times(), event.stacks())
        };
        let task = |task: &rtrace::analysis::ProfiledTask<'_>| {
            format!("{:?} {}", task.who, task.events.iter().map(event).collect::<String>())
        };
        tasks.map(|one| task(&one)).collect::<String>()
    };
    let chains = chains.iter().map(chain).collect();
    [latencies, format!("{memory:?}"), chains, profiles.iter().map(profile).collect()]
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("storm.dat");
    fork_storm(4, 30_000, 400, 3).write(&path, Version::V7(Codec::Zstd));
    let mut most = [0; 4];
    let small = |path: &PathBuf| is_small(path, 1 << 18);
    for path in trace_files().into_iter().filter(small).chain([path]) {
        let Ok(recording) = Recording::open(File::open(&path).unwrap()) else { continue };
        let whole = recording.query();
        let (first, last) = whole.span().unwrap().unwrap_or_default();
        let part = whole.clone().since(Timestamp(first.0 + (last.0 - first.0) / 4)).comm("*[a-s]*");
        for query in [whole, part] {
            let expected = findings(&recording, &query);
            most = std::array::from_fn(|at| most[at].max(expected[at].len()));
            for threads in [2, 3] {
                let found = findings(&recording, &query.clone().threads(threads));
                assert!(found == expected, "{}: {threads} threads", path.display());
            }
        }
    }
    assert!(
        !has_all("analyses on threads") || most.iter().all(|length| *length > 200),
        "an analysis found nothing: {most:?}"
    );
}

/// An analysis that is given all records, and not those alone that it reads.
#[derive(Clone)]
struct Everything<A>(A);

impl<A: InOrder> InOrder for Everything<A> {
    type Finding = A::Finding;

    fn record(&mut self, record: &Record<'_>) {
        InOrder::record(&mut self.0, record);
    }

    fn finish(self) -> A::Finding {
        InOrder::finish(self.0)
    }
}

/// Records that are left out before the merge, and those that an analysis among others does not get, say nothing to it.
#[test]
fn what_an_analysis_does_not_read_says_nothing_to_it() {
    let mut most = [0; 13];
    let small = |path: &PathBuf| path.metadata().is_ok_and(|file| file.len() < 4 << 20);
    for path in trace_files().into_iter().filter(small) {
        let Ok(recording) = Recording::open(File::open(&path).unwrap()) else { continue };
        let (formats, abi) = (recording.trace.formats().collect::<Vec<_>>(), recording.trace.abi);
        let formats = || formats.iter().copied();
        let query = recording.query();
        let mut texts = Vec::new();
        macro_rules! of {
            ($($analysis:expr),*) => {{
                $({
                    let groups = || query.sources().iter().map(|_| $analysis);
                    let (some, _) = query.analyse(Grouped::by_buffer(groups().collect())).unwrap();
                    let (all, _) = query.analyse(Grouped::by_buffer(groups().map(Everything).collect())).unwrap();
                    let (some, all) = (format!("{some:?}"), format!("{all:?}"));
                    assert!(some == all, "{}: {}", path.display(), stringify!($analysis));
                    texts.push(some);
                })*
                let together = Together::new(formats(), abi, ($(Some($analysis),)*));
                let (found, _) = query.analyse(Grouped::by_buffer(vec![together; query.sources().len()])).unwrap();
                found
            }};
        }
        let found = of![
            Sched::new(formats(), abi),
            Irqs::new(formats(), abi),
            Syscalls::new(formats(), abi),
            Io::new(formats(), abi),
            FunctionTimes::new(formats(), abi, TaskSet::All),
            Locks::new(formats(), abi, TaskSet::All),
            Memory::new(formats(), abi),
            Faults::new(formats(), abi, TaskSet::All),
            Osnoise::new(formats(), abi, None),
            Timerlat::new(formats(), abi, None),
            Reclaim::new(formats(), abi, TaskSet::All),
            Idle::new(formats(), abi),
            Net::new(formats(), abi)
        ];
        let mut together = vec![Vec::new(); 13];
        for (sched, irqs, syscalls, io, functions, locks, memory, faults, osnoise, timerlat, reclaim, idle, net) in
            found
        {
            let found = [
                format!("{:?}", sched.unwrap()),
                format!("{:?}", irqs.unwrap()),
                format!("{:?}", syscalls.unwrap()),
                format!("{:?}", io.unwrap()),
                format!("{:?}", functions.unwrap()),
                format!("{:?}", locks.unwrap()),
                format!("{:?}", memory.unwrap()),
                format!("{:?}", faults.unwrap()),
                format!("{:?}", osnoise.unwrap()),
                format!("{:?}", timerlat.unwrap()),
                format!("{:?}", reclaim.unwrap()),
                format!("{:?}", idle.unwrap()),
                format!("{:?}", net.unwrap()),
            ];
            found.into_iter().enumerate().for_each(|(at, found)| together[at].push(found));
        }
        for (at, text) in texts.iter().enumerate() {
            assert!(*text == format!("[{}]", together[at].join(", ")), "{}: the {at}th", path.display());
            most[at] = most[at].max(text.len());
        }
    }
    assert!(
        !has_all("analyses given all records") || most.iter().all(|length| *length > 200),
        "an analysis found nothing: {most:?}"
    );
}
