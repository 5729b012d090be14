//! A large recording of many CPUs, made of a small one: each CPU has the sub-buffers of one of the small one's, again and
//! again, each time later.

use rtrace::internal::trace_dat::write::{NewFile, Version};
use rtrace::internal::trace_dat::{Codec, OptionId, TimeOptions, Trace};
use rtrace::units::CpuId;
use std::fs::File;
use std::path::Path;

/// The sub-buffers of one CPU.
type Chunks = Vec<Vec<u8>>;

/// Writes at least `bytes` of packed events of `cpus` CPUs to `to`, of the first buffer of `from`.
pub(crate) fn join(from: &Path, to: &Path, cpus: usize, bytes: u64) {
    let mut trace = Trace::open(File::open(from).expect("the small recording")).expect("a recording");
    let buffer = trace.buffers[0].clone();
    let (mut begin, mut end) = (u64::MAX, 0);
    let mut sources: Vec<Chunks> = Vec::new();
    for number in 0..buffer.cpus.len() {
        let span = trace.span(&buffer, number, &TimeOptions::default(), &mut |_| {}).expect("its times");
        let Some((first, last)) = span else { continue };
        (begin, end) = (begin.min(first.0), end.max(last.0));
        let mut pages = trace.raw_pages(&buffer, number);
        let (mut chunks, mut chunk) = (Vec::new(), Vec::new());
        while pages.next(&mut chunk).expect("sound sub-buffers") {
            chunks.push(chunk.clone());
        }
        sources.push(chunks);
    }
    let stored: u64 = buffer.cpus.iter().map(|cpu| cpu.size).sum();
    let of_all = stored * (cpus / sources.len()).max(1) as u64;
    let (rounds, span) = (bytes.div_ceil(of_all), end - begin + 1_000_000);
    trace.cpu_count = cpus as u32;
    trace
        .options
        .retain(|option| ![OptionId::CPUCOUNT, OptionId::CPUSTAT, OptionId::RTRACE_INDEX].contains(&option.id));
    let to = File::create(to).expect("a file");
    let mut file = NewFile::create(to, &trace, Version::V7(Codec::Zstd), &[""]).expect("facts");
    file.begin_buffer("", &buffer.clock, buffer.page_size).expect("a buffer");
    for cpu in 0..cpus {
        file.begin_cpu(CpuId(cpu as u32)).expect("a CPU");
        for round in 0..rounds {
            // CPUs of one source are some microseconds apart.
            let later = round * span + cpu as u64 * 1_700;
            for chunk in &sources[cpu % sources.len()] {
                let mut chunk = chunk.clone();
                for page in chunk.chunks_mut(buffer.page_size) {
                    let time = u64::from_le_bytes(page[..8].try_into().expect("8 bytes")) + later;
                    page[..8].copy_from_slice(&time.to_le_bytes());
                }
                file.pages(&chunk).expect("sub-buffers");
            }
        }
        file.end_cpu().expect("a CPU");
        eprintln!("CPU {cpu}: {rounds} rounds");
    }
    file.end_buffer().expect("a buffer");
    file.finish().expect("a whole file");
}
