//! `--rotate`: files that follow each other without a gap, while one recording goes on.
//!
//! Each is a save that begins where the one before it ended. A save that fails leaves its part to the next one.

use super::limits::{Rotate, SavedUntil};
use super::saver::SaveFrom;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two looks at how much was recorded.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Time before a save was asked for to which everything is in it for certain.
const MARGIN: Duration = Duration::from_millis(10);

/// The files so far.
#[derive(Debug)]
pub(super) struct Rotation {
    each: Rotate,
    since: Instant,
    /// Bytes that had been written to the spools when the last file was begun.
    written: u64,
    /// The end of the last one in each buffer.
    from: Vec<u64>,
    making: Option<Making>,
    saved: Arc<SavedUntil>,
}

#[derive(Debug)]
struct Making {
    asked: Instant,
    ends: Vec<u64>,
}

impl Rotation {
    /// Before the first; `saved` learns what is in files.
    pub(super) fn new(each: Rotate, saved: Arc<SavedUntil>) -> Self {
        Rotation { each, since: Instant::now(), written: 0, from: Vec::new(), making: None, saved }
    }

    /// The first file begins at `since`.
    pub(super) fn begin_at(&mut self, since: Instant) {
        self.since = since;
    }

    /// The next look at whether a file is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.each {
            _ if self.making.is_some() => None,
            Rotate::Every(time) => Some(self.since + time),
            Rotate::Size(_) => Some(Instant::now() + LOOK_EVERY),
        }
    }

    /// True while a file is being made.
    pub(super) fn is_making(&self) -> bool {
        self.making.is_some()
    }

    /// True if a file is due when `written` bytes have been given to the spools.
    pub(super) fn is_due(&self, written: u64) -> bool {
        self.making.is_none()
            && match self.each {
                Rotate::Every(time) => self.since.elapsed() >= time,
                Rotate::Size(size) => written.saturating_sub(self.written) >= size.0,
            }
    }

    /// Begins a file that ends at `ends` of the buffers' clocks, which were read after `asked`.
    pub(super) fn begin(&mut self, asked: Instant, written: u64, ends: Vec<u64>) -> SaveFrom {
        // On the grid of the times, whatever a save takes.
        self.since = match self.each {
            Rotate::Every(time) if self.since + 2 * time > asked => self.since + time,
            _ => asked,
        };
        self.written = written;
        self.making = Some(Making { asked, ends });
        SaveFrom::Times(self.from.clone())
    }

    /// The file that was begun is made, or failed.
    pub(super) fn end(&mut self, made: bool) {
        if let Some(Making { asked, ends }) = self.making.take()
            && made
        {
            self.from = ends;
            self.saved.set(asked.checked_sub(MARGIN).unwrap_or(asked));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::ByteSize;

    #[test]
    fn a_file_begins_where_the_last_one_that_was_made_ends() {
        let saved = Arc::new(SavedUntil::default());
        let mut files = Rotation::new(Rotate::Size(ByteSize(100)), Arc::clone(&saved));
        assert!(!files.is_due(99) && files.is_due(100));
        let asked = Instant::now() + Duration::from_secs(1);
        assert_eq!(files.begin(asked, 100, vec![7, 8]), SaveFrom::Times(vec![]));
        assert!(!files.is_due(1000), "one at a time");
        files.end(true);
        assert!(saved.reaches(asked - MARGIN) && !saved.reaches(asked));
        assert!(!files.is_due(199) && files.is_due(200));
        assert_eq!(files.begin(asked, 200, vec![9, 9]), SaveFrom::Times(vec![7, 8]));
        files.end(false);
        assert_eq!(files.begin(asked, 300, vec![10, 10]), SaveFrom::Times(vec![7, 8]), "that one failed");
    }
}
