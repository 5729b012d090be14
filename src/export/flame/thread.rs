//! A thread of a Firefox profile: its stacks, samples and markers, gathered and written as columns.

use super::packed::{BlockPacker, PackedItems, PackedRows};
use crate::answer::analysis::stacks::StackFrame;
use crate::base::sys::Tail;
use crate::base::text::{json, num};
use crate::export::Outflow;
use crate::kernel::event::Record;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::io;

/// The samples that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SampleKind {
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
pub(super) struct FlameThread {
    frames: Vec<StackFrame>,
    numbers: HashMap<StackFrame, u32, RandomState>,
    /// The innermost frame and the stack below it.
    stacks: Vec<(u32, Option<Stack>)>,
    known: HashMap<(u32, Option<Stack>), Stack, RandomState>,
    now: Option<Stack>,
    changes: PackedRows<2>,
    /// The change that an earlier one of the same moment may still replace.
    change: Option<(u64, Option<Stack>)>,
    traces: PackedRows<2>,
    shown: SampleKind,
    /// The time of each marker.
    times: PackedRows<1>,
    /// Of each marker its kind, its CPU and the size of its record.
    markers: PackedRows<3>,
    records: PackedItems,
}

/// The type of a marker, numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MarkerKind(pub(super) u32);

/// A sample as numbers: its time, and its stack counted from 1; 0 is none.
fn sample(time: u64, stack: Option<Stack>) -> [u64; 2] {
    [time, stack.map_or(0, |stack| u64::from(stack) + 1)]
}

type PutData<'c> = dyn Fn(MarkerKind, u32, &[u8], &mut Vec<u8>) + 'c;

/// Functions that write the columns of a thread.
pub(super) struct ColumnWriters<'c> {
    /// The name and category of a frame.
    pub(super) frame: &'c dyn Fn(StackFrame) -> (Vec<u8>, u8),
    /// The name of a marker.
    pub(super) marker: &'c dyn Fn(MarkerKind) -> &'c str,
    /// Appends a marker's data as a JSON object: of its kind, CPU and record.
    pub(super) data: &'c PutData<'c>,
    /// The category of markers.
    pub(super) category: u8,
    /// The packer of all rows.
    pub(super) packer: &'c BlockPacker,
    /// Appends a time.
    pub(super) time: &'c dyn Fn(u64, &mut Vec<u8>),
}

impl FlameThread {
    /// A frame is opened.
    pub(super) fn open(&mut self, time: u64, frame: StackFrame, packer: &mut BlockPacker) {
        let stack = self.stack(frame, self.now);
        self.change(time, Some(stack), packer);
    }

    /// The innermost frame is closed.
    pub(super) fn close(&mut self, time: u64, packer: &mut BlockPacker) {
        let below = self.now.and_then(|stack| self.stacks.get(stack as usize)).and_then(|(_, below)| *below);
        self.change(time, below, packer);
    }

    /// A stack trace, the outermost frame first.
    pub(super) fn trace(&mut self, time: u64, frames: impl Iterator<Item = StackFrame>, packer: &mut BlockPacker) {
        let mut stack = None;
        for frame in frames {
            stack = Some(self.stack(frame, stack));
        }
        self.traces.push(sample(time, stack), packer);
    }

    /// An event that is neither a call nor a stack trace.
    pub(super) fn mark(&mut self, kind: MarkerKind, record: &Record<'_>, packer: &mut BlockPacker) {
        let Record { timestamp, cpu, data, .. } = record;
        self.times.push([timestamp.0], packer);
        self.markers.push([kind.0.into(), cpu.0.into(), data.len() as u64], packer);
        self.records.push(data, packer);
    }

    /// True if it has changes of stacks.
    pub(super) fn is_timed(&self) -> bool {
        self.change.is_some() || self.changes.len() > 0
    }

    /// Number of its stack traces.
    pub(super) fn traces(&self) -> u64 {
        self.traces.len() as u64
    }

    /// The samples to show; no more come.
    pub(super) fn choose(&mut self, shown: SampleKind, packer: &mut BlockPacker) {
        self.shown = shown;
        if let Some((time, stack)) = self.change.take() {
            self.changes.push(sample(time, stack), packer);
        }
    }

    /// Writes its columns.
    pub(super) fn write(&self, with: &ColumnWriters<'_>, out: &mut Outflow<'_>) -> io::Result<()> {
        let named: Vec<(Vec<u8>, u8)> = self.frames.iter().map(|frame| (with.frame)(*frame)).collect();
        let category = |stack: &(u32, Option<Stack>)| named.get(stack.0 as usize).map_or(0, |(_, category)| *category);
        self.write_samples(with, out)?;
        let count = self.stacks.len();
        out.bytes.extend_from_slice(b",\"stackTable\":{\"frame\":[");
        list(out, self.stacks.iter(), |out, (frame, _)| num::dec(out, (*frame).into()))?;
        out.bytes.extend_from_slice(b"],\"prefix\":[");
        list(out, self.stacks.iter(), |out, (_, below)| optional(below.map(u64::from), out))?;
        out.bytes.extend_from_slice(b"],\"category\":[");
        list(out, self.stacks.iter(), |out, stack| num::dec(out, category(stack).into()))?;
        constant(out, "],\"subcategory\"", count, "0")?;
        out.bytes.extend_from_slice(format!(",\"length\":{count}}}").as_bytes());
        write_functions(&named, out)?;
        let names = self.write_markers(named.len() as u64, with, out)?;
        let texts = named.iter().map(|(name, _)| name.as_slice()).chain(names.into_iter().map(str::as_bytes));
        out.bytes.extend_from_slice(b",\"stringArray\":[");
        list(out, texts, json::string)?;
        out.bytes.push(b']');
        with.packer.check()
    }

    /// Writes the markers, whose names come after the `functions`; gives these names.
    fn write_markers<'c>(
        &self,
        functions: u64,
        with: &ColumnWriters<'c>,
        out: &mut Outflow<'_>,
    ) -> io::Result<Vec<&'c str>> {
        let (mut names, mut numbers) = (Vec::new(), Vec::<Option<u64>>::new());
        let mut records = self.records.read(with.packer);
        out.bytes.extend_from_slice(b",\"markers\":{\"data\":[");
        list_by(out, b",\n", self.markers.iter(with.packer), |out, [kind, cpu, len]| {
            (with.data)(MarkerKind(kind as u32), cpu as u32, records.take(len as usize), out);
        })?;
        out.bytes.extend_from_slice(b"],\"name\":[");
        list(out, self.markers.iter(with.packer), |out, [kind, ..]| {
            let at = kind as usize;
            if numbers.len() <= at {
                numbers.resize(at + 1, None);
            }
            let number = numbers[at].get_or_insert_with(|| {
                let name = (with.marker)(MarkerKind(kind as u32));
                let known = names.iter().position(|known| *known == name);
                functions + known.unwrap_or_else(|| (names.push(name), names.len() - 1).1) as u64
            });
            num::dec(out, *number);
        })?;
        out.bytes.extend_from_slice(b"],\"startTime\":[");
        list(out, self.times.iter(with.packer), |out, [time]| (with.time)(time, out))?;
        let count = self.markers.len();
        constant(out, "],\"endTime\"", count, "null")?;
        constant(out, ",\"phase\"", count, "0")?;
        constant(out, ",\"category\"", count, &with.category.to_string())?;
        out.bytes.extend_from_slice(format!(",\"length\":{count}}}").as_bytes());
        Ok(names)
    }

    fn write_samples(&self, with: &ColumnWriters<'_>, out: &mut Outflow<'_>) -> io::Result<()> {
        let ColumnWriters { time, packer, .. } = *with;
        let (samples, kind) = match self.shown {
            SampleKind::Time => (&self.changes, "tracing-ms"),
            SampleKind::Trace => (&self.traces, "samples"),
        };
        out.bytes.extend_from_slice(format!(",\"samples\":{{\"weightType\":\"{kind}\",\"stack\":[").as_bytes());
        list(out, samples.iter(packer), |out, [_, stack]| optional(stack.checked_sub(1), out))?;
        out.bytes.extend_from_slice(b"],\"time\":[");
        list(out, samples.iter(packer), |out, [at, _]| time(at, out))?;
        out.bytes.extend_from_slice(b"],\"weight\":[");
        let mut later = samples.iter(packer).skip(1);
        list(out, samples.iter(packer), |out, [at, stack]| {
            let next = later.next().map_or(at, |[next, _]| next);
            match self.shown {
                SampleKind::Trace => out.push(b'1'),
                // Time without an open function is not known to be anybody's.
                SampleKind::Time if stack == 0 => out.push(b'0'),
                SampleKind::Time => milliseconds(next.saturating_sub(at), out),
            }
        })?;
        out.bytes.extend_from_slice(format!("],\"length\":{}}}", samples.len()).as_bytes());
        Ok(())
    }

    fn stack(&mut self, frame: StackFrame, below: Option<Stack>) -> Stack {
        let FlameThread { frames, numbers, stacks, known, .. } = self;
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
    fn change(&mut self, time: u64, stack: Option<Stack>, packer: &mut BlockPacker) {
        self.now = stack;
        match &mut self.change {
            Some((last, of)) if *last >= time => *of = stack,
            change => {
                if let Some((time, stack)) = change.replace((time, stack)) {
                    self.changes.push(sample(time, stack), packer);
                }
            }
        }
    }
}

fn write_functions(named: &[(Vec<u8>, u8)], out: &mut Outflow<'_>) -> io::Result<()> {
    let count = named.len();
    constant(out, ",\"frameTable\":{\"address\"", count, "-1")?;
    constant(out, ",\"inlineDepth\"", count, "0")?;
    out.bytes.extend_from_slice(b",\"category\":[");
    list(out, named.iter(), |out, (_, category)| num::dec(out, (*category).into()))?;
    constant(out, "],\"subcategory\"", count, "0")?;
    out.bytes.extend_from_slice(b",\"func\":[");
    list(out, 0..count as u64, num::dec)?;
    out.bytes.push(b']');
    for column in ["nativeSymbol", "implementation", "line", "column"] {
        constant(out, &format!(",\"{column}\""), count, "null")?;
    }
    constant(out, ",\"innerWindowID\"", count, "0")?;
    out.bytes.extend_from_slice(format!(",\"length\":{count}}}").as_bytes());
    constant(out, ",\"funcTable\":{\"isJS\"", count, "false")?;
    constant(out, ",\"relevantForJS\"", count, "false")?;
    constant(out, ",\"resource\"", count, "-1")?;
    out.bytes.extend_from_slice(b",\"name\":[");
    list(out, 0..count as u64, num::dec)?;
    out.bytes.push(b']');
    for column in ["fileName", "lineNumber", "columnNumber"] {
        constant(out, &format!(",\"{column}\""), count, "null")?;
    }
    out.bytes.extend_from_slice(format!(",\"length\":{count}}}").as_bytes());
    out.bytes.extend_from_slice(
        b",\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},\
          \"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0}",
    );
    Ok(())
}

/// Appends nanoseconds as milliseconds.
pub(super) fn milliseconds(time: u64, out: &mut Vec<u8>) {
    Tail::new(out).wide(time / 1_000_000).all(b".").piece(&num::six((time % 1_000_000) as u32), 6).done();
}

fn optional(number: Option<u64>, out: &mut Vec<u8>) {
    match number {
        Some(number) => num::dec(out, number),
        None => out.extend_from_slice(b"null"),
    }
}

/// Writes a column of equal values.
fn constant(out: &mut Outflow<'_>, key: &str, count: usize, value: &str) -> io::Result<()> {
    const TOGETHER: usize = 1024;
    out.bytes.extend_from_slice(key.as_bytes());
    out.bytes.extend_from_slice(b":[");
    if let Some(mut left) = count.checked_sub(1) {
        out.bytes.extend_from_slice(value.as_bytes());
        let more = format!(",{value}");
        let many = more.repeat(left.min(TOGETHER));
        while left > 0 {
            let now = left.min(TOGETHER);
            out.bytes.extend_from_slice(&many.as_bytes()[..now * more.len()]);
            out.relieve()?;
            left -= now;
        }
    }
    out.bytes.push(b']');
    Ok(())
}

fn list<T>(out: &mut Outflow<'_>, items: impl Iterator<Item = T>, one: impl FnMut(&mut Vec<u8>, T)) -> io::Result<()> {
    list_by(out, b",", items, one)
}

fn list_by<T>(
    out: &mut Outflow<'_>,
    comma: &[u8],
    items: impl Iterator<Item = T>,
    mut one: impl FnMut(&mut Vec<u8>, T),
) -> io::Result<()> {
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.bytes.extend_from_slice(comma);
        }
        one(&mut out.bytes, item);
        out.relieve()?;
    }
    Ok(())
}
