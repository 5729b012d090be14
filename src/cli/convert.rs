//! `rtrace convert`.

use super::damage::Damage;
use super::exit::{Exit, Failure};
use super::trace_file::{Made, Overwrite, mode_like, open, threads};
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::trace_dat::write::{Version, convert};
use rtrace::trace_dat::{Codec, Trace, WriteError};
use std::path::{Path, PathBuf};

/// Write a recording in another version or compression
///
/// Events, formats, symbols and all options, also unknown ones, are the same in the new file. A damaged file gives what
/// is whole of it, and the exit code 4.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace convert old.dat new.dat                           version 7, compressed with zstd
  rtrace convert trace.dat v6.dat --file-version 6         for an old trace-cmd or KernelShark
  rtrace convert --compression none -o plain.dat           trace.dat, uncompressed")]
pub(crate) struct Args {
    /// File to read, unless -i names it, and file to write, unless -o names it
    #[arg(value_name = "FILE", num_args = 0..=2, value_hint = clap::ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// File to read [default: trace.dat]
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
    /// File to write
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Version of the file: 6 or 7
    #[arg(long, value_name = "VERSION", default_value_t = 7, value_parser = clap::value_parser!(u8).range(6..=7))]
    file_version: u8,
    /// zstd, zlib, none, or any for the best there is; version 6 is never compressed
    #[arg(long, value_name = "HOW", value_parser = codec)]
    compression: Option<Codec>,
}

impl Args {
    /// The files to read and to write. The first file without an option is the one to read, as in every command that
    /// reads; after -i it is the one to write, as in trace-cmd.
    fn files(&self) -> Result<(&Path, &Path), Failure> {
        let (input, output) = (self.input.as_deref(), self.output.as_deref());
        match (input, output, self.files.as_slice()) {
            (Some(input), Some(output), []) => Ok((input, output)),
            (None, Some(output), []) => Ok((Path::new("trace.dat"), output)),
            (Some(input), None, [output]) => Ok((input, output)),
            (None, Some(output), [input]) => Ok((input, output)),
            (None, None, [input, output]) => Ok((input, output)),
            (None, None, [input]) => {
                let name = input.display();
                Err(Failure::new(Exit::Usage, anyhow!("no file to write is named; {name} is the one to read"))
                    .hint(format!("`rtrace convert {name} -o FILE` names it."))
                    .hint(format!("`rtrace convert -i trace.dat {name}` writes {name}, as trace-cmd does without -i.")))
            }
            (_, None, []) => {
                Err(Failure::new(Exit::Usage, anyhow!("no file to write is named")).hint("`-o FILE` names it."))
            }
            (_, _, [.., one]) => {
                Err(Failure::new(Exit::Usage, anyhow!("{} is a file too many: -i and -o name one each", one.display())))
            }
        }
    }
}

pub(crate) fn codec(text: &str) -> Result<Codec, String> {
    match text {
        "any" => Ok(Codec::Zstd),
        _ => {
            Codec::from_name(text).filter(|_| !text.is_empty()).ok_or_else(|| "expected zstd, zlib, none or any".into())
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let (input, output) = args.files()?;
    let version = match (args.file_version, args.compression) {
        (6, None | Some(Codec::None)) => Version::V6,
        (6, Some(_)) => {
            let error = anyhow!("a file of version 6 cannot be compressed");
            return Err(Failure::new(Exit::Usage, error).hint("leave --compression out, or use --file-version 7."));
        }
        (_, codec) => Version::V7(codec.unwrap_or(Codec::Zstd)),
    };
    rewrite(input, output, version, args.overwrite)
}

/// Writes `input` to `output`, which may be the same file.
pub(crate) fn rewrite(input: &Path, output: &Path, version: Version, overwrite: Overwrite) -> Result<Exit, Failure> {
    let trace = open(input)?;
    overwrite.check(output)?;
    let damage = Damage::of(input, &trace);
    damage.outcome(write(&trace, input, output, version, overwrite, &damage))
}

fn write(
    trace: &Trace,
    input: &Path,
    output: &Path,
    version: Version,
    overwrite: Overwrite,
    damage: &Damage,
) -> Result<(), Failure> {
    let (made, file) = Made::new(output, mode_like(input), overwrite)?;
    let converted = convert(trace, file, version, threads(), &mut |found| damage.note(input, &found));
    converted.map_err(|error| {
        let lacks = matches!(error, WriteError::Version6(_));
        let failure = Failure::from(anyhow::Error::new(error).context(format!("failed to write {}", output.display())));
        if lacks { failure.hint("`--file-version 7` has room for it.") } else { failure }
    })?;
    if version == Version::V6 && !(trace.btf.get().is_ok_and(<[u8]>::is_empty) && trace.modules.is_empty()) {
        note!("rtrace: {}: version 6 has no room for the kernel's BTF and its list of modules", output.display());
    }
    made.keep()
}
