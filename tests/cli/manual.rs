//! The pages of the manual, as mandoc reads them, and the examples of those that no other test runs.

use crate::common::environment::TestEnvironment;
use crate::common::help_examples::commands;
use crate::common::not_run::not_run;
use std::path::{Path, PathBuf};

fn pages() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("man")).expect("man/");
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    pages.sort();
    pages
}

#[test]
fn mandoc_has_nothing_to_say() {
    let env = TestEnvironment::new();
    // It exits with 1 and its usage where it is installed.
    if env.command("mandoc").arg("-T").arg("lint").arg("/dev/null").output().is_err() {
        return not_run("no mandoc is installed");
    }
    let pages = pages();
    let names: Vec<&str> = pages.iter().map(|page| page.to_str().expect("a name")).collect();
    assert!(names.len() > 80, "{names:?}");
    env.run("mandoc", &[&["-T", "lint"], &names[..]].concat()).exits(0).prints("").complains("");
}

/// The text of a page after the heading `title`.
fn section<'p>(page: &'p str, title: &str) -> Option<&'p str> {
    let rest = page.split_once(&format!("\n.SH {title}\n"))?.1;
    Some(rest.split("\n.SH ").next().unwrap_or(rest))
}

#[test]
fn synopses_have_values_and_languages_have_examples() {
    let page = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("man").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let record = page("rtrace-record.1");
    let words = section(&record, "SYNOPSIS").unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("[\\fB\\-e\\fR|\\fB\\-\\-event\\fR \\fIEVENT\\fR]"), "{words}");
    assert!(section(&record, "EXAMPLES").is_some_and(|examples| examples.contains("rtrace record \\-e sched")));
    for name in ["filter.7", "hist.7", "synth.7", "trigger.7", "probe.7"] {
        assert!(
            section(&page(&format!("rtrace-{name}")), "EXAMPLES").is_some_and(|text| text.lines().count() > 3),
            "{name}"
        );
    }
    assert!(section(&page("rtrace.dat.5"), "EXAMPLES").is_some());
}

#[test]
fn examples_of_the_file_format_run() {
    let env = TestEnvironment::new();
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/i386/events-v6.dat");
    std::fs::copy(recording, env.path().join("run.dat")).expect("a copy");
    let examples = commands(include_str!("../../docs/reference/file-format.md"));
    assert!(examples.len() >= 5, "{examples:?}");
    for example in examples {
        let words: Vec<&str> = example.split(' ').skip(1).collect();
        env.rtrace(&words).exits(0).complains("");
    }
}
