//! speedscope's file format: <https://www.speedscope.app/file-format-schema.json>. A profile for each task: calls in the
//! order of time from function_graph, else stack traces.

use super::names::{FlameBuffer, Reader};
use super::{Unfolded, names};
use crate::answer::analysis::stacks::{StackChange, StackFrame, StackWalk, TaskStack, WalkedRecord};
use crate::base::text::{json, num};
use crate::export::Exporter;
use crate::kernel::event::{Consumed, Record};
use std::collections::{BTreeMap, HashMap};

/// Gathers the tasks' stacks and writes them at the end. Memory grows with the number of calls, some six bytes for each:
/// the format has one task after the other.
pub struct Speedscope<'t> {
    buffers: Vec<Reader<'t>>,
    name: String,
}

/// Profiles gathered so far.
#[derive(Debug, Default)]
pub struct SpeedscopeState {
    walk: StackWalk,
    /// Frames by number, and their numbers.
    frames: Vec<(usize, StackFrame)>,
    numbers: HashMap<(usize, StackFrame), u32>,
    tasks: BTreeMap<TaskStack, SpeedscopeProfile>,
    unfolded: Unfolded,
}

/// A task's profile.
#[derive(Debug, Default)]
struct SpeedscopeProfile {
    /// Changes: the time since the one before, shifted left by one, with the lowest bit set if a frame is opened; then
    /// the frame. All as numbers of varying length.
    changes: Vec<u8>,
    start: u64,
    last: u64,
    /// Stack traces as numbers of frames, the outermost first, and how often each occurred.
    samples: BTreeMap<Vec<u32>, u64>,
}

impl<'t> Speedscope<'t> {
    /// For records whose [`Record::buffer`] is an index into `buffers`; `name` is the profile's.
    pub fn new(buffers: impl IntoIterator<Item = FlameBuffer<'t>>, name: &str) -> Self {
        Speedscope { buffers: buffers.into_iter().map(Reader::new).collect(), name: name.to_owned() }
    }
}

impl SpeedscopeState {
    /// Events that are in no profile.
    pub fn unfolded(&self) -> Unfolded {
        Unfolded { returns: self.walk.unmatched(), ..self.unfolded }
    }
}

/// The part of a state that changes of stacks change.
struct SpeedscopeStacks<'s> {
    frames: &'s mut Vec<(usize, StackFrame)>,
    numbers: &'s mut HashMap<(usize, StackFrame), u32>,
    tasks: &'s mut BTreeMap<TaskStack, SpeedscopeProfile>,
}

impl SpeedscopeStacks<'_> {
    fn number(&mut self, buffer: usize, frame: StackFrame) -> u32 {
        *self.numbers.entry((buffer, frame)).or_insert_with(|| {
            self.frames.push((buffer, frame));
            self.frames.len() as u32 - 1
        })
    }

    fn change(&mut self, task: TaskStack, change: StackChange, time: u64) {
        let (open, frame) = match change {
            StackChange::Open(frame) | StackChange::Away(frame) => (true, frame),
            StackChange::Close(frame) | StackChange::Ended(frame) => (false, frame),
        };
        let number = self.number(task.buffer, frame);
        let profile = self.tasks.entry(task).or_default();
        if profile.changes.is_empty() {
            (profile.start, profile.last) = (time, time);
        }
        // Time stamps of different CPUs may disagree; the format wants them in order.
        let time = time.max(profile.last);
        put(&mut profile.changes, (time - profile.last) << 1 | u64::from(open));
        put(&mut profile.changes, number.into());
        profile.last = time;
    }
}

/// Appends a number: seven bits a byte, the lowest first.
fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a number off the front of `bytes`.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if *first < 0x80 {
            return Some(value);
        }
    }
    None
}

impl Exporter for Speedscope<'_> {
    type State = SpeedscopeState;

    fn state(&self) -> SpeedscopeState {
        SpeedscopeState::default()
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut SpeedscopeState,
        _: &mut Vec<u8>,
    ) -> Consumed {
        let SpeedscopeState { walk, frames, numbers, tasks, .. } = state;
        let mut gathered = SpeedscopeStacks { frames, numbers, tasks };
        let (task, rest) = walk.record(&self.buffers[record.buffer].events, record, |task, change, time| {
            gathered.change(task, change, time)
        });
        match rest {
            WalkedRecord::Nothing => {}
            WalkedRecord::UserStack | WalkedRecord::Other => state.unfolded.others += 1,
            WalkedRecord::Stack(addresses) => {
                let frames = addresses.iter().rev().map(|at| gathered.number(task.buffer, StackFrame::Function(*at)));
                let stack = frames.collect();
                *gathered.tasks.entry(task).or_default().samples.entry(stack).or_default() += 1;
            }
        }
        Consumed::One
    }

    fn end(&self, state: &mut SpeedscopeState, out: &mut Vec<u8>) {
        let SpeedscopeState { walk, frames, numbers, tasks, unfolded } = state;
        let mut gathered = SpeedscopeStacks { frames, numbers, tasks };
        walk.end(|task, change, time| gathered.change(task, change, time));
        let timed = tasks.values().any(|profile| !profile.changes.is_empty());
        if timed {
            unfolded.stacks = tasks.values().flat_map(|profile| profile.samples.values()).sum();
        }
        out.extend_from_slice(b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"");
        out.extend_from_slice(concat!("rtrace ", env!("CARGO_PKG_VERSION"), "\",\"name\":").as_bytes());
        json::string(out, self.name.as_bytes());
        out.extend_from_slice(b",\"shared\":{\"frames\":[");
        list(out, frames.iter(), |out, (buffer, frame)| {
            let mut name = Vec::new();
            names::frame(&self.buffers[*buffer].what, *frame, &mut name);
            out.extend_from_slice(b"{\"name\":");
            json::string(out, &name);
            out.push(b'}');
        });
        out.extend_from_slice(b"]},\"profiles\":[\n");
        let wanted = |(_, profile): &(&TaskStack, &SpeedscopeProfile)| !timed || !profile.changes.is_empty();
        list(out, tasks.iter().filter(wanted), |out, (task, profile)| {
            let mut name = names::task(&self.buffers[task.buffer].what, *task);
            name.push(b' ');
            num::signed(&mut name, task.pid.0.into());
            match timed {
                true => profile.write_calls(&name, out),
                false => profile.write_samples(&name, out),
            }
        });
        out.extend_from_slice(b"]}\n");
    }

    fn is_serial(&self) -> bool {
        true
    }
}

impl SpeedscopeProfile {
    fn write_calls(&self, name: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"type\":\"evented\",\"name\":");
        json::string(out, name);
        out.extend_from_slice(b",\"unit\":\"nanoseconds\",\"startValue\":");
        num::dec(out, self.start);
        out.extend_from_slice(b",\"endValue\":");
        num::dec(out, self.last);
        out.extend_from_slice(b",\"events\":[");
        let (mut rest, mut time) = (self.changes.as_slice(), self.start);
        let changes = std::iter::from_fn(|| take(&mut rest).zip(take(&mut rest)));
        list(out, changes, |out, (step, frame)| {
            time += step >> 1;
            out.extend_from_slice(if step & 1 == 1 {
                b"{\"type\":\"O\",\"frame\":"
            } else {
                b"{\"type\":\"C\",\"frame\":"
            });
            num::dec(out, frame);
            out.extend_from_slice(b",\"at\":");
            num::dec(out, time);
            out.push(b'}');
        });
        out.extend_from_slice(b"]}\n");
    }

    fn write_samples(&self, name: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"type\":\"sampled\",\"name\":");
        json::string(out, name);
        out.extend_from_slice(b",\"unit\":\"none\",\"startValue\":0,\"endValue\":");
        num::dec(out, self.samples.values().sum());
        out.extend_from_slice(b",\"samples\":[");
        list(out, self.samples.keys(), |out, stack| {
            out.push(b'[');
            list(out, stack.iter(), |out, frame| num::dec(out, u64::from(*frame)));
            out.push(b']');
        });
        out.extend_from_slice(b"],\"weights\":[");
        list(out, self.samples.values(), |out, count| num::dec(out, *count));
        out.extend_from_slice(b"]}\n");
    }
}

fn list<T>(out: &mut Vec<u8>, items: impl Iterator<Item = T>, mut one: impl FnMut(&mut Vec<u8>, T)) {
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        one(out, item);
    }
}
