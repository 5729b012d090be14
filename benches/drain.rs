//! The recorder's drain loop over a pipe that stands for `trace_pipe_raw`: bytes per second on one core, and the
//! allocations per chunk once it runs, which must be none.
//!
//! The sub-buffers are those of a real recording: `RTRACE_BENCH_TRACE` names a trace.dat with some MB of them; without it
//! a small one of the test data is repeated.

use criterion::{Criterion, Throughput};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::eventfd::EventFd;
use nix::unistd::pipe2;
use rtrace::internal::trace_dat::{ChunkScan, Trace};
use rtrace::record::{Compression, Drain, Drained, Progress, Spool, Worker, chunk_size};
use rtrace::units::CpuId;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: hands everything to the system's allocator and only counts.
#[expect(unsafe_code, reason = "a counting allocator cannot be written without")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller's.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SUB_BUFFER: usize = 4096;
const BYTES: usize = 64 << 20;

/// Sub-buffers of a real recording, 64 MiB of them, and what looks through them.
fn sub_buffers() -> (Vec<u8>, ChunkScan) {
    let small = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat").into();
    let path = std::env::var_os("RTRACE_BENCH_TRACE").unwrap_or(small);
    let trace = Trace::open(File::open(&path).expect("the trace opens")).expect("a trace.dat file");
    let buffer = &trace.buffers[0];
    let mut all = Vec::new();
    let mut chunk = Vec::new();
    for cpu in 0..buffer.cpus.len() {
        let mut pages = trace.raw_pages(buffer, cpu);
        while all.len() < BYTES && pages.next(&mut chunk).expect("its pages") {
            all.extend_from_slice(&chunk);
        }
    }
    while all.len() < BYTES {
        all.extend_from_within(..all.len().min(BYTES - all.len()));
    }
    all.truncate(BYTES / SUB_BUFFER * SUB_BUFFER);
    (all, ChunkScan::new(&trace.header_page, SUB_BUFFER))
}

/// Sends `pages` through one worker; gives what it did, the CPU time it took, and the allocations meanwhile.
fn drain(pages: &[u8], compression: Compression, scan: Option<ChunkScan>) -> (Drained, u64) {
    let dir = tempfile::tempdir().expect("a folder");
    let (ring, feed) = pipe2(OFlag::O_CLOEXEC).expect("a pipe");
    let _ = fcntl(&feed, FcntlArg::F_SETPIPE_SZ(1 << 20));
    let mut feed = File::from(feed);
    let spool = Spool::create(&dir.path().join("spool"), compression != Compression::None).expect("a spool");
    let drain = Drain { compression, scan, ..Drain::new(SUB_BUFFER, chunk_size(SUB_BUFFER, 1, None)) };
    let progress = Progress::default();
    let worker = Worker::new(CpuId(0), File::from(ring), spool, drain, &progress).expect("a worker");
    let stop = EventFd::new().expect("an eventfd");
    let before = std::sync::OnceLock::new();
    let drained = std::thread::scope(|scope| {
        let running = scope.spawn(|| worker.run(stop.as_fd()));
        let (first, rest) = pages.split_at(8 << 20);
        feed.write_all(first).expect("the pipe takes it");
        before.set(ALLOCATIONS.load(Ordering::Relaxed)).expect("once");
        feed.write_all(rest).expect("the pipe takes it");
        stop.write(1).expect("it counts");
        running.join().expect("the worker ends")
    });
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before.get().copied().unwrap_or(0);
    assert!(drained.error.is_none() && drained.tally.bytes == pages.len() as u64);
    (drained, allocations)
}

fn benches(c: &mut Criterion) {
    let (pages, scan) = sub_buffers();
    let mut group = c.benchmark_group("drain");
    group.throughput(Throughput::Bytes(pages.len() as u64)).sample_size(10);
    let kinds = [
        ("none", Compression::None, None),
        ("zstd:1 without index", Compression::Zstd(1), None),
        ("zstd:1", Compression::Zstd(1), Some(scan)),
        ("zstd:3", Compression::Zstd(3), Some(scan)),
        ("zstd:-5", Compression::Zstd(-5), Some(scan)),
    ];
    for (name, compression, scan) in kinds {
        // The worker's own CPU time counts: the feeding thread is not the recorder.
        group.bench_function(name, |bencher| {
            bencher
                .iter_custom(|times| (0..times).map(|_| drain(&pages, compression, scan).0.cpu_time).sum::<Duration>());
        });
        let since = Instant::now();
        let (drained, allocations) = drain(&pages, compression, scan);
        let chunks = (pages.len() - (8 << 20)) >> 20;
        println!(
            "{name}: {allocations} allocations in {chunks} chunks after the first 8 MiB, {} wake-ups, ratio {:.1}, {:.2} s",
            drained.wakeups,
            drained.tally.bytes as f64 / drained.spool.len().max(1) as f64,
            since.elapsed().as_secs_f64(),
        );
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    benches(&mut criterion);
    criterion.final_summary();
}
