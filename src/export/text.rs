//! trace-cmd's layout, one line per event.
//! trace-cmd's layout for the buffers of several recordings.
//!
//! ```text
//!           <idle>-0     [000] d.h1.   167.716832: softirq_raise:        vec=9 [action=RCU]
//! ```

use super::{Exporter, columns};
use crate::base::sys::Tail;
use crate::base::text::{num, plain};
use crate::base::units::Pid;
use crate::file::trace_dat::WallClock;
use crate::kernel::event::{Consumed, EventTypes, FrontKey, Lost, NameFix, PrintState, Record, RecordHead, TextLookup};
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::{Comms, Symbols};
use crate::read::merge::ahead::Commit;

/// The contents of the time column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeColumn {
    /// Seconds, to the nearest microsecond.
    #[default]
    Micros,
    /// Seconds with nine digits.
    Nanos,
    /// The number as the clock gave it, for clocks that do not count nanoseconds.
    Ticks,
    /// Local time.
    Wall {
        /// The clock that gives it.
        clock: WallClock,
        /// True for nine digits of the second, false for six.
        nanoseconds: bool,
    },
}

/// The layout of lines.
#[derive(Clone, Debug, Default)]
pub struct TextOptions {
    /// The time column (trace-cmd's `-t` is [`TimeColumn::Nanos`]).
    pub time: TimeColumn,
    /// Short columns, as `-l`.
    pub latency: bool,
    /// Fields by name instead of texts, as `-R`.
    pub raw: bool,
    /// The time since the line before after each time, as `--ts-diff`.
    pub time_diff: bool,
    /// The label before each line of a buffer, by [`Record::buffer`], filled to equal width.
    pub labels: Vec<Vec<u8>>,
}

/// Lays events out as trace-cmd 3.4 does.
pub struct Text<'a> {
    types: &'a EventTypes<'a>,
    symbols: &'a Symbols,
    options: TextOptions,
    /// True if the columns are the usual ones: the text before an event's text can be made of three pieces then.
    usual: bool,
}

impl<'a> Text<'a> {
    /// An exporter for a file with these types and symbols.
    pub fn new(types: &'a EventTypes<'a>, symbols: &'a Symbols, options: TextOptions) -> Self {
        let TextOptions { time, latency, raw, time_diff, ref labels } = options;
        let usual = time == TimeColumn::Micros && !latency && !raw && !time_diff && labels.is_empty();
        Text { types, symbols, usual: usual && !types.common().has_more(), options }
    }

    /// True if the lines of `record` depend on the record that follows it in its buffer.
    pub fn needs_next(&self, record: &Record<'_>) -> bool {
        let id = self.types.common().event_id(self.types.abi(), record.data);
        self.types.get(id).is_some_and(|event| event.needs_next())
    }

    /// Appends the lines of `record`. `next` is called for the record that follows it in its buffer if they depend on
    /// that one.
    #[inline]
    pub fn event<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        state: &mut PrintState,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let abi = self.types.abi();
        let head = self.types.common().head(abi, record.data);
        let tail = match FrontKey::new(&head, record.cpu.0) {
            Some(key) if self.usual && record.lost == Lost::None => self.usual_front(record, &head, key, state, out),
            _ => Tail::new(out).with(|out| self.any_front(record, &head, state, out)),
        };
        let mut new = None;
        if !self.options.raw {
            match state.recent.repeats.find(head.id, record.data) {
                TextLookup::Hit(text, len) => {
                    text.put(len, tail).done();
                    return Consumed::One;
                }
                TextLookup::Miss(at) => new = Some(at),
                TextLookup::Skipped => {}
            }
        }
        let out = tail.done();
        let Some(event) = self.types.get(head.id) else {
            out.extend_from_slice(b" [UNKNOWN EVENT]\n");
            return Consumed::One;
        };
        let start = out.len();
        event.name_column.put(out);
        let cx = Context { data: record.data, abi, symbols: self.symbols, lists: false };
        let text = out.len();
        let consumed = if self.options.raw {
            event.raw(&cx, out);
            Consumed::One
        } else {
            let next = if event.needs_next() {
                state.depends_on_order();
                next()
            } else {
                None
            };
            event.text(&cx, record, next.as_ref(), state, out)
        };
        if out.len() == text || out.last() != Some(&b'\n') {
            plain::all(out, b"\n");
        }
        if let Some(at) = new
            && event.repeats
        {
            state.recent.repeats.keep(at, record.data, &out[start..]);
        }
        consumed
    }

    /// The columns in front of the event's name, for what is written instead of the event.
    pub(super) fn front(&self, record: &Record<'_>, state: &mut PrintState, out: &mut Vec<u8>) {
        self.any_front(record, &self.types.common().head(self.types.abi(), record.data), state, out);
    }

    /// The line about the events lost before `record`.
    pub(super) fn lost_line(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        self.lost(record, out);
    }

    /// The contents of its time column.
    pub(super) fn time_column(&self) -> TimeColumn {
        self.options.time
    }

    /// The columns in front of the event's name, of pieces that were written before.
    #[inline(always)]
    fn usual_front<'o>(
        &self,
        record: &Record<'_>,
        head: &RecordHead,
        key: FrontKey,
        state: &mut PrintState,
        out: &'o mut Vec<u8>,
    ) -> Tail<'o> {
        let mut tail = Tail::new(out);
        tail = match state.recent.front(key) {
            Some((text, len)) => tail.piece(text, len),
            None => tail.with(|out| {
                let start = out.len();
                if self.task_and_flags(record, head, state, out) {
                    state.recent.keep_front(key, &out[start..]);
                }
            }),
        };
        // The last 500 ns of all time are rounded elsewhere.
        let micros = record.timestamp.0.checked_add(500).map(|nanos| nanos / 1000);
        match micros.and_then(|micros| state.recent.milli(micros)) {
            Some((text, len, rest)) => tail.piece(text, len).all(&num::THREE[rest]),
            None => tail.with(|out| {
                let start = out.len();
                columns::micros(out, record.timestamp.0, &mut state.recent);
                if let Some(micros) = micros {
                    state.recent.keep_milli(micros, &out[start..]);
                }
            }),
        }
    }

    /// The columns in front of the event's name, whatever they are to be.
    fn any_front(&self, record: &Record<'_>, head: &RecordHead, state: &mut PrintState, out: &mut Vec<u8>) {
        if record.lost != Lost::None {
            self.lost(record, out);
        } else {
            self.label(record, out);
        }
        self.task_and_flags(record, head, state, out);
        self.time(record, state, out);
    }

    /// Appends who, where and in which context; returns whether the task's name is final.
    fn task_and_flags(
        &self,
        record: &Record<'_>,
        head: &RecordHead,
        state: &mut PrintState,
        out: &mut Vec<u8>,
    ) -> bool {
        let start = out.len();
        let provisional = match state.recent.put_task(head.pid.0, record.cpu.0, self.layout(), out) {
            Some(provisional) => provisional,
            None => self.task(record, head.pid, state, out),
        };
        if provisional > 0 {
            state.note_provisional(start, provisional, head.pid);
        }
        if self.options.raw {
            out.extend_from_slice(b"-0x");
            num::hex(out, head.flags.into());
        } else {
            columns::flags(out, head, self.types.common(), self.types.abi(), record.data);
        }
        provisional == 0
    }

    /// The key of the layouts that differ in the columns of one task.
    #[inline]
    fn layout(&self) -> u8 {
        u8::from(self.options.latency) | u8::from(self.options.raw) << 1
    }

    /// Appends task and CPU, which many events have in common. Returns how many bytes of that are a name that is not
    /// final.
    #[cold]
    fn task(&self, record: &Record<'_>, pid: Pid, state: &mut PrintState, out: &mut Vec<u8>) -> usize {
        let column = out.len();
        let (comm, is_final) = state.name(pid);
        self.comm(out, comm);
        let provisional = if is_final { 0 } else { out.len() - column };
        let cpu = u64::from(record.cpu.0);
        columns::pid(out, pid.0);
        if self.options.latency {
            out.push(b' ');
            num::dec_pad(out, cpu, 3, b' ');
        } else {
            out.extend_from_slice(b" [");
            num::dec_pad(out, cpu, 3, b'0');
            out.extend_from_slice(if self.options.raw { b"]" } else { b"] " });
        }
        state.recent.keep_task(pid.0, record.cpu.0, self.layout(), &out[column..], provisional);
        provisional
    }

    fn comm(&self, out: &mut Vec<u8>, comm: &[u8]) {
        if self.options.latency {
            columns::short_comm(out, comm);
        } else {
            columns::comm(out, comm);
        }
    }

    /// Replaces names in a segment's output: `fixes` are those of [`PrintState::join`], ascending by place.
    pub fn amend(&self, out: &mut Vec<u8>, fixes: &[NameFix]) {
        let (mut amended, mut done) = (Vec::with_capacity(out.len() + 64), 0);
        for NameFix { at, len, name } in fixes {
            amended.extend_from_slice(out.get(done..*at).unwrap_or_default());
            self.comm(&mut amended, name);
            done = at + len;
        }
        amended.extend_from_slice(out.get(done..).unwrap_or_default());
        *out = amended;
    }

    #[inline]
    fn label(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        if let Some(label) = self.options.labels.get(record.buffer) {
            out.extend_from_slice(label);
        }
    }

    #[cold]
    fn lost(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        self.label(record, out);
        columns::lost(out, record, b"", b"EVENTS DROPPED");
    }

    #[inline]
    fn time(&self, record: &Record<'_>, state: &mut PrintState, out: &mut Vec<u8>) {
        let now = record.timestamp.0;
        match self.options.time {
            TimeColumn::Micros => columns::micros(out, now, &mut state.recent),
            TimeColumn::Nanos => columns::nanos(out, now, &mut state.recent),
            TimeColumn::Ticks => columns::ticks(out, now),
            TimeColumn::Wall { clock, nanoseconds } => {
                columns::wall(out, clock.wall(now), nanoseconds, &mut state.recent);
            }
        }
        if self.options.time_diff {
            self.time_diff(now, state, out);
        }
    }

    #[cold]
    fn time_diff(&self, now: u64, state: &mut PrintState, out: &mut Vec<u8>) {
        state.depends_on_order();
        out.push(b' ');
        let start = out.len();
        // Of the times as they are shown: those of the column's lines add up.
        let shown = if self.options.time == TimeColumn::Micros { now.saturating_add(500) / 1000 } else { now };
        if let Some(previous) = state.previous.replace(shown) {
            out.extend_from_slice(b"(+");
            num::dec(out, shown.wrapping_sub(previous));
            out.push(b')');
        }
        let fill = 8usize.saturating_sub(out.len() - start);
        out.resize(out.len() + fill, b' ');
    }
}

/// Lines of several buffers in trace-cmd's layout. Names are learnt per recording.
pub struct TextLines<'a> {
    head: Vec<u8>,
    /// By [`Record::buffer`].
    buffers: Vec<(usize, Text<'a>)>,
    /// The task names of each recording.
    comms: Vec<&'a Comms>,
}

impl<'a> TextLines<'a> {
    /// For records whose [`Record::buffer`] is an index into `buffers`: each the number of its recording and its layout.
    /// `comms` are the task names of the recordings; `head` stands before all lines.
    pub fn new(head: Vec<u8>, buffers: Vec<(usize, Text<'a>)>, comms: Vec<&'a Comms>) -> Self {
        TextLines { head, buffers, comms }
    }

    /// The recording and the layout of a buffer's lines.
    pub(super) fn layout(&self, buffer: usize) -> (usize, &Text<'a>) {
        let (recording, text) = &self.buffers[buffer];
        (*recording, text)
    }
}

impl Exporter for TextLines<'_> {
    /// By recording.
    type State = Vec<PrintState>;

    fn state(&self) -> Vec<PrintState> {
        self.comms.iter().map(|comms| PrintState::new((*comms).clone())).collect()
    }

    fn begin(&self, _: &mut Vec<PrintState>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
    }

    #[inline]
    fn event<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        states: &mut Vec<PrintState>,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let (recording, text) = &self.buffers[record.buffer];
        text.event(record, next, &mut states[*recording], out)
    }

    fn fork(&self, known: &Vec<PrintState>, used: Option<Vec<PrintState>>) -> Vec<PrintState> {
        let mut used = used.into_iter().flatten();
        known.iter().map(|known| known.fork(used.next())).collect()
    }

    fn commit(&self, known: &mut Vec<PrintState>, done: &mut Vec<PrintState>, out: &mut Vec<u8>) -> Commit {
        if done.iter().any(PrintState::needs_order) {
            return Commit::Serialize;
        }
        let mut fixes: Vec<NameFix> = known.iter_mut().zip(&*done).flat_map(|(k, d)| k.join(d)).collect();
        if let (Some((_, text)), false) = (self.buffers.first(), fixes.is_empty()) {
            fixes.sort_by_key(NameFix::at);
            text.amend(out, &fixes);
        }
        Commit::Accept
    }

    fn needs_next(&self, record: &Record<'_>) -> bool {
        self.buffers[record.buffer].1.needs_next(record)
    }

    fn set_comms(&self, states: &mut Vec<PrintState>, comms: &Comms) {
        states.iter_mut().for_each(|state| state.set_comms(comms.clone()));
    }

    fn undecoded(&self, states: &Vec<PrintState>) -> u64 {
        states.iter().flat_map(PrintState::undecoded).map(|(_, count)| count).sum()
    }
}
