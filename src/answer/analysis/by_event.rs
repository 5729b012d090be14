//! The meaning of each event to an analysis, found by a record's id.

use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::{Common, Record};
use crate::kernel::format::EventFormat;

/// Meanings of a recording's events; those without one are passed over.
#[derive(Clone, Debug)]
pub(crate) struct ByEvent<M> {
    /// Byte order and word size of the records.
    pub(crate) abi: Abi,
    common: Common,
    /// By id.
    meanings: Vec<Option<M>>,
}

impl<M: Clone> ByEvent<M> {
    /// Meanings as `of` gives them; the first format says where all have their common fields.
    pub(crate) fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        of: impl Fn(&EventFormat) -> Option<M>,
    ) -> Self {
        let mut events = ByEvent { abi, common: Common::default(), meanings: Vec::new() };
        for (number, format) in formats.into_iter().enumerate() {
            if number == 0 {
                events.common = Common::of(format);
            }
            let Some(meaning) = of(format) else { continue };
            let id = usize::from(format.id.0);
            if events.meanings.len() <= id {
                events.meanings.resize(id + 1, None);
            }
            if let Some(place) = events.meanings.get_mut(id) {
                *place = Some(meaning);
            }
        }
        events
    }

    /// True if events of this type have a meaning.
    pub(crate) fn has(&self, id: u16) -> bool {
        matches!(self.meanings.get(usize::from(id)), Some(Some(_)))
    }

    /// The meanings of all events.
    pub(crate) fn all(&self) -> impl Iterator<Item = &M> {
        self.meanings.iter().flatten()
    }

    /// The meaning of a record's event.
    #[inline]
    pub(crate) fn of(&self, record: &Record<'_>) -> Option<&M> {
        self.of_data(record.data)
    }

    /// The meaning of the event whose record has these bytes.
    #[inline]
    pub(crate) fn of_data(&self, data: &[u8]) -> Option<&M> {
        self.meanings.get(usize::from(self.common.event_id(self.abi, data)))?.as_ref()
    }

    /// The id of a record's event.
    #[inline]
    pub(crate) fn id(&self, record: &Record<'_>) -> u16 {
        self.common.event_id(self.abi, record.data)
    }

    /// `common_flags`: in what context the record's code ran.
    #[inline]
    pub(super) fn flags(&self, record: &Record<'_>) -> u8 {
        self.common.flags(self.abi, record.data)
    }

    /// The task that was running.
    #[inline]
    pub(crate) fn task(&self, record: &Record<'_>) -> Pid {
        self.common.pid(self.abi, record.data)
    }
}
