//! A table and what it consists of.

use crate::language::hist::spec::{HistSpec, TriggerState};

/// One table of a `hist` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistTable {
    /// The trigger as the kernel words it, with its state.
    pub trigger: String,
    /// The trigger in its normal form.
    pub spec: HistSpec,
    /// True if it counts.
    pub state: TriggerState,
    /// The entries, sorted as the trigger says.
    pub entries: Vec<HistEntry>,
    /// The snapshot that an action took.
    pub snapshot: Option<Snapshot>,
    /// Events counted.
    pub hits: u64,
    /// Number of entries, as the kernel counted it.
    pub entry_count: u64,
    /// Events that found no room in the table.
    pub dropped: u64,
    /// Further totals that a newer kernel may print.
    pub more: Vec<(String, u64)>,
    /// The values behind the classes of the last key, where each event was seen; `None` of a kernel's table.
    pub measured: Option<MeasuredValues>,
}

/// Percentiles of values of which the entries of a table have the classes only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredValues {
    /// Of all entries.
    pub all: ValueRanks,
    /// Of the entries with these keys before the last one.
    pub groups: Vec<(Vec<HistKey>, ValueRanks)>,
}

/// Name (`p50`, ..., `max`), and the least and the greatest number that this percentile can be: one number where it is known.
pub type ValueRanks = Vec<(&'static str, (i128, i128))>;

/// `{ KEYS } hitcount: N  VALUE: N`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistEntry {
    /// The keys of the entry, in the trigger's order.
    pub keys: Vec<HistKey>,
    /// Number of events; `None` with `nohitcount`.
    pub hitcount: Option<u64>,
    /// The other values, in the trigger's order.
    pub values: Vec<ValueColumn>,
    /// Values that onmax() and onchange() kept.
    pub tracked: Vec<Tracked>,
}

/// One part of an entry's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistKey {
    /// The field's name as printed.
    pub name: String,
    /// Value of the key.
    pub value: KeyValue,
}

/// A key's value, by the modifier of its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyValue {
    /// `next_pid:        154`. The kernel prints signed fields as unsigned 64-bit numbers, too.
    Number(u64),
    /// `flags: 90800` (`.hex`)
    Hex(u64),
    /// `call_site: [ffffffff8643d2cf] tomoyo_realpath_from_path+0x3f/0x190` (`.sym`, `.sym-offset`)
    Symbol {
        /// The address.
        address: u64,
        /// The kernel's name of it; the number again where it knows no symbol.
        name: String,
        /// True if it stands in the wider column of `.sym-offset`.
        offset: bool,
    },
    /// `common_pid: sh              [       154]` (`.execname`)
    Execname {
        /// Name of the task at its first event.
        comm: String,
        /// Thread id.
        pid: u64,
    },
    /// `id: sys_read                      [  0]` (`.syscall`)
    Syscall {
        /// `sys_read`, or `unknown_syscall`.
        name: String,
        /// Number of the system call.
        id: u64,
    },
    /// `bytes_req: ~ 2^10` (`.log2`): 2^9 < value <= 2^10; class 0 holds 0 and 1.
    Log2(u32),
    /// `bytes_req: ~ 256-511` (`.buckets=256`): both ends belong to it.
    Bucket {
        /// Smallest.
        low: u64,
        /// Largest.
        high: u64,
    },
    /// `next_comm: swapper/1                                         `
    Text(String),
    /// Frames as printed (`schedule+0x27/0xc0`), innermost first.
    Stack {
        /// The frames.
        frames: Vec<String>,
        /// True if the stack is a field of the event (`NAME.stacktrace`, printed without `:` and newline).
        field: bool,
    },
}

/// A value column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueColumn {
    /// The field's name.
    pub name: String,
    /// Value of the column.
    pub value: ColumnValue,
}

/// The contents of a value column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnValue {
    /// ` bytes_req:      28672`: the sum.
    Number(u64),
    /// ` flags:      90800` (`.hex`)
    Hex(u64),
    /// ` hitcount (%):   1.56`, in hundredths of a percent; `None` for `[ERROR]`
    Percent(Option<u32>),
    /// ` hitcount: #####               `: that many of 20.
    Bar(u8),
}

/// `max:        102  next_comm: usleep                          `
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// `changed:` (onchange) instead of `max:` (onmax).
    pub change: bool,
    /// The variable's value.
    pub value: u64,
    /// Fields that save() kept, as they were then.
    pub saved: Vec<(String, Saved)>,
}

/// A field that save() kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// `prev_pid:          0`
    Number(u64),
    /// `next_comm: usleep                          `
    Text(String),
}

/// `Snapshot taken (see tracing/snapshot).  Details:`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The handler that caused it: `onmax($lat)`.
    pub handler: String,
    /// The variable's value.
    pub value: u64,
    /// The key of the entry that it happened in.
    pub keys: Vec<HistKey>,
}

impl KeyValue {
    /// The range of numbers that the key stands for, both ends included; `None` if it is no number.
    pub fn range(&self) -> Option<(u64, u64)> {
        match *self {
            KeyValue::Number(n) | KeyValue::Hex(n) => Some((n, n)),
            KeyValue::Log2(0) => Some((0, 1)),
            KeyValue::Log2(n) => Some((
                1u64.checked_shl(n.saturating_sub(1)).unwrap_or(u64::MAX).saturating_add(1),
                1u64.checked_shl(n).unwrap_or(u64::MAX),
            )),
            KeyValue::Bucket { low, high } => Some((low, high)),
            _ => None,
        }
    }
}
