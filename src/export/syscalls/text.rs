//! Calls as lines among the others of trace-cmd's layout.

use super::calls::{CallEvent, CallPairing, Entered, Exited, OpenCall};
use super::decoder::{SyscallDecoder, never_returns};
use crate::base::text::num;
use crate::export::{Exporter, TextLines, TimeColumn};
use crate::kernel::event::{Consumed, Lost, PrintState, Record};
use crate::kernel::symbols::Comms;

/// Lines in trace-cmd's layout, but for system calls, which have one line each. Calls depend on all events before: one
/// thread writes them.
pub struct SyscallLines<'a> {
    lines: TextLines<'a>,
    /// By recording.
    decoders: Vec<SyscallDecoder>,
}

/// The state of [`SyscallLines`].
#[derive(Debug)]
pub struct SyscallLinesState {
    /// State of the other lines, by recording.
    pub lines: Vec<PrintState>,
    pairing: CallPairing,
}

/// Why a call has no exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MissingExit {
    GoesOn,
    Lost,
}

impl<'a> SyscallLines<'a> {
    /// For the events of `lines`; `decoders` are by recording.
    pub fn new(lines: TextLines<'a>, decoders: Vec<SyscallDecoder>) -> Self {
        SyscallLines { lines, decoders }
    }

    fn unfinished(&self, open: &OpenCall, why: MissingExit, state: &mut SyscallLinesState, out: &mut Vec<u8>) {
        let record = open.record();
        let (recording, text) = self.lines.layout(record.buffer);
        let Some(decoder) = self.decoders.get(recording) else { return };
        text.front(&record, &mut state.lines[recording], out);
        out.push(b' ');
        decoder.write_call(record.data, out);
        out.extend_from_slice(match why {
            MissingExit::GoesOn => b" <unfinished ...>\n",
            MissingExit::Lost => b" <unfinished, events lost ...>\n",
        });
    }

    /// The calls that were on when events were dropped before `record`.
    fn lost(&self, record: &Record<'_>, state: &mut SyscallLinesState, out: &mut Vec<u8>) {
        for open in state.pairing.lose(record.buffer) {
            self.unfinished(&open, MissingExit::Lost, state, out);
        }
    }

    fn entry(
        &self,
        decoder: &SyscallDecoder,
        entered: Entered,
        record: &Record<'_>,
        state: &mut SyscallLinesState,
        out: &mut Vec<u8>,
    ) {
        let Entered::Call(before) = entered else { return };
        if let Some(before) = before {
            self.unfinished(&before, MissingExit::GoesOn, state, out);
        }
        if never_returns(&decoder.name(record.data)) {
            state.pairing.forget(decoder.task(record), record.buffer);
            let (recording, text) = self.lines.layout(record.buffer);
            text.front(record, &mut state.lines[recording], out);
            out.push(b' ');
            decoder.write_call(record.data, out);
            out.extend_from_slice(b") = ?\n");
        }
    }

    fn exit(
        &self,
        decoder: &SyscallDecoder,
        exited: Exited,
        (result, record): (i64, &Record<'_>),
        state: &mut SyscallLinesState,
        out: &mut Vec<u8>,
    ) {
        let (recording, text) = self.lines.layout(record.buffer);
        let call = match exited {
            Exited::Again => return,
            Exited::Call(open) => Some(open),
            Exited::Alone(before) => {
                if let Some(before) = before {
                    self.unfinished(&before, MissingExit::GoesOn, state, out);
                }
                None
            }
        };
        text.front(record, &mut state.lines[recording], out);
        out.push(b' ');
        let name = match &call {
            Some(open) => {
                decoder.write_call(&open.data, out);
                decoder.name(&open.data)
            }
            None => {
                let name = decoder.name(record.data);
                out.extend_from_slice(b"<... ");
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b" resumed>");
                name
            }
        };
        out.extend_from_slice(b") = ");
        decoder.write_result(&name, result, out);
        if let Some(open) = &call {
            duration(record.timestamp.0.saturating_sub(open.at.0), text.time_column(), out);
        }
        out.push(b'\n');
    }
}

/// Appends ` <0.000012>`.
fn duration(time: u64, column: TimeColumn, out: &mut Vec<u8>) {
    const SECOND: u64 = 1_000_000_000;
    out.extend_from_slice(b" <");
    let (number, digits) = match column {
        TimeColumn::Ticks => (time, 0),
        TimeColumn::Nanos | TimeColumn::Wall { nanoseconds: true, .. } => (time, 9),
        TimeColumn::Micros | TimeColumn::Wall { nanoseconds: false, .. } => (time.saturating_add(500) / 1000 * 1000, 6),
    };
    if digits == 0 {
        num::dec(out, number);
    } else {
        num::dec(out, number / SECOND);
        out.push(b'.');
        let below = number % SECOND;
        num::dec_pad(out, if digits == 6 { below / 1000 } else { below }, digits, b'0');
    }
    out.push(b'>');
}

impl Exporter for SyscallLines<'_> {
    type State = SyscallLinesState;

    fn state(&self) -> SyscallLinesState {
        SyscallLinesState { lines: self.lines.state(), pairing: CallPairing::default() }
    }

    fn begin(&self, state: &mut SyscallLinesState, out: &mut Vec<u8>) {
        self.lines.begin(&mut state.lines, out);
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        state: &mut SyscallLinesState,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let (recording, text) = self.lines.layout(record.buffer);
        let decoder = &self.decoders[recording];
        let Some(event) = decoder.event(record) else {
            let consumed = self.lines.event(record, next, &mut state.lines, out);
            if record.lost != Lost::None {
                self.lost(record, state, out);
            }
            return consumed;
        };
        if record.lost != Lost::None {
            text.lost_line(record, out);
            self.lost(record, state, out);
        }
        let record = &Record { lost: Lost::None, ..*record };
        let task = decoder.task(record);
        match event {
            CallEvent::Entry { family, number } => {
                let entered = state.pairing.enter(task, (family, number), record);
                self.entry(decoder, entered, record, state, out);
            }
            CallEvent::Exit { family, number, result } => {
                let numbers = (family, number, result);
                let exited = state.pairing.exit(task, numbers, record.buffer, |open| is_sigreturn(decoder, open));
                self.exit(decoder, exited, (result, record), state, out);
            }
        }
        Consumed::One
    }

    fn end(&self, state: &mut SyscallLinesState, out: &mut Vec<u8>) {
        for open in state.pairing.rest() {
            self.unfinished(&open, MissingExit::GoesOn, state, out);
        }
        self.lines.end(&mut state.lines, out);
    }

    fn is_serial(&self) -> bool {
        true
    }

    fn needs_next(&self, record: &Record<'_>) -> bool {
        self.lines.needs_next(record)
    }

    fn set_comms(&self, state: &mut SyscallLinesState, comms: &Comms) {
        self.lines.set_comms(&mut state.lines, comms);
    }

    fn undecoded(&self, state: &SyscallLinesState) -> u64 {
        self.lines.undecoded(&state.lines)
    }
}

/// A signal handler's end restores the registers that it interrupted: its exit has no number.
pub(super) fn is_sigreturn(decoder: &SyscallDecoder, open: &OpenCall) -> bool {
    matches!(&*decoder.name(&open.data), "rt_sigreturn" | "sigreturn")
}
