//! Any bytes as a program that a process has mapped (after 8 bytes that say where and over how many pages): names of
//! bounded length without control characters, the same each time.

use rtrace::symbols::{Comms, ObjectFiles, UserSymbols};
use rtrace::internal::trace_dat::{Mapping, ProcessMap};
use rtrace::units::Pid;
use std::io;

const PID: Pid = Pid(1);

struct File(Vec<u8>);

impl ObjectFiles for File {
    fn read(&self, _: &str) -> io::Result<Vec<u8>> {
        Ok(self.0.clone())
    }

    fn debug(&self, _: &[u8]) -> Option<Vec<u8>> {
        Some(self.0.clone())
    }
}

pub(crate) fn run(data: &[u8]) {
    let Some((head, file)) = data.split_first_chunk::<8>() else { return };
    let head = u64::from_le_bytes(*head);
    let (start, len) = (head >> 16 << 12, (head & 0xffff) << 12);
    let Some(end) = start.checked_add(len).filter(|end| *end > start) else { return };
    let path = "/bin/some\u{1b}program".to_owned();
    let map = ProcessMap { pid: PID, mappings: vec![Mapping { start, end, path }] };
    let symbols = UserSymbols::new(&[map], &Comms::default(), Box::new(File(file.to_vec())));
    for address in (start..end).step_by((len as usize / 64).max(1)).chain([end - 1, end]) {
        for returns in [false, true] {
            let found = symbols.find(PID, address, returns);
            assert_eq!(symbols.find(PID, address, returns), found);
            let Some(found) = found else { continue };
            // a character takes up to 4 bytes
            assert!(found.name.is_none_or(|name| name.len() <= 4 * 1024 && !name.contains(char::is_control)));
            let mut shown = Vec::new();
            found.write(&mut shown);
            assert!(!shown.iter().any(u8::is_ascii_control));
        }
    }
    let _ = symbols.unnamed();
}
