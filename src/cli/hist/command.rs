//! `rtrace hist`: arguments, and what they do.

use super::chain::{ChainLoss, losses_of};
use super::chains;
use super::output::{HistOutputArgs, moot_output};
use super::place::{
    HistSetArgs, LONG_LIVED, PlaceArgs, add_trigger, clock_note, event, events_with_hists, hist_triggers, remove_all,
};
use super::recorded::{self, CountArgs, HistStream, RecordedArgs, TriggerArgs, WhereArgs};
use super::session::{HistSession, UntilArgs, unheard};
use super::spec::SpecArgs;
use crate::cli::args::{TracefsArgs, WriteArgs, called};
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::{Given, Moot, refuse};
use crate::cli::terminal::note;
use clap::{ArgMatches, FromArgMatches};
use rtrace::hist::spec::{Control, Echo, HistSpec};
use rtrace::tracefs::{EventName, Feature, Instance, Tracefs, WriteMode};
use std::io::Write;
use std::path::PathBuf;

/// Count events in the kernel and show the table
///
/// Without a subcommand: start a histogram, let CMD run (or wait for --duration or Ctrl-C), read it, print it, remove it.
/// With -i FILE the events of a recording are counted instead: the same table, from any kernel's recording; without EVENT
/// the call chains of its stacks are shown, as trace-cmd hist does.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
EXAMPLES:
  rtrace hist sched:sched_switch --key next_comm --duration 5s
  rtrace hist kmem:kmalloc --key bytes_req.log2 --val bytes_alloc -- make -j8
  rtrace hist raw_syscalls:sys_enter --key id.syscall --if 'common_pid != 1' -- ls -l
  rtrace hist sched:sched_switch --key stacktrace --folded -- ls | flamegraph.pl
  rtrace hist sched:sched_switch 'hist:keys=next_pid:vals=next_prio' --duration 1s
  rtrace hist start sched:sched_switch --key next_pid; rtrace hist show; rtrace hist stop
  rtrace hist -i run.dat sched:sched_switch --key next_comm --since -1s
  rtrace hist -i trace.dat               the call chains of a recording with stacks or functions
`rtrace help hist` explains keys, modifiers, variables and actions."
)]
pub(crate) struct HistArgs {
    #[command(flatten)]
    given: Given,
    #[command(subcommand)]
    command: Option<HistCommand>,
    #[command(flatten)]
    recorded: RecordedArgs,
    #[command(flatten)]
    more: TriggerArgs,
    #[command(flatten)]
    how: CountArgs,
    /// With -i, without EVENT: count all tasks together
    #[arg(short = 'P', long, requires = "input", conflicts_with = "event")]
    all_tasks: bool,
    #[command(flatten)]
    run: OrFile,
}

/// [`RunArgs`], of which nothing is needed with a file.
struct OrFile(RunArgs);

impl clap::Args for OrFile {
    fn augment_args(command: clap::Command) -> clap::Command {
        // An argument that is changed moves to the end, so every positional is named, in its order.
        RunArgs::augment_args(command)
            .mut_arg("event", |arg| arg.required(false).required_unless_present("input"))
            .mut_arg("trigger", |arg| arg)
            .mut_arg("command", |arg| arg)
            .mut_arg("key", |arg| arg.required(false).required_unless_present_any(["input", "trigger"]))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OrFile {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        RunArgs::from_arg_matches(matches).map(OrFile)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

#[derive(clap::Subcommand)]
enum HistCommand {
    /// Start a histogram and leave it there
    Start(HistStartArgs),
    /// Show histograms that were started
    Show(HistShowArgs),
    /// Stop counting
    Pause(WhichArgs),
    /// Count on
    Continue(WhichArgs),
    /// Forget what was counted
    Clear(WhichArgs),
    /// Remove histograms
    Stop(WhichArgs),
}

#[derive(clap::Args)]
struct RunArgs {
    #[command(flatten)]
    start: HistStartArgs,
    #[command(flatten)]
    output: HistOutputArgs,
    #[command(flatten)]
    side: WhereArgs,
    #[command(flatten)]
    until: UntilArgs,
}

#[derive(clap::Args)]
struct HistStartArgs {
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    set: HistSetArgs,
}

#[derive(clap::Args)]
struct HistShowArgs {
    /// Event; without one, all events that have a histogram
    #[arg(value_name = "EVENT")]
    event: Option<String>,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    output: HistOutputArgs,
    /// Compare with the first table of FILE, which `--raw` wrote earlier
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "csv", "folded", "raw", "follow"])]
    against: Option<PathBuf>,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

#[derive(clap::Args)]
struct WhichArgs {
    /// Event; without one, all events that have a histogram
    #[arg(value_name = "EVENT")]
    event: Option<String>,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    write: WriteArgs,
}

/// Runs the subcommand.
pub(crate) fn run(args: &HistArgs) -> Result<Exit, Failure> {
    match &args.command {
        Some(HistCommand::Start(args)) => start(args),
        Some(HistCommand::Show(args)) => show(args),
        Some(HistCommand::Pause(args)) => control(args, Control::Pause),
        Some(HistCommand::Continue(args)) => control(args, Control::Continue),
        Some(HistCommand::Clear(args)) => control(args, Control::Clear),
        Some(HistCommand::Stop(args)) => stop(args),
        None => {
            let OrFile(run) = &args.run;
            let spec = &run.start.spec;
            args.recorded.check(spec.size(), &for_the_kernel(run))?;
            refuse::<HistArgs>(args.moot())?;
            check_chains(args)?;
            if let Some(file) = args.recorded.file() {
                return match spec.event_text() {
                    Some(_) => recorded::count(&args.recorded, spec, &args.more, &args.how, &run.output),
                    None => chains::run(file, &args.recorded, args.all_tasks, run.output.is_json()),
                };
            }
            let outcome = count(run);
            if run.until.has_command() { outcome.map_err(Failure::of_command) } else { outcome }
        }
    }
}

/// Ids of the options that the call chains of a recording can be shown with.
const OF_CHAINS: &[&str] = &["input", "all_tasks", "json", "threads", "since", "until", "around"];

impl HistArgs {
    /// The first option that cannot have an effect.
    fn moot(&self) -> Option<Moot<'static>> {
        moot_output(&self.given, self.recorded.file().is_some())
    }
}

/// Rejects counting options where no event is given.
fn check_chains(args: &HistArgs) -> Result<(), Failure> {
    if args.recorded.file().is_none() || args.run.0.start.spec.event_text().is_some() {
        return Ok(());
    }
    let option = args.given.first_besides::<HistArgs>(OF_CHAINS);
    refuse::<HistArgs>(option.as_deref().map(|option| Moot {
        option,
        reason: "without EVENT: `hist` then shows call chains, which have no keys",
        hint: "name the event to count, as in `rtrace hist -i FILE sched:sched_switch --key next_comm`.",
    }))
}

/// Arguments that only the kernel can follow.
fn for_the_kernel(run: &RunArgs) -> [(&'static str, bool); 4] {
    let RunArgs { start: HistStartArgs { set, .. }, output, until, .. } = run;
    [
        ("CMD or --duration", until.is_any()),
        ("--follow", output.interval().is_some()),
        ("--dry-run", set.dry_run),
        ("-B or --top", set.place.is_any()),
    ]
}

/// Start, run, read, print, remove.
fn count(args: &RunArgs) -> Result<Exit, Failure> {
    let HistStartArgs { spec, set } = &args.start;
    let tracefs = set.write.open()?;
    let is_here = args.side.is_here(&tracefs, &[Feature::HistTriggers], !set.dry_run)?;
    let event = spec.event(&tracefs)?;
    if is_here {
        let (_, own) = spec.parsed()?;
        let streamed = HistStream { tracefs: &tracefs, place: &set.place, write: &set.write, until: &args.until };
        return recorded::count_now(&streamed, event, own, &args.output);
    }
    let existing = set.place.existing(&tracefs)?;
    let spec = spec.spec(&tracefs, &event, existing.as_ref())?;
    if set.dry_run {
        return dry_run(&set.place.shown(&tracefs, "rtrace"), &event, &spec, existing.is_none());
    }
    let spec = without_own(spec, &event);
    let before = chain_losses(&tracefs, &event)?;
    let mut session = HistSession::prepare(&args.until)?;
    let mut journal = set.write.journal(&tracefs);
    let instance = set.place.make(&mut journal)?;
    add_trigger(&mut journal, &instance, &event, &spec)?;
    let printer = args.output.printer(&instance, &event)?;
    let (mut earlier, mut live) = (None, args.output.live());
    session.run(args.output.interval(), || {
        let next = printer.next(Some(&spec), &mut earlier, &live)?;
        live.show(&next)
    })?;
    // Later failures are ours, not the command's.
    if spec.vars.is_empty() {
        let pause = HistSpec { control: Some(Control::Pause), ..spec.clone() };
        journal.act(&instance, &event.file("trigger"), &pause.to_string(), WriteMode::Append)?;
    }
    let tables = printer.read(Some(&spec))?;
    let fired = chain_losses(&tracefs, &event)?;
    let unheard = unheard(&instance, &event, &tables);
    journal.undo()?;
    printer.print(&tables, &live)?;
    unheard.iter().for_each(|note| note!("{note}"));
    let unfired: u64 = fired.iter().map(|loss| loss.since(&before)).sum();
    args.output.verdict_of_chain(&tables, unfired, session.status())
}

/// The histogram without the events of this process, which looks at it: those that a filter can tell.
fn without_own(mut spec: HistSpec, event: &EventName) -> HistSpec {
    match rtrace::record::filter_of_others(event) {
        Some(others) => {
            let filter = spec.filter.take().map(|filter| filter.value);
            spec.filter = Some(filter.map_or(others.clone(), |filter| format!("({others}) && ({filter})")).into());
        }
        None => note!("rtrace: events of rtrace itself are counted, too"),
    }
    spec
}

/// Losses so far of the tables that a synthetic event is made of; none of other events.
fn chain_losses(tracefs: &Tracefs, event: &EventName) -> Result<Vec<ChainLoss>, Failure> {
    if event.system != "synthetic" { Ok(Vec::new()) } else { losses_of(tracefs, &event.name) }
}

fn start(args: &HistStartArgs) -> Result<Exit, Failure> {
    let set = &args.set;
    let tracefs = with_histograms(set.write.open()?)?;
    let event = args.spec.event(&tracefs)?;
    let existing = set.place.existing_or(&tracefs, LONG_LIVED)?;
    let spec = args.spec.spec(&tracefs, &event, existing.as_ref())?;
    if set.dry_run {
        return dry_run(&set.place.shown(&tracefs, LONG_LIVED), &event, &spec, existing.is_none());
    }
    let mut journal = set.write.journal(&tracefs);
    let instance = set.place.make_or(&mut journal, LONG_LIVED)?;
    let note = existing.and_then(|instance| clock_note(&instance, &[&spec]));
    add_trigger(&mut journal, &instance, &event, &spec)?;
    journal.keep()?;
    note.iter().for_each(|note| note!("{note}"));
    let place = called(&instance);
    crate::cli::exit::print(&format!(
        "counting {event} in {place}; `rtrace hist show` shows it, `rtrace hist stop` ends it\n"
    ))
}

fn show(args: &HistShowArgs) -> Result<Exit, Failure> {
    let tracefs = with_histograms(args.tracefs.open()?)?;
    let instance = args.place.to_look_in(&tracefs)?;
    let events = chosen(&instance, args.event.as_deref())?;
    if let Some(path) = &args.against {
        return args.output.against(path, &instance, &events);
    }
    let Some(every) = args.output.interval() else {
        let mut all = Vec::new();
        for event in &events {
            let printer = args.output.printer(&instance, event)?;
            let tables = printer.read(None)?;
            if events.len() > 1 && args.output.is_text() {
                crate::cli::exit::print(&format!("{event}\n"))?;
            }
            printer.print(&tables, &args.output.live())?;
            unheard(&instance, event, &tables).iter().for_each(|note| note!("{note}"));
            all.extend(tables);
        }
        return args.output.verdict(&all, None);
    };
    let printers: Result<Vec<_>, Failure> = events.iter().map(|e| args.output.printer(&instance, e)).collect();
    let printers = printers?;
    let mut earlier: Vec<_> = printers.iter().map(|_| None).collect();
    let mut live = args.output.live();
    HistSession::prepare(&UntilArgs::default())?.run(Some(every), || {
        let mut all = Vec::new();
        for ((printer, earlier), event) in printers.iter().zip(&mut earlier).zip(&events) {
            if events.len() > 1 && args.output.is_text() {
                writeln!(all, "{event}")?;
            }
            all.extend(printer.next(None, earlier, &live)?);
        }
        live.show(&all)
    })?;
    Ok(Exit::Success)
}

/// Pause, continue or clear.
fn control(args: &WhichArgs, control: Control) -> Result<Exit, Failure> {
    let tracefs = with_histograms(args.write.open()?)?;
    let instance = args.place.to_look_in(&tracefs)?;
    let mut journal = args.write.journal(&tracefs);
    for event in chosen(&instance, args.event.as_deref())? {
        for Echo { spec, .. } in hist_triggers(&instance, &event)? {
            // The kernel finds its own variables already defined (seen on 6.1 and 6.12).
            if !spec.vars.is_empty() {
                let error =
                    anyhow::anyhow!("failed to {control} `hist` of {event}: the kernel cannot do that with variables");
                return Err(Failure::new(Exit::Unable, error).hint("`rtrace hist stop` and start it again."));
            }
            let text = HistSpec { control: Some(control), ..spec }.to_string();
            journal.act(&instance, &event.file("trigger"), &text, WriteMode::Append)?;
        }
    }
    journal.keep()?;
    Ok(Exit::Success)
}

/// Removes histograms, those that refer to variables before those that define them, and an instance left empty.
fn stop(args: &WhichArgs) -> Result<Exit, Failure> {
    let tracefs = with_histograms(args.write.open()?)?;
    let instance = args.place.to_look_in(&tracefs)?;
    let mut journal = args.write.journal(&tracefs);
    let mut left = Vec::new();
    for event in chosen(&instance, args.event.as_deref())? {
        for echo in hist_triggers(&instance, &event)? {
            left.push((event.clone(), echo.spec));
        }
    }
    remove_all(&mut journal, &instance, left)?;
    if instance.name() == Some(LONG_LIVED) && events_with_hists(&instance)?.is_empty() {
        journal.remove_instance(LONG_LIVED)?;
    }
    journal.keep()?;
    Ok(Exit::Success)
}

/// The same directory, if its kernel has histograms.
fn with_histograms(tracefs: Tracefs) -> Result<Tracefs, Failure> {
    tracefs.require(&Feature::HistTriggers)?;
    Ok(tracefs)
}

/// The event named, or all with a histogram.
fn chosen(instance: &Instance, name: Option<&str>) -> Result<Vec<EventName>, Failure> {
    match name {
        Some(name) => {
            let event = event(instance, name)?;
            if hist_triggers(instance, &event)?.is_empty() {
                let place = called(instance);
                return Err(anyhow::anyhow!("failed to find a histogram: {event} has none in {place}").into());
            }
            Ok(vec![event])
        }
        None => match events_with_hists(instance)? {
            events if events.is_empty() => {
                Err(anyhow::anyhow!("failed to find a histogram: no event of {} has one", called(instance)).into())
            }
            events => Ok(events),
        },
    }
}

fn dry_run(base: &str, event: &EventName, spec: &HistSpec, make: bool) -> Result<Exit, Failure> {
    let mut text = String::new();
    if make {
        text.push_str(&format!("mkdir {base}\n"));
    }
    text.push_str(&rtrace::synth::shell_line(&spec.to_string(), &format!("{base}/{}", event.file("trigger"))));
    text.push('\n');
    crate::cli::exit::print(&text)
}
