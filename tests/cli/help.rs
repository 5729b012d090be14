//! The help, and what becomes of a command line that nobody understands.

use crate::common::environment::TestEnvironment;

#[test]
fn alone_it_shows_the_first_steps() {
    let env = TestEnvironment::new();
    env.rtrace::<&str>(&[]).exits(0).complains("").prints(include_str!("../../docs/reference/first-steps.md"));
}

#[test]
fn a_topic_is_its_page_of_the_reference() {
    let env = TestEnvironment::new();
    let page = include_str!("../../docs/reference/exit-codes.md");
    env.rtrace(&["help", "exit-codes"]).exits(0).complains("").prints(page);
}

#[test]
fn help_on_a_command_is_its_long_help() {
    let env = TestEnvironment::new();
    let page = env.rtrace(&["help", "help"]);
    page.exits(0).complains("").prints_with("Usage: rtrace help [COMMAND|TOPIC]...");
    env.rtrace(&["--help"]).exits(0).complains("").prints_with("exit-codes   What each exit code means");
}

#[test]
fn wrong_names_are_usage_errors_that_name_the_nearest() {
    let env = TestEnvironment::new();
    env.rtrace(&["hepl"]).exits(2).prints("").complains_with("a similar subcommand exists: 'help'");
    env.rtrace(&["help", "exit-code"]).exits(2).prints("").complains_with("a similar value exists: 'exit-codes'");
    env.rtrace(&["help", "help", "exit-codes"])
        .exits(2)
        .prints("")
        .complains_with("failed to find help on `exit-codes`: `rtrace help` has no such subcommand");
    env.rtrace(&["--versoin"]).exits(2).prints("").complains_with("a similar argument exists: '--version'");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let env = TestEnvironment::new();
    let line = format!("{} help exit-codes | true; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_rtrace"));
    env.run("bash", &["-c", &line]).exits(0).complains("").prints("0\n");
}

#[test]
fn where_nobody_can_listen_the_status_tells() {
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
