//! `rtrace sql`, with DuckDB as PyPI has it.

use super::{files, readers};
use crate::common::bounded::output;
use crate::common::corpus::own;
use crate::common::environment::TestEnvironment;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Runs `rtrace sql WORDS` with the module duckdb, and temporary files in `tmp`; gives status and both streams.
fn sql(env: &TestEnvironment, readers: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    std::fs::create_dir_all(env.path().join("tmp")).expect("a folder");
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    command.env("PYTHONPATH", readers.join("python")).env("TMPDIR", env.path().join("tmp")).arg("sql").args(words);
    let done = output(&mut command).expect("rtrace");
    assert!(files(&env.path().join("tmp")).is_empty(), "{words:?}: temporary files are left");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (done.status.code(), text(done.stdout), text(done.stderr))
}

/// A query can ask for time by cgroup.
#[test]
fn threads_have_the_cgroup_that_they_were_in_last() {
    let Some(readers) = readers() else { return };
    let env = TestEnvironment::new();
    crate::cgroups::divided(&env, &env.path().join("c.dat"));
    let sched = env.rtrace(&["analyze", "sched", "c.dat", "--json", "--top", "0"]).exits(0).stdout();
    let sched: Value = serde_json::from_str(&sched).expect("JSON");
    let tasks = sched["buffers"][0]["tasks"].as_array().expect("tasks");
    let (status, rows, said) =
        sql(&env, &readers, &["--json", "c.dat", "select tid, cgroup from thread where tid > 0"]);
    let rows: Value = serde_json::from_str(&rows).expect("JSON");
    assert_eq!((status, rows.as_array().map(|rows| rows.len() > 5)), (Some(0), Some(true)), "{said}");
    let mut found = std::collections::BTreeSet::new();
    for row in rows.as_array().expect("rows") {
        let of_task: Vec<_> = tasks.iter().filter(|task| task["pid"] == row["tid"]).collect();
        // The recording's moves are made up: some are of tasks that have ended.
        if let [task] = of_task[..]
            && task["end"] == sched["buffers"][0]["window"]["end"]
        {
            assert_eq!(task["cgroup"], row["cgroup"], "{row}");
            found.insert(row["cgroup"].to_string());
        }
    }
    assert!(found.len() > 2, "{found:?}");
}

#[test]
fn queries_are_answered() {
    let Some(readers) = readers() else { return };
    let env = TestEnvironment::new();
    for (name, from) in [("trace.dat", "s390x/inst.dat"), ("b.dat", "vm-6.1/trig.dat")] {
        std::fs::copy(own().join(from), env.path().join(name)).expect("a copy");
    }
    let ask = |words: &[&str]| sql(&env, &readers, words);
    let switches = env.rtrace(&["report", "--count", "--json", "trace.dat"]).exits(0).stdout();
    let switches: Value = serde_json::from_str(&switches).expect("JSON");
    let expected = switches["events"]["sched:sched_switch"].as_u64().expect("a count");
    let count = "select count(*) n from sched.sched_switch";
    assert_eq!(ask(&["--csv", count]), (Some(0), format!("n\n{expected}\n"), String::new()));
    let (status, rows, _) = ask(&["--json", "trace.dat", "select host, file from meta"]);
    let rows: Value = serde_json::from_str(&rows).expect("JSON");
    assert_eq!((status, rows.as_array().map(Vec::len)), (Some(0), Some(1)), "{rows}");
    assert!(ask(&["trace.dat", count]).1.contains(&expected.to_string()));
    // Several recordings, a part of the time, and a directory that was made before.
    let (status, two, _) = ask(&["--csv", "trace.dat", "b.dat", "select count(*) from meta"]);
    assert_eq!((status, two.lines().last()), (Some(0), Some("2")));
    let few = ask(&["--csv", "trace.dat", "--first", "5", "--filter", "sched:sched_switch", count]);
    assert_eq!(few.1, "n\n5\n");
    env.rtrace(&["convert", "trace.dat", "it's [a].parquet"]).exits(0);
    assert_eq!(ask(&["--csv", "it's [a].parquet", count]).1, format!("n\n{expected}\n"));
    // Mistakes.
    let (status, shown, said) = ask(&["trace.dat", "select nothing from sched.sched_switch"]);
    assert_eq!((status, shown.as_str()), (Some(2), ""), "{said}");
    assert!(said.contains("DuckDB refuses the query") && said.contains("nothing") && said.contains("Hint"), "{said}");
    let (status, _, said) = ask(&["trace.dat"]);
    assert!(status == Some(2) && said.contains("no query is given"), "{said}");
    let (status, _, said) = ask(&["tmp", "select 1"]);
    assert!(status == Some(1) && said.contains("holds no tables"), "{said}");
    // A damaged recording: its answer, and 4.
    let whole = std::fs::read(env.path().join("trace.dat")).expect("a file");
    std::fs::write(env.path().join("cut.dat"), &whole[..whole.len() - 3000]).expect("a file");
    let (status, rows, said) = ask(&["--csv", "cut.dat", "select count(*) from meta"]);
    assert!(status == Some(4) && rows.ends_with("1\n") && said.contains("cut.dat"), "{rows}{said}");
}

#[test]
fn without_duckdb_it_says_what_to_install() {
    let env = TestEnvironment::new();
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    command.env("PATH", env.path()).args(["sql", "select 1"]);
    let done = output(&mut command).expect("rtrace");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(5) && said.contains("pip install duckdb"), "{said}");
}

/// Writes a program into `folder` that leaves `mark`.
fn plant(folder: &Path, name: &str, mark: &Path) {
    let text = format!("#!/bin/sh\n: > '{}'\n", mark.display());
    std::fs::write(folder.join(name), text).expect("a file");
    std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn what_others_may_have_planted_is_not_run() {
    let env = TestEnvironment::new();
    let (mark, own) = (env.path().join("mark"), env.path().join("own"));
    let (open, here) = (env.path().join("open"), env.path().join("here"));
    let module = |folder: &Path, name: &str| {
        let text = format!("open({:?}, 'w').close()\n", mark.display().to_string());
        std::fs::write(folder.join(name), text).expect("a file");
    };
    for folder in [&own, &open, &here] {
        std::fs::create_dir(folder).expect("a folder");
        for name in ["duckdb.py", "csv.py", "json.py", "os.py", "site.py", "sitecustomize.py"] {
            module(folder, name);
        }
        ["duckdb", "virsh"].iter().for_each(|name| plant(folder, name, &mark));
    }
    // A module of a folder that is safe stands before no module of Python's own library.
    ["csv.py", "json.py", "os.py", "site.py", "sitecustomize.py"].iter().for_each(|name| {
        std::fs::remove_file(own.join(name)).expect("a file");
    });
    for folder in [&open, &here] {
        ["python3", "sh"].iter().for_each(|name| plant(folder, name, &mark));
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o1777)).expect("a mode");
    }
    let runs = |path: &str, modules: &str, words: &[&str]| {
        let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
        command.current_dir(&here).env("PATH", path).env("PYTHONPATH", modules).env("HOME", &open).args(words);
        let done = output(&mut command).expect("rtrace");
        let ran = std::fs::remove_file(&mark).is_ok();
        (ran, String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let query: &[&str] = &["sql", "select 1"];
    let (open_text, own_text) = (open.display().to_string(), own.display().to_string());
    for before in ["", ".:", ":", "../here:", &format!("{open_text}:"), &format!("{own_text}/../open:")] {
        let path = format!("{before}/usr/local/bin:/usr/bin:/bin:");
        for modules in ["", ".", ":", &open_text, "../own"] {
            let (ran, said) = runs(&path, modules, query);
            assert!(!ran, "PATH={path} PYTHONPATH={modules}: {said}");
        }
        assert!(!runs(&path, "", &["setup-guest", "vm"]).0, "PATH={path}");
    }
    // The same programs and modules where only this user can put them.
    assert!(runs(&format!("{own_text}:/usr/bin:/bin"), "", query).0, "the user's own duckdb");
    assert!(runs(&own_text, "", &["setup-guest", "vm"]).0, "the user's own virsh");
    if Path::new("/usr/bin/python3").exists() {
        assert!(runs("/usr/bin:/bin", &own_text, query).0, "the user's own module");
        let (_, said) = runs("/usr/bin:/bin", &open_text, query);
        assert!(said.contains("is not used: others can write to"), "{said}");
    }
}
