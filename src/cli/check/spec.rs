//! A file of assertions.

use super::files::read_file;
use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::internal::assertion::Assertion;
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

/// Reads the file at `path`.
pub(super) fn read(path: &Path) -> Result<CheckSpec, Failure> {
    let text = read_file(path)?;
    let usage = |error: anyhow::Error| Failure::new(Exit::Usage, error.context(format!("{}", path.display())));
    let tables: CheckTables =
        toml::from_str(&text).map_err(|error| usage(anyhow!("{}", error.to_string().trim_end())))?;
    let mut assertions = Vec::new();
    for (name, value) in tables.assert {
        let toml::Value::String(text) = value else {
            return Err(usage(anyhow!("`{name}` must be an assertion in quotes")));
        };
        let assertion = Assertion::parse(&text).map_err(|error| {
            let hints = error.hints().to_vec();
            hints.into_iter().fold(usage(anyhow!("{name}: {error}")), Failure::hint)
        })?;
        assertions.push((name, assertion));
    }
    Ok(CheckSpec { min_samples: tables.min_samples, allow_absent: tables.allow_absent, assertions })
}
