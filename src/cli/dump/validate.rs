//! `rtrace dump --validate`: everything is read once, and mismatches are reported.

use crate::cli::terminal::note;
use rtrace::trace_dat::{FileError, TimeOptions, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// The contents of a file, sound or not, as a sentence; each defect goes to `defect`.
pub(super) fn validate(trace: &Trace, defect: &mut dyn FnMut(&FileError)) -> Result<String, FileError> {
    let formats = trace.formats();
    let known: BTreeSet<u16> = formats.map(|format| format.id.0).collect();
    let mut events = 0u64;
    let mut defects = trace.damage.len() as u64;
    let mut backwards = 0u64;
    let mut unknown: BTreeMap<u16, u64> = BTreeMap::new();
    let mut tell = |error: &FileError| {
        defects += 1;
        defect(error);
    };
    [&trace.kallsyms, &trace.btf].iter().filter_map(|lazy| lazy.get().err()).for_each(&mut tell);
    for buffer in &trace.buffers {
        for cpu in 0..buffer.cpus.len() {
            let mut stream = trace.stream(buffer, cpu, &TimeOptions { raw: true, ..TimeOptions::default() })?;
            let mut spare = Vec::new();
            let mut before = 0;
            loop {
                match stream.next(&mut spare) {
                    Ok(None) => break,
                    Err(error) => tell(&error),
                    Ok(Some(head)) => {
                        events += 1;
                        backwards += u64::from(head.item.timestamp < before);
                        before = head.item.timestamp;
                        // common_type comes first in every event of every kernel
                        let id = trace.abi.uint(stream.bytes(&head), 0, 2).unwrap_or(0) as u16;
                        if !known.contains(&id) {
                            *unknown.entry(id).or_default() += 1;
                        }
                    }
                }
            }
        }
    }
    for (id, count) in &unknown {
        note!("rtrace: {count} events have the id {id}, of which the file has no format");
    }
    if backwards > 0 {
        note!("rtrace: {backwards} events are older than the one before them on their CPU");
    }
    let sound = match defects {
        0 => "no defects".to_owned(),
        1 => "1 defect".to_owned(),
        n => format!("{n} defects"),
    };
    let buffers = trace.buffers.len();
    Ok(format!("{events} events in {buffers} buffers, {} options: {sound}", trace.options.len()))
}
