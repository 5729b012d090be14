//! Chunks that claim to unpack to much: memory follows what a file holds, and a bound that its CPUs share.

use crate::common::recording::{data, open};
use rtrace::internal::trace_dat::write::{NewFile, Version};
use rtrace::internal::trace_dat::{Codec, Trace};
use rtrace::units::CpuId;
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// A file of `cpus` CPUs with one chunk each, of these sub-buffers.
fn write(path: &Path, cpus: u32, pages: &[u8]) {
    let mut facts = open(&data("host/small-zlib.dat"));
    facts.cpu_count = cpus;
    let mut file = NewFile::create(File::create(path).unwrap(), &facts, Version::V7(Codec::Zstd), &[""]).unwrap();
    file.begin_buffer("", "local", 4096).unwrap();
    for cpu in (0..cpus).map(CpuId) {
        file.begin_cpu(cpu).unwrap();
        file.pages(pages).unwrap();
        file.end_cpu().unwrap();
    }
    file.end_buffer().unwrap();
    file.finish().unwrap();
}

/// Has every chunk of the file claim to unpack to `size` bytes.
fn claim(path: &Path, size: u32) {
    let mut file = std::fs::read(path).unwrap();
    let trace = Trace::open(file.clone()).unwrap();
    for cpu in 0..trace.buffers[0].cpus.len() {
        for chunk in trace.chunks(&trace.buffers[0], cpu, &mut |damage| panic!("{damage}")) {
            let at = chunk.offset as usize + 4;
            file[at..at + 4].copy_from_slice(&size.to_le_bytes());
        }
    }
    std::fs::write(path, file).unwrap();
}

/// Runs `rtrace report` with a GiB of addresses.
fn report(path: &Path, threads: &str) -> (usize, String, Option<i32>) {
    let script = "ulimit -v 1048576 && exec timeout 60 \"$0\" report --threads \"$1\" \"$2\"";
    let mut command = Command::new("sh");
    let done = command.args(["-c", script, env!("CARGO_BIN_EXE_rtrace"), threads]).arg(path).output().unwrap();
    let lines = done.stdout.iter().filter(|byte| **byte == b'\n').count();
    (lines, String::from_utf8_lossy(&done.stderr).into_owned(), done.status.code())
}

#[test]
fn chunks_of_many_cpus_share_a_bound() {
    const LARGE: usize = 32 << 20;
    const CPUS: u32 = 80; // 2.5 GiB
    let small = open(&data("host/small-zlib.dat"));
    let mut page = Vec::new();
    assert!(small.raw_pages(&small.buffers[0], 0).next(&mut page).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.dat");
    page.truncate(4096);
    write(&path, 1, &page);
    let (alone, stderr, status) = report(&path, "1");
    assert!(alone > 10 && status == Some(0), "{alone} lines: {stderr}");
    // Zeros take no room in the file.
    let mut large = page.clone();
    large.resize(LARGE, 0);
    let (holds, claims) = (dir.path().join("holds.dat"), dir.path().join("claims.dat"));
    write(&holds, CPUS, &large);
    write(&claims, CPUS, &page);
    claim(&claims, LARGE as u32);
    write(&path, 2, &large);
    for threads in ["1", "2"] {
        for file in [&holds, &claims] {
            let (_, stderr, status) = report(file, threads);
            assert_eq!(status, Some(4), "{} on {threads} threads: {stderr}", file.display());
            assert_eq!(stderr.matches(", chunk 0 at 0x").count(), CPUS as usize, "{stderr}");
        }
        // Few such chunks are read.
        let (lines, stderr, status) = report(&path, threads);
        assert_eq!(status, Some(4), "{stderr}");
        assert!(lines >= alone && stderr.contains("8191 sub-buffers from here on"), "{lines} lines: {stderr}");
    }
}
