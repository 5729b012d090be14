//! Events of a recording, by name.

use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use anyhow::anyhow;
use rtrace::format::EventFormat;
use rtrace::syntax::did_you_mean;

/// The one event of the recording that `text` names: `sched:sched_switch`, `sched/sched_switch`, `sched_switch`.
pub(crate) fn find_format<'i>(input: &'i Input, text: &str) -> Result<&'i EventFormat, Failure> {
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
            Err(failure.hint(near.unwrap_or_else(|| format!("`rtrace report --events {path}` lists those it has."))))
        }
        [first, ..] => {
            let error = anyhow!("`{text}` means {} events of {path}", found.len());
            Err(Failure::new(Exit::Usage, error).hint(format!("Name one: {}:{}.", first.system, first.name)))
        }
    }
}
