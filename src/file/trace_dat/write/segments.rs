//! The pieces of a flight recorder's spool, made one spool again.

use super::assemble::copy;
use crate::file::trace_dat::file::owned_dir::OwnedDir;
use crate::file::trace_dat::file::pieces::{SpoolSegment, segments};
use nix::unistd::geteuid;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of a full piece of the spool `file`.
pub fn segment_path(file: &Path, number: u64, size: u64) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{number}.{size}"));
    name.into()
}

/// Makes the pieces of the spool at `path` one file of that name again, the oldest first; nothing happens if there are
/// none. `header` is the length of what stands before the data of each piece (the chunk count of compressed ones).
///
/// Killed half-way, it can be done again: what was joined already is under the name of its last piece, whose own file is
/// the shorter one of two with the same number.
///
/// # Errors
/// The file system's error.
pub fn join_segments(path: &Path, header: u64) -> io::Result<()> {
    let owner = path.symlink_metadata().map_or_else(|_| geteuid().as_raw(), |newest| newest.uid());
    let dir = OwnedDir::open(path.parent().unwrap_or(Path::new("")), owner)?;
    join_segments_in(&dir, &path.file_name().unwrap_or_default().to_string_lossy(), header).map(drop)
}

/// [`join_segments`] of the spool `name` in `dir`. Returns whether the oldest pieces are gone: a flight recorder discarded
/// them, or a former call joined them.
pub(super) fn join_segments_in(dir: &OwnedDir, name: &str, header: u64) -> io::Result<bool> {
    let mut pieces = segments(dir, name, true)?.into_iter();
    let Some(mut joined) = pieces.next() else { return Ok(false) };
    let lacks_oldest = joined.number > 0;
    for piece in pieces {
        if piece.number == joined.number {
            // Sorted by size within a number: this one holds all of the former.
            dir.remove(&joined.name, &joined.file)?;
            joined = piece;
            continue;
        }
        let size = append(&joined, &piece.file, piece.size, header)?;
        let renamed = segment_path(Path::new(name), piece.number, size).to_string_lossy().into_owned();
        dir.rename(&joined.name, &joined.file, &renamed)?;
        dir.remove(&piece.name, &piece.file)?;
        joined = SpoolSegment { number: piece.number, size, name: renamed, file: joined.file };
    }
    match dir.open_file(name, false) {
        Ok(newest) => append(&joined, &newest, newest.metadata()?.len(), header)?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => joined.size,
        Err(e) => return Err(e),
    };
    dir.rename(&joined.name, &joined.file, name)?;
    Ok(lacks_oldest)
}

/// Appends the data of `piece`, whose first `size` bytes count; returns the new size.
fn append(to: &SpoolSegment, piece: &File, size: u64, header: u64) -> io::Result<u64> {
    to.file.set_len(to.size)?;
    let len = size.min(piece.metadata()?.len()).saturating_sub(header);
    copy(piece, header, &to.file, to.size, len, &mut Vec::new())?;
    Ok(to.size.saturating_add(len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn make(dir: &Path, name: &str, text: &str) {
        fs::write(dir.join(name), text).unwrap();
    }

    #[test]
    fn pieces_become_one_spool_the_oldest_first() {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), "s.spool.9.6", "hhhhAAtorn");
        make(dir.path(), "s.spool.10.7", "hhhhBBB");
        make(dir.path(), "s.spool", "hhhhC");
        make(dir.path(), "s.spool.notes", "x");
        join_segments(&dir.path().join("s.spool"), 4).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("s.spool")).unwrap(), "hhhhAABBBC");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_join_that_was_killed_goes_on() {
        // Killed after the second piece was appended and the first had got its name, before the second was removed; and
        // between a piece's renaming and the making of the next.
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), "s.spool.2.9", "hhhhAABBB");
        make(dir.path(), "s.spool.2.7", "hhhhBBB");
        make(dir.path(), "s.spool.3.5", "hhhhC");
        join_segments(&dir.path().join("s.spool"), 4).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("s.spool")).unwrap(), "hhhhAABBBC");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn without_pieces_nothing_changes() {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), "s.spool", "hhhhC");
        join_segments(&dir.path().join("s.spool"), 4).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("s.spool")).unwrap(), "hhhhC");
    }
}
