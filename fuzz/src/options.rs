//! Any bytes as the options of a version 7 file: what is read of them, once written to another file, is read from that
//! as well, ours included, which ride on the VERSION option.

use rtrace::abi::{Abi, Endian};
use rtrace::internal::trace_dat::{Codec, OptionId, SectionWriter, SpoolTable, Trace};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

const HEAD: &[u8] = b"\x17\x08\x44tracing7\0";

/// A file with nothing but these options.
fn file_of(options: &[u8], abi: Abi) -> Vec<u8> {
    let u64 = |n: u64| if abi.endian == Endian::Big { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut file = HEAD.to_vec();
    file.extend([u8::from(abi.endian == Endian::Big), abi.long_size]);
    file.extend(if abi.endian == Endian::Big { 4096u32.to_be_bytes() } else { 4096u32.to_le_bytes() });
    file.extend(b"none\0\0");
    file.extend(u64(file.len() as u64 + 8));
    // the header of the section: id 0, no flags, no name
    file.extend([0; 8]);
    file.extend(u64(options.len() as u64));
    file.extend(options);
    file
}

/// The facts in the options that another file has too; offsets of sections are another matter.
fn facts(trace: &Trace) -> Vec<(OptionId, Vec<u8>)> {
    let about_sections = |id: OptionId| matches!(id.0, 3 | 15..=23) || id == OptionId::RTRACE_SPOOLS;
    let options = trace.options.iter().filter(|option| !about_sections(option.id) && option.id != OptionId::VERSION);
    let mut facts: Vec<_> = options.map(|option| (option.id, option.data.clone())).collect();
    facts.sort();
    facts
}

pub(crate) fn run(data: &[u8]) {
    static COPY: OnceLock<File> = OnceLock::new();
    for endian in [Endian::Little, Endian::Big] {
        let abi = Abi { endian, long_size: 8 };
        let Ok(trace) = Trace::open(file_of(data, abi)) else { continue };
        let _ = trace.process_maps();
        let facts_read = facts(&trace);
        let copy = COPY.get_or_init(|| {
            let path = std::env::temp_dir().join(format!("rtrace-fuzz-{}", std::process::id()));
            let file = File::options().create(true).read(true).write(true).truncate(true).open(&path);
            let _ = std::fs::remove_file(path);
            file.expect("a temporary file")
        });
        copy.set_len(0).expect("a temporary file");
        let file = copy.try_clone().expect("a descriptor");
        let mut writer = SectionWriter::create(file, abi, 4096, Codec::None).expect("a temporary file");
        trace.options.iter().for_each(|option| writer.option(option.id, option.data.clone()));
        writer.publish(&SpoolTable::default()).expect("a temporary file");
        drop(writer);
        let mut written = vec![0; copy.metadata().expect("a temporary file").len() as usize];
        copy.read_exact_at(&mut written, 0).expect("what was written");
        let again = Trace::open(written).expect("what was written can be read");
        assert_eq!(facts(&again), facts_read);
    }
}
