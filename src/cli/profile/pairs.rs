//! The options about a profile, wherever its events come from.

use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::abi::Abi;
use rtrace::analysis::{Hook, HookProblem, Profile};
use rtrace::format::EventFormat;
use rtrace::syntax::did_you_mean;

/// Rules for accounting events.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct AccountArgs {
    /// Put interrupts down to their CPU, not to the task that they interrupt
    #[arg(short = 'G', long)]
    global_irqs: bool,
    /// Put tasks of the same name together
    #[arg(long)]
    pub(crate) by_comm: bool,
}

impl AccountArgs {
    /// A profile of these formats, with the hooks that were given, and those that the file holds.
    pub(crate) fn profile<'f>(
        &self,
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        given: &[Hook],
        stored: &[String],
    ) -> Result<Profile, Failure> {
        let mut profile = Profile::new(formats, abi, self.global_irqs);
        for hook in given {
            profile.hook(hook).map_err(failure)?;
        }
        for text in stored {
            let added = match text.parse::<Hook>() {
                Ok(hook) => profile.hook(&hook).map_err(|problem| problem.to_string()),
                Err(error) => Err(error.to_string()),
            };
            if let Err(problem) = added {
                note!("rtrace: warning: stored with the recording: {problem}");
            }
        }
        Ok(profile)
    }
}

fn failure(problem: HookProblem) -> Failure {
    let hint = match &problem {
        HookProblem::NoField { event, field, fields, .. } => {
            let nearest = did_you_mean(field, fields.iter().map(String::as_str));
            Some(nearest.unwrap_or_else(|| format!("fields of {event}: {}.", fields.join(", "))))
        }
        HookProblem::NoEvent { .. } => Some("the recording has to hold both events.".to_owned()),
        _ => None,
    };
    let failure = Failure::new(Exit::Failed, anyhow!(problem));
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
