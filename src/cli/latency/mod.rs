//! `rtrace latency`.

mod losses;
mod recorded;
mod request;
mod shown;

use super::exit::{Exit, Failure};
use super::given::{Given, refuse};
use super::hist::{
    OutputArgs, RecordedArgs, Session, SetArgs, Streamed, UntilArgs, WhereArgs, add_triggers, event as find_event,
    lines_in_own, moot_output, read_format,
};
use super::keywords::{FILTERS, words};
use losses::Losses;
use rtrace::hist::spec::Features;
use rtrace::tracefs::{EventName, Feature};
use shown::Answer;

/// Show how the time between two or more events is distributed
///
/// Matches each END with the START that has the same KEY, takes the difference of their times in the kernel, and counts
/// it in powers of two. With events in between the time of each leg is shown, too. All temporary tracing state is removed
/// afterwards. Events for which a table had no room are an error (4) unless --max-lost allows them. With -i FILE the events of
/// a recording are matched instead, in the same way.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace latency sched:sched_waking sched:sched_switch --by pid=next_pid --duration 5s
  rtrace latency sched:sched_waking sched:sched_switch --by pid=next_pid --split next_comm -- make
  rtrace latency raw_syscalls:sys_enter raw_syscalls:sys_exit --by common_pid \\
      --split id.syscall -- ls
  rtrace latency irq:softirq_entry irq:softirq_exit --by vec,common_cpu --split vec --duration 5s
  rtrace latency sched:sched_waking sched:sched_switch syscalls:sys_exit_read \\
      --by pid=next_pid=common_pid --duration 5s
  rtrace latency sched:sched_switch sched:sched_switch --by prev_pid=next_pid \\
      --split start.STACKTRACE --if-start 'prev_state & 0xff' \\
      --folded --weight time --duration 5s | flamegraph.pl
  rtrace latency -i run.dat sched:sched_waking sched:sched_switch --by pid=next_pid")]
pub(crate) struct Args {
    #[command(flatten)]
    given: Given,
    /// The events in their order: START, any in between, END
    #[arg(value_name = "EVENT", required = true, num_args = 2..)]
    events: Vec<String>,
    /// Fields that are equal in all events: `pid=next_pid`, one of each event in their order, or one name for all
    #[arg(long, value_name = "START=END", value_delimiter = ',', required = true)]
    by: Vec<String>,
    /// A distribution for each value of these fields of END, or of START: `next_comm`, `id.syscall`, `start.STACKTRACE`
    #[arg(long, value_name = "[start.]FIELD", value_delimiter = ',')]
    split: Vec<String>,
    /// Classes of N instead of powers of two
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    buckets: Option<u64>,
    /// Nanoseconds instead of microseconds
    #[arg(long)]
    ns: bool,
    /// Only START events that pass this filter
    #[arg(long, value_name = "FILTER", value_parser = words(FILTERS), hide_possible_values = true)]
    if_start: Option<String>,
    /// Only END events that pass this filter
    #[arg(long, value_name = "FILTER", value_parser = words(FILTERS), hide_possible_values = true)]
    if_end: Option<String>,
    /// Number of entries of each table: STARTs that can wait for their END at once, and classes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(65..=131_072))]
    size: Option<u64>,
    #[command(flatten)]
    recorded: RecordedArgs,
    #[command(flatten)]
    set: SetArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    side: WhereArgs,
    #[command(flatten)]
    until: UntilArgs,
}

/// Sets up, runs, prints, removes.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let for_the_kernel = [
        ("CMD or --duration", args.until.is_any()),
        ("--follow", args.output.interval().is_some()),
        ("--dry-run", args.set.dry_run),
        ("-B or --top", args.set.place.is_any()),
    ];
    args.recorded.check(args.size, &for_the_kernel)?;
    refuse::<Args>(moot_output(&args.given, args.recorded.file().is_some()))?;
    if args.recorded.file().is_some() {
        return recorded::measure(args);
    }
    let outcome = measure(args);
    if args.until.has_command() { outcome.map_err(Failure::of_command) } else { outcome }
}

fn measure(args: &Args) -> Result<Exit, Failure> {
    let SetArgs { place, write, dry_run } = &args.set;
    let tracefs = if *dry_run { write.open_formats()? } else { write.open()? };
    let top = tracefs.top();
    let format = |event: &str| read_format(&top, &find_event(&top, event)?);
    let features = [Feature::HistTriggers, Feature::SyntheticEvents];
    if !dry_run && args.side.is_here(&tracefs, &features, true)? {
        let streamed = Streamed { tracefs: &tracefs, place, write, until: &args.until };
        return recorded::measure_now(args, &streamed, format);
    }
    let features = match top.read("README") {
        Ok(readme) => Features::from_readme(&readme),
        // A copy of the formats says nothing about the kernel that will get the lines: a new one, then.
        Err(_) if *dry_run => Features::ALL,
        Err(error) => return Err(error.into()),
    };
    let name = format!("rtrace_latency_{}", std::process::id());
    let stacks = features.common_stacktrace;
    let plan = match dry_run {
        true => request::plan(args, format, &name, stacks)?,
        false => request::plan_of_others(args, format, &name, stacks)?,
    };
    let event = EventName::new("synthetic", &name);
    if *dry_run {
        let root = tracefs.root().display().to_string();
        let instance = place.shown_name("rtrace");
        let lines = plan.shell(&root, instance);
        let text = instance.map(|name| lines_in_own(&root, name, lines.clone()));
        return super::exit::print(&text.unwrap_or_else(|| lines.join("\n") + "\n"));
    }
    let mut session = Session::prepare(&args.until)?;
    let mut journal = write.journal(&tracefs);
    journal.append(&top, "synthetic_events", &plan.definition.to_string(), &format!("!{name}"))?;
    let instance = place.make(&mut journal)?;
    add_triggers(&mut journal, &instance, plan.triggers())?;
    let mut printer = args.output.printer(&instance, &event)?;
    printer.sign(plan.times());
    let (mut earlier, mut live) = (None, args.output.live());
    session.run(args.output.interval(), || {
        let next = printer.next(Some(&plan.table), &mut earlier, &live)?;
        live.show(&next)
    })?;
    // The times first: each is one of the matches that are counted then.
    let tables = printer.read(None)?;
    let answer = Answer::of(&tables, &printer, &plan, Losses::read(&instance, &plan)?);
    journal.undo()?;
    answer.print(&args.output, &printer, &live, None)?;
    answer.losses.verdict(&args.output)?;
    args.output.verdict(&[], session.status())
}
