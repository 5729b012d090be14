//! The first and the last record of a CPU.

use super::batch::Head;
use super::stream::CpuStream;
use crate::base::units::Timestamp;
use crate::file::trace_dat::{Buffer, FileError, TimeOptions, Trace};
use std::ops::Range;

/// The times of a first and a last record, if there are any.
type Ends = Option<(Timestamp, Timestamp)>;

impl Trace {
    /// The times of the first and the last record of a CPU; `None` if it has none that can be read.
    ///
    /// Of sound data the first and the last chunk are read, and the headers of those between. Where any of these is damaged,
    /// all data is read: each damage goes to `damaged`.
    ///
    /// # Errors
    /// As [`Trace::stream`].
    pub fn span(
        &self,
        buffer: &Buffer,
        cpu: usize,
        time: &TimeOptions,
        damaged: &mut dyn FnMut(FileError),
    ) -> Result<Ends, FileError> {
        match self.sound_ends(buffer, cpu, time)? {
            Some(ends) => Ok(ends),
            None => Ok(ends(self.stream(buffer, cpu, time)?, damaged)),
        }
    }

    /// The same without looking at all data; `None` if some of what was looked at is damaged.
    fn sound_ends(&self, buffer: &Buffer, cpu: usize, time: &TimeOptions) -> Result<Option<Ends>, FileError> {
        let mut is_sound = true;
        let chunks = self.chunks(buffer, cpu, &mut |_| is_sound = false);
        if !is_sound {
            return Ok(None);
        }
        let mut first = None;
        let mut next = u64::MAX;
        // Chunks may hold no records.
        let mut ends_of = |range: Range<u64>| {
            let ends = ends(self.stream_of_chunks(buffer, cpu, time, range)?, &mut |_| is_sound = false);
            Ok::<Ends, FileError>(ends)
        };
        for (chunk, next) in chunks.iter().zip(chunks.iter().skip(1).map(|chunk| chunk.offset).chain([u64::MAX])) {
            first = ends_of(chunk.offset..next)?.map(|ends| ends.0);
            if first.is_some() {
                break;
            }
        }
        let mut last = None;
        for chunk in chunks.iter().rev().take_while(|_| first.is_some()) {
            last = ends_of(chunk.offset..next)?.map(|ends| ends.1);
            next = chunk.offset;
            if last.is_some() {
                break;
            }
        }
        Ok(is_sound.then_some(first.zip(last)))
    }
}

/// The first and the last record of what is left of `stream`.
fn ends(mut stream: CpuStream, damaged: &mut dyn FnMut(FileError)) -> Ends {
    let mut spare = Vec::new();
    let mut ends: Ends = None;
    loop {
        match stream.next(&mut spare) {
            Ok(Some(Head { item, .. })) => {
                let time = Timestamp(item.timestamp);
                ends = Some((ends.map_or(time, |ends| ends.0), time));
            }
            Ok(None) => return ends,
            Err(error) => damaged(error),
        }
    }
}
