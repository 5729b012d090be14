//! The analysis.

use super::super::by_event::ByEvent;
use super::super::hist::{HistPart, HistSetup, HistTrigger, Histograms, SetupError};
use super::super::interface::Analysis;
use super::gathered::{GatheredRows, PairCounts, Program, RowFindings};
use super::value::{ResolvedRowExpr, RowInput};
use crate::base::abi::Abi;
use crate::base::syntax::Diagnostic;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Symbols;
use crate::language::filter::{self, Filter, Subject};
use crate::language::synth::sql::{RowExpr, RowSource, Rows};
use crate::language::synth::{Builder, SynthError};

/// An error in the rows that a statement asks for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// The recording does not describe the event.
    #[error("the recording has no event {0}")]
    NoEvent(String),
    /// A structure or a bitmask.
    #[error("`{0}` is neither a number nor a text")]
    Field(String),
    /// A filter that cannot be decided over recorded events.
    #[error("{0}")]
    Filter(Box<Diagnostic>),
    /// The synthetic event of a JOIN cannot be made.
    #[error(transparent)]
    Joined(#[from] SynthError),
    /// Nor can its triggers be set.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// The rows of a statement, of a buffer of a recording; an [`Analysis`].
pub struct RowAnalysis<'a> {
    program: Program,
    source: RowEvents<'a>,
    symbols: &'a Symbols,
}

enum RowEvents<'a> {
    /// Events of one kind, which pass a filter.
    Event { events: ByEvent<()>, system: String, name: String, filter: Option<filter::FilterProgram> },
    /// Pairs.
    Joined { pairs: Histograms<'a>, abi: Abi },
}

/// The rows after all events so far, or of later ones.
pub struct RowPart {
    gathered: GatheredRows,
    pairs: Option<HistPart>,
}

/// The start's trigger, then the end's.
fn setup(builder: &Builder, kernel_limits: bool) -> Result<HistSetup, SynthError> {
    let plan = builder.plan()?;
    let trigger = |((system, event), spec)| HistTrigger { system, event, spec };
    Ok(HistSetup {
        definitions: vec![plan.definition],
        triggers: vec![trigger(plan.start), trigger(plan.end)],
        keep_fired: true,
        kernel_limits,
        ..HistSetup::default()
    })
}

impl<'a> RowAnalysis<'a> {
    /// The rows of events of a recording, whose tasks `symbols` names. With `kernel_limits` pairs wait in tables with no more
    /// room than the kernel's.
    ///
    /// # Errors
    /// [`RowError`]: what the recording cannot answer.
    pub fn new(
        rows: &Rows,
        formats: &[&EventFormat],
        abi: Abi,
        symbols: &'a Symbols,
        kernel_limits: bool,
    ) -> Result<Self, RowError> {
        match &rows.source {
            RowSource::Event { system, name, filter } => {
                let is_it = |format: &EventFormat| format.system == *system && format.name == *name;
                let format = formats.iter().copied().find(|format| is_it(format));
                let format = format.ok_or_else(|| RowError::NoEvent(format!("{system}:{name}")))?;
                let compiled = filter.as_ref().map(|text| {
                    let filter = Filter::parse(text)?;
                    filter.compile(format, abi, &symbols.kallsyms)
                });
                let filter = compiled.transpose().map_err(|error| RowError::Filter(Box::new(error)))?;
                let events = ByEvent::new(formats.iter().copied(), abi, |format| is_it(format).then_some(()));
                let source = RowEvents::Event { events, system: system.clone(), name: name.clone(), filter };
                Ok(RowAnalysis { program: program(rows, format)?, source, symbols })
            }
            RowSource::Joined(builder) => {
                let pairs = Histograms::new(&setup(builder, kernel_limits)?, formats, abi, symbols)?;
                let Some(format) = pairs.synthetic().first().map(|event| &event.format) else {
                    return Err(RowError::Joined(SynthError::NoFields));
                };
                let program = program(rows, format)?;
                Ok(RowAnalysis { program, source: RowEvents::Joined { pairs, abi }, symbols })
            }
        }
    }

    /// True if all events are to be handed out, not only [those](RowAnalysis::events) that the rows are made of.
    pub fn needs_all_events(&self) -> bool {
        match &self.source {
            RowEvents::Event { .. } => false,
            RowEvents::Joined { pairs, .. } => pairs.needs_all_events(),
        }
    }

    /// The system and name of each event that the rows are made of.
    pub fn events(&self) -> Vec<(&str, &str)> {
        match &self.source {
            RowEvents::Event { system, name, .. } => vec![(system, name)],
            RowEvents::Joined { pairs, .. } => pairs.events(),
        }
    }

    /// Takes an event, or a pair.
    #[inline]
    fn gather(&self, gathered: &mut GatheredRows, record: &Record<'_>, of: (Abi, crate::base::units::Pid)) {
        let moment = RowInput {
            abi: of.0,
            data: record.data,
            time: record.timestamp.0,
            cpu: record.cpu,
            task: of.1,
            comms: &self.symbols.comms,
        };
        gathered.take(&self.program, &moment);
    }

    /// Takes the pairs that were made since the last time.
    fn gather_pairs(&self, part: &mut RowPart) {
        let (RowEvents::Joined { pairs, abi }, Some(made)) = (&self.source, &mut part.pairs) else { return };
        pairs.take_fired(made, |record| self.gather(&mut part.gathered, record, (*abi, crate::base::units::Pid(0))));
    }
}

fn program(rows: &Rows, format: &EventFormat) -> Result<Program, RowError> {
    let compiled = |exprs: &[RowExpr]| -> Result<Vec<ResolvedRowExpr>, RowError> {
        exprs.iter().map(|expr| ResolvedRowExpr::compile(expr, format).map_err(RowError::Field)).collect()
    };
    Ok(Program::new(rows, compiled(&rows.keys)?, compiled(&rows.arguments)?))
}

impl Analysis for RowAnalysis<'_> {
    type Part = RowPart;
    type Finding = RowFindings;

    fn begin(&self) -> RowPart {
        let pairs = match &self.source {
            RowEvents::Event { .. } => None,
            RowEvents::Joined { pairs, .. } => Some(pairs.begin()),
        };
        RowPart { gathered: GatheredRows::default(), pairs }
    }

    fn fork(&self, used: Option<RowPart>) -> RowPart {
        let (mut gathered, used) = used.map_or((GatheredRows::default(), None), |part| (part.gathered, part.pairs));
        gathered.clear();
        let pairs = match &self.source {
            RowEvents::Event { .. } => None,
            RowEvents::Joined { pairs, .. } => Some(pairs.fork(used)),
        };
        RowPart { gathered, pairs }
    }

    #[inline]
    fn record<'n>(&self, record: &Record<'_>, next: impl FnOnce() -> Option<Record<'n>>, part: &mut RowPart) {
        match (&self.source, &mut part.pairs) {
            (RowEvents::Event { events, filter, .. }, _) => {
                if events.of(record).is_none() {
                    return;
                }
                let task = events.task(record);
                let passes = filter.as_ref().is_none_or(|filter| {
                    let comm = if filter.needs_comm() { self.symbols.comms.get(task).unwrap_or_default() } else { b"" };
                    filter.matches(&Subject { data: record.data, cpu: record.cpu, comm, names: &() })
                });
                if passes {
                    self.gather(&mut part.gathered, record, (events.abi, task));
                }
            }
            (RowEvents::Joined { pairs, .. }, Some(made)) => {
                Analysis::record(pairs, record, next, made);
                self.gather_pairs(part);
            }
            (RowEvents::Joined { .. }, None) => {}
        }
    }

    fn merge(&self, known: &mut RowPart, later: &mut RowPart) {
        match (&self.source, &mut known.pairs, &mut later.pairs) {
            (RowEvents::Joined { pairs, .. }, Some(made), Some(more)) => {
                pairs.merge(made, more);
                self.gather_pairs(known);
            }
            _ => known.gathered.merge(&self.program, &mut later.gathered),
        }
    }

    fn finish(self, mut known: RowPart) -> RowFindings {
        let RowAnalysis { program, source, symbols } = self;
        let mut counts = None;
        if let (RowEvents::Joined { pairs, abi }, Some(made)) = (source, known.pairs.take()) {
            let findings = pairs.finish(made);
            for record in findings.fired() {
                let (time, comms) = (record.timestamp.0, &symbols.comms);
                let task = crate::base::units::Pid(0);
                let moment = RowInput { abi, data: record.data, time, cpu: record.cpu, task, comms };
                known.gathered.take(&program, &moment);
            }
            counts = PairCounts::of(&findings);
        }
        RowFindings::new(&program, known.gathered, counts)
    }
}
