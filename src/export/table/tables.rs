//! The exporter of one table per event type.

use super::derived::{self, CellValue, Derived, DerivedRows, Sliced, Slicing, ThreadMembership};
use super::encoding::{Encoding, Tabled};
use super::event_table::{CalledFunctions, EventTable};
use super::keys;
use super::keys::TableKeys;
use super::pending::PendingRows;
use super::rows::{AddedRows, Columns, TableDescription, TableNote, TableRows};
use crate::answer::analysis::{Analysis, Ordered, Slices};
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::export::{Exporter, Outflow};
use crate::file::trace_dat::Cgroups;
use crate::kernel::event::{Common, Consumed, Lost, Record};
use crate::kernel::format::{ById, EventFormat};
use crate::kernel::symbols::{Comms, Kallsyms};
use crate::read::merge::ahead::Commit;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::{Arc, OnceLock};

/// Rows of a derived table that are kept before they are given to be encoded.
const ROWS: usize = 512;
/// Events that are kept while there are no segments.
const EVENTS: usize = 4096;

/// A recording whose events become tables.
pub struct TableFile<'t> {
    /// The formats of its events.
    pub formats: Vec<&'t EventFormat>,
    /// The recorded kernel's ABI.
    pub abi: Abi,
    /// Task names of the file.
    pub comms: &'t Comms,
    /// The kernel's functions.
    pub kallsyms: &'t Kallsyms,
    /// Its id, the same at each conversion and no other recording's.
    pub recording: u64,
    /// Thread and process of its tasks, ascending.
    pub processes: &'t [(Pid, Pid)],
    /// The cgroups of its tasks, if they were recorded.
    pub cgroups: Option<Cgroups>,
    /// The recorded machine's name: the partition `host`. Empty if it is not known.
    pub host: String,
    /// The day of its first event, as in `2026-11-24`: the partition `date`.
    pub date: Option<String>,
    /// Its path, as given.
    pub path: String,
    /// The beginning of its files' names, which the id follows.
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
    files: Vec<TableFileState<'t>>,
    buffers: Vec<TableTypes<'t>>,
}

struct TableFileState<'t> {
    what: TableFile<'t>,
    common: Common,
    /// By event id.
    types: ById<TableSlot<'t>>,
    keys: TableKeys,
    functions: CalledFunctions,
}

struct TableSlot<'t> {
    format: &'t EventFormat,
    /// Made when its first record comes.
    table: OnceLock<Box<EventTable>>,
}

impl TableSlot<'_> {
    fn table(&self, abi: Abi) -> &EventTable {
        self.table.get_or_init(|| Box::new(EventTable::new(self.format, abi)))
    }
}

struct TableTypes<'t> {
    what: TableBuffer<'t>,
    slices: Slices,
}

/// Events that were not handed over yet, and the files.
pub struct TablesState {
    files: Vec<PendingRows>,
    slices: Vec<Ordered<Slices>>,
    made: Arc<SharedTables>,
    /// False of segments, ahead of their turn.
    in_turn: bool,
    /// Number of events that were not handed over.
    kept: usize,
}

/// The tables so far; segments share them.
struct SharedTables {
    slicing: Slicing,
    encoding: Encoding<TableKey>,
}

/// A table: the recording's index, then the event's id or the table's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TableKey {
    Event(usize, u16),
    Derived(usize, usize),
}

impl TablesState {
    /// The reason why the tables are not whole, if they are not.
    pub fn failed(&self) -> Option<String> {
        self.made.encoding.failed()
    }
}

impl<'t> Tables<'t> {
    /// An exporter for records of these buffers: [`Record::buffer`] is an index into them.
    pub fn new(files: Vec<TableFile<'t>>, buffers: Vec<TableBuffer<'t>>) -> Self {
        let files: Vec<TableFileState<'t>> = files.into_iter().map(TableFileState::new).collect();
        let slices = |what: TableBuffer<'t>| {
            let TableFileState { what: file, keys, .. } = &files[what.file];
            let base = keys.tasks(what.instance);
            TableTypes { what, slices: Slices::new(file.formats.iter().copied(), file.abi, base) }
        };
        let buffers = buffers.into_iter().map(slices).collect();
        Tables { files, buffers }
    }

    fn empty(&self, made: Arc<SharedTables>) -> TablesState {
        let files = self.files.iter().map(|_| PendingRows::new()).collect();
        let slices = self.buffers.iter().map(|buffer| Analysis::fork(&buffer.slices, None)).collect();
        TablesState { files, slices, made, in_turn: false, kept: 0 }
    }

    /// Hands over the events of `state`, whose turn it is. [`Tables::work`] has the rest to do.
    fn hand_over(&self, state: &mut TablesState) {
        let TablesState { files, slices, made, kept, .. } = state;
        *kept = 0;
        for (file, pending) in files.iter_mut().enumerate() {
            for id in std::mem::take(&mut pending.ids) {
                if let Some(records) = pending.events.get_mut(usize::from(id)) {
                    made.encoding.add(TableKey::Event(file, id), AddedRows::Records(records), self);
                }
            }
            self.encode(file, &mut pending.derived, 1, made);
        }
        let mut used = made.slicing.spare().unwrap_or_default().into_iter();
        let next = self.buffers.iter().map(|buffer| Analysis::fork(&buffer.slices, used.next())).collect();
        made.slicing.add(std::mem::replace(slices, next));
    }

    /// Gives rows of derived tables to be encoded, where they are this many.
    fn encode(&self, file: usize, derived: &mut DerivedRows, least: usize, made: &SharedTables) {
        for (table, rows) in derived.0.iter_mut().enumerate() {
            if rows.len() >= least {
                made.encoding.add(TableKey::Derived(file, table), AddedRows::Rows(rows), self);
            }
        }
    }

    /// Does what was handed over, but for what another thread does.
    fn work(&self, made: &SharedTables) {
        let of: Vec<&Slices> = self.buffers.iter().map(|buffer| &buffer.slices).collect();
        made.slicing.work(&of, |sliced| {
            self.take_slices(sliced);
            for (file, rows) in sliced.rows.iter_mut().enumerate() {
                self.encode(file, rows, ROWS, made);
            }
        });
        made.encoding.work(self);
    }

    /// Makes rows of the slices that have ended.
    fn take_slices(&self, Sliced { slices, rows }: &mut Sliced) {
        for (buffer, part) in self.buffers.iter().zip(slices) {
            let (Ordered::Known(slices), file) = (part, buffer.what.file) else { continue };
            for slice in slices.take() {
                derived::slice(rows[file].of(derived::table_of(&slice)), &slice, self.files[file].what.call);
            }
        }
    }
}

impl<'t> TableFileState<'t> {
    fn new(what: TableFile<'t>) -> Self {
        let slot = |format: &&'t EventFormat| (format.id, TableSlot { format, table: OnceLock::new() });
        let types = what.formats.iter().map(slot).collect();
        let common = what.formats.first().map(|format| Common::of(format)).unwrap_or_default();
        let keys = TableKeys::of(what.recording);
        TableFileState { what, common, types, keys, functions: CalledFunctions::default() }
    }

    /// The metadata of each of its files.
    fn notes(&self, pending: &PendingRows) -> Vec<TableNote> {
        let what = &self.what;
        let time = |time: Option<u64>| time.map(|time| (time as i64).to_string()).unwrap_or_default();
        vec![
            ("rtrace.recording", keys::id(what.recording)),
            ("rtrace.host", what.host.clone()),
            ("rtrace.kernel", what.kernel.clone()),
            ("rtrace.machine", what.machine.clone()),
            ("rtrace.clock", what.clock.clone()),
            ("rtrace.first_ts", time(pending.span.map(|span| span.0))),
            ("rtrace.last_ts", time(pending.span.map(|span| span.1))),
            ("rtrace.real_offset", what.real_offset.map(|offset| offset.to_string()).unwrap_or_default()),
            ("rtrace.events_lost", pending.lost.to_string()),
        ]
    }

    /// Rows of the functions whose addresses the events have.
    fn symbols(&self) -> DerivedRows {
        let mut rows = DerivedRows::new();
        for address in self.functions.take() {
            if let Some(symbol) = self.what.kallsyms.lookup(address) {
                derived::symbol(rows.of(Derived::Symbol), address, &symbol);
            }
        }
        rows
    }

    /// True if a format describes the events of this type.
    #[inline]
    fn has(&self, id: u16) -> bool {
        self.types.get(id).is_some()
    }

    fn event_table(&self, id: u16) -> Option<&EventTable> {
        Some(self.types.get(id)?.table(self.what.abi))
    }

    fn meta(&self, pending: &PendingRows, rows: &mut DerivedRows) {
        let (what, span) = (&self.what, pending.span);
        let number = |number: Option<i64>| number.map_or(CellValue::Null, CellValue::Number);
        let cells = [
            CellValue::text(&what.path),
            CellValue::text(&what.kernel),
            CellValue::text(&what.machine),
            CellValue::Number(what.cpus.into()),
            CellValue::text(&what.clock),
            CellValue::text(what.unit),
            number(span.map(|span| span.0 as i64)),
            number(span.map(|span| span.1 as i64)),
            CellValue::Number(pending.count as i64),
            CellValue::Number(pending.lost as i64),
            number(what.real_offset),
            CellValue::text(env!("CARGO_PKG_VERSION")),
        ];
        derived::row(rows.of(Derived::Meta), cells);
    }
}

impl Tabled for Tables<'_> {
    type Key = TableKey;

    fn file(&self, table: TableKey) -> TableDescription {
        let (file, name, columns) = match table {
            TableKey::Derived(file, table) => {
                let table = Derived::ALL.get(table);
                (file, table.map(|table| table.name().to_owned()), table.map(|table| table.columns()))
            }
            TableKey::Event(file, id) => {
                let of = &self.files[file];
                let format = of.types.get(id).map(|slot| slot.format);
                let name = format.map(|format| format!("{}.{}", format.system, format.name));
                (file, name, of.event_table(id).map(|table| table.columns.clone()))
            }
        };
        let what = &self.files[file].what;
        let recording = keys::id(what.recording);
        let stem = format!("{}-{recording}", what.stem);
        TableDescription {
            name: keys::file(&what.host, what.date.as_deref(), &name.unwrap_or_default(), &stem),
            columns: columns.unwrap_or_default(),
            recording: Some(recording),
            offset: what.real_offset.filter(|_| what.unit == "ns"),
        }
    }

    fn columns(&self, table: TableKey) -> &Columns {
        let TableKey::Event(file, id) = table else { return &[] };
        self.files[file].event_table(id).map_or(&[], |table| &table.columns)
    }

    fn add_rows(&self, table: TableKey, records: &[Record<'_>], rows: &mut TableRows) {
        let TableKey::Event(file, id) = table else { return };
        let file = &self.files[file];
        let Some(table) = file.event_table(id) else { return };
        file.functions.add(table, file.what.kallsyms, records);
        table.add_rows(records, file.what.comms, |buffer| self.buffers.get(buffer)?.what.instance, rows);
    }
}

impl Exporter for Tables<'_> {
    type State = TablesState;

    fn state(&self) -> TablesState {
        let known = self.buffers.iter().map(|buffer| Analysis::begin(&buffer.slices)).collect();
        let rows = self.files.iter().map(|_| DerivedRows::new()).collect();
        let made = Arc::new(SharedTables { slicing: Slicing::new(known, rows), encoding: Encoding::new() });
        TablesState { in_turn: true, ..self.empty(made) }
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut TablesState,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let TableTypes { what, slices } = &self.buffers[record.buffer];
        let file = &self.files[what.file];
        let pending = &mut state.files[what.file];
        let at = record.timestamp.0;
        pending.count += 1;
        pending.span = Some((pending.span.map_or(at, |span| span.0), at));
        if record.lost != Lost::None {
            derived::lost(pending.derived.of(Derived::Lost), record, what.instance);
            if let Lost::Count(count) = record.lost {
                pending.lost = pending.lost.saturating_add(count);
            }
        }
        let id = file.common.event_id(file.what.abi, record.data);
        if file.has(id) {
            pending.event(id).push(record);
        } else {
            let pid = file.common.pid(file.what.abi, record.data);
            derived::unknown(pending.derived.of(Derived::Unknown), record, id, pid, what.instance);
        }
        if let Some(part) = state.slices.get_mut(record.buffer) {
            Analysis::record(slices, record, || None, part);
        }
        state.kept += 1;
        if state.in_turn && state.kept >= EVENTS {
            self.hand_over(state);
            self.work(&state.made);
            state.made.encoding.take(out);
        }
        Consumed::One
    }

    fn end(&self, state: &mut TablesState, _: &mut Vec<u8>) {
        self.hand_over(state);
        self.work(&state.made);
        let mut sliced = state.made.slicing.known();
        for (buffer, part) in self.buffers.iter().zip(&mut sliced.slices) {
            if let Ordered::Known(slices) = part {
                slices.close(state.files[buffer.what.file].span.map_or(0, |(_, last)| last));
            }
        }
        self.take_slices(&mut sliced);
        let Sliced { slices, rows } = &mut *sliced;
        for (buffer, part) in self.buffers.iter().zip(slices) {
            let Ordered::Known(slices) = part else { continue };
            let TableFileState { what, keys, .. } = &self.files[buffer.what.file];
            let mut last: HashMap<Pid, i64> = HashMap::new();
            last.extend(slices.threads().iter().map(|thread| (thread.tid, thread.utid)));
            for thread in slices.threads() {
                let process = what.processes.binary_search_by_key(&thread.tid, |(thread, _)| *thread);
                let process = process.ok().and_then(|at| what.processes.get(at)).map(|(_, process)| *process);
                let upid = process.map(|process| keys.process(process));
                // Of a number that was given again the last task has the last cgroup.
                let is_last = last.get(&thread.tid) == Some(&thread.utid);
                let cgroups = what.cgroups.as_ref().filter(|cgroups| is_last && cgroups.until().is_none());
                let last = cgroups.and_then(|cgroups| Some((cgroups, cgroups.of(thread.tid).last()?)));
                let member = ThreadMembership {
                    upid,
                    cgroup: last.map(|(_, (_, path))| path),
                    container: last.and_then(|(cgroups, (_, path))| cgroups.container(path)),
                    inner_tid: last.and_then(|(cgroups, _)| cgroups.inner_pid(thread.tid, u64::MAX)),
                };
                derived::thread(rows[buffer.what.file].of(Derived::Thread), thread, &member, what.comms);
            }
        }
        for (number, ((file, pending), rows)) in self.files.iter().zip(&state.files).zip(rows).enumerate() {
            let processes: BTreeSet<Pid> = file.what.processes.iter().map(|(_, process)| *process).collect();
            for process in processes {
                let upid = file.keys.process(process);
                derived::process(rows.of(Derived::Process), upid, process, file.what.comms);
            }
            file.meta(pending, rows);
            self.encode(number, rows, 1, &state.made);
        }
    }

    fn rest(&self, state: &mut TablesState, out: &mut Outflow<'_>) -> io::Result<()> {
        let TablesState { files, made, .. } = state;
        let notes = |(TableKey::Event(file, _) | TableKey::Derived(file, _)): TableKey| {
            self.files.get(file).zip(files.get(file)).map(|(of, pending)| of.notes(pending)).unwrap_or_default()
        };
        while made.encoding.finish_some(self, &notes, &mut out.bytes) {
            out.relieve()?;
        }
        // Known when all rows of events are made.
        for (number, file) in self.files.iter().enumerate() {
            self.encode(number, &mut file.symbols(), 1, made);
        }
        while made.encoding.finish_some(self, &notes, &mut out.bytes) {
            out.relieve()?;
        }
        Ok(())
    }

    fn fork(&self, known: &TablesState, used: Option<TablesState>) -> TablesState {
        used.unwrap_or_else(|| self.empty(Arc::clone(&known.made)))
    }

    fn commit(&self, known: &mut TablesState, done: &mut TablesState, out: &mut Vec<u8>) -> Commit {
        for (known, done) in known.files.iter_mut().zip(&mut done.files) {
            known.count += std::mem::take(&mut done.count);
            known.lost = known.lost.saturating_add(std::mem::take(&mut done.lost));
            if let Some((first, last)) = done.span.take() {
                known.span = Some((known.span.map_or(first, |span| span.0), last));
            }
        }
        self.hand_over(done);
        known.made.encoding.take(out);
        Commit::Accept
    }

    fn settle(&self, done: &mut TablesState) {
        self.work(&done.made);
    }
}
