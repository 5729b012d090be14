//! `rtrace start`, `set`, `stop` and `restart`.

use super::args::{InstancesArgs, WriteArgs, called};
use super::exit::{Exit, Failure};
use super::given::refuse;
use super::helper_programs;
use super::hints::of_setting;
use super::record_error::{explain, setup_failure};
use super::traced::Traced;
use crate::cli::terminal::{note, remark};
use anyhow::anyhow;
use clap::{ArgMatches, FromArgMatches};
use rtrace::record::{
    BufferPlan, Child, MachineSettings, Mode, RecordedCommand, TargetBuffer, Tasks, UserError, start as carry_out,
};
use rtrace::tracefs::{Tracefs, WriteMode};
use rtrace::units::counted;

/// Start tracing and leave it running
///
/// Works on the top level; what follows a -B works on that instance, which is made if there is none. Events, filters,
/// tracer, pids and what the ring buffer holds are cleared first. If anything fails, all is as it was before.
/// `rtrace show` prints what was traced, `rtrace stop` stops, `rtrace reset` puts everything back.
///
/// With CMD: it is run when tracing is on, waited for, and its status is the exit code; tracing goes on.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace start -e sched:sched_switch -f 'prev_prio < 100'
  rtrace start -e irq -B web -e 'syscalls:*open*' -b 8M
  rtrace start -p function_graph -O nofuncgraph-irqs
  rtrace start -F -c -e sched -- make     only what make and its children do
  rtrace start --fork -e irq -- ./server  returns when the server runs")]
pub(crate) struct StartArgs {
    #[command(flatten)]
    common: StartSettings,
}

/// Change settings of tracing, and nothing else
///
/// As `start`, but nothing is cleared first and tracing is neither switched on nor off. -l, -n and -g are about the tracer
/// that runs; an empty FUNC clears the list. With CMD: it is run with the new settings.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace set -b 8M                        the top level's ring buffer, per CPU
  rtrace set -e irq -v -e 'irq:softirq*'  enable some events, disable others
  rtrace set -l 'vfs_*' -n vfs_statx      what the function tracer traces from now on
  rtrace set -l '' -n ''                  all functions again
  rtrace set -B web -C mono               the clock of instance web")]
pub(crate) struct SetArgs {
    #[command(flatten)]
    common: StartSettings,
}

#[derive(clap::Args)]
struct StartSettings {
    #[command(flatten)]
    traced: Lasting,
    /// Do not wait for CMD
    #[arg(long, requires = "command")]
    fork: bool,
    /// Taken for trace-cmd's sake: only errors are said anyway
    #[arg(short, long, hide = true)]
    quiet: bool,
}

impl StartSettings {
    /// The process that will become CMD; it does nothing yet.
    fn child(&self) -> Result<Option<Child>, Failure> {
        let traced = &self.traced.0;
        if traced.command().is_empty() {
            return Ok(None);
        }
        let wrong = |error: UserError| Failure::new(Exit::Usage, error);
        let user = traced.user().map_err(wrong)?;
        let command = RecordedCommand::find(traced.command(), std::env::var_os("PATH").as_deref());
        let command = command.map_err(|error| setup_failure(error.into()))?;
        let command = match &user {
            Some(user) => command.run_as(user, &std::env::vars_os().collect::<Vec<_>>()),
            None => command,
        };
        Ok(Some(command.fork().map_err(|error| setup_failure(error.into()))?))
    }
}

pub(crate) fn start(args: &StartArgs) -> Result<Exit, Failure> {
    refuse::<StartArgs>(args.common.traced.0.moot_in_settings())?;
    run(&args.common, Mode::Start)
}

pub(crate) fn set(args: &SetArgs) -> Result<Exit, Failure> {
    refuse::<SetArgs>(args.common.traced.0.moot_in_settings())?;
    run(&args.common, Mode::Set)
}

fn run(args: &StartSettings, mode: Mode) -> Result<Exit, Failure> {
    let outcome = trace(args, mode);
    if args.traced.0.command().is_empty() { outcome } else { outcome.map_err(Failure::of_command) }
}

fn trace(args: &StartSettings, mode: Mode) -> Result<Exit, Failure> {
    let traced = &args.traced.0;
    let mut buffers = match mode {
        Mode::Start => traced.buffers(TargetBuffer::Top)?,
        Mode::Set => traced.settings(TargetBuffer::Top)?,
    };
    // With only -B given, the top level is none of our business.
    if buffers.len() > 1 && buffers.first().is_some_and(is_empty) {
        buffers.remove(0);
    }
    let traces = buffers.iter().any(|buffer| !buffer.events.is_empty() || buffer.tracer.is_some());
    let asks = buffers.iter().any(|buffer| !is_empty(buffer))
        || traced.tasks() != Tasks::default()
        || traced.follows()
        || traced.machine() != MachineSettings::default();
    if (mode == Mode::Start && !traces) || !asks {
        let what = if mode == Mode::Start { "nothing to trace: no event or tracer is given" } else { "nothing to set" };
        let word = traced.command().first().map(|file| file.to_string_lossy().into_owned());
        let hint = word.as_deref().and_then(of_setting);
        let instance = buffers.iter().find_map(|buffer| match &buffer.place {
            TargetBuffer::Instance(name) => Some(name),
            _ => None,
        });
        let hint = match (hint, instance) {
            (Some(_), Some(name)) if word.as_deref().is_some_and(|word| word.starts_with("tracing_on")) => {
                Some(format!("`rtrace restart -B {name}` and `rtrace stop -B {name}` switch tracing on and off there."))
            }
            (hint, _) => hint,
        };
        let hint = hint.unwrap_or_else(|| "`-e EVENT` enables events, `-p TRACER` sets a tracer.".to_owned());
        return Err(Failure::new(Exit::Usage, anyhow!("{what}")).hint(hint));
    }
    let without = buffers.iter().find_map(|buffer| match &buffer.place {
        TargetBuffer::Instance(name) if is_empty(buffer) => Some(name),
        _ => None,
    });
    if let Some(name) = without.filter(|_| traces && helper_programs::name() != "trace-cmd") {
        note!(
            "rtrace: {name} gets no events: what stands before -B is the top level's, `-B {name} -e EVENT` is its own"
        );
    }
    let tracefs = traced.open(false)?;
    let is_new = |buffer: &&BufferPlan| matches!(&buffer.place, TargetBuffer::Instance(name) if mode == Mode::Set && tracefs.instance(name).is_err());
    let new: Vec<&TargetBuffer> = buffers.iter().filter(is_new).map(|buffer| &buffer.place).collect();
    let mut child = args.child()?;
    let command = child.as_ref().map(Child::pid);
    let tasks = Tasks { command: traced.follows(), ..traced.tasks() };
    let journal = traced.journal(&tracefs);
    let warnings = carry_out(journal, &buffers, (&tasks, command), &traced.machine(), traced.ignores_unknown(), mode)
        .map_err(|error| explain(&tracefs, &error).unwrap_or_else(|| setup_failure(error)))?;
    for place in new {
        if let TargetBuffer::Instance(name) = place {
            note!("rtrace: there was no instance {name}: it is made; `rtrace instance remove {name}` takes it away");
        }
    }
    for warning in warnings {
        note!("rtrace: warning: {warning}");
    }
    if mode == Mode::Start && child.is_none() {
        buffers.iter().for_each(|buffer| tell(&tracefs, &buffer.place));
    }
    let Some(child) = &mut child else { return Ok(Exit::Success) };
    child.open_gate().map_err(|error| setup_failure(error.into()))?;
    if args.fork {
        return Ok(Exit::Success);
    }
    let ended = child.wait().ok_or_else(|| Failure::from(anyhow!("the command has ended, and its status is lost")))?;
    Ok(Exit::Command(ended.code()))
}

/// Says what is traced now, and how to see and end it.
fn tell(tracefs: &Tracefs, place: &TargetBuffer) {
    let (place, of, end) = match place {
        TargetBuffer::Instance(name) => (tracefs.instance(name).ok(), format!(" -B {name}"), format!(" -B {name} -d")),
        _ => (Some(tracefs.top()), String::new(), String::new()),
    };
    let Some(instance) = place else { return };
    let events = instance.enabled_events().map_or(0, |events| events.len() as u64);
    let tracer = instance.current_tracer().ok().filter(|tracer| tracer != "nop");
    let tracer = tracer.map_or(String::new(), |tracer| format!(", tracer {tracer}"));
    remark(&format!(
        "tracing in {} ({}{tracer}); `rtrace show{of}` prints it, `rtrace stop{of}` pauses it, `rtrace reset{end}` ends it",
        called(&instance),
        counted(events, "event")
    ));
}

fn is_empty(buffer: &BufferPlan) -> bool {
    *buffer == BufferPlan::new(buffer.place.clone())
}

/// [`Traced`] in the words of commands that leave tracing on.
#[derive(Clone)]
struct Lasting(Traced);

impl clap::Args for Lasting {
    fn augment_args(command: clap::Command) -> clap::Command {
        Traced::augment_args(command)
            .mut_arg("event", |arg| {
                arg.help("Enable an event: SYSTEM:EVENT, SYSTEM, EVENT or all; globs in either half")
            })
            .mut_arg("instance", |arg| arg.help("Options after it belong to this instance (made if absent)"))
            .mut_arg("clock", |arg| arg.help("Trace clock: local, global, mono, boot, ... (rtrace list -C)"))
            .mut_arg("invert", |arg| arg.help("Disable the events of every -e that follows"))
            .mut_arg("pids", |arg| arg.help("Only events of these processes, all their threads"))
            .mut_arg("follow", |arg| arg.requires("command"))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Lasting {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Traced::from_arg_matches(matches).map(Lasting)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// Pause tracing (buffers keep their contents)
///
/// Works on the top level by default. Events and tracers stay enabled, at their cost; `rtrace reset`
/// disables them, `rtrace restart` goes on.
#[derive(clap::Args)]
#[command(
    after_help = "EXAMPLES:\n  rtrace stop            stop the top level\n  rtrace stop -B web     stop instance web\n  rtrace stop -a -t      stop all there is"
)]
pub(crate) struct StopArgs {
    #[command(flatten)]
    on_off: OnOff,
}

/// Resume tracing after `stop`
///
/// Works on the top level by default.
#[derive(clap::Args)]
#[command(after_help = "EXAMPLES:\n  rtrace restart         let the top level's ring buffers take events again")]
pub(crate) struct RestartArgs {
    #[command(flatten)]
    on_off: OnOff,
}

#[derive(clap::Args)]
struct OnOff {
    #[command(flatten)]
    instances: InstancesArgs,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn stop(args: &StopArgs) -> Result<Exit, Failure> {
    switch(&args.on_off, "0")
}

pub(crate) fn restart(args: &RestartArgs) -> Result<Exit, Failure> {
    switch(&args.on_off, "1")
}

fn switch(args: &OnOff, bit: &str) -> Result<Exit, Failure> {
    let tracefs = args.write.open()?;
    let mut journal = args.write.changes(&tracefs);
    let instances = args.instances.open(&tracefs)?;
    if instances.is_empty() {
        remark("there is no instance; `-t` takes the top level");
    }
    for instance in instances {
        // Always written: a trigger may switch it between our look and now.
        journal.act(&instance, "tracing_on", bit, WriteMode::Truncate)?;
        let of = instance.name().map_or(String::new(), |name| format!(" -B {name}"));
        remark(&match bit {
            "0" => format!("tracing in {} is paused; `rtrace restart{of}` goes on", called(&instance)),
            _ => format!("tracing in {} goes on; `rtrace stop{of}` pauses it", called(&instance)),
        });
    }
    Ok(Exit::Success)
}
