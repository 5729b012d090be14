//! `rtrace dump --validate`: everything is read once, and mismatches are reported.

use crate::cli::damage::DamageReport;
use crate::cli::terminal::note;
use rtrace::internal::trace_dat::{FileError, TimeOptions, Trace};
use rtrace::recording::{Notice, UnknownEvents};
use rtrace::units::{EventId, Timestamp, counted};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The contents of the file at `path`, sound or not, as a sentence; each defect goes to `damage`.
pub(super) fn validate(trace: &Trace, path: &Path, damage: &DamageReport) -> Result<String, FileError> {
    let known: BTreeSet<u16> = trace.formats().map(|format| format.id.0).collect();
    let mut events = 0u64;
    let mut backwards = 0u64;
    let mut unknown: BTreeMap<u16, UnknownEvents> = BTreeMap::new();
    let tell = |error: &(dyn std::error::Error + 'static)| damage.note(path, error);
    [&trace.kallsyms, &trace.btf].iter().filter_map(|lazy| lazy.get().err()).for_each(|error| tell(error));
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
                            let (first, cpu) = (Timestamp(head.item.timestamp), stream.cpu());
                            let none = UnknownEvents { recording: 0, id: EventId(id), count: 0, first, cpu };
                            let events = unknown.entry(id).or_insert(none);
                            events.count += 1;
                            (events.first, events.cpu) = (events.first, events.cpu).min((first, cpu));
                        }
                    }
                }
            }
        }
    }
    for events in unknown.into_values() {
        damage.notice(|_| path, &Notice::Unknown(events));
    }
    damage.unfinished(path, trace);
    if backwards > 0 {
        note!("rtrace: {} older than the one before on the same CPU", counted(backwards, "event"));
    }
    // As many as were named: of a file that was cut off one stands for all beyond.
    let defects = damage.places();
    let sound = if defects == 0 { "no defects".to_owned() } else { counted(defects, "defect") };
    let (events, buffers) = (counted(events, "event"), counted(trace.buffers.len() as u64, "buffer"));
    Ok(format!("{events} in {buffers}, {}: {sound}", counted(trace.options.len() as u64, "option")))
}
