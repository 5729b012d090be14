//! The writes for a synthetic event, and their undo.

use super::SynthDef;
use crate::language::hist::spec::HistSpec;

/// A synthetic event: three writes, in this order, and their opposites backwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntheticPlan {
    /// The fields of the event.
    pub definition: SynthDef,
    /// Start event (system, name) and the trigger that keeps its values.
    pub start: ((String, String), HistSpec),
    /// End event and the trigger that fires the synthetic event.
    pub end: ((String, String), HistSpec),
}

/// The file of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanStep {
    /// To `synthetic_events`, which is the same for all instances.
    Definition,
    /// To the `trigger` file of an event (system, name) of the instance.
    Trigger(String, String),
}

/// One write, appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The file.
    pub step: PlanStep,
    /// The text, without newline.
    pub text: String,
    /// The text that undoes it, in the same file.
    pub undo: String,
}

impl SyntheticPlan {
    /// The writes in the order of creation. For removal, take the `undo`s backwards: the trigger that refers to
    /// variables goes before the one that defines them, and the event, which the former uses, last.
    pub fn writes(&self) -> Vec<Write> {
        let trigger = |((system, event), spec): &((String, String), HistSpec)| Write {
            step: PlanStep::Trigger(system.clone(), event.clone()),
            text: spec.to_string(),
            undo: format!("!{spec}"),
        };
        let definition = Write {
            step: PlanStep::Definition,
            text: self.definition.to_string(),
            undo: format!("!{}", self.definition.name),
        };
        vec![definition, trigger(&self.start), trigger(&self.end)]
    }

    /// The writes as shell commands; `root` is the tracing directory, `instance` the one for the triggers.
    pub fn shell(&self, root: &str, instance: Option<&str>) -> Vec<String> {
        let base = match instance {
            Some(name) => format!("{root}/instances/{name}"),
            None => root.to_owned(),
        };
        let line = |write: Write| match &write.step {
            PlanStep::Definition => shell_line(&write.text, &format!("{root}/synthetic_events")),
            PlanStep::Trigger(system, event) => {
                shell_line(&write.text, &format!("{base}/events/{system}/{event}/trigger"))
            }
        };
        self.writes().into_iter().map(line).collect()
    }
}

/// `echo 'TEXT' >> FILE`
pub fn shell_line(text: &str, file: &str) -> String {
    format!("echo '{}' >> {file}", text.replace('\'', "'\\''"))
}
