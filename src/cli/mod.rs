//! The command line: one file per subcommand, each an `Args` struct (whose doc comments are the help text) and a `run`.

mod agent;
mod analyze;
mod args;
mod attach;
mod background;
mod baseline;
mod check;
mod check_events;
mod clear;
mod command_words;
mod completions;
mod convert;
mod damage;
mod deferred;
mod diff;
mod doctor;
mod dump;
mod elsewhere;
mod exit;
mod extract;
mod filter;
mod flame;
mod generate;
mod given;
mod help;
mod hist;
mod holders;
mod instance;
mod key_names;
mod keywords;
mod language;
mod latency;
mod list;
mod listen;
mod live;
mod log;
mod machine;
mod mem;
mod piped;
mod plugin_options;
mod probe;
mod profile;
mod program;
mod query;
mod record;
mod record_error;
mod recover;
mod recovered;
mod report;
mod reset;
mod restore;
mod saved_summary;
mod setup_guest;
mod show;
mod snapshot;
mod split;
mod sql;
mod stack;
mod start;
mod stat;
mod stop;
mod stored;
mod stream;
mod synth;
mod syscalls;
mod terminal;
mod trace_file;
mod traced;
mod trigger;
mod unfinished;
mod usage;
mod why;

use clap::builder::Styles;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use deferred::Deferred;
use exit::{Exit, Failure};
use nix::sys::signal::{SigSet, Signal};
use std::process::ExitCode;

/// Record, decode and steer Linux kernel tracing
#[derive(Parser)]
#[command(
    name = "rtrace",
    bin_name = "rtrace", // not the first argument, which may be anything
    version,
    subcommand_value_name = "COMMAND",
    max_term_width = 100,
    disable_help_subcommand = true
)]
struct Root {}

// One line per subcommand here and one in `run`; nothing else.
#[derive(Subcommand)]
enum Command {
    Record(Deferred<record::Args>),
    Report(Deferred<report::Args>),
    Stream(Deferred<stream::Args>),
    #[command(visible_alias = "restore")]
    Recover(Deferred<recover::Args>),
    Convert(Deferred<convert::Args>),
    Flame(Deferred<flame::Args>),
    Sql(Deferred<sql::Args>),
    Dump(Deferred<dump::Args>),
    Extract(Deferred<extract::Args>),
    Profile(Deferred<profile::Args>),
    Stack(Deferred<stack::Args>),
    Split(Deferred<split::Args>),
    List(Deferred<list::Args>),
    Agent(Deferred<agent::Args>),
    SetupGuest(Deferred<setup_guest::Args>),
    Attach(Deferred<attach::Args>),
    Listen(Deferred<listen::Args>),
    Mem(Deferred<mem::Args>),
    Analyze(Deferred<analyze::Args>),
    Why(Deferred<Box<why::Args>>),
    Check(Deferred<check::Args>),
    Diff(Deferred<diff::Args>),
    Baseline(Deferred<baseline::Args>),
    Options(Deferred<plugin_options::Args>),
    CheckEvents(Deferred<check_events::Args>),
    Start(Deferred<start::StartArgs>),
    Set(Deferred<start::SetArgs>),
    Stop(Deferred<stop::StopArgs>),
    Restart(Deferred<stop::RestartArgs>),
    Clear(Deferred<clear::Args>),
    Reset(Deferred<reset::Args>),
    Show(Deferred<show::Args>),
    Stat(Deferred<stat::Args>),
    Doctor(Deferred<doctor::Args>),
    Filter(Deferred<filter::Args>),
    Trigger(Deferred<trigger::Args>),
    Snapshot(Deferred<snapshot::Args>),
    Instance(Deferred<instance::Args>),
    Probe(Deferred<probe::Args>),
    Hist(Deferred<Box<hist::Args>>),
    Latency(Deferred<latency::Args>),
    Synth(Deferred<synth::Args>),
    #[command(hide = true)]
    Sqlhist(Deferred<synth::SqlhistArgs>),
    Completions(Deferred<completions::Args>),
    /// Asked by the scripts of `completions`
    #[command(hide = true)]
    Complete(Deferred<completions::AskArgs>),
    Help(Deferred<help::Args>),
    #[command(hide = true)]
    Generate(Deferred<generate::Args>),
    /// The same as --version
    #[command(hide = true)]
    Version,
}

fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Report(args) => report::run(&args),
        Command::Stream(args) => stream::run(&args),
        Command::Recover(args) => recover::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Flame(args) => flame::run(&args),
        Command::Sql(args) => sql::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Extract(args) => extract::run(&args),
        Command::Profile(args) => profile::run(&args),
        Command::Stack(args) => stack::run(&args),
        Command::Split(args) => split::run(&args),
        Command::Agent(args) => agent::run(&args),
        Command::SetupGuest(args) => setup_guest::run(&args),
        Command::Attach(args) => attach::run(&args),
        Command::Listen(args) => listen::run(&args),
        Command::List(args) => list::run(&args),
        Command::Mem(args) => mem::run(&args),
        Command::Analyze(args) => analyze::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Baseline(args) => baseline::run(&args),
        Command::Options(args) => plugin_options::run(&args),
        Command::CheckEvents(args) => check_events::run(&args),
        Command::Start(args) => start::start(&args),
        Command::Set(args) => start::set(&args),
        Command::Stop(args) => stop::stop(&args),
        Command::Restart(args) => stop::restart(&args),
        Command::Clear(args) => clear::run(&args),
        Command::Reset(args) => reset::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Stat(args) => stat::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Filter(args) => filter::run(&args),
        Command::Trigger(args) => trigger::run(&args),
        Command::Snapshot(args) => snapshot::run(&args),
        Command::Instance(args) => instance::run(&args),
        Command::Probe(args) => probe::run(&args),
        Command::Hist(args) => hist::run(&args),
        Command::Latency(args) => latency::run(&args),
        Command::Synth(args) => synth::run(&args),
        Command::Sqlhist(args) => synth::run_sqlhist(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Complete(args) => completions::ask(&args, command_line()),
        Command::Help(args) => help::run(&args, command_line()),
        Command::Record(args) => record::run(&args),
        Command::Generate(args) => generate::run(&args, command_line()),
        Command::Version => exit::print(&Root::command().render_version()),
    }
}

/// The whole command line as clap sees it: the parser, the help, the man pages and the completions come from it.
fn command_line() -> clap::Command {
    help::complete(bare_command_line())
}

/// The command line as the arguments' own structs describe it.
fn bare_command_line() -> clap::Command {
    Command::augment_subcommands_for_update(Root::command())
}

/// Parses the command line, runs the subcommand and turns its outcome into an exit code.
///
/// A command line that clap refuses ends with 2, `--help` and `--version` with 0; no subcommand at all is a question
/// ("what can you do?"), which is answered with the first steps, and 0.
pub(crate) fn main() -> ExitCode {
    rtrace::record::notice_children();
    // A write beyond `ulimit -f` is an error like a full disk, in every command. Children get a mask of their own.
    let _ = SigSet::from_iter([Signal::SIGXFSZ]).thread_block();
    let words = command_words::separated(std::env::args_os().collect(), bare_command_line);
    let words = record::gathered(words, bare_command_line);
    let parse = |root: clap::Command| {
        let matches = root.try_get_matches_from(&words)?;
        matches.subcommand_name().map(|_| Command::from_arg_matches(&matches)).transpose()
    };
    let whole = || {
        let command_line = || command_line().bin_name(program::name());
        match parse(command_line().styles(Styles::plain())) {
            // The help holds nothing but words of ours, so it may have colours. Errors quote arguments.
            Err(answer) if !answer.use_stderr() => parse(command_line()),
            parsed => parsed,
        }
    };
    let parsed = match parse(Command::augment_subcommands(Root::command())) {
        // Errors and pages of help are made of the whole command line.
        Err(_) | Ok(Some(Command::Help(_))) => whole(),
        parsed => parsed,
    };
    exit::report(match parsed {
        Ok(Some(command)) => run(command),
        Ok(None) => exit::print(help::FIRST_STEPS),
        Err(answer) => exit::print_clap(&answer),
    })
}
