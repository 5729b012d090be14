//! The drain loop allocates nothing per chunk, counted by an allocator that knows its thread.

use crate::common::counting;
use nix::fcntl::OFlag;
use nix::sys::eventfd::EventFd;
use nix::unistd::pipe2;
use rtrace::record::{Compression, Drain, Progress, Spool, Worker};
use rtrace::units::CpuId;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

const SUB_BUFFER: usize = 4096;
const CHUNK: usize = 16 * SUB_BUFFER;

/// Allocations of a worker while it drains this many chunks.
fn allocations(compression: Compression, no_splice: bool, chunks: usize) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let (ring, feed) = pipe2(OFlag::O_CLOEXEC).unwrap();
    let spool = Spool::create(&dir.path().join("spool"), compression != Compression::None).unwrap();
    let progress = Progress::default();
    let drain = Drain { compression, no_splice, ..Drain::new(SUB_BUFFER, CHUNK) };
    let worker = Worker::new(CpuId(0), File::from(ring), spool, drain, &progress).unwrap();
    let stop = EventFd::new().unwrap();
    std::thread::scope(|scope| {
        let stop = &stop;
        let running = scope.spawn(move || {
            let before = counting::allocations();
            let drained = worker.run(stop.as_fd());
            let allocations = counting::allocations() - before;
            assert!(drained.error.is_none() && drained.tally.bytes == (chunks * CHUNK) as u64);
            allocations
        });
        let mut feed = File::from(feed);
        for n in 0..chunks {
            feed.write_all(&(0..CHUNK).map(|i| ((i * n) >> 3) as u8).collect::<Vec<_>>()).unwrap();
        }
        stop.write(1).unwrap();
        running.join().unwrap()
    })
}

#[test]
fn a_chunk_costs_no_allocation() {
    for compression in [Compression::None, Compression::Zstd(1)] {
        for no_splice in [false, true] {
            let few = allocations(compression, no_splice, 4);
            let many = allocations(compression, no_splice, 200);
            assert_eq!(few, many, "allocations for 4 and 200 chunks: {compression:?}, no_splice {no_splice}");
        }
    }
    let before = counting::allocations();
    drop(vec![1u8; 10]);
    assert_eq!(counting::allocations() - before, 1, "the allocator counts");
}
