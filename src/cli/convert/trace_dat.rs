//! To a trace.dat file of another version or compression: every section is copied.

use crate::cli::damage::Damage;
use crate::cli::exit::Exit;
use crate::cli::exit::Failure;
use crate::cli::terminal::note;
use crate::cli::trace_file::{Made, Overwrite, mode_like, open, threads};
use rtrace::trace_dat::write::{Version, convert};
use rtrace::trace_dat::{Trace, WriteError};
use std::path::Path;

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
