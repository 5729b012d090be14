//! Triggers on the events of a stream, where the kernel has none.
//!
//! The events are enabled in a private ring buffer, and taken through the triggers as they come: memory is bounded by the
//! rings and the tables.

use super::answered::{Answered, HistLosses};
use crate::cli::args::WriteArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{PlaceArgs, UntilArgs};
use crate::cli::key_names::KeyNames;
use crate::cli::live::{live_merge, warn_of_damage};
use crate::cli::record_error::{explain, failure};
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::analysis::{Analysis, HistPart, HistSetup, Histograms, SetupError};
use rtrace::event::{Consumed, Lost};
use rtrace::events::EventSelection;
use rtrace::format::EventFormat;
use rtrace::record::{Audience, BufferPlan, Compression, EventPlan, LiveStream, Plan, RecordError, uname};
use rtrace::recording::LiveMerge;
use rtrace::symbols::{Comms, Kallsyms, Symbols};
use rtrace::tracefs::{Feature, Tracefs};
use rtrace::units::ByteSize;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Size of the ring buffer, per CPU.
const RING: ByteSize = ByteSize(4 << 20);

/// The side that counts.
#[derive(clap::Args)]
pub(crate) struct WhereArgs {
    /// Count in the kernel, or fail if it has no hist triggers
    #[arg(long, conflicts_with_all = ["in_user", "input"], hide_short_help = true)]
    in_kernel: bool,
    /// Let the kernel record the events, and count them here as they come
    #[arg(long, conflicts_with_all = ["dry_run", "input"])]
    in_user: bool,
}

impl WhereArgs {
    /// True if events are to be counted here; a note says so unless it was asked for. `fits`: the request can be evaluated here.
    ///
    /// # Errors
    /// The features that the kernel lacks, where it is to count.
    pub(crate) fn is_here(&self, tracefs: &Tracefs, features: &[Feature], fits: bool) -> Result<bool, Failure> {
        if self.in_user {
            return Ok(true);
        }
        let Err(error) = features.iter().try_for_each(|feature| tracefs.require(feature)) else { return Ok(false) };
        if self.in_kernel || !fits {
            return Err(error.into());
        }
        note!("rtrace: {error}: its events are recorded, and counted here (--in-user)");
        Ok(true)
    }
}

/// A stream of events that triggers are to count.
pub(crate) struct HistStream<'a> {
    pub(crate) tracefs: &'a Tracefs,
    pub(crate) place: &'a PlaceArgs,
    pub(crate) write: &'a WriteArgs,
    pub(crate) until: &'a UntilArgs,
}

/// Shows what came so far, again and again.
pub(crate) struct HistRefresh<'f> {
    /// The time between two readings.
    pub(crate) interval: Duration,
    pub(crate) show: &'f mut dyn FnMut(&Answered<'_>) -> Result<(), Failure>,
}

impl HistStream<'_> {
    /// Takes the events that come through the triggers of `setup`, and has `show` say what came of it. Ends with the
    /// command's status. `failure_of` words the error of a trigger.
    pub(crate) fn ask(
        &self,
        setup: HistSetup,
        failure_of: impl FnOnce(SetupError) -> Failure,
        following: Option<HistRefresh<'_>>,
        show: impl FnOnce(&Answered<'_>) -> Result<(), Failure>,
    ) -> Result<Exit, Failure> {
        let (plan, filtered) = self.plan(&setup);
        let setup = HistSetup { filtered, uname: uname(), ..setup };
        let own = |exit: Exit| if plan.command.is_some() && exit != Exit::Usage { Exit::Command(125) } else { exit };
        let refused = |error: RecordError| match explain(self.tracefs, &error) {
            Some(known) => known.with_exit(own),
            None => failure(error, own),
        };
        let warn = |text: &str| note!("rtrace: warning: {text}");
        let symbols =
            Symbols { kallsyms: Kallsyms::new(self.tracefs.kallsyms().unwrap_or_default()), ..Symbols::default() };
        let (stream, facts) = LiveStream::set_up(&plan, self.write.journal(self.tracefs), warn).map_err(refused)?;
        facts.not_understood.iter().for_each(|error| warn(&error.to_string()));
        let formats: Vec<&EventFormat> = facts.formats.iter().collect();
        let analysis = Histograms::new(&setup, &formats, facts.abi, &symbols).map_err(failure_of)?;
        if analysis.needs_comms() {
            let error = anyhow!(
                "the names of tasks are not known while their events come, so nothing can be made of them here"
            );
            let hint = "Record the events and ask the recording (-i); or use common_pid.execname, or a field such as next_comm.";
            return Err(Failure::new(own(Exit::Usage), error).hint(hint));
        }
        let mut counting = HistCounter {
            part: analysis.begin(),
            analysis: &analysis,
            merge: live_merge(&facts),
            kallsyms: &symbols.kallsyms,
            next: following.as_ref().map(|following| Instant::now() + following.interval),
            following,
            failed: None,
            comms: Vec::new(),
            lost: 0,
            gaps: 0,
        };
        let streamed = stream.run(&mut counting).map_err(refused)?;
        let HistCounter { part, comms, lost, gaps, failed, .. } = counting;
        if let Some(failure) = failed {
            return Err(failure.with_exit(own));
        }
        let findings = analysis.finish(part);
        let comms = Comms::parse(&comms);
        let missed = HistLosses { file: None, lost, gaps, limits: &[] };
        let names = KeyNames::of_this_machine(&symbols.kallsyms, &comms);
        let answered = Answered { names, findings, missed, of: None };
        show(&answered).map_err(|failure| failure.with_exit(own))?;
        if let Err(error) = streamed.output {
            return Err(Failure::new(own(Exit::Failed), anyhow!("failed to read the events: {error}")));
        }
        Ok(streamed.command.map_or(Exit::Success, |ended| Exit::Command(ended.code())))
    }

    /// The events of all triggers. The kernel filters those of an event that only one trigger is set on: the triggers with
    /// these numbers.
    fn plan(&self, setup: &HistSetup) -> (Plan, Vec<usize>) {
        let recorded = || setup.triggers.iter().enumerate().filter(|(_, trigger)| trigger.system != "synthetic");
        let mut names: Vec<(&str, &str)> =
            recorded().map(|(_, trigger)| (trigger.system.as_str(), trigger.event.as_str())).collect();
        names.sort_unstable();
        names.dedup();
        let mut filtered = Vec::new();
        let event = |(system, event): &(&str, &str)| {
            let mut set =
                recorded().filter(|(_, trigger)| (trigger.system.as_str(), trigger.event.as_str()) == (system, event));
            let only = set.next().filter(|_| set.next().is_none());
            let filter = only.and_then(|(number, trigger)| Some((number, trigger.spec.filter.as_ref()?.value.clone())));
            let filter = filter.map(|(number, filter)| {
                filtered.push(number);
                filter
            });
            EventPlan {
                selection: EventSelection::new(format!("{system}:{event}")),
                filters: filter.into_iter().collect(),
                triggers: Vec::new(),
                enable: true,
            }
        };
        let clock = setup.triggers.iter().find_map(|trigger| trigger.spec.clock.clone()).map(|clock| clock.value);
        let with_stacks = setup.triggers.iter().any(|trigger| trigger.spec.to_string().contains("stacktrace"));
        let buffer = BufferPlan {
            events: names.iter().map(event).collect(),
            size: Some(RING),
            clock,
            options: if with_stacks { vec![("stacktrace".to_owned(), true)] } else { Vec::new() },
            ..BufferPlan::new(self.place.target())
        };
        let plan = Plan {
            buffers: vec![buffer],
            all_formats: false,
            own_threads: false,
            command: self.until.command(),
            search_path: std::env::var_os("PATH"),
            duration: self.until.duration(),
            ..Plan::empty(Path::new(""), Compression::None)
        };
        (plan, filtered)
    }
}

/// Takes what comes through the triggers, in the order of time.
struct HistCounter<'a, 'h, 'f> {
    analysis: &'a Histograms<'h>,
    part: HistPart,
    merge: LiveMerge,
    /// The names of tasks that the kernel has kept.
    comms: Vec<u8>,
    kallsyms: &'a Kallsyms,
    /// When the next reading is due.
    next: Option<Instant>,
    following: Option<HistRefresh<'f>>,
    /// The failure of a reading, which ended the stream.
    failed: Option<Failure>,
    lost: u64,
    gaps: u64,
}

impl HistCounter<'_, '_, '_> {
    /// Shows the tables of the events so far.
    fn show_so_far(&mut self, comms: &[u8]) -> io::Result<()> {
        let Some(following) = &mut self.following else { return Ok(()) };
        // Intervals that a slow reader of our output missed are not made up for.
        self.next = Some(Instant::now() + following.interval);
        let comms = Comms::parse(comms);
        let answered = Answered {
            names: KeyNames::of_this_machine(self.kallsyms, &comms),
            findings: self.analysis.so_far(&self.part),
            missed: HistLosses { file: None, lost: self.lost, gaps: self.gaps, limits: &[] },
            of: None,
        };
        (following.show)(&answered).map_err(|failure| {
            self.failed = Some(failure);
            io::Error::other("the output has failed")
        })
    }
}

impl Audience for HistCounter<'_, '_, '_> {
    fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) {
        warn_of_damage(self.merge.page(buffer, cpu, page), false);
    }

    fn unfinished(&mut self, buffer: usize, cpu: usize) {
        self.merge.unfinished(buffer, cpu);
    }

    fn round(&mut self, saved_cmdlines: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()> {
        self.merge.end_round(last);
        while self.merge.advance() {
            let Some(record) = self.merge.record() else { break };
            let next = if self.analysis.needs_stacks() { self.merge.following_on_cpu() } else { None };
            if self.analysis.needs_stacks() && next.is_none() && !self.merge.is_last() {
                break; // a later round brings the record that may be its stack
            }
            self.analysis.record(&record, || next, &mut self.part);
            match record.lost {
                Lost::None => {}
                Lost::Count(number) => self.lost += number,
                _ => self.gaps += 1,
            }
            self.merge.take(Consumed::One);
        }
        if last {
            self.comms = saved_cmdlines();
        } else if self.next.is_some_and(|next| next <= Instant::now()) {
            self.show_so_far(&saved_cmdlines())?;
        }
        Ok(())
    }
}
