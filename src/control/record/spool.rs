//! A file that one CPU's sub-buffers go to while recording.
//!
//! Its bytes are those of the CPU's data in the finished file. Compressed: a `u32` chunk count, then the chunks; the
//! count is zero while recording, so a reader of a spool without its recorder counts the chunks. Uncompressed: the
//! sub-buffers. [`trace_dat::SectionWriter::finish`](crate::file::trace_dat::SectionWriter::finish) takes it from here.
//!
//! A flight recorder's spool is a few files: when the one that grows is an eighth of what may be kept, a new one is begun,
//! and before anything is written the oldest are removed until there is room for it.

use super::kept_tasks::KeptTasks;
use super::limits::SavedUntil;
use crate::file::trace_dat::write::SavedPiece;
use crate::file::trace_dat::{ChunkFacts, ChunkIndex, join_segments, segment_path};
use std::collections::{HashSet, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One CPU's growing file.
#[derive(Debug)]
pub struct Spool {
    file: File,
    path: PathBuf,
    chunked: bool,
    chunks: u32,
    /// Offset of the next chunk; everything before is complete.
    end: u64,
    /// Bytes of sub-buffers in the file.
    raw: u64,
    /// Events that [`Spool::note`] reported.
    events: u64,
    index: ChunkIndex,
    /// Those whose events are in the file, if anybody wants to know.
    tasks: HashSet<i32>,
    ring: Option<Box<SpoolRing>>,
    /// Data that somebody cut off.
    cut_off: Dropped,
}

/// Data that a flight recorder's spool no longer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Bytes of sub-buffers.
    pub bytes: u64,
    /// Events, of the chunks that were noted.
    pub events: u64,
}

/// A chunk that is not in the spool.
#[derive(Debug)]
pub struct AppendError {
    /// Why it is not.
    pub source: io::Error,
    /// Number of its bytes written by then: a chunk as small as that probably fits.
    pub room: u64,
}

/// The amount that a flight recorder keeps of one CPU.
#[derive(Clone, Debug, Default)]
pub struct Keep {
    /// Bytes on the disk; no bound if `None`.
    pub size: Option<u64>,
    /// Duration; no bound if `None`.
    pub time: Option<Duration>,
    /// Moment up to which all is in other files, and goes here.
    pub saved: Option<Arc<SavedUntil>>,
}

impl Keep {
    fn is_saved(&self, moment: Instant) -> bool {
        self.saved.as_ref().is_some_and(|saved| saved.reaches(moment))
    }
}

#[derive(Debug)]
struct SpoolRing {
    keep: Keep,
    kept: Option<Arc<KeptTasks>>,
    older: VecDeque<SpoolPiece>,
    /// The number of the next piece.
    next: u64,
    /// Time of the growing file's first byte.
    since: Option<Instant>,
    dropped: Dropped,
}

/// A full file of a flight recorder.
#[derive(Debug)]
struct SpoolPiece {
    path: PathBuf,
    size: u64,
    raw: u64,
    events: u64,
    chunks: u32,
    index: ChunkIndex,
    tasks: HashSet<i32>,
    until: Instant,
}

const COUNT: u64 = size_of::<u32>() as u64;
/// In how many pieces a flight recorder's data lies, so that the newest 7/8 of what may be kept are always there.
const PIECES: u32 = 8;

impl Spool {
    /// Creates the spool at `path`, which must not exist: no existing file is overwritten.
    ///
    /// # Errors
    /// The file system's error.
    pub fn create(path: &Path, chunked: bool) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        if chunked {
            file.write_all(&0u32.to_ne_bytes())?;
        }
        let end = if chunked { COUNT } else { 0 };
        Ok(Spool {
            file,
            path: path.to_owned(),
            chunked,
            chunks: 0,
            end,
            raw: 0,
            events: 0,
            index: if chunked { ChunkIndex::with_room() } else { ChunkIndex::default() },
            tasks: HashSet::new(),
            ring: None,
            cut_off: Dropped::default(),
        })
    }

    /// Goes on with `file`, the spool at `path`, after its first `end` bytes, which are whole chunks or sub-buffers. Counts
    /// and index are of what is appended from now on.
    pub fn resume(file: File, path: PathBuf, chunked: bool, end: u64) -> Self {
        let index = ChunkIndex::default();
        let end = end.max(if chunked { COUNT } else { 0 });
        let (tasks, cut_off) = (HashSet::new(), Dropped::default());
        Spool { file, path, chunked, chunks: 0, end, raw: 0, events: 0, index, tasks, ring: None, cut_off }
    }

    /// Makes it keep the newest only; `kept` is told of their tasks, and takes a part of the room for names.
    pub fn keep(mut self, keep: Keep, kept: Option<Arc<KeptTasks>>) -> Self {
        let (older, dropped) = (VecDeque::new(), Dropped::default());
        self.ring = Some(Box::new(SpoolRing { keep, kept, older, next: 0, since: None, dropped }));
        self
    }

    /// True if [`Spool::note_tasks`] is of use.
    pub(super) fn wants_tasks(&self) -> bool {
        self.ring.as_ref().is_some_and(|ring| ring.kept.is_some())
    }

    /// Notes whose events the chunk that was appended last holds.
    pub(super) fn note_tasks(&mut self, tasks: impl IntoIterator<Item = i32>) {
        let Some(kept) = self.ring.as_ref().and_then(|ring| ring.kept.as_ref()) else { return };
        let new: Vec<i32> = tasks.into_iter().filter(|task| self.tasks.insert(*task)).collect();
        kept.add(new);
    }

    #[cfg(test)]
    pub(crate) fn open_for_test(path: &str) -> io::Result<Self> {
        Ok(Self::resume(OpenOptions::new().write(true).open(path)?, PathBuf::from(path), true, COUNT))
    }

    /// Appends a chunk of `raw` bytes of sub-buffers; [`Spool::note`] says what it holds. When that fails half-way, the
    /// spool is cut back to its last complete chunk.
    ///
    /// # Errors
    /// The file system's error, above all `ENOSPC`.
    pub fn append(&mut self, chunk: &[u8], raw: u64) -> Result<(), AppendError> {
        let failed = |source, room| AppendError { source, room };
        self.notice_cut().map_err(|e| failed(e, 0))?;
        self.make_room(chunk.len() as u64).map_err(|e| failed(e, 0))?;
        let mut written = 0;
        while written < chunk.len() {
            let wrote = self.file.write_at(&chunk[written..], self.end + written as u64);
            match wrote {
                Ok(0) => return Err(self.cut_back(failed(io::ErrorKind::WriteZero.into(), written as u64))),
                Ok(len) => written += len,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.cut_back(failed(e, written as u64))),
            }
        }
        self.end += chunk.len() as u64;
        self.chunks += 1;
        self.raw += raw;
        Ok(())
    }

    /// Begins the growing file anew if somebody cut it off: what is left of it may end anywhere.
    fn notice_cut(&mut self) -> io::Result<()> {
        let there = self.file.metadata()?;
        if there.is_file() && there.len() < self.end {
            self.cut_off.bytes += std::mem::take(&mut self.raw);
            self.cut_off.events += std::mem::take(&mut self.events);
            (self.chunks, self.index) = (0, ChunkIndex::default());
            self.file.set_len(0)?;
            self.end = if self.chunked { COUNT } else { 0 };
            self.file.set_len(self.end)?;
        }
        Ok(())
    }

    fn cut_back(&self, error: AppendError) -> AppendError {
        let _ = self.file.set_len(self.end);
        error
    }

    /// Drops what a flight recorder need not keep any longer. For times when nothing is appended.
    ///
    /// # Errors
    /// The file system's error.
    pub fn drop_old(&mut self) -> io::Result<()> {
        self.make_room(0)
    }

    fn make_room(&mut self, len: u64) -> io::Result<()> {
        let empty = self.is_empty();
        let Some(ring) = &mut self.ring else { return Ok(()) };
        let now = Instant::now();
        let full = ring.keep.size.is_some_and(|size| self.end + len > size / u64::from(PIECES))
            || ring.keep.time.zip(ring.since).is_some_and(|(time, since)| now - since > time / PIECES)
            || ring.since.is_some_and(|since| ring.keep.is_saved(since));
        if full && !empty {
            let sealed = segment_path(&self.path, ring.next, self.end);
            fs::rename(&self.path, &sealed)?;
            let mut fresh = Spool::create(&self.path, self.chunked)?;
            let piece = SpoolPiece {
                path: sealed,
                size: self.end,
                raw: self.raw,
                events: self.events,
                chunks: self.chunks,
                index: std::mem::take(&mut self.index),
                tasks: std::mem::take(&mut self.tasks),
                until: now,
            };
            ring.older.push_back(piece);
            ring.next += 1;
            ring.since = None;
            (fresh.ring, fresh.cut_off) = (self.ring.take(), self.cut_off);
            *self = fresh;
        }
        let Some(ring) = &mut self.ring else { return Ok(()) };
        if len > 0 {
            ring.since.get_or_insert(now);
        }
        let names = ring.kept.as_ref().map_or(0, |kept| kept.reserved_of_each());
        let most = ring.keep.size.map(|size| size.saturating_sub(names));
        let mut held = self.end + len + ring.older.iter().map(|piece| piece.size).sum::<u64>();
        while let Some(oldest) = ring.older.front() {
            let too_large = most.is_some_and(|size| held > size);
            let too_old = ring.keep.time.is_some_and(|time| now - oldest.until > time);
            if !too_large && !too_old && !ring.keep.is_saved(oldest.until) {
                break;
            }
            match fs::remove_file(&oldest.path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
            held -= oldest.size;
            ring.dropped.bytes += oldest.raw;
            ring.dropped.events += oldest.events;
            let gone = ring.older.pop_front().map(|oldest| oldest.tasks);
            if let Some(kept) = &ring.kept {
                kept.remove(gone.into_iter().flatten());
            }
        }
        Ok(())
    }

    /// Its files as they are now, open for reading, the oldest first: later appends and removals do not change them.
    ///
    /// # Errors
    /// The file system's; `NotFound` if somebody removed one.
    pub(super) fn pieces(&self) -> io::Result<Vec<SavedPiece>> {
        let older = self.ring.iter().flat_map(|ring| &ring.older);
        let older = older.map(|piece| {
            Ok(SavedPiece { file: File::open(&piece.path)?, size: piece.size, index: piece.index.clone() })
        });
        let growing = self.file.try_clone().map(|file| SavedPiece { file, size: self.end, index: self.index.clone() });
        older.chain([growing]).collect()
    }

    /// Notes what the chunk that was appended last holds.
    pub fn note(&mut self, facts: Option<ChunkFacts>) {
        self.events += facts.and_then(|facts| facts.events).unwrap_or(0);
        if self.chunked {
            self.index.push(facts);
        }
    }

    /// Bytes of the section so far, the chunk count included.
    pub fn len(&self) -> u64 {
        let header = if self.chunked { COUNT } else { 0 };
        let older = self.ring.iter().flat_map(|ring| &ring.older).map(|piece| piece.size - header).sum::<u64>();
        self.end + older
    }

    /// True while nothing but the chunk count is in its growing file.
    pub fn is_empty(&self) -> bool {
        self.end <= if self.chunked { COUNT } else { 0 }
    }

    /// Data that was appended and dropped again.
    pub fn dropped(&self) -> Dropped {
        self.ring.as_ref().map_or(Dropped::default(), |ring| ring.dropped)
    }

    /// Takes out what somebody removed from the directory or cut off meanwhile: the growing file, or full files of a flight
    /// recorder. Returns what is gone with them.
    pub fn forget_removed(&mut self) -> Dropped {
        let _ = self.notice_cut(); // nothing can be said of it then
        let mut gone = std::mem::take(&mut self.cut_off);
        if let Some(ring) = &mut self.ring {
            ring.older.retain(|piece| {
                let there = fs::symlink_metadata(&piece.path).is_ok_and(|there| there.len() >= piece.size);
                if !there {
                    gone.bytes += piece.raw;
                    gone.events += piece.events;
                }
                there
            });
        }
        if !self.is_in_place() {
            gone.bytes += std::mem::take(&mut self.raw);
            gone.events += std::mem::take(&mut self.events);
            (self.chunks, self.index) = (0, ChunkIndex::default());
            self.end = if self.chunked { COUNT } else { 0 };
        }
        gone
    }

    /// False if somebody removed all of it.
    pub(super) fn is_there(&self) -> bool {
        self.is_in_place() || self.ring.as_ref().is_some_and(|ring| !ring.older.is_empty())
    }

    /// True if its path still names the file that is written.
    fn is_in_place(&self) -> bool {
        match (self.file.metadata(), fs::symlink_metadata(&self.path)) {
            (Ok(file), Ok(named)) => (file.dev(), file.ino()) == (named.dev(), named.ino()),
            (Err(_), _) => true, // then nothing can be said of it
            (Ok(_), Err(e)) => e.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Removes its files.
    pub fn remove(self) {
        let pieces = self.ring.iter().flat_map(|ring| &ring.older).map(|piece| &piece.path);
        for path in pieces.chain(self.is_in_place().then_some(&self.path)) {
            let _ = fs::remove_file(path);
        }
    }

    /// Makes one file of it; gives the bytes that count, the chunks they are, and what these hold as far as it was
    /// noted. The file stays, its chunk count unwritten.
    ///
    /// # Errors
    /// The file system's error; [`join_segments`] can do the rest later.
    pub fn into_counts(mut self) -> io::Result<(u64, u32, ChunkIndex)> {
        let (size, mut chunks) = (self.len(), self.chunks);
        let mut index = ChunkIndex::default();
        if let Some(ring) = &mut self.ring {
            chunks += ring.older.iter().map(|piece| piece.chunks).sum::<u32>();
            ring.older.iter_mut().for_each(|piece| index.append(std::mem::take(&mut piece.index)));
            join_segments(&self.path, if self.chunked { COUNT } else { 0 })?;
        }
        index.append(self.index);
        Ok((size, chunks, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::trace_dat::PidBloom;

    fn on_disk(dir: &Path) -> u64 {
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum()
    }

    #[test]
    fn a_ring_holds_the_newest_and_never_more_than_it_may() {
        let dir = tempfile::tempdir().unwrap();
        let keep = Keep { size: Some(800), ..Keep::default() };
        let mut spool = Spool::create(&dir.path().join("s"), true).unwrap().keep(keep, None);
        for n in 0..1000u32 {
            spool.append(&n.to_ne_bytes().repeat(5), 4096).unwrap();
            let (stored, first, tasks) = (20, 0, PidBloom::default());
            spool.note(Some(ChunkFacts { stored, first, events: Some(3), lost: 0, tasks }));
            assert!(on_disk(dir.path()) <= 800);
        }
        let dropped = spool.dropped();
        let (size, chunks, index) = spool.into_counts().unwrap();
        let kept: u64 = index.entries().iter().filter_map(|facts| facts.events).sum();
        assert_eq!((kept, kept + dropped.events), (3 * u64::from(chunks), 3000));
        let bytes = fs::read(dir.path().join("s")).unwrap();
        assert_eq!((bytes.len() as u64, u64::from(chunks) * 4096 + dropped.bytes), (size, 1000 * 4096));
        let numbers: Vec<u32> = bytes[4..].chunks(20).map(|c| u32::from_ne_bytes(c[..4].try_into().unwrap())).collect();
        assert_eq!(numbers, ((1000 - chunks)..1000).collect::<Vec<_>>());
        assert!(size >= 600, "{size} of 800 bytes kept");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_too_old_goes_also_when_nothing_comes() {
        let dir = tempfile::tempdir().unwrap();
        let keep = Keep { time: Some(Duration::from_millis(8)), ..Keep::default() };
        let mut spool = Spool::create(&dir.path().join("s"), false).unwrap().keep(keep, None);
        spool.append(b"old!", 4).unwrap();
        std::thread::sleep(Duration::from_millis(2));
        spool.drop_old().unwrap(); // begins a new piece
        assert_eq!(spool.len(), 4);
        std::thread::sleep(Duration::from_millis(10));
        spool.drop_old().unwrap();
        assert_eq!((spool.len(), spool.dropped().bytes), (0, 4));
        spool.append(b"new!", 4).unwrap();
        assert_eq!(spool.into_counts().unwrap(), (4, 1, ChunkIndex::default()));
        assert_eq!(fs::read(dir.path().join("s")).unwrap(), b"new!");
    }
    #[test]
    fn what_somebody_removed_no_longer_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let tasks = PidBloom::default();
        let facts = ChunkFacts { stored: 20, first: 0, events: Some(3), lost: 0, tasks };
        let mut spool = Spool::create(&path, true).unwrap().keep(Keep { size: Some(800), ..Keep::default() }, None);
        for n in 0..25u32 {
            spool.append(&n.to_ne_bytes().repeat(5), 4096).unwrap();
            spool.note(Some(facts));
        }
        assert_eq!(spool.forget_removed(), Dropped::default());
        // Its first full file has 4 chunks, the growing one has 1.
        let first =
            fs::read_dir(dir.path()).unwrap().flatten().find(|f| f.file_name().to_string_lossy().starts_with("s.0."));
        fs::remove_file(first.unwrap().path()).unwrap();
        assert_eq!(spool.forget_removed(), Dropped { bytes: 4 * 4096, events: 12 });
        fs::remove_file(&path).unwrap();
        fs::write(&path, "another's").unwrap();
        assert_eq!(spool.forget_removed(), Dropped { bytes: 4096, events: 3 });
        assert_eq!(spool.forget_removed(), Dropped::default());
        spool.remove();
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().flatten().map(|f| f.file_name()).collect();
        assert_eq!((left, fs::read_to_string(path).unwrap()), (vec!["s".into()], "another's".to_owned()));
    }

    #[test]
    fn what_somebody_cut_off_no_longer_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let facts = ChunkFacts { stored: 20, first: 0, events: Some(3), lost: 0, tasks: PidBloom::default() };
        let mut spool = Spool::create(&path, true).unwrap();
        let append = |spool: &mut Spool| {
            spool.append(&[7; 20], 4096).unwrap();
            spool.note(Some(facts));
        };
        append(&mut spool);
        append(&mut spool);
        File::options().write(true).open(&path).unwrap().set_len(30).unwrap();
        append(&mut spool);
        assert_eq!((spool.len(), spool.forget_removed()), (24, Dropped { bytes: 8192, events: 6 }));
        assert_eq!(spool.forget_removed(), Dropped::default());
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        assert_eq!(spool.forget_removed(), Dropped { bytes: 4096, events: 3 });
        let (size, chunks, index) = spool.into_counts().unwrap();
        assert_eq!((size, chunks, index.entries().len(), fs::read(&path).unwrap()), (4, 0, 0, vec![0; 4]));
    }
}
