//! All event types of a file, by id.

use super::{Common, DecodeOptions, EventType};
use crate::abi::Abi;
use crate::format::EventFormat;
use crate::print_fmt::PrintFmtError;
use crate::symbols::Symbols;

/// Event types by id: a dense table, built once, immutable.
pub struct EventTypes {
    table: Vec<Option<Box<EventType>>>,
    common: Common,
    abi: Abi,
}

impl EventTypes {
    /// Compiles `formats`. Of two formats with one id the later one counts. `symbols` are asked for the addresses of
    /// kernel variables that print formats name.
    pub fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        symbols: &Symbols,
        options: &DecodeOptions,
    ) -> Self {
        let formats: Vec<&EventFormat> = formats.into_iter().collect();
        let blk = super::blk::format(formats.iter().copied());
        let mut table: Vec<Option<Box<EventType>>> = Vec::new();
        for format in formats.into_iter().chain(&blk) {
            let id = usize::from(format.id.0);
            if table.len() <= id {
                table.resize_with(id + 1, || None);
            }
            table[id] = Some(Box::new(EventType::new(format, abi, symbols, options)));
        }
        let common = table.iter().flatten().next().map(|first| Common::of(&first.format)).unwrap_or_default();
        super::handlers::link(&mut table, &common, abi, symbols, options);
        EventTypes { table, common, abi }
    }

    /// The type of events with this id.
    #[inline]
    pub fn get(&self, id: u16) -> Option<&EventType> {
        self.table.get(usize::from(id))?.as_deref()
    }

    /// All types, by rising id.
    pub fn iter(&self) -> impl Iterator<Item = &EventType> {
        self.table.iter().flatten().map(|b| &**b)
    }

    /// Where the fields lie that all events have.
    #[inline]
    pub fn common(&self) -> &Common {
        &self.common
    }

    /// The recorded kernel's ABI.
    #[inline]
    pub fn abi(&self) -> Abi {
        self.abi
    }

    /// The types whose print format could not be compiled and which have no handler, with the reason.
    pub fn failed(&self) -> impl Iterator<Item = (&EventType, &PrintFmtError)> {
        self.iter().filter_map(|t| t.failure().map(|e| (t, e)))
    }
}
