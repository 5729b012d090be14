//! `--stop-if`: the recording ends itself when something happens.

use crate::cli::exit::{Exit, Failure};
use crate::cli::language::of_value;
use anyhow::anyhow;
use rtrace::abi::Abi;
use rtrace::events::EventSelection;
use rtrace::format::{EventFormat, HeaderPage};
use rtrace::internal::assertion::{StopCondition, StopWatch};
use rtrace::internal::ring_buffer::PageLayout;
use rtrace::record::{Audience, LiveBuffer, Rotate, SavePlan, Sentry, StartAt};
use rtrace::recording::LiveMerge;
use rtrace::symbols::Comms;
use rtrace::tracefs::{EventName, Feature, Journal, Tracefs, WriteMode};
use rtrace::units::{Pid, RecordedClock, parse_duration};
use std::io;
use std::time::Duration;

/// The end of a recording by what it records.
#[derive(clap::Args)]
pub(super) struct StopIfArgs {
    /// Begin at a moment of the wall clock: 12:03, 2026-11-26 12:03:05, or the next whole /10s
    ///
    /// All is set up by then. Machines whose clocks are synchronised begin together with `/10s`, and `rtrace report --align wall`
    /// shows their recordings beside each other. CMD is started at that moment, too; --duration counts from it.
    #[arg(long, value_name = "TIME|/TIME", value_parser = StartAt::parse)]
    at: Option<StartAt>,
    /// End recording, with 3, at an interval or event beyond a limit
    ///
    /// `latency(FROM, TO, KEY) > TIME` or `count(EVENTS) >= N`, in the language of `rtrace help assertions`, over events of the
    /// main buffer. The recording holds the event that ended it; CMD goes on and is waited for, and its own failure counts more
    /// than the 3.
    #[arg(long, value_name = "CONDITION", value_parser = condition)]
    stop_if: Option<Box<StopCondition>>,
    /// With --stop-if: freeze the top buffer's events at that moment in its snapshot, which `rtrace snapshot save` stores
    #[arg(long, requires = "stop_if")]
    snapshot: bool,
    /// With --stop-if: save the newest events to a file at each hit, and go on recording
    ///
    /// The file lies beside FILE and is named after the time (UTC): trace-20261126T120305.250Z.dat. SIGUSR2 to the recorder
    /// makes one, too, with or without --stop-if, and `rtrace save` one wherever it is to be. Hits that come before a save is
    /// made belong to it.
    #[arg(long, requires = "stop_if")]
    keep_going: bool,
    /// With --keep-going: save this long after the hit
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "keep_going", default_value = "2s")]
    after: Duration,
    /// Each TIME, or each SIZE recorded, save what came since the last one to a file of its own
    ///
    /// No event is missing between two files, and none is in both. They lie beside FILE and are named after the time (UTC) of
    /// their end; FILE keeps at least what is in none yet. At the end of the recording one more has the rest. With --keep-saves
    /// the oldest go.
    #[arg(long, value_name = "TIME|SIZE", value_parser = Rotate::parse)]
    rotate: Option<Rotate>,
    /// Save only the last TIME, in place of all that is kept
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    last: Option<Duration>,
    /// Keep N saves of FILE: the oldest beyond that are removed, also those of earlier recordings
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    keep_saves: Option<u32>,
}

fn condition(text: &str) -> Result<Box<StopCondition>, String> {
    StopCondition::parse(text).map(Box::new).map_err(|error| of_value(&error))
}

impl StopIfArgs {
    /// The moment at which it begins.
    pub(super) fn start_at(&self) -> Option<StartAt> {
        self.at
    }

    /// The saves while it records.
    pub(super) fn saves(&self) -> SavePlan {
        let keep = self.keep_saves.map(|keep| keep as usize);
        SavePlan { keep_going: self.keep_going, after: self.after, last: self.last, keep, rotate: self.rotate }
    }

    /// Looks for what ends the recording.
    pub(super) fn sentry<'a>(&self, tracefs: &Tracefs, comms: &'a Comms) -> Result<Option<StopIf<'a>>, Failure> {
        let Some(condition) = &self.stop_if else { return Ok(None) };
        if self.snapshot {
            tracefs.require(&Feature::Snapshot)?;
        }
        let top = tracefs.top();
        let existing = top.events()?;
        let mut events: Vec<EventName> = Vec::new();
        for names in condition.events() {
            let found = EventSelection::new(names.to_owned()).select(&existing);
            events.extend(found.map_err(|none| Failure::new(Exit::Usage, anyhow!("--stop-if: {none}")))?);
        }
        events.sort_unstable();
        events.dedup();
        let formats = events.iter().map(|event| {
            let text = top.event_format(event)?;
            Ok(EventFormat::parse(&event.system, &text).map_err(anyhow::Error::from)?)
        });
        let formats: Vec<EventFormat> = formats.collect::<Result<_, Failure>>()?;
        let (_, header_page) = tracefs.header_page()?;
        let abi = header_page.abi(Abi::HOST.endian);
        let watch = StopWatch::new(condition, &formats.iter().collect::<Vec<_>>(), abi, comms).map_err(|error| {
            let hints = error.hints().to_vec();
            hints.into_iter().fold(Failure::new(Exit::Usage, anyhow!("{error}")), Failure::hint)
        })?;
        let snapshot = self.snapshot.then(|| tracefs.clone());
        Ok(Some(StopIf {
            condition: (**condition).clone(),
            events,
            watch,
            header_page,
            abi,
            merge: None,
            snapshot,
            damaged: 0,
            found: None,
            keep_going: self.keep_going,
            more: 0,
        }))
    }
}

/// A condition held against events while they are recorded.
pub(super) struct StopIf<'a> {
    condition: StopCondition,
    events: Vec<EventName>,
    watch: StopWatch<'a>,
    header_page: HeaderPage,
    abi: Abi,
    merge: Option<LiveMerge>,
    /// The buffer of which a snapshot is taken; `None` without `--snapshot`.
    snapshot: Option<Tracefs>,
    /// Damaged sub-buffers.
    damaged: u64,
    found: Option<String>,
    /// It goes on after that.
    keep_going: bool,
    /// Number of further ones in the same round.
    more: u64,
}

impl StopIf<'_> {
    /// The lines of the summary about what it could not see.
    pub(super) fn notes(&self) -> String {
        let mut missed = self.watch.missed();
        missed.places += self.damaged;
        if missed == Default::default() {
            return String::new();
        }
        let events = match (missed.events, missed.places) {
            (events, 0) => format!("{events} events"),
            (events, places) => format!("{events} events and more at {places} places"),
        };
        format!(
            "rtrace: --stop-if did not see {events}, which the kernel dropped; {} intervals were given up\n",
            missed.intervals
        )
    }

    /// Freezes the top buffer; gives how that went.
    fn take_snapshot(tracefs: &Tracefs) -> String {
        let mut journal = Journal::in_memory(tracefs);
        let taken = journal.act(&tracefs.top(), "snapshot", "1", WriteMode::Truncate);
        let kept = taken.map_err(|error| error.to_string()).and_then(|()| journal.keep().map_err(|e| e.to_string()));
        match kept {
            Ok(()) => "; a snapshot of the top buffer was taken".to_owned(),
            Err(error) => format!("; no snapshot: {error}"),
        }
    }
}

impl Audience for StopIf<'_> {
    fn page(&mut self, _: usize, cpu: usize, page: &[u8]) {
        // Of a damaged sub-buffer the events before the damage are taken in.
        if self.merge.as_mut().is_some_and(|merge| merge.page(0, cpu, page).is_err()) {
            self.damaged += 1;
        }
    }

    fn unfinished(&mut self, _: usize, cpu: usize) {
        if let Some(merge) = &mut self.merge {
            merge.unfinished(0, cpu);
        }
    }

    fn round(&mut self, _: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()> {
        let Some(merge) = &mut self.merge else { return Ok(()) };
        merge.end_round(last);
        let (watch, mut stopped, more) = (&mut self.watch, None, &mut self.more);
        merge.each(|record| {
            if stopped.is_some() && !self.keep_going {
                return;
            }
            let Some(now) = watch.record(record) else { return };
            watch.go_on();
            match stopped {
                None => stopped = Some(now),
                Some(_) => *more += 1,
            }
        });
        if let (Some(stopped), None) = (stopped, &self.found) {
            let spot = stopped.spot;
            let at = |time: u64| format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
            let when = match self.condition.is_of_time() {
                true => format!("{}, from {} to {}", stopped.value, at(spot.begin), at(spot.at)),
                false => format!("event {} at {}", stopped.value, at(spot.at)),
            };
            let task = stopped.task.map_or_else(String::new, |pid| format!(", task {}", named(pid)));
            let snapshot = self.snapshot.as_ref().map_or_else(String::new, Self::take_snapshot);
            self.found = Some(format!("{}: {when} on cpu {}{task}{snapshot}", self.condition.text, spot.cpu));
        }
        Ok(())
    }
}

impl Sentry for StopIf<'_> {
    fn events(&self) -> &[EventName] {
        &self.events
    }

    fn begin(&mut self, buffer: &LiveBuffer) -> Result<(), String> {
        if self.condition.is_of_time() && !RecordedClock::of(&buffer.clock).counts_nanoseconds() {
            return Err(format!("the clock {} counts no time: leave out -C, or count events", buffer.clock));
        }
        let layout = PageLayout::new(&self.header_page, self.abi, buffer.sub_buffer);
        self.merge = Some(LiveMerge::new([(layout, buffer.cpus.clone())]));
        Ok(())
    }

    fn leave_out(&mut self, tasks: &[Pid]) {
        self.watch.leave_out(tasks);
    }

    fn found(&self) -> Option<String> {
        self.found.clone()
    }

    fn go_on(&mut self) -> u64 {
        self.found = None;
        std::mem::take(&mut self.more)
    }
}

/// `comm [pid]`, as long as the task lives.
fn named(pid: Pid) -> String {
    match std::fs::read_to_string(format!("/proc/{pid}/comm")) {
        Ok(comm) => format!("{} [{pid}]", comm.trim_end()),
        Err(_) => pid.to_string(),
    }
}
