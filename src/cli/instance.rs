//! `rtrace instance`.

use super::args::{ListArgs, WriteArgs};
use super::exit::{Exit, Failure};
use super::holders::{held_by, unremoved};
use super::language::select;
use super::piped;
use super::stored::{Say, StoredRings};
use super::traced::mask_of;
use crate::cli::terminal::note;
use crate::cli::terminal::stdout;
use rtrace::record::{Compression, Ring};
use rtrace::syntax::widest;
use rtrace::tracefs::{Instance, Journal, Tracefs};
use rtrace::units::{ByteSize, counted};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Create, show, change and remove instances
///
/// An instance is a set of ring buffers with its own events, filters, triggers, clock and options. It lives until it
/// is removed.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace instance create foo --buffer-size 2M --clock mono -e sched -e irq
  rtrace instance list
  rtrace instance show foo
  rtrace instance set foo -O stacktrace --cpumask 3
  rtrace instance save foo foo.dat
  rtrace filter set -B foo sched:sched_switch 'next_pid == 1'
  rtrace instance remove foo")]
pub(crate) struct InstanceCommandArgs {
    #[command(subcommand)]
    command: InstanceCommand,
}

#[derive(clap::Subcommand)]
enum InstanceCommand {
    /// Create an instance, with all its settings in one go
    Create(Settings),
    /// List the instances
    #[command(visible_alias = "ls")]
    List(ListArgs),
    Show(InstanceShowArgs),
    /// Change settings of an instance
    Set(Settings),
    Save(InstanceSaveArgs),
    #[command(visible_alias = "rm")]
    Remove(InstanceRemoveArgs),
}

#[derive(clap::Args)]
struct Settings {
    /// Name of the instance
    name: String,
    /// Ring buffer of each CPU; a bare number is KiB
    #[arg(short = 'b', long, value_name = "SIZE", value_parser = kib)]
    buffer_size: Option<u64>,
    /// Sub-buffer, the unit in which the ring buffer is read (Linux 6.8); a bare number is KiB
    #[arg(long, value_name = "SIZE", value_parser = kib)]
    sub_buffer_size: Option<u64>,
    /// Trace clock: local, global, mono, boot, ...
    #[arg(short = 'C', long, value_name = "CLOCK")]
    clock: Option<String>,
    /// Tracer: function, function_graph, ...
    #[arg(short = 'p', long, value_name = "TRACER")]
    tracer: Option<String>,
    /// Enable events; may be given more than once
    #[arg(short = 'e', long, value_name = "EVENT")]
    event: Vec<String>,
    /// Set a trace option, or with `no` before it clear it; may be given more than once
    #[arg(short = 'O', long, value_name = "OPTION")]
    option: Vec<String>,
    /// CPUs to trace, as a hexadecimal mask
    #[arg(short = 'M', long, value_name = "MASK")]
    cpumask: Option<String>,
    /// CPUs to trace, by number: 0-3,8
    #[arg(long, value_name = "LIST", conflicts_with = "cpumask", value_parser = mask_of)]
    cpu: Option<String>,
    /// Switch the ring buffer on or off
    #[arg(long, value_name = "on|off", value_parser = ["on", "off"])]
    tracing: Option<String>,
    #[command(flatten)]
    write: WriteArgs,
}

/// Show the settings of an instance
#[derive(clap::Args)]
struct InstanceShowArgs {
    /// Name of the instance
    name: String,
    #[command(flatten)]
    list: ListArgs,
}

/// Save what is in an instance's buffer as a trace.dat, which `rtrace report` and trace-cmd decode
///
/// Its events move: the buffer is empty afterwards. Of a persistent instance (kernel parameters `reserve_mem` and
/// `trace_instance`) these may be the events of the boot before this one.
#[derive(clap::Args)]
struct InstanceSaveArgs {
    /// Name of the instance
    name: String,
    /// File to write; `-` is standard output
    #[arg(value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// Say what was stored as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// Remove instances
#[derive(clap::Args)]
struct InstanceRemoveArgs {
    /// Names of the instances
    #[arg(required = true)]
    name: Vec<String>,
    /// Remove it although triggers are set in it
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// A size as the kernel wants it here.
pub(super) fn kib(text: &str) -> Result<u64, String> {
    let size = ByteSize::parse_with_unit(text, 1024).map_err(|e| e.to_string())?;
    Ok(size.0.div_ceil(1024).max(1))
}

/// Runs the subcommand.
pub(crate) fn run(args: &InstanceCommandArgs) -> Result<Exit, Failure> {
    match &args.command {
        InstanceCommand::Create(args) => create(args),
        InstanceCommand::Set(args) => change(args),
        InstanceCommand::Save(args) => save(args),
        InstanceCommand::List(args) => list(args),
        InstanceCommand::Show(args) => show(args),
        InstanceCommand::Remove(args) => remove(args),
    }
}

fn create(args: &Settings) -> Result<Exit, Failure> {
    let tracefs = args.write.open()?;
    let mut journal = args.write.changes(&tracefs);
    let instance = journal.create_instance(&args.name).map_err(|e| match e.errno() {
        Some(nix::errno::Errno::EEXIST) => {
            Failure::from(e).hint(format!("`rtrace instance set {}` changes it", args.name))
        }
        _ => Failure::from(e),
    })?;
    apply(args, &instance, &mut journal)?;
    journal.keep()?;
    Ok(Exit::Success)
}

fn change(args: &Settings) -> Result<Exit, Failure> {
    let tracefs = args.write.open()?;
    let instance = tracefs.instance(&args.name)?;
    let mut journal = args.write.changes(&tracefs);
    apply(args, &instance, &mut journal)?;
    journal.keep()?;
    Ok(Exit::Success)
}

/// Sizes first, since they empty the ring buffer; events last, so that all of them happen under the final settings.
fn apply(args: &Settings, instance: &Instance, journal: &mut Journal) -> Result<(), Failure> {
    let mut events = Vec::new();
    for text in &args.event {
        events.extend(select(instance, text)?);
    }
    if let Some(kib) = args.sub_buffer_size {
        journal.set(instance, "buffer_subbuf_size_kb", &kib.to_string())?;
        let granted = instance.sub_buffer_size()? as u64;
        if granted != kib << 10 {
            note!("rtrace: size of sub-buffers rounded to {}", ByteSize(granted));
        }
    }
    if let Some(kib) = args.buffer_size {
        let granted = journal.set_buffer_size(instance, kib)?.kib();
        let is_seen = |granted: &u64| ByteSize(granted * 1024).to_string() != ByteSize(kib * 1024).to_string();
        if let Some(granted) = granted.filter(is_seen) {
            note!("rtrace: buffer size rounded to {} per CPU", ByteSize(granted * 1024));
        }
    }
    if let Some(clock) = &args.clock {
        let known = instance.trace_clock()?.available;
        if !known.contains(clock) {
            let error = anyhow::anyhow!("there is no trace clock `{clock}`");
            return Err(Failure::new(Exit::Usage, error).hint(format!("clocks are {}", known.join(", "))));
        }
        journal.set_clock(instance, clock)?;
    }
    for word in &args.option {
        let known = instance.options()?;
        let named = |name: &str| known.iter().any(|(option, _)| option == name);
        let (name, on) = match word.strip_prefix("no") {
            Some(rest) if !named(word) => (rest, false),
            _ => (word.as_str(), true),
        };
        if !named(name) {
            journal.tracefs().explain_missing_option(name)?;
            let near = rtrace::syntax::did_you_mean(name, known.iter().map(|(option, _)| option.as_str()));
            let failure = Failure::new(Exit::Usage, anyhow::anyhow!("there is no trace option `{word}`"));
            return Err(near.into_iter().fold(failure, Failure::hint));
        }
        journal.set_option(instance, name, on)?;
    }
    if let Some(mask) = args.cpumask.as_ref().or(args.cpu.as_ref()) {
        journal.set(instance, "tracing_cpumask", mask.trim_start_matches("0x"))?;
    }
    if let Some(tracer) = &args.tracer {
        journal.set_tracer(instance, tracer)?;
    }
    if !events.is_empty() {
        events.sort();
        events.dedup();
        journal.enable_events(instance, &events)?;
    }
    if let Some(tracing) = &args.tracing {
        journal.set_on(instance, tracing == "on")?;
    }
    Ok(())
}

/// Stops it meanwhile, if it runs.
fn save(args: &InstanceSaveArgs) -> Result<Exit, Failure> {
    piped::check(&args.file, args.json)?;
    let tracefs = args.write.open()?;
    let instance = tracefs.instance(&args.name)?;
    let mut journal = args.write.journal(&tracefs);
    if instance.is_on()? {
        journal.set_on(&instance, false)?;
    }
    let instances = std::slice::from_ref(&instance);
    let store = StoredRings { instances, ring: Ring::Live, cpus: &[], compression: Compression::default(), date: None };
    let exit = store.to(&args.file, Say::of(args.json, false))?;
    journal.undo()?;
    Ok(exit)
}

/// Facts about an instance.
fn describe(instance: &Instance) -> Result<serde_json::Value, Failure> {
    let read = |file: &str| instance.read(file).ok().map(|text| text.trim().to_owned());
    let triggers = instance.event_triggers(None).map_or(0, |set| set.len());
    let filters = instance.event_filters(None).map_or(0, |set| set.len());
    let options: Vec<String> = instance.options()?.into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect();
    let enabled: Vec<String> = instance.enabled_events()?.iter().map(ToString::to_string).collect();
    Ok(json!({
        "schema": "rtrace.instance",
        "version": 1,
        "name": instance.name(),
        "tracing": instance.is_on()?,
        "tracer": instance.current_tracer().ok(),
        "clock": instance.trace_clock()?.current,
        "buffer_kib_per_cpu": instance.buffer_size()?.kib(),
        "sub_buffer_bytes": instance.sub_buffer_size()?,
        "cpumask": read("tracing_cpumask"),
        "pids": read("set_event_pid").filter(|text| !text.is_empty()),
        "not_pids": read("set_event_notrace_pid").filter(|text| !text.is_empty()),
        "events": enabled,
        "filters": filters,
        "triggers": triggers,
        "options": options,
        "last_boot_info": read("last_boot_info"),
        "read_only": instance.is_read_only(),
    }))
}

fn show(args: &InstanceShowArgs) -> Result<Exit, Failure> {
    let tracefs = args.list.open()?;
    let instance = tracefs.instance(&args.name)?;
    let about = describe(&instance)?;
    let mut out = stdout().lock();
    if args.list.json {
        writeln!(out, "{about:#}")?;
        return Ok(Exit::Success);
    }
    let text = |key: &str| match &about[key] {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => String::new(),
        serde_json::Value::Array(all) => all.iter().filter_map(|v| v.as_str()).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    };
    writeln!(out, "tracing       {}", if about["tracing"] == true { "on" } else { "off" })?;
    for (label, key) in [("tracer", "tracer"), ("clock", "clock"), ("cpumask", "cpumask")] {
        writeln!(out, "{label:13} {}", text(key))?;
    }
    let buffer =
        about["buffer_kib_per_cpu"].as_u64().map_or("differs".to_owned(), |kib| ByteSize(kib * 1024).to_string());
    writeln!(out, "buffer        {buffer} per CPU")?;
    let sub = about["sub_buffer_bytes"].as_u64().map_or(String::new(), |n| ByteSize(n).to_string());
    writeln!(out, "sub-buffer    {sub}")?;
    for (label, key) in [("processes", "pids"), ("not processes", "not_pids"), ("events", "events")] {
        if !text(key).is_empty() {
            writeln!(out, "{label:13} {}", text(key))?;
        }
    }
    writeln!(
        out,
        "filters       {}\ntriggers      {}\noptions       {}",
        text("filters"),
        text("triggers"),
        text("options")
    )?;
    if let serde_json::Value::String(text) = &about["last_boot_info"] {
        writeln!(out, "persistent    {}", persistence(text))?;
    }
    if about["read_only"] == true {
        writeln!(out, "read-only     yes, and the kernel removes it when it is cleared or was read out")?;
    }
    for holder in held_by(&instance) {
        writeln!(out, "held by       {holder}")?;
    }
    Ok(Exit::Success)
}

/// The meaning of `last_boot_info`: 6.12 reports how far the last boot's kernel lay from this one, later kernels where
/// it lay, or that it is this one.
fn persistence(last_boot_info: &str) -> String {
    if last_boot_info.starts_with("# Current") {
        return "yes, with events of this boot".to_owned();
    }
    let lines: Vec<String> =
        last_boot_info.lines().take(2).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    format!("yes, perhaps with events of the last boot ({})", lines.join(", "))
}

fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let tracefs = args.open()?;
    let mut out = stdout().lock();
    let mut all = Vec::new();
    for name in tracefs.instances()? {
        // One that goes away while it is looked at is not listed.
        let Ok(instance) = tracefs.instance(&name) else { continue };
        let (Ok(on), Ok(size), Ok(clock), Ok(events)) =
            (instance.is_on(), instance.buffer_size(), instance.trace_clock(), instance.enabled_events())
        else {
            continue;
        };
        all.push(json!({
            "name": name, "tracing": on, "buffer_kib_per_cpu": size.kib(), "clock": clock.current,
            "events": events.len(), "persistent": instance.has("last_boot_info"),
            "read_only": instance.is_read_only(),
        }));
    }
    if args.json {
        writeln!(out, "{:#}", json!({"schema": "rtrace.instances", "version": 1, "instances": all}))?;
        return Ok(Exit::Success);
    }
    let width = widest(all.iter().filter_map(|one| one["name"].as_str()).map(str::len));
    for one in all {
        let size = one["buffer_kib_per_cpu"].as_u64().map_or("?".to_owned(), |kib| ByteSize(kib * 1024).to_string());
        let on = if one["tracing"] == true { "on " } else { "off" };
        let persistent = match (one["persistent"] == true, one["read_only"] == true) {
            (_, true) => "  read-only copy of an earlier boot's",
            (true, false) => "  persistent",
            (false, false) => "",
        };
        writeln!(
            out,
            "{:width$}  {on}  {size} per CPU  {}  {}{persistent}",
            one["name"].as_str().unwrap_or(""),
            one["clock"].as_str().unwrap_or(""),
            counted(one["events"].as_u64().unwrap_or(0), "event")
        )?;
    }
    Ok(Exit::Success)
}

fn remove(args: &InstanceRemoveArgs) -> Result<Exit, Failure> {
    let tracefs = args.write.open()?;
    let mut journal = args.write.changes(&tracefs);
    for (place, name) in args.name.iter().enumerate() {
        let others = args.name.get(place.saturating_add(1)..).unwrap_or_default();
        let left = |failure: Failure| match others {
            [] => failure,
            others => failure.hint(format!("{} stayed as well: nothing was done after this one.", others.join(", "))),
        };
        remove_one(&tracefs, &mut journal, name, args.force).map_err(left)?;
    }
    Ok(Exit::Success)
}

fn remove_one(tracefs: &Tracefs, journal: &mut Journal, name: &str, force: bool) -> Result<(), Failure> {
    let instance = tracefs.instance(name)?;
    if !force {
        let set = instance.event_triggers(None).unwrap_or_default();
        if let Some((event, line)) = set.first() {
            let error = anyhow::anyhow!("failed to remove instance {name}: {} triggers are set in it", set.len());
            return Err(Failure::from(error)
                .hint(format!("`--force` removes them first; the first is {event} {line}"))
                .hint(format!("`rtrace trigger clear -B {name}` removes them")));
        }
    }
    journal.remove_instance(name).map_err(|error| unremoved(error, &instance))
}
