//! `rtrace split`.

mod plan;

use super::damage::DamageReport;
use super::exit::{Exit, Failure, print};
use super::piped;
use super::query::{QueryInput, SelectArgs, Selected, tell_of_early};
use super::terminal::note;
use super::trace_file::{OutputFile, Overwrite, mode_like, threads};
use anyhow::{Context, anyhow};
use plan::{SplitStep, plan};
use rtrace::internal::trace_dat::write::{CopiedPart, Edit, NewFile, PartWriter, StreamIndex, Version, split_edited};
use rtrace::internal::trace_dat::{Coverage, Trace};
use rtrace::recording::Query;
use rtrace::units::{CpuId, counted, grouped, parse_duration};
use serde_json::json;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Cut a recording into parts by time, events or sub-buffers
///
/// A single part is written to FILE (default: INPUT.1); with -r, parts are FILE.0001, FILE.0002, ... They
/// are trace.dat files of the same version and compression. Chunks that fall entirely inside a part are copied unchanged.
/// Without a step there is one part, from START to END. With --filter and the like a part gets only the events that are
/// selected, written anew; -e and -p still count all events and sub-buffers of the recording.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace split trace.dat 167.716 167.720            what happened between these times: trace.dat.1
  rtrace split -s 10 -r -o part                     ten seconds each: part.0001, part.0002, ...
  rtrace split -e 100000 -r                         a hundred thousand events each
  rtrace split -m 200 167.716                       200 ms from a time on
  rtrace split --filter 'sched_switch: next_pid == 0' -o one.dat
                                                    the events that pass a filter")]
pub(crate) struct SplitArgs {
    /// File to cut [default: trace.dat]
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
    /// Name of the part (`-` is standard output); with -r, the name before .0001, .0002 [default: the file's name]
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// A part every N seconds (or with a unit: 1m)
    #[arg(short, long, value_name = "N", value_parser = parse_duration, group = "step")]
    seconds: Option<Duration>,
    /// A part every N milliseconds
    #[arg(short, long, value_name = "N", group = "step", value_parser = clap::value_parser!(u64).range(1..))]
    milliseconds: Option<u64>,
    /// A part every N microseconds
    #[arg(short = 'u', long, value_name = "N", group = "step", value_parser = clap::value_parser!(u64).range(1..))]
    microseconds: Option<u64>,
    /// A part every N events
    #[arg(short, long, value_name = "N", group = "step", value_parser = clap::value_parser!(u64).range(1..))]
    events: Option<u64>,
    /// A part every N sub-buffers of each CPU
    #[arg(short, long, value_name = "N", group = "step", value_parser = clap::value_parser!(u64).range(1..))]
    pages: Option<u64>,
    /// Go on until END, instead of one part only
    #[arg(short, long)]
    repeat: bool,
    /// With -e: N events of each CPU
    #[arg(short = 'c', long, requires = "events")]
    per_cpu: bool,
    /// Only this CPU; of several, `convert --cpu`
    #[arg(short = 'C', long, value_name = "CPU")]
    cpu: Option<u32>,
    /// Only this instance; with -t it becomes the top buffer
    #[arg(short = 'B', long = "instance", value_name = "NAME")]
    instances: Vec<String>,
    /// The instance becomes the top buffer
    #[arg(short = 't', requires = "instances")]
    promote: bool,
    /// Also the top buffer, beside -B
    #[arg(long)]
    top: bool,
    /// Call the top buffer so in the parts
    #[arg(short = 'b', long, value_name = "NAME")]
    rename_top: Option<String>,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    overwrite: Overwrite,
    /// File to cut, unless -i names it; then the times to start and to end at: as reports show them, or +TIME from the begin
    #[arg(value_name = "FILE|START|END", num_args = 0..=3)]
    words: Vec<String>,
}

/// The arguments: the file, and the window in nanoseconds.
struct SplitRequest {
    input: PathBuf,
    start: Option<SplitTime>,
    end: Option<SplitTime>,
}

/// A moment of a recording, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitTime {
    /// As reports show it.
    At(u64),
    /// After the first event.
    FromStart(u64),
}

impl SplitTime {
    /// Seconds with up to nine decimals; after a `+` from the first event, then also with a unit.
    fn parse(text: &str) -> Result<Self, String> {
        let Some(span) = text.strip_prefix('+') else { return Ok(SplitTime::At(time(text)?)) };
        let with_unit = || {
            let time = parse_duration(span).map_err(|error| format!("`{text}` is no time: {error}"))?;
            u64::try_from(time.as_nanos()).map_err(|_| format!("`{text}` is too long"))
        };
        Ok(SplitTime::FromStart(time(span).or_else(|_| with_unit())?))
    }

    /// The same in the recording's time, which begins at `begin`.
    fn in_time(self, begin: u64) -> u64 {
        match self {
            SplitTime::At(time) => time,
            SplitTime::FromStart(span) => begin.saturating_add(span),
        }
    }
}

impl SplitArgs {
    /// A first word that is no time is the file.
    fn asked(&self) -> Result<SplitRequest, Failure> {
        let usage = |text: String| Failure::new(Exit::Usage, anyhow!(text));
        let (file, times) = match self.words.as_slice() {
            [first, times @ ..] if self.input.is_none() && SplitTime::parse(first).is_err() => {
                (Some(PathBuf::from(first)), times)
            }
            times => (self.input.clone(), times),
        };
        let wrong = |word: &str, text| from_begin(word).into_iter().fold(usage(text), Failure::hint);
        let parse = |word: &String| SplitTime::parse(word).map_err(|text| wrong(word, text));
        let times = times.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        if times.len() > 2 {
            return Err(usage("there are three times, where START and END are wanted".to_owned()));
        }
        let input = file.unwrap_or_else(|| PathBuf::from("trace.dat"));
        Ok(SplitRequest { input, start: times.first().copied(), end: times.get(1).copied() })
    }
}

/// The hint on `text`, if it is nearly a time since the first event: one with a unit, or two with `-` between them.
fn from_begin(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('-').collect();
    let is_time = parts.len() <= 2 && parts.iter().all(|part| parse_duration(part).is_ok());
    let times = parts.iter().map(|part| format!("+{part}")).collect::<Vec<_>>().join(" ");
    is_time.then(|| format!("`{times}` counts from the first event."))
}

/// Seconds with up to nine decimals, to nanoseconds.
fn time(text: &str) -> Result<u64, String> {
    let bad = || format!("`{text}` is no time: expected seconds, as in 167.716832");
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > 9 || !part.chars().all(|c| c.is_ascii_digit()) {
        return Err(bad());
    }
    let whole: u64 = whole.parse().map_err(|_| bad())?;
    let part: u64 = format!("{part:0<9}").parse().map_err(|_| bad())?;
    whole.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(part)).ok_or_else(bad)
}

/// The most parts of a recording: each is a file that describes all events, a megabyte or so, and the last number has four digits.
const MOST_PARTS: usize = 9_999;
/// Number of parts written in one pass over the file.
const AT_ONCE: usize = 64;

pub(crate) fn run(args: &SplitArgs) -> Result<Exit, Failure> {
    let SplitRequest { input, start, end } = args.asked()?;
    if let Some(output) = &args.output {
        piped::check(output, args.json)?;
        if args.repeat && piped::is_stdout(output) {
            let error = anyhow!("several parts (-r) have no place on standard output");
            return Err(Failure::new(Exit::Usage, error).hint("`-o FILE` writes them to FILE.0001, FILE.0002, ..."));
        }
    }
    let step = match (args.seconds, args.milliseconds, args.microseconds, args.events, args.pages) {
        (Some(time), ..) => SplitStep::Time(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
        (_, Some(ms), ..) => SplitStep::Time(ms.saturating_mul(1_000_000)),
        (_, _, Some(us), ..) => SplitStep::Time(us.saturating_mul(1_000)),
        (.., Some(events), _) => SplitStep::Events { count: events, per_cpu: args.per_cpu },
        (.., Some(pages)) => SplitStep::Pages(pages),
        _ => SplitStep::All,
    };
    if step == SplitStep::Time(0) {
        return Err(Failure::new(Exit::Usage, anyhow!("a part must have some length")));
    }
    if matches!(step, SplitStep::Pages(_)) && (start, end) != (None, None) {
        return Err(Failure::new(
            Exit::Usage,
            anyhow!("-p counts sub-buffers from the start: it goes with no START or END"),
        ));
    }
    let inputs = [QueryInput::open(&input, None, false)?];
    let damage = DamageReport::of(&input, &inputs[0].trace);
    let span = if start.is_some() || end.is_some() { inputs[0].recording.query().span()? } else { None };
    let begin = span.map_or(0, |(begin, _)| begin.0);
    let window = start.map_or(0, |time| time.in_time(begin))..end.map_or(u64::MAX, |time| time.in_time(begin));
    if let (Some(SplitTime::At(at)), Some((first, last))) = (start, span)
        && window.start <= window.end
        && window.end >= first.0
    {
        tell_of_early(
            at,
            (first.0, last.0),
            "`rtrace convert --since -TIME` from the last one, and `split -r -s SECONDS` makes parts",
        );
    }
    damage.outcome(cut(args, &inputs, &step, window, &damage))
}

fn cut(
    args: &SplitArgs,
    inputs: &[QueryInput; 1],
    step: &SplitStep,
    window: Range<u64>,
    damage: &DamageReport,
) -> Result<(), Failure> {
    let (input, trace) = (inputs[0].path.as_path(), &inputs[0].trace);
    let selection = args.select.selection();
    let is_everything = selection.is_everything();
    let query = Query::of([&inputs[0].recording]).select(selection.clone());
    let mut selected = if is_everything { None } else { Some(Selected::of(&query, inputs)?) };
    let buffers = buffers(args, trace)?;
    let streams = streams(args, trace, &buffers);
    if streams.is_empty() {
        return Err(Failure::new(Exit::Failed, anyhow!("{} holds nothing of what is asked for", input.display())));
    }
    let on = |cpu: CpuId| args.cpu.is_none_or(|wanted| CpuId(wanted) == cpu);
    let of_copy = |(index, _): &(usize, String)| selection.coverage_of_copy(trace, &trace.buffers[*index], on);
    let is_other =
        !is_everything || args.cpu.is_some() || buffers.iter().any(|(at, name)| trace.buffers[*at].name != *name);
    let coverages: Vec<Coverage> = if is_other { buffers.iter().map(of_copy).collect() } else { Vec::new() };
    let is_reversed = window.start > window.end;
    let mut slices = plan(trace, &streams, step, window, &mut |found| damage.note(input, &found))?;
    let more = slices.len() > 1 && !args.repeat;
    if !args.repeat {
        slices.truncate(1);
    }
    if slices.len() > MOST_PARTS {
        let (parts, most) = (grouped(slices.len() as u64), grouped(MOST_PARTS as u64));
        let error = anyhow!("that would make {parts} files, and {most} are the most");
        return Err(Failure::new(Exit::Usage, error).hint("a longer step, or START and END, make fewer."));
    }
    let name = args.output.as_deref().unwrap_or(input);
    let path_of = |number: usize| {
        let mut path = name.as_os_str().to_owned();
        match (args.repeat, &args.output) {
            (true, _) => path.push(format!(".{number:04}")),
            (false, None) => path.push(".1"),
            (false, Some(_)) => {}
        }
        PathBuf::from(path)
    };
    // Before the first is written.
    (1..=slices.len()).try_for_each(|number| args.overwrite.check(&path_of(number)))?;
    let mode = mode_like(input);
    let mut number = 0;
    let mut written = 0;
    let mut written_parts = Vec::new();
    let mut heard = Ok(());
    for batch in slices.chunks(AT_ONCE) {
        let mut made = Vec::new();
        let mut parts = Vec::new();
        for slice in batch {
            number += 1;
            let (made_file, file) = OutputFile::new(&path_of(number), mode, args.overwrite)?;
            parts.push(part(made_file.path(), file, trace, (&buffers, &coverages), slice.clone())?);
            made.push(made_file);
        }
        let edit = selected.as_mut().map(|selected| selected as &mut dyn Edit);
        split_edited(trace, &buffers, &streams, &mut parts, edit, (threads(), &mut |found| damage.note(input, &found)))
            .with_context(|| format!("failed to write the parts of {}", input.display()))?;
        for (file, part) in made.into_iter().zip(parts) {
            let (path, records) = (file.path().to_owned(), part.records);
            if records == 0 && slices.len() == 1 {
                continue; // what lies at its path stays
            }
            part.file.finish().with_context(|| format!("failed to write {}", path.display()))?;
            file.keep()?;
            if args.json {
                written_parts.push(json!({"file": path.to_string_lossy(), "events": records}));
            } else {
                // a closed standard output is no reason to stop in the middle
                let text = format!("{}: {}\n", piped::named(&path), counted(records, "event"));
                heard = heard.and_then(|()| Ok(piped::say_of(&path, &text)?));
            }
            written += records;
        }
    }
    if written == 0 {
        let what = if selected.is_some() {
            "no event between START and END is selected"
        } else {
            "there are no events between START and END"
        };
        let file = input.display();
        if is_reversed {
            let error = anyhow!("END lies before START");
            return Err(Failure::new(Exit::Usage, error)
                .hint(format!("`rtrace split {file} START END`: the earlier time first.")));
        }
        let is_time = |word: &&String| !word.starts_with('+') && SplitTime::parse(word).is_ok();
        let times: Vec<String> = args.words.iter().filter(is_time).map(|word| format!(" +{word}")).collect();
        let output = args.output.as_ref().map_or_else(String::new, |path| format!(" -o {}", path.display()));
        let hint = match times.is_empty() {
            true => format!("`rtrace report --summary {file}` has the times of the first and the last event."),
            false => format!(
                "`rtrace split {file}{}` counts from the first event; without `+` times are as reports show them.",
                times.concat() + &output
            ),
        };
        return Err(Failure::new(Exit::Failed, anyhow!("{what}")).hint(hint));
    }
    if more {
        note!(
            "rtrace: one part was asked for, and more events follow it, which are in none: `-r` makes parts to the end"
        );
    }
    if args.json {
        heard = print(&format!("{:#}\n", json!({"schema": "rtrace.split", "version": 1, "parts": written_parts})))
            .map(drop);
    }
    heard
}

fn part(
    path: &Path,
    file: File,
    trace: &Trace,
    (buffers, coverages): (&[(usize, String)], &[Coverage]),
    slice: CopiedPart,
) -> Result<PartWriter, Failure> {
    let version = match trace.prefix.version {
        6 => Version::V6,
        _ => Version::V7(trace.prefix.codec),
    };
    let names: Vec<&str> = buffers.iter().map(|(_, name)| name.as_str()).collect();
    let file = NewFile::create_covering(file, trace, version, &names, coverages);
    let file = file.with_context(|| format!("failed to write {}", path.display()))?;
    Ok(PartWriter::new(slice, file))
}

/// The buffers that are wanted, and what they are called in the parts.
fn buffers(args: &SplitArgs, trace: &Trace) -> Result<Vec<(usize, String)>, Failure> {
    let mut wanted = Vec::new();
    for (index, buffer) in trace.buffers.iter().enumerate() {
        let is_top = buffer.name.is_empty();
        let named = args.instances.contains(&buffer.name);
        let takes = if is_top { args.instances.is_empty() || args.top } else { args.instances.is_empty() || named };
        if !takes {
            continue;
        }
        let name = match &args.rename_top {
            Some(name) if is_top => name.clone(),
            _ if args.promote && args.instances.first() == Some(&buffer.name) => String::new(),
            _ => buffer.name.clone(),
        };
        wanted.push((index, name));
    }
    for name in &args.instances {
        if !trace.buffers.iter().any(|buffer| buffer.name == *name) {
            let known: Vec<&str> = trace.buffers.iter().map(|b| b.name.as_str()).filter(|n| !n.is_empty()).collect();
            let failure = Failure::new(Exit::Failed, anyhow!("the file has no instance `{name}`"));
            return Err(if known.is_empty() { failure } else { failure.hint(format!("it has {}.", known.join(", "))) });
        }
    }
    let tops = wanted.iter().filter(|(_, name)| name.is_empty()).count();
    if tops > 1 {
        return Err(Failure::new(Exit::Usage, anyhow!("-t makes a second top buffer"))
            .hint("`-b NAME` gives the first one a name."));
    }
    // The top buffer comes first, and there always is one.
    wanted.sort_by_key(|(_, name)| !name.is_empty());
    Ok(wanted)
}

fn streams(args: &SplitArgs, trace: &Trace, buffers: &[(usize, String)]) -> Vec<StreamIndex> {
    let wanted = |cpu: CpuId| args.cpu.is_none_or(|wanted| CpuId(wanted) == cpu);
    let mut streams = Vec::new();
    for &(index, _) in buffers {
        let cpus = trace.buffers[index].cpus.iter().enumerate();
        streams.extend(cpus.filter(|(_, data)| wanted(data.cpu)).map(|(cpu, _)| (index, cpu)));
    }
    streams
}
