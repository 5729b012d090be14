//! The meaning of each event to an analysis, found by a record's id.
//! Fields that analyses read, found once per event type.

use crate::base::abi::Abi;
use crate::base::text::plain::until_nul;
use crate::base::units::Pid;
use crate::kernel::event::{Common, FieldPlace, Record, TypedField};
use crate::kernel::format::EventFormat;

/// The events that mean something to an analysis, and what all records have.
pub trait KnownEvents {
    /// True if events of the type `id` are among them.
    fn knows_id(&self, id: u16) -> bool;

    /// True if the record's event is among them.
    fn knows(&self, record: &Record<'_>) -> bool;

    /// The task that was running.
    fn task(&self, record: &Record<'_>) -> Pid;
}

impl<M: Clone> KnownEvents for ByEvent<M> {
    fn knows_id(&self, id: u16) -> bool {
        self.has(id)
    }

    #[inline]
    fn knows(&self, record: &Record<'_>) -> bool {
        self.of(record).is_some()
    }

    #[inline]
    fn task(&self, record: &Record<'_>) -> Pid {
        ByEvent::task(self, record)
    }
}

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

/// A number in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordNumber {
    offset: usize,
    size: usize,
}

impl RecordNumber {
    pub(crate) fn of(format: &EventFormat, field: &str) -> Option<Self> {
        format.field(field).map(|field| RecordNumber { offset: field.offset, size: field.size })
    }

    /// Without regard to its sign; of what is not a number, 0.
    #[inline]
    pub(crate) fn read(self, abi: Abi, data: &[u8]) -> u64 {
        if self.is_number() { abi.uint(data, self.offset, self.size).unwrap_or(0) } else { 0 }
    }

    /// With its sign, whatever the field's type says.
    #[inline]
    pub(crate) fn read_signed(self, abi: Abi, data: &[u8]) -> i64 {
        match self.size {
            1 => i64::from(self.read(abi, data) as i8),
            2 => i64::from(self.read(abi, data) as i16),
            4 => i64::from(self.read(abi, data) as i32),
            _ => self.read(abi, data) as i64,
        }
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self.size, 1 | 2 | 4 | 8)
    }
}

/// A text in a record, of a fixed length or `__data_loc`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordText(FieldPlace);

impl RecordText {
    pub(crate) fn of(format: &EventFormat, field: &str) -> Option<Self> {
        format.field(field).map(|field| RecordText(TypedField::new(format, field).place))
    }

    /// Up to its NUL.
    #[inline]
    pub(crate) fn read(self, abi: Abi, data: &[u8]) -> &[u8] {
        until_nul(self.0.bytes(abi, data).unwrap_or_default())
    }
}
