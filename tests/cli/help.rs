//! The help, and the errors of wrong command lines.

use crate::common::environment::TestEnvironment;
use crate::common::pty::on_terminals;

#[test]
fn alone_it_shows_the_first_steps() {
    let env = TestEnvironment::new();
    env.rtrace::<&str>(&[]).exits(0).complains("").prints(include_str!("../../docs/reference/first-steps.md"));
}

#[test]
fn a_topic_is_its_page_of_the_reference_laid_out() {
    let env = TestEnvironment::new();
    for topic in ["exit-codes", "recipes", "filter", "hist"] {
        let source = std::fs::read_to_string(format!("{}/docs/reference/{topic}.md", env!("CARGO_MANIFEST_DIR")));
        let words = |page: &str| -> Vec<String> {
            let page = page.replace('#', " ").to_lowercase();
            page.split_whitespace().filter(|word| *word != "\\").map(str::to_owned).collect()
        };
        let outcome = env.rtrace(&["help", topic]);
        let page = outcome.exits(0).complains("").stdout();
        assert_eq!(words(&page), words(&source.expect("a page")), "{topic}");
        assert!(!page.contains("\n#") && !page.contains('\x1b'), "{topic}:\n{page}");
        let longest = page.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(100), "{topic}: {longest:?}\n{page}");
    }
}

#[test]
fn on_a_terminal_a_topic_has_colours_and_the_terminals_width() {
    let env = TestEnvironment::new();
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    command.args(["help", "filter"]).env("TERM", "xterm");
    let page = String::from_utf8(on_terminals(command).stdout).expect("text");
    assert!(page.starts_with("\x1b[1mEvent filters\x1b[0m"), "{page}");
    assert!(page.contains("\x1b[36mrtrace filter check EVENT FILTER\x1b[0m reports"), "{page}");
}

#[test]
fn each_command_says_what_it_acts_on_and_leaves_and_its_short_help_fits_a_screen() {
    let env = TestEnvironment::new();
    let overview = env.rtrace(&["--help"]).exits(0).stdout();
    let groups = ["Record:", "Read:", "Analyse:", "Steer the kernel:", "Manage:"];
    let places: Vec<Option<usize>> = groups.iter().map(|group| overview.find(group)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{overview}");
    let commands = overview.lines().take_while(|line| !line.starts_with("Topics"));
    let names: Vec<&str> = commands
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.split(' ').next())
        .collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let short = env.rtrace(&[name, "-h"]).exits(0).stdout();
        assert!(short.contains("\nActs on:  ") && short.contains("\nLeaves:   "), "{name}:\n{short}");
        let lines = short.lines().count();
        assert!(lines <= 50, "{name}: {lines} lines\n{short}");
    }
}

#[test]
fn a_subcommand_of_a_command_with_headings_has_help() {
    let env = TestEnvironment::new();
    env.rtrace(&["profile", "functions", "--help"])
        .exits(0)
        .complains("")
        .prints_with("rtrace profile functions --limit");
    env.rtrace(&["help", "profile", "functions"]).exits(0).prints_with("Print help");
}

#[test]
fn options_stand_under_the_heading_where_they_belong() {
    let env = TestEnvironment::new();
    for (command, heading, option) in [
        ("record", "Run:", "--duration"),
        ("record", "Run:", "--timeout"),
        ("record", "Output:", "--output"),
        ("record", "Tracers:", "--max-graph-depth"),
        ("stream", "Output:", "--format"),
        ("profile", "Output:", "--stderr"),
        ("report", "Layout:", "--color"),
        ("report", "Facts of the file:", "--stat"),
        ("start", "General:", "--tracefs"),
    ] {
        let help = env.rtrace(&[command, "--help"]).exits(0).stdout();
        let mut under = "";
        for line in help.lines() {
            if !line.starts_with(' ') && line.ends_with(':') {
                under = line;
            } else if line.trim_start().starts_with('-') && line.split([' ', ',']).any(|word| word == option) {
                break;
            }
        }
        assert_eq!(under, heading, "{command} {option}\n{help}");
    }
}

#[test]
fn help_on_a_command_is_its_long_help() {
    let env = TestEnvironment::new();
    let page = env.rtrace(&["help", "help"]);
    page.exits(0).complains("").prints_with("Usage: rtrace help [COMMAND|TOPIC]...");
    env.rtrace(&["--help"]).exits(0).complains("").prints_with("exit-codes   Meanings of the exit codes");
}

#[test]
fn wrong_names_are_usage_errors_that_name_the_nearest() {
    let env = TestEnvironment::new();
    env.rtrace(&["hepl"]).exits(2).prints("").complains_with("did you mean `help`?");
    env.rtrace(&["help", "exit-code"]).exits(2).prints("").complains_with("did you mean `exit-codes`?");
    env.rtrace(&["help", "help", "exit-codes"])
        .exits(2)
        .prints("")
        .complains_with("failed to find help on `exit-codes`: `rtrace help` has no such subcommand");
    let view = if cfg!(feature = "view") { " view" } else { "" };
    let commit = option_env!("RTRACE_COMMIT").unwrap_or("unknown");
    let version = format!("rtrace {} (commit {commit}, features cli{view} arrow)\n", env!("CARGO_PKG_VERSION"));
    env.rtrace(&["--version"]).exits(0).complains("").prints(&version);
    env.rtrace(&["version"]).exits(0).complains("").prints(&version);
    env.rtrace(&["--versoin"]).exits(2).prints("").complains_with("did you mean `--version`?");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let env = TestEnvironment::new();
    let line = format!("{} help exit-codes | true; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_rtrace"));
    env.run("bash", &["-c", &line]).exits(0).complains("").prints("0\n");
}

#[test]
fn where_no_one_can_listen_the_status_tells() {
    let env = TestEnvironment::new();
    let whole = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat");
    let bytes = std::fs::read(whole).expect("a recording");
    std::fs::write(env.path().join("whole.dat"), &bytes).expect("a copy");
    std::fs::write(env.path().join("cut.dat"), &bytes[..bytes.len() - 2000]).expect("a damaged copy");
    for (line, status) in [
        ("report cut.dat 2>/dev/full >/dev/null", 4),
        ("dump --validate cut.dat 2>/dev/full >/dev/null", 4),
        ("--no-such-option 2>/dev/full", 2),
        ("recover whole.dat >/dev/full", 1),
        ("recover --json whole.dat >/dev/full", 1),
        ("split --json whole.dat -o part.dat >/dev/full", 1),
        ("split --force -i whole.dat -o part.dat >/dev/full", 1),
    ] {
        let line = format!("{} {line}", env!("CARGO_BIN_EXE_rtrace"));
        env.run("bash", &["-c", &line]).exits(status);
    }
    for verb in ["report", "report --summary", "dump"] {
        let line = format!("{} {verb} whole.dat >/dev/full", env!("CARGO_BIN_EXE_rtrace"));
        env.run("bash", &["-c", &line]).exits(1).complains_with("failed to write to standard output: No space left");
    }
    for line in ["report cut.dat 2>&1 >/dev/null", "recover whole.dat", "split --force -i whole.dat -o part.dat"] {
        let status = if line.starts_with("report") { "4" } else { "0" };
        let line = format!("{} {line} | true; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_rtrace"));
        env.run("bash", &["-c", &line]).exits(0).prints(&format!("{status}\n"));
    }
    // A reader that closes the pipe does not stop the work.
    env.rtrace(&["report", "--count", "part.dat"]).exits(0);
}
