//! A selection resolved for the recordings of a query: the decision about one record; and a part of the time.
//! Losses whose record a selection refuses.

use super::outcome::UnknownIds;
use super::selection::Rules;
use super::{BufferSource, OutputDependence, Recording, Selection};
use crate::answer::analysis::CgroupSet;
use crate::base::syntax::nearest;
use crate::base::units::{EventId, Pid, Timestamp};
use crate::file::ring_buffer::Lost;
use crate::file::trace_dat::{PidBloom, Sieve};
use crate::kernel::event::{Record, RecordHead};
use crate::kernel::events::{NoEvent, glob_matches};
use crate::language::filter::Subject;
use crate::read::recording::QueryError;
use std::collections::HashMap;
use std::sync::Arc;

/// `common_flags` of events in a hard and in a soft interrupt.
const HARDIRQ: u8 = 0x08;
const SOFTIRQ: u8 = 0x10;

/// Decides which records a query hands out. Everything is resolved before the first one.
pub(super) struct Selector<'a> {
    sources: &'a [BufferSource],
    rules: Vec<Rules<'a>>,
    /// Ascending.
    pids: Vec<Pid>,
    comms: &'a [String],
    /// By source; empty if all cgroups are selected.
    cgroups: Vec<CgroupSet>,
    /// The bits of `common_flags` of which none may be set.
    contexts: u8,
    everything: bool,
    /// Records that follow a loss are selected whatever they are.
    keeps_losses: bool,
}

/// State learnt from the records that were decided on.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Per source and CPU: what became of the event before, which a stack follows.
    before: Vec<Vec<Before>>,
    /// The state of a CPU of which no event was seen.
    unseen: Before,
    /// True if a decision depended on that.
    guessed: bool,
    /// Per recording, verdicts on names by PID.
    comms: Vec<HashMap<Pid, bool>>,
    /// Losses before refused records.
    pub(super) losses: CarriedLosses,
}

/// The fate of the event before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Dropped,
    Selected,
    NotKnown,
}

impl Seen {
    /// For events that come later, while the ones before them are not all decided on.
    pub(super) fn fork(&self) -> Self {
        let before = vec![Vec::new(); self.before.len()];
        let comms = vec![HashMap::new(); self.comms.len()];
        Seen { before, unseen: Before::NotKnown, guessed: false, comms, losses: CarriedLosses::fork() }
    }

    /// True if a decision of the fork `later` depended on earlier events, or a loss before one of its own.
    pub(super) fn matters_to(&self, later: &Seen) -> bool {
        later.guessed || self.losses.belong_to(&later.losses)
    }

    /// Takes over what the fork `done` has seen, to which nothing here mattered.
    pub(super) fn join(&mut self, done: &mut Seen) {
        self.losses.join(&mut done.losses);
        for (known, done) in self.before.iter_mut().zip(std::mem::take(&mut done.before)) {
            if known.len() < done.len() {
                known.resize(done.len(), self.unseen);
            }
            for (known, done) in known.iter_mut().zip(done) {
                if done != Before::NotKnown {
                    *known = done;
                }
            }
        }
    }
}

impl<'a> Selector<'a> {
    pub(super) fn new(
        selection: &'a Selection,
        recordings: &[&'a Recording],
        sources: &'a [BufferSource],
        surroundings: OutputDependence,
    ) -> Result<Self, QueryError> {
        let mut pids = selection.pids.clone();
        pids.sort_unstable();
        let rules = recordings.iter().enumerate();
        let rules = rules.map(|(number, recording)| Rules::new(selection, recording, number, surroundings));
        let rules = rules.collect::<Result<Vec<_>, _>>()?;
        for filter in &selection.filters {
            let formats = || recordings.iter().flat_map(|recording| recording.trace.formats());
            if !formats().any(|format| filter.names(format)) {
                let pattern = filter.events().to_owned();
                let name = pattern.rsplit([':', '/']).next().unwrap_or_default();
                let nearest = nearest(name, formats().map(|format| format.name.as_str()));
                return Err(NoEvent { nearest: nearest.into_iter().map(str::to_owned).collect(), pattern }.into());
            }
        }
        let cgroups = selected_cgroups(&selection.cgroups, recordings, sources)?;
        let context = |leave_out: bool, flag: u8| if leave_out { flag } else { 0 };
        let contexts = context(selection.no_irq, HARDIRQ) | context(selection.no_softirq, SOFTIRQ);
        let everything = selection.is_everything();
        let keeps_losses = surroundings == OutputDependence::Losses;
        Ok(Selector { sources, rules, pids, comms: &selection.comms, cgroups, contexts, everything, keeps_losses })
    }

    /// Leaves out records whose type says nothing to `reads`, which gets the number of their source and their event's id. Those
    /// that follow a loss stay.
    pub(super) fn narrow(&mut self, reads: impl Fn(usize, u16) -> bool) {
        for (number, rules) in self.rules.iter_mut().enumerate() {
            let sources = self.sources.iter().enumerate().filter(|(_, source)| source.recording == number);
            let sources: Vec<usize> = sources.map(|(source, _)| source).collect();
            rules.narrow(|id| sources.iter().any(|source| reads(*source, id)));
        }
    }

    /// True if it drops nothing.
    pub(super) fn is_everything(&self) -> bool {
        self.everything
    }

    /// The records of a recording that may be left out without a decision.
    pub(super) fn sieve(&self, recording: usize) -> Option<Arc<Sieve>> {
        self.rules.get(recording)?.sieve.clone()
    }

    /// The tasks of a recording that are asked for, if tasks are, and no output depends on the events of others.
    pub(super) fn tasks(&self, recording: usize) -> Option<PidBloom> {
        self.rules.get(recording)?.tasks
    }

    /// The state before the first record.
    pub(super) fn nothing_seen(&self) -> Seen {
        let comms = vec![HashMap::new(); self.rules.len()];
        let before = vec![Vec::new(); self.sources.len()];
        Seen { before, unseen: Before::Dropped, guessed: false, comms, losses: CarriedLosses::default() }
    }

    /// Notes a record whose id no format describes. Of one that no filter selects the filter's event may be lost.
    #[inline(always)]
    pub(super) fn check(&self, record: &Record<'_>, unknown: &mut UnknownIds) {
        let recording = self.sources[record.buffer].recording;
        if let Some(id) = self.rules[recording].unknown_id(record.data) {
            unknown.note(recording, id, record);
        }
    }

    /// True if no format describes events of this source with this id.
    pub(super) fn is_unknown(&self, source: usize, id: u16) -> bool {
        !self.rules[self.sources[source].recording].known.contains(id)
    }

    /// True if `record`, which came through the sieve, is selected.
    #[inline]
    pub(super) fn accepts(&self, seen: &mut Seen, record: &Record<'_>) -> bool {
        // What follows a loss comes through whatever it is.
        self.everything
            || (self.keeps_losses && record.lost != Lost::None)
            || self.decide(seen, record, record.lost == Lost::None)
    }

    /// True if `record`, which came through no sieve, is selected.
    pub(super) fn accepts_any(&self, seen: &mut Seen, record: &Record<'_>) -> bool {
        self.everything || (self.keeps_losses && record.lost != Lost::None) || self.decide(seen, record, false)
    }

    fn decide(&self, seen: &mut Seen, record: &Record<'_>, is_sifted: bool) -> bool {
        let number = self.sources[record.buffer].recording;
        let rules = &self.rules[number];
        let recording = rules.recording;
        let RecordHead { id, pid, flags, .. } = rules.common.head(recording.trace.abi, record.data);
        if flags & self.contexts != 0 || !rules.may_pass(id) {
            return false;
        }
        if !self.pids.is_empty() && self.pids.binary_search(&pid).is_err() {
            return false;
        }
        if rules.threads.as_ref().is_some_and(|threads| threads.binary_search(&pid).is_err()) {
            return false;
        }
        if !self.comms.is_empty() && !self.has_comm(recording, pid, &mut seen.comms[number]) {
            return false;
        }
        let cgroups = self.cgroups.get(record.buffer);
        if cgroups.is_some_and(|cgroups| cgroups.has(pid, record.timestamp.0) != Some(true)) {
            return false;
        }
        let comm = if rules.needs_comm { recording.symbols.comms.name(pid) } else { &[] };
        let names = &recording.symbols.kallsyms;
        let subject = Subject { data: record.data, cpu: record.cpu, comm, names };
        if !rules.passes(id, &subject, is_sifted) {
            return false;
        }
        let Some(filters) = &rules.report else { return true };
        let cpu = record.cpu.0 as usize & 0xffff;
        let before = &mut seen.before[record.buffer];
        if before.len() <= cpu {
            before.resize(cpu + 1, seen.unseen);
        }
        if before[cpu] != Before::Dropped && rules.stack_events.contains(&Some(EventId(id))) {
            seen.guessed |= before[cpu] == Before::NotKnown;
            return true;
        }
        let matches = filters.matches(EventId(id), &subject);
        before[cpu] = if matches { Before::Selected } else { Before::Dropped };
        matches
    }

    fn has_comm(&self, recording: &Recording, pid: Pid, verdicts: &mut HashMap<Pid, bool>) -> bool {
        *verdicts.entry(pid).or_insert_with(|| {
            let name = String::from_utf8_lossy(recording.symbols.comms.name(pid));
            self.comms.iter().any(|glob| glob_matches(glob, &name))
        })
    }
}

/// A part of the time, both ends included; open at an end that is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// First moment of the window.
    pub since: Option<Timestamp>,
    /// Last moment of the window.
    pub until: Option<Timestamp>,
}

impl Window {
    /// True if `time` is earlier than the window.
    #[inline]
    pub fn is_before(&self, time: Timestamp) -> bool {
        self.since.is_some_and(|since| time < since)
    }

    /// True if `time` is later than the window.
    #[inline]
    pub fn is_over(&self, time: Timestamp) -> bool {
        self.until.is_some_and(|until| time > until)
    }

    /// True if it is all the time there is.
    pub fn is_whole(&self) -> bool {
        *self == Window::default()
    }
}

// The tasks of the cgroups that a query selects.

/// Those that one of `globs` names, or one above them, for each of `sources`; none without globs.
///
/// # Errors
/// [`QueryError::NoCgroups`], [`QueryError::NoCgroup`].
fn selected_cgroups(
    globs: &[String],
    recordings: &[&Recording],
    sources: &[BufferSource],
) -> Result<Vec<CgroupSet>, QueryError> {
    if globs.is_empty() {
        return Ok(Vec::new());
    }
    let of = |source: &BufferSource| {
        let cgroups = recordings[source.recording].trace.cgroups(&source.time);
        let cgroups = cgroups.ok_or(QueryError::NoCgroups { recording: source.recording })?;
        Ok::<_, QueryError>(Arc::new(cgroups))
    };
    let all = sources.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    for glob in globs {
        let is_stray = |cgroups: &Arc<_>| CgroupSet::new(Arc::clone(cgroups), &[glob]).is_empty();
        if all.iter().all(is_stray) {
            let paths = all.iter().flat_map(|cgroups| cgroups.paths());
            let nearest = nearest(glob, paths).into_iter().map(str::to_owned).collect();
            return Err(QueryError::NoCgroup { pattern: glob.clone(), nearest });
        }
    }
    Ok(all.into_iter().map(|cgroups| CgroupSet::new(cgroups, globs)).collect())
}

/// Losses before records that were refused: each goes to the next record of its buffer and CPU that is handed out.
#[derive(Clone, Debug, Default)]
pub(super) struct CarriedLosses {
    /// By source and CPU.
    pending: HashMap<(usize, u32), Lost>,
    /// True for events that come later, while the losses before them are not all known.
    is_fork: bool,
    /// In a fork, by source and CPU: true if a record was handed out, to whose first an earlier loss may have belonged.
    handed_out: Vec<Vec<bool>>,
}

impl CarriedLosses {
    fn fork() -> Self {
        CarriedLosses { is_fork: true, ..CarriedLosses::default() }
    }

    /// Keeps the loss before a record that is refused.
    #[inline(always)]
    pub(super) fn refuse(&mut self, record: &Record<'_>) {
        if record.lost != Lost::None {
            self.keep((record.buffer, record.cpu.0), record.lost);
        }
    }

    #[cold]
    fn keep(&mut self, stream: (usize, u32), lost: Lost) {
        let pending = self.pending.entry(stream).or_default();
        *pending = pending.plus(lost);
    }

    /// The loss before a record that is handed out: its own, and those of the refused ones before it.
    #[inline]
    pub(super) fn hand_out(&mut self, record: &Record<'_>) -> Lost {
        if self.is_fork {
            self.note(record.buffer, record.cpu.0 as usize & 0xffff);
        }
        match self.pending.is_empty() {
            true => record.lost,
            false => self.pending.remove(&(record.buffer, record.cpu.0)).unwrap_or_default().plus(record.lost),
        }
    }

    fn note(&mut self, source: usize, cpu: usize) {
        if self.handed_out.len() <= source {
            self.handed_out.resize_with(source + 1, Vec::new);
        }
        let cpus = &mut self.handed_out[source];
        if cpus.len() <= cpu {
            cpus.resize(cpu + 1, false);
        }
        cpus[cpu] = true;
    }

    /// True if the fork `later` handed out a record to which a loss known here belongs.
    fn belong_to(&self, later: &CarriedLosses) -> bool {
        let of = |source: usize, cpu: u32| later.handed_out.get(source)?.get(cpu as usize & 0xffff);
        self.pending.keys().any(|(source, cpu)| of(*source, *cpu) == Some(&true))
    }

    /// Takes over the losses of the fork `later`.
    fn join(&mut self, later: &mut CarriedLosses) {
        later.pending.drain().for_each(|(stream, lost)| self.keep(stream, lost));
    }

    /// The losses that no record that was handed out follows.
    pub(super) fn rest(&mut self) -> impl Iterator<Item = Lost> {
        self.pending.drain().map(|(_, lost)| lost)
    }
}
