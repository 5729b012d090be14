//! Files to be rewritten: opened for reading, made beside their place and put there when they are complete.

use super::damage::was_killed;
use super::exit::{Exit, Failure};
use super::foreign;
use super::hints::{GivenLine, no_file};
use super::piped;
use super::unfinished::UnfinishedPath;
use crate::cli::terminal::note;
use anyhow::{Context, anyhow};
use nix::unistd::{getegid, geteuid};
use rtrace::internal::safe_file::{PRIVATE, open_seekable};
use rtrace::internal::trace_dat::{FileError, OpenErrorCause, ReadAt, Trace, is_recording};
use rtrace::recording::Recording;
use std::fs::File;
use std::io;
use std::num::NonZero;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The recording that is read if none is named, and written by `record`.
const DEFAULT: &str = "trace.dat";

/// Opens a trace file, and of an unfinished recording the spools beside it.
pub(crate) fn open(path: &Path) -> Result<Trace, Failure> {
    let (file, mut trace) = open_as(path, Trace::open)?;
    attach_siblings(&mut trace, path, &file)?;
    Ok(trace)
}

/// A recording with its symbols, the same way for every command that decodes events.
pub(crate) fn open_recording(path: &Path) -> Result<Recording, Failure> {
    open_recording_with(path, None, false)
}

/// The same; `kallsyms` stands in for the symbols it holds. With `ahead`, symbols are read while formats are parsed.
pub(crate) fn open_recording_with(path: &Path, kallsyms: Option<&Path>, ahead: bool) -> Result<Recording, Failure> {
    open_recording_through(path, kallsyms, ahead, |file| file)
}

/// The same; the file is read as `wrap` gives it.
pub(crate) fn open_recording_through<R: ReadAt + 'static>(
    path: &Path,
    kallsyms: Option<&Path>,
    ahead: bool,
    wrap: impl FnOnce(File) -> R,
) -> Result<Recording, Failure> {
    // With few events, which may name no function, another thread costs more than it saves.
    const FEW: u64 = 2 << 20;
    let (file, mut trace) = open_as(path, |file| {
        let ahead = ahead && file.metadata().is_ok_and(|there| there.len() > FEW);
        Trace::open_lazily(wrap(file), ahead)
    })?;
    if attach_siblings(&mut trace, path, &file)? && !was_killed(path, &trace) {
        note!("rtrace: {}: being recorded; showing what is there so far", path.display());
    }
    if let Some(path) = kallsyms {
        let text = std::fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
        trace.kallsyms = text.into();
    }
    Ok(resolved(trace, path))
}

fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|of| of.file_type().is_fifo())
}

/// The failure to find a recording at `path`.
pub(super) fn not_found(path: &Path, error: io::Error) -> Failure {
    let failure = Failure::from(anyhow::Error::from(error).context(format!("failed to read {}", path.display())));
    match path == Path::new(DEFAULT) {
        true if is_pipe(Path::new("/dev/stdin")) => {
            failure.hint("standard input is a pipe: `-` in the place of FILE reads it, as in `rtrace report -`.")
        }
        true => {
            let line = GivenLine::of_this();
            let taken = line.recording().and_then(|file| Some((file, line.flag_before(file)?)));
            failure.hint(match taken {
                Some((file, option)) => {
                    format!("`{file}` was taken as the value of `{option}`, which needs one before it.")
                }
                None => "`rtrace record -e sched -- CMD` makes one; `-i FILE` names another file.".to_owned(),
            })
        }
        false => {
            let hint = no_file(&path.to_string_lossy(), &GivenLine::of_this()).or_else(|| foreign::beside(path));
            hint.into_iter().fold(failure, Failure::hint)
        }
    }
}

fn open_as(path: &Path, read: impl FnOnce(File) -> Result<Trace, FileError>) -> Result<(File, Trace), Failure> {
    let failed = || format!("failed to read {}", path.display());
    let file = match piped::open(path)? {
        Some(spooled) => Ok(spooled),
        None => open_seekable(path),
    };
    let file = match file {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(not_found(path, error)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(Failure::from(anyhow::Error::from(error).context(failed()))
                .hint("a recording is its maker's alone: read it with sudo, or `sudo chown $USER FILE` first."));
        }
        Err(error) => {
            return Err(foreign::folder(path).unwrap_or_else(|| anyhow::Error::from(error).context(failed()).into()));
        }
        Ok(file) => file,
    };
    match read(file.try_clone().with_context(failed)?) {
        Ok(trace) => Ok((file, trace)),
        Err(error) => {
            let foreign = if error.is_foreign() { foreign::failure(path, &file) } else { None };
            Err(foreign.unwrap_or_else(|| anyhow::Error::from(error).context(failed()).into()))
        }
    }
}

/// The file at `path` with its symbols; notes where they are of another boot.
fn resolved(trace: Trace, path: &Path) -> Recording {
    let recording = Recording::from(trace);
    if let Some(buffer) = recording.symbols_of_buffer() {
        let (path, buffer) = (path.display(), if buffer.is_empty() { "the top buffer" } else { buffer });
        note!("rtrace: {path}: functions are named as of {buffer}: other buffers hold events of another boot");
    }
    recording
}

/// Adds what lies beside the recording at `path`, open as `file`, if it is unfinished; returns whether it is.
fn attach_siblings(trace: &mut Trace, path: &Path, file: &File) -> Result<bool, Failure> {
    trace.attach_siblings(path, file).map_err(|cause| match cause {
        OpenErrorCause::HalfFinished => Failure::new(Exit::Incomplete, anyhow!("{}: {cause}", path.display()))
            .hint(format!("`rtrace recover {}` finishes it; nothing is lost.", path.display())),
        cause => anyhow::Error::from(cause).context(format!("failed to read {}", path.display())).into(),
    })
}

/// The file that a command reads: `-i FILE`, or the last argument.
#[derive(clap::Args)]
pub(crate) struct InputArg {
    /// File to read; `-` is standard input [default: trace.dat]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "input")]
    file: Option<PathBuf>,
    /// The same, as trace-cmd has it
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
}

impl InputArg {
    pub(crate) fn path(&self) -> &Path {
        self.input.as_ref().or(self.file.as_ref()).map_or(Path::new(DEFAULT), PathBuf::as_path)
    }
}

/// Number of threads to read a recording with: one per CPU.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Number of threads for the events of recordings: as many as are `wanted`, else one per CPU, and one for so few events that
/// starting another one costs more than it saves.
pub(crate) fn threads_for<'t>(wanted: Option<NonZero<usize>>, traces: impl IntoIterator<Item = &'t Trace>) -> usize {
    const FEW: u64 = 512 << 10;
    let cpus = traces.into_iter().flat_map(|trace| &trace.buffers).flat_map(|buffer| &buffer.cpus);
    let stored = cpus.map(|cpu| cpu.size).fold(0, u64::saturating_add);
    wanted.map_or_else(|| if stored < FEW { 1 } else { threads() }, NonZero::get)
}

/// Permission to overwrite a file that is in the way.
#[derive(clap::Args, Clone, Copy, Default)]
pub(crate) struct Overwrite {
    /// Overwrite the file to write if there is one
    #[arg(long)]
    force: bool,
}

impl Overwrite {
    /// The file is to be written anew.
    pub(crate) const FORCE: Overwrite = Overwrite { force: true };

    /// Refuses what is not to be overwritten: any file without `--force`, and whatever is not a file.
    pub(crate) fn check(self, path: &Path) -> Result<(), Failure> {
        if piped::is_stdout(path) {
            return Ok(());
        }
        match path.symlink_metadata() {
            Err(_) => Ok(()), // making it says why not
            Ok(there) if !there.is_file() && !there.is_symlink() => Err(Failure::new(
                Exit::Failed,
                anyhow!("failed to create {}: it is not a regular file", path.display()),
            )),
            // One that is to be read, and no other file is named.
            Ok(_) if !self.force && is_recording(path) => {
                Err(Failure::new(Exit::Usage, anyhow!("{} exists already, and is a recording", path.display()))
                    .hint("`-o FILE` names the file to write; `--force` loses this recording."))
            }
            Ok(_) if !self.force => Err(Failure::new(Exit::Usage, anyhow!("{} exists already", path.display())).hint(
                match is_of_stdout(path) {
                    true => "the shell has just made it: `-o -` writes to standard output.",
                    false => "`--force` overwrites it; another name leaves it.",
                },
            )),
            Ok(_) => Ok(()),
        }
    }
}

/// True if that is the file to which the shell leads standard output.
fn is_of_stdout(path: &Path) -> bool {
    let id = |of: std::fs::Metadata| (of.dev(), of.ino());
    let stdout = Path::new("/dev/stdout").metadata();
    path.metadata().is_ok_and(|own| stdout.is_ok_and(|stdout| id(own) == id(stdout)))
}

/// The mode for what is made of the recording at `input`: it gives no more away than that file does. Bits of a group
/// mean something else for a file of another group.
pub(crate) fn mode_like(input: &Path) -> u32 {
    const OWNER: u32 = 0o600;
    let Ok(input) = input.metadata() else { return PRIVATE };
    let same = input.uid() == geteuid().as_raw() && input.gid() == getegid().as_raw();
    let others = input.mode() & 0o006;
    if same { OWNER | input.mode() & 0o066 } else { OWNER | others << 3 | others }
}

/// A file being made; dropped before [`OutputFile::keep`] it leaves nothing.
pub(crate) struct OutputFile {
    path: PathBuf,
    temporary: Temporary,
    overwrite: Overwrite,
}

/// The place of a file until it is complete.
enum Temporary {
    /// Beside its path, to be renamed.
    Beside(UnfinishedPath),
    /// Nowhere, to be copied to standard output.
    Unnamed(File),
    /// It is in its place.
    Kept,
}

impl OutputFile {
    /// Makes an empty file that will be `path`, with `mode` less the umask.
    pub(crate) fn new(path: &Path, mode: u32, overwrite: Overwrite) -> Result<(Self, File), Failure> {
        let failed = || format!("failed to create {}", path.display());
        let made = |temporary| OutputFile { path: path.to_owned(), temporary, overwrite };
        if piped::is_stdout(path) {
            let file = piped::temporary().with_context(failed)?;
            return Ok((made(Temporary::Unnamed(file.try_clone().with_context(failed)?)), file));
        }
        overwrite.check(path)?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let (temporary, file) = UnfinishedPath::new(|| {
            let file = File::options().read(true).write(true).create_new(true).mode(mode).open(&temporary)?;
            Ok((temporary, file))
        })
        .with_context(failed)?;
        Ok((made(Temporary::Beside(temporary)), file))
    }

    /// Puts it in its place.
    pub(crate) fn keep(mut self) -> Result<(), Failure> {
        if let Temporary::Beside(temporary) = &self.temporary {
            self.overwrite.check(&self.path)?;
            temporary
                .change(|| std::fs::rename(temporary.path(), &self.path))
                .with_context(|| format!("failed to create {}", self.path.display()))?;
        }
        if let Temporary::Unnamed(file) = std::mem::replace(&mut self.temporary, Temporary::Kept) {
            piped::deliver(file)?;
        }
        Ok(())
    }

    /// Puts it in another place, of the same directory.
    pub(crate) fn keep_as(mut self, path: &Path) -> Result<(), Failure> {
        self.path = path.to_owned();
        self.keep()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Temporary::Beside(temporary) = &self.temporary {
            let _ = std::fs::remove_file(temporary.path());
        }
    }
}
