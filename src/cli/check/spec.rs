//! A file of assertions.

use crate::cli::exit::{Exit, Failure};
use crate::cli::named_files::read_file;
use anyhow::anyhow;
use rtrace::internal::assertion::Assertion;
use rtrace::internal::trace_dat::is_recording;
use rtrace::syntax::Diagnostic;
use serde::Deserialize;
use std::path::Path;

/// The content of a file of assertions.
pub(super) struct CheckSpec {
    pub(super) min_samples: Option<u64>,
    pub(super) allow_absent: bool,
    /// Names and assertions, in the file's order.
    pub(super) assertions: Vec<(String, Assertion)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CheckTables {
    min_samples: Option<u64>,
    #[serde(default)]
    allow_absent: bool,
    #[serde(default)]
    assert: toml::Table,
}

/// The hint on a file of another form.
const FORM: &str = "A file of assertions has one a line, `max(wait()) < 5ms`, or is TOML: `[assert]`, then `name = \"max(wait()) < 5ms\"`.";

/// Reads the file at `path`: TOML if it is that or has a table, else a line for each assertion.
pub(super) fn read(path: &Path) -> Result<CheckSpec, Failure> {
    if is_recording(path) {
        let error = anyhow!("{} is a recording, and --spec takes a file of assertions", path.display());
        return Err(Failure::new(Exit::Usage, error).hint("as in `rtrace check FILE --spec assertions.toml`."));
    }
    let text = read_file(path)
        .map_err(|failure| failure.hint("it is a file with an assertion a line, as `max(wait()) < 5ms`."))?;
    let first = text.trim_start().lines().next().unwrap_or_default().trim_end();
    let other = match first {
        _ if first.starts_with('{') => Some("JSON"),
        _ if first == "---" || first.ends_with(':') => Some("YAML"),
        _ => None,
    };
    if let Some(other) = other {
        let error = anyhow!("{} is {other}, which assertions are not read from", path.display());
        return Err(Failure::new(Exit::Usage, error).hint(FORM));
    }
    let usage = |error: anyhow::Error| Failure::new(Exit::Usage, error.context(format!("{}", path.display())));
    let tables: CheckTables = match toml::from_str(&text) {
        Ok(tables) => tables,
        Err(_) if is_plain(&text) => return lines(&text, path),
        Err(error) => {
            return Err(usage(anyhow!("{}", error.to_string().trim_end())).hint(FORM));
        }
    };
    let mut assertions = Vec::new();
    for (name, value) in tables.assert {
        let toml::Value::String(text) = value else {
            return Err(usage(anyhow!("`{name}` must be an assertion in quotes")));
        };
        let assertion = Assertion::parse(&text).map_err(|error| refused(usage(anyhow!("{name}: {error}")), &error))?;
        assertions.push((name, assertion));
    }
    Ok(CheckSpec { min_samples: tables.min_samples, allow_absent: tables.allow_absent, assertions })
}

/// True if no line assigns a text or opens a table, as TOML's do.
fn is_plain(text: &str) -> bool {
    let is_toml = |line: &str| {
        let assigned = line.split_once('=').filter(|(name, _)| !name.contains('('));
        line.trim_start().starts_with('[')
            || assigned.is_some_and(|(_, value)| value.trim_start().starts_with(['"', '\'']))
    };
    !text.lines().any(is_toml)
}

/// The assertions of lines; those that begin with `#` are comments, as is what follows ` #`.
fn lines(text: &str, path: &Path) -> Result<CheckSpec, Failure> {
    let mut assertions = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let quotes = |text: &str| text.matches(['"', '\'']).count();
        let comment = line.match_indices('#').map(|(at, _)| &line[..at]);
        let mut comment = comment.filter(|before| before.trim_end().len() < before.len() || before.is_empty());
        let line = comment.find(|before| quotes(before) % 2 == 0).unwrap_or(line).trim();
        if line.is_empty() {
            continue;
        }
        let assertion = Assertion::parse(line).map_err(|error| {
            refused(Failure::new(Exit::Usage, anyhow!("{}:{}: {error}", path.display(), number + 1)), &error)
        })?;
        assertions.push((line.to_owned(), assertion));
    }
    Ok(CheckSpec { min_samples: None, allow_absent: false, assertions })
}

fn refused(failure: Failure, error: &Diagnostic) -> Failure {
    error.hints().iter().cloned().fold(failure, Failure::hint)
}
