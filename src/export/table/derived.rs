//! Tables of what events mean together: slices of time, tasks, lost events, and the recording itself. Slices and tasks have the
//! names and columns of systing's tables, so that queries written for those run.
//! Slices of time out of the segments of a recording: each depends on all events before it, so that one thread at a time goes on
//! with them, in the order of time, while others decode and encode.

use super::column::CellType;
use super::rows::TableRows;
use crate::answer::analysis::{Analysis, Ordered, Slices, Thread, TimeSlice};
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{Lost, Record};
use crate::kernel::symbols::{Comms, Symbol};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A derived table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Derived {
    Lost,
    SchedSlice,
    ThreadState,
    IrqSlice,
    SoftIrqSlice,
    Syscall,
    Thread,
    Process,
    Symbol,
    Unknown,
    Meta,
}

impl Derived {
    pub(super) const ALL: [Derived; 11] = [
        Derived::Lost,
        Derived::SchedSlice,
        Derived::ThreadState,
        Derived::IrqSlice,
        Derived::SoftIrqSlice,
        Derived::Syscall,
        Derived::Thread,
        Derived::Process,
        Derived::Symbol,
        Derived::Unknown,
        Derived::Meta,
    ];

    /// Name of the table.
    pub(super) fn name(self) -> &'static str {
        self.layout().0
    }

    /// Columns of the table.
    pub(super) fn columns(self) -> Vec<(String, CellType)> {
        self.layout().1.iter().map(|(name, cell)| ((*name).to_owned(), *cell)).collect()
    }

    fn layout(self) -> (&'static str, &'static [(&'static str, CellType)]) {
        use CellType::{Bytes, Text};
        const I32: CellType = CellType::I32;
        const I64: CellType = CellType::I64;
        match self {
            // `count` is null where the kernel did not say how many.
            Derived::Lost => {
                ("events_lost", &[("ts", I64), ("cpu", I32), ("instance", Text), ("count", CellType::U64)])
            }
            Derived::SchedSlice => (
                "sched_slice",
                &[
                    ("ts", I64),
                    ("dur", I64),
                    ("cpu", I32),
                    ("utid", I64),
                    ("end_state", I32),
                    ("priority", I32),
                    ("open", CellType::Bool),
                ],
            ),
            Derived::ThreadState => (
                "thread_state",
                &[("ts", I64), ("dur", I64), ("utid", I64), ("state", I32), ("cpu", I32), ("open", CellType::Bool)],
            ),
            Derived::IrqSlice => {
                ("irq_slice", &[("ts", I64), ("dur", I64), ("cpu", I32), ("irq", I32), ("name", Text), ("ret", I32)])
            }
            Derived::SoftIrqSlice => ("softirq_slice", &[("ts", I64), ("dur", I64), ("cpu", I32), ("vec", I32)]),
            Derived::Syscall => (
                "syscall",
                &[
                    ("ts", I64),
                    ("dur", I64),
                    ("cpu", I32),
                    ("utid", I64),
                    ("tid", I32),
                    ("nr", I64),
                    ("name", Text),
                    ("ret", I64),
                ],
            ),
            Derived::Thread => {
                const COLUMNS: [(&str, CellType); 7] = [
                    ("utid", I64),
                    ("tid", I32),
                    ("name", Text),
                    ("upid", I64),
                    ("cgroup", Text),
                    ("container", Text),
                    ("inner_tid", I32),
                ];
                ("thread", &COLUMNS)
            }
            Derived::Process => ("process", &[("upid", I64), ("pid", I32), ("name", Text)]),
            Derived::Symbol => {
                ("symbol", &[("address", CellType::U64), ("name", Text), ("offset", I64), ("module", Text)])
            }
            Derived::Unknown => (
                "unknown",
                &[("ts", I64), ("cpu", I32), ("pid", I32), ("instance", Text), ("id", I32), ("data", Bytes)],
            ),
            Derived::Meta => (
                "meta",
                &[
                    ("file", Text),
                    ("kernel", Text),
                    ("machine", Text),
                    ("cpus", I32),
                    ("clock", Text),
                    ("unit", Text),
                    ("first_ts", I64),
                    ("last_ts", I64),
                    ("events", CellType::U64),
                    ("events_lost", CellType::U64),
                    ("real_offset", I64),
                    ("version", Text),
                ],
            ),
        }
    }
}

/// Rows of the derived tables of one recording, by their order in [`Derived::ALL`].
pub(super) struct DerivedRows(pub(super) Vec<TableRows>);

impl DerivedRows {
    pub(super) fn new() -> Self {
        DerivedRows(Derived::ALL.iter().map(|table| TableRows::new(&table.columns())).collect())
    }

    pub(super) fn of(&mut self, table: Derived) -> &mut TableRows {
        &mut self.0[table as usize]
    }
}

/// One cell of a row.
pub(super) enum CellValue<'a> {
    Number(i64),
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    Null,
}

impl<'a> CellValue<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        if text.is_empty() { CellValue::Null } else { CellValue::Text(text.as_bytes()) }
    }
}

/// Adds a row.
#[inline(always)]
pub(super) fn row<const N: usize>(rows: &mut TableRows, cells: [CellValue<'_>; N]) {
    let Some(columns) = rows.columns.first_chunk_mut::<N>() else { return };
    for (column, cell) in columns.iter_mut().zip(cells) {
        match cell {
            CellValue::Number(number) => column.number(number as u64),
            CellValue::Text(text) => column.text(text),
            CellValue::Bytes(bytes) => column.bytes(bytes),
            CellValue::Null => column.null(),
        }
    }
    rows.end_rows(1);
}

/// The cell of a CPU's number.
fn number_of(cpu: CpuId) -> CellValue<'static> {
    CellValue::Number((cpu.0 as i32).into())
}

/// Adds the loss before `record`.
pub(super) fn lost(rows: &mut TableRows, record: &Record<'_>, instance: Option<&str>) {
    let count = match record.lost {
        Lost::Count(count) => CellValue::Number(count as i64),
        Lost::Unknown | Lost::None => CellValue::Null,
    };
    let (ts, cpu) = (CellValue::Number(record.timestamp.0 as i64), number_of(record.cpu));
    row(rows, [ts, cpu, CellValue::text(instance.unwrap_or_default()), count]);
}

/// Adds an event that no format describes.
pub(super) fn unknown(rows: &mut TableRows, record: &Record<'_>, id: u16, pid: Pid, instance: Option<&str>) {
    let (ts, cpu) = (CellValue::Number(record.timestamp.0 as i64), number_of(record.cpu));
    let (pid, instance) = (CellValue::Number(pid.0.into()), CellValue::text(instance.unwrap_or_default()));
    row(rows, [ts, cpu, pid, instance, CellValue::Number(id.into()), CellValue::Bytes(record.data)]);
}

/// The table of a slice.
pub(super) fn table_of(slice: &TimeSlice) -> Derived {
    match slice {
        TimeSlice::Sched { .. } => Derived::SchedSlice,
        TimeSlice::State { .. } => Derived::ThreadState,
        TimeSlice::Irq { .. } => Derived::IrqSlice,
        TimeSlice::SoftIrq { .. } => Derived::SoftIrqSlice,
        TimeSlice::Syscall { .. } => Derived::Syscall,
    }
}

/// Adds a slice; `call` names system calls by their number.
pub(super) fn slice(rows: &mut TableRows, slice: &TimeSlice, call: &dyn Fn(i64) -> Option<&'static str>) {
    let number = |number: i64| CellValue::Number(number);
    let time = |time: u64| CellValue::Number(time as i64);
    match slice {
        TimeSlice::Sched { ts, dur, open, cpu, utid, end_state, priority } => {
            let end_state = end_state.map_or(CellValue::Null, |state| number(state.into()));
            let (priority, open) = (number((*priority).into()), number((*open).into()));
            row(rows, [time(*ts), time(*dur), number_of(*cpu), number(*utid), end_state, priority, open]);
        }
        TimeSlice::State { ts, dur, open, utid, state, cpu, .. } => {
            let cpu = cpu.map_or(CellValue::Null, number_of);
            let open = number((*open).into());
            row(rows, [time(*ts), time(*dur), number(*utid), number((*state).into()), cpu, open]);
        }
        TimeSlice::Irq { ts, dur, cpu, irq, name, ret } => row(
            rows,
            [
                time(*ts),
                time(*dur),
                number_of(*cpu),
                number((*irq).into()),
                CellValue::Text(name),
                number((*ret).into()),
            ],
        ),
        TimeSlice::SoftIrq { ts, dur, cpu, vec } => {
            row(rows, [time(*ts), time(*dur), number_of(*cpu), number((*vec).into())]);
        }
        TimeSlice::Syscall { ts, dur, cpu, utid, tid, number: nr, name, ret } => {
            let name =
                name.as_deref().or_else(|| call(*nr)).map_or(CellValue::Null, |name| CellValue::Text(name.as_bytes()));
            let task = [number(*utid), number(tid.0.into())];
            let [utid, tid] = task;
            row(rows, [time(*ts), time(*dur), number_of(*cpu), utid, tid, number(*nr), name, number(*ret)]);
        }
    }
}

/// Adds the function at an address.
pub(super) fn symbol(rows: &mut TableRows, address: u64, symbol: &Symbol<'_>) {
    let offset = CellValue::Number(address.wrapping_sub(symbol.address) as i64);
    let module = if symbol.module.is_empty() { CellValue::Null } else { CellValue::Text(symbol.module) };
    row(rows, [CellValue::Number(address as i64), CellValue::Text(symbol.name), offset, module]);
}

/// What a task belongs to, as far as that is known: its process, and the cgroup, the container and the pid namespace that it was
/// in last.
pub(super) struct ThreadMembership<'a> {
    pub(super) upid: Option<i64>,
    pub(super) cgroup: Option<&'a str>,
    pub(super) container: Option<&'a str>,
    /// Its number in that pid namespace.
    pub(super) inner_tid: Option<Pid>,
}

/// Adds a task.
pub(super) fn thread(rows: &mut TableRows, thread: &Thread, member: &ThreadMembership<'_>, comms: &Comms) {
    let name = if thread.name.is_empty() { comms.get(thread.tid).unwrap_or_default() } else { &thread.name };
    let name = if name.is_empty() { CellValue::Null } else { CellValue::Text(name) };
    let upid = member.upid.map_or(CellValue::Null, CellValue::Number);
    let inner = member.inner_tid.map_or(CellValue::Null, |tid| CellValue::Number(tid.0.into()));
    let (utid, tid) = (CellValue::Number(thread.utid), CellValue::Number(thread.tid.0.into()));
    let place = [member.cgroup, member.container].map(|text| CellValue::text(text.unwrap_or_default()));
    let [cgroup, container] = place;
    row(rows, [utid, tid, name, upid, cgroup, container, inner]);
}

/// Adds a process.
pub(super) fn process(rows: &mut TableRows, upid: i64, process: Pid, comms: &Comms) {
    let name = comms.get(process).map_or(CellValue::Null, CellValue::Text);
    row(rows, [CellValue::Number(upid), CellValue::Number(process.0.into()), name]);
}

/// Maximum of queued segments before a thread waits for the current writer.
const MOST: usize = 16;

/// Slices of all buffers.
pub(super) struct Slicing {
    waiting: Mutex<VecDeque<Vec<Ordered<Slices>>>>,
    known: Mutex<Sliced>,
    /// Segments that are done, for their memory.
    spare: Mutex<Vec<Vec<Ordered<Slices>>>>,
}

/// The slices so far, by buffer, and rows of them that were not given to be encoded yet, by recording.
pub(super) struct Sliced {
    pub(super) slices: Vec<Ordered<Slices>>,
    pub(super) rows: Vec<DerivedRows>,
}

impl Slicing {
    /// Before the first event.
    pub(super) fn new(slices: Vec<Ordered<Slices>>, rows: Vec<DerivedRows>) -> Self {
        Slicing { waiting: Mutex::default(), known: Mutex::new(Sliced { slices, rows }), spare: Mutex::default() }
    }

    /// Takes the events of a segment, by buffer.
    pub(super) fn add(&self, segment: Vec<Ordered<Slices>>) {
        locked(&self.waiting).push_back(segment);
    }

    /// Goes on with the segments that wait, unless another thread does. `done` gets the slices after each.
    pub(super) fn work(&self, of: &[&Slices], done: impl Fn(&mut Sliced)) {
        let is_after = locked(&self.waiting).len() > MOST;
        let mut known = match self.known.try_lock() {
            Ok(known) => known,
            Err(TryLockError::WouldBlock) if !is_after => return,
            Err(_) => locked(&self.known),
        };
        while let Some(mut segment) = { locked(&self.waiting).pop_front() } {
            for ((of, known), later) in of.iter().zip(&mut known.slices).zip(&mut segment) {
                Analysis::merge(*of, known, later);
            }
            locked(&self.spare).push(segment);
            done(&mut known);
        }
    }

    /// The memory of a segment that is done.
    pub(super) fn spare(&self) -> Option<Vec<Ordered<Slices>>> {
        locked(&self.spare).pop()
    }

    /// The slices, after all segments.
    pub(super) fn known(&self) -> MutexGuard<'_, Sliced> {
        locked(&self.known)
    }
}

/// A panic of another thread ends the export, so that it does not matter what it left.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
