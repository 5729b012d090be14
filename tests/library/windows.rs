//! Time windows found by seeking hold the same records as a scan of the whole file.

use crate::common::trace_files::trace_files;
use rtrace::event::Record;
use rtrace::internal::merge::Merge;
use rtrace::internal::trace_dat::{CpuData, KeptChunks, ReadAt, TimeOptions, Trace};
use rtrace::units::Timestamp;
use rtrace::{Analysis, Event, Query, Recording};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Key = (u64, u32, usize, Vec<u8>);

/// The records from `since` to `until`, and how many records were read for them.
fn window(trace: &Trace, since: Option<u64>, until: Option<u64>, seek: bool) -> (Vec<Key>, usize) {
    let time = TimeOptions::default();
    let (from, to) = (since.map(Timestamp), until.map(Timestamp));
    let mut merge = Merge::default();
    for (number, buffer) in trace.buffers.iter().enumerate() {
        for cpu in 0..buffer.cpus.len() {
            let range = if seek { trace.seek(buffer, cpu, &time).unwrap().range(from, to) } else { 0..u64::MAX };
            merge.add(trace.stream_of_chunks(buffer, cpu, &time, range).unwrap(), number);
        }
    }
    let (mut records, mut read) = (Vec::new(), 0);
    while merge.advance().unwrap() {
        let record = merge.record();
        read += 1;
        if since.is_none_or(|s| record.timestamp.0 >= s) && until.is_none_or(|u| record.timestamp.0 <= u) {
            records.push((record.timestamp.0, record.cpu.0, record.buffer, record.data.to_vec()));
        }
    }
    (records, read)
}

#[test]
fn windows_of_every_file_are_complete() {
    let files = trace_files();
    assert!(!files.is_empty(), "no trace files to test with");
    let (mut needed, mut spared) = (0, 0);
    for path in files {
        let trace = Trace::open(File::open(&path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (all, _) = window(&trace, None, None, false);
        if all.is_empty() {
            continue;
        }
        for (since, until) in [(0, 1), (40, 60), (50, 50), (90, 100), (0, 100), (99, 100)] {
            let at = |percent: usize| all[((all.len() - 1) * percent) / 100].0;
            let (since, until) = (at(since), at(until));
            let expected: Vec<&Key> = all.iter().filter(|k| (since..=until).contains(&k.0)).collect();
            let (found, read) = window(&trace, Some(since), Some(until), true);
            assert!(found.iter().eq(expected.iter().copied()), "{}: {since} to {until}", path.display());
            needed += read;
            spared += all.len() - read;
        }
        for (number, buffer) in trace.buffers.iter().enumerate() {
            for (index, cpu) in buffer.cpus.iter().enumerate() {
                let times: Vec<u64> = all.iter().filter(|k| k.1 == cpu.cpu.0 && k.2 == number).map(|k| k.0).collect();
                let span =
                    trace.span(buffer, index, &TimeOptions::default(), &mut |damage| panic!("{damage}")).unwrap();
                let expected = times.first().map(|&first| (Timestamp(first), Timestamp(times[times.len() - 1])));
                assert_eq!(span, expected, "{}: cpu {}", path.display(), cpu.cpu);
            }
        }
        println!("{}: {} events", path.display(), all.len());
    }
    println!("{needed} records read for the windows, {spared} spared");
    assert!(spared > needed / 10, "seeking spares nothing: {spared} of {needed}");
}

/// The events that a query hands out.
fn events(query: Query<'_>) -> Vec<(u64, u32, u16, i32)> {
    let mut found = Vec::new();
    let see = |event: &Event<'_>| found.push((event.timestamp().0, event.cpu().0, event.id().0, event.pid().0));
    query.for_each(see).unwrap();
    found
}

/// Counts the events of each CPU.
struct Counts;

impl Analysis for Counts {
    type Part = BTreeMap<u32, u64>;
    type Finding = BTreeMap<u32, u64>;

    fn begin(&self) -> Self::Part {
        BTreeMap::new()
    }

    fn fork(&self, _: Option<Self::Part>) -> Self::Part {
        BTreeMap::new()
    }

    fn record<'n>(&self, record: &Record<'_>, _: impl FnOnce() -> Option<Record<'n>>, counts: &mut Self::Part) {
        *counts.entry(record.cpu.0).or_default() += 1;
    }

    fn merge(&self, known: &mut Self::Part, later: &mut Self::Part) {
        for (cpu, count) in std::mem::take(later) {
            *known.entry(cpu).or_default() += count;
        }
    }

    fn finish(self, known: Self::Part) -> Self::Finding {
        known
    }
}

#[test]
fn queries_of_windows_and_of_records_are_what_the_whole_says() {
    for path in trace_files() {
        let Ok(recording) = Recording::open(File::open(&path).unwrap()) else { continue };
        let all = events(recording.query());
        let Some(pid) = all.get(all.len() / 2).map(|event| event.3) else { continue };
        let kept = Arc::new(KeptChunks::new(1 << 20));
        let of_task = |query: Query<'_>| {
            let stacks: Vec<u16> = recording.trace.formats().filter(|f| f.system == "ftrace").map(|f| f.id.0).collect();
            let is_event = |event: &&(u64, u32, u16, i32)| !stacks.contains(&event.2);
            let found = events(query.filter(&format!("*:*: common_pid == {pid}")).unwrap());
            found.iter().filter(is_event).copied().collect::<Vec<_>>()
        };
        for (since, until) in [(0, 1), (40, 60), (50, 50), (90, 100), (0, 100)] {
            let at = |percent: usize| all[(all.len() - 1) * percent / 100].0;
            let (since, until) = (at(since), at(until));
            let query = || recording.query().since(Timestamp(since)).until(Timestamp(until));
            let expected: Vec<_> = all.iter().filter(|event| (since..=until).contains(&event.0)).copied().collect();
            let name = path.display();
            assert_eq!(events(query()), expected, "{name}: {since} to {until}");
            for _ in 0..2 {
                assert_eq!(events(query().keep_chunks(kept.clone())), expected, "{name}: {since} to {until}, kept");
            }
            let mut counts = BTreeMap::new();
            expected.iter().for_each(|event| *counts.entry(event.1).or_default() += 1);
            for threads in [1, 2] {
                assert_eq!(query().threads(threads).analyse(Counts).unwrap().0, counts, "{name}: {since} to {until}");
            }
            let formats: Vec<u16> =
                recording.trace.formats().filter(|f| f.system != "ftrace").map(|f| f.id.0).collect();
            let wanted = expected.iter().filter(|event| event.3 == pid && formats.contains(&event.2));
            assert_eq!(of_task(query()), wanted.copied().collect::<Vec<_>>(), "{name}: task {pid}, {since} to {until}");
        }
    }
}

/// A recording of ten gigabytes that needs no disk: a real file, the sub-buffers of its busiest CPU repeated without
/// end, each time with later time stamps. It knows how much of it was read.
struct Endless {
    base: Vec<u8>,
    data: u64,
    page: u64,
    pages: u64,
    end: u64,
    span: u64,
    read: Arc<AtomicU64>,
}

impl ReadAt for Endless {
    fn size(&self) -> std::io::Result<u64> {
        Ok(self.end)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let bytes = if offset < self.data {
            self.base[offset as usize..self.data as usize].to_vec()
        } else if offset < self.end {
            let (number, within) = ((offset - self.data) / self.page, (offset - self.data) % self.page);
            let start = (self.data + number % self.pages * self.page) as usize;
            let mut page = self.base[start..start + self.page as usize].to_vec();
            let time = u64::from_le_bytes(page[..8].try_into().unwrap()) + number / self.pages * self.span;
            page[..8].copy_from_slice(&time.to_le_bytes());
            page.split_off(within as usize)
        } else {
            Vec::new()
        };
        let len = bytes.len().min(buf.len());
        buf[..len].copy_from_slice(&bytes[..len]);
        self.read.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }
}

#[test]
fn the_end_of_ten_gigabytes_is_read_and_nothing_else() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces/i386/events-v6.dat");
    let base = std::fs::read(path).unwrap();
    let small = Trace::open(base.clone()).unwrap();
    let time = TimeOptions::default();
    let buffer = &small.buffers[0];
    let (index, cpu) = buffer.cpus.iter().copied().enumerate().max_by_key(|(_, c)| c.size).unwrap();
    let (first, last) = small.span(buffer, index, &time, &mut |damage| panic!("{damage}")).unwrap().unwrap();
    let (page, read) = (buffer.page_size as u64, Arc::new(AtomicU64::new(0)));
    let is_empty = |number: &u64| base[(cpu.offset + number * page) as usize + 8..][..4] == [0; 4];
    let pages = (0..cpu.size / page).take_while(|number| !is_empty(number)).count() as u64;
    let total = (10 << 30) / page * page;
    let span = last.0 - first.0 + 1_000_000;
    let endless = Endless { base, data: cpu.offset, page, pages, end: cpu.offset + total, span, read: read.clone() };
    let mut trace = Trace::open(endless).unwrap();
    trace.buffers[0].cpus = vec![CpuData { size: total, ..cpu }];
    let before = read.load(Ordering::Relaxed);
    let (_, end) = trace.span(&trace.buffers[0], 0, &time, &mut |damage| panic!("{damage}")).unwrap().unwrap();
    assert!(end.0 > last.0 + span * 1000);
    let since = end.0 - 100_000_000;
    let (found, records) = window(&trace, Some(since), None, true);
    let whole_span = |k: &Key| k.0 >= since && k.0 <= end.0;
    assert!(!found.is_empty() && found.iter().all(whole_span) && found[found.len() - 1].0 == end.0);
    let read = read.load(Ordering::Relaxed) - before;
    println!("{} events in the window, {records} records and {read} bytes read", found.len());
    assert!(read < 32 << 20, "{read} bytes read");
}
