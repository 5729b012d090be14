//! Checksums of all but the events in files of ours: no byte of that can be changed unseen.

use crate::common::recording::{data, open, record};
use crate::common::synthetic::fork_storm;
use rtrace::internal::trace_dat::write::Version;
use rtrace::internal::trace_dat::{Codec, OptionId, SectionId, Trace};
use std::ops::Range;
use std::path::Path;

/// A file that was recorded and one that was written front to back, with each codec.
fn files(check: impl Fn(&str, &Path)) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.dat");
    for codec in [Codec::None, Codec::Zlib, Codec::Zstd] {
        for from in ["s390x/inst.dat", "i386/kprobe.dat"] {
            let stopped = record(&open(&data(from)), &path, codec, 2);
            stopped.writer.finish(&stopped.buffers, &stopped.spools).unwrap();
            check(&format!("{from} recorded with {codec:?}"), &path);
        }
        fork_storm(2, 100, 10, 1).write(&path, Version::V7(codec));
        check(&format!("a storm written with {codec:?}"), &path);
    }
}

/// All bytes but the ring buffers' data.
fn covered(trace: &Trace, len: usize) -> Vec<Range<usize>> {
    let prefix = 0..trace.prefix.options.unwrap().0 as usize + 8;
    let mut found = Vec::from([prefix]);
    for section in trace.sections() {
        let body = section.offset as usize + 16;
        let size = if section.id == SectionId::BUFFER { 0 } else { section.size as usize };
        found.push(section.offset as usize..(body + size).min(len));
    }
    found
}

#[test]
fn every_changed_byte_is_noticed() {
    files(|name, path| {
        let trace = open(path);
        assert!(trace.option(OptionId::RTRACE_SUMS).is_some(), "{name}: it has checksums");
        let whole = std::fs::read(path).unwrap();
        for range in covered(&trace, whole.len()) {
            // Long texts in steps: all of their bytes are alike.
            let step = range.len() / 150 + 1;
            for at in range.step_by(step) {
                let mut changed = whole.clone();
                changed[at] ^= 1 << (at % 8);
                if let Ok(trace) = Trace::open(changed) {
                    let near = &whole[at.saturating_sub(16)..whole.len().min(at + 16)];
                    assert!(
                        !trace.damage.is_empty(),
                        "{name}: bit {} of byte {at:#x} changed unseen, in {:?}",
                        at % 8,
                        near.escape_ascii().to_string()
                    );
                }
            }
        }
    });
}

#[test]
fn what_was_changed_is_named() {
    files(|name, path| {
        let (trace, mut whole) = (open(path), std::fs::read(path).unwrap());
        let clock = trace.option(OptionId::TRACECLOCK).unwrap_or_else(|| panic!("{name} has a clock"));
        let at = clock.offset as usize + 6;
        let letter = at + clock.data.iter().position(|byte| *byte == b'l').expect("a clock with an l");
        whole[letter] = b'L';
        let changed = Trace::open(whole).unwrap();
        let [damage] = &changed.damage[..] else { panic!("{name}: {:?}", changed.damage) };
        let said = damage.to_string();
        assert!(said.starts_with("section 0 (options) at 0x") && said.contains("does not match"), "{name}: {said}");
    });
}
