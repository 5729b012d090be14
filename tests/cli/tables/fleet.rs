//! A fleet: three hosts' recordings, of which one has a culprit, and the queries of docs/fleet.md that find it.

use super::{check_said, readers, top};
use crate::common::bounded::output_within;
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The folder that `fetch-NAME` made; `None`, with a line that says why, if there is none.
fn fetched(name: &str) -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let folder = target.unwrap_or_else(|| top().join("target")).join(name);
    let java = || Command::new("java").arg("-version").output().is_ok_and(|done| done.status.success());
    if !folder.join("ready").exists() {
        not_run(format!("{name}: tests/cli/tables/fetch-{name} has not fetched it"));
    } else if name == "spark" && !java() {
        not_run("PySpark: there is no java");
    } else {
        return Some(folder);
    }
    None
}

/// The rows of each query to the tables below `fleet`.
fn ask(env: &TestEnvironment, modules: &Path, engine: &str, queries: &[&str]) -> Vec<Value> {
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", modules.join("python")).current_dir(env.path());
    command.arg(top().join("tests/cli/tables/fleet.py")).args([engine, "fleet"]).args(queries);
    let text = check_said(output_within(&mut command, Duration::from_secs(600)).expect("python3"), engine);
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[test]
fn one_query_finds_the_machine_the_minute_and_the_culprit() {
    let env = TestEnvironment::new();
    for host in ["web1", "web2", "web3"] {
        let recording = top().join(format!("tests/data/fleet/{host}.dat"));
        env.rtrace(&["convert", &recording.to_string_lossy(), "--to", "parquet", "-o", host]).exits(0);
        // Pushed: directories of several machines are merged by copying one over the other.
        let copied = env.run("cp", &["-rT", host, "fleet"]);
        copied.exits(0);
    }
    let page = std::fs::read_to_string(top().join("docs/fleet.md")).expect("the page");
    let queries: Vec<&str> =
        page.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    let [minute, culprit] = queries[..] else { panic!("two queries: {queries:?}") };
    let engines = [("duckdb", readers()), ("spark", fetched("spark")), ("clickhouse", fetched("clickhouse"))];
    for (engine, modules) in engines.iter().filter_map(|(engine, modules)| Some((engine, modules.as_ref()?))) {
        let both = ask(&env, modules, engine, &[minute, culprit]);
        let rows = both[0].as_array().expect("rows");
        assert_eq!(rows[0]["host"], "web2", "{engine}: {rows:?}");
        // 2026-11-25 02:33 UTC, as the recording's first event has it.
        assert_eq!(rows[0]["minute"], 1_795_573_980, "{engine}: {rows:?}");
        assert!(rows[0]["worst"].as_i64() > Some(300_000_000), "{engine}: {rows:?}");
        assert!(rows[1..].iter().all(|row| row["worst"].as_i64() < Some(200_000_000)), "{engine}: {rows:?}");
        let rows = both[1].as_array().expect("rows");
        assert_eq!(rows[0]["name"], "batch-job", "{engine}: {rows:?}");
        assert_eq!(rows[0]["host"], "web2", "{engine}: {rows:?}");
    }
}
