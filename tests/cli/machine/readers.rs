//! jq, pandas and DuckDB read what we write.

use super::files::{events, json, recordings, report};
use crate::common::bounded::output;
use crate::common::not_run::not_run;
use crate::tables::readers;
use std::path::Path;
use std::process::Command;

/// Runs a program with `input`; `None` if it cannot be started.
fn feed(program: &Path, args: &[&str], input: &str) -> Option<String> {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("input");
    std::fs::write(&path, input).unwrap();
    let output = output(Command::new(program).args(args).arg(&path)).ok()?;
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn jq_reads_the_json() {
    for file in recordings() {
        let lines = report(&file, &["--format", "json"]);
        let count = events(&json(&file, &[])).len();
        let program = "select(.type == \"event\") | [.ts, .event, (.fields | keys | length)] | @tsv";
        let Some(rows) = feed(Path::new("jq"), &["-r", program], &lines) else {
            not_run("jq is not installed");
            return;
        };
        assert_eq!(rows.lines().count(), count, "{}", file.display());
    }
}

const SCRIPT: &str = r#"
import sys
import pandas, duckdb
path = sys.argv[1]
kind = open(path, encoding="utf-8").read(1)
if kind == "{":
    lines = pandas.read_json(path, lines=True, dtype={"ts": "Int64"})
    events = lines[lines["type"] == "event"]
    print("pandas", len(events), int(events["ts"].iloc[0]), events["event"].nunique())
    query = f"""select count(*), min(ts)::ubigint, count(distinct event)
                from read_json('{path}', format='newline_delimited',
                               columns={{type: 'varchar', ts: 'ubigint', event: 'varchar', fields: 'json'}})
                where type = 'event'"""
    print("duckdb", *duckdb.sql(query).fetchall()[0])
else:
    rows = pandas.read_csv(path, keep_default_na=False)
    print("pandas", len(rows), int(rows["ts"].iloc[0]), rows["event"].nunique())
    query = f"""select count(*), min(ts), count(distinct event)
                from read_csv('{path}', header=true, quote='"', escape='"', sample_size=-1)"""
    print("duckdb", *duckdb.sql(query).fetchall()[0])
"#;

#[test]
fn pandas_and_duckdb_read_json_and_csv() {
    let Some(readers) = readers() else { return };
    let modules = format!("PYTHONPATH={}", readers.join("python").display());
    for file in recordings() {
        let lines = json(&file, &[]);
        let all = events(&lines);
        let mut names: Vec<&str> = all.iter().map(|e| e["event"].as_str().unwrap()).collect();
        names.sort_unstable();
        names.dedup();
        let expected = format!("{} {} {}", all.len(), all[0]["ts"], names.len());
        for format in [&["--format", "json"][..], &["--format", "csv"]] {
            let said = feed(Path::new("env"), &[&modules, "python3", "-c", SCRIPT], &report(&file, format))
                .expect("Python starts");
            let expected = format!("pandas {expected}\nduckdb {expected}\n");
            assert_eq!(said, expected, "{}: {format:?}", file.display());
        }
    }
    println!("{} files as JSON and as CSV", recordings().len());
}
