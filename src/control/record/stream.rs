//! Sub-buffers to a decoder, while they are filled.
//!
//! The rings are read in rounds: each ring until it is empty, then the audience is notified. Events seen in one round
//! existed before the next began, so that after a round all events up to the latest one of the round before are there,
//! of all CPUs: these can be put in order. That bounds the delay by two rounds, whatever the trace clock counts.

use super::child::{Child, Ended, RecordedCommand};
use super::ending::{end_of, pass_on};
use super::error::{PlanError, RecordError};
use super::live_rings::{Audience, LiveBuffer, LiveFacts, LiveRings};
use super::metadata::{Formats, KernelMetadata, uname};
use super::own::own_threads;
use super::plan::Plan;
use super::session::{choose_events, no_news};
use super::setup::{SetUpBuffer, set_up_all};
use super::stop::{Signals, Watched, wait};
use super::task_lists::TaskLists;
use crate::base::abi::Abi;
use crate::control::tracefs::Journal;
use crate::kernel::format::{EventFormat, blk_format};
use std::io;
use std::time::{Duration, Instant};

/// Time between rounds.
const ROUND: Duration = Duration::from_millis(50);

/// The end of a stream.
#[derive(Debug)]
pub struct Streamed {
    /// The command's end, if there was a command.
    pub command: Option<Ended>,
    /// The command was ended by [`Plan::timeout`].
    pub timed_out: bool,
    /// Why the output ended early, if it did.
    pub output: io::Result<()>,
}

/// A stream that is set up: nothing is traced yet. Dropped, it puts everything back.
pub struct LiveStream<'p> {
    plan: &'p Plan,
    journal: Journal,
    buffers: Vec<SetUpBuffer>,
    tasks: TaskLists,
    signals: Signals,
    watched: Option<Watched>,
    child: Option<Child>,
}

impl<'p> LiveStream<'p> {
    /// Sets up what `plan` says, but for its file and all that is about files. Inessential settings that are not as asked
    /// go to `warn`.
    ///
    /// # Errors
    /// [`RecordError`], as [`record()`](super::record()).
    pub fn set_up(
        plan: &'p Plan,
        mut journal: Journal,
        mut warn: impl FnMut(&str),
    ) -> Result<(Self, LiveFacts), RecordError> {
        plan.check()?;
        if let Some(tracer) = plan.buffers.iter().find(|b| b.is_of_latency_tracer()).and_then(|b| b.tracer.clone()) {
            return Err(PlanError::NotLive(tracer).into());
        }
        let chosen = choose_events(plan, &journal.tracefs().clone(), &mut warn)?;
        let command = match &plan.command {
            Some(words) => {
                let command = RecordedCommand::find(words, plan.search_path.as_deref())?;
                Some(match &plan.user {
                    Some(user) => command.run_as(user, &plan.environment),
                    None => command,
                })
            }
            None => None,
        };
        let signals = Signals::block().map_err(RecordError::Start)?;
        let watched = Watched::all(plan.tasks.named())?;
        // Before this process lists its own threads as not to be traced, which children would inherit.
        let child = command.map(RecordedCommand::fork).transpose()?;
        let mut tasks = TaskLists::of(&plan.tasks, child.as_ref().map(Child::pid));
        if let Err(error) = tasks.listen(journal.tracefs().top().cpus()?) {
            warn(&no_news(&error));
        }
        let buffers = set_up_all(&mut journal, plan, chosen, &mut tasks, &mut warn)?;
        let facts = facts(&journal, &buffers)?;
        Ok((LiveStream { plan, journal, buffers, tasks, signals, watched, child }, facts))
    }

    /// Traces until the command ends, the time is over, a signal comes or the output fails, and puts everything back.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn run(mut self, audience: &mut dyn Audience) -> Result<Streamed, RecordError> {
        let plan = self.plan;
        let tracefs = self.journal.tracefs().clone();
        let names = || tracefs.saved_cmdlines().unwrap_or_default();
        let mut rings = LiveRings::open(self.buffers.iter().take(audience.buffers()))?;
        if !plan.own_threads && !plan.tasks.is_restricted() {
            let tids = own_threads();
            for buffer in &mut self.buffers {
                buffer.leave_out(&mut self.journal, &tids)?;
            }
        }
        self.tasks.complete(&mut self.journal)?;
        let since = Instant::now();
        let after = |span: Option<Duration>| span.and_then(|span| since.checked_add(span));
        let (end, timeout) = (after(plan.duration), after(plan.timeout));
        for buffer in &self.buffers {
            buffer.switch_on(&mut self.journal)?;
        }
        if let Some(child) = &mut self.child {
            child.open_gate()?;
        }
        let mut timed_out = false;
        let mut output = Ok(());
        while !self.is_over(end) {
            timed_out = timeout.is_some_and(|timeout| timeout <= Instant::now());
            if timed_out {
                break;
            }
            self.tasks.follow(&mut self.journal)?;
            let taken = rings.read(audience)?;
            output = audience.round(&names, false);
            if output.is_err() {
                break;
            }
            if audience.resumes() {
                for buffer in &self.buffers {
                    buffer.switch_on(&mut self.journal)?;
                }
            }
            if taken < rings.size / 4 {
                let deadline = [Some(Instant::now() + ROUND), end, timeout].into_iter().flatten().min();
                let child = self.child.as_ref().and_then(Child::end);
                let others: Vec<_> = child.into_iter().chain(self.tasks.news()).collect();
                wait(&self.signals, self.watched.as_ref(), &others, deadline);
            }
        }
        for buffer in &self.buffers {
            buffer.switch_off(&mut self.journal)?;
        }
        while output.is_ok() {
            let last = rings.read(audience)? == 0;
            output = audience.round(&names, last);
            if last {
                break;
            }
        }
        drop(rings);
        self.journal.undo()?;
        let command = self.child.as_mut().and_then(|child| end_of(child, &self.signals, timeout, &mut timed_out));
        Ok(Streamed { command, timed_out, output })
    }

    /// True if something other than the output ends it.
    fn is_over(&mut self, end: Option<Instant>) -> bool {
        self.child.as_mut().is_some_and(|child| child.try_wait().is_some())
            || self.watched.as_mut().is_some_and(Watched::all_gone)
            || end.is_some_and(|end| end <= Instant::now())
            || pass_on(&self.signals, self.child.as_mut(), |_| false)
    }
}

fn facts(journal: &Journal, buffers: &[SetUpBuffer]) -> Result<LiveFacts, RecordError> {
    let tracefs = journal.tracefs();
    // Triggers and dynamic events may bring in what is not enabled, so all formats are wanted.
    let metadata = KernelMetadata::read(tracefs, None, Formats::default())?;
    let (_, header_page) = tracefs.header_page()?;
    let mut not_understood = Vec::new();
    let texts = metadata.ftrace_formats.iter().map(|text| ("ftrace", text));
    let texts = texts.chain(metadata.formats.iter().flat_map(|(s, texts)| texts.iter().map(move |t| (s.as_str(), t))));
    let mut formats = Vec::new();
    for (system, text) in texts {
        match EventFormat::parse(system, text) {
            Ok(format) => formats.push(format),
            Err(error) => not_understood.push(error),
        }
    }
    formats.extend(blk_format(formats.iter(), &uname()));
    Ok(LiveFacts {
        abi: header_page.abi(Abi::HOST.endian),
        header_page,
        formats,
        not_understood,
        printk_formats: metadata.printk_formats,
        enumerators: metadata.enumerators,
        btf: super::metadata::btf(tracefs, buffers).unwrap_or_default(),
        buffers: buffers.iter().map(LiveBuffer::of).collect(),
    })
}
