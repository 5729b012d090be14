//! The files beside an unfinished recording that belong to it: spools, the names of tasks, and their cgroups.
//!
//! They are hidden: their names begin with a dot and the recording's. Those of recorders of before that have no dot, and are
//! found where there are no hidden ones.
//!
//! Their names are computed from the present name of the recording, and never taken from its content: a recording may
//! come from anybody. One that was renamed after its recorder died has to be renamed together with its spools.

use super::owned_dir::OwnedDir;
use super::pieces::open_joined;
use crate::base::units::CpuId;
use crate::file::trace_dat::ReadAt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Size of the chunk count at the start of a compressed spool, in bytes.
pub(in crate::file::trace_dat) const COUNT: u64 = size_of::<u32>() as u64;
/// More bytes of names of tasks, or of their cgroups, than any recorder writes.
const MOST_TEXT: u64 = 256 << 20;

/// The directory of a recording, and its name there.
#[derive(Debug)]
pub struct Siblings {
    pub(in crate::file::trace_dat) dir: OwnedDir,
    name: String,
    /// The beginning of the siblings' names: the recording's, with a dot in front but for files of former recorders.
    stem: String,
}

impl Siblings {
    /// The siblings of the recording at `path`, which is open as `recording`. Only files of the recording's owner are used.
    ///
    /// # Errors
    /// The file system's error; [`io::ErrorKind::PermissionDenied`] if `path` is another file by now.
    pub fn of(path: &Path, recording: &File) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        let dir = OwnedDir::open(dir, recording.metadata()?.uid())?;
        if !same_file(&path, recording)? {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "another file has taken its name"));
        }
        let name = name.to_string_lossy().into_owned();
        let stem = if has_former(&dir, &name) { name.clone() } else { hidden(&name) };
        Ok(Siblings { dir, name, stem })
    }

    /// The name of the recording.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the spool of `cpu` of an instance; `buffer` is empty for the top one.
    pub fn spool_name(&self, buffer: &str, cpu: CpuId) -> String {
        self.stem.clone() + &spool_suffix(buffer, cpu)
    }

    /// Expected path of the spool of `cpu`.
    pub fn spool_path(&self, buffer: &str, cpu: CpuId) -> PathBuf {
        self.dir.path_of(&self.spool_name(buffer, cpu))
    }

    /// Opens a spool; `None` if there is none.
    ///
    /// # Errors
    /// [`io::ErrorKind::PermissionDenied`] if what has its name is not a regular file of the recording's owner, or
    /// belongs to another recording.
    pub fn open_spool(&self, buffer: &str, cpu: CpuId, write: bool) -> io::Result<Option<File>> {
        self.must_be_own(buffer)?;
        if_there(self.dir.open_file(&self.spool_name(buffer, cpu), write))
    }

    /// Opens a spool for reading, and all its pieces as one if it has some, each with a header of `header` bytes; says
    /// whether pieces of it are missing. `None` if there is none.
    ///
    /// # Errors
    /// The error of opening it, as [`Siblings::open_spool`] has it.
    pub(in crate::file::trace_dat) fn open_joined(
        &self,
        buffer: &str,
        cpu: CpuId,
        header: u64,
    ) -> io::Result<Option<(Arc<dyn ReadAt>, bool)>> {
        self.must_be_own(buffer)?;
        open_joined(&self.dir, &self.spool_name(buffer, cpu), header)
    }

    fn must_be_own(&self, buffer: &str) -> io::Result<()> {
        let why = "another recording of that name lies beside this one, and the spool is that one's";
        let refused = || io::Error::new(io::ErrorKind::PermissionDenied, why);
        if self.is_of_another(buffer) { Err(refused()) } else { Ok(()) }
    }

    /// The lines `pid comm` that were learnt while recording, up to the last whole one; empty if there are none.
    ///
    /// # Errors
    /// The error of opening it, as [`Siblings::open_spool`] has it.
    pub fn comms(&self) -> io::Result<Vec<u8>> {
        self.whole_lines(&self.comms_name())
    }

    /// The cgroups of tasks so far, as [`Cgroups::of_spool`](super::Cgroups::of_spool) reads them; empty if there are none.
    ///
    /// # Errors
    /// The error of opening it, as [`Siblings::open_spool`] has it.
    pub fn cgroups(&self) -> io::Result<Vec<u8>> {
        self.whole_lines(&self.cgroups_name())
    }

    /// The lines of a text, up to the last whole one; empty if it is not there.
    fn whole_lines(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut lines = Vec::new();
        if let Some(file) = if_there(self.dir.open_file(name, false))? {
            file.take(MOST_TEXT).read_to_end(&mut lines)?;
        }
        let unfinished = lines.rsplit(|&b| b == b'\n').next().map_or(0, <[u8]>::len);
        lines.truncate(lines.len().saturating_sub(unfinished));
        Ok(lines)
    }

    /// The path of a file that a recorder has left beside the recording, if there is any: a spool or names of tasks.
    pub fn any_spool(&self) -> Option<PathBuf> {
        let texts = [self.comms_name(), self.cgroups_name()];
        let is_ours = |name: &String| {
            texts.contains(name) || self.buffer_of(name).is_some_and(|buffer| !self.is_of_another(buffer))
        };
        self.dir.names().unwrap_or_default().into_iter().filter(is_ours).min().map(|name| self.dir.path_of(&name))
    }

    /// The name of the file with the names of tasks.
    pub(in crate::file::trace_dat) fn comms_name(&self) -> String {
        self.stem.clone() + COMMS
    }

    /// The name of the file with the cgroups of tasks.
    pub(in crate::file::trace_dat) fn cgroups_name(&self) -> String {
        self.stem.clone() + CGROUPS
    }

    /// Removes the files of [`Siblings::comms`] and [`Siblings::cgroups`]; those that are not the recording's stay.
    pub(in crate::file::trace_dat) fn remove_texts(&self) {
        for name in [self.comms_name(), self.cgroups_name()] {
            if let Ok(file) = self.dir.open_file(&name, false) {
                let _ = self.dir.remove(&name, &file);
            }
        }
    }

    /// Removes what a recorder killed after its last write to the file had still to remove: the emptied spools, and the
    /// names of tasks, which are in the file. So is what one leaves that was killed before its file named the spools. A
    /// spool that holds more than its chunk count stays.
    pub(in crate::file::trace_dat) fn remove_leftovers(&self) {
        for name in self.dir.names().unwrap_or_default() {
            let Some(buffer) = self.buffer_of(&name).filter(|buffer| !self.is_of_another(buffer)) else { continue };
            debug_assert!(!buffer.contains('/'));
            let Ok(file) = self.dir.open_file(&name, false) else { continue };
            if file.metadata().is_ok_and(|metadata| metadata.len() <= COUNT) {
                let _ = self.dir.remove(&name, &file);
            }
        }
        self.remove_texts();
    }

    /// True if there are spools, and none of them holds data.
    ///
    /// # Errors
    /// The file system's error.
    pub(in crate::file::trace_dat) fn spools_are_empty(&self) -> io::Result<bool> {
        let mut found = false;
        for name in self.dir.names()? {
            // Pieces of a flight recorder's spool hold data.
            let is_piece = name.strip_prefix(&self.stem).is_some_and(|rest| rest.contains(".spool."));
            match self.buffer_of(&name).filter(|buffer| !self.is_of_another(buffer)) {
                _ if is_piece => return Ok(false),
                Some(_) if self.dir.open_file(&name, false)?.metadata()?.len() > COUNT => return Ok(false),
                spool => found |= spool.is_some(),
            }
        }
        Ok(found)
    }

    /// True if a spool of the recording holds data.
    ///
    /// # Errors
    /// The file system's error.
    pub(in crate::file::trace_dat) fn any_data(&self) -> io::Result<bool> {
        let own = |name: &String| self.buffer_of(name).is_some_and(|buffer| !self.is_of_another(buffer));
        for name in self.dir.names()?.into_iter().filter(own) {
            // One that is not the owner's is none of the recording's.
            if self.dir.open_file(&name, false).and_then(|file| file.metadata()).is_ok_and(|file| file.len() > COUNT) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes the recording itself, which is open as `recording`.
    ///
    /// # Errors
    /// [`io::ErrorKind::PermissionDenied`] if another file has its name now; what the file system says.
    pub(in crate::file::trace_dat) fn remove(&self, recording: &File) -> io::Result<()> {
        self.dir.remove(&self.name, recording)
    }

    /// The buffer whose spool has the name `file`: `.trace.dat.cpu0.spool`, `.trace.dat.web.cpu0.spool`.
    fn buffer_of<'a>(&self, file: &'a str) -> Option<&'a str> {
        let rest = file.strip_prefix(&self.stem)?.strip_suffix(".spool")?;
        let (buffer, cpu) = rest.rsplit_once(".cpu")?;
        cpu.parse::<u32>().ok()?;
        if buffer.is_empty() { Some(buffer) } else { buffer.strip_prefix('.') }
    }

    /// True if spools of `buffer` have the names of another recording's: beside `trace.dat` with an instance `web`
    /// there may be a recording `trace.dat.web`.
    fn is_of_another(&self, buffer: &str) -> bool {
        let buffer = in_file_name(buffer);
        let ends = buffer.match_indices('.').map(|(at, _)| at).chain([buffer.len()]);
        !buffer.is_empty()
            && ends.filter_map(|end| buffer.get(..end)).any(|start| self.dir.has(&format!("{}.{start}", self.name)))
    }
}

/// The end of the name of the file with the names of tasks.
pub(super) const COMMS: &str = ".comms.spool";
/// The end of the name of the file with the cgroups of tasks.
const CGROUPS: &str = ".cgroups.spool";

/// The file name of a CPU's spool: `.trace.dat.cpu3.spool`, or `.trace.dat.INSTANCE.cpu3.spool`.
pub fn spool_name(trace_file: &str, buffer: &str, cpu: CpuId) -> String {
    hidden(trace_file) + &spool_suffix(buffer, cpu)
}

/// The name of the file beside `trace_file` that learnt names of tasks go to.
pub fn comms_spool_name(trace_file: &str) -> String {
    hidden(trace_file) + COMMS
}

/// The name of the file beside `trace_file` that the cgroups of tasks go to.
pub fn cgroups_spool_name(trace_file: &str) -> String {
    hidden(trace_file) + CGROUPS
}

/// The end of the name of a CPU's spool.
pub(super) fn spool_suffix(buffer: &str, cpu: CpuId) -> String {
    let buffer = if buffer.is_empty() { String::new() } else { format!(".{}", in_file_name(buffer)) };
    format!("{buffer}.cpu{cpu}.spool")
}

fn hidden(trace_file: &str) -> String {
    format!(".{trace_file}")
}

/// True if files of a former recorder lie beside the recording `name`, and no hidden ones.
fn has_former(dir: &OwnedDir, name: &str) -> bool {
    // The hidden files of `x` have the names that a former recorder gave those of `.x`.
    if name.strip_prefix('.').is_some_and(|other| dir.has(other)) {
        return false;
    }
    let names = dir.names().unwrap_or_default();
    let has = |stem: &str| {
        let is_sibling = |file: &String| {
            let rest = file.strip_prefix(stem).filter(|rest| rest.starts_with('.'));
            let is_spool = rest.is_some_and(|rest| rest.ends_with(".spool") || rest.contains(".spool."));
            is_spool && dir.open_file(file, false).is_ok()
        };
        names.iter().any(is_sibling)
    };
    !has(&hidden(name)) && has(name)
}

/// A buffer's name as part of a file's: another machine may have chosen it.
fn in_file_name(buffer: &str) -> String {
    buffer.replace(|c: char| c == '/' || c.is_control(), "_")
}

fn if_there(opened: io::Result<File>) -> io::Result<Option<File>> {
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// True if `path`, itself no link, is the file that is open as `file`.
fn same_file(path: &Path, file: &File) -> io::Result<bool> {
    let (there, open) = (path.symlink_metadata()?, file.metadata()?);
    Ok((there.dev(), there.ino()) == (open.dev(), open.ino()))
}
