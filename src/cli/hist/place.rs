//! The place of histograms: instance, event, and the triggers set there.

use crate::cli::args::{WriteArgs, called};
use crate::cli::exit::{Exit, Failure};
use crate::cli::language::{require_triggers, select};
use rtrace::hist::spec::{Do, Echo, HistSpec, Neighbour};
use rtrace::record::TargetBuffer;
use rtrace::syntax::Diagnostic;
use rtrace::tracefs::{Error, EventName, Instance, Journal, Tracefs, WriteMode};

/// The instance of histograms that outlive the command which started them.
pub(crate) const LONG_LIVED: &str = "rtrace-hist";

/// The instance to use; by default a private one.
#[derive(clap::Args)]
pub(crate) struct PlaceArgs {
    /// Instance to use (made if it is not there), instead of a private one
    #[arg(short = 'B', long = "instance", value_name = "NAME")]
    instance: Option<String>,
    /// Use the top level instead of a private instance
    #[arg(long, conflicts_with = "instance")]
    top: bool,
}

/// Arguments of a command that sets triggers, besides the triggers.
#[derive(clap::Args)]
pub(crate) struct HistSetArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Print the writes instead of doing them
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

impl PlaceArgs {
    /// A named instance, or the top level.
    pub(crate) fn of(instance: Option<String>) -> Self {
        PlaceArgs { top: instance.is_none(), instance }
    }

    /// True if a place is named.
    pub(crate) fn is_any(&self) -> bool {
        self.top || self.instance.is_some()
    }

    /// The ring buffer to stream events from: a private one by default.
    pub(super) fn target(&self) -> TargetBuffer {
        match &self.instance {
            _ if self.top => TargetBuffer::Top,
            Some(name) => TargetBuffer::Instance(name.clone()),
            None => TargetBuffer::Private,
        }
    }

    /// The instance that was asked for, if it is there; `None` means that one is to be made.
    pub(crate) fn existing(&self, tracefs: &Tracefs) -> Result<Option<Instance>, Failure> {
        match &self.instance {
            _ if self.top => Ok(Some(tracefs.top())),
            Some(name) => found(tracefs, name),
            None => Ok(None),
        }
    }

    /// The same, with the instance called `default` instead of a private one.
    pub(crate) fn existing_or(&self, tracefs: &Tracefs, default: &str) -> Result<Option<Instance>, Failure> {
        match self.shown_name(default) {
            None => Ok(Some(tracefs.top())),
            Some(name) => found(tracefs, name),
        }
    }

    /// The same; what is not there is made, to be removed with the journal.
    pub(crate) fn make_or(&self, journal: &mut Journal, default: &str) -> Result<Instance, Failure> {
        match self.existing_or(journal.tracefs(), default)? {
            Some(instance) => Ok(instance),
            None => Ok(journal.create_instance(self.instance.as_deref().unwrap_or(default))?),
        }
    }

    /// The instance that was asked for or a private one, made if need be, to be removed with the journal.
    pub(crate) fn make(&self, journal: &mut Journal) -> Result<Instance, Failure> {
        if self.top || self.instance.is_some() {
            return self.make_or(journal, LONG_LIVED);
        }
        Ok(journal.create_own_instance(&format!("rtrace-{}", std::process::id()))?)
    }

    /// The instance of an earlier command.
    pub(crate) fn to_look_in(&self, tracefs: &Tracefs) -> Result<Instance, Failure> {
        match &self.instance {
            _ if self.top => Ok(tracefs.top()),
            Some(name) => Ok(tracefs.instance(name)?),
            None => Ok(found(tracefs, LONG_LIVED)?.unwrap_or_else(|| tracefs.top())),
        }
    }

    /// The directory, for showing; `default` names the instance where a private one would be made.
    pub(crate) fn shown(&self, tracefs: &Tracefs, default: &str) -> String {
        let root = tracefs.root().display();
        match &self.instance {
            _ if self.top => root.to_string(),
            Some(name) => format!("{root}/instances/{name}"),
            None => format!("{root}/instances/{default}"),
        }
    }

    /// The instance's name for showing; `None` for the top level.
    pub(crate) fn shown_name<'a>(&'a self, default: &'a str) -> Option<&'a str> {
        if self.top { None } else { Some(self.instance.as_deref().unwrap_or(default)) }
    }
}

fn found(tracefs: &Tracefs, name: &str) -> Result<Option<Instance>, Failure> {
    match tracefs.instance(name) {
        Ok(instance) => Ok(Some(instance)),
        Err(Error::NoInstance { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The one event that `text` names.
pub(crate) fn event(instance: &Instance, text: &str) -> Result<EventName, Failure> {
    // Also those of `ftrace`, which are not listed.
    if let Some(event) = EventName::parse(text)
        && instance.has(&event.file("trigger"))
    {
        return Ok(event);
    }
    let mut events = select(instance, text)?;
    if events.len() > 1 {
        let names: Vec<_> = events.iter().take(4).map(ToString::to_string).collect();
        let error = anyhow::anyhow!("failed to choose an event: `{text}` means {} events", events.len());
        return Err(Failure::new(Exit::Usage, error).hint(format!("name one: {}...", names.join(", "))));
    }
    let event = events.pop().ok_or_else(|| anyhow::anyhow!("no event `{text}`"))?;
    require_triggers(instance, &event).map(|()| event)
}

/// The hist triggers of an event, as the kernel shows them.
pub(crate) fn hist_triggers(instance: &Instance, event: &EventName) -> Result<Vec<Echo>, Failure> {
    let lines = instance.triggers(event)?;
    let parse = |line: &String| {
        Echo::parse(line).map_err(|e| {
            let name = event.file("trigger");
            anyhow::anyhow!("failed to read {name}: {}", e.diagnostic(line)).into()
        })
    };
    lines.iter().filter(|line| line.starts_with("hist:")).map(parse).collect()
}

/// All events of the instance that have a hist trigger. A trigger enables its event softly, so those of other events
/// need not be read; only those of the system `ftrace` are never listed.
pub(crate) fn events_with_hists(instance: &Instance) -> Result<Vec<EventName>, Failure> {
    let mut events = instance.enabled_events()?;
    let print = EventName::new("ftrace", "print");
    if !events.contains(&print) {
        events.push(print);
    }
    let has = |event: &EventName| {
        instance.triggers(event).is_ok_and(|lines| lines.iter().any(|line| line.starts_with("hist:")))
    };
    Ok(events.into_iter().filter(has).collect())
}

/// The hist triggers of the instance: what the `$variables` of another one may mean.
pub(crate) fn neighbours(instance: &Instance) -> Result<Vec<Neighbour>, Failure> {
    let mut found = Vec::new();
    for event in events_with_hists(instance)? {
        for echo in hist_triggers(instance, &event)? {
            found.push(Neighbour { system: event.system.clone(), event: event.name.clone(), spec: echo.spec });
        }
    }
    Ok(found)
}

/// Adds a hist trigger, to be removed with the journal. Where it sets the clock of an instance that stays, that is put
/// back, too.
pub(crate) fn add_trigger(
    journal: &mut Journal,
    instance: &Instance,
    event: &EventName,
    spec: &HistSpec,
) -> Result<(), Failure> {
    if spec.uses_timestamp() && !journal.created(instance) {
        journal.set_clock(instance, clock_of(spec))?;
    }
    let undo = HistSpec { control: None, ..spec.clone() };
    let added = journal.append(instance, &event.file("trigger"), &spec.to_string(), &format!("!{undo}"));
    added.map_err(|error| {
        let busy = error.errno() == Some(nix::errno::Errno::EBUSY) && takes_snapshots(spec);
        let unknown = error.errno() == Some(nix::errno::Errno::EINVAL) && spec.to_string().contains("common_comm");
        let failure = Failure::from(error);
        match (busy, unknown) {
            (true, _) => failure.hint(snapshot_user(instance)),
            (_, true) => {
                failure.hint("Linux 6.16 is the first with `common_comm`; `common_pid.execname` names tasks before it")
            }
            _ => failure,
        }
    })
}

/// Adds triggers that pass on times to each other. Each of them that reads the clock makes the kernel set the clock anew,
/// which empties the rings of the instance; the kernel takes the times of events that fire meanwhile from another clock, up
/// to a second away (`trace_event_buffer_lock_reserve` falls back to `temp_buffer`). So in an instance of ours no task's
/// events fire before all triggers are there. In an instance that others use, too, times that began before may be wrong.
///
/// # Errors
/// As [`add_trigger`].
pub(crate) fn add_triggers<'a>(
    journal: &mut Journal,
    instance: &Instance,
    triggers: impl IntoIterator<Item = ((&'a str, &'a str), &'a HistSpec)>,
) -> Result<(), Failure> {
    const FILE: &str = "set_event_pid";
    let quiet = journal.created(instance) && instance.has(FILE);
    if quiet {
        journal.act(instance, FILE, &no_task().to_string(), WriteMode::Append)?;
    }
    for ((system, event), spec) in triggers {
        add_trigger(journal, instance, &EventName::new(system, event), spec)?;
    }
    if quiet {
        journal.act(instance, FILE, "", WriteMode::Truncate)?;
    }
    Ok(())
}

/// Adds to the shell lines of a plan what an instance of its own, `name`, needs besides: as [`add_triggers`] does it.
pub(crate) fn lines_in_own(root: &str, name: &str, mut lines: Vec<String>) -> String {
    let instance = format!("{root}/instances/{name}");
    let after_the_event = 1.min(lines.len());
    let quiet = format!("echo $(($(cat /proc/sys/kernel/pid_max) - 1)) >> {instance}/set_event_pid");
    lines.splice(after_the_event..after_the_event, [format!("mkdir {instance}"), quiet]);
    lines.push(format!("echo > {instance}/set_event_pid"));
    lines.join("\n") + "\n"
}

/// The last process id that this kernel gives: one that no task has for longer than any other.
fn no_task() -> u32 {
    let most = std::fs::read_to_string("/proc/sys/kernel/pid_max").ok().and_then(|text| text.trim().parse().ok());
    most.unwrap_or(32_768u32).saturating_sub(1)
}

fn takes_snapshots(spec: &HistSpec) -> bool {
    spec.actions.iter().any(|action| action.value.what == Do::Snapshot)
}

/// The owner of the one snapshot() action that an instance can have, or of the buffer that it needs.
fn snapshot_user(instance: &Instance) -> String {
    let at = called(instance);
    for event in events_with_hists(instance).unwrap_or_default() {
        let echoes = hist_triggers(instance, &event).unwrap_or_default();
        if let Some(other) = echoes.iter().find(|echo| takes_snapshots(&echo.spec)) {
            return format!("{at} can have one snapshot() action; {event} has it: {}", other.spec);
        }
    }
    let tracer = instance.current_tracer().unwrap_or_default();
    format!("snapshot() needs the spare buffer of {at}, which is in use (its tracer is `{tracer}`)")
}

/// The trace clock that the use of `common_timestamp` sets.
fn clock_of(spec: &HistSpec) -> &str {
    spec.clock.as_ref().map_or("global", |c| c.value.as_str())
}

/// A note for triggers that stay and set another trace clock: the kernel does not put it back when they go.
pub(crate) fn clock_note(instance: &Instance, specs: &[&HistSpec]) -> Option<String> {
    let set = specs.iter().rfind(|spec| spec.uses_timestamp()).map(|spec| clock_of(spec))?;
    let now = instance.trace_clock().ok()?.current;
    let file = instance.path("trace_clock");
    (now != set).then(|| {
        format!(
            "rtrace: common_timestamp sets the trace clock of {} to `{set}` for good; `echo {now} > {}` puts it back",
            called(instance),
            file.display()
        )
    })
}

/// Removes triggers for good, in rounds: one that is referred to goes after those that refer to it.
pub(crate) fn remove_all(
    journal: &mut Journal,
    instance: &Instance,
    mut left: Vec<(EventName, HistSpec)>,
) -> Result<(), Failure> {
    while !left.is_empty() {
        let before = left.len();
        let mut last = None;
        left.retain(|(event, spec)| {
            let removed = journal.act(instance, &event.file("trigger"), &format!("!{spec}"), WriteMode::Append);
            match removed {
                // The kernel says nothing where nothing matched: look.
                Ok(()) => hist_triggers(instance, event).is_ok_and(|now| now.iter().any(|e| e.spec == *spec)),
                Err(error) => {
                    last = Some(error);
                    true
                }
            }
        });
        if left.len() == before {
            let (event, spec) = &left[0];
            let failure = match last {
                Some(error) => Failure::from(error),
                None => anyhow::anyhow!("failed to remove a trigger of {event}: the kernel kept `{spec}`").into(),
            };
            return Err(failure.hint(users(instance, event, spec)));
        }
    }
    Ok(())
}

/// The triggers that refer to the variables of a trigger.
pub(crate) fn users(instance: &Instance, event: &EventName, spec: &HistSpec) -> String {
    let mut names = Vec::new();
    for other in events_with_hists(instance).unwrap_or_default() {
        for echo in hist_triggers(instance, &other).unwrap_or_default() {
            let text = echo.spec.to_string();
            if spec.vars.iter().any(|v| text.contains(&format!("${}", v.name.value))) && echo.spec != *spec {
                names.push(other.to_string());
            }
        }
    }
    match names.as_slice() {
        [] => format!("`cat {}` shows what is set", instance.path(&event.file("trigger")).display()),
        names => format!("its variables are used by {}", names.join(", ")),
    }
}

/// An error in a text of the command line.
pub(crate) fn syntax_failure(what: &str, error: &Diagnostic) -> Failure {
    let failure = Failure::new(Exit::Usage, anyhow::anyhow!("failed to understand the {what}: {error}"));
    error.hints().iter().fold(failure, |failure, hint| failure.hint(hint.clone()))
}
