//! `rtrace recover`, also called `restore`.

use super::args::{TracefsArgs, sudo_caller};
use super::exit::{Exit, Failure};
use super::foreign::{self, cpu_of};
use super::piped;
use super::restore::{RecoveryOutcome, RestoreHeader, make_header, open_cpus, put_together};
use super::terminal::note;
use super::trace_file::{Overwrite, threads};
use anyhow::anyhow;
use rtrace::Recording;
use rtrace::internal::trace_dat::{FileError, Recovered, Trace, UnsavedEvents, WriteError};
use rtrace::record::{left_unfinished, recover};
use rtrace::tracefs::find_orphans;
use rtrace::units::counted;
use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Finish a recording whose recorder was killed
///
/// Moves the spools beside the file into it, then what is still in the ring buffers of the killed recorder, and puts tracing
/// back as it was before. Events that the recorder had taken out of the ring buffers and not yet written are lost: how many events
/// that is, is printed and noted in the file, and the exit code is 4. Ring buffers that another process reads are left to it.
/// Then the whole file is read once: what is damaged in it is named, and the exit code is 4.
///
/// Of trace-cmd: the files of the CPUs (trace.dat.cpu0, ...) are put together, those of an instance (trace.dat.NAME.cpu0) under
/// its name. Missing parts (formats, symbols, names of tasks) are taken from the running kernel, or from the file of -i: one
/// that -c made, or another recording of the same kernel and the same events.
///
/// Raw data that was copied from `per_cpu/cpuN/trace_pipe_raw` is restored in the same way, on any machine: name the copies
/// FILE.cpuN, and the machine's `events` folder with -t. Byte order and size of sub-buffers are found in the data.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace recover            finishes trace.dat
  rtrace recover run.dat    finishes run.dat
  rtrace restore -o run.dat trace.dat.cpu*    what a killed trace-cmd left, by this kernel's formats
  rtrace restore -c -o kernel.dat             what this kernel says of its events, for later
  rtrace restore -i kernel.dat -o run.dat trace.dat.cpu*
  rtrace restore -t board/events -o run.dat board.cpu*    copies of a board's trace_pipe_raw, by its formats")]
pub(crate) struct RecoverArgs {
    /// File of the recording, trace.dat without one; or the files of its CPUs
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "create")]
    files: Vec<PathBuf>,
    /// Make a recording of trace-cmd's per-CPU files: HEADER says all but the events
    #[arg(short, long, value_name = "HEADER", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
    /// Make such a HEADER of the running kernel
    #[arg(short, long, conflicts_with = "input")]
    create: bool,
    /// Write per-CPU files to OUTPUT instead of trace.dat, a header instead of trace-partial.dat; `-` is standard output
    #[arg(short, long, value_name = "OUTPUT", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Take the formats from this tracing directory, or a copy of its `events`
    #[arg(short, value_name = "DIR", conflicts_with_all = ["input", "tracefs"], value_hint = clap::ValueHint::DirPath)]
    tracing: Option<PathBuf>,
    /// Take the symbols from FILE instead of /proc/kallsyms; of a copy (-t) there are none without it
    #[arg(short, long, value_name = "FILE", conflicts_with = "input", value_hint = clap::ValueHint::FilePath)]
    kallsyms: Option<PathBuf>,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    overwrite: Overwrite,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

impl RecoverArgs {
    /// True if it is about trace-cmd's files of CPUs, which no recording of ours has.
    fn are_of_cpus(&self) -> bool {
        self.input.is_some()
            || self.output.is_some()
            || (!self.files.is_empty() && self.files.iter().all(|path| cpu_of(path).is_some()))
    }
}

pub(crate) fn run(args: &RecoverArgs) -> Result<Exit, Failure> {
    let output = |usual: &'static str| args.output.as_deref().unwrap_or(Path::new(usual));
    if let Some(output) = &args.output {
        piped::check(output, args.json)?;
    }
    let header = || -> Result<_, Failure> {
        let tracefs = match &args.tracing {
            Some(path) => rtrace::tracefs::Tracefs::formats_at(path)?,
            None => args.tracefs.open()?,
        };
        Ok((tracefs, args.kallsyms.as_deref()))
    };
    if let [file] = args.files.as_slice()
        && let Some((whole, _)) = file.to_str().and_then(|name| name.rsplit_once(".cpu"))
        && cpu_of(file).is_some()
        && !file.exists()
        && Path::new(whole).exists()
    {
        let error = anyhow!("{} is not there", file.display());
        return Err(Failure::new(Exit::Failed, error).hint(format!("`rtrace recover {whole}` is about the recording.")));
    }
    if args.create {
        let path = output("trace-partial.dat");
        let size = make_header(&header()?, path, args.overwrite)?;
        return RecoveryOutcome::Header { size }.tell(path, args.json);
    }
    if args.are_of_cpus() {
        if args.files.is_empty() {
            if let Some(file) = args.input.as_deref().filter(|file| cpu_of(file).is_some()) {
                let error = anyhow!("{} is a file of a CPU, and `-i` takes a header", file.display());
                let output = output("trace.dat").display();
                return Err(Failure::new(Exit::Usage, error)
                    .hint(format!("`rtrace recover -o {output} {}` makes a recording of it.", file.display())));
            }
            return Err(Failure::new(Exit::Usage, anyhow!("no files of CPUs are named"))
                .hint("they end in .cpu0, .cpu1, ...: `rtrace recover -o run.dat trace.dat.cpu*`."));
        }
        let (cpus, path) = (open_cpus(&args.files)?, output("trace.dat"));
        args.overwrite.check(path)?;
        let done = match &args.input {
            Some(header) => put_together(&mut super::trace_file::open(header)?, cpus, path, args.overwrite),
            None => {
                let mut header = RestoreHeader::new(&header()?, path, &cpus)?;
                put_together(header.facts(), cpus, path, args.overwrite)
            }
        }?;
        return done.tell(path, args.json);
    }
    match args.files.as_slice() {
        [] if !Path::new("trace.dat").exists() => Err(no_recording_here(args)),
        [] => finish(Path::new("trace.dat"), &args.tracefs, args.json),
        [file] => finish(file, &args.tracefs, args.json),
        _ => Err(Failure::new(Exit::Usage, anyhow!("one recording at a time"))
            .hint("files of CPUs, which trace-cmd leaves, end in .cpu0, .cpu1, ...")),
    }
}

/// The error that no file is named and trace.dat is not there, with the recordings that killed processes left.
fn no_recording_here(args: &RecoverArgs) -> Failure {
    let failure = Failure::new(Exit::Failed, anyhow!("there is no trace.dat here to recover"));
    let orphans = find_orphans(&args.tracefs.journal_dir()).orphans;
    let killed = orphans.iter().rev().filter_map(|orphan| {
        let path = &left_unfinished(orphan)?.path;
        Some(format!("`rtrace recover {path}` finishes that of `{}` (process {}).", orphan.command(), orphan.pid()))
    });
    let hints: Vec<String> = killed.collect();
    match hints.is_empty() {
        true => failure.hint("`rtrace recover FILE` finishes another; no killed recording left a journal."),
        false => hints.into_iter().fold(failure, Failure::hint),
    }
}

/// The losses that a finished recording names; an error if it is damaged.
fn lacks(file: &Path) -> Result<Vec<UnsavedEvents>, Failure> {
    let damaged = |defect: &dyn Display| {
        let error = anyhow!("{} is not unfinished but damaged: {defect}", file.display());
        let hint = "`rtrace dump --validate` names each defect, `rtrace convert` copies what can be read.";
        Failure::new(Exit::Incomplete, error).hint(hint)
    };
    let trace = Trace::open_path(file).map_err(|error| damaged(&error))?;
    let each = trace.damage.into_iter().map(|one| match one {
        FileError::Unsaved(events) => Ok(events),
        defect @ FileError::NoOptions { .. } => {
            let error = anyhow!("{}: there is nothing to recover: {defect}", file.display());
            Err(Failure::new(Exit::Incomplete, error).hint("nothing had been recorded: the file can go."))
        }
        defect => Err(damaged(&defect)),
    });
    each.collect()
}

/// Finishes the recording at `file`, and says so.
pub(crate) fn finish(file: &Path, tracefs: &TracefsArgs, json: bool) -> Result<Exit, Failure> {
    if let Some(failure) = foreign::at(file) {
        let is_empty = std::fs::metadata(file).is_ok_and(|file| file.len() == 0);
        let is_left = is_empty && !find_orphans(&tracefs.journal_dir()).orphans.is_empty();
        return Err(match is_left {
            true => failure.hint("a killed recorder left tracing changed: `rtrace reset --stale` puts it back."),
            false => failure,
        });
    }
    let recovered = recover(file, &tracefs.journal_dir(), sudo_caller(), || tracefs.find());
    let (done, rings) = recovered.map_err(|error| {
        let hint = match &error {
            WriteError::Renamed { recorded_as, .. } => Some(format!(
                "rename the spools like the recording (.{recorded_as}.* to .{name}.*), or give it its former name back.",
                name = file.file_name().unwrap_or_default().to_string_lossy()
            )),
            _ => None,
        };
        let incomplete = matches!(error, WriteError::SpoolTable(_) | WriteError::NoSpoolTable);
        let error = anyhow::Error::new(error).context(format!("failed to recover {}", file.display()));
        let failure = if incomplete { Failure::new(Exit::Incomplete, error) } else { Failure::from(error) };
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    })?;
    let (done, missing, unsaved, sound) = match done {
        Recovered::WasComplete => {
            let lacks = lacks(file)?;
            let sound = verify(file)?;
            (RecoveryOutcome::Nothing { is_whole: sound && lacks.is_empty() }, Vec::new(), lacks, sound)
        }
        Recovered::NeverBegan => (RecoveryOutcome::Removed, Vec::new(), Vec::new(), true),
        Recovered::Finished { written, dropped, missing, unsaved } => {
            let (size, data) = (written.file_size, written.data_size);
            (RecoveryOutcome::Recording { how: "recovered", size, data, dropped }, missing, unsaved, verify(file)?)
        }
    };
    for name in &missing {
        note!("rtrace: {}: spool {name} is not there: what it held is lost", file.display());
    }
    let failures = rings.as_ref().map_or(&[][..], |rings| &rings.failures);
    for failure in failures {
        note!("rtrace: the ring buffers of the recording: {failure}");
    }
    if !failures.is_empty() {
        note!("rtrace: tracing is left as it is; `rtrace reset --stale` puts it back and drops what the rings hold");
    }
    let lacks_some = rings.as_ref().is_some_and(|rings| rings.missing.is_some_and(|missing| missing > 0));
    let events = if lacks_some && !json { events_of(file) } else { None };
    let exit = done.tell_with(file, rings.as_ref(), events, json)?;
    let is_whole = sound && missing.is_empty() && failures.is_empty() && unsaved.is_empty();
    // In text the sum is printed; each CPU's share is in the file, where `report` shows it.
    let is_summed = !json && lacks_some;
    for unsaved in unsaved.into_iter().filter(|_| !is_summed) {
        note!("rtrace: {}: {}", file.display(), FileError::from(unsaved));
    }
    Ok(if is_whole { exit } else { Exit::Incomplete })
}

/// The number of events in the recording, if it can be read.
fn events_of(file: &Path) -> Option<u64> {
    let recording = Recording::open(File::open(file).ok()?).ok()?;
    Some(recording.query().threads(threads()).for_each(|_| ()).ok()?.events)
}

/// True if all data of the finished recording can be read; names what cannot.
fn verify(file: &Path) -> Result<bool, Failure> {
    const MOST_LINES: u64 = 100;
    let trace = super::trace_file::open(file)?;
    let mut count = 0u64;
    trace.verify_data(threads(), &mut |damage| {
        count += 1;
        if count <= MOST_LINES {
            let chain: Vec<String> = anyhow::Chain::new(&damage).map(ToString::to_string).collect();
            note!("rtrace: {}: {}", file.display(), chain.join(": "));
        }
    });
    if count > MOST_LINES {
        note!("rtrace: damage in {} in all", counted(count, "place"));
    }
    Ok(count == 0)
}
