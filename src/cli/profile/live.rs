//! The profile of what happens now.

use super::pairs::AccountArgs;
use super::report::ProfileOutputArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::{Moot, refuse};
use crate::cli::live::{live_merge, warn_of_damage};
use crate::cli::query::ClockUnit;
use crate::cli::query::{WallArgs, WindowArgs};
use crate::cli::record_error::{explain, failure};
use crate::cli::terminal::{PagerArgs, note};
use crate::cli::traced::{SessionArgs, Traced, WhatArgs, add_profile};
use anyhow::anyhow;
use clap::error::ErrorKind;
use rtrace::analysis::{InOrder, Profile};
use rtrace::record::{Audience, LiveStream, Plan, RecordError};
use rtrace::recording::LiveMerge;
use rtrace::symbols::{Comms, Kallsyms, PrintkFormats, Symbols};
use rtrace::units::RecordedClock;
use std::io;
use std::path::PathBuf;

/// Options of a live profile.
#[derive(clap::Args)]
pub(super) struct TraceArgs {
    #[command(flatten)]
    traced: Traced,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    pub(super) account: AccountArgs,
    #[command(flatten)]
    pub(super) what: WhatArgs,
    /// Profile what a file holds, instead of what happens now
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) input: Option<PathBuf>,
    #[command(flatten)]
    pub(super) pager: PagerArgs,
    #[command(flatten)]
    pub(super) window: WindowArgs,
    #[command(flatten)]
    pub(super) wall: WallArgs,
    #[command(flatten)]
    pub(super) output: ProfileOutputArgs,
    /// Print nothing but the profile and errors
    #[arg(short, long)]
    quiet: bool,
    /// Taken as in trace-cmd: the formats of all events are known anyway
    #[arg(short = 'a', hide = true)]
    _all_formats: bool,
}

/// Ids of the options that a recording can be profiled with.
const OF_A_FILE: &[&str] = &[
    "input",
    "since",
    "until",
    "around",
    "wall",
    "global_irqs",
    "by_comm",
    "hook",
    "output",
    "force",
    "stderr",
    "json",
    "layout",
    "limit",
    "wide",
    "no_pager",
    "quiet",
    "_all_formats",
];

impl TraceArgs {
    /// An unknown option, which looks like CMD.
    pub(super) fn check_command(&self) -> Result<(), clap::Error> {
        self.traced.check_command()
    }

    /// Refuses what cannot have an effect.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let given = self.traced.given();
        let moot = |option, reason, hint| refuse::<Self>(Some(Moot { option, reason, hint }));
        if let Some(option) = given.first_of(&["limit", "wide"]).filter(|_| self.output.is_in_trace_cmds_layout()) {
            return moot(option, "on trace-cmd's layout, which shows all", "`--layout table` has rows.");
        }
        if let Some(option) = given.first_of(&["wall"]).filter(|_| self.output.has_no_points()) {
            return moot(option, "on this form, whose times are by the trace clock", "the table has local time.");
        }
        if self.input.is_none() {
            if let Some(option) = given.first_of(&["wall"]) {
                return moot(
                    option,
                    "on what happens now, which is shown when it is over",
                    "`--input FILE` names a recording.",
                );
            }
            return match given.first_of(&["since", "until", "around"]) {
                Some(option) => moot(
                    option,
                    "on what happens now: it chooses a part of a recording",
                    "`--input FILE` names one; `--duration TIME` ends by itself.",
                ),
                None => refuse::<Self>(self.traced.moot()),
            };
        }
        match given.first_besides::<Self>(OF_A_FILE) {
            Some(option) => moot(
                &option,
                "on a recording: it is about what is traced",
                "leave out one of the two; `rtrace convert IN OUT.dat` makes a recording of some events.",
            ),
            None => Ok(()),
        }
    }

    fn plan(&self) -> Result<(Plan, Vec<usize>), clap::Error> {
        let traced = if self.what.only_named { self.traced.clone() } else { self.traced.profile_all() };
        Ok((self.session.add_to(traced.plan(self.session.place())?), traced.profiled()))
    }
}

pub(super) fn run(args: &TraceArgs) -> Result<Exit, Failure> {
    let (mut plan, profiled) = args.plan()?;
    let with_command = plan.command.is_some();
    let own = |exit: Exit| if with_command && exit != Exit::Usage { Exit::Command(125) } else { exit };
    let warn = |text: &str| {
        if !args.quiet {
            note!("rtrace: warning: {text}");
        }
    };
    let usage = |error| Err(clap::Error::raw(ErrorKind::MissingRequiredArgument, format!("{error}\n")).into());
    if profiled.is_empty()
        && let Err(error) = plan.check()
    {
        return usage(error);
    }
    let tracefs = args.traced.open(false).map_err(|failure| failure.with_exit(own))?;
    add_profile(&mut plan, &profiled, &tracefs, warn).map_err(|failure| failure.with_exit(own))?;
    if let Err(error) = plan.check() {
        return usage(error);
    }
    let output = args.output.open().map_err(|failure| failure.with_exit(own))?;
    let refused = |error: RecordError| match explain(&tracefs, &error) {
        Some(known) => known.with_exit(own),
        None => failure(error, own),
    };
    let set_up = LiveStream::set_up(&plan, args.traced.journal(&tracefs), warn);
    let (stream, facts) = set_up.map_err(refused)?;
    facts.not_understood.iter().for_each(|error| warn(&error.to_string()));
    let hooks = args.what.hooks();
    let mut profiles = Vec::new();
    for buffer in &facts.buffers {
        let profile = args.account.profile(&facts.formats, facts.abi, &hooks, &[]);
        let profile = profile.map_err(|failure| failure.with_exit(own))?;
        let profile = if args.output.is_in_trace_cmds_layout() { profile.as_trace_cmd() } else { profile };
        profiles.push((buffer.name.clone(), profile.covering(buffer.coverage.clone())));
    }
    let mut listener = LiveProfile { events: live_merge(&facts), quiet: args.quiet, profiles, comms: Vec::new() };
    let streamed = stream.run(&mut listener).map_err(refused)?;
    let symbols = Symbols {
        kallsyms: Kallsyms::new(tracefs.kallsyms().unwrap_or_default()),
        printk: PrintkFormats::parse(b""),
        comms: Comms::parse(&listener.comms),
        ..Symbols::default()
    };
    let unit = ClockUnit::of(facts.buffers.iter().any(|buffer| !RecordedClock::of(&buffer.clock).counts_nanoseconds()));
    match output.write(None, &listener.profiles, &symbols, args.account.by_comm, (unit, None)) {
        // A reader who closed the pipe has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => return Err(Failure::new(own(Exit::Failed), anyhow!("failed to write the profile: {error}"))),
        Ok(()) => {}
    }
    if let Err(error) = streamed.output {
        return Err(Failure::new(own(Exit::Failed), anyhow!("failed to read the events: {error}")));
    }
    Ok(match streamed.command.map(|ended| ended.code()) {
        _ if streamed.timed_out => Exit::Command(124),
        Some(status) => Exit::Command(status),
        None => Exit::Success,
    })
}

/// Accounts for what comes, in order.
struct LiveProfile {
    events: LiveMerge,
    quiet: bool,
    /// By buffer, with its name.
    profiles: Vec<(String, Profile)>,
    /// The names of tasks that the kernel has kept.
    comms: Vec<u8>,
}

impl Audience for LiveProfile {
    fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) {
        warn_of_damage(self.events.page(buffer, cpu, page), self.quiet);
    }

    fn unfinished(&mut self, buffer: usize, cpu: usize) {
        self.events.unfinished(buffer, cpu);
    }

    fn round(&mut self, saved_cmdlines: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()> {
        self.events.end_round(last);
        let profiles = &mut self.profiles;
        self.events.each(|record| {
            if let Some((_, profile)) = profiles.get_mut(record.buffer) {
                profile.record(record);
            }
        });
        if last {
            self.comms = saved_cmdlines();
        }
        Ok(())
    }
}
