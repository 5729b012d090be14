//! Records to lines.

use super::CsvColumn;
use super::program::{CsvBuffer, CsvProgram, LineContext, RepeatedCells, field};
use super::quoting::quote;
use crate::export::Exporter;
use crate::export::rendered::TaskCache;
use crate::kernel::event::{Consumed, Record, TypedEvent};
use crate::kernel::format::{ById, EventFormat};
use crate::kernel::symbols::{Comms, Kallsyms};
use crate::read::merge::ahead::Commit;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// Writes a line per event, none of which depends on another: records may be dealt out to clones.
#[derive(Clone)]
pub struct Csv<'t> {
    columns: Arc<[CsvColumn]>,
    buffers: Arc<[CsvTypes<'t>]>,
    /// `PID,COMM` of tasks of `tasks_of`.
    tasks: TaskCache,
    tasks_of: Option<&'t Comms>,
    /// Cells of records themselves, kept while the same bytes come again.
    repeats: RepeatedCells,
}

struct CsvTypes<'t> {
    what: CsvBuffer<'t>,
    types: ById<CsvType<'t>>,
    /// The line of an event without a format.
    unknown: CsvProgram,
    kallsyms: Option<Arc<Kallsyms>>,
}

struct CsvType<'t> {
    format: &'t EventFormat,
    /// Made when its first record comes.
    program: OnceLock<Box<CsvProgram>>,
}

/// Events do not depend on each other: the state is caches.
impl<'t> Exporter for Csv<'t> {
    type State = Csv<'t>;

    fn state(&self) -> Csv<'t> {
        self.clone()
    }

    fn begin(&self, state: &mut Csv<'t>, out: &mut Vec<u8>) {
        state.header(out);
    }

    #[inline]
    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut Csv<'t>,
        out: &mut Vec<u8>,
    ) -> Consumed {
        Csv::event(state, record, out);
        Consumed::One
    }

    fn fork(&self, known: &Csv<'t>, used: Option<Csv<'t>>) -> Csv<'t> {
        used.unwrap_or_else(|| known.clone())
    }

    fn commit(&self, _: &mut Csv<'t>, _: &mut Csv<'t>, _: &mut Vec<u8>) -> Commit {
        Commit::Accept
    }
}

impl<'t> Csv<'t> {
    /// An exporter of these columns for records of these buffers: [`Record::buffer`] is an index into them.
    pub fn new(columns: Vec<CsvColumn>, buffers: impl IntoIterator<Item = CsvBuffer<'t>>) -> Self {
        let buffers = buffers.into_iter().map(|what| CsvTypes::new(what, &columns)).collect();
        Csv {
            columns: columns.into(),
            buffers,
            tasks: TaskCache::new(),
            tasks_of: None,
            repeats: RepeatedCells::default(),
        }
    }

    /// The first of the columns that is a field which no event has.
    pub fn missing_field(&self) -> Option<&str> {
        let wanted = self.columns.iter().filter_map(|column| match column {
            CsvColumn::Field(name) => Some(name.as_str()),
            _ => None,
        });
        let wanted: Vec<&str> = wanted.collect();
        let mut left: HashSet<&str> = wanted.iter().copied().collect();
        for of in self.buffers.iter().flat_map(|buffer| buffer.types.values()) {
            if left.is_empty() {
                break;
            }
            let event = TypedEvent::new(of.format);
            left.retain(|name| field(&event, name).is_none());
        }
        wanted.into_iter().find(|name| left.contains(name))
    }

    /// Appends the line with the columns' names.
    pub fn header(&self, out: &mut Vec<u8>) {
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            quote(out, column.title().as_bytes());
        }
        out.push(b'\n');
    }

    /// Appends the line of `record`.
    ///
    /// # Panics
    /// If the record's buffer is none of those given to [`Csv::new`].
    #[inline]
    pub fn event(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        let Csv { columns, buffers, tasks, tasks_of, repeats } = self;
        let CsvTypes { what, types, unknown, kallsyms } = &buffers[record.buffer];
        if !tasks_of.is_some_and(|of| std::ptr::eq(of, what.comms)) {
            tasks.clear();
            repeats.forget();
            *tasks_of = Some(what.comms);
        }
        let id = record.data.first_chunk().map_or(0, |id| what.abi.u16(*id));
        let program = match types.get(id) {
            Some(CsvType { format, program }) => program.get_or_init(|| {
                Box::new(CsvProgram::new(columns, what, Some(&TypedEvent::new(format)), kallsyms.as_ref()))
            }),
            None => unknown,
        };
        let with = LineContext { abi: what.abi, comms: what.comms, wall: what.wall, tasks, id, repeats };
        program.write(record, with, out);
    }
}

impl<'t> CsvTypes<'t> {
    fn new(what: CsvBuffer<'t>, columns: &[CsvColumn]) -> Self {
        let types =
            what.formats.iter().map(|format| (format.id, CsvType { format, program: OnceLock::new() })).collect();
        let kallsyms = what.kallsyms.filter(|_| columns.contains(&CsvColumn::Fields));
        let kallsyms = kallsyms.map(|kallsyms| Arc::new(kallsyms.clone()));
        let unknown = CsvProgram::new(columns, &what, None, None);
        CsvTypes { what, types, unknown, kallsyms }
    }
}
