//! Tables of each command on terminals of 80 and 120 columns.

use crate::common::environment::TestEnvironment;
use crate::common::pty::{on_terminals_of, silent_terminal};
use crate::common::synthetic::fork_storm;
use crate::common::trace_files::trace_files;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use std::collections::BTreeSet;

/// The commands that print tables of recordings, each before its file. Not among them: `mem` and `hist`, whose layouts are
/// trace-cmd's and the kernel's, `synth sql`, whose columns the statement names, and `why`, whose last column is a sentence.
const COMMANDS: [&str; 6] = [
    "analyze all",
    "analyze sched --timehist",
    "profile --layout table --input",
    "report --profile --layout table",
    "report --summary",
    "report --count",
];

/// The lines that a command prints on a terminal of so many columns.
fn on_terminal(env: &TestEnvironment, words: &[&str], columns: u16) -> Vec<String> {
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    command.args(words).env("TERM", "dumb").env("RTRACE_PAGER", "");
    let text = String::from_utf8_lossy(&on_terminals_of(command, Some(columns)).stdout).into_owned();
    text.lines().map(str::to_owned).collect()
}

/// True of a line of a table: sentences have no two blanks in a row.
fn is_of_table(line: &str) -> bool {
    line.trim().contains("  ")
}

/// Holds the tables on terminals against all that is printed elsewhere; gives the columns that were left out.
fn compare(env: &TestEnvironment, words: &[&str], wide: Option<&str>) -> BTreeSet<String> {
    let whole = env.rtrace(words).stdout();
    let widest = whole.lines().filter(|line| is_of_table(line)).map(|line| line.chars().count()).max().unwrap_or(0);
    let mut left_out = BTreeSet::new();
    for columns in [80, 120] {
        let shown = on_terminal(env, words, columns);
        for line in shown.iter().filter(|line| is_of_table(line)) {
            assert!(line.chars().count() <= columns.into(), "{words:?} on {columns} columns:\n{line}");
        }
        let changes: Vec<&str> =
            shown.iter().filter_map(|line| line.strip_prefix('(')?.split_once("; ").map(|of| of.0)).collect();
        let changes: Vec<&&str> =
            changes.iter().filter(|of| of.contains(" left out") || of.contains("names cut")).collect();
        assert_eq!(
            changes.is_empty(),
            widest <= columns.into(),
            "{words:?} of {widest} on {columns} columns: {changes:?}"
        );
        if changes.is_empty() {
            assert_eq!(shown, whole.lines().collect::<Vec<_>>(), "{words:?} on {columns} columns");
        }
        for name in changes.iter().filter_map(|of| of.split_once(" left out")).flat_map(|of| of.0.split(", ")) {
            assert!(whole.contains(name), "{words:?}: no column {name}");
            left_out.insert(name.to_owned());
        }
        if let Some(wide) = wide {
            let all = on_terminal(env, &[words, &[wide]].concat(), columns);
            assert_eq!(all, whole.lines().collect::<Vec<_>>(), "{words:?} {wide} on {columns} columns");
        }
    }
    left_out
}

/// No line of a table is wider than the terminal, what is left out is named, and `--wide` and a pipe have all of it.
#[test]
fn tables_fit_terminals_and_name_the_columns_that_they_leave_out() {
    let env = TestEnvironment::new();
    fork_storm(3, 4_000, 60, 3).write(&env.path().join("a.dat"), Version::V7(Codec::Zstd));
    let small = trace_files().into_iter().filter(|path| path.metadata().is_ok_and(|file| file.len() < 400_000));
    let files: Vec<String> = small.map(|path| path.to_string_lossy().into_owned()).collect();
    assert!(files.len() > 10, "{files:?}");
    let mut left_out = BTreeSet::new();
    for (nth, file) in files.iter().map(String::as_str).chain(["a.dat"]).enumerate() {
        // All commands of some files, one of each other.
        for (of, command) in COMMANDS.iter().enumerate().filter(|(of, _)| nth % 8 == 0 || nth % COMMANDS.len() == *of) {
            let words: Vec<&str> = command.split(' ').chain([file]).collect();
            let has_option = of < 3;
            left_out.extend(compare(&env, &words, has_option.then_some("--wide")));
        }
    }
    for column in ["p99.9", "PER SECOND", "sch delay", "MAX AT"] {
        assert!(left_out.contains(column), "{column}: {left_out:?}");
    }
}

/// Each answer about a recording goes through the pager of a terminal, and around it with `--no-pager`.
#[test]
fn answers_go_through_a_pager() {
    let env = TestEnvironment::new();
    fork_storm(3, 4_000, 60, 3).write(&env.path().join("a.dat"), Version::V7(Codec::Zstd));
    let lines = ["report", "analyze sched", "analyze all", "analyze sched --timehist", "why", "check --assert lost==0"];
    let of_triggers = [
        "hist sched:sched_switch -k next_comm -i",
        "latency sched:sched_switch sched:sched_switch --by prev_pid=next_pid -i",
    ];
    let others = ["diff a.dat", "dump", "profile --input"];
    for line in lines.into_iter().chain(others).chain(of_triggers) {
        for (option, is_paged) in [(None, true), (Some("--no-pager"), false)] {
            let words: Vec<&str> = line.split(' ').chain(["a.dat"]).chain(option).collect();
            let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
            let (typed, _keyboard) = silent_terminal();
            command.stdin(typed).args(&words).env("TERM", "xterm").env("RTRACE_PAGER", "sed s/^/PAGED:/");
            let printed = on_terminals_of(command, Some(120)).stdout;
            let text = String::from_utf8_lossy(&printed).into_owned();
            assert!(text.lines().count() > 1, "{words:?}: {text}");
            assert_eq!(
                text.lines().filter(|line| line.starts_with("PAGED:")).count() > 1,
                is_paged,
                "{words:?}: {text}"
            );
        }
    }
}

/// The names below a heading without indentation that `is_one` knows, of lines that begin with two blanks.
fn names_below(help: &str, is_one: impl Fn(&str) -> bool) -> Vec<String> {
    let mut is_below = false;
    let mut names = Vec::new();
    for line in help.lines() {
        match line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', '-', '['])) {
            Some(rest) if is_below => names.extend(rest.split_whitespace().next().map(str::to_owned)),
            Some(_) => {}
            None if !line.is_empty() && !line.starts_with(' ') => is_below = is_one(line),
            None => {}
        }
    }
    names.retain(|name| name != "help");
    names
}

/// Help of each command and topic: no line is wider than the terminal, but what is typed or is a usage line, on 80 columns.
#[test]
fn help_fits_terminals() {
    let env = TestEnvironment::new();
    let overview = env.rtrace(&["-h"]).stdout();
    let topics = names_below(&overview, |heading| heading.starts_with("Topics"));
    let commands = names_below(&overview, |heading| !heading.starts_with("Topics") && heading != "Options:");
    assert!(topics.len() > 10 && commands.len() > 40, "{topics:?} {commands:?}");
    let mut lines: Vec<Vec<String>> = vec![vec!["-h".to_owned()]];
    lines.extend(topics.iter().map(|topic| vec!["help".to_owned(), topic.clone()]));
    for command in &commands {
        let below = names_below(&env.rtrace(&[command, "-h"]).stdout(), |heading| heading == "Commands:");
        lines.extend(below.into_iter().map(|name| vec![command.clone(), name, "-h".to_owned()]));
        lines.extend(["-h", "--help"].map(|option| vec![command.clone(), option.to_owned()]));
    }
    let mut wide = Vec::new();
    for words in lines {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for columns in [80, 120] {
            let is_typed = |line: &str| {
                columns == 80 && (line.contains('\'') || line.starts_with("Usage: ") || line.contains("hist:keys="))
            };
            let shown = on_terminal(&env, &words, columns).into_iter();
            let long = shown.filter(|line| line.chars().count() > columns.into() && !is_typed(line));
            wide.extend(long.map(|line| format!("{words:?} on {columns} columns: {line}")));
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn a_comparison_fits_and_is_whole_as_markdown() {
    let env = TestEnvironment::new();
    for seed in 1..4 {
        fork_storm(3, 6_000, 60, seed).write(&env.path().join(format!("{seed}.dat")), Version::V7(Codec::Zstd));
    }
    let words = ["diff", "1.dat", "2.dat", "--fail-on", "never"];
    let left_out = compare(&env, &words, Some("--wide"));
    assert!(left_out.contains("P") && !left_out.contains("VERDICT"), "{left_out:?}");
    let markdown = env.rtrace(&[&words[..], &["--markdown"]].concat()).stdout();
    let heading = "| METRIC | BASE | NEW | CHANGE | INTERVAL | P | FINDS | NEEDS | VERDICT |\n| --- | --: |";
    assert!(markdown.contains(heading), "{markdown}");
}

/// Markdown has the tables of text, all columns of them, in as many rows.
#[test]
fn analyses_are_whole_as_markdown() {
    let env = TestEnvironment::new();
    fork_storm(3, 4_000, 60, 3).write(&env.path().join("a|b.dat"), Version::V7(Codec::Zstd));
    for words in ["analyze sched --top 3", "analyze all --top 3"] {
        let words: Vec<&str> = words.split(' ').chain(["a|b.dat"]).collect();
        let text = env.rtrace(&words).stdout();
        let markdown = env.rtrace(&[&words[..], &["--markdown"]].concat()).stdout();
        assert!(markdown.starts_with("### rtrace analyze sched: a\\|b.dat\n\nWindow: "), "{markdown}");
        let tables: Vec<Vec<&str>> = markdown
            .split("\n\n")
            .filter(|block| block.starts_with('|'))
            .map(|block| block.lines().collect())
            .collect();
        assert!(tables.len() >= 2, "{markdown}");
        for table in &tables {
            let cells = |line: &str| -> Vec<String> {
                line.trim_matches('|').split(" | ").map(|cell| cell.trim().replace('\\', "")).collect()
            };
            let columns = cells(table[0]).len();
            assert!(table.iter().all(|line| cells(line).len() == columns), "{table:?}");
            // Each row stands in the text, its cells in the same order.
            for row in table.iter().filter(|row| !row.starts_with("| --")) {
                let row = cells(row).join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
                let has = text.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") == row);
                assert!(has, "{row}\n{text}");
            }
        }
    }
    env.rtrace(&["analyze", "sched", "--timehist", "--markdown", "a|b.dat"]).exits(2);
}
