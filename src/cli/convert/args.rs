//! Arguments of `rtrace convert`.

use super::target::ConvertTarget;
use super::tracks;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryArgs;
use crate::cli::trace_file::Overwrite;
use anyhow::anyhow;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use rtrace::units::ByteSize;
use std::path::{Path, PathBuf};

/// Write a recording in another format, version or compression
///
/// The format is that of --to, else that of OUT's ending (.perfetto-trace, .json, .csv, ...), else, without an ending, trace.dat. A trace.dat file holds the
/// same events, formats, symbols and options, also unknown ones. `report`'s options for events select them here; the other formats take
/// several files, merged by time; a line at the end says what was written and what was left out. A damaged file
/// gives what is whole of it, and the exit code 4. OUT appears when it is complete.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace convert old.dat new.dat                           version 7, compressed with zstd
  rtrace convert trace.dat v6.dat --file-version 6         for an old trace-cmd or KernelShark
  rtrace convert --compression none -o plain.dat           trace.dat, uncompressed
  rtrace convert run.dat irq.dat --filter 'irq:*' --since -1s   these events only, as a recording
  rtrace convert run.dat run.perfetto-trace                to be opened in ui.perfetto.dev
  rtrace convert run.dat run.pftrace --pair sched:sched_waking:sched:sched_switch:pid=next_pid
  rtrace convert host.dat guest.dat -o both.perfetto.tar   a trace for each machine, and Perfetto's manifest
  rtrace convert run.dat run.folded                        for inferno-flamegraph, flamegraph.pl, speedscope
  rtrace convert run.dat run.firefox.json --split 200M     run.1.firefox.json, ..., for profiler.firefox.com
  rtrace convert run.dat run.ctf                           a directory for babeltrace2 and Trace Compass; .ctf2: CTF 2
  rtrace convert run.dat run.parquet                       a directory of tables for DuckDB, Spark, polars
  rtrace convert run.dat run.csv --fields ts,cpu,next_comm --filter sched:sched_switch
  rtrace convert run.dat --marker-events -o - | rtrace hist -i - rtapp_loop --key event,phase
  rtrace convert run.dat --to json --since -200ms -o - | jq 'select(.pid == 1)'
  rtrace convert run.dat --compression none -o - | ssh host 'cat > run.dat'")]
pub(crate) struct ConvertArgs {
    /// Files to read, unless -i names them, and last the file to write, unless -o names it
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// File to read; several are merged by time [default: trace.dat]
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    input: Vec<PathBuf>,
    /// File to write; `-` is standard output
    #[arg(short, long, value_name = "OUT", value_hint = clap::ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    /// Format to write [default: that of OUT's ending]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(super) to: Option<ConvertTarget>,
    #[command(flatten)]
    pub(super) overwrite: Overwrite,
    /// Version of a trace.dat file: 6 or 7 [default: 7]
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(u8).range(6..=7))]
    pub(super) file_version: Option<u8>,
    /// Compression of a trace.dat file: zstd, zlib, none, or any for the best there is; version 6 is never compressed
    #[arg(long, value_name = "HOW", value_parser = codec)]
    pub(super) compression: Option<Codec>,
    /// Columns of csv, as of `report --fields`
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(super) fields: Vec<String>,
    /// Replace names by pseudonyms: of tasks, files, cgroups, machines, and all other texts (json, csv, perfetto, parquet, ctf)
    ///
    /// A name has one pseudonym throughout the output, and another in the next. Structures and arrays of bytes become zeros. Numbers,
    /// times, kernel functions and names of events stay.
    #[arg(long)]
    pub(super) redact: bool,
    /// Write several files, OUT.1.ENDING and so on, each with a part of the time and at most SIZE, as in 200M
    #[arg(long, value_name = "SIZE")]
    pub(super) split: Option<ByteSize>,
    #[command(flatten)]
    pub(super) tracks: tracks::TrackArgs,
    /// Make events of the lines `NAME: KEY=VALUE ...` of trace_marker and trace_printk: marker:NAME [all names]
    #[arg(long, value_name = "NAME,...", num_args = 0..=1, require_equals = true, default_missing_value = "*",
          value_delimiter = ',', conflicts_with = "split")]
    pub(super) marker_events: Vec<String>,
    /// Say what was written as JSON
    #[arg(long, conflicts_with = "split")]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) events: QueryArgs,
}

impl ConvertArgs {
    /// The files to read and the one to write. The first file without an option is one to read, as in every command that
    /// reads; after -i it is the one to write, as in trace-cmd.
    pub(super) fn files(&self) -> Result<(Vec<&Path>, &Path), Failure> {
        let mut inputs: Vec<&Path> = self.input.iter().chain(&self.files).map(PathBuf::as_path).collect();
        let output = match &self.output {
            Some(output) => output,
            None if self.input.is_empty() && inputs.len() == 1 => {
                let name = inputs[0].display();
                let error = anyhow!("no file to write is named; {name} is the one to read");
                let to = self.to.map_or(String::new(), |to| format!(" --to {}", to.name()));
                let hint = format!("`rtrace convert {name}{to} -o FILE` names it; `-o -` is standard output.");
                return Err(Failure::new(Exit::Usage, error).hint(hint));
            }
            None => match self.files.last() {
                Some(last) => {
                    inputs.pop();
                    last
                }
                None => {
                    let failure = Failure::new(Exit::Usage, anyhow!("no file to write is named"));
                    return Err(failure.hint("`-o FILE` names it."));
                }
            },
        };
        if inputs.is_empty() {
            inputs.push(Path::new("trace.dat"));
        }
        Ok((inputs, output))
    }

    /// The version and compression of a trace.dat file.
    pub(super) fn version(&self) -> Result<Version, Failure> {
        Ok(match (self.file_version, self.compression) {
            (Some(6), None | Some(Codec::None)) => Version::V6,
            (Some(6), Some(_)) => {
                let error = anyhow!("a file of version 6 cannot be compressed");
                return Err(Failure::new(Exit::Usage, error).hint("leave --compression out, or use --file-version 7."));
            }
            (_, codec) => Version::V7(codec.unwrap_or(Codec::Zstd)),
        })
    }
}

fn codec(text: &str) -> Result<Codec, String> {
    match text {
        "any" => Ok(Codec::Zstd),
        _ if text.contains(':') => {
            Err("expected zstd, zlib, none or any: a copy has no level, `record --compression zstd:LEVEL` has".into())
        }
        _ => {
            Codec::from_name(text).filter(|_| !text.is_empty()).ok_or_else(|| "expected zstd, zlib, none or any".into())
        }
    }
}
