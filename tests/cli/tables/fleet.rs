//! A fleet: the queries of docs/fleet.md, over three hosts of which one has a culprit, and over ten hosts that made ten recordings
//! each, against the sum of what `analyze` says of each recording; of files and of the parts that `compact` makes of them.

use super::compact::sums;
use super::{check_said, files, python, readers, top};
use crate::common::bounded::output_within;
use crate::common::environment::TestEnvironment;
use crate::common::long::is_left_out;
use crate::common::not_run::not_run;
use serde_json::Value;
use std::collections::BTreeMap;
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

/// The engines that are there, each with its modules.
fn engines() -> Vec<(&'static str, PathBuf)> {
    let all = [("duckdb", readers()), ("spark", fetched("spark")), ("clickhouse", fetched("clickhouse"))];
    all.into_iter().filter_map(|(engine, modules)| Some((engine, modules?))).collect()
}

/// The rows of each query to the tables below `fleet`.
fn ask(env: &TestEnvironment, modules: &Path, engine: &str, queries: &[&str]) -> Vec<Value> {
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", modules.join("python")).current_dir(env.path());
    command.arg(top().join("tests/cli/tables/fleet.py")).args([engine, "fleet"]).args(queries);
    let text = check_said(output_within(&mut command, Duration::from_secs(600)).expect("python3"), engine);
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

/// The queries of docs/fleet.md: the machine and the minute, the culprit.
fn queries() -> [String; 2] {
    let page = std::fs::read_to_string(top().join("docs/fleet.md")).expect("the page");
    let blocks = page.split("```sql\n").skip(1);
    let queries: Vec<String> = blocks.map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect();
    queries.try_into().expect("two queries")
}

/// Pushes a directory of tables to `fleet`: directories of several machines are merged by copying one over the other.
fn push(env: &TestEnvironment, directory: &str) {
    env.run("cp", &["-rT", directory, "fleet"]).exits(0);
}

#[test]
fn one_query_finds_the_machine_the_minute_and_the_culprit() {
    let env = TestEnvironment::new();
    for host in ["web1", "web2", "web3"] {
        let recording = top().join(format!("tests/data/fleet/{host}.dat"));
        env.rtrace(&["convert", &recording.to_string_lossy(), "--to", "parquet", "-o", host]).exits(0);
        push(&env, host);
    }
    let [minute, culprit] = queries();
    for (engine, modules) in engines() {
        let both = ask(&env, &modules, engine, &[&minute, &culprit]);
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

/// Waits of the service, as `analyze` has them of one recording: their time, without those of which it has no number.
fn waited(env: &TestEnvironment, recording: &str) -> i64 {
    let said = env.rtrace(&["analyze", "sched", "--json", "--top", "0", recording]).exits(0).stdout();
    let said: Value = serde_json::from_str(&said).expect("JSON");
    let tasks = said["buffers"].as_array().expect("buffers").iter().filter_map(|buffer| buffer["tasks"].as_array());
    let services = tasks.flatten().filter(|task| task["comm"] == "service");
    services
        .map(|task| task["wait"].as_i64().unwrap_or_default() + task["preempted"].as_i64().unwrap_or_default())
        .sum()
}

/// A copy of `recording` for which the kernel of a machine called `to` stands, whose name is as long as `from`.
fn renamed(recording: &Path, from: &str, to: &str) -> Vec<u8> {
    let mut bytes = std::fs::read(recording).expect("a recording");
    let (old, new) = (format!("Linux {from} "), format!("Linux {to} "));
    let at = bytes.windows(old.len()).position(|some| some == old.as_bytes()).expect("its UNAME");
    bytes[at..at + old.len()].copy_from_slice(new.as_bytes());
    bytes
}

#[test]
fn ten_hosts_of_ten_recordings_are_the_sum_of_the_recordings() {
    const PARTS: u64 = 10;
    let env = TestEnvironment::new();
    let mut expected: BTreeMap<String, i64> = BTreeMap::new();
    let mut recordings = 0;
    for (number, from) in ["web1", "web2", "web3"].into_iter().enumerate() {
        let whole = top().join(format!("tests/data/fleet/{from}.dat"));
        let whole = whole.to_string_lossy();
        // Two seconds, of which each host's recordings have a tenth; they are called alike.
        for part in 0..PARTS {
            let (since, until) = (format!("+{}ms", part * 200), format!("+{}ms", part * 200 + 199));
            let cut = ["convert", &whole, "-o", "cut.dat", "--force", "--file-version", "6"];
            env.rtrace(&[&cut[..], &["--since", &since, "--until", &until]].concat()).exits(0);
            let waits = waited(&env, "cut.dat");
            for host in (number..10).step_by(3).map(|host| format!("web{host}")) {
                std::fs::write(env.path().join("trace.dat"), renamed(&env.path().join("cut.dat"), from, &host))
                    .expect("a file");
                env.rtrace(&["convert", "trace.dat", "--to", "parquet", "-o", "tables"]).exits(0);
                push(&env, "tables");
                std::fs::remove_dir_all(env.path().join("tables")).expect("a directory");
                *expected.entry(host).or_default() += waits;
                recordings += 1;
            }
        }
    }
    assert_eq!((expected.len(), recordings), (10, 100));
    let found = files(&env.path().join("fleet"));
    assert_eq!(found.keys().filter(|path| path.to_string_lossy().contains("event=meta/")).count(), recordings);
    let by_host = |rows: &Value| {
        let mut sums: BTreeMap<String, i64> = BTreeMap::new();
        for row in rows.as_array().expect("rows") {
            *sums.entry(row["host"].as_str().expect("a host").to_owned()).or_default() +=
                row["waited"].as_i64().expect("a time");
        }
        sums
    };
    let [minute, culprit] = queries();
    let all = minute.replace("limit 5", "limit 1000");
    // The tasks that had a CPU while the service waited longest had it once at a time.
    let longest = "select max(dur) as longest from thread_state w join thread t on t.recording = w.recording \
                   and t.utid = w.utid where w.state = 0 and t.name = 'service'";
    let check = |what: &str| {
        for (engine, modules) in engines() {
            let rows = ask(&env, &modules, engine, &[&all, &culprit, longest]);
            assert_eq!(by_host(&rows[0]), expected, "{engine}, {what}");
            let ran = rows[1].as_array().expect("rows").iter().map(|row| row["ran"].as_i64().expect("a time"));
            assert!(ran.clone().sum::<i64>() <= rows[2][0]["longest"].as_i64().expect("a time"), "{engine}: {rows:?}");
            assert!(ran.count() > 0, "{engine}: {rows:?}");
        }
    };
    check("files");
    let Some(readers) = readers() else { return };
    let before = sums(&env, &readers, "fleet");
    let query = "select thread_state.host, sum(dur) as waited from thread_state join thread t using (utid) \
                 where state = 0 and t.name = 'service' group by thread_state.host";
    let sql = || {
        let mut sql = env.command(env!("CARGO_BIN_EXE_rtrace"));
        sql.env("PYTHONPATH", readers.join("python")).args(["sql", "--json", "fleet", query]);
        let rows = check_said(output_within(&mut sql, Duration::from_secs(60)).expect("rtrace"), "rtrace sql");
        by_host(&serde_json::from_str(&rows).expect("JSON"))
    };
    assert_eq!(sql(), expected, "rtrace sql");
    // Six tables, each of which becomes one part.
    env.rtrace(&["compact", "fleet"]).exits(0).prints_with("600 files of ").prints_with(" became 6 parts of ");
    let parts = files(&env.path().join("fleet"));
    assert_eq!(
        parts.keys().filter(|path| path.starts_with("date=2026-11-25")).count() + 1,
        parts.len(),
        "{:?}",
        parts.keys()
    );
    assert!(sums(&env, &readers, "fleet") == before, "DuckDB, polars and pyarrow");
    check("parts");
    assert_eq!(sql(), expected, "rtrace sql");
    // The page's programs that read the manifest.
    let page = std::fs::read_to_string(top().join("docs/fleet.md")).expect("the page");
    let programs = page.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next());
    let programs: Vec<&str> = programs.filter(|program| program.contains("manifest.jsonl")).collect();
    let [duckdb, spark] = programs[..] else { panic!("{programs:?}") };
    assert!(python(&env, &readers, &["-c", duckdb]).contains("web2"), "{duckdb}");
    if let Some(modules) = fetched("spark") {
        let begin =
            "from pyspark.sql import SparkSession\nspark = SparkSession.builder.master('local[2]').getOrCreate()\n";
        let end = "print(spark.sql('select host, sum(dur) from sched_slice group by host').collect())\n";
        let said = python(&env, &modules, &["-c", &[begin, spark, end].concat()]);
        assert_eq!(said.matches("Row(host='web").count(), 10, "{said}");
    }
}

/// Recordings of 32- and 64-bit machines, of both byte orders and of several kernels, read as one by engines without an option
/// that says how types are to be joined, or with the one that docs/tables.md has.
#[test]
fn tables_of_all_machines_have_the_same_types() {
    let (Some(readers), Some(corpus)) = (readers(), crate::common::corpus::corpus()) else { return };
    let env = TestEnvironment::new();
    let mut count = 0;
    for machine in ["i386", "arm64", "s390x", "vm-6.1", "vm-6.12", "host"] {
        for name in ["events.dat", "stack.dat", "graph.dat", "lost.dat"] {
            let recording = corpus.join(machine).join(name);
            if recording.exists() {
                let out = format!("{machine}-{name}");
                env.rtrace(&["convert", &recording.to_string_lossy(), "--to", "parquet", "-o", &out]).exits(0);
                push(&env, &out);
                count += 1;
            }
        }
    }
    let script = top().join("tests/cli/tables/types.py");
    let said = python(&env, &readers, &[&script.to_string_lossy(), "fleet"]);
    let tables: usize = said.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number");
    assert!(count > 8 && tables > 100, "{count} recordings: {said}");
    let script = top().join("tests/cli/tables/engines.py");
    for engine in ["clickhouse", "spark"] {
        // A job of its own for each of two hundred tables.
        if engine == "spark" && is_left_out("Spark over tables of all machines") {
            continue;
        }
        let Some(modules) = fetched(engine) else { continue };
        let mut command = Command::new("python3");
        let both = format!("{}:{}", modules.join("python").display(), readers.join("python").display());
        command.env("PYTHONPATH", both).current_dir(env.path()).arg(&script).args([engine, "fleet"]);
        let found = check_said(output_within(&mut command, Duration::from_secs(900)).expect("python3"), engine);
        assert_eq!(found, said, "{engine}");
    }
}
