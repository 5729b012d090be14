//! To a format of events: a query through an exporter.

use super::args::ConvertArgs;
use super::parts::ConvertParts;
use super::progress::{ConvertOutcome, CountedFile, Course, ProgressOutput};
use super::target::{ConvertTarget, PSEUDONYMOUS};
use super::{ctf, directory, perfetto, stacks, tables, tracks};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure, print};
use crate::cli::page;
use crate::cli::piped::is_stdout;
use crate::cli::query::{QueryArgs, QueryEvents, QueryInput, formats};
use crate::cli::terminal::{note, stdout, stdout_is_terminal};
use crate::cli::trace_file::{OutputFile, mode_like};
use anyhow::anyhow;
use rtrace::export::{CtfVersion, Style};
use rtrace::recording::{Notice, OutputDependence};
use rtrace::units::ByteSize;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Writes the events of `paths` that are asked for to `output`.
pub(super) fn convert(
    args: &ConvertArgs,
    target: ConvertTarget,
    paths: &[&Path],
    output: &Path,
) -> Result<Exit, Failure> {
    check(args, target, paths.len(), output)?;
    let read = Arc::new(AtomicU64::new(0));
    let open = |path: &&Path| QueryInput::open_through(path, |file| CountedFile::new(file, &read));
    let inputs = paths.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let damage = DamageReport::default();
    for input in &inputs {
        damage.opened(&input.path, &input.trace);
    }
    let done = write(args, target, &inputs, output, &read, &damage);
    for input in &inputs {
        damage.late(&input.path, &input.recording);
    }
    damage.outcome(done)
}

/// Writes the events of `paths` that are asked for as tables below a new directory, `output`.
pub(crate) fn write_tables(paths: &[&Path], wanted: &QueryArgs, output: &Path) -> Result<Exit, Failure> {
    let inputs = paths.iter().map(|path| QueryInput::open(path, None, false)).collect::<Result<Vec<_>, _>>()?;
    let damage = DamageReport::default();
    for input in &inputs {
        damage.opened(&input.path, &input.trace);
    }
    let write = || {
        let notice = |notice: Notice<'_>| damage.notice(|recording| &inputs[recording].path, &notice);
        let events = QueryEvents::new(&inputs, wanted.query(&inputs, OutputDependence::Needless, &notice)?)?;
        directory::write(output, 0o600, |mut files| tables::parquet(&events, &mut files)).map(drop)
    };
    let done = write();
    for input in &inputs {
        damage.late(&input.path, &input.recording);
    }
    damage.outcome(done)
}

/// Refuses options of other formats, before a file is opened.
fn check(args: &ConvertArgs, target: ConvertTarget, paths: usize, output: &Path) -> Result<(), Failure> {
    let usage = |error| Err(Failure::new(Exit::Usage, error));
    let name = target.name();
    if args.file_version.is_some() || args.compression.is_some() {
        let option = if args.compression.is_some() { "--compression" } else { "--file-version" };
        let failure = Failure::new(Exit::Usage, anyhow!("{option} is for trace.dat, and this is to be {name}"));
        return Err(failure.hint(match target {
            ConvertTarget::Parquet => "leave it out: parquet's columns are compressed by zstd.".to_owned(),
            _ if target.is_text() => {
                format!("leave it out: `-o - | gzip > {}.gz` compresses what is written.", output.display())
            }
            _ => "leave it out.".to_owned(),
        }));
    }
    let compressed = output.extension().and_then(|ending| ending.to_str());
    if target.is_text() && matches!(compressed, Some("gz" | "zst" | "xz" | "bz2")) {
        let failure = Failure::new(Exit::Usage, anyhow!("{} would be text, not compressed", output.display()));
        return Err(failure.hint(format!("`-o - | gzip > {}` compresses what is written.", output.display())));
    }
    if !args.fields.is_empty() && target != ConvertTarget::Csv {
        let failure = Failure::new(Exit::Usage, anyhow!("--fields names the columns of csv, and this is to be {name}"));
        return Err(failure.hint(format!("leave it out: {name} has all of them; `--select EVENT` chooses events.")));
    }
    if args.redact && !target.has_pseudonyms() {
        return usage(anyhow!("--redact replaces names in {PSEUDONYMOUS}, and this is to be {name}"));
    }
    if args.redact && !args.tracks.is_empty() {
        return usage(anyhow!(
            "tracks of --pair, --counter, --hist and --begin show keys as they are, which --redact is to replace"
        ));
    }
    if target != ConvertTarget::Perfetto && !args.tracks.is_empty() {
        return usage(anyhow!("--pair, --counter, --hist and --begin are for perfetto, and this is to be {name}"));
    }
    if target == ConvertTarget::Html && paths > 1 {
        return usage(anyhow!("a page is about one recording, and these are {paths}"));
    }
    let is_part =
        || !args.events.selection().is_everything() || args.events.is_limited() || args.events.cpus().is_some();
    if target == ConvertTarget::Html && is_part() {
        let failure = Failure::new(Exit::Usage, anyhow!("a page's numbers need all events of its time"));
        return Err(failure.hint("--since, --until and --around choose that time."));
    }
    // Of some events, a begin and an end that fit may be of different requests.
    if args.tracks.has_requests() && is_part() {
        let failure = Failure::new(Exit::Usage, anyhow!("requests need all events of their time"));
        return Err(failure
            .hint("--since, --until and --around choose that time; leave out what selects events, tasks or CPUs."));
    }
    if args.split.is_some() {
        if target.is_directory() || is_stdout(output) {
            return usage(anyhow!("--split makes several files, and this is to be one {name}"));
        }
        if args.events.is_limited() {
            return usage(anyhow!("--split takes parts of the time, not with --first or --last"));
        }
        return Ok(()); // each part's name is checked when it is made
    }
    if is_stdout(output) && args.json {
        return usage(anyhow!("--json says what was written where the events go: on standard output"));
    }
    if !is_stdout(output) {
        return if target.is_directory() { Ok(()) } else { args.overwrite.check(output) };
    }
    if target.is_directory() {
        let failure =
            Failure::new(Exit::Usage, anyhow!("{name} is a directory of files: it has no place on standard output"));
        return Err(match target {
            ConvertTarget::Parquet => failure.hint("`--to arrow` writes one stream of the same columns."),
            _ => failure.hint("`-o DIRECTORY` names it."),
        });
    }
    if !target.is_text() && stdout_is_terminal() {
        let failure = Failure::new(Exit::Usage, anyhow!("{name} is not text: it is not written to a terminal"));
        return Err(failure.hint("`-o FILE` names a file; `> FILE` and `| COMMAND` take it from standard output."));
    }
    Ok(())
}

fn write(
    args: &ConvertArgs,
    target: ConvertTarget,
    inputs: &[QueryInput],
    output: &Path,
    read: &Arc<AtomicU64>,
    damage: &DamageReport,
) -> Result<(), Failure> {
    let notice = |notice: Notice<'_>| damage.notice(|recording| &inputs[recording].path, &notice);
    let query = args.events.query(inputs, OutputDependence::Needless, &notice)?;
    let events = QueryEvents::new(inputs, query)?.redacted(args.redact);
    let stored =
        |input: &QueryInput| input.trace.buffers.iter().flat_map(|of| &of.cpus).map(|cpu| cpu.size).sum::<u64>();
    let total = inputs.iter().map(stored).sum();
    // An empty file looks like an answer.
    let tell_of_nothing = |written: &ConvertOutcome| match written.events {
        0 => args.events.tell_of_nothing(inputs),
        _ => {
            args.events.tell_of_absent_cpus(inputs);
            Ok(())
        }
    };
    if is_stdout(output) {
        let mut out = ProgressOutput::new(stdout(), None, read, total);
        let written = export(args, target, &events, &mut out)?;
        out.flush()?;
        let size = out.written();
        drop(out);
        tell_of_nothing(&written)?;
        return written.tell(output, target, size, false);
    }
    // It gives no more away than any of the files.
    let mode = inputs.iter().map(|input| mode_like(&input.path)).fold(0o666, |mode, of| mode & of);
    let name = output.display().to_string();
    if target.is_directory() {
        let (written, size) = directory::write(output, mode, |files| {
            let mut out = ProgressOutput::new(files, None, read, total);
            let written = export(args, target, &events, &mut out)?;
            out.flush()?;
            Ok(written)
        })?;
        tell_of_nothing(&written)?;
        return written.tell(output, target, size, args.json);
    }
    if let Some(limit) = args.split {
        let parts = ConvertParts { output, target, limit, mode, overwrite: args.overwrite, read, total };
        let lines = parts.write(&events, |events, mut out| export(args, target, events, &mut out))?;
        return print(&format!("{}\n", lines.join("\n"))).map(drop);
    }
    let warned = match target.viewers_limit() {
        // Few events are written sooner than estimated.
        Some(limits) if total > WORTH_AN_ESTIMATE => warn_before(args, target, limits, &events, &name)?,
        _ => false,
    };
    let (made, file) = OutputFile::new(output, mode, args.overwrite)?;
    let mut out = ProgressOutput::new(file, Some(name.clone()), read, total);
    let written = export(args, target, &events, &mut out)?;
    out.flush()?;
    let size = out.written();
    drop(out);
    made.keep()?;
    if let Some((limit, viewer)) = target.viewers_limit()
        && size > limit
        && !warned
    {
        warn(&name, "", viewer, limit);
    }
    tell_of_nothing(&written)?;
    written.tell(output, target, size, args.json)
}

/// Stored bytes of a recording that can make files too large for their viewers.
const WORTH_AN_ESTIMATE: u64 = 4 << 20;

/// Says that the file will be too large for its viewer, if samples of the events say so; gives whether it did.
fn warn_before(
    args: &ConvertArgs,
    target: ConvertTarget,
    (limit, viewer): (u64, &str),
    events: &QueryEvents<'_>,
    name: &str,
) -> Result<bool, Failure> {
    let Some(course) = Course::of(events)? else { return Ok(false) };
    let sample = |events: &QueryEvents<'_>, mut out: &mut (dyn Write + Send)| {
        export(args, target, events, &mut out).map(|written| written.events)
    };
    let size = course.size(events, sample)?;
    if size > limit {
        warn(name, &format!("some {} expected; ", ByteSize(size)), viewer, limit);
    }
    Ok(size > limit)
}

fn warn(name: &str, size: &str, viewer: &str, limit: u64) {
    note!(
        "rtrace: {name}: {size}{viewer} fails on files above some {} MB\n  \
         Hint: `--split 200M` makes several files; --since, --until and --comm choose a part.",
        limit / 1_000_000
    );
}

/// Writes the events in the format.
fn export(
    args: &ConvertArgs,
    target: ConvertTarget,
    events: &QueryEvents<'_>,
    out: &mut (impl Write + Send),
) -> Result<ConvertOutcome, Failure> {
    let mut written = export_events(args, target, events, out)?;
    let texts = events.inputs.iter().flat_map(|input| input.trace.latencies());
    written.left_out.extend(texts.map(|text| format!("the text of tracer {}", text.tracer)));
    if events.inputs.iter().any(|input| input.trace.spools.is_some()) {
        written.left_out.push("the latest events of an unfinished recording".to_owned());
    }
    Ok(written)
}

fn export_events(
    args: &ConvertArgs,
    target: ConvertTarget,
    events: &QueryEvents<'_>,
    out: &mut (impl Write + Send),
) -> Result<ConvertOutcome, Failure> {
    let all = |events| ConvertOutcome { events, left_out: Vec::new() };
    match target {
        ConvertTarget::TraceDat => Err(anyhow!("a trace.dat file is not made of events").into()),
        ConvertTarget::Perfetto => {
            let machines: Vec<usize> = (0..events.inputs.len()).collect();
            if perfetto::is_archive(args.files()?.1) {
                let tracks = |of: &QueryEvents<'_>, machines: &[usize], out: &mut File| {
                    tracks::write(&args.tracks, (of, machines), out)
                };
                return perfetto::write_archive(events, tracks, out);
            }
            let mut written = perfetto::write_trace(events, &machines, out)?;
            written.left_out.extend(tracks::write(&args.tracks, (events, &machines), out)?);
            Ok(written)
        }
        ConvertTarget::Folded => stacks::folded(events, out),
        ConvertTarget::Speedscope => stacks::speedscope(events, out),
        ConvertTarget::Firefox => stacks::firefox(events, args.files()?.1, out),
        ConvertTarget::Html => {
            let made = page::answered(events)?;
            out.write_all(made.page.html().as_bytes())?;
            Ok(ConvertOutcome { events: made.events, left_out: made.left_out })
        }
        ConvertTarget::Chrome => stacks::chrome(events, out),
        ConvertTarget::Ctf => ctf::write(events, CtfVersion::V1, out),
        ConvertTarget::Ctf2 => ctf::write(events, CtfVersion::V2, out),
        ConvertTarget::Parquet => tables::parquet(events, out),
        ConvertTarget::Arrow => tables::arrow(events, out),
        ConvertTarget::Json => formats::json(events, Style::Json, out).map(|outcome| all(outcome.events)),
        ConvertTarget::Csv => formats::csv(events, &args.fields, out).map(|outcome| all(outcome.events)),
    }
}
