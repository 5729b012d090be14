//! Sub-buffers that are copied: the same ones, and the same damage, on any number of threads.

use crate::common::corpus::has_all;
use crate::common::recording::open;
use crate::common::synthetic::{Random, fork_storm};
use crate::common::trace_files::trace_files;
use rtrace::internal::trace_dat::write::Version;
use rtrace::internal::trace_dat::{Codec, Trace};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Output of all CPUs of all buffers, in order: chunks by their hash, and errors.
fn given(trace: &Trace, threads: usize) -> Vec<Result<u64, String>> {
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    for buffer in &trace.buffers {
        for cpu in 0..buffer.cpus.len() {
            let mut pages = trace.raw_pages(buffer, cpu).on_threads(threads);
            loop {
                match pages.next(&mut chunk) {
                    Ok(true) => {
                        let mut hasher = DefaultHasher::new();
                        chunk.hash(&mut hasher);
                        all.push(Ok(hasher.finish()));
                    }
                    Ok(false) => break,
                    Err(error) => all.push(Err(error.to_string())),
                }
            }
        }
    }
    all
}

#[test]
fn any_number_of_threads_gives_the_same_sub_buffers() {
    let mut chunks = 0;
    for path in trace_files() {
        let trace = open(&path);
        let serial = given(&trace, 1);
        chunks += serial.len();
        assert!(serial == given(&trace, 3), "{}", path.display());
    }
    assert!(!has_all("sub-buffers on threads") || chunks > 100, "{chunks} chunks");
}

#[test]
fn damage_is_reported_alike_on_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.dat");
    let mut random = Random(11);
    let mut reported = 0;
    for codec in [Codec::None, Codec::Zlib, Codec::Zstd] {
        fork_storm(2, 20_000, 200, 3).write(&path, Version::V7(codec));
        let whole = std::fs::read(&path).unwrap();
        let first = open(&path).buffers[0].cpus[0].offset as usize;
        for _ in 0..60 {
            let mut damaged = whole.clone();
            for _ in 0..1 + random.below(3) {
                let at = first + random.below(damaged.len() - first);
                match random.below(3) {
                    0 => damaged[at] ^= 1 << random.below(8),
                    1 => damaged.iter_mut().skip(at).take(random.below(9000)).for_each(|byte| *byte = 0),
                    _ => damaged.truncate(damaged.len() - random.below(40)),
                }
            }
            let trace = Trace::open(damaged).unwrap();
            let serial = given(&trace, 1);
            reported += serial.iter().filter(|given| given.is_err()).count();
            for threads in [2, 8] {
                assert_eq!(serial, given(&trace, threads), "{codec:?}, {threads} threads");
            }
        }
    }
    assert!(reported > 100, "{reported} places");
}
