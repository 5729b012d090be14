//! Events for programs: JSON lines, `name=value` lines, CSV.
//! The buffers of a query, as call stacks are read of them.
//! Names as an export shows them: their own, or pseudonyms (`--redact`).

use super::select::export_failure;
use super::{QueryEvents, QueryInput};
use crate::cli::exit::{Exit, Failure};
use crate::cli::syscalls::decoders;
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::event::TypedEvent;
use rtrace::export::{
    Count, Csv, CsvBuffer, CsvColumn, FlameBuffer, Json, JsonBuffer, JsonBufferInfo, JsonHeader, JsonSource,
    JsonSyscalls, JsonTypes, JsonWall, Pseudonyms, Redacted, Style, SummaryBuffer, schema,
};
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::{Cgroups, OptionId, TimeOptions};
use rtrace::recording::{BufferSource, Outcome};
use rtrace::symbols::{Comms, Symbols};
use rtrace::syntax::did_you_mean;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::ops::ControlFlow;

fn all_formats(input: &QueryInput) -> impl Iterator<Item = &EventFormat> {
    input.trace.formats()
}

/// The events as JSON lines or, with [`Style::Raw`], as `name=value` lines.
pub(crate) fn json(events: &QueryEvents<'_>, style: Style, out: &mut (impl Write + Send)) -> Result<Outcome, Failure> {
    let names = ShownNames::of(events);
    let types = json_types(events, style);
    let exporter = names.shown(events, json_exporter(events, &names, &types, style));
    events.export(&exporter, out).map(|done| done.1)
}

/// The events as JSON lines, system calls as one line each.
pub(crate) fn json_syscalls(events: &QueryEvents<'_>, out: &mut (impl Write + Send)) -> Result<Outcome, Failure> {
    let names = ShownNames::of(events);
    let types = json_types(events, Style::Json);
    let recordings = events.query.sources().iter().map(|source| source.recording).collect();
    let decoders = decoders(events.inputs.iter().map(|input| &input.trace))?;
    let json = json_exporter(events, &names, &types, Style::Json);
    let exporter = names.shown(events, JsonSyscalls::new(json, decoders, recordings));
    events.export(&exporter, out).map(|done| done.1)
}

fn json_types(events: &QueryEvents<'_>, style: Style) -> Vec<JsonTypes> {
    let of =
        |input: &QueryInput| JsonTypes::with_names(all_formats(input), input.trace.abi, style, Some(&input.symbols));
    events.inputs.iter().map(of).collect()
}

fn json_exporter<'t>(
    events: &QueryEvents<'t>,
    names: &'t ShownNames<'_>,
    types: &'t [JsonTypes],
    style: Style,
) -> Json<'t> {
    let exporter = Json::new(events.query.sources().iter().map(|source| JsonBuffer {
        types: &types[source.recording],
        comms: names.comms(source.recording),
        source: names.label(source.recording),
        buffer: instance(&events.inputs[source.recording].trace.buffers[source.buffer].name),
    }));
    if style == Style::Json { exporter.with_header(header(events, names)) } else { exporter }
}

fn instance(name: &str) -> Option<&str> {
    (!name.is_empty()).then_some(name)
}

fn header(events: &QueryEvents<'_>, names: &ShownNames<'_>) -> JsonHeader {
    let source = |(file, input): (usize, &QueryInput)| JsonSource {
        file: names.path(&input.path.to_string_lossy()),
        label: names.label(file).map(str::to_owned),
        uname: input.trace.option(OptionId::UNAME).map(|o| names.uname(o.text())),
        cpus: input.trace.cpu_count,
        unfinished: input.trace.spools.is_some(),
        buffers: events
            .query
            .sources()
            .iter()
            .filter(|s| s.recording == file)
            .map(|s| {
                let buffer = &input.trace.buffers[s.buffer];
                JsonBufferInfo {
                    name: instance(&buffer.name).map(str::to_owned),
                    clock: instance(&buffer.clock).map(str::to_owned),
                    unit: if s.in_ticks { "ticks" } else { "ns" },
                    wall: s.wall_clock(events.query.recordings()).map(|clock| JsonWall {
                        ts: clock.begin().trace,
                        unix_ns: clock.begin().wall,
                        error_ns: clock.error(),
                    }),
                    cpus: s.cpus.iter().map(|&cpu| buffer.cpus[cpu].cpu.0).collect(),
                }
            })
            .collect(),
    };
    JsonHeader { sources: events.inputs.iter().enumerate().map(source).collect() }
}

/// `--json-schema`: with files, of their events; else of any.
pub(crate) fn print_schema(inputs: &[QueryInput], out: &mut impl Write) -> Result<(), Failure> {
    let mut events: Vec<TypedEvent> = inputs.iter().flat_map(all_formats).map(TypedEvent::new).collect();
    events.sort_by(|a, b| (&a.system, &a.name).cmp(&(&b.system, &b.name)));
    events.dedup_by(|a, b| a.fields == b.fields && a.name == b.name && a.system == b.system);
    let schema = schema((!inputs.is_empty()).then_some(&events));
    writeln!(out, "{}", serde_json::to_string_pretty(&schema)?)?;
    Ok(())
}

/// The events as comma-separated values: the columns `fields`, or those that say everything.
pub(crate) fn csv(
    events: &QueryEvents<'_>,
    fields: &[String],
    out: &mut (impl Write + Send),
) -> Result<Outcome, Failure> {
    let (inputs, sources) = (events.inputs, events.query.sources());
    let columns = columns(fields, events)?;
    let names = ShownNames::of(events);
    let exporter = Csv::new(
        columns,
        sources.iter().map(|source| CsvBuffer {
            formats: all_formats(&inputs[source.recording]).collect(),
            abi: inputs[source.recording].trace.abi,
            comms: names.comms(source.recording),
            kallsyms: Some(&inputs[source.recording].symbols.kallsyms),
            wall: source.wall_clock(events.query.recordings()),
            source: names.label(source.recording),
            buffer: instance(&inputs[source.recording].trace.buffers[source.buffer].name),
        }),
    );
    if let Some(name) = exporter.missing_field() {
        return Err(unknown_field(name, inputs));
    }
    for field in fields.iter().filter(|field| CsvColumn::FIXED.iter().all(|(name, _)| name != field)) {
        let has = |format: &&EventFormat| format.field(field).is_some();
        let of = inputs.iter().flat_map(all_formats).filter(has).map(|format| (&format.system, &format.name));
        let of: BTreeSet<_> = of.collect();
        // Every kernel's recording has the formats of all tracers.
        if !of.is_empty() && of.iter().all(|(system, _)| *system == "ftrace") {
            let names: Vec<String> = of.iter().map(|(system, name)| format!("{system}:{name}")).collect();
            note!("rtrace: only events of tracers have a field `{field}`: {}", names.join(", "));
        }
    }
    let exporter = names.shown(events, exporter);
    events.export(&exporter, out).map(|done| done.1)
}

/// The columns wanted, or those that say everything: the fields of all events that come, each a column; of too many, one
/// column with all fields as JSON.
fn columns(fields: &[String], events: &QueryEvents<'_>) -> Result<Vec<CsvColumn>, Failure> {
    const MOST: usize = 80;
    let inputs = events.inputs;
    if !fields.is_empty() {
        return Ok(fields.iter().map(|name| CsvColumn::named(name)).collect());
    }
    let own = if has_many_fields(events, MOST)? { None } else { Some(own_fields(events)?) };
    let own = own.filter(|own| own.len() <= MOST);
    let as_json = own.is_none();
    if as_json {
        note!(
            "rtrace: the events have more than {MOST} different fields: the column `fields` holds them as JSON\n  \
             Hint: `--fields NAME,...` chooses columns, `--select EVENT` the events of one kind."
        );
    }
    let several = inputs.len() > 1;
    let instances = inputs.iter().flat_map(|i| &i.trace.buffers).any(|b| !b.name.is_empty());
    let wanted = |column: &CsvColumn| match column {
        CsvColumn::Source => several,
        CsvColumn::Buffer => instances,
        CsvColumn::System | CsvColumn::Name => false,
        CsvColumn::Fields => as_json,
        CsvColumn::Wall => events.wall,
        _ => true,
    };
    let fixed = CsvColumn::FIXED.into_iter().map(|(_, column)| column).filter(wanted);
    Ok(fixed.chain(own.into_iter().flatten().map(CsvColumn::Field)).collect())
}

/// True if already the first events have more than `most` different fields, so that not all have to be looked at.
fn has_many_fields(events: &QueryEvents<'_>, most: usize) -> Result<bool, Failure> {
    const LOOKED_AT: usize = 1 << 15;
    let (mut kinds, mut names, mut left) = (HashSet::new(), HashSet::new(), LOOKED_AT);
    let mut all = events.query.resolve()?;
    // Of few that are wanted the first may lie far behind.
    if !all.wants_all() {
        return Ok(false);
    }
    all.walk(|current| {
        let record = current.record();
        let input = &events.inputs[events.query.sources()[record.buffer].recording];
        let id = record.data.first_chunk().map_or(0, |id| input.trace.abi.u16(*id));
        if kinds.insert((record.buffer, id)) {
            let fields = all_formats(input).filter(|format| format.id.0 == id).flat_map(|format| &format.fields);
            names.extend(fields.map(|field| field.name.as_str()));
        }
        left -= 1;
        let is_over = left == 0 || names.len() > most;
        Ok::<_, Failure>(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(names.len() > most)
}

/// The names of the own fields of the events that come, each once: of the first kind in the order of its format, then
/// those that the others have besides.
fn own_fields(events: &QueryEvents<'_>) -> Result<Vec<String>, Failure> {
    let mut counted = Vec::new();
    let count = Count::new(events.query.sources().iter().map(|source| summarised(events, source)).collect(), true);
    events.query.export(&count, &mut counted).map_err(|error| export_failure(error, events.inputs))?;
    let counted: serde_json::Value = serde_json::from_slice(&counted)?;
    let there = |format: &&EventFormat| counted["events"].get(format!("{}:{}", format.system, format.name)).is_some();
    let formats = events.inputs.iter().flat_map(all_formats).filter(there);
    let mut seen = HashSet::new();
    let names = formats.flat_map(|format| &format.fields).map(|field| &field.name).filter(|name| seen.insert(*name));
    Ok(names.cloned().collect())
}

/// A buffer as summaries take it.
fn summarised<'e>(events: &QueryEvents<'e>, source: &BufferSource) -> SummaryBuffer<'e> {
    let input = &events.inputs[source.recording];
    SummaryBuffer {
        recording: source.recording,
        abi: input.trace.abi,
        formats: input.formats().collect(),
        comms: &input.symbols.comms,
        source: None,
        buffer: None,
        in_ticks: source.in_ticks,
        wall: None,
        offline: None,
    }
}

fn unknown_field(name: &str, inputs: &[QueryInput]) -> Failure {
    let failure = Failure::new(Exit::Usage, anyhow!("no event has a field `{name}`"));
    let known: Vec<String> = CsvColumn::FIXED.iter().map(|(name, _)| format!("`{name}`")).collect();
    let fields = inputs.iter().flat_map(all_formats).flat_map(|f| f.fields.iter().chain(f.common.iter()));
    let mut names: Vec<&str> = fields.map(|f| f.name.as_str()).collect();
    names.extend(CsvColumn::FIXED.iter().map(|(name, _)| *name));
    names.sort_unstable();
    names.dedup();
    let fixed = match name.to_ascii_lowercase().as_str() {
        "time" | "timestamp" | "time_stamp" => Some("ts"),
        "event_name" => Some("event"),
        "task" | "process" | "command" => Some("comm"),
        "tid" | "thread" => Some("pid"),
        "message" | "info" | "text" | "details" | "args" => Some("fields"),
        _ => None,
    };
    let meant = fixed.filter(|fixed| CsvColumn::FIXED.iter().any(|(name, _)| name == fixed));
    let hint = meant.map(|fixed| format!("did you mean `{fixed}`? Columns of every event: {}.", known.join(", ")));
    match hint.or_else(|| did_you_mean(name, names)) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The buffers, each with a label where there are several files or instances.
pub(crate) fn stack_buffers<'a>(events: &QueryEvents<'a>) -> Vec<FlameBuffer<'a>> {
    let inputs: &'a [QueryInput] = events.inputs;
    let buffer = |source: &BufferSource| {
        let input = &inputs[source.recording];
        let instance = &input.trace.buffers[source.buffer].name;
        let parts = [if inputs.len() > 1 { input.label() } else { String::new() }, instance.clone()];
        let label: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        FlameBuffer {
            formats: input.formats().collect(),
            abi: input.trace.abi,
            symbols: &input.symbols,
            file: source.recording,
            processes: input.processes(),
            label: (!label.is_empty()).then(|| label.join(" ")),
        }
    };
    events.query.sources().iter().map(buffer).collect()
}

/// Names of tasks, files and machines as an export shows them: their own, or pseudonyms (`--redact`).
pub(crate) struct ShownNames<'e> {
    pseudonyms: Option<Pseudonyms>,
    /// Names of tasks, by recording.
    comms: Vec<Cow<'e, Comms>>,
    /// Names of recordings, if there are several.
    labels: Vec<String>,
}

impl<'e> ShownNames<'e> {
    pub(crate) fn of(events: &QueryEvents<'e>) -> Self {
        let pseudonyms = &events.pseudonyms;
        let comms = |input: &'e QueryInput| match pseudonyms {
            Some(pseudonyms) => Cow::Owned(pseudonyms.comms(&input.symbols.comms)),
            None => Cow::Borrowed(&input.symbols.comms),
        };
        let several = if events.inputs.len() > 1 { events.inputs } else { &[] };
        let mut names = ShownNames {
            comms: events.inputs.iter().map(comms).collect(),
            labels: Vec::new(),
            pseudonyms: pseudonyms.clone(),
        };
        names.labels = several.iter().map(|input| names.path(&input.label())).collect();
        names
    }

    /// The names of a recording's tasks.
    pub(crate) fn comms(&self, recording: usize) -> &Comms {
        &self.comms[recording]
    }

    /// The symbols of a recording.
    pub(crate) fn symbols<'i>(&self, input: &'i QueryInput) -> Cow<'i, Symbols> {
        match &self.pseudonyms {
            Some(names) => Cow::Owned(names.symbols(&input.symbols)),
            None => Cow::Borrowed(&input.symbols),
        }
    }

    /// The cgroups of a recording's tasks; the root has no name of its own.
    pub(crate) fn cgroups(&self, input: &QueryInput) -> Option<Cgroups> {
        let cgroups = input.trace.cgroups(&TimeOptions::default())?;
        let Some(names) = &self.pseudonyms else { return Some(cgroups) };
        Some(cgroups.with_paths(|path| if path == "/" { path.to_owned() } else { names.path(path.as_bytes()) }))
    }

    /// The value of `source` in lines of a recording.
    pub(crate) fn label(&self, recording: usize) -> Option<&str> {
        self.labels.get(recording).map(String::as_str)
    }

    /// `exporter`, whose records are shown so, too.
    pub(crate) fn shown<E>(&self, events: &QueryEvents<'_>, exporter: E) -> Redacted<'_, E> {
        let Some(pseudonyms) = &self.pseudonyms else { return Redacted::plain(exporter) };
        let buffers = events.query.sources().iter().map(|source| {
            let input = &events.inputs[source.recording];
            (input.trace.abi, input.trace.formats())
        });
        Redacted::new(exporter, pseudonyms, buffers)
    }

    /// The path of a recording, or a part of one.
    pub(crate) fn path(&self, path: &str) -> String {
        match &self.pseudonyms {
            Some(names) => names.path(path.as_bytes()),
            None => path.to_owned(),
        }
    }

    /// The name of a machine; nothing of an empty one.
    pub(crate) fn host(&self, name: &str) -> String {
        match &self.pseudonyms {
            Some(names) if !name.is_empty() => names.host(name.as_bytes()),
            _ => name.to_owned(),
        }
    }

    /// `sysname nodename release machine`, of which the second is the machine's name.
    pub(crate) fn uname(&self, text: String) -> String {
        if self.pseudonyms.is_none() {
            return text;
        }
        let word = |(at, word): (usize, &str)| if at == 1 { self.host(word) } else { word.to_owned() };
        text.split(' ').enumerate().map(word).collect::<Vec<_>>().join(" ")
    }
}
