//! A guest, as its host's recording names it: the content of GUEST options.
//!
//! ```text
//! name, NUL, u64 TRACEID of its recording, u32 CPUs
//! per CPU  u32 number, i32 thread of the host that runs it: -1 if that is not known
//! ```

use crate::base::abi::{Abi, Cursor};
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::RawOption;
use crate::file::trace_dat::put::FileBytes;

/// Another machine that was recorded at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestFacts {
    /// Name of the guest.
    pub name: String,
    /// TRACEID of its file.
    pub id: u64,
    /// Its CPUs, and the host's threads that run them.
    pub cpus: Vec<(CpuId, Option<Pid>)>,
}

impl GuestFacts {
    /// Reads the bytes of a GUEST option; `None` if they say nothing of the kind.
    pub fn read(option: &RawOption, abi: Abi) -> Option<Self> {
        let mut cursor = Cursor::new(&option.data, abi);
        let name = String::from_utf8_lossy(cursor.cstr().ok()?).into_owned();
        let (id, count) = (cursor.u64().ok()?, cursor.u32().ok()?);
        let mut cpus = Vec::new();
        for _ in 0..count {
            let (cpu, thread) = (cursor.u32().ok()?, cursor.u32().ok()?.cast_signed());
            cpus.push((CpuId(cpu), (thread != -1).then_some(Pid(thread))));
        }
        cursor.rest().is_empty().then_some(GuestFacts { name, id, cpus })
    }

    /// The option's bytes.
    pub fn write(&self, abi: Abi) -> Vec<u8> {
        let mut out = FileBytes::new(abi);
        out.cstr(&self.name).u64(self.id).u32(self.cpus.len() as u32);
        for (cpu, thread) in &self.cpus {
            out.u32(cpu.0).u32(thread.map_or(-1, |thread| thread.0).cast_unsigned());
        }
        out.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;
    use crate::file::trace_dat::{FilePart, OptionId};

    #[test]
    fn what_is_written_is_read() {
        let option = |data| RawOption { id: OptionId::GUEST, data, offset: 0, place: FilePart::Prefix };
        let cpus = vec![(CpuId(0), Some(Pid(4300))), (CpuId(3), None)];
        let facts = GuestFacts { name: "vm".to_owned(), id: 0x0102_0304_0506_0708, cpus };
        for endian in [Endian::Little, Endian::Big] {
            let abi = Abi { endian, long_size: 8 };
            let bytes = facts.write(abi);
            assert_eq!(GuestFacts::read(&option(bytes.clone()), abi).as_ref(), Some(&facts));
            assert_eq!(GuestFacts::read(&option(bytes[..bytes.len() - 1].to_vec()), abi), None);
            assert_eq!(GuestFacts::read(&option([&bytes[..], &[0]].concat()), abi), None);
        }
    }
}
