//! Files at paths that the user names.

use crate::cli::exit::{Failure, print};
use crate::cli::piped::is_stdout;
use anyhow::anyhow;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Writes a file at a path that the user names. A new one gets the mode `mode`, less the umask.
pub(crate) fn write_file(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    if is_stdout(path) {
        return print(text).map(drop);
    }
    let failed = |error: std::io::Error| {
        let dir = path.parent().filter(|dir| error.kind() == std::io::ErrorKind::NotFound && !dir.exists());
        let hint = dir.map(|dir| format!("`mkdir -p {}` makes its directory.", dir.display()));
        let failure = Failure::from(anyhow!("cannot write {}", path.display()).context(error));
        hint.into_iter().fold(failure, Failure::hint)
    };
    let mut file = rtrace::internal::safe_file::create(path, mode).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    Ok(())
}

/// Reads a file at a path that the user names.
pub(crate) fn read_file(path: &Path) -> Result<String, Failure> {
    Ok(fs::read_to_string(path)
        .map_err(|error| anyhow::Error::new(error).context(format!("cannot read {}", path.display())))?)
}
