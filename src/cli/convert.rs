//! `rtrace convert`.

use super::exit::{Exit, Failure};
use super::trace_file::{Damage, Made, open};
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::trace_dat::write::{Version, convert};
use rtrace::trace_dat::{Codec, WriteError};
use std::path::{Path, PathBuf};

/// Write a recording in another version or compression
///
/// Events, formats, symbols and all options, also unknown ones, are the same in the new file. A damaged file gives what
/// is whole of it, and the exit code 4.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace convert -i old.dat -o new.dat                     version 7, compressed with zstd
  rtrace convert -i trace.dat --file-version 6 old.dat     for an old trace-cmd or KernelShark
  rtrace convert --compression none plain.dat              trace.dat, uncompressed")]
pub(crate) struct Args {
    /// File to read
    #[arg(short, long, value_name = "FILE", default_value = "trace.dat", value_hint = clap::ValueHint::FilePath)]
    input: PathBuf,
    /// File to write
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// File to write
    #[arg(value_name = "FILE", conflicts_with = "output", value_hint = clap::ValueHint::FilePath)]
    target: Option<PathBuf>,
    /// Version of the file: 6 or 7
    #[arg(long, value_name = "VERSION", default_value_t = 7, value_parser = clap::value_parser!(u8).range(6..=7))]
    file_version: u8,
    /// zstd, zlib, none, or any for the best there is; version 6 is never compressed
    #[arg(long, value_name = "HOW", value_parser = codec)]
    compression: Option<Codec>,
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
    let Some(output) = args.output.as_deref().or(args.target.as_deref()) else {
        return Err(Failure::new(Exit::Usage, anyhow!("no file to write is named")).hint("`-o FILE` names it."));
    };
    let version = match (args.file_version, args.compression) {
        (6, None | Some(Codec::None)) => Version::V6,
        (6, Some(_)) => {
            let error = anyhow!("a file of version 6 cannot be compressed");
            return Err(Failure::new(Exit::Usage, error).hint("leave --compression out, or use --file-version 7."));
        }
        (_, codec) => Version::V7(codec.unwrap_or(Codec::Zstd)),
    };
    rewrite(&args.input, output, version)
}

/// Writes `input` to `output`, which may be the same file.
pub(crate) fn rewrite(input: &Path, output: &Path, version: Version) -> Result<Exit, Failure> {
    let trace = open(input)?;
    let mut damage = Damage::of(input, &trace);
    let (made, file) = Made::new(output)?;
    let converted = convert(&trace, file, version, &mut |found| damage.note(&found));
    converted.map_err(|error| {
        let lacks = matches!(error, WriteError::Version6(_));
        let failure = Failure::from(anyhow::Error::new(error).context(format!("failed to write {}", output.display())));
        if lacks { failure.hint("`--file-version 7` has room for it.") } else { failure }
    })?;
    if version == Version::V6 && !(trace.btf.get().is_ok_and(<[u8]>::is_empty) && trace.modules.is_empty()) {
        note!("rtrace: {}: version 6 has no room for the kernel's BTF and its list of modules", output.display());
    }
    made.keep()?;
    Ok(damage.exit())
}
