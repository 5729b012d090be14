//! The tables of directories as views.

use crate::cli::exit::{Exit, Failure};
use anyhow::{Context, anyhow};
use std::collections::BTreeMap;
use std::fs::read_dir;
use std::path::{Path, PathBuf};

/// SQL that makes a view of each table below `folders`: of several hosts, days and directories one.
pub(super) fn of(folders: &[PathBuf]) -> Result<String, Failure> {
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in folders {
        let before = tables.len();
        for host in below(folder, "host=")? {
            for date in below(&host, "date=")? {
                for event in below(&date, "event=")? {
                    let (Some(path), Some(name)) = (event.to_str(), event.file_name()) else { continue };
                    let name = name.to_string_lossy()["event=".len()..].to_owned();
                    tables.entry(name).or_default().push(format!("{}/*.parquet", plain(path)));
                }
            }
        }
        if tables.len() == before
            && !tables.values().flatten().any(|of| of.starts_with(&plain(&folder.to_string_lossy())))
        {
            let error = anyhow!("{} holds no tables", folder.display());
            return Err(
                Failure::new(Exit::Failed, error).hint("`rtrace convert FILE --to parquet -o DIRECTORY` makes them.")
            );
        }
    }
    let mut sql = String::new();
    for (name, files) in &tables {
        let view = match name.split_once('.') {
            Some((system, event)) => {
                sql.push_str(&format!("create schema if not exists {};\n", identifier(system)));
                format!("{}.{}", identifier(system), identifier(event))
            }
            None => identifier(name),
        };
        let files: Vec<String> = files.iter().map(|file| literal(file)).collect();
        sql.push_str(&format!(
            "create view {view} as select * exclude (event) from read_parquet([{}], hive_partitioning = true, \
             hive_types = {{'host': varchar, 'date': varchar, 'event': varchar}}, union_by_name = true);\n",
            files.join(", ")
        ));
    }
    Ok(sql)
}

/// The directories below `folder` whose names begin so, in the order of their names.
fn below(folder: &Path, with: &str) -> Result<Vec<PathBuf>, Failure> {
    let entries = read_dir(folder).with_context(|| format!("failed to read {}", folder.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("failed to read {}", folder.display()))?;
        if entry.file_name().to_string_lossy().starts_with(with) {
            found.push(entry.path());
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// A path as a pattern that matches it alone.
fn plain(path: &str) -> String {
    path.chars().map(|c| if "*?[".contains(c) { format!("[{c}]") } else { c.to_string() }).collect()
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_no_statement() {
        assert_eq!(identifier("a\"; drop"), "\"a\"\"; drop\"");
        assert_eq!(literal(&plain("it's/[x]*")), "'it''s/[[]x][*]'");
    }
}
