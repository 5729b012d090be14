//! `rtrace remote`.

use super::args::{ListArgs, TracefsArgs, WriteArgs};
use super::exit::{Exit, Failure};
use super::show::copy;
use crate::cli::terminal::{remark, stdout};
use anyhow::anyhow;
use rtrace::syntax::widest;
use rtrace::tracefs::{EventSelection, Instance, RemoteState, WriteMode};
use rtrace::units::{ByteSize, CpuId, counted};
use serde_json::{Value, json};
use std::io::Write;

/// Show and steer the ring buffers of hypervisors and firmware
///
/// A remote (Linux 7.0) fills its ring buffer by itself, for instance arm64's protected hypervisor. The kernel shows it as text
/// only: there is nothing to record, `rtrace remote stream` writes the text.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace remote list
  rtrace remote start hypervisor -b 512K            all its events
  rtrace remote show hypervisor
  rtrace remote stream hypervisor >text             until Ctrl-C, consuming
  rtrace remote stop hypervisor")]
pub(crate) struct RemoteCommandArgs {
    #[command(subcommand)]
    command: RemoteCommand,
}

#[derive(clap::Subcommand)]
enum RemoteCommand {
    /// List the remotes
    #[command(visible_alias = "ls")]
    List(ListArgs),
    /// Print what a remote's ring buffer holds, without emptying it
    Show(RemoteText),
    /// Print events as they come, consuming them, until Ctrl-C
    Stream(RemoteText),
    Start(RemoteStart),
    /// Let a remote trace no more; its ring buffer keeps its events
    Stop(RemoteChange),
    /// Empty a remote's ring buffer
    Clear(RemoteChange),
}

#[derive(clap::Args)]
struct RemoteText {
    /// Name of the remote
    name: String,
    /// One CPU's buffer only
    #[arg(short = 'c', long, value_name = "CPU")]
    cpu: Option<u32>,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

/// Let a remote trace: the events that are named or enabled, else all
#[derive(clap::Args)]
struct RemoteStart {
    /// Enable these events alone; may be given more than once
    #[arg(short = 'e', long, value_name = "EVENT")]
    event: Vec<String>,
    /// Ring buffer of each CPU: KiB, or with K, M, G
    #[arg(short = 'b', long, value_name = "SIZE", value_parser = super::instance::kib)]
    buffer_size: Option<u64>,
    #[command(flatten)]
    change: RemoteChange,
}

#[derive(clap::Args)]
struct RemoteChange {
    /// Name of the remote
    name: String,
    #[command(flatten)]
    write: WriteArgs,
}

/// Runs the subcommand.
pub(crate) fn run(args: &RemoteCommandArgs) -> Result<Exit, Failure> {
    match &args.command {
        RemoteCommand::List(args) => list(args),
        RemoteCommand::Show(args) => text(args, "trace"),
        RemoteCommand::Stream(args) => text(args, "trace_pipe"),
        RemoteCommand::Start(args) => start(args),
        RemoteCommand::Stop(args) => {
            args.write("tracing_on", "0")?;
            remark(&format!("remote {} is paused; `rtrace remote start {}` goes on", args.name, args.name));
            Ok(Exit::Success)
        }
        RemoteCommand::Clear(args) => args.write("trace", ""),
    }
}

impl RemoteChange {
    fn write(&self, file: &str, text: &str) -> Result<Exit, Failure> {
        let tracefs = self.write.open()?;
        let remote = tracefs.remote(&self.name)?;
        self.write.changes(&tracefs).act(&remote, file, text, WriteMode::Truncate)?;
        Ok(Exit::Success)
    }
}

fn start(args: &RemoteStart) -> Result<Exit, Failure> {
    let change = &args.change;
    let tracefs = change.write.open()?;
    let remote = tracefs.remote(&change.name)?;
    let state = RemoteState::of(&remote)?;
    let known: Vec<_> = state.events.iter().map(|(event, _)| event.clone()).collect();
    let enabled: Vec<_> = state.events.iter().filter(|(_, on)| *on).map(|(event, _)| event.clone()).collect();
    let mut wanted = match (args.event.is_empty(), enabled.is_empty()) {
        (true, true) => known.clone(),
        (true, false) => enabled,
        _ => Vec::new(),
    };
    for text in &args.event {
        wanted.extend(EventSelection::new(text.clone()).select(&known).map_err(rtrace::tracefs::Error::from)?);
    }
    let mut journal = change.write.changes(&tracefs);
    // A ring that is there keeps its size: the kernel refuses another.
    let size = args.buffer_size.filter(|kib| state.kib_per_cpu != Some(*kib));
    if let Some(kib) = size {
        if state.loaded {
            let error =
                anyhow!("remote {} has a ring buffer, whose size is fixed until it is stopped and empty", change.name);
            let hint = format!("`rtrace remote stop {0}` and `rtrace remote clear {0}` remove it.", change.name);
            return Err(Failure::new(Exit::Usage, error).hint(hint));
        }
        journal.act(&remote, "buffer_size_kb", &kib.to_string(), WriteMode::Truncate)?;
    }
    for (event, on) in &state.events {
        let wants = wanted.contains(event);
        if wants != *on {
            journal.act(&remote, &event.file("enable"), if wants { "1" } else { "0" }, WriteMode::Truncate)?;
        }
    }
    journal.act(&remote, "tracing_on", "1", WriteMode::Truncate)?;
    Ok(Exit::Success)
}

fn text(args: &RemoteText, file: &str) -> Result<Exit, Failure> {
    let tracefs = args.tracefs.open()?;
    let remote = tracefs.remote(&args.name)?;
    let file = match args.cpu.map(CpuId) {
        Some(cpu) => {
            remote.require_cpu(cpu)?;
            Instance::cpu_file(cpu, file)
        }
        None => file.to_owned(),
    };
    copy(remote.open(&file)?, &mut stdout().lock())?;
    Ok(Exit::Success)
}

fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let tracefs = args.open()?;
    let mut all = Vec::new();
    for name in tracefs.remotes()? {
        let state = RemoteState::of(&tracefs.remote(&name)?)?;
        all.push((name, state));
    }
    let mut out = stdout().lock();
    if args.json {
        let remotes: Vec<Value> = all.iter().map(|(name, state)| described(name, state)).collect();
        writeln!(out, "{:#}", json!({"schema": "rtrace.remotes", "version": 1, "remotes": remotes}))?;
        return Ok(Exit::Success);
    }
    let width = widest(all.iter().map(|(name, _)| name.len()));
    for (name, state) in all {
        let size = state.kib_per_cpu.map_or("?".to_owned(), |kib| ByteSize(kib.saturating_mul(1024)).to_string());
        let enabled = state.events.iter().filter(|(_, on)| *on).count();
        let (on, events) = (if state.on { "on " } else { "off" }, counted(state.events.len() as u64, "event"));
        let ring = if state.loaded { "" } else { "  no ring buffer yet" };
        writeln!(out, "{name:width$}  {on}  {size} per CPU  {enabled} of {events} enabled{ring}")?;
    }
    Ok(Exit::Success)
}

fn described(name: &str, state: &RemoteState) -> Value {
    let events: Vec<Value> =
        state.events.iter().map(|(event, on)| json!({"event": event.to_string(), "enabled": on})).collect();
    json!({
        "name": name, "tracing": state.on, "buffer_kib_per_cpu": state.kib_per_cpu, "loaded": state.loaded, "events": events,
    })
}
