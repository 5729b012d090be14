//! The documents are true: their console blocks are run, their links lead somewhere.

use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use rtrace::internal::trace_dat::OptionId;
use std::path::{Path, PathBuf};

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README.md and everything below docs/ and .github/.
fn documents() -> Vec<PathBuf> {
    let mut found = vec![top().join("README.md")];
    let mut folders = vec![top().join("docs"), top().join(".github")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("docs can be listed") {
            let path = entry.expect("a directory entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found
}

/// The commands of a document's ```` ```console ```` blocks, each with the output that is printed below it.
fn console_blocks(text: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.trim() == "```console" {
            inside = true;
        } else if line.trim() == "```" {
            inside = false;
        } else if inside {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command.to_owned(), String::new())),
                (None, Some((_, output))) => output.push_str(&format!("{line}\n")),
                (None, None) => panic!("a console block that does not begin with `$ `: {line}"),
            }
        }
    }
    commands
}

#[test]
fn console_blocks_say_what_happens() {
    let mut run = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a document");
        for (command, output) in console_blocks(&text) {
            let env = TestEnvironment::new();
            for file in std::fs::read_dir(top().join("tests/data/readme")).expect("recordings") {
                let from = file.expect("an entry").path();
                std::fs::copy(&from, env.path().join(from.file_name().expect("a name"))).expect("a copy");
            }
            let bin = Path::new(env!("CARGO_BIN_EXE_rtrace")).parent().expect("a folder").display();
            let data = top().join("tests/data");
            let line = format!("PATH={bin}:$PATH; DATA='{}'; {command}", data.display());
            // What got worse, or fails, is a verdict.
            let unmet = output.lines().any(|line| line.starts_with("FAIL") || line.ends_with(" worse"));
            env.run("bash", &["-c", &line]).exits(if unmet { 3 } else { 0 }).complains("").prints(&output);
            run += 1;
        }
    }
    assert!(run > 0, "no console block was found");
}

#[test]
fn the_picture_is_of_this_program() {
    let env = TestEnvironment::new();
    if env.command("python3").arg("--version").output().is_err() {
        return not_run("no python3 is installed");
    }
    let script = top().join("docs/picture/make.py");
    let words = [script.to_str().expect("a path"), "--check", env!("CARGO_BIN_EXE_rtrace")];
    env.run("python3", &words).exits(0).complains("").prints("");
}

#[test]
fn links_lead_to_files() {
    let mut followed = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a document");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") || target.starts_with('#') {
                continue;
            }
            let file = target.split('#').next().unwrap_or(target);
            let path = document.parent().expect("a folder").join(file);
            assert!(path.exists(), "{}: link to {target}, which is not there", document.display());
            followed += 1;
        }
    }
    assert!(followed > 0, "no link was found");
}

/// Each option of our own stands in the page about files.
#[test]
fn options_of_our_own_are_described() {
    let page = include_str!("../../docs/reference/file-format.md");
    let named = (0x7200..0x7300).filter_map(|id| Some((id, OptionId(id).name()?.strip_prefix("rtrace_")?)));
    let named: Vec<_> = named.collect();
    assert!(named.len() >= 14, "{named:?}");
    for (id, name) in named {
        let line = format!("\n{id:#x} {name} ");
        assert!(page.contains(&line), "no line `{}`", line.trim());
    }
}

#[test]
fn each_analysis_is_defined() {
    let env = TestEnvironment::new();
    let hint = env.rtrace(&["analyze", "nosuch"]).exits(2).stderr();
    let names = hint.split("has all, ").nth(1).and_then(|rest| rest.split('.').next()).expect("the analyses");
    let text = std::fs::read_to_string(top().join("docs/reference/analyses.md")).expect("it");
    for name in names.split(", ") {
        let heading =
            |line: &str| line.strip_prefix("## ").is_some_and(|it| it == name || it.starts_with(&format!("{name}:")));
        assert!(text.lines().any(heading), "docs/reference/analyses.md has no section {name}");
    }
}
