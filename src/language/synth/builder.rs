//! A synthetic event from its parts, by libtracefs' rules.

use super::def::{start_variable, valid_name, variable};
use super::plan::{differ, find, is_cpu, matching, same_type, taken, time, type_of};
use super::{FieldType, SynthDef, SynthError, SynthField, SyntheticPlan};
use crate::kernel::format::EventFormat;
use crate::language::filter::Filter;
use crate::language::hist::spec::{
    ActionArg, Assign, BinaryOp, Do, HandlerAction, HistExpr, HistSpec, Reaction, VarRef,
};

/// `TRACING_MAP_KEYS_MAX`
const MAX_KEYS: usize = 3;

/// An operation on two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// End less start.
    DeltaEnd,
    /// Start less end.
    DeltaStart,
    /// Both together.
    Add,
}

/// The condition for the actions of [`Builder::track`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// onmax(): whenever the field exceeds what it ever was for this match.
    Max,
    /// onchange(): whenever it is not what it was for this match.
    Change,
}

/// The actions of [`Builder::track`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrackAction {
    /// Fires the synthetic event.
    Trace,
    /// Takes a snapshot.
    Snapshot,
    /// Keeps fields of the end event with the entry.
    Save(Vec<String>),
}

/// Collects the parts of a synthetic event and checks each as it comes.
#[derive(Clone, Debug)]
pub struct Builder {
    name: String,
    start: EventFormat,
    end: EventFormat,
    start_keys: Vec<HistExpr>,
    end_keys: Vec<HistExpr>,
    start_vars: Vec<Assign>,
    end_vars: Vec<Assign>,
    fields: Vec<SynthField>,
    /// The variable that holds each field.
    args: Vec<String>,
    /// Fields that are calculated or of the end event, so that they can be tracked.
    trackable: Vec<String>,
    start_filter: Option<String>,
    end_filter: Option<String>,
    tracked: Vec<(Tracking, String, TrackAction)>,
    old_stack_name: bool,
    size: Option<u64>,
}

impl Builder {
    /// An event `name` that fires when `end` follows `start` with equal values in the two match fields. With
    /// `match_name` that value is a field of the event.
    ///
    /// # Errors
    /// [`SynthError`] if a name is none, a field is missing, or the two fields' types differ.
    pub fn new(
        name: &str,
        start: EventFormat,
        end: EventFormat,
        start_match: &str,
        end_match: &str,
        match_name: Option<&str>,
    ) -> Result<Builder, SynthError> {
        if !valid_name(name) {
            return Err(SynthError::Name(name.to_owned()));
        }
        let mut builder = Builder {
            name: name.to_owned(),
            start,
            end,
            start_keys: Vec::new(),
            end_keys: Vec::new(),
            start_vars: Vec::new(),
            end_vars: Vec::new(),
            fields: Vec::new(),
            args: Vec::new(),
            trackable: Vec::new(),
            start_filter: None,
            end_filter: None,
            tracked: Vec::new(),
            old_stack_name: false,
            size: None,
        };
        builder.match_fields(start_match, end_match, match_name)?;
        Ok(builder)
    }

    /// Says that this kernel calls a stack `stacktrace` (before Linux 6.3).
    pub fn old_stack_name(&mut self, old: bool) -> &mut Self {
        self.old_stack_name = old;
        self
    }

    /// The number of entries of both tables: matches that can be waited for at once.
    pub fn size(&mut self, entries: Option<u64>) -> &mut Self {
        self.size = entries;
        self
    }

    /// The start event.
    pub fn start(&self) -> &EventFormat {
        &self.start
    }

    /// The end event.
    pub fn end(&self) -> &EventFormat {
        &self.end
    }

    /// A further pair of fields that must be equal.
    ///
    /// # Errors
    /// [`SynthError`] if a field is missing or the types differ.
    pub fn match_fields(
        &mut self,
        start_match: &str,
        end_match: &str,
        name: Option<&str>,
    ) -> Result<&mut Self, SynthError> {
        let (start, end) = matching(&self.start, start_match, &self.end, end_match)?;
        if self.start_keys.len() == MAX_KEYS {
            return Err(SynthError::TooManyMatches(end_match.to_owned()));
        }
        self.start_keys.push(start);
        self.end_keys.push(end.clone());
        if let Some(name) = name {
            let (_, ty) = taken(&self.end, end_match, self.old_stack_name)?;
            self.end_value(name, ty, end)?;
        }
        Ok(self)
    }

    /// A field `name` that is calculated of one field of each event; [`TIMESTAMP`](super::plan::TIMESTAMP) and
    /// [`TIMESTAMP_USECS`](super::plan::TIMESTAMP_USECS) are times.
    ///
    /// # Errors
    /// [`SynthError`] if a field is missing, is no number, or the types or units differ.
    pub fn compare(
        &mut self,
        start_field: &str,
        end_field: &str,
        calc: Arithmetic,
        name: &str,
    ) -> Result<&mut Self, SynthError> {
        let (start, end, ty) = match (time(start_field), time(end_field)) {
            (Some(start), Some(end)) if start == end => (start, end, FieldType::Number("u64".to_owned())),
            (Some(_), _) | (_, Some(_)) => return Err(SynthError::Timestamp),
            (None, None) => {
                let what = if calc == Arithmetic::Add { "added" } else { "subtracted" };
                let start = find(&self.start, start_field)?;
                let end = find(&self.end, end_field)?;
                if !same_type(start, end) || start.is_string() || start.is_signed() != end.is_signed() {
                    return Err(differ(start, end, what));
                }
                (HistExpr::field(start_field), HistExpr::field(end_field), type_of(end)?)
            }
        };
        let before = HistExpr::var(self.start_variable(name, start));
        let value = match calc {
            Arithmetic::DeltaEnd => HistExpr::binary(BinaryOp::Sub, end, before),
            Arithmetic::DeltaStart => HistExpr::binary(BinaryOp::Sub, before, end),
            Arithmetic::Add => HistExpr::binary(BinaryOp::Add, end, before),
        };
        self.end_value(name, ty, value)?;
        Ok(self)
    }

    /// A field that is taken from the start event, by default under its own name.
    ///
    /// # Errors
    /// [`SynthError`] if it is missing or of a type that cannot be held.
    pub fn start_field(&mut self, field: &str, name: Option<&str>) -> Result<&mut Self, SynthError> {
        let name = name.unwrap_or(field);
        let (value, ty) = taken(&self.start, field, self.old_stack_name)?;
        let variable = self.start_variable(name, value);
        self.end_value(name, ty, HistExpr::var(variable))?;
        self.trackable.retain(|n| n != name);
        Ok(self)
    }

    /// A field that is taken from the end event, by default under its own name.
    ///
    /// # Errors
    /// [`SynthError`] if it is missing or of a type that cannot be held.
    pub fn end_field(&mut self, field: &str, name: Option<&str>) -> Result<&mut Self, SynthError> {
        let (value, ty) = taken(&self.end, field, self.old_stack_name)?;
        self.end_value(name.unwrap_or(field), ty, value)?;
        Ok(self)
    }

    /// Only start events that pass this filter count; several calls are joined by `&&`.
    ///
    /// # Errors
    /// [`SynthError::Filter`] if it does not parse or does not fit the start event.
    pub fn start_filter(&mut self, filter: &str) -> Result<&mut Self, SynthError> {
        join_filters(&mut self.start_filter, &self.start, filter)?;
        Ok(self)
    }

    /// Only end events that pass this filter count; several calls are joined by `&&`.
    ///
    /// # Errors
    /// [`SynthError::Filter`] if it does not parse or does not fit the end event.
    pub fn end_filter(&mut self, filter: &str) -> Result<&mut Self, SynthError> {
        join_filters(&mut self.end_filter, &self.end, filter)?;
        Ok(self)
    }

    /// Does something when the field `name` (calculated, or of the end event) grows or changes, instead of firing the
    /// event each time.
    ///
    /// # Errors
    /// [`SynthError::Tracked`] if there is no such field, [`SynthError::NoField`] if save() names what the end event
    /// does not have.
    pub fn track(&mut self, when: Tracking, name: &str, deed: TrackAction) -> Result<&mut Self, SynthError> {
        if !self.trackable.iter().any(|n| n == name) {
            return Err(SynthError::Tracked(name.to_owned()));
        }
        if let TrackAction::Save(fields) = &deed {
            let known = |field: &String| is_cpu(&self.end, field) || find(&self.end, field).is_ok();
            if let Some(unknown) = fields.iter().find(|field| !known(field)) {
                find(&self.end, unknown)?;
            }
        }
        self.tracked.push((when, name.to_owned(), deed));
        Ok(self)
    }

    /// The writes that define the event.
    ///
    /// # Errors
    /// [`SynthError`] if there is no field, or there are too many.
    pub fn plan(&self) -> Result<SyntheticPlan, SynthError> {
        if self.fields.is_empty() {
            return Err(SynthError::NoFields);
        }
        for vars in [&self.start_vars, &self.end_vars] {
            if vars.len() > 16 {
                return Err(SynthError::TooManyVariables(vars.len()));
            }
        }
        let trigger = |keys: &[HistExpr], vars: &[Assign], filter: &Option<String>| HistSpec {
            keys: keys.iter().cloned().map(Into::into).collect(),
            vars: vars.to_vec(),
            filter: filter.clone().map(Into::into),
            size: self.size.map(Into::into),
            ..HistSpec::default()
        };
        let start = trigger(&self.start_keys, &self.start_vars, &self.start_filter);
        let mut end = trigger(&self.end_keys, &self.end_vars, &self.end_filter);
        let args = || {
            let var = |name: &String| ActionArg::Var(VarRef { event: None, name: name.clone() }).into();
            self.args.iter().map(var).collect()
        };
        // As an argument of trace() the kernel takes no name of one letter; as the action's own name it does.
        let keyword = self.name.len() > 1;
        let trace = || Do::Trace { event: self.name.clone().into(), args: args(), keyword };
        if self.tracked.is_empty() {
            let event = (self.start.system.clone(), self.start.name.clone()).into();
            end.actions.push(HandlerAction { when: Reaction::OnMatch { event }, what: trace() }.into());
        }
        for (when, name, deed) in &self.tracked {
            let variable = variable(&self.name, name).into();
            let when = match when {
                Tracking::Max => Reaction::OnMax(variable),
                Tracking::Change => Reaction::OnChange(variable),
            };
            let what = match deed {
                TrackAction::Trace => trace(),
                TrackAction::Snapshot => Do::Snapshot,
                TrackAction::Save(fields) => {
                    Do::Save(fields.iter().map(|f| ActionArg::Field(f.clone()).into()).collect())
                }
            };
            end.actions.push(HandlerAction { when, what }.into());
        }
        let event = |format: &EventFormat| (format.system.clone(), format.name.clone());
        Ok(SyntheticPlan {
            definition: SynthDef { name: self.name.clone(), fields: self.fields.clone() },
            start: (event(&self.start), start),
            end: (event(&self.end), end),
        })
    }

    fn start_variable(&mut self, name: &str, value: HistExpr) -> String {
        let variable = start_variable(&self.name, name);
        self.start_vars.push(Assign { name: variable.clone().into(), value: value.into() });
        variable
    }

    fn end_value(&mut self, name: &str, ty: FieldType, value: HistExpr) -> Result<(), SynthError> {
        if !valid_name(name) {
            return Err(SynthError::Name(name.to_owned()));
        }
        if self.fields.iter().any(|f| f.name == name) {
            return Err(SynthError::Duplicate(name.to_owned()));
        }
        let variable = variable(&self.name, name);
        self.end_vars.push(Assign { name: variable.clone().into(), value: value.into() });
        self.fields.push(SynthField { ty, name: name.to_owned() });
        self.args.push(variable);
        self.trackable.push(name.to_owned());
        Ok(())
    }
}

/// Joins one more filter for `event` to what there is, by `&&`.
pub(super) fn join_filters(filter: &mut Option<String>, event: &EventFormat, more: &str) -> Result<(), SynthError> {
    let more = Filter::for_event(more, event).map_err(|e| SynthError::Filter(Box::new(e)))?.to_string();
    *filter = Some(match filter.take() {
        None => more,
        Some(before) => format!("({before}) && ({more})"),
    });
    Ok(())
}
