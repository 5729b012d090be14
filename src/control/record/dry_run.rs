//! A recording that only shows what it would write.

use super::error::RecordError;
use super::plan::Plan;
use super::setup::{SetUpBuffer, choose, set_up};
use super::task_lists::TaskLists;
use crate::base::units::Pid;
use crate::control::tracefs::Journal;

/// The id that stands for the command's process, which there is not.
pub const COMMAND_PID: Pid = Pid(i32::MAX);
/// The id that stands for the recorder's own threads, which are not to be recorded.
pub const OWN_PID: Pid = Pid(i32::MAX - 1);

/// Carries `plan` out but for recording and running the command: `journal` writes to a
/// [`DryRun`](crate::control::tracefs::DryRun) and shows each write. `between` is called where the command would run.
///
/// # Errors
/// As [`record()`](super::record()), as far as can be known without writing.
pub fn dry_run(plan: &Plan, mut journal: Journal, between: impl FnOnce()) -> Result<(), RecordError> {
    plan.check()?;
    let top = journal.tracefs().top();
    let existing = top.events()?;
    let mut unknown = Vec::new();
    let mut buffers: Vec<SetUpBuffer> = Vec::new();
    plan.machine.set(&mut journal, &plan.buffers)?;
    let mut tasks = TaskLists::of(&plan.tasks, Some(COMMAND_PID));
    for (index, buffer) in plan.buffers.iter().enumerate() {
        let chosen = choose(&top, plan.allow_unknown_events, buffer, &existing, &mut unknown)?;
        if index > 0 || buffer.traces() {
            buffers.push(set_up(&mut journal, plan, buffer, chosen, index == 0, &mut tasks)?);
        }
    }
    if let (true, Some(main)) = (plan.date, buffers.first()) {
        super::date::show_writes(&mut journal, &main.clock.current)?;
    }
    if plan.leaves_itself_out() {
        for buffer in &mut buffers {
            buffer.leave_out(&mut journal, &[OWN_PID])?;
        }
    }
    for buffer in &buffers {
        buffer.switch_on(&mut journal)?;
    }
    between();
    for buffer in &buffers {
        buffer.switch_off(&mut journal)?;
    }
    if plan.keep {
        journal.keep()?
    } else {
        journal.undo()?
    }
    Ok(())
}
