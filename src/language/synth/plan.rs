//! The writes for a synthetic event, and their undo.
//! Fields that synthetic events are made of: an event's own, and the special names that stand for one.

use super::{FieldType, SynthDef, SynthError};
use crate::base::syntax::did_you_mean;
use crate::kernel::format::{EventFormat, Field};
use crate::language::hist::spec::{HistExpr, HistSpec, KeyModifier};

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

/// Stands for a field: the event's time in nanoseconds.
pub const TIMESTAMP: &str = "TIMESTAMP";
/// Stands for a field: the event's time in microseconds.
pub const TIMESTAMP_USECS: &str = "TIMESTAMP_USECS";
const STACKTRACE: &str = "STACKTRACE";

/// The expression of a time.
pub(super) fn time(field: &str) -> Option<HistExpr> {
    match field {
        TIMESTAMP => Some(HistExpr::field("common_timestamp")),
        TIMESTAMP_USECS => Some(HistExpr::with("common_timestamp", KeyModifier::Usecs)),
        _ => None,
    }
}

/// True if `field` stands for the number of the CPU, which is 32 bits wide.
pub(super) fn is_cpu(event: &EventFormat, field: &str) -> bool {
    event.field(field).is_none() && matches!(field, "common_cpu" | "CPU" | "cpu")
}

/// A field of an event's own.
pub(super) fn find<'a>(event: &'a EventFormat, field: &str) -> Result<&'a Field, SynthError> {
    event.field(field).ok_or_else(|| {
        let names = || event.fields.iter().map(|f| f.name.as_str());
        let event_name = format!("{}:{}", event.system, event.name);
        let hint = did_you_mean(field, names())
            .unwrap_or_else(|| format!("fields of {event_name} are {}", names().collect::<Vec<_>>().join(", ")));
        let task = if field.contains("pid") { "; `common_pid` is the task in which it happens" } else { "" };
        SynthError::NoField { event: event_name, field: field.to_owned(), hint: hint + task }
    })
}

/// The keys of two events that are to be equal.
pub(super) fn matching(
    start: &EventFormat,
    start_field: &str,
    end: &EventFormat,
    end_field: &str,
) -> Result<(HistExpr, HistExpr), SynthError> {
    let key = |event: &EventFormat, field: &str| match is_cpu(event, field) {
        true => Ok((HistExpr::field("common_cpu"), None)),
        false => find(event, field).map(|found| (HistExpr::field(field), Some(found.clone()))),
    };
    // Of `pid` where this event has `next_pid`, and the other way round; of several the one that begins with `first`.
    let like = |event: &EventFormat, field: &str, first: &str| {
        let (ending, short) = (format!("_{field}"), field.rsplit('_').next().unwrap_or(field));
        let is_it = |name: &&String| name.ends_with(&ending) || *name == field || *name == short;
        let names = || event.fields.iter().map(|field| &field.name).filter(is_it);
        names().find(|name| *name == field || name.starts_with(first)).or_else(|| names().next()).cloned()
    };
    let is_turned = start.field(end_field).is_some() && end.field(start_field).is_some();
    let turned = || Some((end_field.to_owned(), start_field.to_owned())).filter(|_| is_turned);
    let pair =
        |error: SynthError, start: Option<String>, end: Option<String>| match (error, turned().or(start.zip(end))) {
            (SynthError::NoField { event, field, .. }, Some((start, end))) => {
                SynthError::NoField { event, field, hint: format!("one field of each event, as `{start}={end}`") }
            }
            (error, _) => error,
        };
    let (start_key, start_found) = key(start, start_field)
        .map_err(|error| pair(error, like(start, start_field, "next"), like(end, end_field, "prev")))?;
    let (end_key, end_found) = key(end, end_field)
        .map_err(|error| pair(error, like(start, start_field, "next"), like(end, end_field, "next")))?;
    let is_cpu_wide = |field: &Field| !field.is_string() && !field.is_dynamic() && field.size == 4;
    let (same, start_type, end_type) = match (&start_found, &end_found) {
        (None, None) => (true, "", ""),
        (Some(start), Some(end)) => (same_type(start, end), start.type_name.as_str(), end.type_name.as_str()),
        (Some(start), None) => (is_cpu_wide(start), start.type_name.as_str(), "u32"),
        (None, Some(end)) => (is_cpu_wide(end), "u32", end.type_name.as_str()),
    };
    if same {
        return Ok((start_key, end_key));
    }
    Err(SynthError::Types {
        start: start_field.to_owned(),
        start_type: start_type.to_owned(),
        end: end_field.to_owned(),
        end_type: end_type.to_owned(),
        what: "matched",
    })
}

/// True for two texts, or two numbers of the same size.
pub(super) fn same_type(start: &Field, end: &Field) -> bool {
    match (start.is_string(), end.is_string()) {
        (true, true) => start.is_dynamic() == end.is_dynamic(),
        (false, false) => start.size == end.size && start.is_dynamic() == end.is_dynamic(),
        _ => false,
    }
}

pub(super) fn differ(start: &Field, end: &Field, what: &'static str) -> SynthError {
    SynthError::Types {
        start: start.name.clone(),
        start_type: start.type_name.clone(),
        end: end.name.clone(),
        end_type: end.type_name.clone(),
        what,
    }
}

/// The type of a synthetic event's field that takes over `field`.
pub(super) fn type_of(field: &Field) -> Result<FieldType, SynthError> {
    FieldType::of(field)
        .ok_or_else(|| SynthError::Unsupported { field: field.name.clone(), ty: field.type_name.clone() })
}

/// The expression and type of a field of `event`, or of a special name; `old_stack` says that this kernel calls a stack
/// `stacktrace` (before Linux 6.3).
pub(super) fn taken(event: &EventFormat, field: &str, old_stack: bool) -> Result<(HistExpr, FieldType), SynthError> {
    if let Some(expr) = time(field) {
        return Ok((expr, FieldType::Number("u64".to_owned())));
    }
    if is_cpu(event, field) {
        return Ok((HistExpr::field("common_cpu"), FieldType::Number("u32".to_owned())));
    }
    if event.field(field).is_none() {
        match field {
            STACKTRACE | "stacktrace" | "common_stacktrace" => {
                let name = if old_stack { "stacktrace" } else { "common_stacktrace" };
                return Ok((HistExpr::field(name), FieldType::Stack { signed: false }));
            }
            "COMM" | "comm" => {
                let comm = HistExpr::with("common_pid", KeyModifier::Execname);
                return Ok((comm, FieldType::Text(None)));
            }
            _ => {}
        }
    }
    let found = find(event, field)?;
    let expr = match FieldType::of(found) {
        Some(FieldType::Stack { .. }) => HistExpr::with(field, KeyModifier::Stacktrace),
        _ => HistExpr::field(field),
    };
    Ok((expr, type_of(found)?))
}
