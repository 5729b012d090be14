//! The jobs of docs/ci.md do what they say.

use crate::common::environment::TestEnvironment;
use crate::host::kernel;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The fenced blocks of `language`.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let (mut found, mut inside): (Vec<String>, bool) = (Vec::new(), false);
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(name) => {
                inside = name == language;
                if inside {
                    found.push(String::new());
                }
            }
            None if inside => found.last_mut().into_iter().for_each(|block| *block += &format!("{line}\n")),
            None => {}
        }
    }
    found
}

/// The shell lines of a job: what follows `run:`, also in a block, and the items of `script:`.
fn shell_lines(job: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let (mut lines, mut block) = (Vec::new(), None);
    for line in job.lines() {
        let text = line.trim_start();
        if let Some((key, at)) = block {
            if indent(line) > at {
                lines.push(if key == "script:" { text.trim_start_matches("- ") } else { text }.to_owned());
                continue;
            }
            block = None;
        }
        let text = text.trim_start_matches("- ");
        match text.strip_prefix("run: ") {
            Some("|") => block = Some(("run:", indent(line))),
            Some(command) => lines.push(command.to_owned()),
            None if text == "script:" => block = Some(("script:", indent(line))),
            None => {}
        }
    }
    lines.retain(|line| !line.starts_with("cargo install"));
    lines
}

fn put(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("its mode");
}

#[test]
fn their_lines_run() {
    let Some((_, _alone)) = kernel() else { return };
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ci.md")).expect("docs/ci.md");
    let [spec] = &blocks(&text, "toml")[..] else { panic!("one file of assertions") };
    let mut jobs: Vec<Vec<String>> = blocks(&text, "yaml").iter().map(|job| shell_lines(job)).collect();
    jobs.extend(blocks(&text, "sh").iter().map(|lines| lines.lines().map(str::to_owned).collect()));
    assert_eq!(jobs.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 6, 1, 4, 4], "{jobs:?}");
    let (compare, save) = (jobs.remove(5), jobs.remove(4));
    let branches = jobs.remove(2);
    let bin = Path::new(env!("CARGO_BIN_EXE_rtrace")).parent().expect("a folder");
    baselines(&save, &compare, bin);
    base_branch(&branches, bin);
    let load = "test:\n\tfor i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.01; done\n";
    for job in jobs {
        let env = TestEnvironment::new();
        let run = |makefile: &str, spec: &str| {
            put(&env.path().join("Makefile"), makefile, 0o644);
            put(&env.path().join("rtrace.toml"), spec, 0o644);
            put(&env.path().join("sudo"), "#!/bin/sh\nexec \"$@\"\n", 0o755);
            let path =
                format!("{}:{}:{}", env.path().display(), bin.display(), std::env::var("PATH").unwrap_or_default());
            let lines = job.join("\n");
            let summary = env.path().join("summary.md");
            let mut command = env.command("bash");
            let command = command.args(["-e", "-c", &lines]).env("PATH", path).env("GITHUB_STEP_SUMMARY", summary);
            let output = command.output().expect("bash runs");
            let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
            (output.status.code(), said)
        };
        let (status, said) = run(load, spec);
        assert_eq!(status, Some(0), "{job:?}\n{said}");
        let failing = "test:\n\texit 1\n";
        assert_eq!(run(failing, spec).0, Some(2), "a test that fails fails the job: make ends with 2");
        if job.len() > 1 {
            let junit = fs::read_to_string(env.path().join("rtrace.xml")).expect("a report");
            assert!(junit.contains("name=\"tasks get a CPU soon\"/>"), "{junit}");
            let strict = spec.replace("< 1s", "< 1ns");
            assert_eq!(run(load, &strict).0, Some(3), "a wait that is too long fails the job");
            assert_eq!(run(load, &spec.replace("= 10", "= 1000000")).0, Some(4), "too few waits fail the job");
        }
    }
}

/// A baseline that was saved is not worse than other runs of the same load, and what was not recorded fails the job unless that is allowed.
fn baselines(save: &[String], compare: &[String], bin: &Path) {
    // Fewer runs than the document has, which are as good here.
    let few = |lines: &[String]| lines.iter().map(|line| line.replace("seq 15", "seq 5")).collect::<Vec<_>>();
    let (save, compare) = (few(save), few(compare));
    let env = TestEnvironment::new();
    put(&env.path().join("sudo"), "#!/bin/sh\nexec \"$@\"\n", 0o755);
    let run = |lines: &[String], load: &str| {
        put(&env.path().join("Makefile"), load, 0o644);
        let path = format!("{}:{}:{}", env.path().display(), bin.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = env.command("bash");
        let command = command.args(["-e", "-c", &lines.join("\n")]).env("PATH", path);
        let output = command.env("GITHUB_STEP_SUMMARY", env.path().join("summary.md")).output().expect("bash runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let load = "test:\n\tfor i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.01; done\n";
    assert_eq!(run(&save, load), (Some(0), String::new()));
    // The machine does other things meanwhile, so that it may be indeterminate whether they are the same, which is allowed.
    let (status, said) = run(&compare, load);
    assert!(matches!(status, Some(0 | 3)) && said.is_empty(), "{status:?} {said}");
    let summary = fs::read_to_string(env.path().join("summary.md")).expect("a table");
    assert!(summary.contains("| run(make) |") && summary.contains("Base: 5 runs, new: 5 runs"), "{summary}");
    let with = |from: &str, to: &str| compare.iter().map(|line| line.replace(from, to)).collect::<Vec<_>>();
    let strict = with("'run(make)' --allow-indeterminate", "'mean(io())'");
    assert_eq!(run(&strict, load).0, Some(4), "what was not recorded is not the same");
    assert_eq!(run(&with("run(make)", "mean(io())"), load).0, Some(0), "unless that is allowed");
}

/// Two versions that are the same are recorded in turns, and none is worse.
fn base_branch(lines: &[String], bin: &Path) {
    let env = TestEnvironment::new();
    put(&env.path().join("sudo"), "#!/bin/sh\nexec \"$@\"\n", 0o755);
    put(&env.path().join("git"), "#!/bin/sh\nmkdir base && cp Makefile base\n", 0o755);
    put(&env.path().join("Makefile"), "test:\n\tfor i in 1 2 3 4; do sleep 0.01; done\n", 0o644);
    // Fewer runs than the document has, which are as good here.
    let lines: Vec<String> = lines.iter().map(|line| line.replace("seq 50", "seq 5")).collect();
    let path = format!("{}:{}:{}", env.path().display(), bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = env.command("bash");
    let command = command.args(["-e", "-c", &lines.join("\n")]).env("PATH", path).env("GITHUB_BASE_REF", "main");
    let output = command.env("GITHUB_STEP_SUMMARY", env.path().join("summary.md")).output().expect("bash runs");
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
    // The machine does other things meanwhile.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{said}");
    let summary = fs::read_to_string(env.path().join("summary.md")).expect("a table");
    assert!(summary.contains("| run(make) |") && summary.contains("5 runs"), "{summary}");
}
