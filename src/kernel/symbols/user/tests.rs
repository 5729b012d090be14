//! This very process is what is looked up: its map, its files, the kernel's vdso.

use super::image::Image;
use super::{ObjectFiles, UserSymbols};
use crate::base::units::Pid;
use crate::kernel::symbols::Comms;
use crate::kernel::symbols::{Mapping, ProcessMap};
use proptest::prelude::*;
use std::io;
use std::path::PathBuf;

const PID: Pid = Pid(4711);

#[inline(never)]
fn own_function() -> u32 {
    std::hint::black_box(1)
}

fn own_map() -> ProcessMap {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mapping = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (start, end) = words[0].split_once('-').unwrap();
        let number = |hex| u64::from_str_radix(hex, 16).unwrap();
        Some(Mapping { start: number(start), end: number(end), path: words.get(5)?.to_string() })
    };
    ProcessMap { pid: PID, mappings: text.lines().filter_map(mapping).collect() }
}

/// The files of this machine, some of them exchanged.
#[derive(Default)]
struct MachineFiles {
    instead: Option<(String, io::Result<PathBuf>)>,
}

impl ObjectFiles for MachineFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match &self.instead {
            Some((of, Ok(other))) if of == path => std::fs::read(other),
            Some((of, Err(error))) if of == path => Err(error.kind().into()),
            _ => std::fs::read(path),
        }
    }

    fn debug(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// A process whose compiler wrote names.
struct JitProcess;

impl ObjectFiles for JitProcess {
    fn read(&self, _: &str) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn jit(&self, process: Pid) -> io::Result<Vec<u8>> {
        match process {
            PID => Ok(b"7000 100 JS:*sum /srv/app.js:1:2\n8000 10 hidden by a file\n".to_vec()),
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    fn debug(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

#[test]
fn code_of_a_processs_own_has_names_where_no_file_is_mapped() {
    let file = Mapping { start: 0x8000, end: 0x9000, path: "/usr/bin/node".to_owned() };
    let anonymous = Mapping { start: 0x7000, end: 0x8000, path: "[anon:v8]".to_owned() };
    let other = ProcessMap { pid: Pid(PID.0 + 1), mappings: vec![anonymous.clone()] };
    let maps = [ProcessMap { pid: PID, mappings: vec![anonymous, file] }, other];
    let symbols = UserSymbols::new(&maps, &Comms::default(), Box::new(JitProcess));
    let found = symbols.find(PID, 0x7010, true).unwrap();
    assert_eq!((found.name, found.offset), (Some("JS:*sum /srv/app.js:1:2"), 0x10));
    let found = symbols.find(PID, 0x8004, false).unwrap();
    assert_eq!((found.name, found.path), (None, "/usr/bin/node"));
    assert_eq!(symbols.find(Pid(PID.0 + 1), 0x7010, true).unwrap().name, None);
    let files: Vec<String> = symbols.unnamed().files.into_iter().map(|(path, _)| path).collect();
    assert!(files.contains(&format!("/tmp/perf-{}.map", PID.0 + 1)), "{files:?}");
}

fn own_path() -> String {
    std::env::current_exe().unwrap().canonicalize().unwrap().to_string_lossy().into_owned()
}

#[test]
fn addresses_have_names() {
    assert_eq!(own_function(), 1);
    let symbols = UserSymbols::new(&[own_map()], &Comms::default(), Box::new(MachineFiles::default()));
    let at = own_function as fn() -> u32 as usize as u64;
    let found = symbols.find(PID, at + 3, false).unwrap();
    assert_eq!((found.name, found.offset), (Some("rtrace::kernel::symbols::user::tests::own_function"), 3));
    assert_eq!(found.path, own_path());
    // a call that does not return may be the last thing in the function before
    let found = symbols.find(PID, at, true);
    assert_ne!(found.and_then(|f| f.name), Some("rtrace::kernel::symbols::user::tests::own_function"));
    assert_eq!(symbols.find(Pid(1), at, false), None);
    assert_eq!(symbols.find(PID, 1, false), None);
    let unnamed = symbols.unnamed();
    assert_eq!((&unnamed.strangers[..], unnamed.addresses), (&[(Pid(1), 1)][..], 1));
    assert_eq!(unnamed.files, []);
}

#[test]
fn lines_as_perf_script_has_them() {
    let symbols = UserSymbols::new(&[own_map()], &Comms::default(), Box::new(MachineFiles::default()));
    let at = own_function as fn() -> u32 as usize as u64;
    let mut line = Vec::new();
    symbols
        .find(PID, at + 3, false)
        .map(|found| super::UserSymbol { path: "/bin/x\n", ..found })
        .unwrap()
        .write(&mut line);
    assert!(line.ends_with(b" (/bin/x?)"), "{}", String::from_utf8_lossy(&line));
}

#[test]
fn files_that_cannot_be_used_are_reported() {
    let at = own_function as fn() -> u32 as usize as u64;
    let own = own_path();
    let libc = own_map().mappings.into_iter().map(|m| m.path).find(|path| path.contains("libc.so")).unwrap();
    for (instead, why) in [
        (Err(io::ErrorKind::NotFound.into()), "entity not found"),
        (Ok("/proc/self/status".into()), "it is not a program or library"),
        (Ok(libc.into()), "it is not the file that was mapped"),
    ] {
        let map = own_map();
        let start = map.mappings.iter().find(|m| (m.start..m.end).contains(&at)).unwrap().start;
        let symbols = UserSymbols::new(
            &[map],
            &Comms::default(),
            Box::new(MachineFiles { instead: Some((own.clone(), instead)) }),
        );
        let found = symbols.find(PID, at, false).unwrap();
        assert_eq!((found.name, found.offset, found.path), (None, at - start, own.as_str()));
        assert_eq!(symbols.unnamed().files, [(own.clone(), why.to_owned())]);
        let mut line = Vec::new();
        found.write(&mut line);
        assert_eq!(String::from_utf8(line).unwrap(), format!("{own}[+0x{:x}]", at - start));
    }
}

#[test]
fn a_file_may_be_mapped_twice() {
    let own = own_path();
    let mut map = own_map();
    let at = own_function as fn() -> u32 as usize as u64;
    // below everything: as data, from its start to its middle
    map.mappings.push(Mapping { start: 0x1000, end: 0x3000, path: own.clone() });
    let symbols = UserSymbols::new(&[map], &Comms::default(), Box::new(MachineFiles::default()));
    let found = symbols.find(PID, at, false).unwrap();
    assert_eq!(found.name, Some("rtrace::kernel::symbols::user::tests::own_function"));
    assert_eq!(symbols.find(PID, 0x1234, false).unwrap().name, None);
}

proptest! {
    /// A file may be anything.
    #[test]
    fn damaged_files_do_no_harm(at in 0usize..4096, byte: u8, len in 0usize..200_000, address: u64) {
        static LOADER: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let file = LOADER.get_or_init(|| {
            let path = own_map().mappings.into_iter().map(|m| m.path).find(|path| path.contains("ld-linux"));
            path.map(|path| std::fs::read(path).unwrap()).unwrap_or_default()
        });
        let mut file = file.clone();
        if let Some(place) = file.get_mut(at) {
            *place = byte;
        }
        file.truncate(len.max(64));
        if let Some(image) = Image::read(&file, |_| None) {
            let _ = image.function(address).map(|f| f.name().len());
            let _ = (image.extent(), image.fits(address), image.is_code(address), image.own_address(address, address));
        }
    }
}

/// A child that was forked has the mappings of its parent; one that became another program has another name.
#[test]
fn children_are_looked_up_in_their_parent() {
    let comms = Comms::parse(b"4711 own\n4712 own\n4713 other\n4714 own\n");
    let at = own_function as fn() -> u32 as usize as u64;
    let symbols = UserSymbols::new(&[own_map()], &comms, Box::new(MachineFiles::default()));
    assert_eq!(symbols.find(Pid(4712), at, false), symbols.find(PID, at, false));
    assert_eq!(symbols.find(Pid(4713), at, false), None);
    assert_eq!(symbols.find(Pid(4712), 1, false), None);
    assert_eq!(symbols.unnamed().strangers, [(Pid(4712), 1), (Pid(4713), 1)]);

    // two of that name have different files there
    let mut elsewhere = own_map();
    elsewhere.pid = Pid(4714);
    elsewhere.mappings.iter_mut().for_each(|mapping| mapping.path.push('x'));
    let symbols = UserSymbols::new(&[own_map(), elsewhere], &comms, Box::new(MachineFiles::default()));
    assert_eq!(symbols.find(Pid(4712), at, false), None);
}
