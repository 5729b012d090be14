//! Events of a recording, by name.

use crate::cli::exit::{Exit, Failure};
use crate::cli::machine::RecordingMachine;
use crate::cli::query::QueryInput;
use crate::cli::traced::events_of_purposes;
use anyhow::anyhow;
use rtrace::format::EventFormat;
use rtrace::syntax::did_you_mean;
use rtrace::tracefs::{EventName, Tracefs};

/// The one event of the recording that `text` names: `sched:sched_switch`, `sched/sched_switch`, `sched_switch`.
pub(crate) fn find_format<'i>(input: &'i QueryInput, text: &str) -> Result<&'i EventFormat, Failure> {
    let named = |format: &&EventFormat| match text.split_once([':', '/']) {
        Some((system, event)) => format.system == system && format.name == event,
        None => format.name == text,
    };
    let found: Vec<&EventFormat> = input.formats().filter(named).collect();
    let path = input.path.display();
    match found[..] {
        [one] => Ok(one),
        [] => {
            let names: Vec<String> = input.formats().map(|f| format!("{}:{}", f.system, f.name)).collect();
            let bare = input.formats().map(|format| format.name.as_str());
            let near = did_you_mean(text, names.iter().map(String::as_str).chain(bare));
            let failure = Failure::new(Exit::Usage, anyhow!("{path} has no event `{text}`"));
            if let Some(hint) = as_raw_syscall(input, text) {
                return Err(failure.hint(hint));
            }
            if let Some(event) = elsewhere(text) {
                let error = anyhow!("{path} has no event `{text}`: it was not recorded");
                return Err(Failure::new(Exit::Usage, error).hint(format!("`rtrace record -e {event}` records it.")));
            }
            Err(failure.hint(near.unwrap_or_else(|| format!("`rtrace report --events {path}` lists those it has."))))
        }
        [first, ..] => {
            let error = anyhow!("`{text}` means {} events of {path}", found.len());
            Err(Failure::new(Exit::Usage, error).hint(format!("Name one: {}:{}.", first.system, first.name)))
        }
    }
}

/// The event of that name that an analysis reads, or that this machine's kernel has.
fn elsewhere(text: &str) -> Option<EventName> {
    let named = |event: &EventName| match text.split_once([':', '/']) {
        Some((system, name)) => event.system == system && event.name == name,
        None => event.name == text,
    };
    let of_kernel = || Tracefs::mounted()?.top().events().ok()?.into_iter().find(named);
    events_of_purposes().find(named).or_else(of_kernel)
}

/// The event that holds the calls of `syscalls:sys_enter_NAME` in a recording of raw_syscalls.
fn as_raw_syscall(input: &QueryInput, text: &str) -> Option<String> {
    let name = text.rsplit([':', '/']).next()?;
    let (raw, call) = ["sys_enter", "sys_exit"].iter().find_map(|raw| {
        let call = name.strip_prefix(raw)?.strip_prefix('_')?;
        Some((*raw, call))
    })?;
    input.formats().find(|format| format.system == "raw_syscalls" && format.name == raw)?;
    // Events are called by the function: newstat is the call stat.
    let is_it = |known: &str| known == call || call.strip_prefix("new") == Some(known);
    let (number, _) = RecordingMachine::of_recording(&input.trace)?.calls().find(|(_, known)| is_it(known))?;
    Some(format!(
        "it has raw_syscalls: {call} is `raw_syscalls:{raw}` with `id == {number}`; `rtrace analyze syscalls {} --call {call}` has its times.",
        input.path.display()
    ))
}
