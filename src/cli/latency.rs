//! `rtrace latency`.

use super::exit::{Exit, Failure};
use super::hist::{OutputArgs, Session, SetArgs, UntilArgs, add_trigger, event as find_event, read_format};
use super::keywords::{FILTERS, words};
use super::synth::builder_failure;
use rtrace::hist::spec::{Expr, Features, HistSpec, Modifier, SortKey};
use rtrace::synth::{Arithmetic, Builder, TIMESTAMP, TIMESTAMP_USECS};
use rtrace::tracefs::{EventName, Feature};

/// Show how the time between two events is distributed
///
/// Matches each END with the START that has the same KEY, takes the difference of their times in the kernel, and counts
/// it in powers of two. All temporary tracing state is removed afterwards.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace latency sched:sched_waking sched:sched_switch --by pid=next_pid --duration 5s
  rtrace latency sched:sched_waking sched:sched_switch --by pid=next_pid --split next_comm -- make
  rtrace latency syscalls:sys_enter_read syscalls:sys_exit_read --by common_pid -- cat /etc/passwd")]
pub(crate) struct Args {
    /// Event that the time starts with
    start: String,
    /// Event that it ends with
    end: String,
    /// Fields that are equal in both: `pid=next_pid`, or one name for both
    #[arg(long, value_name = "START=END", value_delimiter = ',', required = true)]
    by: Vec<String>,
    /// A distribution for each value of these fields of END
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
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
    /// Number of entries
    #[arg(long, value_name = "N")]
    size: Option<u64>,
    #[command(flatten)]
    set: SetArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    until: UntilArgs,
}

/// Sets up, runs, prints, removes.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let outcome = measure(args);
    if args.until.has_command() { outcome.map_err(Failure::of_command) } else { outcome }
}

fn measure(args: &Args) -> Result<Exit, Failure> {
    let SetArgs { place, write, dry_run } = &args.set;
    let tracefs = write.open()?;
    tracefs.require(&Feature::HistTriggers)?;
    tracefs.require(&Feature::SyntheticEvents)?;
    let top = tracefs.top();
    let features = Features::from_readme(&top.read("README")?);
    let start = read_format(&top, &find_event(&top, &args.start)?)?;
    let end = read_format(&top, &find_event(&top, &args.end)?)?;
    let name = format!("rtrace_latency_{}", std::process::id());
    let pairs: Vec<(&str, &str)> = args.by.iter().map(|by| by.split_once('=').unwrap_or((by, by))).collect();
    let Some(((first_start, first_end), more)) = pairs.split_first() else {
        return Err(Failure::new(Exit::Usage, anyhow::anyhow!("--by needs a field")));
    };
    let mut builder = Builder::new(&name, start, end, first_start, first_end, None).map_err(builder_failure)?;
    builder.old_stack_name(!features.common_stacktrace);
    for (start, end) in more {
        builder.match_fields(start, end, None).map_err(builder_failure)?;
    }
    let time = if args.ns { TIMESTAMP } else { TIMESTAMP_USECS };
    let lat = if args.ns { "ns" } else { "usecs" };
    builder.compare(time, time, Arithmetic::DeltaEnd, lat).map_err(builder_failure)?;
    for field in &args.split {
        builder.end_field(field, None).map_err(builder_failure)?;
    }
    if let Some(filter) = &args.if_start {
        builder.start_filter(filter).map_err(builder_failure)?;
    }
    if let Some(filter) = &args.if_end {
        builder.end_filter(filter).map_err(builder_failure)?;
    }
    let plan = builder.plan().map_err(builder_failure)?;
    let class = args.buckets.map_or(Modifier::Log2, Modifier::Buckets);
    let mut keys: Vec<_> = args.split.iter().map(|f| Expr::field(f).into()).collect();
    keys.push(Expr::with(lat, class).into());
    let mut sort: Vec<_> =
        args.split.iter().take(1).map(|f| SortKey { field: f.clone(), descending: false }.into()).collect();
    sort.push(SortKey { field: lat.to_owned(), descending: false }.into());
    let table = HistSpec { keys, sort, size: args.size.map(Into::into), ..HistSpec::default() };
    let event = EventName::new("synthetic", &name);
    if *dry_run {
        let root = tracefs.root().display().to_string();
        let mut lines = plan.shell(&root, place.shown_name("rtrace"));
        if let Some(instance) = place.shown_name("rtrace") {
            lines.insert(1, format!("mkdir {root}/instances/{instance}"));
        }
        let file = format!("{}/{}", place.shown(&tracefs, "rtrace"), event.file("trigger"));
        lines.push(rtrace::synth::shell_line(&table.to_string(), &file));
        return super::exit::print(&(lines.join("\n") + "\n"));
    }
    let mut session = Session::prepare(&args.until)?;
    let mut journal = write.journal(&tracefs);
    journal.append(&top, "synthetic_events", &plan.definition.to_string(), &format!("!{name}"))?;
    let instance = place.make(&mut journal)?;
    // The table is there before the first event can be fired.
    add_trigger(&mut journal, &instance, &event, &table)?;
    for ((system, event), spec) in [&plan.start, &plan.end] {
        add_trigger(&mut journal, &instance, &EventName::new(system, event), spec)?;
    }
    let printer = args.output.printer(&instance, &event)?;
    let (mut earlier, mut live) = (None, args.output.live());
    session.run(args.output.interval(), || {
        let next = printer.next(Some(&table), &mut earlier, &live)?;
        live.show(&next)
    })?;
    let tables = printer.read(Some(&table))?;
    journal.undo()?;
    printer.print(&tables)?;
    args.output.verdict(&tables, session.status())
}
