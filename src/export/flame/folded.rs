//! Folded stacks: `task;outer;inner NUMBER`, a line for each stack, as flame graph programs read them.
//! Events that are in no call stack.

use super::names::{FlameBuffer, FlameRoot, Reader, UserFrames, root, write_lines};
use crate::answer::analysis::stacks::{Node, StackChange, StackFrame, StackTree, StackWalk, TaskStack, WalkedRecord};
use crate::base::units::CpuId;
use crate::export::Exporter;
use crate::kernel::event::{Consumed, Record};
use std::collections::HashMap;

/// Adds up the time of functions, or counts stack traces, and writes the sums at the end.
pub struct Folded<'t> {
    buffers: Vec<Reader<'t>>,
}

/// Sums so far.
#[derive(Debug)]
pub struct FoldedState {
    walk: StackWalk,
    tasks: HashMap<TaskStack, CurrentStack>,
    time: StackTree<FlameRoot>,
    counts: StackTree<FlameRoot>,
    user: UserFrames,
    /// By buffer and CPU: the stacks of the newest event, as long as no other follows.
    samples: HashMap<(usize, CpuId), FoldedSample>,
    unfolded: Unfolded,
}

/// The stacks that the kernel wrote right after an event, of user space and its own in either order.
#[derive(Debug)]
struct FoldedSample {
    task: TaskStack,
    /// Frames, innermost first.
    kernel: Option<Vec<StackFrame>>,
    user: Option<Vec<StackFrame>>,
}

/// A task's stack, and the time up to which it is accounted for.
#[derive(Clone, Copy, Debug)]
struct CurrentStack {
    stack: Node,
    since: u64,
}

impl<'t> Folded<'t> {
    /// For records whose [`Record::buffer`] is an index into `buffers`.
    pub fn new(buffers: impl IntoIterator<Item = FlameBuffer<'t>>) -> Self {
        Folded { buffers: buffers.into_iter().map(Reader::new).collect() }
    }
}

impl FoldedState {
    /// Events that are in no line.
    pub fn unfolded(&self) -> Unfolded {
        self.unfolded
    }

    /// A stack, which belongs to the one before if that is the other half of it.
    fn sample(
        &mut self,
        buffers: &[Reader<'_>],
        place: (usize, CpuId),
        task: TaskStack,
        half: Result<Vec<StackFrame>, Vec<StackFrame>>,
    ) {
        let is_other = |sample: &FoldedSample| match &half {
            Ok(_) => sample.kernel.is_none() && sample.task == task,
            Err(_) => sample.user.is_none() && sample.task == task,
        };
        if !self.samples.get(&place).is_some_and(is_other) {
            self.count(buffers, place);
        }
        let sample = self.samples.entry(place).or_insert(FoldedSample { task, kernel: None, user: None });
        match half {
            Ok(kernel) => sample.kernel = Some(kernel),
            Err(user) => sample.user = Some(user),
        }
    }

    /// Counts the stack of the newest event there.
    fn count(&mut self, buffers: &[Reader<'_>], place: (usize, CpuId)) {
        let Some(FoldedSample { task, kernel, user }) = self.samples.remove(&place) else { return };
        let root = self.counts.root(&root(buffers, task));
        let frames = user.iter().flatten().rev().chain(kernel.iter().flatten().rev());
        let node = frames.fold(root, |node, frame| self.counts.child(node, *frame));
        self.counts.add(node, 1);
    }

    /// True if the lines' numbers are nanoseconds; else they are numbers of stack traces.
    pub fn is_time(&self) -> bool {
        self.time.stacks().next().is_some()
    }
}

/// The part of a state that changes of stacks change.
struct FoldedTimes<'s> {
    tasks: &'s mut HashMap<TaskStack, CurrentStack>,
    time: &'s mut StackTree<FlameRoot>,
}

impl FoldedTimes<'_> {
    /// The task's stack changes at `time`.
    fn change(&mut self, task: TaskStack, change: StackChange, time: u64, root: impl FnOnce() -> FlameRoot) {
        let current = match self.tasks.get(&task) {
            Some(current) => *current,
            None => CurrentStack { stack: self.time.root(&root()), since: time },
        };
        // Time without an open function is not known to be anybody's.
        if self.time.parent(current.stack) != current.stack {
            self.time.add(current.stack, time.saturating_sub(current.since));
        }
        let stack = match change {
            StackChange::Open(frame) | StackChange::Away(frame) => self.time.child(current.stack, frame),
            StackChange::Close(_) | StackChange::Ended(_) => self.time.parent(current.stack),
        };
        self.tasks.insert(task, CurrentStack { stack, since: time });
    }
}

impl Exporter for Folded<'_> {
    type State = FoldedState;

    fn state(&self) -> FoldedState {
        FoldedState {
            walk: StackWalk::default(),
            tasks: HashMap::new(),
            time: StackTree::new(),
            counts: StackTree::new(),
            user: UserFrames::default(),
            samples: HashMap::new(),
            unfolded: Unfolded::default(),
        }
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut FoldedState,
        _: &mut Vec<u8>,
    ) -> Consumed {
        let FoldedState { walk, tasks, time, .. } = state;
        let (mut times, place) = (FoldedTimes { tasks, time }, (record.buffer, record.cpu));
        let (task, rest) = walk.record(&self.buffers[record.buffer].events, record, |task, change, at| {
            times.change(task, change, at, || root(&self.buffers, task));
        });
        match rest {
            WalkedRecord::Stack(addresses) => {
                let frames = addresses.into_iter().map(StackFrame::Function).collect();
                state.sample(&self.buffers, place, task, Ok(frames));
            }
            WalkedRecord::UserStack => match state.user.of(&self.buffers[record.buffer], record) {
                Some(frames) => state.sample(&self.buffers, place, task, Err(frames)),
                None => state.unfolded.others += 1,
            },
            rest => {
                state.count(&self.buffers, place);
                state.unfolded.others += u64::from(matches!(rest, WalkedRecord::Other));
            }
        }
        Consumed::One
    }

    fn end(&self, state: &mut FoldedState, out: &mut Vec<u8>) {
        let FoldedState { walk, tasks, time, .. } = state;
        let mut times = FoldedTimes { tasks, time };
        walk.end(|task, change, at| times.change(task, change, at, || root(&self.buffers, task)));
        let places: Vec<(usize, CpuId)> = state.samples.keys().copied().collect();
        places.into_iter().for_each(|place| state.count(&self.buffers, place));
        state.unfolded.returns = state.walk.unmatched();
        let timed = state.is_time();
        if timed {
            state.unfolded.stacks = state.counts.stacks().map(|(_, _, count)| count).sum();
        }
        write_lines(&self.buffers, if timed { &state.time } else { &state.counts }, &state.user, out);
    }

    fn is_serial(&self) -> bool {
        true
    }
}

/// Events that are in no call stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfolded {
    /// Events that are neither function_graph's, nor stack traces, nor switches between tasks while
    /// functions are open.
    pub others: u64,
    /// Stack traces of a recording with function_graph, which gives times.
    pub stacks: u64,
    /// Returns from functions whose entry is not in the recording.
    pub returns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::{Abi, Endian};
    use crate::base::units::Timestamp;
    use crate::kernel::event::Lost;
    use crate::kernel::format::EventFormat;
    use crate::kernel::symbols::{Comms, Kallsyms, ObjectFiles, Symbols, UserSymbols};
    use std::sync::Arc;

    const ABI: Abi = Abi { endian: Endian::Little, long_size: 8 };
    const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
                          \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

    fn format(system: &str, name: &str, id: u16, fields: &[(&str, usize, usize)]) -> EventFormat {
        let mut text = format!("name: {name}\nID: {id}\nformat:\n{COMMON}");
        for (decl, offset, size) in fields {
            text += &format!("\tfield:{decl};\toffset:{offset};\tsize:{size};\tsigned:1;\n");
        }
        EventFormat::parse(system, &(text + "\nprint fmt: \"\"\n")).unwrap()
    }

    /// No files: all addresses of user space are unknown.
    struct NoFiles;

    impl ObjectFiles for NoFiles {
        fn read(&self, _: &str) -> std::io::Result<Vec<u8>> {
            Err(std::io::ErrorKind::NotFound.into())
        }

        fn debug(&self, _: &[u8]) -> Option<Vec<u8>> {
            None
        }
    }

    /// The lines for records: time, event, task, and three numbers.
    fn lines(records: &[(u64, u16, i32, [u64; 3], Lost)]) -> (String, Unfolded) {
        let call = [("unsigned long func", 8, 8), ("int depth", 16, 4)];
        let switch = [("int prev_pid", 8, 4), ("int next_pid", 16, 4), ("long prev_state", 24, 8)];
        let formats = [
            format("ftrace", "funcgraph_entry", 1, &call),
            format("ftrace", "funcgraph_exit", 2, &call),
            format("sched", "sched_switch", 3, &switch),
            format("ftrace", "kernel_stack", 4, &[("unsigned long caller[8]", 8, 64)]),
            format("ftrace", "user_stack", 5, &[("unsigned int tgid", 8, 4), ("unsigned long caller[8]", 16, 64)]),
        ];
        let kallsyms = Kallsyms::parse(b"0000000000001000 T a\n0000000000002000 T b;c\n0000000000003000 T end\n");
        let comms = Comms::parse(b"7 sh\n8 cat\n");
        let user = Some(Arc::new(UserSymbols::new(&[], &comms, Box::new(NoFiles))));
        let symbols = Symbols { kallsyms, comms, user, ..Symbols::default() };
        let (file, processes, label) = (0, &[][..], None);
        let buffer =
            FlameBuffer { formats: formats.iter().collect(), abi: ABI, symbols: &symbols, file, processes, label };
        let folded = Folded::new([buffer]);
        let (mut state, mut out) = (folded.state(), Vec::new());
        for &(time, id, pid, numbers, lost) in records {
            let mut data = [u64::from(id) | (pid as u64) << 32].map(u64::to_le_bytes).concat();
            data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            let record = Record { timestamp: Timestamp(time), cpu: CpuId(0), buffer: 0, lost, data: &data };
            let _ = folded.event(&record, || None, &mut state, &mut out);
        }
        folded.end(&mut state, &mut out);
        (String::from_utf8(out).unwrap(), state.unfolded())
    }

    #[test]
    fn time_is_each_functions_own() {
        let none = Lost::None;
        let (text, unfolded) = lines(&[
            (100, 1, 7, [0x1000, 0, 0], none),
            (110, 1, 7, [0x2004, 1, 0], none),
            (115, 2, 7, [0x2004, 1, 0], none),
            (130, 2, 7, [0x1000, 0, 0], none),
            (150, 1, 7, [0x1000, 0, 0], none),
            (151, 2, 7, [0x1000, 0, 0], none),
            (160, 2, 7, [0x1000, 0, 0], none),
            (170, 4, 7, [0x1000, 0x2000, 0], none),
        ]);
        assert_eq!(text, "sh;a 26\nsh;a;b:c 5\n");
        assert_eq!(unfolded, Unfolded { others: 0, stacks: 1, returns: 1 });
    }

    #[test]
    fn switches_without_functions_are_in_no_stack() {
        let (text, unfolded) = lines(&[(103, 3, 7, [7, 8, 0], Lost::None), (110, 3, 8, [8, 7, 1], Lost::None)]);
        assert_eq!((text.as_str(), unfolded.others), ("", 2));
    }

    #[test]
    fn time_without_a_cpu_is_apart() {
        let none = Lost::None;
        let (text, _) = lines(&[
            (100, 1, 7, [0x1000, 0, 0], none),
            (103, 3, 7, [7, 8, 0], none),
            (110, 3, 8, [8, 7, 1], none),
            (112, 3, 7, [7, 8, 1], none),
            (120, 3, 8, [8, 7, 1], none),
            (121, 2, 7, [0x1000, 0, 0], none),
        ]);
        assert_eq!(text, "sh;a 6\nsh;a;[off-CPU] 8\nsh;a;[preempted] 7\n");
    }

    #[test]
    fn the_time_of_lost_events_belongs_to_no_task() {
        let (text, _) = lines(&[
            (100, 1, 7, [0x1000, 0, 0], Lost::None),
            (103, 1, 8, [0x1000, 0, 0], Lost::None),
            (900, 1, 7, [0x2000, 1, 0], Lost::Count(5)),
            (905, 2, 7, [0x2000, 1, 0], Lost::None),
        ]);
        assert_eq!(text, "sh;[unknown];b:c 5\n");
    }

    #[test]
    fn stacks_are_counted_where_there_is_no_time() {
        let stack = |pid| (1, 4, pid, [0x1000, 0x2000, 0], Lost::None);
        let (text, unfolded) = lines(&[stack(7), stack(8), stack(7)]);
        assert_eq!(text, "cat;b:c;a 1\nsh;b:c;a 2\n");
        assert_eq!(unfolded, Unfolded::default());
    }

    #[test]
    fn a_stack_of_user_space_lies_around_the_kernels() {
        let (none, kernel, user) = (Lost::None, [0x1000, 0x2000, 0], [7, 0xf000, 0]);
        let halves = [(1, 4, 7, kernel, none), (1, 5, 7, user, none)];
        assert_eq!(lines(&halves).0, "sh;[unknown];b:c;a 1\n");
        assert_eq!(lines(&[halves[1], halves[0]]).0, "sh;[unknown];b:c;a 1\n");
        // A second one is another event's, and so is one after an event of other kinds.
        assert_eq!(lines(&[halves[1], halves[1], halves[0]]).0, "sh;[unknown] 1\nsh;[unknown];b:c;a 1\n");
        let between = (2, 3, 7, [7, 8, 0], none);
        assert_eq!(lines(&[halves[0], between, halves[1]]).0, "sh;[unknown] 1\nsh;b:c;a 1\n");
    }
}
