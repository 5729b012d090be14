//! Recordings made of other recordings, as a recorder would have made them.

use rtrace::abi::{Abi, Endian};
use rtrace::event::Common;
use rtrace::format::EventFormat;
use rtrace::internal::merge::Merge;
use rtrace::internal::trace_dat::{
    ChunkIndex, Codec, FinishedSpool, OptionId, SectionWriter, SpoolEntry, SpoolTable, TimeOptions, Trace, spool_name,
};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A trace file of the project's test data.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces").join(name)
}

/// An undamaged file.
pub(crate) fn open(path: &Path) -> Trace {
    let trace = Trace::open(File::open(path).unwrap()).unwrap();
    assert!(trace.damage.is_empty(), "{}: {:?}", path.display(), trace.damage);
    trace
}

/// Time, CPU, buffer and bytes.
pub(crate) type Event = (u64, u32, usize, Vec<u8>);

/// All events in order, and what was damaged.
pub(crate) fn events_and_damage(trace: &Trace) -> (Vec<Event>, Vec<String>) {
    let mut merge = Merge::default();
    let mut damage: Vec<String> = trace.damage.iter().map(ToString::to_string).collect();
    for (number, buffer) in trace.buffers.iter().enumerate() {
        for cpu in 0..buffer.cpus.len() {
            match trace.stream(buffer, cpu, &TimeOptions::default()) {
                Ok(stream) => merge.add(stream, number),
                Err(e) => damage.push(e.to_string()),
            }
        }
    }
    let mut events = Vec::new();
    loop {
        match merge.advance() {
            Ok(true) => {
                let r = merge.record();
                events.push((r.timestamp.0, r.cpu.0, r.buffer, r.data.to_vec()));
            }
            Ok(false) => return (events, damage),
            Err(e) => damage.push(e.to_string()),
        }
    }
}

/// The events of an undamaged file.
pub(crate) fn events(trace: &Trace) -> Vec<Event> {
    let (events, damage) = events_and_damage(trace);
    assert!(damage.is_empty(), "{damage:?}");
    events
}

/// A recording that has stopped but is not finished.
pub(crate) struct Stopped {
    pub(crate) writer: SectionWriter,
    pub(crate) buffers: Vec<(String, String, u32)>,
    pub(crate) spools: Vec<FinishedSpool>,
}

/// A recording of what `from` holds, as far as a recorder is when it stops: published, with all spools beside it.
/// `formats` are how many formats of each system go along, beside those of its events.
pub(crate) fn record(from: &Trace, path: &Path, codec: Codec, formats: usize) -> Stopped {
    let dir = path.parent().unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let page_size = from.buffers[0].page_size as u32;
    let abi = Abi { endian: from.abi.endian, long_size: 8 };
    let mut writer = SectionWriter::create(File::create(path).unwrap(), abi, page_size, codec).unwrap();
    writer.header_info(&from.header_texts.0, &from.header_texts.1).unwrap();
    let common = from.formats().next().map(Common::of).unwrap_or_default();
    let used: BTreeSet<u16> = events(from).iter().map(|event| common.event_id(from.abi, &event.3)).collect();
    let goes_along = |number: usize, format: &EventFormat| number < formats || used.contains(&format.id.0);
    let ftrace = from.ftrace_formats.iter().enumerate().filter(|(number, format)| goes_along(*number, format));
    writer.ftrace_formats(&ftrace.map(|(_, format)| format.to_string()).collect::<Vec<_>>()).unwrap();
    let systems: Vec<(String, Vec<String>)> = from
        .event_formats
        .chunk_by(|a, b| a.system == b.system)
        .map(|system| {
            let texts = system.iter().enumerate().filter(|(number, format)| goes_along(*number, format));
            (system[0].system.clone(), texts.map(|(_, format)| format.to_string()).collect())
        })
        .collect();
    writer.event_formats(&systems).unwrap();
    let kallsyms = from.kallsyms.get().unwrap();
    let symbols = kallsyms.len().min(formats.saturating_mul(40));
    writer.kallsyms(&kallsyms[..symbols]).unwrap();
    writer.printk_formats(&from.printk_formats).unwrap();
    for option in &from.options {
        if !(16..=25).contains(&option.id.0) && option.id != OptionId::BUFFER {
            writer.option(option.id, option.data.clone());
        }
    }
    let mut table = SpoolTable::default();
    let (mut buffers, mut spools) = (Vec::new(), Vec::new());
    for buffer in &from.buffers {
        buffers.push((buffer.name.clone(), buffer.clock.clone(), page_size));
        for (number, cpu) in buffer.cpus.iter().enumerate() {
            let file = spool_name(name, &buffer.name, cpu.cpu);
            let path = dir.join(&file);
            let (size, chunks) = spool(from, buffer, number, &path, codec);
            let entry = SpoolEntry {
                buffer: buffer.name.clone(),
                clock: buffer.clock.clone(),
                page_size,
                cpu: cpu.cpu,
                file,
                target: (0, 0),
            };
            table.entries.push(entry.clone());
            spools.push(FinishedSpool { entry, path, size, chunks, index: ChunkIndex::default() });
        }
    }
    writer.publish(&table).unwrap();
    Stopped { writer, buffers, spools }
}

/// Writes a CPU's spool, three sub-buffers to a chunk; gives its size and how many chunks there are.
fn spool(
    from: &Trace,
    buffer: &rtrace::internal::trace_dat::Buffer,
    cpu: usize,
    path: &Path,
    codec: Codec,
) -> (u64, u32) {
    let mut spool = File::create(path).unwrap();
    let mut chunks = 0;
    if codec != Codec::None {
        spool.write_all(&[0; 4]).unwrap();
    }
    let number = |n: usize| match from.abi.endian {
        Endian::Little => (n as u32).to_le_bytes(),
        Endian::Big => (n as u32).to_be_bytes(),
    };
    let (mut pages, mut some) = (from.raw_pages(buffer, cpu), Vec::new());
    while pages.next(&mut some).unwrap() {
        for chunk in some.chunks(3 * buffer.page_size) {
            if codec == Codec::None {
                spool.write_all(chunk).unwrap();
                continue;
            }
            let packed = codec.compress(chunk).unwrap();
            spool.write_all(&[&number(packed.len())[..], &number(chunk.len()), &packed].concat()).unwrap();
            chunks += 1;
        }
    }
    (spool.metadata().unwrap().len(), chunks)
}
