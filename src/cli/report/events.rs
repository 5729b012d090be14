//! The events of all files, merged, one after the other.

use super::input::Input;
use super::select::{Seen, Selection};
use super::selected::Selected;
use super::source::Source;
use super::streams;
use super::window::{self, Window};
use super::{Args, Damage, Format, align, formats, kernel, profile, tally, text};
use crate::cli::exit::Failure;
use crate::cli::terminal::Output;
use rtrace::event::Record;
use rtrace::merge::ahead::{self, Effort, Tally, Work};
use rtrace::merge::{Merge, MergeError};
use rtrace::units::Timestamp;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{Stdout, Write};
use std::rc::Rc;

/// How much output is gathered before it is written, in bytes.
pub(super) const GATHER: usize = 256 << 10;
/// How much stored data per CPU is first looked through for `--last`, in bytes.
const LAST_STEP: u64 = 64 << 10;

/// How many events to show.
#[derive(clap::Args, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LimitArgs {
    /// Only the first N events that would be shown
    #[arg(long, value_name = "N")]
    first: Option<u64>,
    /// Only the last N events that would be shown
    #[arg(long, value_name = "N", conflicts_with = "first")]
    last: Option<u64>,
}

/// All that decides which events come.
pub(super) struct Run<'a> {
    pub(super) args: &'a Args,
    pub(super) inputs: &'a [Input],
    pub(super) sources: &'a [Source],
    window: Window,
    selection: Selection<'a>,
    seen: Seen,
    damage: &'a mut Damage,
    /// Where each CPU's sub-buffers begin, if that is asked for.
    pub(super) pages: Rc<Pages>,
}

/// Which sub-buffer was seen last of each source and CPU.
#[derive(Default)]
pub(super) struct Pages {
    last: RefCell<HashMap<(usize, u32), u64>>,
    /// Whether the current event is the first of its sub-buffer.
    pub(super) begins: Cell<bool>,
}

impl Pages {
    fn see(&self, merge: &Merge) {
        let record = merge.record();
        let before = self.last.borrow_mut().insert((record.buffer, record.cpu.0), merge.page());
        self.begins.set(before != Some(merge.page()));
    }
}

/// Prints what is wanted of them.
pub(super) fn print(
    args: &Args,
    inputs: &[Input],
    damage: &mut Damage,
    out: &mut Output<Stdout>,
) -> Result<(), Failure> {
    let mut sources = streams::sources(args, inputs);
    if let Some(at) = &args.align {
        align::align(at, inputs, &mut sources)?;
    }
    if args.align_ts {
        let (first, _) = window::span(inputs, &sources)?;
        for source in &mut sources {
            source.time.offset = source.time.offset.wrapping_sub(first as i64);
        }
    }
    let window = args.window.resolve(inputs, &sources)?;
    let selection = Selection::new(args, inputs, sources.len())?;
    let seen = selection.nothing_seen();
    let pages = Rc::default();
    let mut run = Run { args, inputs, sources: &sources, window, selection, seen, damage, pages };
    if args.tally.any() {
        return tally::print(&mut run, out);
    }
    if args.profile.profile {
        return profile::print(&mut run, out);
    }
    match args.format {
        Format::Text => text::print(&mut run, out),
        Format::Kernel => kernel::print(&mut run, out),
        Format::Json | Format::Raw => formats::json(&mut run, out),
        Format::Csv => formats::csv(&mut run, out),
    }
}

impl Run<'_> {
    /// Calls `show` for each event that is to be shown, as [`Merge::record`] of what it is given.
    pub(super) fn each(&mut self, mut show: impl FnMut(&mut Merge) -> Result<(), Failure>) -> Result<(), Failure> {
        let (window, mut skip) = self.start()?;
        let mut merge = streams::merge(self.inputs, self.sources, &window, &self.selection)?;
        let mut left = self.args.limit.first.unwrap_or(u64::MAX);
        let mut latest: HashMap<(usize, u32), Timestamp> = HashMap::new();
        while left > 0 {
            match merge.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    let file = self.sources[error.buffer].file;
                    self.damage.note(&self.inputs[file].path, &error.error);
                    continue;
                }
            }
            let record = merge.record();
            if self.args.layout.boundary {
                self.pages.see(&merge);
            }
            if self.args.ts_check {
                let before = latest.entry((record.buffer, record.cpu.0)).or_default();
                if record.timestamp < *before {
                    let file = &self.inputs[self.sources[record.buffer].file].path;
                    self.damage.backwards(file, record.cpu, *before, record.timestamp);
                }
                *before = record.timestamp;
            }
            if window.is_before(record.timestamp) {
                continue;
            }
            if window.is_over(record.timestamp) {
                break;
            }
            if !self.selection.accepts(&mut self.seen, self.sources[record.buffer].file, &record) {
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            left -= 1;
            show(&mut merge)?;
        }
        Ok(())
    }

    /// Calls `see` for every event of the sources, shown or not. Damage is told when they are shown.
    pub(super) fn survey(&mut self, mut see: impl FnMut(&Record<'_>)) -> Result<(), Failure> {
        let mut merge = streams::merge(self.inputs, self.sources, &Window::default(), &Selection::none())?;
        loop {
            match merge.advance() {
                Ok(true) => see(&merge.record()),
                Ok(false) => return Ok(()),
                Err(_) => {}
            }
        }
    }

    /// Whether all events of the window are to be shown.
    pub(super) fn is_whole(&self) -> bool {
        let in_order = self.args.ts_check || self.args.layout.boundary || self.args.layout.wakeups;
        !in_order && self.args.limit == LimitArgs::default()
    }

    /// Whether all events of all files are to be shown.
    pub(super) fn shows_everything(&self) -> bool {
        self.is_whole() && self.window == Window::default() && self.selection.is_everything()
    }

    /// Has `work` done on all events of the files, in whatever order.
    pub(super) fn tally<T: Tally>(&mut self, work: &T) -> Result<T::State, Failure> {
        let streams = streams::streams(self.inputs, self.sources, &self.window, &self.selection)?;
        let threads = self.args.threads();
        let note = &mut |error: &MergeError| {
            let file = self.sources[error.buffer].file;
            self.damage.note(&self.inputs[file].path, &error.error);
        };
        Ok(ahead::tally(work, streams, threads, note))
    }

    /// Has `work` done on all events that are to be shown, on as many threads as wanted, and writes what comes of it.
    /// Only if [`Run::is_whole`]. Gives the state that `work` leaves.
    pub(super) fn all_to<W: Work>(
        &mut self,
        work: &W,
        state: W::State,
        out: &mut (impl Write + Send),
    ) -> Result<W::State, Failure> {
        let streams = streams::streams(self.inputs, self.sources, &self.window, &self.selection)?;
        let threads = self.args.threads();
        let note = &mut |error: &MergeError| {
            let file = self.sources[error.buffer].file;
            self.damage.note(&self.inputs[file].path, &error.error);
        };
        if self.selection.is_everything() && self.window == Window::default() {
            let mut state = state;
            ahead::run(work, streams, Effort::new(threads), &mut state, &mut |text| out.write_all(text), note)?;
            return Ok(state);
        }
        let work = Selected { work, selection: &self.selection, sources: self.sources, window: self.window };
        let mut both = (self.selection.nothing_seen(), state);
        ahead::run(&work, streams, Effort::new(threads), &mut both, &mut |text| out.write_all(text), note)?;
        Ok(both.1)
    }

    /// Like [`Run::each`], gathering what `show` appends, and writing it.
    pub(super) fn each_to(
        &mut self,
        mut gathered: Vec<u8>,
        out: &mut impl Write,
        mut show: impl FnMut(&mut Merge, &mut Vec<u8>),
    ) -> Result<(), Failure> {
        gathered.reserve(GATHER + (64 << 10));
        self.each(|merge| {
            show(merge, &mut gathered);
            if gathered.len() >= GATHER {
                out.write_all(&gathered)?;
                gathered.clear();
            }
            Ok(())
        })?;
        Ok(out.write_all(&gathered)?)
    }

    /// The window to read, and how many of its events come before those to be shown: for `--last`, as little as holds
    /// enough.
    fn start(&mut self) -> Result<(Window, u64), Failure> {
        let Some(last) = self.args.limit.last else { return Ok((self.window, 0)) };
        let mut bytes = LAST_STEP;
        loop {
            let near = streams::time_near_end(self.inputs, self.sources, bytes)?;
            let all = near.is_none() || near <= self.window.since;
            let window = if all { self.window } else { Window { since: near, ..self.window } };
            let count = self.count(&window)?;
            if all || count >= last {
                return Ok((window, count.saturating_sub(last)));
            }
            bytes = bytes.saturating_mul(8);
        }
    }

    /// How many events of the window would be shown. Damage is told when they are.
    fn count(&mut self, window: &Window) -> Result<u64, Failure> {
        let mut merge = streams::merge(self.inputs, self.sources, window, &self.selection)?;
        let mut count = 0;
        loop {
            match merge.advance() {
                Ok(true) => {}
                Ok(false) => return Ok(count),
                Err(_) => continue,
            }
            let record = merge.record();
            if window.is_over(record.timestamp) {
                return Ok(count);
            }
            let file = self.sources[record.buffer].file;
            count +=
                u64::from(!window.is_before(record.timestamp) && self.selection.accepts(&mut self.seen, file, &record));
        }
    }
}
