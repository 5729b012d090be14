//! The form that all analyses share: arguments, one answer for each buffer, and how it is shown.

use super::file::{FileArgs, TaskArgs};
use super::limits::{AnswerLimits, BufferLimits, Wanted, needed};
use crate::cli::exit::{Exit, Failure};
use crate::cli::page_args::{PageArgs, WritePage};
use crate::cli::query::{ClockUnit, QueryEvents, QueryInput, window_json};
use crate::cli::terminal::{PagerArgs, note, stdout, table_width};
use anyhow::anyhow;
use rtrace::analysis::{Analysis, Grouped, KnownPart, Needs, RowSubject};
use rtrace::internal::answers::{
    AnswerStyle, SMALL_JSON, answer_html, answer_json, answer_markdown, answer_text, csv_heading, csv_rows, json_text,
    markdown_text, put_html,
};
use rtrace::internal::assertion::late_in_words;
use rtrace::internal::table::{Answer, ColumnDefinition};
use rtrace::internal::trace_dat::{Cgroups, Coverage, FileError, WallClock};
use rtrace::recording::BufferSource;
use rtrace::symbols::{Comms, Kallsyms};
use rtrace::units::{Lost, Pid};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;

/// The arguments of every analysis.
#[derive(clap::Args, Default)]
pub(super) struct AnswerArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// More recordings, each with an answer of its own; a window by the wall clock is the same moment in all
    #[arg(value_name = "MORE", conflicts_with_all = ["input", "html"], value_hint = clap::ValueHint::FilePath)]
    more: Vec<PathBuf>,
    /// Number of rows in a table; 0 for all [default: 20; with --json as many as 24 KB hold; all with --csv]
    #[arg(short = 'n', long, alias = "limit", value_name = "N")]
    top: Option<usize>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// The main table as comma-separated values instead of text; times in the clock's unit
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Markdown instead of text, all columns, for a pull request
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    markdown: bool,
    /// All columns, also where the terminal is too narrow for them
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown"])]
    wide: bool,
    #[command(flatten)]
    pub(super) page: PageArgs,
    #[command(flatten)]
    pub(super) pager: PagerArgs,
}

impl AnswerArgs {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>, (markdown, wide): (bool, bool)) -> Self {
        AnswerArgs { top, markdown, wide, ..AnswerArgs::default() }
    }

    /// The recordings to answer from, in the order of the command line.
    fn files(&self) -> Vec<FileArgs> {
        let more = self.more.iter().map(|path| {
            let mut file = self.file.clone();
            file.name(path.clone());
            file
        });
        [self.file.clone()].into_iter().chain(more).collect()
    }

    /// Number of rows that was asked for; 0 for all.
    pub(super) fn rows(&self) -> Option<usize> {
        self.top
    }

    /// The form of the answer.
    pub(super) fn form(&self) -> Form {
        match self {
            AnswerArgs { json: true, .. } => Form::Json,
            AnswerArgs { csv: true, .. } => Form::Csv,
            AnswerArgs { markdown: true, .. } => Form::Markdown,
            _ => Form::Text,
        }
    }

    pub(super) fn style(&self, unit: ClockUnit) -> AnswerStyle {
        AnswerStyle { unit, width: table_width(self.wide) }
    }
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
    Csv,
    Markdown,
}

/// Rows in a table of text or JSON, unless the user says otherwise.
const ROWS: usize = 20;

/// A buffer, and what its answer needs to be read.
#[derive(Clone)]
pub(super) struct AnswerPlace<'a> {
    /// Its name; of the top buffer empty.
    pub(super) buffer: &'a str,
    pub(super) clock: &'a str,
    pub(super) unit: ClockUnit,
    /// Local time by the buffer's clock, if the recording knows it.
    wall: Option<WallClock>,
    comms: &'a Comms,
    /// The cgroups of its tasks, if they were recorded.
    pub(super) cgroups: Option<Rc<Cgroups>>,
    pub(super) limits: Rc<BufferLimits>,
    /// The events that were lost, of all buffers.
    lost: Lost,
}

impl<'a> AnswerPlace<'a> {
    /// Of a source of `events`.
    ///
    /// # Errors
    /// As [`BufferLimits::of`].
    pub(super) fn of(events: &QueryEvents<'a>, source: &BufferSource) -> Result<Self, FileError> {
        let input = &events.inputs[source.recording];
        let buffer = &input.trace.buffers[source.buffer];
        let unit = events.unit(source);
        let wall = source.wall_clock(events.query.recordings());
        let limits = Rc::new(BufferLimits::of(&events.query, input, source)?);
        let cgroups = input.trace.cgroups(&source.time).map(Rc::new);
        let comms = &input.symbols.comms;
        let (buffer, clock) = (&buffer.name, &buffer.clock);
        Ok(AnswerPlace { buffer, clock, unit, wall, comms, cgroups, limits, lost: Lost::None })
    }

    /// The name of a task, which the recording keeps one of for each pid. A kernel's worker has in its place what it last
    /// worked at too (`kworker/0:2-events`): its events have the name alone.
    pub(super) fn comm(&self, pid: Pid) -> Option<String> {
        let comm = self.comms.get(pid).map(|comm| String::from_utf8_lossy(comm).into_owned())?;
        let work = comm.starts_with("kworker/").then(|| comm.find(['-', '+'])).flatten();
        Some(comm[..work.unwrap_or(comm.len())].to_owned())
    }

    /// `sh [7]`; of a task without a name only its number.
    pub(super) fn task(&self, pid: Pid) -> String {
        self.comm(pid).map_or_else(|| format!("[{pid}]"), |comm| format!("{comm} [{pid}]"))
    }
}

/// The line and the notes above an answer.
#[derive(Default)]
pub(super) struct Outline {
    /// Begin and end of what was looked at.
    pub(super) window: Option<(u64, u64)>,
    /// The number of events, tasks and CPUs that were found in the window, in words.
    pub(super) extent: Vec<String>,
    /// True if events were lost.
    pub(super) lost: bool,
    /// Sentences that the numbers need to be understood.
    pub(super) notes: Vec<String>,
}

/// One buffer's answer.
pub(super) struct AnalysisAnswer<'a, R> {
    pub(super) place: AnswerPlace<'a>,
    pub(super) input: &'a QueryInput,
    pub(super) report: R,
    outline: Outline,
    /// Limits of its buffer.
    pub(super) limits: AnswerLimits,
}

impl<R> AnalysisAnswer<'_, R> {
    /// The names of the kernel's addresses.
    pub(super) fn kallsyms(&self) -> &Kallsyms {
        &self.input.symbols.kallsyms
    }

    /// Degrees to which numbers are known.
    pub(super) fn known(&self) -> impl Fn(&str, RowSubject) -> KnownPart + '_ {
        |number, subject| self.limits.known(number, subject)
    }

    /// Begin and end of the time that it is about.
    pub(super) fn window(&self) -> Option<(u64, u64)> {
        self.outline.window
    }

    /// The time between begin and end of the window.
    pub(super) fn length(&self) -> u64 {
        self.outline.window.map_or(0, |(begin, end)| end.saturating_sub(begin))
    }
}

/// A row of a table, and the answer that it belongs to.
pub(super) struct Row<'a, R, T> {
    pub(super) found: &'a AnalysisAnswer<'a, R>,
    pub(super) of: T,
}

/// Rows of an answer.
pub(super) fn rows<'a, R, T: 'a>(
    found: &'a AnalysisAnswer<'a, R>,
    of: impl IntoIterator<Item = T> + 'a,
) -> impl Iterator<Item = Row<'a, R, T>> {
    of.into_iter().map(move |of| Row { found, of })
}

/// A question to the events of a recording, and its answer.
pub(super) trait Question: Sized {
    type Analysis: Analysis + Clone;
    /// The word of `record --for` for the events that it needs, and of `analyze` for itself.
    const PURPOSE: &'static str;
    /// Name of the events that a recording without an answer lacks.
    const LACKING: &'static str;
    /// The events that its numbers need.
    const NEEDS: &'static [Needs];
    /// The usual cause if the events were recorded and none came.
    const SILENT: Option<&'static str> = None;

    fn shown(&self) -> &AnswerArgs;
    /// An error of the arguments that only the recording shows.
    fn check(&self, _input: &QueryInput) -> Result<(), Failure> {
        Ok(())
    }
    /// The analysis of `input`; `None` if that cannot hold the events for it.
    fn analysis(&self, input: &QueryInput) -> Option<Self::Analysis>;
    /// The same of a buffer that holds a part of what happened.
    fn covering(analysis: Self::Analysis, _coverage: &Coverage) -> Self::Analysis {
        analysis
    }
    /// The lines above the answer; `None` if the buffer holds no such events in the window.
    fn outline(report: &QuestionFinding<Self>) -> Option<Outline>;
    /// Tables of `top` rows; 0 for all.
    fn answer(&self, found: &AnalysisAnswer<'_, QuestionFinding<Self>>, top: usize) -> Answer;
    /// The columns' definitions, as documents print them.
    fn definitions() -> Vec<ColumnDefinition>;
    /// The tasks that count.
    fn tasks(&self) -> Option<&TaskArgs> {
        None
    }
    /// The reason why none of what the answers are about is among the rows that were asked for.
    fn absent(&self, _found: &[AnalysisAnswer<'_, QuestionFinding<Self>>]) -> Option<String> {
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
type QuestionFinding<Q> = <<Q as Question>::Analysis as Analysis>::Finding;

/// The answers of a question, a buffer each.
pub(super) type Found<'e, Q> = Vec<AnalysisAnswer<'e, QuestionFinding<Q>>>;

/// Asks the question and shows the answer, of one recording after the other.
pub(super) fn run<Q: Question>(question: &Q, write_page: WritePage<'_>) -> Result<Exit, Failure> {
    let shown = question.shown();
    shown.page.check()?;
    let _pager = shown.pager.start();
    let files = shown.files();
    let (mut exit, mut documents, mut before) = (Exit::Success, Vec::new(), AnswersAbove::None);
    for file in &files {
        let one = match ask(question, file, write_page, (&mut documents, &mut before)) {
            Ok(one) => one,
            Err(failure) if files.len() == 1 => return Err(failure),
            // The others have answers all the same.
            Err(failure) => failure.tell(),
        };
        exit = if exit == Exit::Success { one } else { exit };
    }
    if let Some(document) = AnalysisDocument::joined(documents, files.len() == 1) {
        stdout().write_all(bounded(shown.top, |size| document.json(size)).as_bytes())?;
    }
    Ok(exit)
}

/// Answers that stand above one already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswersAbove {
    None,
    /// Those of other recordings.
    Some,
}

/// The answer of one recording: as JSON it becomes one of `documents`, else it is printed.
fn ask<Q: Question>(
    question: &Q,
    file: &FileArgs,
    write_page: WritePage<'_>,
    (documents, before): (&mut Vec<AnalysisDocument>, &mut AnswersAbove),
) -> Result<Exit, Failure> {
    let shown = question.shown();
    file.print(|events, out| {
        let input = &events.inputs[0];
        question.check(input)?;
        question.tasks().map_or(Ok(()), |tasks| tasks.check(input))?;
        let analysis = question.analysis(input).ok_or_else(|| lacking::<Q>(input))?;
        let mut found = found::<Q>(input, answers(events, |coverage| Q::covering(analysis.clone(), coverage))?);
        if let Some(unsure) = question.tasks().and_then(|tasks| tasks.unsure(input)) {
            found.iter_mut().for_each(|found| found.outline.notes.push(unsure.clone()));
        }
        if found.is_empty() {
            return Err(question.nothing(input));
        }
        if let Some(reason) = question.absent(&found) {
            note!("rtrace: {}: {reason}", input.path.display());
        }
        if let Some(path) = shown.page.path() {
            write_page(path, events, Some((Q::PURPOSE.to_owned(), html(question, &found))))?;
        }
        match shown.form() {
            Form::Json => documents.push(AnalysisDocument::of(question, input, &found, shown.top)),
            Form::Csv => csv(question, &found, *before, out)?,
            Form::Text | Form::Markdown => {
                if !shown.more.is_empty() && !shown.markdown && !question.is_bare() {
                    let space = if *before == AnswersAbove::Some { "\n" } else { "" };
                    writeln!(out, "{space}Recording: {}", input.path.display())?;
                }
                text(question, &found, out)?;
            }
        }
        *before = AnswersAbove::Some;
        Ok(())
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
    let (found, outcome) = events.analysed(Grouped::by_buffer(analyses))?;
    let lost = match outcome.gaps > 0 || outcome.damage.count > 0 {
        true => Lost::Unknown,
        false => Lost::Count(outcome.lost),
    };
    Ok(places.into_iter().map(|place| AnswerPlace { lost, ..place }).zip(found).collect())
}

/// The answers of the buffers that have one.
pub(super) fn found<'e, Q: Question>(
    input: &'e QueryInput,
    answers: Vec<(AnswerPlace<'e>, QuestionFinding<Q>)>,
) -> Found<'e, Q> {
    let answer = |(place, report): (AnswerPlace<'e>, _)| {
        let outline = Q::outline(&report)?;
        let lost = if outline.lost { place.lost } else { Lost::None };
        let limits = AnswerLimits::of(place.limits.clone(), Q::NEEDS, lost);
        Some(AnalysisAnswer { place, input, report, outline, limits })
    };
    answers.into_iter().filter_map(answer).collect()
}

/// The error that a recording has nothing to answer from.
pub(super) fn lacking<Q: Question>(input: &QueryInput) -> Failure {
    let error = anyhow!("{} holds no {}", input.path.display(), Q::LACKING);
    let limits = input.trace.buffers.iter().flat_map(|buffer| input.trace.coverage(buffer).limits(needed(Q::NEEDS)));
    let failure = limits.fold(Failure::new(Exit::Failed, error), Failure::hint);
    let query = input.recording.query();
    let in_ticks = query.sources().iter().any(|source| source.in_ticks);
    if let Some(late) = late_in_words(&query.late_begins().unwrap_or_default(), in_ticks) {
        let error = anyhow!("{} does not tell of {} in all of its time", input.path.display(), Q::LACKING);
        return Failure::new(Exit::Failed, error).hint(late);
    }
    let wanted = Wanted::of(input, Q::NEEDS);
    let failure = wanted.sentence().into_iter().fold(failure, Failure::hint);
    match (wanted.is_complete(), Q::SILENT) {
        (true, Some(why)) => failure.hint(why),
        (true, None) => failure,
        (false, _) => failure.hint(format!("`rtrace record --for {}` records what is needed.", Q::PURPOSE)),
    }
}

/// The answers of a question, ready to be a JSON document.
pub(super) struct AnalysisDocument {
    purpose: &'static str,
    /// The recordings that have an answer.
    files: Vec<String>,
    /// True if several were asked for.
    is_of_several: bool,
    /// By buffer: what is known of it, and its answer.
    buffers: Vec<(Value, Option<WallClock>, Answer)>,
}

/// The size of a document: rows of each table, and buffers.
pub(super) type DocumentSize = (usize, usize);

impl AnalysisDocument {
    pub(super) fn of<Q: Question>(
        question: &Q,
        input: &QueryInput,
        found: &[AnalysisAnswer<'_, QuestionFinding<Q>>],
        top: Option<usize>,
    ) -> Self {
        let buffer = |found: &AnalysisAnswer<'_, QuestionFinding<Q>>| {
            let AnalysisAnswer { place, outline, .. } = found;
            let known = json!({
                "buffer": place.buffer,
                "clock": place.clock,
                "unit": place.unit.name(),
                "window": outline.window.map(|(begin, end)| window_json(begin, end, place.wall)),
            });
            (known, place.wall, answer(question, found, top.unwrap_or(ROWS)))
        };
        let buffers = found.iter().map(buffer).collect();
        AnalysisDocument {
            purpose: Q::PURPOSE,
            files: vec![input.path.to_string_lossy().into_owned()],
            is_of_several: false,
            buffers,
        }
    }

    /// One document of all; each buffer names its recording if there are several. `None` of none.
    fn joined(mut documents: Vec<Self>, is_one: bool) -> Option<Self> {
        for document in documents.iter_mut().filter(|_| !is_one) {
            let file = document.files.concat();
            document.is_of_several = true;
            document.buffers.iter_mut().for_each(|(known, ..)| known["file"] = json!(file));
        }
        documents.into_iter().reduce(|mut all, one| {
            all.files.extend(one.files);
            all.buffers.extend(one.buffers);
            all
        })
    }

    /// The document; all times in the buffer's unit.
    pub(super) fn json(&self, (rows, buffers): DocumentSize) -> Value {
        let mut truncated = buffers < self.buffers.len();
        let buffer = |(known, wall, answer): &(Value, Option<WallClock>, Answer)| {
            let mut members = answer_json(answer, rows, *wall);
            truncated |= members.contains_key("total");
            let known = known.as_object().cloned().unwrap_or_default();
            members.extend(known);
            Value::Object(members)
        };
        let shown: Vec<Value> = self.buffers.iter().take(buffers).map(buffer).collect();
        let mut document = json!({
            "schema": format!("rtrace.analyze.{}", self.purpose),
            "version": 1,
            "buffers": shown,
            "truncated": truncated,
        });
        match self.is_of_several {
            true => document["files"] = json!(self.files),
            false => document["file"] = json!(self.files.concat()),
        }
        if truncated {
            document["more"] = json!("--top 0");
        }
        if buffers < self.buffers.len() {
            document["total"] = json!({"buffers": self.buffers.len()});
        }
        document
    }
}

/// The text of a document: with `top` rows, or as many as a small document holds.
pub(super) fn bounded(top: Option<usize>, document: impl Fn(DocumentSize) -> Value) -> String {
    const SIZES: [DocumentSize; 9] = [
        (10, usize::MAX),
        (7, usize::MAX),
        (5, usize::MAX),
        (3, usize::MAX),
        (2, usize::MAX),
        (1, usize::MAX),
        (0, 16),
        (0, 4),
        (0, 1),
    ];
    let mut text = json_text(&document((usize::MAX, usize::MAX)));
    if top.is_none() {
        for size in SIZES {
            if text.len() <= SMALL_JSON {
                break;
            }
            text = json_text(&document(size));
        }
    }
    text
}

/// The tables of an answer, with the notes on what its numbers are of.
fn answer<Q: Question>(question: &Q, found: &AnalysisAnswer<'_, QuestionFinding<Q>>, top: usize) -> Answer {
    let mut answer = question.answer(found, top);
    for note in found.limits.sentences().into_iter().chain(found.outline.notes.iter().cloned()) {
        if !answer.notes.contains(&note) {
            answer.notes.push(note);
        }
    }
    answer
}

/// The main tables of all answers as comma-separated values.
fn csv<Q: Question>(
    question: &Q,
    found: &[AnalysisAnswer<'_, QuestionFinding<Q>>],
    before: AnswersAbove,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let is_of_several = !question.shown().more.is_empty();
    for (number, found) in found.iter().enumerate() {
        let answer = question.answer(found, question.shown().top.unwrap_or(0));
        let Some(grid) = answer.csv() else { continue };
        let file = found.input.path.to_string_lossy();
        let (names, cells): (&[&str], &[&str]) = match is_of_several {
            true => (&["file", "buffer"], &[&file, found.place.buffer]),
            false => (&["buffer"], &[found.place.buffer]),
        };
        if number == 0 && before == AnswersAbove::None {
            csv_heading(grid, names, out)?;
        }
        csv_rows(grid, cells, out)?;
    }
    Ok(())
}

/// The answers as HTML, each below its instance's name and window.
pub(super) fn html<Q: Question>(question: &Q, found: &[AnalysisAnswer<'_, QuestionFinding<Q>>]) -> String {
    let mut out = String::new();
    let paragraph = |of: &str, text: &str, out: &mut String| {
        out.push_str(of);
        put_html(text, out);
        out.push_str("</p>\n");
    };
    for found in found {
        let AnswerPlace { buffer, unit, .. } = &found.place;
        if !buffer.is_empty() {
            paragraph("<p>", &format!("Instance: {buffer}"), &mut out);
        }
        let (begin, end) = found.outline.window.unwrap_or_default();
        let (length, name) = (unit.long(end.saturating_sub(begin)), unit.long_name());
        let parts = found.limits.found(found.outline.extent.clone()).join("; ");
        let window = format!("{} to {}, {length} {name}; {parts}", unit.point(begin), unit.point(end));
        paragraph("<p>", &window, &mut out);
        let answer = answer(question, found, question.shown().top.unwrap_or(ROWS));
        answer.notes.iter().for_each(|note| paragraph("<p class=\"note\">Note: ", note, &mut out));
        answer_html(&answer, *unit, &mut out);
    }
    out
}

/// Writes each answer as text, with an empty line between two and the instance's name above; or as Markdown.
pub(super) fn text<Q: Question>(
    question: &Q,
    found: &[AnalysisAnswer<'_, QuestionFinding<Q>>],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let shown = question.shown();
    for (number, found) in found.iter().enumerate() {
        let unit = found.place.unit;
        let answer = answer(question, found, shown.top.unwrap_or(ROWS));
        if number > 0 && !question.is_bare() {
            writeln!(out)?;
        }
        if shown.markdown {
            let name = markdown_text(&found.input.path.to_string_lossy());
            writeln!(out, "### rtrace analyze {}: {name}", Q::PURPOSE)?;
            for line in head(&answer, found) {
                writeln!(out, "\n{}", markdown_text(&line))?;
            }
            answer_markdown(&answer, unit, out)?;
            continue;
        }
        if !question.is_bare() {
            head(&answer, found).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        answer_text(&answer, shown.style(unit), out)?;
    }
    Ok(())
}

/// The lines above the tables of an answer.
fn head<R>(answer: &Answer, found: &AnalysisAnswer<'_, R>) -> Vec<String> {
    let AnswerPlace { buffer, unit, .. } = &found.place;
    let (begin, end) = found.outline.window.unwrap_or_default();
    let (length, name) = (unit.long(end.saturating_sub(begin)), unit.long_name());
    let parts = found.limits.found(found.outline.extent.clone()).join("; ");
    let window = format!("Window: {} to {}, {length} {name}; {parts}", unit.point(begin), unit.point(end));
    let instance = (!buffer.is_empty()).then(|| format!("Instance: {buffer}"));
    let notes = answer.notes.iter().map(|note| format!("Note: {note}"));
    instance.into_iter().chain([window]).chain(notes).collect()
}
