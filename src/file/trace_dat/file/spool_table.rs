//! Places of an unfinished recording's data: the content of our RTRACE_SPOOLS option.

use super::siblings::{COMMS, spool_suffix};
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::file::trace_dat::read_at::FileBytes;
use crate::file::trace_dat::{FileError, LossCause, RawOption, UnsavedEvents};

/// All spools of an unfinished recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolTable {
    /// True if the file's BUFFER options are final and the spools are being moved into the file. Then the rest of a
    /// spool is the front of the CPU's data that the file does not yet hold.
    pub finishing: bool,
    /// While finishing: where in the file the link to this table's options section stands. Zeroing it ends the job.
    pub link: u64,
    /// The name of a file beside the trace file with comms learnt while recording: lines `pid comm`, as in
    /// saved_cmdlines, later ones counting. Empty if there is none.
    pub comms: String,
    /// One per buffer and CPU.
    pub entries: Vec<SpoolEntry>,
}

/// One CPU's spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolEntry {
    /// The instance's name in the file; empty for the top buffer.
    pub buffer: String,
    /// The buffer's clock.
    pub clock: String,
    /// Size of its sub-buffers, in bytes.
    pub page_size: u32,
    /// The CPU.
    pub cpu: CpuId,
    /// The spool's file name when it was recorded. Spools are searched for by the file's present name:
    /// [`Siblings`](super::Siblings).
    pub file: String,
    /// While finishing: where its data goes in the trace file, and how many bytes it had. Before that: what is lacking in
    /// the spool, if its recorder got that far ([`SpoolEntry::account`]); else zeros.
    pub target: (u64, u64),
}

const VERSION: u32 = 1;
/// The longest name of a file, in bytes (`NAME_MAX`).
const MAX_NAME: usize = 255;

impl SpoolEntry {
    /// Events that the spool lacks, which may be none, noted when the ring buffer was drained or given up. `None` if that
    /// was not noted: its recorder runs or was killed. Only before the recording is being finished.
    pub fn account(&self) -> Option<UnsavedEvents> {
        UnsavedEvents::from_account(&self.buffer, self.cpu, self.target)
    }

    /// Notes the events that the spool lacks: the sum of `lost`.
    pub fn set_account<'l>(&mut self, lost: impl IntoIterator<Item = &'l UnsavedEvents>) {
        let (buffer, cpu) = (self.buffer.clone(), self.cpu);
        let none = UnsavedEvents { buffer, cpu, events: Some(0), cause: LossCause::NOT_WRITTEN };
        let sum = lost.into_iter().fold(none, |sum, one| UnsavedEvents {
            events: sum.events.zip(one.events).map(|(sum, one)| sum.saturating_add(one)),
            cause: if sum.events == Some(0) { one.cause } else { sum.cause },
            ..sum
        });
        self.target = sum.as_account();
    }

    fn stem(&self) -> Option<&str> {
        self.file.strip_suffix(&spool_suffix(&self.buffer, self.cpu))
    }
}

impl SpoolTable {
    /// Reads the bytes of an RTRACE_SPOOLS option.
    ///
    /// # Errors
    /// [`FileError::Option`] if they end too early, are of a newer version or name a file in another directory.
    pub fn read(option: &RawOption, abi: Abi) -> Result<Self, FileError> {
        let mut scan = option.scan(abi);
        let cut = |_| option.error("it ends too early");
        if scan.u32().map_err(cut)? != VERSION {
            return Err(option.error("it is of a newer rtrace"));
        }
        let finishing = scan.u32().map_err(cut)? != 0;
        let (link, comms) = (scan.u64().map_err(cut)?, scan.cstr().map_err(cut)?);
        let mut table = SpoolTable { finishing, link, comms, entries: Vec::new() };
        for _ in 0..scan.u32().map_err(cut)? {
            let entry = SpoolEntry {
                buffer: scan.cstr().map_err(cut)?,
                clock: scan.cstr().map_err(cut)?,
                page_size: scan.u32().map_err(cut)?,
                cpu: CpuId(scan.u32().map_err(cut)?),
                file: scan.cstr().map_err(cut)?,
                target: (scan.u64().map_err(cut)?, scan.u64().map_err(cut)?),
            };
            let names = [&entry.buffer, &entry.clock, &entry.file];
            if !super::buffer::is_page_size(entry.page_size) || names.iter().any(|name| name.len() > MAX_NAME) {
                return Err(option.error("it holds what no rtrace writes"));
            }
            table.entries.push(entry);
        }
        if table.comms.len() > MAX_NAME || !table.has_names_of_one_recording() {
            return Err(option.error("it names files that are not this recording's"));
        }
        Ok(table)
    }

    /// The file's name when it was recorded, without the directory, if that is not `name`; `None` without spools.
    pub fn recorded_as_other_than(&self, name: &str) -> Option<&str> {
        let stem = self.stem()?;
        // Only a former recorder's stem is the name itself.
        let recorded = stem.strip_prefix('.').unwrap_or(stem);
        (recorded != name && stem != name).then_some(recorded)
    }

    /// The beginning of all names.
    fn stem(&self) -> Option<&str> {
        let comms = self.comms.strip_suffix(COMMS);
        comms.into_iter().chain(self.entries.iter().filter_map(SpoolEntry::stem)).next()
    }

    /// True if all names are those that a recording of one name gives its files.
    fn has_names_of_one_recording(&self) -> bool {
        let base = self.stem();
        let is_base = |name: Option<&str>| name.is_some() && name == base;
        base.is_none_or(|base| !base.is_empty() && !base.contains(['/', '\0']))
            && (self.comms.is_empty() || is_base(self.comms.strip_suffix(COMMS)))
            && self.entries.iter().all(|entry| is_base(entry.stem()))
    }

    /// The option's bytes.
    pub fn write(&self, abi: Abi) -> Vec<u8> {
        let mut out = FileBytes::new(abi);
        out.u32(VERSION).u32(self.finishing.into()).u64(self.link).cstr(&self.comms).u32(self.entries.len() as u32);
        for entry in &self.entries {
            out.cstr(&entry.buffer).cstr(&entry.clock).u32(entry.page_size).u32(entry.cpu.0).cstr(&entry.file);
            out.u64(entry.target.0).u64(entry.target.1);
        }
        out.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::trace_dat::{FilePart, OptionId};

    fn read(data: Vec<u8>) -> Result<SpoolTable, FileError> {
        let abi = Abi::HOST;
        SpoolTable::read(&RawOption { id: OptionId::RTRACE_SPOOLS, data, offset: 0, place: FilePart::Prefix }, abi)
    }

    /// Found by fuzzing: bytes that are not UTF-8 grow threefold as text, which could not be read back.
    #[test]
    fn names_no_file_can_have_are_refused() {
        let table = |name: &str| SpoolTable { comms: format!("{name}.comms.spool"), ..SpoolTable::default() };
        let longest = "x".repeat(MAX_NAME - COMMS.len());
        assert_eq!(read(table(&longest).write(Abi::HOST)).ok(), Some(table(&longest)));
        assert!(read(table(&(longest.clone() + "x")).write(Abi::HOST)).is_err());
        let mut bytes = table(&longest).write(Abi::HOST);
        bytes[16] = 0x85;
        assert!(read(bytes).is_err(), "it grows beyond the limit");
    }
}
