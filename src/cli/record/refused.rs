//! What is wrong with a trigger that the kernel refused without a word, as it does with all but filters and hist.

use crate::cli::exit::Failure;
use crate::cli::{language, trigger};
use rtrace::record::RecordError;
use rtrace::syntax::Diagnostic;
use rtrace::tracefs::{Error, EventName, Tracefs};
use rtrace::trigger::Trigger;

/// The failure in our words, if `error` is such a refusal and we know its reason.
pub(crate) fn explain(tracefs: &Tracefs, error: &RecordError) -> Option<Failure> {
    let RecordError::Tracefs(refused @ Error::File { file, value: Some(text), kernel: None, .. }) = error else {
        return None;
    };
    let path = file.strip_suffix("/trigger")?.rsplit_once("events/")?.1;
    let wrong = match text.parse::<Trigger>() {
        Err(wrong) => wrong,
        Ok(parsed) => match trigger::required(&parsed.action).map(|feature| tracefs.require(&feature)) {
            Some(Err(lacking)) => return Some(lacking.into()),
            _ => check(tracefs, &parsed, text, &EventName::parse(path)?)?,
        },
    };
    let failure = Failure::from(anyhow::anyhow!("{refused}: {wrong}"));
    Some(wrong.hints().iter().cloned().fold(failure, Failure::hint))
}

/// What our own checker finds.
fn check(tracefs: &Tracefs, parsed: &Trigger, text: &str, event: &EventName) -> Option<Diagnostic> {
    let top = tracefs.top();
    let known: Vec<String> = top.events().ok()?.iter().map(EventName::to_string).collect();
    parsed.check(text, &language::format(&top, event).ok()?, &known).err()
}
