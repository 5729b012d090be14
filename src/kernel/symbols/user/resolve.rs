//! From a process and an address to a name.

use super::image;
use super::image::Image;
use super::process::{Placed, Process, ProcessMap};
use crate::base::units::Pid;
use crate::kernel::symbols::Comms;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{fmt, io};

/// The source of mapped files' bytes.
pub trait ObjectFiles: Send + Sync {
    /// The file that was mapped from `path`; `[vdso]` is the kernel's own.
    ///
    /// # Errors
    /// The reason if it is unavailable.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// The names of code that a process made itself, as its compiler wrote them for perf.
    ///
    /// # Errors
    /// The reason if there are none.
    fn jit(&self, _process: Pid) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    /// The file with the debugging symbols of this build id, if there is one.
    fn debug(&self, build_id: &[u8]) -> Option<Vec<u8>>;
}

/// The function or mapping at an address of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserSymbol<'a> {
    /// The file that is mapped there, or a name as `[vdso]`.
    pub path: &'a str,
    /// The function, demangled.
    pub name: Option<&'a str>,
    /// Distance from the function's start; without a function, from that of the mapping, as the kernel reports it with
    /// `sym-userobj`. In bytes.
    pub offset: u64,
}

impl UserSymbol<'_> {
    /// Appends `main+0x1f (/usr/bin/x)`, or `/usr/bin/x[+0x11f]`.
    pub fn write(&self, out: &mut Vec<u8>) {
        use crate::base::text::num;
        let path = |out: &mut Vec<u8>| {
            let shown = self.path.bytes().map(|b| if b.is_ascii_control() { b'?' } else { b });
            out.extend(shown);
        };
        match self.name {
            Some(name) => {
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"+0x");
                num::hex(out, self.offset);
                out.extend_from_slice(b" (");
                path(out);
                out.push(b')');
            }
            None => {
                path(out);
                out.extend_from_slice(b"[+0x");
                num::hex(out, self.offset);
                out.push(b']');
            }
        }
    }
}

/// Names for the addresses of processes, whose files are read when they are first needed.
pub struct UserSymbols {
    source: Box<dyn ObjectFiles>,
    processes: HashMap<i32, Process>,
    /// Of processes without a map: those with one that bear the same name.
    namesakes: HashMap<i32, Arc<[i32]>>,
    objects: Vec<MappedFile>,
    /// By process: names of code that it made itself.
    jits: HashMap<i32, JitFile>,
    /// Number of addresses in no known mapping, by process.
    unmapped: Mutex<BTreeMap<i32, u64>>,
}

struct MappedFile {
    path: String,
    /// The ids of its builds that were mapped, if they are known.
    builds: Vec<Vec<u8>>,
    image: OnceLock<Result<Image, String>>,
    /// True if what was mapped is another file.
    foreign: AtomicBool,
}

impl MappedFile {
    /// Refuses a file that is another build than the one that was mapped.
    fn check(&self, file: &[u8]) -> Result<(), String> {
        let hex = |id: &[u8]| id.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        match (&*self.builds, image::of(file)) {
            ([], _) => Ok(()),
            ([mapped], Some(now)) if *mapped == now => Ok(()),
            ([mapped], Some(now)) => {
                Err(format!("it is another build than the one that was mapped: {}, not {}", hex(&now), hex(mapped)))
            }
            ([mapped], None) => Err(format!("it has no build id; the file that was mapped had {}", hex(mapped))),
            (several, _) => {
                let ids: Vec<String> = several.iter().map(|id| hex(id)).collect();
                Err(format!("several builds of it were mapped: {}", ids.join(", ")))
            }
        }
    }
}

/// Names of a process's own code, read when they are first needed.
struct JitFile {
    path: String,
    names: OnceLock<Result<JitNames, io::Error>>,
}

/// Addresses without a name, and the reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unnamed {
    /// Processes whose mappings are not known, and how many addresses of theirs were met.
    pub strangers: Vec<(Pid, u64)>,
    /// Number of addresses of other processes in no known mapping.
    pub addresses: u64,
    /// Files that could not be used, each with the reason.
    pub files: Vec<(String, String)>,
}

impl fmt::Debug for UserSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserSymbols").finish_non_exhaustive()
    }
}

impl UserSymbols {
    /// Of these processes. Of several maps of one process the last counts.
    ///
    /// A forked process has its parent's mappings and name until it becomes another program, which lies elsewhere. So a
    /// process without a map is looked up in that of one with the same name in `comms`.
    pub fn new(maps: &[ProcessMap], comms: &Comms, source: Box<dyn ObjectFiles>) -> Self {
        let mut objects: Vec<MappedFile> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut processes = HashMap::new();
        for map in maps {
            let process = Process::new(map, |path| {
                *known.entry(path.to_owned()).or_insert_with(|| {
                    let (image, foreign) = (OnceLock::new(), AtomicBool::new(false));
                    let index = objects.len();
                    objects.push(MappedFile { path: path.to_owned(), builds: Vec::new(), image, foreign });
                    index
                })
            });
            processes.insert(map.pid.0, process);
        }
        let mut named: HashMap<&[u8], Vec<i32>> = HashMap::new();
        for &pid in processes.keys() {
            if let Some(name) = comms.get(Pid(pid)) {
                named.entry(name).or_default().push(pid);
            }
        }
        let named: HashMap<&[u8], Arc<[i32]>> = named.into_iter().map(|(name, pids)| (name, pids.into())).collect();
        let strangers = comms.pids().filter(|pid| !processes.contains_key(&pid.0));
        let namesakes = strangers.filter_map(|pid| Some((pid.0, Arc::clone(named.get(comms.get(pid)?)?)))).collect();
        let pids = processes.keys().copied().chain(comms.pids().map(|pid| pid.0));
        let jit = |pid| (pid, JitFile { path: format!("/tmp/perf-{pid}.map"), names: OnceLock::new() });
        let jits = pids.map(jit).collect();
        UserSymbols { source, processes, namesakes, objects, jits, unmapped: Mutex::default() }
    }

    /// With the builds of files that were mapped: a file of another build gives no names.
    pub fn of_builds<'b>(mut self, builds: impl IntoIterator<Item = (&'b str, &'b [u8])>) -> Self {
        let places = self.objects.iter().enumerate().map(|(place, object)| (object.path.clone(), place));
        let places: HashMap<String, usize> = places.collect();
        for (path, id) in builds {
            if let Some(object) = places.get(path).and_then(|place| self.objects.get_mut(*place)) {
                object.builds.push(id.to_owned());
            }
        }
        self
    }

    /// The function or mapping at an address of a process; `None` if it is unknown. `returns`: it is a return address,
    /// which may be after the function that called.
    pub fn find(&self, process: Pid, address: u64, returns: bool) -> Option<UserSymbol<'_>> {
        let code = address.wrapping_sub(u64::from(returns));
        let mapped = self.mapped(process, code);
        let path = mapped.and_then(|(_, placed)| self.objects.get(placed.file)).map(|object| object.path.as_str());
        if path.is_none_or(is_no_file)
            && let Some(symbol) = self.jit(process, code, address)
        {
            return Some(symbol);
        }
        let Some((start, placed)) = mapped else {
            let mut unmapped = self.unmapped.lock().unwrap_or_else(PoisonError::into_inner);
            let count = unmapped.entry(process.0).or_default();
            *count = count.saturating_add(1);
            return None;
        };
        let object = self.objects.get(placed.file)?;
        let image = object.image.get_or_init(|| {
            let file = self.source.read(&object.path).map_err(|error| error.to_string())?;
            object.check(&file)?;
            Image::read(&file, |id| self.source.debug(id)).ok_or_else(|| "it is not a program or library".to_owned())
        });
        let symbol = UserSymbol { path: &object.path, name: None, offset: address.wrapping_sub(start) };
        let Ok(image) = image else { return Some(symbol) };
        let mapped = placed.start(code, image).filter(|at| {
            // a process of 32-bit code has another vdso
            let narrow = object.path == VDSO && image.wide && start <= u64::from(u32::MAX);
            !narrow && image.is_code(image.own_address(code, *at))
        });
        let Some(mapped) = mapped else {
            object.foreign.store(true, Ordering::Relaxed);
            return Some(symbol);
        };
        let Some(function) = image.function(image.own_address(code, mapped)) else { return Some(symbol) };
        let offset = image.own_address(address, mapped).wrapping_sub(function.start);
        Some(UserSymbol { name: Some(function.name()), offset, ..symbol })
    }

    /// The function that a process made itself.
    fn jit(&self, process: Pid, code: u64, address: u64) -> Option<UserSymbol<'_>> {
        let jit = self.jits.get(&process.0)?;
        let names = jit.names.get_or_init(|| Ok(JitNames::parse(&self.source.jit(process)?)));
        let (start, name) = names.as_ref().ok()?.at(code)?;
        Some(UserSymbol { path: &jit.path, name: Some(name), offset: address.wrapping_sub(start) })
    }

    /// The mapping at an address of a process, and its start.
    fn mapped(&self, process: Pid, address: u64) -> Option<(u64, &Placed)> {
        if let Some(process) = self.processes.get(&process.0) {
            return process.at(address);
        }
        let namesakes = self.namesakes.get(&process.0)?;
        let mut there = namesakes.iter().filter_map(|pid| self.processes.get(pid)?.at(address));
        let (start, placed) = there.next()?;
        there.all(|(other, at)| other == start && at.file == placed.file).then_some((start, placed))
    }

    /// Addresses left without a name so far.
    pub fn unnamed(&self) -> Unnamed {
        let mut unnamed = Unnamed::default();
        for (&pid, &count) in &*self.unmapped.lock().unwrap_or_else(PoisonError::into_inner) {
            if self.processes.contains_key(&pid) {
                unnamed.addresses = unnamed.addresses.saturating_add(count);
            } else {
                unnamed.strangers.push((Pid(pid), count));
            }
        }
        for object in &self.objects {
            if let Some(Err(reason)) = object.image.get() {
                unnamed.files.push((object.path.clone(), reason.clone()));
            } else if object.foreign.load(Ordering::Relaxed) {
                unnamed.files.push((object.path.clone(), "it is not the file that was mapped".to_owned()));
            }
        }
        for jit in self.jits.values() {
            if let Some(Err(error)) = jit.names.get()
                && error.kind() != io::ErrorKind::NotFound
            {
                unnamed.files.push((jit.path.clone(), error.to_string()));
            }
        }
        unnamed
    }
}

/// True of mappings without a file's code: memory of a process's own, named or not.
fn is_no_file(path: &str) -> bool {
    path != VDSO
        && (!path.starts_with('/') || ["/memfd:", "/dev/zero", "/dev/shm/"].iter().any(|of| path.starts_with(of)))
}

/// The kernel's mapping in every process (vdso(7)).
const VDSO: &str = "[vdso]";

// Names of code that a process made itself: `/tmp/perf-PID.map`, which just-in-time compilers write for perf.
//
// ```text
// 7f3c5a0c1e40 1c8 JS:*sum /srv/app.js:12:14      start, size (hexadecimal), name
// ```
//
// Code is moved and thrown away, and its place used again: of lines that overlap the last one counts.

/// Functions by their addresses.
#[derive(Debug, Default)]
struct JitNames {
    names: Vec<String>,
    /// By start: the end, and the index of the name. They do not overlap.
    ranges: BTreeMap<u64, (u64, usize)>,
}

impl JitNames {
    /// Of a map's text; lines of another form are passed over.
    fn parse(text: &[u8]) -> Self {
        let mut found = JitNames::default();
        for line in String::from_utf8_lossy(text).lines() {
            let mut parts = line.splitn(3, ' ');
            let mut number =
                || u64::from_str_radix(parts.next().map(|hex| hex.strip_prefix("0x").unwrap_or(hex))?, 16).ok();
            let (Some(start), Some(size)) = (number(), number()) else { continue };
            let name = parts.next().map(str::trim).filter(|name| !name.is_empty());
            if let (Some(name), Some(end)) = (name, start.checked_add(size).filter(|end| start < *end)) {
                found.insert(start, end, name);
            }
        }
        found
    }

    fn insert(&mut self, start: u64, end: u64, name: &str) {
        // What lies before begins before, and may reach into it, or beyond.
        if let Some((&before, &(until, index))) =
            self.ranges.range(..start).next_back().filter(|(_, old)| old.0 > start)
        {
            self.ranges.insert(before, (start, index));
            if until > end {
                self.ranges.insert(end, (until, index));
            }
        }
        while let Some((&within, &(until, index))) = self.ranges.range(start..end).next() {
            self.ranges.remove(&within);
            if until > end {
                self.ranges.insert(end, (until, index));
            }
        }
        self.ranges.insert(start, (end, self.names.len()));
        self.names.push(name.to_owned());
    }

    /// The start and name of the function at an address.
    fn at(&self, address: u64) -> Option<(u64, &str)> {
        let (&start, &(end, index)) = self.ranges.range(..=address).next_back()?;
        let name = self.names.get(index).filter(|_| address < end)?;
        Some((start, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_an_address_counts() {
        let text = b"1000 100 old\n0x1040 20 new\nnonsense\n3000 0 empty\n2000 10 JS:*sum /srv/app.js:1:2\nffffffffffffffff 2 x\n";
        let names = JitNames::parse(text);
        let at = |address| names.at(address).map(|(_, name)| name);
        assert_eq!([0xfff, 0x1000, 0x103f].map(at), [None, Some("old"), Some("old")]);
        assert_eq!([0x1040, 0x105f, 0x1060, 0x10ff].map(at), [Some("new"), Some("new"), Some("old"), Some("old")]);
        assert_eq!([0x1100, 0x2000, 0x3000, u64::MAX].map(at), [None, Some("JS:*sum /srv/app.js:1:2"), None, None]);
    }

    #[test]
    fn lines_hide_what_others_said_before() {
        // Against a search from the end.
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let lines: Vec<(u64, u64)> = (0..200).map(|_| (next(500), 1 + next(40))).collect();
        let text: Vec<String> =
            lines.iter().enumerate().map(|(number, (start, size))| format!("{start:x} {size:x} f{number}\n")).collect();
        let names = JitNames::parse(text.concat().as_bytes());
        for address in 0..600 {
            let last = lines.iter().rposition(|(start, size)| (*start..start + size).contains(&address));
            let expected = last.map(|number| format!("f{number}"));
            assert_eq!(names.at(address).map(|(_, name)| name.to_owned()), expected, "{address}");
        }
    }
}
