//! `rtrace show`.

use super::args::{InstanceArg, TracefsArgs};
use super::exit::{Exit, Failure};
use super::given::{Given, Moot, refuse};
use crate::cli::terminal::stdout;
use anyhow::anyhow;
use rtrace::internal::trace_dat::is_recording;
use rtrace::syntax::nearest;
use rtrace::tracefs::{Error, EventName, EventSelection, Feature, Instance};
use serde_json::{Map, Value, json};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Print the ring buffer as text, or the value of tracefs settings
///
/// Without an option: the file `trace` of the top level. FILE names any file of the instance: `trace_clock`,
/// `options/sym-addr`, `per_cpu/cpu0/stats`.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace show                            the top level's ring buffers, without emptying them
  rtrace show -p                         the same, consuming, and waiting for more
  rtrace show -B web -c 1                CPU 1's buffer of instance web
  rtrace show --trigger sched:sched_switch
  rtrace show --json trace_clock buffer_size_kb tracing_on")]
pub(crate) struct ShowCommandArgs {
    #[command(flatten)]
    given: Given,
    /// trace_pipe: consume events, and wait for more
    #[arg(short = 'p', long, conflicts_with = "snapshot")]
    pipe: bool,
    /// The snapshot buffer
    #[arg(short = 's', long)]
    snapshot: bool,
    /// One CPU's buffer only
    #[arg(short = 'c', long, value_name = "CPU")]
    cpu: Option<u32>,
    /// Print each file's path before it
    #[arg(short = 'f', long)]
    path: bool,
    /// The hist triggers' tables of an event (`sys:ev` or `ev`)
    #[arg(long, value_name = "EVENT")]
    hist: Option<String>,
    /// The triggers of an event
    #[arg(long, value_name = "EVENT")]
    trigger: Option<String>,
    /// The filter of an event
    #[arg(long, value_name = "EVENT")]
    filter: Option<String>,
    #[command(flatten)]
    knobs: Knobs,
    /// Any other files of the instance
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// One JSON object instead of text: the content of each file
    #[arg(long, conflicts_with = "pipe")]
    json: bool,
    #[command(flatten)]
    instance: InstanceArg,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

/// One flag per knob, as in trace-cmd, which spells them with `_`.
#[derive(clap::Args)]
struct Knobs {
    /// tracing_on: whether the ring buffer takes events
    #[arg(long, alias = "tracing_on")]
    tracing_on: bool,
    /// current_tracer
    #[arg(long, alias = "current_tracer")]
    current_tracer: bool,
    /// buffer_size_kb: KiB per CPU
    #[arg(long, alias = "buffer_size")]
    buffer_size: bool,
    /// buffer_total_size_kb: KiB of all CPUs
    #[arg(long, alias = "buffer_total_size")]
    buffer_total_size: bool,
    /// buffer_subbuf_size_kb: KiB of a sub-buffer
    #[arg(long, alias = "buffer_subbuf_size")]
    buffer_subbuf_size: bool,
    /// buffer_percent: how full a buffer must be to wake its reader
    #[arg(long, alias = "buffer_percent")]
    buffer_percent: bool,
    /// set_ftrace_filter: functions to trace
    #[arg(long, alias = "ftrace_filter")]
    ftrace_filter: bool,
    /// set_ftrace_notrace: functions not to trace
    #[arg(long, alias = "ftrace_notrace")]
    ftrace_notrace: bool,
    /// set_ftrace_pid: tasks whose functions are traced
    #[arg(long, alias = "ftrace_pid")]
    ftrace_pid: bool,
    /// set_graph_function
    #[arg(long, alias = "graph_function")]
    graph_function: bool,
    /// set_graph_notrace
    #[arg(long, alias = "graph_notrace")]
    graph_notrace: bool,
    /// tracing_cpumask: CPUs that are traced
    #[arg(long)]
    cpumask: bool,
    /// tracing_max_latency, in microseconds
    #[arg(long, alias = "max_latency")]
    max_latency: bool,
}

impl Knobs {
    fn files(&self) -> impl Iterator<Item = &'static str> {
        [
            (self.tracing_on, "tracing_on"),
            (self.current_tracer, "current_tracer"),
            (self.buffer_size, "buffer_size_kb"),
            (self.buffer_total_size, "buffer_total_size_kb"),
            (self.buffer_subbuf_size, "buffer_subbuf_size_kb"),
            (self.buffer_percent, "buffer_percent"),
            (self.ftrace_filter, "set_ftrace_filter"),
            (self.ftrace_notrace, "set_ftrace_notrace"),
            (self.ftrace_pid, "set_ftrace_pid"),
            (self.graph_function, "set_graph_function"),
            (self.graph_notrace, "set_graph_notrace"),
            (self.cpumask, "tracing_cpumask"),
            (self.max_latency, "tracing_max_latency"),
        ]
        .into_iter()
        .filter_map(|(wanted, file)| wanted.then_some(file))
    }
}

impl ShowCommandArgs {
    /// The option about a ring buffer beside one that names a file of settings.
    fn moot(&self) -> Option<Moot<'static>> {
        let names_file = self.knobs.files().next().is_some() || !self.files.is_empty();
        let of_event = [&self.hist, &self.trigger, &self.filter].iter().any(|event| event.is_some());
        let option = self.given.first_of(&["pipe", "snapshot", "cpu"]).filter(|_| names_file || of_event)?;
        Some(Moot {
            option,
            reason: "on settings: it chooses a ring buffer to print",
            hint: "ask for one of them; `rtrace show per_cpu/cpu1/buffer_size_kb` prints a CPU's file.",
        })
    }
}

pub(crate) fn run(args: &ShowCommandArgs) -> Result<Exit, Failure> {
    refuse::<ShowCommandArgs>(args.moot())?;
    let tracefs = args.tracefs.open()?;
    let instance = args.instance.open(&tracefs)?;
    let files = files(args, &instance)?;
    let mut out = stdout().lock();
    if args.json {
        let texts = files.into_iter().map(|file| Ok((file.clone(), instance.read(&file)?)));
        let document = shown(&instance, texts.collect::<Result<Vec<_>, Failure>>()?);
        writeln!(out, "{document:#}")?;
        return Ok(Exit::Success);
    }
    for file in &files {
        if args.path {
            writeln!(out, "{}", instance.path(file).display())?;
        }
        copy(instance.open(file)?, &mut out)?;
    }
    Ok(Exit::Success)
}

/// The texts of an instance's files as JSON: schema `rtrace.show`, version 1.
pub(super) fn shown(instance: &Instance, files: impl IntoIterator<Item = (String, String)>) -> Value {
    let files: Map<String, Value> = files.into_iter().map(|(file, text)| (file, Value::from(text))).collect();
    json!({"schema": "rtrace.show", "version": 1, "instance": instance.name(), "files": files})
}

/// The file beside a path at which nothing lies that has nearly its name.
fn near_file(instance: &Instance, file: &str) -> Option<String> {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    let beside = std::fs::read_dir(instance.path(folder)).ok()?.flatten();
    let names: Vec<String> = beside.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let alike = || {
        // As `tracing_enabled`, of old kernels, for `tracing_on`.
        let (first, _) = name.split_once('_')?;
        let mut alike: Vec<&str> =
            names.iter().map(String::as_str).filter(|own| own.split('_').next() == Some(first)).collect();
        alike.sort_unstable_by_key(|own| (*own != "tracing_on", *own));
        let alike: Vec<String> = alike.iter().take(MOST_ALIKE).map(|own| format!("`{own}`")).collect();
        (!alike.is_empty()).then(|| format!("did you mean one of {}?", alike.join(", ")))
    };
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some("`show` prints files; `rtrace set`, `stop` and `restart` change settings.".to_owned());
    }
    let near = nearest(name, names.iter().map(String::as_str)).first().map(|near| match folder {
        "" => format!("did you mean `{near}`?"),
        _ => format!("did you mean `{folder}/{near}`?"),
    });
    near.or_else(alike)
}

/// The file of an event that is named without its folders, as `sched_switch/enable`.
fn of_event(instance: &Instance, file: &str) -> Option<String> {
    let (event, name) = file.rsplit_once('/').unwrap_or((file, "format"));
    let event = one_event(instance, event.trim_start_matches("events/")).ok()?;
    let path = event.file(name);
    instance.path(&path).exists().then(|| format!("did you mean `{path}`?"))
}

/// Most names that a hint on an unknown one lists.
const MOST_ALIKE: usize = 6;

/// The files to show, below the instance.
fn files(args: &ShowCommandArgs, instance: &Instance) -> Result<Vec<String>, Failure> {
    let mut files: Vec<String> = args.knobs.files().map(str::to_owned).collect();
    for (event, file) in [(&args.hist, "hist"), (&args.trigger, "trigger"), (&args.filter, "filter")] {
        if let Some(event) = event {
            if file == "hist" {
                instance.tracefs().require(&Feature::HistTriggers)?;
            }
            files.push(one_event(instance, event)?.file(file));
        }
    }
    for file in &args.files {
        if !instance.path(file.trim_start_matches('/')).exists() && is_recording(Path::new(file)) {
            return Err(Failure::new(Exit::Usage, anyhow!("`{file}` is a recording, not a file of tracefs"))
                .hint(format!("`rtrace report {file}` prints it.")));
        }
        let outside = file.split('/').any(|part| part == ".." || part.is_empty());
        // Merely opening it frees the ring buffer.
        if outside || file.ends_with("free_buffer") {
            return Err(Failure::new(Exit::Usage, anyhow!("`{file}` is not a file to show")));
        }
        if std::fs::metadata(instance.path(file)).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            let is_instance = instance.tracefs().instance(file).is_ok();
            let of_instance = is_instance.then(|| format!("it is an instance: `rtrace show -B {file}`."));
            let near = of_instance.or_else(|| of_event(instance, file)).or_else(|| near_file(instance, file));
            let near = near.unwrap_or_else(|| "`rtrace stat` shows what is set.".to_owned());
            return Err(Failure::new(Exit::Usage, anyhow!("there is no file `{file}` in tracefs")).hint(near));
        }
        if is_write_only(&instance.path(file)) {
            return Err(Failure::new(Exit::Usage, anyhow!("`{file}` can be written only, not shown"))
                .hint("what was written to trace_marker stands in the ring buffer: `rtrace show`."));
        }
        if instance.path(file).is_dir() {
            let error = anyhow!("`{file}` is a directory");
            return Err(Failure::new(Exit::Usage, error)
                .hint("`rtrace stat` shows what is set, `rtrace show DIR/FILE` one file."));
        }
        files.push(file.clone());
    }
    if let Some(cpu) = args.cpu.map(rtrace::units::CpuId)
        && let Ok(cpus) = instance.cpus()
        && !cpus.contains(&cpu)
    {
        return Err(Error::NoCpu { cpu, cpus }.into());
    }
    if files.is_empty() {
        let file = match (args.pipe, args.snapshot) {
            (true, _) => "trace_pipe",
            (_, true) => "snapshot",
            _ => "trace",
        };
        files.push(match args.cpu {
            Some(cpu) => Instance::cpu_file(rtrace::units::CpuId(cpu), file),
            None => file.to_owned(),
        });
    }
    Ok(files)
}

/// True if a file has no right to be read, which root could open nevertheless.
fn is_write_only(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o444 == 0)
}

fn one_event(instance: &Instance, text: &str) -> Result<EventName, Failure> {
    let mut events = EventSelection::new(text).select(&instance.events()?).map_err(Error::from)?;
    match events.pop() {
        Some(event) if events.is_empty() => Ok(event),
        _ => {
            Err(Failure::new(Exit::Usage, anyhow!("`{text}` means more than one event")).hint("name one as `sys:ev`."))
        }
    }
}

/// Copies a file as it comes.
pub(super) fn copy(mut from: impl Read, to: &mut impl Write) -> Result<(), Failure> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = match from.read(&mut buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let Some(piece) = buffer.get(..count).filter(|piece| !piece.is_empty()) else { return Ok(()) };
        to.write_all(piece)?;
        to.flush()?;
    }
}
