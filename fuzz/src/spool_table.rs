//! Any bytes as the table of an unfinished recording's spools: an error, or a table that reads back as itself from what
//! it writes, of names without `/`.

use rtrace::abi::{Abi, Endian};
use rtrace::internal::trace_dat::{OptionId, FilePart, RawOption, SpoolTable};

pub(crate) fn run(data: &[u8]) {
    for endian in [Endian::Little, Endian::Big] {
        let abi = Abi { endian, long_size: 8 };
        let option = |data| RawOption { id: OptionId::RTRACE_SPOOLS, data, offset: 0, place: FilePart::Prefix };
        let Ok(table) = SpoolTable::read(&option(data.to_vec()), abi) else { continue };
        assert!(table.entries.iter().all(|entry| !entry.file.contains('/')));
        let written = table.write(abi);
        assert!(SpoolTable::read(&option(written), abi).is_ok_and(|again| again == table));
    }
}
