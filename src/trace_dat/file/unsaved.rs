//! Events that a killed recorder had taken out of a ring and not written: the content of our RTRACE_UNSAVED options.

use super::scan::Scan;
use crate::abi::Abi;
use crate::trace_dat::put::FileBytes;
use crate::trace_dat::{FileError, RawOption};
use crate::units::CpuId;

/// Events of one CPU that are in no file: those of the chunk that its recorder was filling, or of a spool that is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsavedEvents {
    /// The instance's name in the file; empty for the top buffer.
    pub buffer: String,
    /// The CPU.
    pub cpu: CpuId,
    /// Number of events; `None` if it is unknown.
    pub events: Option<u64>,
}

/// In the place of a number of events.
const UNKNOWN: u64 = u64::MAX;

impl UnsavedEvents {
    /// Reads the bytes of an RTRACE_UNSAVED option.
    ///
    /// # Errors
    /// [`FileError::Option`] if they end too early.
    pub fn read(option: &RawOption, abi: Abi) -> Result<Self, FileError> {
        let mut scan = option.scan(abi);
        let fields = |scan: &mut Scan<'_>| Ok::<_, FileError>((scan.cstr()?, scan.u32()?, scan.u64()?));
        let (buffer, cpu, events) = fields(&mut scan).map_err(|_| option.error("it ends too early"))?;
        Ok(UnsavedEvents { buffer, cpu: CpuId(cpu), events: Some(events).filter(|n| *n != UNKNOWN) })
    }

    /// The option's bytes.
    pub fn write(&self, abi: Abi) -> Vec<u8> {
        let mut out = FileBytes::new(abi);
        out.cstr(&self.buffer).u32(self.cpu.0).u64(self.events.unwrap_or(UNKNOWN));
        out.bytes
    }
}

impl From<UnsavedEvents> for FileError {
    fn from(UnsavedEvents { buffer, cpu, events }: UnsavedEvents) -> Self {
        FileError::Unsaved { buffer, cpu, events }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Endian;
    use crate::trace_dat::{FilePart, OptionId};

    #[test]
    fn what_is_written_is_read() {
        let option = |data| RawOption { id: OptionId::RTRACE_UNSAVED, data, offset: 0, place: FilePart::Prefix };
        for endian in [Endian::Little, Endian::Big] {
            let abi = Abi { endian, long_size: 8 };
            for (buffer, events) in [("", Some(0)), ("web", Some(77)), ("web", None)] {
                let unsaved = UnsavedEvents { buffer: buffer.to_owned(), cpu: CpuId(3), events };
                let bytes = unsaved.write(abi);
                assert_eq!(UnsavedEvents::read(&option(bytes.clone()), abi).unwrap(), unsaved);
                assert!(UnsavedEvents::read(&option(bytes[..bytes.len() - 1].to_vec()), abi).is_err());
            }
        }
    }
}
