//! Names in the stacks of user space, from the files of this machine.

use crate::cli::damage::DamageReport;
use crate::cli::query::QueryInput;
use crate::cli::terminal::note;
use rtrace::internal::trace_dat::{OptionId, ReadAt};
use rtrace::record::uname;
use rtrace::symbols::{ObjectFiles, UserSymbols};
use rtrace::units::Pid;
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Gives the recording's symbols the names of user space, by its memory maps and the files below `root`; false if it has no maps.
pub(crate) fn add(input: &mut QueryInput, root: Option<PathBuf>, damage: &DamageReport) -> bool {
    let maps = match input.trace.process_maps() {
        Ok(maps) => maps,
        Err(error) => {
            damage.note(&input.path, &error);
            return true;
        }
    };
    if maps.is_empty() {
        return false;
    }
    let recorded_on = input.trace.option(OptionId::UNAME).map(|o| o.text()).unwrap_or_default();
    let builds = input.trace.build_ids();
    let disk = MachineSymbolFiles {
        root,
        recorded: fs::metadata(&input.path).and_then(|m| m.modified()).ok(),
        own_kernel: recorded_on == uname(),
        newer: Arc::clone(&input.newer),
        builds: builds.iter().map(|(path, _)| path.to_owned()).collect(),
    };
    let user = UserSymbols::new(&maps, &input.symbols.comms, Box::new(disk)).of_builds(builds.iter());
    input.recording.symbols.user = Some(Arc::new(user));
    true
}

/// Limit of the processes and files in the message.
const MOST_LINES: usize = 10;

/// Says on stderr what has no name, and why.
pub(crate) fn tell(input: &QueryInput) {
    let Some(user) = &input.symbols.user else { return };
    let (path, unnamed) = (input.path.display(), user.unnamed());
    if !unnamed.strangers.is_empty() {
        let addresses: u64 = unnamed.strangers.iter().map(|(_, count)| count).sum();
        let pids: Vec<String> = unnamed.strangers.iter().take(MOST_LINES).map(|(pid, _)| pid.0.to_string()).collect();
        let more = if unnamed.strangers.len() > MOST_LINES { ", ..." } else { "" };
        note!(
            "rtrace: {path}: {addresses} addresses of processes without a memory map in it: {}{more}",
            pids.join(", ")
        );
    }
    if unnamed.addresses > 0 {
        note!("rtrace: {path}: {} addresses in no mapping that was stored", unnamed.addresses);
    }
    for (file, reason) in unnamed.files.iter().take(MOST_LINES) {
        note!("rtrace: {path}: no names from {}: {reason}", file.escape_debug());
    }
    let newer = input.newer.lock().unwrap_or_else(PoisonError::into_inner);
    for file in newer.iter().take(MOST_LINES) {
        note!("rtrace: {path}: {} is younger than the recording: its names may be wrong", file.escape_debug());
    }
}

/// The files as they lie on this machine.
struct MachineSymbolFiles {
    root: Option<PathBuf>,
    /// Time at which the recording was written.
    recorded: Option<SystemTime>,
    /// True if the kernel that runs is the recorded one.
    own_kernel: bool,
    /// Files that were written after the recording.
    newer: Arc<Mutex<Vec<String>>>,
    /// Files whose builds are known: those are compared, whenever they were written.
    builds: HashSet<String>,
}

/// A larger file is not read for its symbols, in bytes.
const LARGEST: u64 = 2 << 30;

/// A larger map of names is not read, in bytes.
const LARGEST_JIT: u64 = 1 << 28;

impl MachineSymbolFiles {
    fn place(&self, path: &str) -> PathBuf {
        match &self.root {
            Some(root) => root.join(path.trim_start_matches('/')),
            None => PathBuf::from(path),
        }
    }

    /// The file's bytes, and when it was written. A recording can name any path: devices and pipes are not even opened,
    /// which alone would start a watchdog or rewind a tape, and what is no ELF file is left alone.
    fn load(&self, path: &Path) -> io::Result<(Vec<u8>, Option<SystemTime>)> {
        let other = || io::Error::new(io::ErrorKind::InvalidData, "it is not a program or library");
        if !fs::metadata(path)?.is_file() {
            return Err(other());
        }
        let mut file =
            OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY).open(path)?;
        let facts = file.metadata()?;
        if !facts.is_file() || facts.len() > LARGEST {
            return Err(other());
        }
        let mut magic = [0; 4];
        if file.read_exact(&mut magic).is_err() || magic != *b"\x7fELF" {
            return Err(other());
        }
        let mut bytes = magic.to_vec();
        file.take(LARGEST).read_to_end(&mut bytes)?;
        Ok((bytes, facts.modified().ok()))
    }
}

impl ObjectFiles for MachineSymbolFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let missing = |reason| io::Error::new(io::ErrorKind::NotFound, reason);
        match path {
            "[vdso]" if self.own_kernel => return own_vdso(),
            "[vdso]" => return Err(missing("it is another kernel's")),
            _ if !path.starts_with('/') => return Err(missing("it is not a file")),
            _ => {}
        }
        // Where the same build lies there again, it serves.
        let place = match path.strip_suffix(" (deleted)") {
            Some(_) if !self.builds.contains(path) => {
                return Err(missing("it was deleted before the recording ended"));
            }
            Some(place) => place,
            None => path,
        };
        let (bytes, written) = self.load(&self.place(place))?;
        if written > self.recorded && self.recorded.is_some() && !self.builds.contains(path) {
            self.newer.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        }
        Ok(bytes)
    }

    /// As perf takes it: from whoever could have written anything into the recording, too.
    fn jit(&self, process: Pid) -> io::Result<Vec<u8>> {
        let path = self.place(&format!("/tmp/perf-{}.map", process.0));
        // Nobody's link is followed: everyone may write there.
        let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY | nix::libc::O_NOFOLLOW;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let facts = file.metadata()?;
        let refused = |reason| io::Error::new(io::ErrorKind::PermissionDenied, reason);
        if !facts.is_file() || facts.len() > LARGEST_JIT {
            return Err(refused("it is no file of names"));
        }
        if facts.uid() != 0 && facts.uid() != nix::unistd::geteuid().as_raw() {
            return Err(refused(
                "it is neither yours nor root's: anybody may write names there (`chown` makes it yours)",
            ));
        }
        let mut bytes = Vec::new();
        file.take(LARGEST_JIT).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The files with debug information, where distributions and gdb have them.
    fn debug(&self, build_id: &[u8]) -> Option<Vec<u8>> {
        let hex: String = build_id.iter().map(|byte| format!("{byte:02x}")).collect();
        let (first, rest) = hex.split_at_checked(2)?;
        let path = self.place(&format!("/usr/lib/debug/.build-id/{first}/{rest}.debug"));
        self.load(&path).ok().map(|(bytes, _)| bytes)
    }
}

/// The code that the running kernel maps into all processes: it is in ours too.
fn own_vdso() -> io::Result<Vec<u8>> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "this process has none");
    let maps = fs::read_to_string("/proc/self/maps")?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]")).ok_or_else(missing)?;
    let range = line.split(' ').next().and_then(|range| range.split_once('-')).ok_or_else(missing)?;
    let number = |hex| u64::from_str_radix(hex, 16).map_err(|_| missing());
    let (start, end) = (number(range.0)?, number(range.1)?);
    let mut bytes = vec![0; usize::try_from(end.saturating_sub(start)).map_err(|_| missing())?];
    let read = File::open("/proc/self/mem")?.read_at(&mut bytes, start)?;
    bytes.truncate(read);
    Ok(bytes)
}
