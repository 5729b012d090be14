//! Errors of the parts of a synthetic event, at their place in the argument that named them.

use crate::cli::exit::{Exit, Failure};
use crate::cli::language::invalid;
use anyhow::anyhow;
use rtrace::format::EventFormat;
use rtrace::syntax::{Diagnostic, Span};
use rtrace::synth::SynthError;
use rtrace::tracefs::{Feature, Tracefs};

/// An argument of the command line and the names that it is made of.
pub(crate) struct SynthArgument<'a> {
    option: &'static str,
    text: &'a str,
    /// Parts of `text`, each with the event whose field it names.
    names: Vec<(&'a str, Option<&'a EventFormat>)>,
}

impl<'a> SynthArgument<'a> {
    /// The value `text` of `option`; `names` are parts of it.
    pub(crate) fn new(
        option: &'static str,
        text: &'a str,
        names: impl IntoIterator<Item = (&'a str, Option<&'a EventFormat>)>,
    ) -> Self {
        SynthArgument { option, text, names: names.into_iter().collect() }
    }

    /// `error` as a usage error with a caret below the name it is about, or below all if it is about none.
    pub(crate) fn failure(&self, error: SynthError) -> Failure {
        let hint = match error {
            SynthError::Filter(wrong) => return invalid("filter", *wrong),
            SynthError::NoField { ref hint, .. } => Some(hint.clone()),
            SynthError::StackUnsupported => {
                let failure = Failure::new(Exit::Unable, anyhow!("failed to build the event: {error}"));
                return failure.hint("Linux 6.3 and later can");
            }
            _ => None,
        };
        let about = |(name, event): &&(&str, Option<&EventFormat>)| match &error {
            SynthError::NoField { event: of, field, .. } => {
                name == field && event.is_none_or(|event| format!("{}:{}", event.system, event.name) == *of)
            }
            SynthError::Types { end, .. } => name == end,
            SynthError::Unsupported { field, .. } => name == field,
            SynthError::Name(wrong)
            | SynthError::Duplicate(wrong)
            | SynthError::Tracked(wrong)
            | SynthError::NotKept(wrong)
            | SynthError::TooManySplits(wrong)
            | SynthError::TooManyMatches(wrong) => name == wrong,
            _ => false,
        };
        // Of two equal names the types of the second differ from those of the first.
        let name = match error {
            SynthError::Types { .. } => self.names.iter().rfind(about),
            _ => self.names.iter().find(about),
        };
        let text = name.map_or(self.text, |(name, _)| name);
        let start = (text.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        self.at(Span::new(start, start + text.len()), error.to_string(), hint)
    }

    /// A usage error about a place of the argument.
    pub(crate) fn at(&self, span: Span, message: impl Into<String>, hint: Option<String>) -> Failure {
        let wrong = Diagnostic::new(self.option, self.text, span, message);
        let failure = Failure::new(Exit::Usage, anyhow!("invalid {}: {wrong}", self.option));
        hint.into_iter().fold(failure, Failure::hint)
    }

    /// A usage error about the whole argument.
    pub(crate) fn wrong(&self, message: impl Into<String>, hint: Option<String>) -> Failure {
        self.at(Span::new(0, self.text.len()), message, hint)
    }
}

/// The builder's error where no argument is to blame alone, as a usage error with its hint.
pub(in crate::cli) fn builder_failure(error: SynthError) -> Failure {
    let hint = match &error {
        SynthError::Filter(wrong) => return invalid("filter", *wrong.clone()),
        SynthError::NoField { hint, .. } => Some(hint.clone()),
        _ => None,
    };
    let failure = Failure::new(Exit::Usage, anyhow!("failed to build the event: {error}"));
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The same directory, if its kernel has synthetic events.
pub(super) fn able_tracefs(tracefs: Tracefs) -> Result<Tracefs, Failure> {
    tracefs.require(&Feature::SyntheticEvents)?;
    tracefs.require(&Feature::HistTriggers)?;
    Ok(tracefs)
}
