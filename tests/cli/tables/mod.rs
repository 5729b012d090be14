//! Tables of events, as Parquet files and as a stream of Arrow's record batches, read by DuckDB, polars and pandas.

mod compact;
mod fleet;
mod sql;

use crate::common::bounded::output;
use crate::common::corpus::{corpus, own};
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that `fetch-readers` made; `None`, with a line that says why, if there is none.
pub(crate) fn readers() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let readers = target.unwrap_or_else(|| top().join("target")).join("table-readers");
    if readers.join("ready").exists() {
        return Some(readers);
    }
    not_run("readers of tables: tests/cli/tables/fetch-readers has not fetched them");
    None
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs Python with the readers; gives its output.
fn python(env: &TestEnvironment, readers: &Path, args: &[&str]) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_rtrace")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", readers.join("python")).env("PATH", path).current_dir(env.path()).args(args);
    check_said(output(&mut command).expect("python3"), &args.join(" "))
}

/// Standard output of a program that has succeeded.
fn check_said(done: std::process::Output, what: &str) -> String {
    assert!(done.status.success(), "{what}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

fn check(env: &TestEnvironment, readers: &Path, args: &[&str]) -> String {
    let script = top().join("tests/cli/tables/check.py");
    python(env, readers, &[&[&*script.to_string_lossy()], args].concat())
}

/// All files below a directory, by their paths.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![directory.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a directory") {
            let path = entry.expect("a directory entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(
                    path.strip_prefix(directory).expect("below").to_owned(),
                    std::fs::read(&path).expect("a file"),
                );
            }
        }
    }
    found
}

/// Recordings of small and big endian kernels, with instances, stacks and function_graph.
fn recordings() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["vm-6.1/trig.dat", "s390x/inst.dat", "host/small-zlib.dat"].iter().map(|name| own().join(name)).collect();
    if let Some(corpus) = corpus() {
        found.extend(["vm-6.12/graph-depth.dat", "vm-6.12/stack.dat", "host/lost.dat"].map(|name| corpus.join(name)));
    }
    found
}

#[test]
fn tables_are_what_json_says_on_any_number_of_threads() {
    let readers = readers();
    for recording in recordings() {
        let (env, name) = (TestEnvironment::new(), recording.to_string_lossy().into_owned());
        let convert = |threads: &str, to: &str, out: &str| {
            env.rtrace(&["convert", &name, "--threads", threads, "--to", to, "-o", out]).stdout()
        };
        let line = convert("1", "parquet", "one");
        assert!(line.contains(" as parquet, ") && line.ends_with("left out: nothing\n"), "{line}");
        let tables = files(&env.path().join("one"));
        for threads in ["2", "8"] {
            convert(threads, "parquet", threads);
            assert!(files(&env.path().join(threads)) == tables, "{name} on {threads} threads");
        }
        let Some(readers) = &readers else { continue };
        convert("1", "json", "all.json");
        let said = check(&env, readers, &["parquet", "one", "all.json"]);
        assert!(said.contains(" rows of "), "{name}: {said}");
    }
}

#[test]
fn the_stream_is_what_json_says_on_any_number_of_threads() {
    let readers = readers();
    for recording in recordings() {
        let (env, name) = (TestEnvironment::new(), recording.to_string_lossy().into_owned());
        let convert = |threads: &str, to: &str, out: &str| {
            env.rtrace(&["convert", &name, "--threads", threads, "--to", to, "-o", out]).exits(0);
            std::fs::read(env.path().join(out)).expect("a file")
        };
        let stream = convert("1", "arrow", "1.arrows");
        assert!(stream == convert("2", "arrow", "2.arrows") && stream == convert("8", "arrow", "8.arrows"), "{name}");
        let Some(readers) = &readers else { continue };
        convert("1", "json", "all.json");
        let said = check(&env, readers, &["arrow", "1.arrows", "all.json"]);
        assert!(said.contains(" columns"), "{name}: {said}");
    }
}

#[test]
fn slices_are_what_the_events_say() {
    let (Some(readers), Some(corpus)) = (readers(), corpus()) else { return };
    for (name, tables) in [
        (own().join("s390x/inst.dat"), "sched_slice thread thread_state softirq_slice irq_slice"),
        (corpus.join("vm-6.12/inst.dat"), "sched_slice thread thread_state softirq_slice syscall"),
    ] {
        let (env, name) = (TestEnvironment::new(), name.to_string_lossy().into_owned());
        env.rtrace(&["convert", &name, "run.parquet"]).exits(0);
        let sched = env.rtrace(&["analyze", "sched", "--json", "--top", "0", &name]).exits(0).stdout();
        std::fs::write(env.path().join("sched.json"), sched).expect("a file");
        assert_eq!(check(&env, &readers, &["derived", "run.parquet", "sched.json"]).trim_end(), tables, "{name}");
    }
}

#[test]
fn events_are_chosen_and_files_of_several_recordings_stand_apart() {
    let env = TestEnvironment::new();
    let (first, second) = (own().join("vm-6.1/trig.dat"), own().join("s390x/inst.dat"));
    let (first, second) = (first.to_string_lossy(), second.to_string_lossy());
    env.rtrace(&["convert", &first, &second, "-o", "all.parquet", "--filter", "sched:sched_switch"]).exits(0);
    let found = files(&env.path().join("all.parquet"));
    let events: Vec<String> = found.keys().map(|path| path.to_string_lossy().into_owned()).collect();
    let switches: Vec<_> = events.iter().filter(|path| path.contains("/event=sched.sched_switch/")).collect();
    assert_eq!(switches.len(), 2, "{events:?}");
    assert!(!events.iter().any(|path| path.contains("event=irq.")), "{events:?}");
    assert!(found.values().all(|file| file.starts_with(b"PAR1") && file.ends_with(b"PAR1")));
}

#[test]
fn what_cannot_be_is_refused_and_leaves_nothing() {
    let env = TestEnvironment::new();
    let file = own().join("vm-6.1/trig.dat");
    let file = file.to_string_lossy();
    std::fs::create_dir(env.path().join("there")).expect("a directory");
    for args in [&["-o", "there", "--to", "parquet"][..], &["-o", "there", "--to", "parquet", "--force"]] {
        env.rtrace(&[&["convert", &*file], args].concat()).exits(2).complains_with("there exists already");
    }
    env.rtrace(&["convert", &file, "--to", "parquet", "-o", "-"]).exits(2).complains_with("a directory of files");
    env.rtrace(&["convert", &file, "no/such/place.parquet"])
        .exits(1)
        .complains_with("failed to create no/such/place.parquet");
    std::fs::copy(&*file, env.path().join("copy.dat")).expect("a copy");
    env.rtrace(&["convert", &file, "copy.dat", "x.parquet"]).exits(2).complains_with("are the same recording");
    std::fs::remove_file(env.path().join("copy.dat")).expect("the copy goes");
    env.rtrace(&["convert", "none.dat", "x.parquet"]).exits(1);
    env.rtrace(&["convert", &file, "x.parquet", "--filter", "sched:none"]).exits(2);
    let left: Vec<_> =
        std::fs::read_dir(env.path()).expect("a directory").map(|e| e.expect("one").file_name()).collect();
    assert_eq!(left, ["there"]);
}

/// A full disk, a closed pipe and a damaged recording leave no half-written table.
#[test]
fn nothing_half_written_is_left() {
    let env = TestEnvironment::new();
    let whole = std::fs::read(own().join("s390x/inst.dat")).expect("a recording");
    std::fs::write(env.path().join("a.dat"), &whole).expect("a file");
    std::fs::write(env.path().join("cut.dat"), &whole[..whole.len() - 3000]).expect("a file");
    let shell = |line: &str| env.run("bash", &["-c", line, env!("CARGO_BIN_EXE_rtrace")]);
    shell("ulimit -f 2; \"$0\" convert a.dat out.parquet").exits(1).complains_with("out.parquet");
    shell("ulimit -f 2; \"$0\" convert a.dat out.arrows").exits(1).complains_with("out.arrows");
    shell("\"$0\" convert a.dat --to arrow -o - >/dev/full").exits(1).complains_with("No space left");
    shell("\"$0\" convert a.dat --to arrow -o - | head -c 10; exit ${PIPESTATUS[0]}").exits(0).complains("");
    let mut left: Vec<_> = files(env.path()).into_keys().collect();
    left.sort_unstable();
    assert_eq!(left, [Path::new("a.dat"), Path::new("cut.dat")]);
    for out in ["out.parquet", "out.arrows"] {
        env.rtrace(&["convert", "cut.dat", out]).exits(4).complains_with("cut.dat");
        assert!(env.path().join(out).exists(), "{out}: what is whole");
    }
}

#[test]
fn the_pages_programs_run() {
    let Some(readers) = readers() else { return };
    let env = TestEnvironment::new();
    std::fs::copy(own().join("vm-6.1/trig.dat"), env.path().join("run.dat")).expect("a copy");
    env.rtrace(&["convert", "run.dat", "run.parquet"]).exits(0);
    let page = std::fs::read_to_string(top().join("docs/tables.md")).expect("the page");
    let programs: Vec<&str> =
        page.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    assert!(programs.len() >= 3);
    let stacks = TestEnvironment::new();
    let stack = corpus().map(|corpus| corpus.join("host/stack.dat"));
    if let Some(stack) = &stack {
        stacks.rtrace(&["convert", &stack.to_string_lossy(), "run.parquet"]).exits(0);
    }
    for program in programs {
        let env = match program.contains("kernel_stack") {
            true if stack.is_none() => continue,
            true => &stacks,
            false => &env,
        };
        let said = python(env, &readers, &["-c", program]);
        assert!(!said.trim().is_empty(), "{program}");
    }
}
