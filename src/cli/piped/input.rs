//! `-` as the file to read: standard input. A recording is read back and forth, so what comes through a pipe is kept in
//! memory or, if it is large, in a temporary file without a name.

use super::unnamed::unnamed;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::note;
use anyhow::{Context, anyhow};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::isatty;
use rtrace::units::ByteSize;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Bytes of a pipe that are kept in memory.
const IN_MEMORY: u64 = 64 << 20;
/// Bytes of a pipe that are taken at all.
const MOST: u64 = 16 << 30;

/// The file that `path` means if that is standard input, or a pipe that a shell hands over as /dev/fd/N; `None` for any
/// other path.
pub(crate) fn open(path: &Path) -> Result<Option<File>, Failure> {
    let is_stdin = path == Path::new("-");
    let handed = ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"].iter().any(|at| path.to_string_lossy().starts_with(at));
    let is_pipe = |path: &Path| path.metadata().is_ok_and(|there| there.file_type().is_fifo());
    if !(is_stdin || handed && is_pipe(path)) {
        return Ok(None);
    }
    let failed = || {
        if is_stdin { "failed to read standard input".to_owned() } else { format!("failed to read {}", path.display()) }
    };
    let mut input = match is_stdin {
        true => File::from(io::stdin().as_fd().try_clone_to_owned().with_context(failed)?),
        false => File::open(path).with_context(failed)?,
    };
    if isatty(&input).unwrap_or(false) {
        let error = anyhow!("standard input is a terminal, not a recording");
        return Err(Failure::new(Exit::Usage, error).hint("`ssh host cat trace.dat | rtrace report -` reads one."));
    }
    if input.metadata().with_context(failed)?.is_file() {
        return Ok(Some(input));
    }
    let spooled = spool(&mut input, IN_MEMORY, MOST, &std::env::temp_dir()).with_context(failed)?;
    if is_stdin {
        // A second open finds all of it.
        nix::unistd::dup2_stdin(&spooled).with_context(failed)?;
    }
    Ok(Some(spooled))
}

/// All that comes from `input`, as a file: in memory up to `in_memory` bytes, beyond that in the directory `dir`.
fn spool(input: &mut impl Read, in_memory: u64, most: u64, dir: &Path) -> io::Result<File> {
    let mut spool = File::from(memfd_create(c"rtrace-pipe", MFdFlags::MFD_CLOEXEC)?);
    if io::copy(&mut input.by_ref().take(in_memory), &mut spool)? == in_memory {
        let mut file = unnamed(dir)?;
        spool.rewind()?;
        io::copy(&mut spool, &mut file)?;
        let rest = io::copy(&mut input.by_ref().take(most - in_memory), &mut file)?;
        let end = input.read(&mut [0])?;
        if end > 0 {
            let text = format!("it is longer than {}: write it to a file first", ByteSize(most));
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        if rest > 0 {
            let size = ByteSize(in_memory + rest);
            note!("rtrace: {size} from a pipe are kept in {} while they are read", dir.display());
        }
        spool = file;
    }
    spool.flush()?;
    spool.rewind()?;
    Ok(spool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_there_wherever_it_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        for length in [0, 1, 99, 100, 101, 300] {
            let bytes: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let mut kept = Vec::new();
            spool(&mut &bytes[..], 100, 300, dir.path()).unwrap().read_to_end(&mut kept).unwrap();
            assert_eq!(kept, bytes, "{length}");
        }
        let error = spool(&mut &[0; 301][..], 100, 300, dir.path()).unwrap_err();
        assert!(error.to_string().contains("longer than 300 B"), "{error}");
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }
}
