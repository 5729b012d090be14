//! The time while a histogram counts.
//! Events that no instance hears of: kernel code fires them into the ring buffer of the top level alone.

use super::chain::{definitions, instances};
use super::place::{events_with_hists, hist_triggers};
use crate::cli::args::called;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::note;
use rtrace::hist::spec::Do;
use rtrace::hist::table::HistTable;
use rtrace::record::{Child, CommandError, RecordedCommand, Signals, wait};
use rtrace::tracefs::{EventName, Instance, Tracefs};
use rtrace::units::parse_duration;
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// The duration of a count.
#[derive(clap::Args, Default)]
pub(crate) struct UntilArgs {
    /// Count for TIME (`5s`, `500ms`; seconds without a unit); CMD goes on
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// Command to run while counting; without one, until Ctrl-C or --duration
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl UntilArgs {
    /// True if the exit status is the command's.
    pub(crate) fn has_command(&self) -> bool {
        !self.command.is_empty()
    }

    /// True if a command or a time is given.
    pub(crate) fn is_any(&self) -> bool {
        self.has_command() || self.duration.is_some()
    }

    /// The command and its arguments.
    pub(super) fn command(&self) -> Option<Vec<OsString>> {
        self.has_command().then(|| self.command.clone())
    }

    /// The time to count for.
    pub(super) fn duration(&self) -> Option<Duration> {
        self.duration
    }
}

/// Signals taken, the command held at its gate.
pub(crate) struct HistSession {
    signals: Signals,
    child: Option<Child>,
    duration: Option<Duration>,
    /// Never readable: the clock and the signals end the wait.
    idle: (OwnedFd, OwnedFd),
    status: Option<u8>,
}

impl HistSession {
    /// Takes signals as messages from now on and finds the command, before anything is written.
    pub(crate) fn prepare(until: &UntilArgs) -> Result<HistSession, Failure> {
        let signals = Signals::block()?;
        let child = match until.command.as_slice() {
            [] => None,
            words => {
                let path = std::env::var_os("PATH");
                let command = RecordedCommand::find(words, path.as_deref()).map_err(command_failure)?;
                Some(command.fork().map_err(command_failure)?)
            }
        };
        let idle = nix::unistd::pipe().map_err(std::io::Error::from)?;
        Ok(HistSession { signals, child, duration: until.duration, idle, status: None })
    }

    /// Lets the command go and returns when it has ended, the time is over or a signal came; `tick` is called at every
    /// interval in between.
    pub(crate) fn run(
        &mut self,
        every: Option<Duration>,
        mut tick: impl FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Some(child) = &mut self.child {
            child.open_gate().map_err(command_failure)?;
        }
        let start = Instant::now();
        if let Some(long) = self.duration.filter(|long| long.as_secs() >= 60 && self.child.is_none()) {
            note!("rtrace: counting for {} s; Ctrl-C ends it", long.as_secs());
        }
        let end = self.duration.and_then(|d| start.checked_add(d));
        let mut next = every.and_then(|e| start.checked_add(e));
        loop {
            let until = [end, next].into_iter().flatten().min();
            wait(&self.signals, None, &[self.idle.0.as_fd()], until);
            while let Some(arrived) = self.signals.next() {
                if let Some(child) = self.child.as_mut().filter(|_| arrived.is_for_the_command()) {
                    child.send(arrived.number);
                }
                if arrived.ends() {
                    return Ok(());
                }
            }
            if self.child.as_mut().is_some_and(|child| child.try_wait().is_some()) {
                return Ok(());
            }
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) {
                return Ok(());
            }
            if let (Some(at), Some(every)) = (next, every)
                && now >= at
            {
                tick()?;
                next = now.checked_add(every);
            }
        }
    }

    /// The command's status; waits for one that goes on after `--duration`.
    pub(crate) fn status(&mut self) -> Option<u8> {
        if self.status.is_none() {
            self.status = self.child.as_mut().and_then(Child::wait).map(|ended| ended.code());
        }
        self.status
    }
}

fn command_failure(error: CommandError) -> Failure {
    let exit = match error {
        CommandError::NotFound(_) => Exit::Command(127),
        CommandError::NotRunnable(..) => Exit::Command(126),
        _ => Exit::Command(125),
    };
    Failure::new(exit, error)
}

/// Synthetic events that `wanted` accepts and no trigger of any instance fires. Kernel code that fires one names a file
/// of the event, which is that of the top level in all but a few modules (`synth_event_trace` in
/// `kernel/trace/trace_events_synth.c`).
pub(crate) fn unfired(tracefs: &Tracefs, wanted: impl Fn(&EventName) -> bool) -> Vec<EventName> {
    let named = definitions(tracefs).unwrap_or_default().into_iter().map(|def| EventName::new("synthetic", def.name));
    let mut unfired: Vec<EventName> = named.filter(wanted).collect();
    if unfired.is_empty() {
        return unfired;
    }
    for instance in instances(tracefs).unwrap_or_default() {
        for event in events_with_hists(&instance).unwrap_or_default() {
            for echo in hist_triggers(&instance, &event).unwrap_or_default() {
                unfired.retain(|synthetic| {
                    !echo.spec.actions.iter().any(
                        |action| matches!(&action.value.what, Do::Trace { event, .. } if event.value == synthetic.name),
                    )
                });
            }
        }
    }
    unfired
}

/// A line for tables of an instance that counted nothing of an event which the top level alone may hear of.
pub(super) fn unheard(instance: &Instance, event: &EventName, tables: &[HistTable]) -> Option<String> {
    if instance.name().is_none() || tables.iter().any(|table| table.hits > 0) {
        return None;
    }
    let place = called(instance);
    match (event.system.as_str(), event.name.as_str()) {
        ("synthetic", _) => {
            let [_] = unfired(instance.tracefs(), |name| name == event).as_slice() else { return None };
            Some(format!(
                "rtrace: no trigger fires {event}, and what kernel code fires reaches the top level alone, not {place}; \
                 `--top` counts it"
            ))
        }
        // `trace_marker` of the top level, and trace_printk() (`tracing_mark_write` in `kernel/trace/trace.c`).
        ("ftrace", "print") => Some(format!(
            "rtrace: what is written to trace_marker reaches the top level alone, not {place}; `--top` counts it"
        )),
        _ => None,
    }
}
