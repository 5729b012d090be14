//! Workers over pipes that stand for `trace_pipe_raw`.

use super::*;
use crate::control::record::{Budget, Compression, Spool};
use crate::file::ring_buffer::Lost;
use crate::file::trace_dat::{ChunkIndex, ChunkScan, Trace};
use nix::sys::eventfd::EventFd;
use std::fs;
use std::io::Write;

const DRAIN: Drain = Drain {
    sub_buffer: 4096,
    chunk: 16 * 4096,
    compression: Compression::Zstd(1),
    scan: None,
    no_splice: false,
    ready_at_wake: 1,
    ring: 0,
    priority: None,
    poll_every: None,
    lost_before: Lost::None,
};

fn page(n: u32) -> Vec<u8> {
    (0..1024u32).flat_map(|i| (n.wrapping_mul(2_654_435_761) ^ (i / 7)).to_ne_bytes()).collect()
}

/// Sends `pages` through a worker; returns the spool's bytes and what the worker said.
fn drained(drain: Drain, pages: u32) -> (Vec<u8>, Drained) {
    let dir = tempfile::tempdir().unwrap();
    let (ring, mut feed) = pipe2(OFlag::O_CLOEXEC).map(|(r, w)| (File::from(r), File::from(w))).unwrap();
    let chunked = drain.compression != Compression::None;
    let spool = Spool::create(&dir.path().join("spool"), chunked).unwrap();
    let progress = Progress::default();
    let worker = Worker::new(CpuId(3), ring, spool, drain, &progress).unwrap();
    let stop = EventFd::new().unwrap();
    let drained = std::thread::scope(|scope| {
        let running = scope.spawn(|| worker.run(stop.as_fd()));
        for n in 0..pages {
            feed.write_all(&page(n)).unwrap();
        }
        stop.write(1).unwrap();
        running.join().unwrap()
    });
    assert_eq!(progress.raw.into_inner(), drained.tally.bytes);
    let bytes = fs::read(dir.path().join("spool")).unwrap();
    assert_eq!(bytes.len() as u64, drained.spool.len());
    (bytes, drained)
}

fn unpacked(spool: &[u8]) -> (u32, Vec<u8>) {
    let number = |at: usize| u32::from_ne_bytes(spool[at..at + 4].try_into().unwrap());
    let (mut at, mut raw, mut chunks) = (4, Vec::new(), 0);
    while at < spool.len() {
        let (packed, size) = (number(at) as usize, number(at + 4) as usize);
        assert_eq!(size % 4096, 0);
        raw.extend(zstd::bulk::decompress(&spool[at + 8..at + 8 + packed], size).unwrap());
        at += 8 + packed;
        chunks += 1;
    }
    assert_eq!(number(0), 0, "the count is written by who finishes the file");
    (chunks, raw)
}

#[test]
fn every_page_arrives_once_and_in_order() {
    let expected: Vec<u8> = (0..200).flat_map(page).collect();
    let (spool, drained) = drained(DRAIN, 200);
    let (chunks, raw) = unpacked(&spool);
    assert!(raw == expected);
    assert!(chunks >= 13 && drained.error.is_none() && !drained.by_read);
    assert_eq!(drained.tally, RingTally { bytes: expected.len() as u64, ..RingTally::default() });
}

#[test]
fn read_instead_of_splice_gives_the_same_bytes() {
    let expected: Vec<u8> = (0..100).flat_map(page).collect();
    let (spool, drained) = drained(Drain { no_splice: true, ..DRAIN }, 100);
    assert!(unpacked(&spool).1 == expected && drained.by_read);
}

#[test]
fn uncompressed_is_the_pages_themselves() {
    let expected: Vec<u8> = (0..100).flat_map(page).collect();
    for no_splice in [false, true] {
        let (spool, drained) = drained(Drain { compression: Compression::None, no_splice, ..DRAIN }, 100);
        assert!(spool == expected && drained.error.is_none());
    }
}

#[test]
fn a_short_last_sub_buffer_is_padded() {
    let dir = tempfile::tempdir().unwrap();
    let (ring, mut feed) = pipe2(OFlag::O_CLOEXEC).map(|(r, w)| (File::from(r), File::from(w))).unwrap();
    feed.write_all(&[9; 100]).unwrap();
    let spool = Spool::create(&dir.path().join("spool"), true).unwrap();
    let progress = Progress::default();
    let stop = EventFd::from_value(1).unwrap();
    let drained = Worker::new(CpuId(0), ring, spool, DRAIN, &progress).unwrap().run(stop.as_fd());
    assert!(drained.error.is_none());
    let (_, raw) = unpacked(&fs::read(dir.path().join("spool")).unwrap());
    assert_eq!((raw.len(), raw[99], raw[100]), (4096, 9, 0));
}

#[test]
fn a_full_disk_ends_the_worker_with_a_whole_spool() {
    let (ring, mut feed) = pipe2(OFlag::O_CLOEXEC).map(|(r, w)| (File::from(r), File::from(w))).unwrap();
    let Ok(full) = Spool::open_for_test("/dev/full") else { panic!("this machine has no /dev/full") };
    let progress = Progress::default();
    let stop = EventFd::new().unwrap();
    let worker = Worker::new(CpuId(0), ring, full, DRAIN, &progress).unwrap();
    let drained = std::thread::scope(|scope| {
        let running = scope.spawn(|| worker.run(stop.as_fd()));
        for n in 0..16 {
            feed.write_all(&page(n)).unwrap();
        }
        stop.write(1).unwrap();
        running.join().unwrap()
    });
    assert!(matches!(drained.error, Some(WorkerError::Spool(CpuId(0), e)) if e.raw_os_error() == Some(28)));
    assert_eq!(drained.spool.into_counts().unwrap(), (4, 0, ChunkIndex::default()));
}

/// Pages with headers and events, as a kernel fills them, and what counts these.
fn recorded() -> (Vec<Vec<u8>>, ChunkScan) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces/vm-6.1/trig.dat");
    let trace = Trace::open(File::open(path).unwrap()).unwrap();
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    for cpu in 0..trace.buffers[0].cpus.len() {
        let mut pages = trace.raw_pages(&trace.buffers[0], cpu);
        while pages.next(&mut chunk).unwrap() {
            all.extend(chunk.chunks(4096).map(<[u8]>::to_vec));
        }
    }
    (all, ChunkScan::new(&trace.header_page, 4096))
}

fn events_in(mut scan: ChunkScan, pages: &[u8]) -> u64 {
    scan.look(pages);
    scan.take(0).unwrap().events.unwrap()
}

/// Feeds `pages` in an order of its own to a worker that may write `budget` bytes.
fn limited(drain: Drain, pages: &[Vec<u8>], budget: u64) -> (Vec<u8>, Drained) {
    let dir = tempfile::tempdir().unwrap();
    let (ring, mut feed) = pipe2(OFlag::O_CLOEXEC).map(|(r, w)| (File::from(r), File::from(w))).unwrap();
    let spool = Spool::create(&dir.path().join("spool"), drain.compression != Compression::None).unwrap();
    let progress = Progress { budget: Budget::new(Some(budget), None, None), ..Progress::default() };
    let worker = Worker::new(CpuId(0), ring, spool, drain, &progress).unwrap();
    let stop = EventFd::new().unwrap();
    let drained = std::thread::scope(|scope| {
        let running = scope.spawn(|| worker.run(stop.as_fd()));
        pages.iter().for_each(|page| feed.write_all(page).unwrap());
        stop.write(1).unwrap();
        running.join().unwrap()
    });
    (fs::read(dir.path().join("spool")).unwrap(), drained)
}

#[test]
fn up_to_a_limit_all_that_fits_is_stored_and_all_is_counted() {
    let (some, scan) = recorded();
    let pages: Vec<Vec<u8>> = some.iter().cycle().take(400).cloned().collect();
    let all = pages.concat();
    let total = events_in(scan, &all);
    for compression in [Compression::Zstd(1), Compression::None] {
        for (no_splice, ring) in [(false, 0), (true, 0), (false, 4096)] {
            // Chunks of 1 MiB: the first one does not fit as a whole.
            let drain = Drain { chunk: 256 * 4096, compression, no_splice, ring, scan: Some(scan), ..DRAIN };
            let unlimited = limited(drain, &pages, u64::MAX - 1).0.len() as u64;
            for budget in [8000.min(unlimited / 2), unlimited / 3, unlimited - 1] {
                let what = format!("{compression:?}, {no_splice}, {ring}, {budget} of {unlimited}");
                let (spool, drained) = limited(drain, &pages, budget);
                let header = if compression == Compression::None { 0 } else { 4 };
                assert!(spool.len() as u64 - header <= budget, "{what}: {}", spool.len());
                let raw = if header == 0 { spool } else { unpacked(&spool).1 };
                assert!(all.starts_with(&raw), "{what}");
                let (kept, tally) = (events_in(scan, &raw), drained.tally);
                assert_eq!((tally.events, tally.bytes), (Some(total), all.len() as u64), "{what}");
                assert_eq!(
                    (total - tally.events_discarded, tally.bytes_discarded as usize),
                    (kept, all.len() - raw.len()),
                    "{what}"
                );
                assert!(!raw.is_empty(), "{what}");
                if header == 0 {
                    assert_eq!(raw.len() as u64, budget / 4096 * 4096, "{what}");
                }
            }
        }
    }
}

#[test]
fn after_a_failure_the_ring_is_emptied_and_counted() {
    let (pages, scan) = recorded();
    let (ring, mut feed) = pipe2(OFlag::O_CLOEXEC).map(|(r, w)| (File::from(r), File::from(w))).unwrap();
    let progress = Progress::default();
    let drain = Drain { scan: Some(scan), ..DRAIN };
    let full = Spool::open_for_test("/dev/full").unwrap();
    let worker = Worker::new(CpuId(0), ring, full, drain, &progress).unwrap();
    let stop = EventFd::new().unwrap();
    let drained = std::thread::scope(|scope| {
        let running = scope.spawn(|| worker.run(stop.as_fd()));
        pages.iter().cycle().take(100).for_each(|page| feed.write_all(page).unwrap());
        stop.write(1).unwrap();
        running.join().unwrap()
    });
    assert!(matches!(drained.error, Some(WorkerError::Spool(..))));
    let sent: Vec<u8> = pages.iter().cycle().take(100).flatten().copied().collect();
    let (events, bytes) = (events_in(scan, &sent), sent.len() as u64);
    let all = RingTally { bytes, bytes_discarded: bytes, events: Some(events), events_discarded: events };
    assert_eq!(drained.tally, all);
}

#[test]
fn a_worker_that_comes_late_is_real_time_from_then_on() {
    const FIFO: &str = "1";
    let policy = || {
        let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(38).unwrap().to_owned()
    };
    let after = |drain: Drain, pages: u32| {
        let (ring, mut feed) = pipe2(OFlag::O_CLOEXEC).map(|(r, w)| (File::from(r), File::from(w))).unwrap();
        (0..pages).for_each(|n| feed.write_all(&page(n)).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::create(&dir.path().join("spool"), true).unwrap();
        let progress = Progress::default();
        let stop = EventFd::from_value(1).unwrap();
        let worker = Worker::new(CpuId(0), ring, spool, drain, &progress).unwrap();
        std::thread::scope(|scope| scope.spawn(|| (worker.run(stop.as_fd()), policy()).1).join().unwrap())
    };
    let usual = policy();
    let is_permitted = std::thread::spawn(|| sys::real_time(LEAST_REAL_TIME).is_ok()).join().unwrap();
    let drain = Drain { ring: 16 * 4096, ..DRAIN };
    assert_eq!((after(drain, 4), after(DRAIN, 12)), (usual.clone(), usual.clone()));
    assert_eq!(after(drain, 5), if is_permitted { FIFO.to_owned() } else { usual });
}
