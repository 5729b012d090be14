//! `rtrace synth sql -i FILE` and `synth create -i FILE`: a statement, or an event's parts, about the events of a recording.

use super::argument::builder_failure;
use super::rows;
use crate::cli::convert::{ALL, RecordingCopy, write_edited};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{Answered, HistOutputArgs, RecordedArgs, show_table};
use crate::cli::piped;
use crate::cli::piped::{named, say_of};
use crate::cli::query::QueryInput;
use crate::cli::terminal::stdout;
use crate::cli::trace_file::{Overwrite, open};
use anyhow::anyhow;
use rtrace::analysis::{HistSetup, HistTrigger};
use rtrace::event::{Number, Record, TypedEvent, Value};
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::write::{Edit, StoredRecord};
use rtrace::synth::SyntheticPlan;
use rtrace::synth::sql::Lowered;
use rtrace::units::{CpuId, Timestamp, counted, grouped};
use serde_json::{Map, json};
use std::collections::{HashMap, VecDeque};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The recording that is asked, and the form of the answer.
#[derive(clap::Args)]
pub(super) struct SynthRecordedArgs {
    #[command(flatten)]
    pub(super) recorded: RecordedArgs,
    /// With -i: JSON instead of text, of events a line each
    #[arg(long, requires = "input")]
    json: bool,
    /// With -i: fail (4) if more than N events were lost
    #[arg(long, value_name = "N", requires = "input")]
    max_lost: Option<u64>,
    /// With -i: write the events that are made beside the recorded ones to FILE, a recording
    #[arg(short, long, value_name = "FILE", requires = "input", conflicts_with = "json", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
}

/// Prints the answer to what `meaning` finds in the recording: the synthetic events that fire, a histogram, or rows.
pub(super) fn answer(
    args: &SynthRecordedArgs,
    csv: bool,
    meaning: impl Fn(&QueryInput) -> Result<Lowered, Failure>,
) -> Result<Exit, Failure> {
    let SynthRecordedArgs { recorded, json, max_lost, output: file, overwrite } = args;
    let (output, file, overwrite) = (&HistOutputArgs::of(*json, csv, *max_lost), file.as_deref(), *overwrite);
    let mut made = None;
    if let Some(file) = file {
        piped::check(file, output.is_json())?;
        overwrite.check(file)?;
        if recorded.is_part() {
            let error = anyhow!("-o writes all of the recording, whatever --since, --until and --around say");
            let failure = Failure::new(Exit::Usage, error);
            return Err(failure.hint("`rtrace split` cuts a part of the time out of a recording."));
        }
    }
    let exit = recorded.look(recorded.file().unwrap_or(Path::new("trace.dat")), |query, input, buffer| {
        let meaning = meaning(input)?;
        if file.is_some() && !matches!(meaning, Lowered::Synth(_)) {
            let error = anyhow!("only a statement with JOIN makes events that a recording can hold");
            let failure = Failure::new(Exit::Usage, error);
            return Err(failure.hint("One with functions, groups, an order or a limit makes a table."));
        }
        let failure = |error| Failure::new(Exit::Usage, anyhow!("{error}"));
        match meaning {
            Lowered::Rows(rows) => rows::answer(recorded, output, &rows, (query, input)),
            Lowered::Hist((system, event), spec) => {
                let triggers = vec![HistTrigger { system, event, spec }];
                let setup = HistSetup { triggers, ..HistSetup::default() };
                recorded.answer((query, input, buffer), setup, failure, |answered| {
                    show_table(answered, 0, output)?;
                    Ok(Exit::Success)
                })
            }
            Lowered::Synth(builder) => {
                let setup = setup(builder.plan().map_err(builder_failure)?);
                recorded.answer((query, input, buffer), setup, failure, |answered| {
                    match file {
                        Some(_) => made = Inserted::of(answered),
                        None => fired(answered, output)?,
                    }
                    answered.note_losses(output.max_lost())?;
                    Ok(Exit::Success)
                })
            }
        }
    })?;
    match (recorded.file(), file, made) {
        (Some(input), Some(file), Some(made)) => made.write((input, file), overwrite, exit),
        _ => Ok(exit),
    }
}

/// The first event of that name, in whatever system.
pub(super) fn find<'i>(input: &'i QueryInput, system: Option<&str>, event: &str) -> Option<&'i EventFormat> {
    input.formats().find(|format| format.name == event && system.is_none_or(|system| format.system == system))
}

fn setup(plan: SyntheticPlan) -> HistSetup {
    let trigger = |((system, event), spec)| HistTrigger { system, event, spec };
    HistSetup {
        definitions: vec![plan.definition],
        triggers: vec![trigger(plan.start), trigger(plan.end)],
        keep_fired: true,
        ..HistSetup::default()
    }
}

/// The synthetic events, a line each.
fn fired(answered: &Answered<'_>, output: &HistOutputArgs) -> Result<(), Failure> {
    let Some(format) = answered.findings.synthetic().first() else {
        return Err(anyhow!("the statement makes no event").into());
    };
    let typed = TypedEvent::new(&format.format);
    let mut out = BufWriter::new(stdout().lock());
    for record in answered.findings.fired() {
        if output.is_json() {
            line_of_json(&typed, &record, answered, &mut out)?
        } else {
            line(&typed, &record, answered, &mut out)?
        }
    }
    Ok(out.flush()?)
}

/// As report prints events: `ls-793 [001] 1716.044205: answer: lat=12 comm=ls`.
fn line(event: &TypedEvent, record: &Record<'_>, answered: &Answered<'_>, out: &mut impl Write) -> Result<(), Failure> {
    let (time, pid) = (record.timestamp.0, answered.findings.task(record));
    let seconds = format!("{}.{:06}", time / 1_000_000_000, time % 1_000_000_000 / 1_000);
    write!(out, "{:>16}-{:<7} [{:03}] {seconds:>12}: {}:", answered.comm(pid), pid.0, record.cpu.0, event.name)?;
    for field in &event.fields {
        let Some(value) = field.value(answered.findings.abi(), record.data) else { continue };
        write!(out, " {}=", field.name)?;
        match value {
            Value::Unsigned(number) | Value::Pointer(number) => write!(out, "{number}")?,
            Value::Signed(number) => write!(out, "{number}")?,
            Value::Bool(is) => write!(out, "{}", u8::from(is))?,
            Value::Text(text) => out.write_all(text)?,
            Value::Numbers(numbers) | Value::Bits(numbers) => {
                let words: Vec<String> = numbers.iter().map(|number| json_of(number).to_string()).collect();
                write!(out, "{{{}}}", words.join(","))?;
            }
            Value::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?,
        }
    }
    Ok(writeln!(out)?)
}

fn json_of(number: Number) -> serde_json::Value {
    match number {
        Number::Unsigned(number) => json!(number),
        Number::Signed(number) => json!(number),
    }
}

/// As report's JSON lines.
fn line_of_json(
    event: &TypedEvent,
    record: &Record<'_>,
    answered: &Answered<'_>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let pid = answered.findings.task(record);
    let fields: Map<String, serde_json::Value> = event
        .fields
        .iter()
        .filter_map(|field| {
            let value = match field.value(answered.findings.abi(), record.data)? {
                Value::Unsigned(number) | Value::Pointer(number) => json!(number),
                Value::Signed(number) => json!(number),
                Value::Bool(is) => json!(is),
                Value::Text(text) => json!(String::from_utf8_lossy(text)),
                Value::Numbers(numbers) | Value::Bits(numbers) => numbers.iter().map(json_of).collect(),
                Value::Bytes(bytes) => json!(bytes),
            };
            Some((field.name.clone(), value))
        })
        .collect();
    let document = json!({
        "type": "event",
        "ts": record.timestamp.0,
        "cpu": record.cpu.0,
        "pid": pid.0,
        "comm": answered.comm(pid),
        "event": format!("synthetic:{}", event.name),
        "fields": fields,
    });
    Ok(writeln!(out, "{document}")?)
}

// Synthetic events beside the events that they are made of, in a recording.

/// Events of one synthetic event, to be put into a copy of the recording that they were made of.
struct Inserted {
    format: EventFormat,
    /// The buffer whose events they are made of.
    buffer: usize,
    count: u64,
    /// By CPU, in the order of time.
    records: HashMap<CpuId, VecDeque<(Timestamp, Vec<u8>)>>,
}

impl Inserted {
    /// The events that the triggers of a recording fired.
    fn of(answered: &Answered<'_>) -> Option<Self> {
        let (input, buffer) = answered.of?;
        let format = answered.findings.synthetic().first()?.readable_format();
        let buffer = input.trace.buffers.iter().position(|other| std::ptr::eq(other, buffer))?;
        let mut inserted = Inserted { format, buffer, count: 0, records: HashMap::new() };
        for record in answered.findings.fired() {
            inserted.count += 1;
            inserted.records.entry(record.cpu).or_default().push_back((record.timestamp, record.data.to_vec()));
        }
        Some(inserted)
    }

    /// Writes the recording at the first path with them to the second. `exit`: that of the first look at the recording.
    fn write(mut self, paths: (&Path, &Path), overwrite: Overwrite, exit: Exit) -> Result<Exit, Failure> {
        let mut trace = open(paths.0)?;
        // An event of that name may have been recorded: this one is described beside it, by its own number.
        trace.event_formats.push(self.format.clone());
        let damage = DamageReport::of(paths.0, &trace);
        let (name, count) = (self.format.name.clone(), self.count);
        let copy = RecordingCopy {
            version: RecordingCopy::version_of(&trace),
            overwrite,
            slice: ALL,
            cpus: None,
            selection: None,
            edit: Some(&mut self),
        };
        let done = write_edited(&trace, paths, copy, &damage).and_then(|events| {
            let (made, events, count) = (named(paths.1), counted(events, "event"), grouped(count));
            Ok(say_of(paths.1, &format!("{made}: {events}, {count} of them synthetic:{name}\n"))?)
        });
        let of_copy = damage.outcome(done)?;
        Ok(if exit == Exit::Success { of_copy } else { exit })
    }
}

impl Edit for Inserted {
    fn keeps(&mut self, _: &StoredRecord<'_>) -> bool {
        true
    }

    fn after(&mut self, record: &StoredRecord<'_>, put: &mut dyn FnMut(&[u8])) {
        if record.stream.0 != self.buffer {
            return;
        }
        let Some(waiting) = self.records.get_mut(&record.cpu) else { return };
        while waiting.front().is_some_and(|(time, _)| *time <= record.timestamp) {
            let Some((_, data)) = waiting.pop_front() else { return };
            put(&data);
        }
    }
}
