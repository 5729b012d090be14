//! `rtrace check --value`: numbers for a shell.

use super::verdicts::Verdicts;
use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::internal::assertion::{Checked, Interval};
use std::io::Write;

/// The number that stands for a quantity of which bounds are known.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The least that it can be
    Least,
    /// The most that it can be
    Most,
    /// That of the recorded events alone, as if nothing were missing
    Observed,
}

/// Writes the number of each quantity in its base unit, up to the first that is not known.
pub(super) fn write(verdicts: &Verdicts<'_>, bound: Option<Bound>, out: &mut dyn Write) -> Result<Exit, Failure> {
    for result in &verdicts.results {
        let value = result.checked.values[0];
        match value.and_then(|value| number(value, bound)) {
            Some(number) => writeln!(out, "{number}")?,
            None => return Err(unknown(&result.name, value, bound, &result.checked)),
        }
    }
    Ok(Exit::Success)
}

fn number(value: Interval, bound: Option<Bound>) -> Option<f64> {
    let number = match bound {
        None => Some(value.observed).filter(|_| value.is_exact()),
        Some(Bound::Least) => Some(value.least),
        Some(Bound::Most) => Some(value.most),
        Some(Bound::Observed) => Some(value.observed),
    };
    number.filter(|number| number.is_finite())
}

fn unknown(name: &str, value: Option<Interval>, bound: Option<Bound>, checked: &Checked) -> Failure {
    let of = match (value, bound) {
        (None, _) => format!("{name} is unknown"),
        (Some(_), Some(_)) => format!("nothing bounds {name}"),
        (Some(value), None) if value.most.is_infinite() => format!("{name} is {} or more", value.least),
        (Some(value), None) => format!("{name} is between {} and {}", value.least, value.most),
    };
    let why = match checked.reasons.as_slice() {
        [] => String::new(),
        reasons => format!(": {}", reasons.join("; ")),
    };
    let failure = Failure::new(Exit::Incomplete, anyhow!("{of}{why}"));
    match (value, bound) {
        (Some(_), None) => failure
            .hint("`--bound least` and `most` print these; `--bound observed` what the recorded events alone give."),
        _ => failure,
    }
}
