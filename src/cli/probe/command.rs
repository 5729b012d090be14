//! `rtrace probe`: arguments, and what they do.
//! A second probe of an event that is there already.

use super::remove::Doomed;
use super::{place, remove};
use crate::cli::args::{ListArgs, WriteArgs};
use crate::cli::exit::{Exit, Failure};
use crate::cli::holders::{event_probes, remove_event};
use crate::cli::keywords::{PROBES, words};
use crate::cli::language::invalid;
use crate::cli::synth::{define, instances, users_of};
use crate::cli::terminal::{note, stdout};
use anyhow::anyhow;
use rtrace::filter::Filter;
use rtrace::format::EventFormat;
use rtrace::probe::{Fetch, Probe, ProbeArg, ProbeKind};
use rtrace::syntax::{Diagnostic, Span, widest};
use rtrace::tracefs::{Error, EventName, Feature, Tracefs, WriteMode};
use serde_json::json;
use std::io::Write;

/// Add, list and remove dynamic events: kprobe, uprobe, eprobe, fprobe, tprobe and user events
///
/// A probe makes an event out of any place in the kernel or in a program. It stays until it is removed, and is used like
/// any other event. `rtrace help probe` describes the language.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace probe add kprobe vfs_read 'count=%dx:u64'
  rtrace probe add kretprobe vfs_read 'ret=$retval:s64'
  rtrace probe add uprobe libc:malloc 'size=%di:u64'
  rtrace probe add uprobe /bin/bash:readline
  rtrace probe add eprobe sched:sched_switch 'comm=$next_comm:string'
  rtrace probe add 'p:mygroup/myread vfs_read $arg3'
  rtrace record -e kprobes:vfs_read -- cat /etc/passwd
  rtrace probe list
  rtrace probe remove vfs_read
  rtrace probe remove mygroup/
  rtrace probe remove --all")]
pub(crate) struct ProbeArgs {
    #[command(subcommand)]
    command: ProbeCommand,
}

#[derive(clap::Subcommand)]
enum ProbeCommand {
    Add(ProbeAddArgs),
    /// List the dynamic events
    List(ListArgs),
    Remove(ProbeRemoveArgs),
}

/// Add a probe
#[derive(clap::Args)]
struct ProbeAddArgs {
    /// kprobe, kretprobe, uprobe, uretprobe, eprobe, fprobe, fretprobe, tprobe or user; then what to probe and the
    /// arguments to record. Or the whole line as the kernel takes it. An event may have several kprobes, uprobes or
    /// fprobes, which record the same arguments at different places
    #[arg(value_name = "KIND> <PLACE> [ARG", num_args = 1.., required = true, value_parser = words(PROBES), hide_possible_values = true)]
    what: Vec<String>,
    /// Name of the event: EVENT or SYSTEM/EVENT; without it, made from the place
    #[arg(short, long)]
    name: Option<String>,
    /// Only print the line that would be written
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// Remove probes
#[derive(clap::Args)]
struct ProbeRemoveArgs {
    /// EVENT or SYSTEM/EVENT, SYSTEM/ for all of a system, or a probe as it was added, for one of several of an event
    #[arg(required_unless_present = "all", allow_hyphen_values = true)]
    name: Vec<String>,
    /// Every dynamic event but synthetic ones
    #[arg(long, conflicts_with = "name")]
    all: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// Runs the subcommand.
pub(crate) fn run(args: &ProbeArgs) -> Result<Exit, Failure> {
    match &args.command {
        ProbeCommand::Add(args) => add(args),
        ProbeCommand::List(args) => list(args),
        ProbeCommand::Remove(args) => remove(args),
    }
}

/// The kernel feature that this probe needs.
fn required(kind: &ProbeKind) -> Feature {
    match kind {
        ProbeKind::Kprobe(_) | ProbeKind::Kretprobe { .. } => Feature::Kprobes,
        ProbeKind::Uprobe { .. } => Feature::Uprobes,
        ProbeKind::Event { .. } => Feature::EventProbes,
        ProbeKind::Function { .. } | ProbeKind::Tracepoint { .. } => Feature::Fprobes,
        ProbeKind::User { .. } => Feature::UserEvents,
    }
}

/// The file that probes are written to: all kinds in `dynamic_events`, which old or small kernels lack.
fn file(tracefs: &Tracefs, kind: &ProbeKind) -> &'static str {
    match kind {
        _ if tracefs.top().has("dynamic_events") => "dynamic_events",
        ProbeKind::Uprobe { .. } => "uprobe_events",
        _ => "kprobe_events",
    }
}

fn add(args: &ProbeAddArgs) -> Result<Exit, Failure> {
    let tracefs = args.write.open()?;
    if let Some(definition) = place::synthetic(&args.what) {
        return define(&tracefs, &args.write, &definition, args.dry_run);
    }
    let line = place::line(&args.what, args.name.as_deref())?;
    let mut probe: Probe = line.parse().map_err(|e| invalid("probe", e))?;
    match tracefs.require(&required(&probe.kind)) {
        Err(error) if args.dry_run => note!("rtrace: warning: {error}: it would refuse this line"),
        required => required?,
    }
    // A whole line without a name gets the kernel's.
    if probe.event.is_none() && !place::is_whole_line(&args.what) {
        probe.event = Some(place::suggested_name(&args.what, &probe));
    }
    validate(&tracefs, &probe, &line)?;
    if probe.event.is_some() {
        check(&tracefs, &probe, &probes(&tracefs).unwrap_or_default())?;
    }
    let text = probe.to_string();
    let mut out = stdout().lock();
    if args.dry_run {
        writeln!(out, "{text}")?;
        return Ok(Exit::Success);
    }
    let before = if probe.event.is_none() { probes(&tracefs)? } else { Vec::new() };
    let mut journal = args.write.changes(&tracefs);
    journal.act(&tracefs.top(), file(&tracefs, &probe.kind), &text, WriteMode::Append).map_err(|e| {
        match (&probe.kind, &e) {
            // A kernel without event probes lists them in README all the same and writes nothing into the error_log.
            (ProbeKind::Event { .. }, Error::File { kernel: None, .. }) => {
                let failure = Failure::new(Exit::Unable, anyhow::anyhow!("this kernel takes no event probes"));
                failure.hint("they need CONFIG_EPROBE_EVENTS, before Linux 6.17 CONFIG_PROBE_EVENTS")
            }
            _ => Failure::from(e),
        }
    })?;
    if probe.event.is_none() {
        let is_new = |(_, line): &&(Probe, String)| !before.iter().any(|(_, other)| other == line);
        let after = probes(&tracefs)?;
        let (made, _) = after.iter().find(is_new).ok_or_else(|| anyhow::anyhow!("the probe `{text}` is not there"))?;
        probe = made.clone();
    }
    writeln!(out, "{}", probe.full_name())?;
    Ok(Exit::Success)
}

/// Checks before the kernel is asked: the symbol, the file, the event and its fields.
fn validate(tracefs: &Tracefs, probe: &Probe, line: &str) -> Result<(), Failure> {
    match &probe.kind {
        ProbeKind::Kprobe(at) | ProbeKind::Kretprobe { at, .. } => {
            place::kernel_symbol(tracefs, &at.symbol, line, at.span)?;
            place::function_start(tracefs, probe, line)?;
            place::parameters(tracefs, probe, line)
        }
        ProbeKind::Uprobe { path, .. } => match std::fs::metadata(path) {
            Ok(file) if file.is_file() => Ok(()),
            Ok(_) => Err(Failure::new(Exit::Usage, anyhow::anyhow!("`{path}` is not a regular file"))),
            Err(e) => Err(Failure::new(Exit::Usage, anyhow::anyhow!("failed to open `{path}`: {e}"))),
        },
        ProbeKind::Event { system, event } => {
            let known = tracefs.top().events()?;
            let name = EventName::new(system, event);
            if !known.contains(&name) {
                let names: Vec<String> = known.iter().map(ToString::to_string).collect();
                let near = rtrace::syntax::did_you_mean(&name.to_string(), names.iter().map(String::as_str));
                let places = [".", "/", ":"].map(|dot| format!(" {system}{dot}{event}"));
                let at = places.iter().find_map(|place| line.find(place)).map_or(0, |blank| blank + 1);
                let span = Span::new(at, at + system.len() + 1 + event.len());
                let wrong = Diagnostic::new("probe", line, span, format!("there is no event {name}"));
                return Err(invalid("probe", wrong.hint_opt(near)));
            }
            let text = tracefs.top().event_format(&name)?;
            let format = EventFormat::parse(system, &text)
                .map_err(|e| anyhow::anyhow!("failed to read the format of {name}: {e}"))?;
            place::event_fields(probe, &format)?;
            if let Some(text) = &probe.filter {
                let filter = Filter::parse(text).map_err(|e| invalid("filter of the probe", e))?;
                filter.check(&format).map_err(|e| invalid("filter of the probe", e))?;
            }
            Ok(())
        }
        ProbeKind::Function { symbol, .. } => {
            let at = line.find(&format!(" {symbol}")).map_or(0, |blank| blank + 1);
            if !symbol.contains([':', '*', '?']) {
                place::kernel_symbol(tracefs, symbol, line, Span::new(at, at + symbol.len()))?;
            }
            place::parameters(tracefs, probe, line)
        }
        ProbeKind::Tracepoint { .. } | ProbeKind::User { .. } => Ok(()),
    }
}

/// The dynamic events that are no synthetic ones, as the kernel shows them.
fn probes(tracefs: &Tracefs) -> Result<Vec<(Probe, String)>, Failure> {
    let top = tracefs.top();
    let files: &[&str] =
        if top.has("dynamic_events") { &["dynamic_events"] } else { &["kprobe_events", "uprobe_events"] };
    let mut found = Vec::new();
    let mut read = false;
    for file in files.iter().filter(|file| top.has(file)) {
        read = true;
        let text = top.read(file)?;
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("s:"));
        found.extend(lines.filter_map(|line| Some((line.parse::<Probe>().ok()?, line.to_owned()))));
    }
    if !read {
        tracefs.require(&Feature::Kprobes)?;
    }
    Ok(found)
}

fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let tracefs = args.open()?;
    let probes = probes(&tracefs)?;
    let mut out = stdout().lock();
    if args.json {
        let all: Vec<_> = probes.iter().map(|(p, line)| json!({"event": p.full_name(), "probe": line})).collect();
        writeln!(out, "{:#}", json!({"schema": "rtrace.probes", "version": 1, "probes": all}))?;
        return Ok(Exit::Success);
    }
    let width = widest(probes.iter().map(|(probe, _)| probe.full_name().len()));
    for (probe, line) in &probes {
        writeln!(out, "{:width$}  {line}", probe.full_name())?;
    }
    Ok(Exit::Success)
}

fn remove(args: &ProbeRemoveArgs) -> Result<Exit, Failure> {
    let tracefs = args.write.open()?;
    let known = probes(&tracefs)?;
    let mut doomed: Vec<Doomed> = Vec::new();
    for text in &args.name {
        doomed.extend(remove::named(text, &known)?);
    }
    if args.all {
        doomed = remove::whole_events(&known, |_| true);
        // One that another is attached to goes after it; newer ones stand later.
        doomed.reverse();
    }
    doomed.dedup();
    let mut journal = args.write.changes(&tracefs);
    for Doomed { event, kind, removal, .. } in &doomed {
        let users = || {
            let mut users = event_probes(&tracefs, event);
            users.extend(users_of(&instances(&tracefs).unwrap_or_default(), event));
            users
        };
        let file = file(&tracefs, kind);
        remove_event(event, users, || journal.act(&tracefs.top(), file, removal, WriteMode::Append))?;
    }
    let left = probes(&tracefs)?;
    if let Some(doomed) = doomed.iter().find(|doomed| left.iter().any(|(_, line)| doomed.lines.contains(line))) {
        return Err(anyhow::anyhow!("failed to remove {}: it is still there", doomed.event).into());
    }
    for Doomed { event, lines, .. } in doomed.iter().filter(|_| args.all) {
        lines.iter().for_each(|line| note!("rtrace: {event} is removed: {line}"));
    }
    Ok(Exit::Success)
}

/// Fails if the event of `probe` exists and cannot have it as well: the kernel adds kprobes, uprobes and fprobes at other
/// places that record the same arguments (`trace_probe_compare_arg_type` in `kernel/trace/trace_probe.c`).
fn check(tracefs: &Tracefs, probe: &Probe, known: &[(Probe, String)]) -> Result<(), Failure> {
    let name = EventName::new(probe.group_or_default(), probe.event.clone().unwrap_or_default());
    if !tracefs.top().has(&format!("events/{}/{}", name.system, name.name)) {
        return Ok(());
    }
    let others: Vec<&Probe> =
        known.iter().map(|(other, _)| other).filter(|o| o.full_name() == probe.full_name()).collect();
    objection(probe, &others).map_or(Ok(()), |why| {
        let error = anyhow!("failed to add the probe: there is an event {name} already{why}");
        Err(Failure::new(Exit::Usage, error).hint("`--name EVENT` gives it another name"))
    })
}

/// The reason why an event with the probes `others` cannot have `probe`, to follow `there is an event X already`.
fn objection(probe: &Probe, others: &[&Probe]) -> Option<&'static str> {
    let Some(first) = others.first() else { return Some("") };
    if !can_be_several(&probe.kind) || sort(&probe.kind) != sort(&first.kind) {
        return Some("");
    }
    let normal = probe.normal();
    if others.iter().any(|other| other.normal() == normal) {
        return Some(", with this very probe");
    }
    let first = first.normal();
    let differ = |(a, b): (&ProbeArg, &ProbeArg)| {
        let types = [a, b].map(recorded_as);
        a.name != b.name || (types.iter().all(Option::is_some) && types[0] != types[1])
    };
    let other_args = first.args.len() != normal.args.len() || first.args.iter().zip(&normal.args).any(differ);
    other_args.then_some(", whose probe records other arguments")
}

/// The type that an argument is recorded as; `None` where the function's own types decide.
fn recorded_as(arg: &ProbeArg) -> Option<&str> {
    fn by_default(fetch: &Fetch) -> Option<&'static str> {
        match fetch {
            Fetch::Comm | Fetch::Text(_) => Some("string"),
            Fetch::Deref { address, .. } => by_default(address),
            Fetch::Register(_) | Fetch::Memory(_) | Fetch::StackEntry(_) | Fetch::Stack | Fetch::Immediate(_) => {
                Some(if cfg!(target_pointer_width = "64") { "x64" } else { "x32" })
            }
            _ => None,
        }
    }
    arg.kind.as_deref().or_else(|| by_default(&arg.fetch))
}

fn can_be_several(kind: &ProbeKind) -> bool {
    !matches!(kind, ProbeKind::Event { .. } | ProbeKind::User { .. })
}

/// Probes of one event are of one sort.
fn sort(kind: &ProbeKind) -> u8 {
    match kind {
        ProbeKind::Kprobe(_) => 0,
        ProbeKind::Kretprobe { .. } => 1,
        ProbeKind::Uprobe { returns, .. } => 2 + u8::from(*returns),
        ProbeKind::Function { returns, .. } => 4 + u8::from(*returns),
        ProbeKind::Tracepoint { .. } => 6,
        ProbeKind::Event { .. } => 7,
        ProbeKind::User { .. } => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_places_with_the_same_arguments() {
        let of = |text: &str, other: &str| objection(&text.parse().unwrap(), &[&other.parse().unwrap()]);
        assert_eq!(of("p:ev vfs_write", "p:kprobes/ev vfs_read"), None);
        assert_eq!(of("p:ev vfs_write count=%dx:u64 %si", "p:ev vfs_read count=%di:u64 arg2=%si:x64"), None);
        assert_eq!(of("p:ev /bin/sh:0x10", "p:uprobes/ev /bin/sh:0x0000000000000020"), None);
        assert_eq!(of("p:ev vfs_read", "p:kprobes/ev vfs_read"), Some(", with this very probe"));
        assert_eq!(of("p:ev vfs_write count=%dx", "p:ev vfs_read count=%di:x64"), None);
        // The type that the kernel takes from the function's own is not shown.
        assert_eq!(of("p:ev vfs_write count", "p:ev vfs_read count:u64"), None);
        for text in
            ["p:ev vfs_write", "p:ev vfs_write n=%di:u64", "p:ev vfs_write count=%di:u8", "p:ev vfs_write count=%di"]
        {
            assert_eq!(
                of(text, "p:ev vfs_read count=%di:u64"),
                Some(", whose probe records other arguments"),
                "{text}"
            );
        }
        for text in ["r:ev vfs_write", "f:kprobes/ev vfs_write", "p:kprobes/ev /bin/sh:0x10", "e:kprobes/ev s.e"] {
            assert_eq!(of(text, "p:ev vfs_read"), Some(""), "{text}");
        }
        assert_eq!(objection(&"p:ev vfs_read".parse().unwrap(), &[]), Some(""), "no probe's event");
    }
}
