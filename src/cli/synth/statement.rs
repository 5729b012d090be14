//! The meaning of an SQL statement.

use super::argument::builder_failure;
use super::create::TrackingArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::syntax_failure;
use rtrace::hist::spec::{CheckContext, Features, HistSpec};
use rtrace::synth::sql::{Find, Lowered, lower, lower_recorded};

/// The meaning of the statement to a kernel, of events that `find` finds.
pub(super) fn meaning(
    text: &str,
    name: Option<&str>,
    tracking: &TrackingArgs,
    features: Features,
    find: Find<'_>,
) -> Result<Lowered, Failure> {
    let lowered = lower(text, name, find).map_err(|e| syntax_failure("statement", &e))?;
    checked(lowered, tracking, features, find)
}

/// The meaning of the statement to a recording.
pub(super) fn meaning_of_recorded(
    text: &str,
    name: Option<&str>,
    only_rows: bool,
    tracking: &TrackingArgs,
    find: Find<'_>,
) -> Result<Lowered, Failure> {
    let lowered = lower_recorded(text, name, only_rows, find).map_err(|e| syntax_failure("statement", &e))?;
    checked(lowered, tracking, Features::ALL, find)
}

/// The same, with what the options ask for beyond it.
fn checked(
    mut lowered: Lowered,
    tracking: &TrackingArgs,
    features: Features,
    find: Find<'_>,
) -> Result<Lowered, Failure> {
    match &mut lowered {
        Lowered::Synth(builder) => {
            tracking.apply(builder)?;
            builder.plan().map_err(builder_failure)?;
        }
        Lowered::Hist(..) | Lowered::Rows(_) if tracking.any() => {
            let error =
                anyhow::anyhow!("only a statement with JOIN makes an event that can be fired, saved or compared");
            return Err(Failure::new(Exit::Usage, error).hint("this one makes a table, which has no actions"));
        }
        Lowered::Rows(_) => {}
        Lowered::Hist((system, event), spec) => {
            let Some(format) = find(Some(system), event) else { return Ok(lowered) };
            let text = spec.to_string();
            let around = CheckContext { event: &format, features, neighbours: None, lookup: None };
            let checked = HistSpec::parse(&text).map_err(|wrong| vec![wrong]).and_then(|spec| spec.check(&around));
            if let Some(wrong) = checked.err().and_then(|errors| errors.into_iter().next()) {
                return Err(syntax_failure("histogram that the statement means", &wrong.diagnostic(&text)));
            }
        }
    }
    Ok(lowered)
}
