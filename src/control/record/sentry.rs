//! A second look at some events while they are recorded, which can end the recording: `--stop-if`.
//!
//! The events come from a ring buffer of their own, so that the threads that drain the recording's rings have no more to do,
//! and none of what they do delays the look. Its instance goes with the recording.

use super::error::{PlanError, RecordError, in_full};
use super::live_rings::{Audience, LiveBuffer, LiveRings};
use super::plan::{BufferPlan, Plan, TargetBuffer};
use super::saves::Finds;
use super::setup::{ResolvedEvents, SetUpBuffer, set_up};
use super::task_lists::TaskLists;
use crate::base::units::Pid;
use crate::control::tracefs::{EventName, Journal};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;
use std::os::fd::AsFd;

/// Time between two looks, in milliseconds.
const ROUND: u16 = 20;

/// A look at events while they are recorded. It is called on a thread of its own.
pub trait Sentry: Audience + Send {
    /// The events that it looks at: of those that the main buffer records.
    fn events(&self) -> &[EventName];

    /// Its buffer is set up.
    ///
    /// # Errors
    /// Why it cannot look at that.
    fn begin(&mut self, buffer: &LiveBuffer) -> Result<(), String>;

    /// These are threads of the recorder: what is about them is not to end the recording.
    fn leave_out(&mut self, tasks: &[Pid]);

    /// Why the recording is to end, once it is.
    fn found(&self) -> Option<String>;

    /// Forgets that and looks for the next; gives how many there were beside it.
    fn go_on(&mut self) -> u64;
}

/// The buffer of a sentry.
pub(super) struct Post<'s> {
    pub(super) sentry: &'s mut dyn Sentry,
    pub(super) buffer: SetUpBuffer,
}

impl<'s> Post<'s> {
    /// Sets up a buffer for the events of `sentry`, with the filters and the clock of `main`, whose events are `chosen`.
    pub(super) fn set_up(
        journal: &mut Journal,
        plan: &Plan,
        (main, chosen): (&SetUpBuffer, ResolvedEvents),
        sentry: &'s mut dyn Sentry,
        tasks: &mut TaskLists,
    ) -> Result<Self, RecordError> {
        if let Some(event) = sentry.events().iter().find(|event| !chosen.events.contains_key(event)) {
            let why = format!("{event} is not recorded: add `-e {event}`");
            return Err(PlanError::StopIf(why).into());
        }
        let place = TargetBuffer::Instance(format!("rtrace-{}-stop-if", std::process::id()));
        let mut buffer = BufferPlan::new(place);
        buffer.clock = Some(main.clock.current.clone());
        buffer.cpu_mask = plan.buffers.first().and_then(|buffer| buffer.cpu_mask.clone());
        let buffer = set_up(journal, plan, &buffer, chosen, false, tasks)?;
        sentry.begin(&LiveBuffer::of(&buffer)).map_err(PlanError::StopIf)?;
        Ok(Post { sentry, buffer })
    }
}

/// Lets `sentry` look until `stop` is readable and the rings are empty, or it has found something, which makes `found`
/// readable; with `finds` it goes on. Gives why the recording ended, or why it could not look.
pub(super) fn look(
    sentry: &mut dyn Sentry,
    mut rings: LiveRings,
    own: &[Pid],
    (stop, found): (&EventFd, &EventFd),
    finds: Option<&Finds>,
) -> Result<Option<String>, String> {
    let failed = |error: &dyn std::error::Error| {
        let _ = found.write(1);
        format!("--stop-if: {}", in_full(error))
    };
    sentry.leave_out(own);
    loop {
        let mut fds = [PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
        let stopped = matches!(poll(&mut fds, PollTimeout::from(ROUND)), Ok(1..));
        let taken = rings.read(sentry).map_err(|error| failed(&error))?;
        let last = stopped && taken == 0;
        sentry.round(&Vec::new, last).map_err(|error| failed(&error))?;
        if let (Some(find), Some(finds)) = (sentry.found(), finds) {
            finds.tell(find, sentry.go_on());
        } else if let Some(why) = sentry.found() {
            let _ = found.write(1);
            return Ok(Some(why));
        }
        if last {
            return Ok(None);
        }
    }
}
