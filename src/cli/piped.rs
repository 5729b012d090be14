//! `-` as the name of a file: standard input and standard output.
//!
//! `-` as the file to read: standard input. A recording is read back and forth, so what comes through a pipe is kept in
//! memory or, if it is large, in a temporary file without a name.
//!
//! `-` as the file to write: standard output. A recording is not written from its start to its end, so it is made in the
//! directory of temporary files (`TMPDIR`) and copied when it is complete.

use super::exit::{Exit, Failure};
use super::terminal::{note, say, stdout, stdout_is_terminal, take_stdout};
use anyhow::{Context, anyhow};
use nix::fcntl::{OFlag, open as open_file};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::Mode;
use nix::unistd::isatty;
use rtrace::units::ByteSize;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

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

/// Says that a pipe at standard input is not read, but `default`: a verdict might be taken for one on what comes through it.
pub(crate) fn tell_that_unread(default: &Path) {
    let input = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    if input.and_then(|input| input.metadata()).is_ok_and(|input| input.file_type().is_fifo()) {
        note!("rtrace: no FILE is named: {} is read; `-` is the pipe at standard input", default.display());
    }
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

/// True if `path` means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses to write a recording to standard output if that is a terminal, or if the command prints JSON there.
pub(crate) fn check(output: &Path, json: bool) -> Result<(), Failure> {
    let refuse = |what: &str, hint: &str| Err(Failure::new(Exit::Usage, anyhow!("{what}")).hint(hint));
    match is_stdout(output) {
        true if json => {
            let what = "the recording and the JSON cannot both go to standard output";
            refuse(what, "`-o FILE` names a file for the recording.")
        }
        true if stdout_is_terminal() => {
            let what = "a recording is not text: it is not written to a terminal";
            refuse(what, "`-o FILE` names a file; `> FILE` and `| COMMAND` take it from standard output.")
        }
        _ => Ok(()),
    }
}

/// The name of the file to write, for messages.
pub(crate) fn named(output: &Path) -> String {
    if is_stdout(output) { "standard output".to_owned() } else { output.display().to_string() }
}

/// Prints the answer of a command that wrote `output`: on standard error if that went to standard output.
pub(crate) fn say_of(output: &Path, text: &str) -> io::Result<()> {
    if is_stdout(output) {
        say(format_args!("{text}"));
        return Ok(());
    }
    stdout().lock().write_all(text.as_bytes())
}

/// A file without a name, for what is to go to standard output.
pub(crate) fn temporary() -> io::Result<File> {
    unnamed(&std::env::temp_dir())
}

/// The same beside `output`, for what is too much for memory while that is made.
pub(crate) fn temporary_beside(output: &Path) -> io::Result<File> {
    match output.parent() {
        _ if is_stdout(output) => temporary(),
        Some(dir) if !dir.as_os_str().is_empty() => unnamed(dir),
        _ => unnamed(Path::new(".")),
    }
}

/// Copies the file to standard output.
pub(crate) fn deliver(mut file: File) -> io::Result<()> {
    file.rewind()?;
    io::copy(&mut file, &mut stdout().lock()).map(drop)
}

/// A recording that is made in a directory of its own and goes to standard output. An undelivered one stays there.
pub(crate) struct Outgoing {
    dir: PathBuf,
    to: File,
}

impl Outgoing {
    /// Takes standard output away from all else, a traced command included, whose output goes to standard error then.
    /// `None` if `output` names a file.
    ///
    /// # Errors
    /// If no directory can be made.
    pub(crate) fn new(output: &Path) -> Result<Option<Self>, Failure> {
        if !is_stdout(output) {
            return Ok(None);
        }
        let template = std::env::temp_dir().join("rtrace-XXXXXX");
        let failed = || format!("failed to create {}", template.display());
        let dir = nix::unistd::mkdtemp(&template).with_context(failed)?;
        let to = take_stdout().context("failed to write to standard output")?;
        Ok(Some(Outgoing { dir, to }))
    }

    /// The recording's path.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.join("trace.dat")
    }

    /// Copies the complete recording to standard output, and removes it here.
    ///
    /// # Errors
    /// If not all of it was taken; then it stays, and the error says where.
    pub(crate) fn send(mut self) -> Result<(), Failure> {
        let path = self.path();
        let sent = File::open(&path).and_then(|mut file| io::copy(&mut file, &mut self.to));
        if let Err(error) = sent {
            // In words: a reader that went away is no success here, where nothing else holds the events.
            let error = anyhow!("failed to write the recording to standard output: {error}");
            let hint = format!("it is kept: `rtrace report {}` reads it.", path.display());
            return Err(Failure::new(Exit::Incomplete, error).hint(hint));
        }
        fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
        Ok(())
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.dir); // fails where something is left in it
    }
}

/// A new file without a name in `dir`, which is gone with this process.
fn unnamed(dir: &Path) -> io::Result<File> {
    let flags = OFlag::O_TMPFILE | OFlag::O_RDWR | OFlag::O_CLOEXEC;
    match open_file(dir, flags, Mode::S_IRUSR | Mode::S_IWUSR) {
        Ok(file) => Ok(file.into()),
        // File systems without such files.
        Err(_) => {
            let path: PathBuf = dir.join(format!(".rtrace-pipe-{}", std::process::id()));
            let file = File::options().read(true).write(true).create_new(true).open(&path)?;
            std::fs::remove_file(&path)?;
            Ok(file)
        }
    }
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
