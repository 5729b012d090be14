//! The content of our RTRACE_UNSAVED options.

use super::scan::Scan;
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::file::trace_dat::put::FileBytes;
use crate::file::trace_dat::{FileError, LossCause, RawOption, UnsavedEvents};

/// In the place of a number of events.
const UNKNOWN: u64 = u64::MAX;

impl UnsavedEvents {
    /// Reads the bytes of an RTRACE_UNSAVED option. One without a cause is of a killed recorder.
    ///
    /// # Errors
    /// [`FileError::Option`] if they end too early.
    pub fn read(option: &RawOption, abi: Abi) -> Result<Self, FileError> {
        let mut scan = option.scan(abi);
        let fields = |scan: &mut Scan<'_>| {
            let (buffer, cpu, events) = (scan.cstr()?, scan.u32()?, scan.u64()?);
            let cause = if scan.remain() == 0 { 0 } else { scan.u32()? };
            Ok::<_, FileError>((buffer, cpu, events, cause))
        };
        let (buffer, cpu, events, cause) = fields(&mut scan).map_err(|_| option.error("it ends too early"))?;
        Ok(UnsavedEvents { buffer, cpu: CpuId(cpu), events: known(events), cause: LossCause(cause) })
    }

    /// The option's bytes.
    pub fn write(&self, abi: Abi) -> Vec<u8> {
        let mut out = FileBytes::new(abi);
        out.cstr(&self.buffer).u32(self.cpu.0).u64(self.events.unwrap_or(UNKNOWN));
        if self.cause != LossCause::KILLED {
            out.u32(self.cause.0);
        }
        out.bytes
    }

    /// As two numbers, of which neither is 0.
    pub(in crate::file::trace_dat) fn as_account(&self) -> (u64, u64) {
        (u64::from(self.cause.0).saturating_add(1), self.events.map_or(UNKNOWN, |events| events.saturating_add(1)))
    }

    /// From the numbers of [`UnsavedEvents::as_account`]; `None` if they are none.
    pub(in crate::file::trace_dat) fn from_account(
        buffer: &str,
        cpu: CpuId,
        (cause, events): (u64, u64),
    ) -> Option<Self> {
        let cause = LossCause(u32::try_from(cause.checked_sub(1)?).ok()?);
        let events = known(events).map(|events| events.saturating_sub(1));
        Some(UnsavedEvents { buffer: buffer.to_owned(), cpu, events, cause })
    }
}

fn known(events: u64) -> Option<u64> {
    Some(events).filter(|n| *n != UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;
    use crate::file::trace_dat::{FilePart, OptionId};

    #[test]
    fn what_is_written_is_read() {
        let option = |data| RawOption { id: OptionId::RTRACE_UNSAVED, data, offset: 0, place: FilePart::Prefix };
        for endian in [Endian::Little, Endian::Big] {
            let abi = Abi { endian, long_size: 8 };
            let causes = [LossCause::KILLED, LossCause::CLEARED, LossCause(77)];
            for ((buffer, events), cause) in [("", Some(0)), ("web", Some(77)), ("web", None)].into_iter().zip(causes) {
                let unsaved = UnsavedEvents { buffer: buffer.to_owned(), cpu: CpuId(3), events, cause };
                let account = UnsavedEvents::from_account(buffer, CpuId(3), unsaved.as_account());
                assert_eq!(account, Some(unsaved.clone()));
                let bytes = unsaved.write(abi);
                assert_eq!(UnsavedEvents::read(&option(bytes.clone()), abi).unwrap(), unsaved);
                assert!(UnsavedEvents::read(&option(bytes[..bytes.len() - 1].to_vec()), abi).is_err());
            }
        }
    }
}
