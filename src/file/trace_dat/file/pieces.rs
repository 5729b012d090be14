//! A spool in pieces, which is what a flight recorder keeps, read as one.
//!
//! The newest piece is the spool itself, `.trace.dat.cpu3.spool`. When it is full it becomes
//! `.trace.dat.cpu3.spool.NUMBER.SIZE`, where SIZE is how many of its bytes count, and a new one begins; the piece with
//! the lowest number is the oldest and the first to go.

use super::owned_dir::OwnedDir;
use crate::file::trace_dat::ReadAt;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// A full piece.
#[derive(Debug)]
pub(in crate::file::trace_dat) struct SpoolSegment {
    pub(in crate::file::trace_dat) number: u64,
    /// Number of its bytes that count.
    pub(in crate::file::trace_dat) size: u64,
    pub(in crate::file::trace_dat) name: String,
    pub(in crate::file::trace_dat) file: File,
}

/// The full pieces of the spool `name`, the oldest first.
pub(in crate::file::trace_dat) fn segments(dir: &OwnedDir, name: &str, write: bool) -> io::Result<Vec<SpoolSegment>> {
    let mut found = Vec::new();
    for piece in dir.names()? {
        let rest = piece.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        let numbers = rest.and_then(|rest| rest.split_once('.'));
        let Some((number, size)) = numbers.and_then(|(n, size)| Some((n.parse().ok()?, size.parse().ok()?))) else {
            continue;
        };
        let file = dir.open_file(&piece, write)?;
        found.push(SpoolSegment { number, size, name: piece, file });
    }
    found.sort_unstable_by_key(|s| (s.number, s.size));
    Ok(found)
}

/// True if pieces are missing between the oldest and the newest, or are shorter than their names say; `newest`: the spool
/// itself is there. Two with one number are one that was joined before and its own file.
pub(in crate::file::trace_dat) fn lack_some(pieces: &[SpoolSegment], newest: bool) -> io::Result<bool> {
    let is_next = |pair: &[SpoolSegment]| match pair {
        [one, next] => one.number == next.number || one.number.checked_add(1) == Some(next.number),
        _ => true,
    };
    for piece in pieces {
        if piece.file.metadata()?.len() < piece.size {
            return Ok(true);
        }
    }
    Ok(!pieces.windows(2).all(is_next) || (!newest && !pieces.is_empty()))
}

/// Several pieces as one spool: of the first all that counts, of the others what follows their headers.
struct JoinedPieces {
    /// Each with the offset of its first byte in the whole, the bytes of it that do not count there, and its end.
    pieces: Vec<(u64, u64, u64, File)>,
    size: u64,
}

impl ReadAt for JoinedPieces {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let at = self.pieces.partition_point(|piece| piece.0 <= offset).saturating_sub(1);
        let Some((start, header, end, file)) = self.pieces.get(at) else { return Ok(0) };
        let from = offset.saturating_sub(*start).saturating_add(*header);
        let most = usize::try_from(end.saturating_sub(from)).unwrap_or(usize::MAX).min(buf.len());
        ReadAt::read_at(file, buf.get_mut(..most).unwrap_or_default(), from)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }
}

/// Opens the spool `name`, whose pieces begin with headers of `header` bytes, and says whether pieces of it are missing.
/// `None` if none of it is there. Its recorder may go on meanwhile.
///
/// # Errors
/// As [`OwnedDir::open_file`].
pub(super) fn open_joined(dir: &OwnedDir, name: &str, header: u64) -> io::Result<Option<(Arc<dyn ReadAt>, bool)>> {
    let (mut pieces, newest) = open_pieces(dir, name)?;
    let lacks_some = lack_some(&pieces, newest.is_some())?;
    if pieces.is_empty() {
        return Ok(newest.map(|newest| (Arc::new(newest) as _, false)));
    }
    // Of two with one number the larger one, which is the second, holds all of the other.
    pieces.reverse();
    pieces.dedup_by_key(|piece| piece.number);
    let full = pieces.into_iter().rev().map(|piece| (piece.size, piece.file));
    let mut joined = JoinedPieces { pieces: Vec::new(), size: 0 };
    for (size, file) in full.chain(newest.map(|newest| (u64::MAX, newest))) {
        let size = size.min(file.metadata()?.len());
        let header = if joined.pieces.is_empty() { 0 } else { header };
        if size > header {
            joined.pieces.push((joined.size, header, size, file));
            joined.size = joined.size.saturating_add(size.saturating_sub(header));
        }
    }
    Ok(Some((Arc::new(joined), lacks_some)))
}

/// The full pieces and the newest one, as they were at one moment.
fn open_pieces(dir: &OwnedDir, name: &str) -> io::Result<(Vec<SpoolSegment>, Option<File>)> {
    /// No recorder takes pieces away as often as this looks.
    const TRIES: usize = 20;
    let newest = || match dir.open_file(name, false) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    };
    let numbers = |pieces: &[SpoolSegment]| pieces.iter().map(|piece| (piece.number, piece.size)).collect::<Vec<_>>();
    let mut found = Ok((Vec::new(), None));
    for _ in 0..TRIES {
        let once = || {
            let (pieces, newest) = (segments(dir, name, false)?, newest()?);
            let same = numbers(&segments(dir, name, false)?) == numbers(&pieces);
            Ok((same && (newest.is_some() || pieces.is_empty()), (pieces, newest)))
        };
        match once() {
            Ok((true, found)) => return Ok(found),
            Ok((false, changed)) => found = Ok(changed),
            Err(error) => found = Err(error),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn pieces_are_read_as_one_and_holes_are_noticed() {
        let place = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
        let read = || {
            let dir = OwnedDir::open(place.path(), nix::unistd::geteuid().as_raw()).unwrap();
            let (whole, lacks_some) = open_joined(&dir, "s.spool", 4).unwrap().unwrap();
            let mut bytes = Vec::new();
            let mut some = [0; 3];
            loop {
                match whole.read_at(&mut some, bytes.len() as u64).unwrap() {
                    0 => break,
                    len => bytes.extend_from_slice(&some[..len]),
                }
            }
            assert_eq!(bytes.len() as u64, whole.size().unwrap());
            (String::from_utf8(bytes).unwrap(), lacks_some)
        };
        put("s.spool", "hhhhC");
        assert_eq!(read(), ("hhhhC".to_owned(), false));
        put("s.spool.9.6", "hhhhAAtorn");
        put("s.spool.10.7", "hhhhBBB");
        put("s.spool.notes", "x");
        assert_eq!(read(), ("hhhhAABBBC".to_owned(), false));
        // A join that was killed: all up to the tenth, and the tenth.
        put("s.spool.10.9", "hhhhAABBB");
        fs::remove_file(place.path().join("s.spool.9.6")).unwrap();
        assert_eq!(read(), ("hhhhAABBBC".to_owned(), false));
        put("s.spool.12.5", "hhhhD");
        assert!(read().1, "the eleventh is missing");
        put("s.spool.11.8", "hh");
        assert!(read().1, "the eleventh is cut off");
        put("s.spool.11.8", "hhhhEEEE");
        assert_eq!(read(), ("hhhhAABBBEEEEDC".to_owned(), false));
        fs::remove_file(place.path().join("s.spool")).unwrap();
        assert!(read().1, "the newest is missing");
    }
}
