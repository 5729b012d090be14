//! Calls as JSON lines among those of events.

use super::calls::{CallEvent, CallPairing, Entered, Exited};
use super::decoder::{SyscallDecoder, never_returns};
use super::result;
use super::text::is_sigreturn;
use crate::base::text::{json, num};
use crate::export::{Exporter, Json};
use crate::kernel::event::{Consumed, Lost, Record};
use crate::kernel::symbols::Comms;

/// JSON lines of events, but a line of type `syscall` for each call. One thread writes them.
pub struct JsonSyscalls<'t> {
    json: Json<'t>,
    /// By recording, and the recording of each buffer.
    decoders: Vec<SyscallDecoder>,
    recordings: Vec<usize>,
}

/// The state of [`JsonSyscalls`].
pub struct JsonSyscallsState<'t> {
    json: Json<'t>,
    pairing: CallPairing,
}

/// A call as far as it is known.
struct JsonCall<'r> {
    entry: Option<&'r Record<'r>>,
    exit: Option<(&'r Record<'r>, i64)>,
    state: &'static str,
}

impl<'t> JsonSyscalls<'t> {
    /// For the events of `json`; `decoders` are by recording, `recordings` the recording of each buffer.
    pub fn new(json: Json<'t>, decoders: Vec<SyscallDecoder>, recordings: Vec<usize>) -> Self {
        JsonSyscalls { json, decoders, recordings }
    }

    fn decoder(&self, record: &Record<'_>) -> Option<&SyscallDecoder> {
        self.decoders.get(*self.recordings.get(record.buffer)?)
    }

    fn write(&self, call: &JsonCall<'_>, state: &mut JsonSyscallsState<'t>, out: &mut Vec<u8>) {
        let exit = call.exit.map(|(record, _)| record);
        let Some(record) = exit.or(call.entry) else { return };
        let Some(decoder) = self.decoder(record) else { return };
        let task = decoder.task(record);
        state.json.start_of_call(record, task, out);
        let name = decoder.name(call.entry.unwrap_or(record).data);
        out.extend_from_slice(b",\"call\":");
        json::string(out, name.as_bytes());
        out.extend_from_slice(b",\"number\":");
        match decoder.event(call.entry.unwrap_or(record)) {
            Some(CallEvent::Entry { number, .. } | CallEvent::Exit { number, .. }) => num::signed(out, number),
            None => out.extend_from_slice(b"null"),
        }
        self.arguments(decoder, &name, call.entry, out);
        out.extend_from_slice(b",\"result\":");
        match call.exit {
            Some((_, result)) => num::signed(out, result),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"error\":");
        match call.exit.and_then(|(_, result)| result::error(result)) {
            Some(error) => json::string(out, error.as_bytes()),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"entered\":");
        optional(call.entry.map(|entry| entry.timestamp.0), out);
        out.extend_from_slice(b",\"duration\":");
        let both = call.entry.zip(exit);
        optional(both.map(|(entry, exit)| exit.timestamp.0.saturating_sub(entry.timestamp.0)), out);
        out.extend_from_slice(b",\"state\":\"");
        out.extend_from_slice(call.state.as_bytes());
        out.extend_from_slice(b"\"}\n");
    }

    fn arguments(&self, decoder: &SyscallDecoder, name: &str, entry: Option<&Record<'_>>, out: &mut Vec<u8>) {
        let Some(entry) = entry else { return out.extend_from_slice(b",\"args\":null,\"values\":null") };
        let (list, values) = decoder.arguments(name, entry.data);
        out.extend_from_slice(b",\"args\":{");
        let mut text = Vec::new();
        for (nth, shown) in list.iter().enumerate() {
            if nth > 0 {
                out.push(b',');
            }
            json::string(out, shown.name.as_bytes());
            out.push(b':');
            text.clear();
            decoder.write(shown, &values, &mut text);
            // A text that the kernel stored is a JSON string as it is.
            if SyscallDecoder::is_number(shown) || text.first() == Some(&b'"') {
                out.extend_from_slice(&text);
            } else {
                json::string(out, &text);
            }
        }
        out.extend_from_slice(b"},\"values\":[");
        for (nth, value) in SyscallDecoder::raw(&list, &values).into_iter().enumerate() {
            out.extend_from_slice(if nth > 0 { b",\"0x" } else { b"\"0x" });
            num::hex(out, value);
            out.push(b'"');
        }
        out.push(b']');
    }

    fn lost(&self, record: &Record<'_>, state: &mut JsonSyscallsState<'t>, out: &mut Vec<u8>) {
        for open in state.pairing.lose(record.buffer) {
            self.write(&JsonCall { entry: Some(&open.record()), exit: None, state: "lost" }, state, out);
        }
    }

    fn entry(
        &self,
        decoder: &SyscallDecoder,
        entered: Entered,
        record: &Record<'_>,
        state: &mut JsonSyscallsState<'t>,
        out: &mut Vec<u8>,
    ) {
        let Entered::Call(before) = entered else { return };
        if let Some(before) = before {
            self.write(&JsonCall { entry: Some(&before.record()), exit: None, state: "unfinished" }, state, out);
        }
        if never_returns(&decoder.name(record.data)) {
            state.pairing.forget(decoder.task(record), record.buffer);
            self.write(&JsonCall { entry: Some(record), exit: None, state: "never returns" }, state, out);
        }
    }

    fn exit(&self, exited: Exited, exit: (&Record<'_>, i64), state: &mut JsonSyscallsState<'t>, out: &mut Vec<u8>) {
        match exited {
            Exited::Again => {}
            Exited::Call(open) => {
                let entry = open.record();
                self.write(&JsonCall { entry: Some(&entry), exit: Some(exit), state: "returned" }, state, out);
            }
            Exited::Alone(before) => {
                if let Some(before) = before {
                    self.write(
                        &JsonCall { entry: Some(&before.record()), exit: None, state: "unfinished" },
                        state,
                        out,
                    );
                }
                self.write(&JsonCall { entry: None, exit: Some(exit), state: "resumed" }, state, out);
            }
        }
    }
}

fn optional(number: Option<u64>, out: &mut Vec<u8>) {
    match number {
        Some(number) => num::dec(out, number),
        None => out.extend_from_slice(b"null"),
    }
}

impl<'t> Exporter for JsonSyscalls<'t> {
    type State = JsonSyscallsState<'t>;

    fn state(&self) -> JsonSyscallsState<'t> {
        JsonSyscallsState { json: self.json.state(), pairing: CallPairing::default() }
    }

    fn begin(&self, state: &mut JsonSyscallsState<'t>, out: &mut Vec<u8>) {
        self.json.begin(&mut state.json, out);
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        state: &mut JsonSyscallsState<'t>,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let call = self.decoder(record).and_then(|decoder| Some((decoder, decoder.event(record)?)));
        if record.lost != Lost::None {
            state.json.lost(record, out);
            self.lost(record, state, out);
        }
        let record = &Record { lost: Lost::None, ..*record };
        let Some((decoder, event)) = call else {
            return self.json.event(record, next, &mut state.json, out);
        };
        let task = decoder.task(record);
        match event {
            CallEvent::Entry { family, number } => {
                let entered = state.pairing.enter(task, (family, number), record);
                self.entry(decoder, entered, record, state, out);
            }
            CallEvent::Exit { family, number, result } => {
                let numbers = (family, number, result);
                let exited = state.pairing.exit(task, numbers, record.buffer, |open| is_sigreturn(decoder, open));
                self.exit(exited, (record, result), state, out);
            }
        }
        Consumed::One
    }

    fn end(&self, state: &mut JsonSyscallsState<'t>, out: &mut Vec<u8>) {
        for open in state.pairing.rest() {
            self.write(&JsonCall { entry: Some(&open.record()), exit: None, state: "unfinished" }, state, out);
        }
    }

    fn is_serial(&self) -> bool {
        true
    }

    fn set_comms(&self, state: &mut JsonSyscallsState<'t>, comms: &Comms) {
        self.json.set_comms(&mut state.json, comms);
    }
}
