//! Compaction: rows are the same before and after as three engines see them, and none is lost or there twice in what a
//! compaction leaves that is stopped at any moment.

use super::{files, python, readers, top};
use crate::common::corpus::corpus;
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::common::small_disk::SmallDisk;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Sums over all tables of a directory, as three engines see them.
pub(super) fn sums(env: &TestEnvironment, readers: &Path, directory: &str) -> Value {
    sums_of(env, readers, &[directory])
}

/// The same as engines see them whose names follow the directory's.
fn sums_of(env: &TestEnvironment, readers: &Path, args: &[&str]) -> Value {
    let script = top().join("tests/cli/tables/sums.py").to_string_lossy().into_owned();
    let said = python(env, readers, &[&[&*script], args].concat());
    serde_json::from_str(&said).expect("JSON")
}

/// Converts a recording and pushes its tables to `inbox`.
fn push(env: &TestEnvironment, recording: &Path, options: &[&str]) {
    let recording = recording.to_string_lossy();
    let convert = ["convert", &*recording, "--to", "parquet", "-o", "tables"];
    env.rtrace(&[&convert[..], options].concat()).exits(0);
    env.run("cp", &["-rT", "tables", "inbox"]).exits(0);
    std::fs::remove_dir_all(env.path().join("tables")).expect("a directory");
}

fn host(name: &str) -> PathBuf {
    top().join(format!("tests/data/fleet/{name}.dat"))
}

fn paths(env: &TestEnvironment, directory: &str) -> BTreeSet<PathBuf> {
    files(&env.path().join(directory)).into_keys().collect()
}

/// The lines of the manifest.
fn manifest(env: &TestEnvironment, directory: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(env.path().join(directory).join("manifest.jsonl")).expect("the manifest");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn the_manifest_names_all_parts_and_nothing_else() {
    let env = TestEnvironment::new();
    for name in ["web1", "web2"] {
        push(&env, &host(name), &["--first", "3000"]);
    }
    env.rtrace(&["compact", "inbox", "-o", "store"]).exits(0).prints_with("12 files of ");
    assert!(paths(&env, "inbox").is_empty());
    // A recording that is pushed later comes to the same parts.
    push(&env, &host("web3"), &[]);
    env.rtrace(&["compact", "inbox", "-o", "store"]).exits(0).prints_with("6 files of ");
    let lines = manifest(&env, "store");
    let named: BTreeSet<PathBuf> = lines.iter().map(|line| line["path"].as_str().expect("a path").into()).collect();
    let mut found = paths(&env, "store");
    assert!(found.remove(Path::new("manifest.jsonl")));
    assert_eq!(named, found);
    assert_eq!(lines.len(), 6);
    for line in lines {
        assert_eq!(
            (&line["recordings"], &line["first_host"], &line["last_host"]),
            (&3.into(), &"web1".into(), &"web3".into()),
            "{line}"
        );
        let (first, last) = (line["first_time"].as_i64(), line["last_time"].as_i64());
        assert!(first < last && last < first.map(|first| first + 60_000_000_000), "{line}");
    }
    env.rtrace(&["compact", "store"]).exits(0).prints_with("nothing to join");
    env.rtrace(&["compact", "nowhere"]).exits(1).complains_with("No such file or directory");
}

#[test]
fn parts_have_a_largest_size_and_days_expire() {
    let Some(readers) = readers() else { return };
    let env = TestEnvironment::new();
    for name in ["web1", "web2", "web3"] {
        push(&env, &host(name), &[]);
    }
    env.run("cp", &["-r", "inbox", "whole"]).exits(0);
    let limit = paths(&env, "inbox")
        .into_iter()
        .map(|path| env.path().join("inbox").join(path).metadata().expect("a file").len());
    let limit = limit.max().expect("files") * 2;
    env.rtrace(&["compact", "inbox", "-o", "store", "--size", &limit.to_string()]).exits(0);
    let sizes: Vec<u64> = manifest(&env, "store").iter().filter_map(|line| line["bytes"].as_u64()).collect();
    assert!(sizes.len() > 6 && sizes.iter().all(|size| *size <= limit), "{sizes:?}: {limit}");
    assert!(sums(&env, &readers, "store") == sums(&env, &readers, "whole"));
    // The recordings are of 2026-11-25; a test must hold on any day.
    env.rtrace(&["compact", "store", "--keep", "36500d", "--size", &limit.to_string()]).exits(0);
    assert_eq!(manifest(&env, "store").len(), sizes.len());
    env.rtrace(&["compact", "store", "--keep", "some"]).exits(2);
}

#[test]
fn what_is_no_whole_table_stays_and_is_told() {
    let env = TestEnvironment::new();
    for name in ["web1", "web2"] {
        push(&env, &host(name), &["--first", "500"]);
    }
    let tables = paths(&env, "inbox");
    let of = |table: &str| {
        tables
            .iter()
            .find(|path| path.to_string_lossy().contains(table))
            .map(|path| env.path().join("inbox").join(path))
    };
    let (cut, torn) = (of("event=sched_slice/").expect("a table"), of("event=thread_state/").expect("a table"));
    let whole = std::fs::read(&cut).expect("a table");
    std::fs::write(&cut, &whole[..whole.len() / 2]).expect("a file");
    let mut bytes = std::fs::read(&torn).expect("a table");
    bytes[4..12].fill(0xff);
    std::fs::write(&torn, &bytes).expect("a file");
    // One bit of the first page, beyond its header.
    let flipped = of("event=sched.sched_switch/").expect("a table");
    let mut bits = std::fs::read(&flipped).expect("a table");
    bits[150] ^= 1;
    std::fs::write(&flipped, &bits).expect("a file");
    let foreign = cut.with_file_name("foreign.parquet");
    std::fs::write(&foreign, b"PAR1 PAR1").expect("a file");
    if let Some(readers) = readers() {
        let script = "import sys, pyarrow.parquet as pq
for file, damaged in [(sys.argv[1], False), (sys.argv[2], True)]:
    try: pq.ParquetFile(file, page_checksum_verification=True).read(); said = ''
    except OSError as error: said = str(error)
    assert ('CRC checksum' in said) == damaged, (file, said)";
        let is_intact = |path: &&PathBuf| path.to_string_lossy().contains("event=sched.sched_switch/");
        let intact = tables.iter().rfind(is_intact).map(|path| env.path().join("inbox").join(path)).expect("a table");
        python(&env, &readers, &["-c", script, &intact.to_string_lossy(), &flipped.to_string_lossy()]);
    }
    let done = env.rtrace(&["compact", "inbox"]);
    done.exits(4);
    done.complains_with("no whole Parquet file").complains_with("damaged: a page is not what its checksum says");
    done.prints_with("4 files left as they are");
    assert!([&cut, &torn, &foreign, &flipped].iter().all(|path| path.exists()));
    assert_eq!(std::fs::read(&torn).expect("a file"), bytes);
    // The others of these tables are in parts.
    assert_eq!(manifest(&env, "inbox").len(), 6);
    // Pushed again whole they come to the others; a second time they are there already; with other rows they stay.
    std::fs::remove_file(&foreign).expect("a file");
    std::fs::remove_file(&torn).expect("a file");
    std::fs::remove_file(&flipped).expect("a file");
    std::fs::write(&cut, &whole).expect("a file");
    env.rtrace(&["compact", "inbox"]).exits(0).prints_with("1 file of ");
    push(&env, &host("web2"), &["--first", "500"]);
    env.rtrace(&["compact", "inbox"]).exits(0).prints_with("in a part already");
    push(&env, &host("web2"), &["--first", "400"]);
    env.rtrace(&["compact", "inbox"]).exits(4).complains_with("has other rows of its recording");
}

/// Tables of several kernels and machines, with columns of other widths, become parts that engines read.
#[test]
fn columns_of_all_kernels_go_together() {
    let (Some(readers), Some(corpus)) = (readers(), corpus()) else { return };
    let env = TestEnvironment::new();
    for machine in ["i386", "arm64", "s390x", "vm-6.1", "vm-6.12", "host"] {
        for name in ["events.dat", "stack.dat", "graph.dat", "lost.dat"] {
            let recording = corpus.join(machine).join(name);
            if recording.exists() {
                push(&env, &recording, &[]);
            }
        }
    }
    let before = sums(&env, &readers, "inbox");
    env.run("cp", &["-r", "inbox", "files"]).exits(0);
    env.rtrace(&["compact", "inbox"]).exits(0);
    let after = sums(&env, &readers, "inbox");
    for engine in ["of_duckdb", "of_polars", "of_pyarrow"] {
        for (table, of) in before[engine].as_object().expect("tables") {
            assert_eq!(of, &after[engine][table], "{engine}: {table}");
        }
    }
    // One part a table and day.
    let mut parts: BTreeMap<&Path, usize> = BTreeMap::new();
    let found = paths(&env, "inbox");
    found.iter().filter_map(|path| path.parent()).for_each(|table| *parts.entry(table).or_default() += 1);
    assert!(parts.len() > 100 && parts.values().all(|count| *count == 1), "{parts:?}");
}

/// The moments at which a run is killed: ten, or `RTRACE_KILLS`.
fn kill_moments() -> u32 {
    std::env::var("RTRACE_KILLS").ok().and_then(|moments| moments.parse().ok()).unwrap_or(10)
}

/// Stopped by SIGKILL at some moments. What is left is completed by the next run; until then rows are not asked for, as some may be there
/// twice.
#[test]
fn killed_at_any_moment_nothing_is_lost() {
    let Some(readers) = readers() else { return };
    let env = TestEnvironment::new();
    for name in ["web1", "web2", "web3"] {
        push(&env, &host(name), &["--first", "2000"]);
    }
    // Parts that are replaced, too.
    env.rtrace(&["compact", "inbox"]).exits(0);
    for name in ["web1", "web3"] {
        let recording = format!("{name}.dat");
        env.rtrace(&["convert", &host(name).to_string_lossy(), "--last", "2000", "-o", &recording]).exits(0);
        push(&env, &env.path().join(&recording), &[]);
    }
    let before = sums(&env, &readers, "inbox");
    let compact = || {
        env.run("cp", &["-rT", "inbox", "fleet"]).exits(0);
        let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
        command.args(["compact", "fleet"]).stdout(std::process::Stdio::null()).spawn().expect("rtrace")
    };
    let begin = Instant::now();
    assert!(compact().wait().expect("a process").success());
    let whole = begin.elapsed();
    assert!(sums(&env, &readers, "fleet") == before);
    let mut stopped = 0;
    let moments = kill_moments();
    for moment in 0..moments {
        std::fs::remove_dir_all(env.path().join("fleet")).expect("a directory");
        let mut child = compact();
        std::thread::sleep(whole * moment / moments);
        child.kill().expect("a process");
        child.wait().expect("a process");
        if env.path().join("fleet/.compacting").exists() {
            stopped += 1;
            let mut sql = env.command(env!("CARGO_BIN_EXE_rtrace"));
            sql.env("PYTHONPATH", readers.join("python")).args(["sql", "fleet", "select count(*) from meta"]);
            let said = crate::common::bounded::output_within(&mut sql, Duration::from_secs(60)).expect("rtrace");
            assert_eq!(said.status.code(), Some(4), "{}", String::from_utf8_lossy(&said.stderr));
        }
        env.rtrace(&["compact", "fleet"]).exits(0);
        assert!(!env.path().join("fleet/.compacting").exists());
        assert_eq!(
            sums_of(&env, &readers, &["fleet", "of_duckdb"])["of_duckdb"],
            before["of_duckdb"],
            "moment {moment}"
        );
        let found = paths(&env, "fleet");
        assert_eq!(found.len(), manifest(&env, "fleet").len() + 1, "{found:?}");
        assert_eq!(found.len(), 7, "{found:?}");
    }
    println!("{stopped} of {moments} were stopped within");
}

/// A disk that is full at some moment: the run ends with the reason, and the next one with room loses no row.
#[test]
fn without_disk_space_nothing_is_lost() {
    if !nix::unistd::geteuid().is_root() {
        return not_run("a compaction without disk space: only root mounts disks");
    }
    let Some(readers) = readers() else { return };
    let env = TestEnvironment::new();
    for name in ["web1", "web2", "web3"] {
        push(&env, &host(name), &["--first", "2000"]);
    }
    let before = sums_of(&env, &readers, &["inbox", "of_duckdb"]);
    let mut stopped = 0;
    // The tables take some 230 KiB of it, their parts as much again.
    for size in (280..=420).step_by(20) {
        let disk = env.path().join("disk");
        let small = SmallDisk::mount(&disk, &format!("{size}k"));
        env.run("cp", &["-rT", "inbox", "disk/fleet"]).exits(0);
        let first = env.rtrace(&["compact", "disk/fleet"]);
        if first.status() == Some(1) {
            stopped += 1;
            first.complains_with("No space left");
            small.resize("4m");
            env.rtrace(&["compact", "disk/fleet"]).exits(0);
        } else {
            first.exits(0);
        }
        let after = sums_of(&env, &readers, &["disk/fleet", "of_duckdb"]);
        let found = paths(&env, "disk/fleet");
        drop(small);
        std::fs::remove_dir(&disk).expect("an empty directory");
        assert_eq!(after, before, "{size} KiB");
        assert_eq!(found.len(), 7, "{size} KiB: {found:?}");
    }
    assert!(stopped > 1, "{stopped} were stopped");
}
