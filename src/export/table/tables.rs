//! The exporter of one table per event type.

use super::derived::{self, Derived, Put};
use super::event_table::EventTable;
use super::layout;
use super::parquet::{PageCodec, ParquetWriter};
use super::rows::{Columns, Rows};
use crate::abi::Abi;
use crate::analysis::{Analysis, Ordered, Slices};
use crate::event::{Common, Consumed, Lost, Record};
use crate::export::Exporter;
use crate::export::frames::frame;
use crate::format::EventFormat;
use crate::merge::ahead::Commit;
use crate::symbols::Comms;
use crate::units::Pid;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::OnceLock;

/// Rows of a page: those of each event type are kept until there are so many.
const BATCH: usize = 2048;

/// A recording whose events become tables.
pub struct TableFile<'t> {
    /// The formats of its events.
    pub formats: Vec<&'t EventFormat>,
    /// The recorded kernel's ABI.
    pub abi: Abi,
    /// Its task names.
    pub comms: &'t Comms,
    /// Thread and process of its tasks, ascending.
    pub processes: &'t [(Pid, Pid)],
    /// The recorded machine's name: the partition `host`. Empty if it is not known.
    pub host: String,
    /// The day of its first event, as in `2026-11-24`: the partition `date`.
    pub date: Option<String>,
    /// Its path, as given.
    pub path: String,
    /// The name of its files, without their ending; of recordings of one host and day, each needs one of its own.
    pub stem: String,
    /// The kernel's release.
    pub kernel: String,
    /// The machine's architecture.
    pub machine: String,
    /// Number of CPUs.
    pub cpus: u32,
    /// The trace clock.
    pub clock: String,
    /// The unit of all times: `ns` or `ticks`.
    pub unit: &'static str,
    /// Nanoseconds to add to a time to get one since 1970, if the recording says.
    pub real_offset: Option<i64>,
    /// The name of a system call, by its number.
    pub call: &'t (dyn Fn(i64) -> Option<&'static str> + Sync),
}

/// One of the buffers whose records come.
#[derive(Clone, Copy, Debug)]
pub struct TableBuffer<'t> {
    /// Its recording: index into those given to [`Tables::new`].
    pub file: usize,
    /// The instance's name; `None` for the top buffer.
    pub instance: Option<&'t str>,
}

/// Writes a Parquet file per event type, and those of the derived tables, as pieces that [`Frames`](crate::export::Frames) takes apart.
pub struct Tables<'t> {
    files: Vec<File<'t>>,
    buffers: Vec<Buffer<'t>>,
}

struct File<'t> {
    what: TableFile<'t>,
    common: Common,
    /// By event id.
    types: Vec<TableSlot<'t>>,
}

#[derive(Default)]
struct TableSlot<'t> {
    format: Option<&'t EventFormat>,
    /// Made when its first record comes.
    table: OnceLock<Box<EventTable>>,
}

impl TableSlot<'_> {
    fn table(&self, abi: Abi) -> Option<&EventTable> {
        let format = self.format?;
        Some(self.table.get_or_init(|| Box::new(EventTable::new(format, abi))))
    }
}

struct Buffer<'t> {
    what: TableBuffer<'t>,
    slices: Slices,
}

/// Rows that have not been encoded.
pub struct TablesState {
    files: Vec<Pending>,
    slices: Vec<Ordered<Slices>>,
    scratch: Vec<u8>,
    /// The files being made; none ahead of a segment's turn.
    made: Option<Made>,
}

#[derive(Default)]
struct Made {
    /// Made with the first page.
    codec: Option<PageCodec>,
    /// By recording, and event id or derived table.
    writers: BTreeMap<(usize, TableKey), ParquetWriter>,
    failed: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TableKey {
    Event(u16),
    Derived(usize),
}

/// Rows of one recording.
struct Pending {
    /// By event id.
    events: Vec<Option<Box<Rows>>>,
    /// The ids that have rows.
    ids: BTreeSet<u16>,
    derived: Vec<Rows>,
    count: u64,
    lost: u64,
    /// Times of the first and the last event.
    span: Option<(u64, u64)>,
}

impl Pending {
    fn new() -> Self {
        let derived = Derived::ALL.iter().map(|table| Rows::new(&table.columns())).collect();
        Pending { events: Vec::new(), ids: BTreeSet::new(), derived, count: 0, lost: 0, span: None }
    }

    #[inline]
    fn event(&mut self, id: u16, table: &EventTable) -> &mut Rows {
        let index = usize::from(id);
        if self.events.len() <= index {
            self.events.resize_with(index + 1, || None);
        }
        let (ids, slot) = (&mut self.ids, &mut self.events[index]);
        let rows = slot.get_or_insert_with(|| Box::new(Rows::new(&table.columns)));
        if rows.len() == 0 {
            ids.insert(id);
        }
        rows
    }

    fn derived(&mut self, table: Derived) -> &mut Rows {
        &mut self.derived[table as usize]
    }
}

impl TablesState {
    /// Number of files made.
    pub fn files(&self) -> usize {
        self.made.as_ref().map_or(0, |made| made.writers.len())
    }

    /// Why the tables are not whole, if they are not.
    pub fn failed(&self) -> Option<&str> {
        self.made.as_ref()?.failed.as_deref()
    }
}

impl<'t> Tables<'t> {
    /// An exporter for records of these buffers: [`Record::buffer`] is an index into them.
    pub fn new(files: Vec<TableFile<'t>>, buffers: Vec<TableBuffer<'t>>) -> Self {
        let files: Vec<File<'t>> = files.into_iter().map(File::new).collect();
        let slices = |(number, what): (usize, TableBuffer<'t>)| {
            let file = &files[what.file].what;
            let base = (number as i64) << 32;
            Buffer { what, slices: Slices::new(file.formats.iter().copied(), file.abi, base) }
        };
        let buffers = buffers.into_iter().enumerate().map(slices).collect();
        Tables { files, buffers }
    }

    fn pending(&self, made: Option<Made>, slices: Vec<Ordered<Slices>>) -> TablesState {
        TablesState { files: self.files.iter().map(|_| Pending::new()).collect(), slices, scratch: Vec::new(), made }
    }

    /// Encodes the rows of a table: all that fill a batch, at the `end` the rest too.
    fn encode(&self, file: usize, key: TableKey, rows: &mut Rows, made: &mut Made, end: bool, out: &mut Vec<u8>) {
        while made.failed.is_none() && (rows.len() >= BATCH || end && rows.len() > 0) {
            if let Err(error) = self.encode_batch(file, key, rows, made, out) {
                made.failed = Some(format!("{}: {error}", self.files[file].table(key).0));
            }
        }
    }

    fn encode_batch(
        &self,
        file: usize,
        key: TableKey,
        rows: &mut Rows,
        made: &mut Made,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let writer = match made.writers.entry((file, key)) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(place) => {
                let (what, (name, columns)) = (&self.files[file].what, self.files[file].table(key));
                let path = layout::file(&what.host, what.date.as_deref(), &name, &what.stem);
                place.insert(ParquetWriter::new(path, &columns))
            }
        };
        let codec = match &mut made.codec {
            Some(codec) => codec,
            none => none.insert(PageCodec::new()?),
        };
        writer.write(rows, rows.len().min(BATCH), codec)?;
        let piece = writer.take();
        if !piece.is_empty() {
            frame(out, &writer.name, &piece);
        }
        Ok(())
    }

    /// Encodes what fills batches of all tables; at the `end` everything.
    fn encode_all(&self, state: &mut TablesState, end: bool, out: &mut Vec<u8>) {
        let Some(made) = &mut state.made else { return };
        for (file, pending) in state.files.iter_mut().enumerate() {
            for id in &pending.ids {
                if let Some(Some(rows)) = pending.events.get_mut(usize::from(*id)) {
                    self.encode(file, TableKey::Event(*id), rows, made, end, out);
                }
            }
            for (table, rows) in pending.derived.iter_mut().enumerate() {
                self.encode(file, TableKey::Derived(table), rows, made, end, out);
            }
        }
    }

    /// Makes rows of the slices that have ended.
    fn take_slices(&self, buffer: usize, state: &mut TablesState) {
        let file = self.buffers[buffer].what.file;
        let (pending, call) = (&mut state.files[file], self.files[file].what.call);
        if let Some(Ordered::Known(slices)) = state.slices.get_mut(buffer) {
            for slice in slices.take() {
                derived::slice(pending.derived(derived::table_of(&slice)), &slice, call);
            }
        }
    }
}

impl<'t> File<'t> {
    fn new(what: TableFile<'t>) -> Self {
        let mut types = Vec::new();
        for format in &what.formats {
            let id = usize::from(format.id.0);
            if types.len() <= id {
                types.resize_with(id + 1, TableSlot::default);
            }
            types[id].format = Some(*format);
        }
        let common = what.formats.first().map(|format| Common::of(format)).unwrap_or_default();
        File { what, common, types }
    }

    fn event_table(&self, id: u16) -> Option<&EventTable> {
        self.types.get(usize::from(id))?.table(self.what.abi)
    }

    /// A table's name and columns.
    fn table(&self, key: TableKey) -> (String, Vec<(String, super::column::Cell)>) {
        let columns = |columns: &Columns| columns.to_vec();
        match key {
            TableKey::Derived(table) => Derived::ALL
                .get(table)
                .map_or_else(|| (String::new(), Vec::new()), |table| (table.name().to_owned(), table.columns())),
            TableKey::Event(id) => {
                let format = self.types.get(usize::from(id)).and_then(|slot| slot.format);
                let name = format.map(|format| format!("{}.{}", format.system, format.name));
                (name.unwrap_or_default(), self.event_table(id).map_or_else(Vec::new, |table| columns(&table.columns)))
            }
        }
    }

    fn meta(&self, pending: &mut Pending) {
        let (what, span) = (&self.what, pending.span);
        let number = |number: Option<i64>| number.map_or(Put::Null, Put::Number);
        let cells = [
            Put::text(&what.path),
            Put::text(&what.kernel),
            Put::text(&what.machine),
            Put::Number(what.cpus.into()),
            Put::text(&what.clock),
            Put::text(what.unit),
            number(span.map(|span| span.0 as i64)),
            number(span.map(|span| span.1 as i64)),
            Put::Number(pending.count as i64),
            Put::Number(pending.lost as i64),
            number(what.real_offset),
            Put::text(env!("CARGO_PKG_VERSION")),
        ];
        derived::row(pending.derived(Derived::Meta), &cells);
    }
}

impl Exporter for Tables<'_> {
    type State = TablesState;

    fn state(&self) -> TablesState {
        let slices = self.buffers.iter().map(|buffer| Analysis::begin(&buffer.slices)).collect();
        self.pending(Some(Made::default()), slices)
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut TablesState,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let Buffer { what, slices } = &self.buffers[record.buffer];
        let file = &self.files[what.file];
        let pending = &mut state.files[what.file];
        let at = record.timestamp.0;
        pending.count += 1;
        pending.span = Some((pending.span.map_or(at, |span| span.0), at));
        if record.lost != Lost::None {
            derived::lost(pending.derived(Derived::Lost), record, what.instance);
            if let Lost::Count(count) = record.lost {
                pending.lost = pending.lost.saturating_add(count);
            }
        }
        let id = file.common.event_id(file.what.abi, record.data);
        match file.event_table(id) {
            None => {
                let pid = file.common.pid(file.what.abi, record.data);
                derived::unknown(pending.derived(Derived::Unknown), record, id, pid, what.instance);
            }
            Some(table) => {
                let rows = pending.event(id, table);
                table.row(record, file.what.comms, what.instance, rows, &mut state.scratch);
                if let Some(made) = &mut state.made {
                    self.encode(what.file, TableKey::Event(id), rows, made, false, out);
                }
            }
        }
        if let Some(part) = state.slices.get_mut(record.buffer) {
            Analysis::record(slices, record, part);
        }
        if state.made.is_some() {
            self.take_slices(record.buffer, state);
            let Some(made) = &mut state.made else { return Consumed::One };
            for (table, rows) in state.files[what.file].derived.iter_mut().enumerate() {
                self.encode(what.file, TableKey::Derived(table), rows, made, false, out);
            }
        }
        Consumed::One
    }

    fn end(&self, state: &mut TablesState, out: &mut Vec<u8>) {
        for (buffer, part) in state.slices.iter_mut().enumerate() {
            let Ordered::Known(slices) = part else { continue };
            slices.close();
            let what = &self.files[self.buffers[buffer].what.file].what;
            let pending = &mut state.files[self.buffers[buffer].what.file];
            for thread in slices.threads() {
                let process = what.processes.binary_search_by_key(&thread.tid, |(thread, _)| *thread);
                let process = process.ok().and_then(|at| what.processes.get(at)).map(|(_, process)| *process);
                derived::thread(pending.derived(Derived::Thread), thread, process, what.comms);
            }
        }
        (0..self.buffers.len()).for_each(|buffer| self.take_slices(buffer, state));
        for (file, pending) in self.files.iter().zip(&mut state.files) {
            let processes: BTreeSet<Pid> = file.what.processes.iter().map(|(_, process)| *process).collect();
            for process in processes {
                derived::process(pending.derived(Derived::Process), process, file.what.comms);
            }
            file.meta(pending);
        }
        self.encode_all(state, true, out);
        let Some(made) = &mut state.made else { return };
        let Some(codec) = &mut made.codec else { return };
        for writer in std::mem::take(&mut made.writers).into_values() {
            let name = writer.name.clone();
            match writer.finish(codec) {
                Ok(piece) => frame(out, &name, &piece),
                Err(error) => made.failed = Some(format!("{name}: {error}")),
            }
        }
    }

    fn fork(&self, _: &TablesState, used: Option<TablesState>) -> TablesState {
        let (files, used) = match used {
            Some(TablesState { files, slices, .. }) => (files, slices),
            None => (self.files.iter().map(|_| Pending::new()).collect(), Vec::new()),
        };
        let mut used = used.into_iter().map(Some).collect::<Vec<_>>();
        used.resize_with(self.buffers.len(), || None);
        let slices = self.buffers.iter().zip(used).map(|(buffer, used)| Analysis::fork(&buffer.slices, used)).collect();
        TablesState { files, slices, scratch: Vec::new(), made: None }
    }

    fn commit(&self, known: &mut TablesState, done: &mut TablesState, out: &mut Vec<u8>) -> Commit {
        for (file, (known, done)) in known.files.iter_mut().zip(&mut done.files).enumerate() {
            for id in std::mem::take(&mut done.ids) {
                // Its memory stays with the segment, for the next one.
                let (Some(table), Some(Some(rows))) =
                    (self.files[file].event_table(id), done.events.get_mut(usize::from(id)))
                else {
                    continue;
                };
                known.event(id, table).append(rows);
            }
            known.derived.iter_mut().zip(&mut done.derived).for_each(|(known, done)| known.append(done));
            known.count += std::mem::take(&mut done.count);
            known.lost = known.lost.saturating_add(std::mem::take(&mut done.lost));
            if let Some((first, last)) = done.span.take() {
                known.span = Some((known.span.map_or(first, |span| span.0), last));
            }
        }
        for (buffer, (known, done)) in known.slices.iter_mut().zip(&mut done.slices).enumerate() {
            Analysis::merge(&self.buffers[buffer].slices, known, done);
        }
        (0..self.buffers.len()).for_each(|buffer| self.take_slices(buffer, known));
        self.encode_all(known, false, out);
        Commit::Accept
    }
}
