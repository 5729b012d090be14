//! The subcommands: a line for each in `Command` and one in `run`, and the command line that they are.

use super::deferred::Deferred;
use super::exit::{Exit, Failure};
use super::{
    agent, analyze, attach, baseline, check, check_events, clear, compact, completions, convert, diff, doctor, dump,
    exit, extract, filter, flame, generate, help, helper_programs, hist, instance, latency, list, listen, mem, noise,
    page, plugin_options, probe, profile, record, recover, remote, report, reset, save, schema, setup_guest, show,
    snapshot, split, sql, stack, start, stat, stream, synth, trigger, why,
};
#[cfg(feature = "view")]
use super::{top, view};
use clap::{CommandFactory, Parser, Subcommand};

/// Record, decode and steer Linux kernel tracing
#[derive(Parser)]
#[command(
    name = "rtrace",
    bin_name = "rtrace", // not the first argument, which may be anything
    version = helper_programs::VERSION,
    subcommand_value_name = "COMMAND",
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub(super) struct RootCommand {}

// One line per subcommand here and one in `run`; nothing else.
#[derive(Subcommand)]
pub(super) enum Command {
    Record(Deferred<Box<record::RecordArgs>>),
    Report(Deferred<report::ReportArgs>),
    Stream(Deferred<stream::StreamArgs>),
    #[command(visible_alias = "restore")]
    Recover(Deferred<recover::RecoverArgs>),
    Convert(Deferred<convert::ConvertArgs>),
    Flame(Deferred<flame::FlameArgs>),
    #[cfg(feature = "view")]
    View(Deferred<view::ViewArgs>),
    #[cfg(feature = "view")]
    Top(Deferred<top::TopArgs>),
    Sql(Deferred<sql::SqlArgs>),
    Compact(Deferred<compact::CompactArgs>),
    Dump(Deferred<dump::DumpArgs>),
    Extract(Deferred<extract::ExtractArgs>),
    Save(Deferred<save::SaveArgs>),
    Profile(Deferred<profile::ProfileArgs>),
    Stack(Deferred<stack::StackArgs>),
    Split(Deferred<split::SplitArgs>),
    List(Deferred<list::ListCommandArgs>),
    Agent(Deferred<agent::AgentArgs>),
    SetupGuest(Deferred<setup_guest::SetupGuestArgs>),
    Attach(Deferred<attach::AttachArgs>),
    Listen(Deferred<listen::ListenArgs>),
    Mem(Deferred<mem::MemArgs>),
    Analyze(Deferred<analyze::AnalyzeArgs>),
    Why(Deferred<Box<why::WhyArgs>>),
    Check(Deferred<check::CheckArgs>),
    Diff(Deferred<diff::DiffArgs>),
    Baseline(Deferred<baseline::BaselineArgs>),
    Options(Deferred<plugin_options::PluginOptionsArgs>),
    CheckEvents(Deferred<check_events::CheckEventsArgs>),
    Start(Deferred<start::StartArgs>),
    Set(Deferred<start::SetArgs>),
    Stop(Deferred<start::StopArgs>),
    Restart(Deferred<start::RestartArgs>),
    Clear(Deferred<clear::ClearArgs>),
    Reset(Deferred<reset::ResetArgs>),
    Show(Deferred<show::ShowCommandArgs>),
    Stat(Deferred<stat::StatArgs>),
    Doctor(Deferred<doctor::DoctorArgs>),
    Filter(Deferred<filter::FilterArgs>),
    Trigger(Deferred<trigger::TriggerCommandArgs>),
    Snapshot(Deferred<snapshot::SnapshotCommandArgs>),
    Instance(Deferred<instance::InstanceCommandArgs>),
    Remote(Deferred<remote::RemoteCommandArgs>),
    Probe(Deferred<probe::ProbeArgs>),
    Hist(Deferred<Box<hist::HistArgs>>),
    Latency(Deferred<latency::LatencyArgs>),
    Timerlat(Deferred<noise::TimerlatArgs>),
    Osnoise(Deferred<noise::OsnoiseArgs>),
    /// Started by `timerlat --user-threads`
    #[command(hide = true)]
    TimerlatReader(Deferred<noise::ReaderArgs>),
    Synth(Deferred<synth::SynthArgs>),
    #[command(hide = true)]
    Sqlhist(Deferred<synth::SqlhistArgs>),
    Schema(Deferred<schema::SchemaArgs>),
    Completions(Deferred<completions::CompletionsArgs>),
    /// Asked by the scripts of `completions`
    #[command(hide = true)]
    Complete(Deferred<completions::CompleteArgs>),
    Help(Deferred<help::HelpArgs>),
    #[command(hide = true)]
    Generate(Deferred<generate::GenerateArgs>),
    /// The same as --version
    #[command(hide = true)]
    Version,
}

pub(super) fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Report(args) => report::run(&args),
        Command::Stream(args) => stream::run(&args),
        Command::Recover(args) => recover::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Flame(args) => flame::run(&args),
        #[cfg(feature = "view")]
        Command::View(args) => view::run(&args),
        #[cfg(feature = "view")]
        Command::Top(args) => top::run(&args),
        Command::Sql(args) => sql::run(&args),
        Command::Compact(args) => compact::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Extract(args) => extract::run(&args),
        Command::Save(args) => save::run(&args),
        Command::Profile(args) => profile::run(&args),
        Command::Stack(args) => stack::run(&args),
        Command::Split(args) => split::run(&args),
        Command::Agent(args) => agent::run(&args),
        Command::SetupGuest(args) => setup_guest::run(&args),
        Command::Attach(args) => attach::run(&args),
        Command::Listen(args) => listen::run(&args),
        Command::List(args) => list::run(&args),
        Command::Mem(args) => mem::run(&args),
        Command::Analyze(args) => analyze::run(&args, &page::write_page),
        Command::Why(args) => why::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Baseline(args) => baseline::run(&args),
        Command::Options(args) => plugin_options::run(&args),
        Command::CheckEvents(args) => check_events::run(&args),
        Command::Start(args) => start::start(&args),
        Command::Set(args) => start::set(&args),
        Command::Stop(args) => start::stop(&args),
        Command::Restart(args) => start::restart(&args),
        Command::Clear(args) => clear::run(&args),
        Command::Reset(args) => reset::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Stat(args) => stat::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Filter(args) => filter::run(&args),
        Command::Trigger(args) => trigger::run(&args),
        Command::Snapshot(args) => snapshot::run(&args),
        Command::Instance(args) => instance::run(&args),
        Command::Remote(args) => remote::run(&args),
        Command::Probe(args) => probe::run(&args),
        Command::Hist(args) => hist::run(&args),
        Command::Latency(args) => latency::run(&args),
        Command::Timerlat(args) => noise::timerlat(&args),
        Command::Osnoise(args) => noise::osnoise(&args),
        Command::TimerlatReader(args) => noise::read(&args),
        Command::Synth(args) => synth::run(&args),
        Command::Sqlhist(args) => synth::run_sqlhist(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Complete(args) => completions::ask(&args, command_line()),
        Command::Help(args) => help::run(&args, command_line()),
        Command::Record(args) => record::run(&args),
        Command::Generate(args) => generate::run(&args, command_line()),
        Command::Version => exit::print(&RootCommand::command().render_version()),
    }
}

/// The whole command line as clap sees it: the parser, the help, the man pages and the completions come from it.
pub(super) fn command_line() -> clap::Command {
    help::complete(bare_command_line())
}

/// The command line as the arguments' own structs describe it.
pub(super) fn bare_command_line() -> clap::Command {
    Command::augment_subcommands_for_update(RootCommand::command())
}
