//! A thread of a Firefox profile: its stacks, samples and markers, gathered and written as columns.

use crate::analysis::stacks::Frame;
use crate::text::{json, num};
use std::collections::HashMap;

/// The samples that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sample {
    /// Changes of the stack, each with the time until the next.
    #[default]
    Time,
    /// Stack traces.
    Trace,
}

/// A stack: index into the thread's stacks.
type Stack = u32;

/// A thread, gathered.
#[derive(Debug, Default)]
pub(super) struct Thread {
    frames: Vec<Frame>,
    numbers: HashMap<Frame, u32>,
    /// The innermost frame and the stack below it.
    stacks: Vec<(u32, Option<Stack>)>,
    known: HashMap<(u32, Option<Stack>), Stack>,
    now: Option<Stack>,
    changes: Vec<(u64, Option<Stack>)>,
    traces: Vec<(u64, Option<Stack>)>,
    shown: Sample,
    /// Names of markers, and their numbers.
    names: Vec<String>,
    named: HashMap<String, u32>,
    /// Each marker's time and name.
    markers: Vec<(u64, u32)>,
    /// The markers' data, divided by commas.
    data: Vec<u8>,
}

impl Thread {
    /// A frame is opened.
    pub(super) fn open(&mut self, time: u64, frame: Frame) {
        let stack = self.stack(frame, self.now);
        self.change(time, Some(stack));
    }

    /// The innermost frame is closed.
    pub(super) fn close(&mut self, time: u64) {
        let below = self.now.and_then(|stack| self.stacks.get(stack as usize)).and_then(|(_, below)| *below);
        self.change(time, below);
    }

    /// A stack trace, the outermost frame first.
    pub(super) fn trace(&mut self, time: u64, frames: impl Iterator<Item = Frame>) {
        let mut stack = None;
        for frame in frames {
            stack = Some(self.stack(frame, stack));
        }
        self.traces.push((time, stack));
    }

    /// An event, with its data as a JSON object.
    pub(super) fn mark(&mut self, time: u64, name: &str, data: &[u8]) {
        let number = match self.named.get(name) {
            Some(number) => *number,
            None => {
                let number = self.names.len() as u32;
                self.names.push(name.to_owned());
                self.named.insert(name.to_owned(), number);
                number
            }
        };
        if !self.markers.is_empty() {
            self.data.extend_from_slice(b",\n");
        }
        self.markers.push((time, number));
        self.data.extend_from_slice(data);
    }

    /// True if it has changes of stacks.
    pub(super) fn is_timed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Number of its stack traces.
    pub(super) fn traces(&self) -> u64 {
        self.traces.len() as u64
    }

    /// The samples to show.
    pub(super) fn choose(&mut self, shown: Sample) {
        self.shown = shown;
    }

    /// Appends its columns. `name` gives a frame's name and category; markers have the category `event`; `time` appends one.
    pub(super) fn write(
        &self,
        name: impl Fn(Frame) -> (Vec<u8>, u8),
        event: u8,
        time: impl Fn(u64, &mut Vec<u8>),
        out: &mut Vec<u8>,
    ) {
        let named: Vec<(Vec<u8>, u8)> = self.frames.iter().map(|frame| name(*frame)).collect();
        let category = |stack: &(u32, Option<Stack>)| named.get(stack.0 as usize).map_or(0, |(_, category)| *category);
        self.write_samples(&time, out);
        let count = self.stacks.len();
        out.extend_from_slice(b",\"stackTable\":{\"frame\":[");
        list(out, self.stacks.iter(), |out, (frame, _)| num::dec(out, (*frame).into()));
        out.extend_from_slice(b"],\"prefix\":[");
        list(out, self.stacks.iter(), |out, (_, below)| optional(*below, out));
        out.extend_from_slice(b"],\"category\":[");
        list(out, self.stacks.iter(), |out, stack| num::dec(out, category(stack).into()));
        constant(out, "],\"subcategory\"", count, "0");
        out.extend_from_slice(format!(",\"length\":{count}}}").as_bytes());
        self.write_functions(&named, out);
        let functions = self.frames.len() as u64;
        out.extend_from_slice(b",\"markers\":{\"data\":[");
        out.extend_from_slice(&self.data);
        out.extend_from_slice(b"],\"name\":[");
        list(out, self.markers.iter(), |out, (_, name)| num::dec(out, functions + u64::from(*name)));
        out.extend_from_slice(b"],\"startTime\":[");
        list(out, self.markers.iter(), |out, (at, _)| time(*at, out));
        constant(out, "],\"endTime\"", self.markers.len(), "null");
        constant(out, ",\"phase\"", self.markers.len(), "0");
        constant(out, ",\"category\"", self.markers.len(), &event.to_string());
        out.extend_from_slice(format!(",\"length\":{}}},\"stringArray\":[", self.markers.len()).as_bytes());
        let texts = named.iter().map(|(name, _)| name.as_slice()).chain(self.names.iter().map(|name| name.as_bytes()));
        list(out, texts, json::string);
        out.push(b']');
    }

    fn write_samples(&self, time: &impl Fn(u64, &mut Vec<u8>), out: &mut Vec<u8>) {
        let (samples, kind) = match self.shown {
            Sample::Time => (&self.changes, "tracing-ms"),
            Sample::Trace => (&self.traces, "samples"),
        };
        out.extend_from_slice(format!(",\"samples\":{{\"weightType\":\"{kind}\",\"stack\":[").as_bytes());
        list(out, samples.iter(), |out, (_, stack)| optional(*stack, out));
        out.extend_from_slice(b"],\"time\":[");
        list(out, samples.iter(), |out, (at, _)| time(*at, out));
        out.extend_from_slice(b"],\"weight\":[");
        let next = samples.iter().skip(1).map(|(at, _)| *at).chain(samples.last().map(|(at, _)| *at));
        list(out, samples.iter().zip(next), |out, ((at, stack), next)| match self.shown {
            Sample::Trace => out.push(b'1'),
            // Time without an open function is not known to be anybody's.
            Sample::Time if stack.is_none() => out.push(b'0'),
            Sample::Time => milliseconds(next.saturating_sub(*at), out),
        });
        out.extend_from_slice(format!("],\"length\":{}}}", samples.len()).as_bytes());
    }

    fn write_functions(&self, named: &[(Vec<u8>, u8)], out: &mut Vec<u8>) {
        let count = named.len();
        constant(out, ",\"frameTable\":{\"address\"", count, "-1");
        constant(out, ",\"inlineDepth\"", count, "0");
        out.extend_from_slice(b",\"category\":[");
        list(out, named.iter(), |out, (_, category)| num::dec(out, (*category).into()));
        constant(out, "],\"subcategory\"", count, "0");
        out.extend_from_slice(b",\"func\":[");
        list(out, 0..count as u64, num::dec);
        out.push(b']');
        for column in ["nativeSymbol", "implementation", "line", "column"] {
            constant(out, &format!(",\"{column}\""), count, "null");
        }
        constant(out, ",\"innerWindowID\"", count, "0");
        out.extend_from_slice(format!(",\"length\":{count}}}").as_bytes());
        constant(out, ",\"funcTable\":{\"isJS\"", count, "false");
        constant(out, ",\"relevantForJS\"", count, "false");
        constant(out, ",\"resource\"", count, "-1");
        out.extend_from_slice(b",\"name\":[");
        list(out, 0..count as u64, num::dec);
        out.push(b']');
        for column in ["fileName", "lineNumber", "columnNumber"] {
            constant(out, &format!(",\"{column}\""), count, "null");
        }
        out.extend_from_slice(format!(",\"length\":{count}}}").as_bytes());
        out.extend_from_slice(
            b",\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},\
              \"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0}",
        );
    }

    fn stack(&mut self, frame: Frame, below: Option<Stack>) -> Stack {
        let Thread { frames, numbers, stacks, known, .. } = self;
        let frame = *numbers.entry(frame).or_insert_with(|| {
            frames.push(frame);
            frames.len() as u32 - 1
        });
        *known.entry((frame, below)).or_insert_with(|| {
            stacks.push((frame, below));
            stacks.len() as u32 - 1
        })
    }

    /// The stack changes. Time stamps of different CPUs may disagree; the format wants them in order.
    fn change(&mut self, time: u64, stack: Option<Stack>) {
        self.now = stack;
        match self.changes.last_mut() {
            Some((last, of)) if *last >= time => *of = stack,
            _ => self.changes.push((time, stack)),
        }
    }
}

/// Appends nanoseconds as milliseconds.
pub(super) fn milliseconds(time: u64, out: &mut Vec<u8>) {
    num::dec(out, time / 1_000_000);
    out.push(b'.');
    num::dec_pad(out, time % 1_000_000, 6, b'0');
}

fn optional(number: Option<u32>, out: &mut Vec<u8>) {
    match number {
        Some(number) => num::dec(out, number.into()),
        None => out.extend_from_slice(b"null"),
    }
}

/// Appends a column of equal values.
fn constant(out: &mut Vec<u8>, key: &str, count: usize, value: &str) {
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b":[");
    list(out, std::iter::repeat_n(value, count), |out, value| out.extend_from_slice(value.as_bytes()));
    out.push(b']');
}

fn list<T>(out: &mut Vec<u8>, items: impl Iterator<Item = T>, mut one: impl FnMut(&mut Vec<u8>, T)) {
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        one(out, item);
    }
}
