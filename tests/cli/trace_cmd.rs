//! `docs/trace-cmd.md` has a row for every option of trace-cmd 3.4, and does not promise what the program refuses.

use crate::common::environment::TestEnvironment;
use std::collections::BTreeMap;

/// Every command of trace-cmd 3.4 with its options, each with a value that it takes: from its usage texts and parsers.
const OPTIONS: &str = include_str!("../data/trace-cmd-options.txt");
const DOCUMENT: &str = include_str!("../../docs/trace-cmd.md");

/// Command and option to what the document says of it.
fn documented() -> BTreeMap<(String, String), String> {
    let table = DOCUMENT.split_once("## Every option").expect("the table").1;
    let rows = table.lines().filter(|line| line.contains("| `-"));
    let mut found = BTreeMap::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, command, option, verdict, ..] = cells.as_slice() else { panic!("{row}") };
        let key = ((*command).to_owned(), option.trim_matches('`').to_owned());
        assert!(found.insert(key, (*verdict).to_owned()).is_none(), "twice: {row}");
    }
    found
}

#[test]
fn every_option_of_trace_cmd_is_explained_and_those_promised_are_taken() {
    let env = TestEnvironment::new();
    let mut documented = documented();
    let mut wrong = Vec::new();
    for line in OPTIONS.lines() {
        let mut words = line.split_whitespace();
        let command = words.next().expect("a command");
        for word in words {
            let (option, value) = word.split_once('=').map_or((word, None), |(o, v)| (o, Some(v)));
            let Some(verdict) = documented.remove(&(command.to_owned(), option.to_owned())) else {
                wrong.push(format!("{command} {option}: no row"));
                continue;
            };
            match verdict.as_str() {
                // Options before --help have been understood when it is reached.
                "same" | "better" => {
                    let line: Vec<&str> = [command, option].into_iter().chain(value).chain(["--help"]).collect();
                    let complaint = env.rtrace(&line).stderr();
                    if !complaint.is_empty() {
                        wrong.push(format!("{command} {option}: {verdict}, but refused: {complaint}"));
                    }
                }
                "not yet" | "later" | "no use" => {}
                other => wrong.push(format!("{command} {option}: `{other}` says nothing")),
            }
        }
    }
    wrong
        .extend(documented.keys().map(|(command, option)| format!("{command} {option}: trace-cmd has no such option")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A script that calls a link of that name shows what it called.
#[test]
fn called_as_trace_cmd_it_says_so() {
    let env = TestEnvironment::new();
    let link = env.path().join("trace-cmd");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_rtrace"), &link).expect("a link");
    let link = link.to_str().expect("a plain path");
    env.run(link, &["report", "nosuch.dat"]).exits(1).complains_with("trace-cmd: failed to read nosuch.dat: ");
    env.run(link, &["report", "--nosuch"]).exits(2).complains_with("Hint: `trace-cmd report --help`");
    env.rtrace(&["report", "nosuch.dat"]).exits(1).complains_with("rtrace: failed to read nosuch.dat: ");
}
