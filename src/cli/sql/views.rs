//! The views of a query: SQL that makes one of each table.

use crate::cli::exit::{Exit, Failure};
use crate::cli::table_folders::{COMPACTING, below, files};
use anyhow::anyhow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of a table, as patterns of paths.
#[derive(Default)]
struct ViewFiles {
    /// Of one machine each, which the path names.
    of_hosts: Vec<String>,
    /// Parts: those of `rtrace compact`, with a column `host`.
    parts: Vec<String>,
}

impl ViewFiles {
    /// The rows of all files.
    fn select(&self) -> String {
        let of = |files: &[String], types: &str| {
            let files: Vec<String> = files.iter().map(|file| literal(file)).collect();
            format!(
                "select * exclude (event) from read_parquet([{}], hive_partitioning = true, \
                 hive_types = {{{types}'date': varchar, 'event': varchar}}, union_by_name = true)",
                files.join(", ")
            )
        };
        let some = [(&self.of_hosts, "'host': varchar, "), (&self.parts, "")];
        let selects: Vec<String> =
            some.iter().filter(|(files, _)| !files.is_empty()).map(|(files, types)| of(files, types)).collect();
        selects.join(" union all by name ")
    }
}

/// SQL that makes a view of each table below `folders`: of several hosts, days and directories one.
pub(super) fn of(folders: &[PathBuf]) -> Result<String, Failure> {
    let mut tables: BTreeMap<String, ViewFiles> = BTreeMap::new();
    for folder in folders {
        if folder.join(COMPACTING).exists() {
            let error = anyhow!("{} is being compacted, so that rows may be in it twice", folder.display());
            let hint = "`rtrace compact DIRECTORY` completes what was stopped.";
            return Err(Failure::new(Exit::Incomplete, error).hint(hint));
        }
        let mut found = false;
        let mut add = |date: &Path, is_part: bool| -> Result<(), Failure> {
            for event in below(date, "event=")? {
                let (Some(path), Some(name)) = (event.to_str(), event.file_name()) else { continue };
                if files(&event, ".parquet")?.is_empty() {
                    continue;
                }
                let name = name.to_string_lossy()["event=".len()..].to_owned();
                let table = tables.entry(name).or_default();
                let of = if is_part { &mut table.parts } else { &mut table.of_hosts };
                of.push(format!("{}/*.parquet", plain(path)));
                found = true;
            }
            Ok(())
        };
        for host in below(folder, "host=")? {
            below(&host, "date=")?.iter().try_for_each(|date| add(date, false))?;
        }
        below(folder, "date=")?.iter().try_for_each(|date| add(date, true))?;
        if !found {
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
        sql.push_str(&format!("create view {view} as {};\n", files.select()));
    }
    Ok(sql)
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
