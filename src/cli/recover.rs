//! `rtrace recover`.

use super::exit::{Exit, Failure};
use super::trace_file::{Made, open};
use anyhow::{Context, anyhow};
use rtrace::trace_dat::write::{Version, restore};
use rtrace::trace_dat::{Codec, Recovered, recover};
use rtrace::units::{ByteSize, CpuId};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Finish a recording whose recorder was killed
///
/// Moves the spools beside the file into it. Nothing is lost but what had not been written when the recorder died.
///
/// Of trace-cmd: -i names a file that says all but the events (made by `trace-cmd restore -c`, or another recording of the
/// same kernel and the same events), and the files of the CPUs follow.
#[derive(clap::Args)]
#[command(
    after_help = "EXAMPLES:\n  rtrace recover            finishes trace.dat\n  rtrace recover run.dat    finishes run.dat\n  rtrace restore -i partial.dat -o run.dat trace.dat.cpu*"
)]
pub(crate) struct Args {
    /// File of the recording; with -i, the files of its CPUs
    #[arg(value_name = "FILE", default_value = "trace.dat", value_hint = clap::ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Make a recording of trace-cmd's per-CPU files: HEADER says all but the events
    #[arg(short, long, value_name = "HEADER", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
    /// With -i: write to OUTPUT
    #[arg(short, long, value_name = "OUTPUT", default_value = "trace.dat", requires = "input", value_hint = clap::ValueHint::FilePath)]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match (&args.input, args.files.as_slice()) {
        (Some(header), cpus) => from_cpus(header, cpus, &args.output),
        (None, [file]) => finish(file),
        (None, _) => Err(Failure::new(Exit::Usage, anyhow!("one recording at a time"))
            .hint("the per-CPU files of trace-cmd need `-i HEADER`.")),
    }
}

/// The CPU that a file's name ends in: `trace.dat.cpu3`.
fn cpu_of(path: &Path) -> Option<CpuId> {
    let name = path.file_name()?.to_str()?;
    name.rsplit_once(".cpu")?.1.parse().ok().map(CpuId)
}

fn from_cpus(header: &Path, files: &[PathBuf], output: &Path) -> Result<Exit, Failure> {
    let facts = open(header)?;
    let mut cpus: Vec<(CpuId, File)> = Vec::new();
    for (nth, path) in files.iter().enumerate() {
        let cpu = cpu_of(path).unwrap_or(CpuId(nth as u32));
        if cpus.iter().any(|(known, _)| *known == cpu) {
            return Err(Failure::new(Exit::Usage, anyhow!("{} is of CPU {cpu} too", path.display()))
                .hint("the names of the files end in .cpu0, .cpu1, ..."));
        }
        let file = File::open(path).with_context(|| format!("failed to open {}", path.display()))?;
        cpus.push((cpu, file));
    }
    cpus.sort_by_key(|(cpu, _)| *cpu);
    let (made, file) = Made::new(output)?;
    let done = restore(&facts, cpus, file, Version::V7(Codec::Zstd))
        .with_context(|| format!("failed to write {}", output.display()))?;
    made.keep()?;
    let (size, data) = (ByteSize(done.size), ByteSize(done.data));
    println!("{}: restored, {size} with {data} of events{}", output.display(), torn(done.dropped));
    Ok(Exit::Success)
}

fn torn(dropped: u64) -> String {
    if dropped == 0 { String::new() } else { format!(", {} of torn ends dropped", ByteSize(dropped)) }
}

fn finish(file: &Path) -> Result<Exit, Failure> {
    let name = file.display();
    let done = recover(file).with_context(|| format!("failed to recover {name}"))?;
    match done {
        Recovered::WasComplete => println!("{name}: a complete recording, nothing to recover"),
        Recovered::Finished { written, dropped } => {
            let ends = torn(dropped);
            let (file, data) = (ByteSize(written.file_size), ByteSize(written.data_size));
            println!("{name}: recovered, {file} with {data} of events{ends}");
        }
    }
    Ok(Exit::Success)
}
