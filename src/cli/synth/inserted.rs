//! Synthetic events beside the events that they are made of, in a recording.

use crate::cli::convert::{ALL, RecordingCopy, write_edited};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::Answered;
use crate::cli::piped::{named, say_of};
use crate::cli::trace_file::{Overwrite, open};
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::write::{Edit, StoredRecord};
use rtrace::units::{CpuId, Timestamp, counted, grouped};
use std::collections::{HashMap, VecDeque};
use std::path::Path;

/// Events of one synthetic event, to be put into a copy of the recording that they were made of.
pub(super) struct Inserted {
    format: EventFormat,
    /// The buffer whose events they are made of.
    buffer: usize,
    count: u64,
    /// By CPU, in the order of time.
    records: HashMap<CpuId, VecDeque<(Timestamp, Vec<u8>)>>,
}

impl Inserted {
    /// The events that the triggers of a recording fired.
    pub(super) fn of(answered: &Answered<'_>) -> Option<Self> {
        let (input, buffer) = answered.of?;
        let format = answered.findings.synthetic().first()?.readable_format();
        let buffer = input.trace.buffers.iter().position(|other| std::ptr::eq(other, buffer))?;
        let mut inserted = Inserted { format, buffer, count: 0, records: HashMap::new() };
        for record in answered.findings.fired() {
            inserted.count += 1;
            inserted.records.entry(record.cpu).or_default().push_back((record.timestamp, record.data.to_vec()));
        }
        Some(inserted)
    }

    /// Writes the recording at the first path with them to the second. `exit`: that of the first look at the recording.
    pub(super) fn write(mut self, paths: (&Path, &Path), overwrite: Overwrite, exit: Exit) -> Result<Exit, Failure> {
        let mut trace = open(paths.0)?;
        // An event of that name may have been recorded: this one is described beside it, by its own number.
        trace.event_formats.push(self.format.clone());
        let damage = DamageReport::of(paths.0, &trace);
        let (name, count) = (self.format.name.clone(), self.count);
        let copy = RecordingCopy {
            version: RecordingCopy::version_of(&trace),
            overwrite,
            slice: ALL,
            cpus: None,
            selection: None,
            edit: Some(&mut self),
        };
        let done = write_edited(&trace, paths, copy, &damage).and_then(|events| {
            let (made, events, count) = (named(paths.1), counted(events, "event"), grouped(count));
            Ok(say_of(paths.1, &format!("{made}: {events}, {count} of them synthetic:{name}\n"))?)
        });
        let of_copy = damage.outcome(done)?;
        Ok(if exit == Exit::Success { of_copy } else { exit })
    }
}

impl Edit for Inserted {
    fn keeps(&mut self, _: &StoredRecord<'_>) -> bool {
        true
    }

    fn after(&mut self, record: &StoredRecord<'_>, put: &mut dyn FnMut(&[u8])) {
        if record.stream.0 != self.buffer {
            return;
        }
        let Some(waiting) = self.records.get_mut(&record.cpu) else { return };
        while waiting.front().is_some_and(|(time, _)| *time <= record.timestamp) {
            let Some((_, data)) = waiting.pop_front() else { return };
            put(&data);
        }
    }
}
