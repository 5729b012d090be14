//! The form that all analyses share: arguments, one answer for each buffer, and its JSON, CSV and text.

use super::FileArgs;
use super::limits::{AnswerLimits, needed};
use super::place::AnswerPlace;
use super::tasks::TaskArgs;
use super::words::quoted;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{QueryEvents, QueryInput};
use anyhow::anyhow;
use rtrace::analysis::{Analysis, Grouped, Needs, RowSubject};
use rtrace::internal::trace_dat::Coverage;
use rtrace::units::CpuId;
use serde_json::{Value, json};
use std::io::Write;

/// The arguments of every analysis.
#[derive(clap::Args, Default)]
pub(super) struct AnswerArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Number of rows in a table; 0 for all [default: 20; all with --json and --csv]
    #[arg(long, alias = "limit", value_name = "N")]
    top: Option<usize>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// The main table as comma-separated values instead of text; times in the clock's unit
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

impl AnswerArgs {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>) -> Self {
        AnswerArgs { top, ..AnswerArgs::default() }
    }

    /// The form of an answer that is written while the events are read.
    pub(super) fn form(&self) -> Form {
        match (self.json, self.csv) {
            (true, _) => Form::Json,
            (_, true) => Form::Csv,
            _ => Form::Text,
        }
    }

    /// The recording.
    pub(super) fn file(&self) -> &FileArgs {
        &self.file
    }

    /// Rows in a table of text; 0 for all.
    fn text_rows(&self) -> usize {
        self.top.unwrap_or(20)
    }

    /// Rows in JSON and CSV; 0 for all.
    fn data_rows(&self) -> usize {
        self.top.unwrap_or(0)
    }
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
    Csv,
}

/// One buffer's answer.
pub(super) struct AnalysisAnswer<'a, R> {
    pub(super) place: AnswerPlace<'a>,
    pub(super) input: &'a QueryInput,
    pub(super) report: R,
    /// Limits of its buffer.
    pub(super) limits: AnswerLimits,
}

/// A question to the events of a recording, and how its answer is shown. `top` is a number of rows; 0 for all.
pub(super) trait Question: Sized {
    type Analysis: Analysis + Clone;
    /// The word of `record --for` for the events that it needs, and of `analyze` for itself.
    const PURPOSE: &'static str;
    /// Name of the events that a recording without an answer lacks.
    const LACKING: &'static str;
    /// The columns of the main table as CSV, after `buffer`.
    const COLUMNS: &'static str;
    /// The events that its numbers need.
    const NEEDS: &'static [Needs];
    /// The numbers of [`Question::COLUMNS`] by their names in JSON; empty for a name.
    const NUMBERS: &'static [&'static str];

    fn shown(&self) -> &AnswerArgs;
    /// The analysis of `input`; `None` if that cannot hold the events for it.
    fn analysis(&self, input: &QueryInput) -> Option<Self::Analysis>;
    /// The same of a buffer that holds a part of what happened.
    fn covering(analysis: Self::Analysis, _coverage: &Coverage) -> Self::Analysis {
        analysis
    }
    /// True if events were lost.
    fn lost(report: &QuestionFinding<Self>) -> bool;
    /// False if the buffer holds no such events in the window.
    fn is_answer(report: &QuestionFinding<Self>) -> bool;
    /// Begin and end of what was looked at.
    fn window(report: &QuestionFinding<Self>) -> Option<(u64, u64)>;
    /// The number of events, tasks and CPUs that were found in the window, in words.
    fn extent(report: &QuestionFinding<Self>) -> Vec<String>;
    /// Sentences that the numbers need to be understood.
    fn notes(report: &QuestionFinding<Self>) -> Vec<String>;
    /// The answer as an object, but for the buffer, its clock, the window and the notes.
    fn json(&self, found: &AnalysisAnswer<'_, QuestionFinding<Self>>, top: usize) -> Value;
    /// The columns of the table that is asked for as CSV, after `buffer`.
    fn columns(&self) -> &'static str {
        Self::COLUMNS
    }
    /// The numbers of [`Question::columns`].
    fn numbers(&self) -> &'static [&'static str] {
        Self::NUMBERS
    }
    /// A task as the subject of numbers.
    fn task(_found: &AnalysisAnswer<'_, QuestionFinding<Self>>, _pid: i32) -> RowSubject {
        RowSubject::All
    }
    /// That table, mostly the main one, as cells of [`Question::columns`].
    fn csv(&self, found: &AnalysisAnswer<'_, QuestionFinding<Self>>, top: usize) -> Vec<Vec<String>>;
    /// The answer as text, but for the window and the notes.
    fn text(
        &self,
        found: &AnalysisAnswer<'_, QuestionFinding<Self>>,
        top: usize,
        out: &mut dyn Write,
    ) -> Result<(), Failure>;
    /// The tasks that count.
    fn tasks(&self) -> Option<&TaskArgs> {
        None
    }
    /// The error that nothing of what was asked for is there: in the recording, or in the part that was chosen.
    fn nothing(&self, input: &QueryInput) -> Failure {
        let tasks = if self.tasks().is_some_and(|tasks| !tasks.is_empty()) { " of these tasks" } else { "" };
        let window = if self.shown().file.is_whole() { "" } else { " in this window" };
        if tasks.is_empty() && window.is_empty() {
            return lacking::<Self>(input);
        }
        let error = anyhow!("{} holds no {}{tasks}{window}", input.path.display(), Self::LACKING);
        let hint = format!("`rtrace analyze {}` without these options takes the whole recording.", Self::PURPOSE);
        Failure::new(Exit::Failed, error).hint(hint)
    }
    /// True if the text is for another program: it stands alone then.
    fn is_bare(&self) -> bool {
        false
    }
}

/// Findings of a question's analysis.
pub(super) type QuestionFinding<Q> = <<Q as Question>::Analysis as Analysis>::Finding;

/// Asks the question and shows the answer.
pub(super) fn run<Q: Question>(question: &Q) -> Result<Exit, Failure> {
    let shown = question.shown();
    shown.file.print(|events, out| {
        let input = &events.inputs[0];
        let analysis = question.analysis(input).ok_or_else(|| lacking::<Q>(input))?;
        let found = found::<Q>(input, answers(events, |coverage| Q::covering(analysis.clone(), coverage))?);
        if found.is_empty() {
            return Err(question.nothing(input));
        }
        if shown.json {
            return Ok(writeln!(out, "{:#}", document(question, input, &found))?);
        }
        if shown.csv {
            return csv(question, &found, out);
        }
        each(question, &found, out)
    })
}

/// Findings buffer by buffer, of the analysis of each by what it holds.
pub(super) fn answers<'e, A: Analysis>(
    events: &QueryEvents<'e>,
    analysis: impl Fn(&Coverage) -> A,
) -> Result<Vec<(AnswerPlace<'e>, A::Finding)>, Failure> {
    let sources = events.query.sources();
    let place = |source| AnswerPlace::of(events, source);
    let places = sources.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let analyses = places.iter().map(|place| analysis(&place.limits.coverage)).collect();
    let found = events.analyse(Grouped::by_buffer(analyses))?;
    Ok(places.into_iter().zip(found).collect())
}

/// The answers of the buffers that have one.
pub(super) fn found<'e, Q: Question>(
    input: &'e QueryInput,
    answers: Vec<(AnswerPlace<'e>, QuestionFinding<Q>)>,
) -> Vec<AnalysisAnswer<'e, QuestionFinding<Q>>> {
    let answers = answers.into_iter().filter(|(_, report)| Q::is_answer(report));
    let answer = |(place, report): (AnswerPlace<'e>, _)| {
        let limits = AnswerLimits::of(place.limits.clone(), Q::NEEDS, Q::lost(&report));
        AnalysisAnswer { place, input, report, limits }
    };
    answers.map(answer).collect()
}

/// The error that a recording has nothing to answer from.
pub(super) fn lacking<Q: Question>(input: &QueryInput) -> Failure {
    let error = anyhow!("{} holds no {}", input.path.display(), Q::LACKING);
    let limits = input.trace.buffers.iter().flat_map(|buffer| input.trace.coverage(buffer).limits(needed(Q::NEEDS)));
    let failure = limits.fold(Failure::new(Exit::Failed, error), Failure::hint);
    failure.hint(format!("`rtrace record --for {}` records what is needed.", Q::PURPOSE))
}

/// All answers as one JSON document; all times in the buffer's unit.
pub(super) fn document<Q: Question>(
    question: &Q,
    input: &QueryInput,
    found: &[AnalysisAnswer<'_, QuestionFinding<Q>>],
) -> Value {
    let buffer = |found: &AnalysisAnswer<'_, QuestionFinding<Q>>| {
        let (place, report) = (&found.place, &found.report);
        let mut document = json!({
            "buffer": place.buffer,
            "clock": place.clock,
            "unit": place.unit.name(),
            "window": Q::window(report).map(|(begin, end)| json!({"begin": begin, "end": end})),
            "notes": (found.limits.sentences().into_iter().chain(Q::notes(report)).collect::<Vec<_>>()),
        });
        let mut answer = question.json(found, question.shown().data_rows());
        let at_least = found.limits.json(&mut answer, |pid| Q::task(found, pid));
        if !at_least.is_empty() {
            document["at_least"] = json!(at_least);
        }
        if let (Value::Object(document), Value::Object(mut answer)) = (&mut document, answer) {
            document.append(&mut answer);
        }
        document
    };
    json!({
        "schema": format!("rtrace.analyze.{}", Q::PURPOSE),
        "version": 1,
        "file": input.path.to_string_lossy(),
        "buffers": found.iter().map(buffer).collect::<Vec<_>>(),
    })
}

/// The main tables of all answers as comma-separated values.
fn csv<Q: Question>(
    question: &Q,
    found: &[AnalysisAnswer<'_, QuestionFinding<Q>>],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(out, "buffer,{}", question.columns())?;
    for found in found {
        let buffer = quoted(found.place.buffer);
        for row in question.csv(found, question.shown().data_rows()) {
            let subject = subject::<Q>(question, found, &row);
            let row = found.limits.csv_row(subject, question.numbers(), row);
            let cells: Vec<String> = row.iter().map(|cell| quoted(cell)).collect();
            writeln!(out, "{buffer},{}", cells.join(","))?;
        }
    }
    Ok(())
}

/// The subject of a row of the table that is asked for as CSV.
fn subject<Q: Question>(question: &Q, found: &AnalysisAnswer<'_, QuestionFinding<Q>>, row: &[String]) -> RowSubject {
    let number = |name: &str| {
        let column = question.columns().split(',').take(2).position(|column| column == name)?;
        row.get(column)?.parse::<i32>().ok()
    };
    match (number("pid"), number("cpu")) {
        (Some(pid), _) => Q::task(found, pid),
        (_, Some(cpu)) => RowSubject::Cpu(CpuId(cpu.unsigned_abs())),
        _ => RowSubject::All,
    }
}

/// Writes each answer as text, with an empty line between two and the instance's name above.
pub(super) fn each<Q: Question>(
    question: &Q,
    found: &[AnalysisAnswer<'_, QuestionFinding<Q>>],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    for (number, found) in found.iter().enumerate() {
        if !question.is_bare() {
            if number > 0 {
                writeln!(out)?;
            }
            let (place, report) = (&found.place, &found.report);
            if !place.buffer.is_empty() {
                writeln!(out, "Instance: {}", place.buffer)?;
            }
            place.window(Q::window(report), &found.limits.found(Q::extent(report)), out)?;
            for note in found.limits.sentences().into_iter().chain(Q::notes(report)) {
                writeln!(out, "Note: {note}")?;
            }
        }
        question.text(found, question.shown().text_rows(), out)?;
    }
    Ok(())
}
