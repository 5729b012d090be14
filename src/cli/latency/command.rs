//! `rtrace latency`: what its arguments ask for, measured by the kernel or of a recording.

use super::args::LatencyArgs;
use super::losses::Losses;
use super::shown::LatencyAnswer;
use super::{recorded, request};
use crate::cli::exit::{Exit, Failure, print};
use crate::cli::given::refuse;
use crate::cli::hist::{
    HistSession, HistSetArgs, HistStream, add_triggers, event as find_event, lines_in_own, moot_output, read_format,
};
use rtrace::hist::spec::Features;
use rtrace::tracefs::{EventName, Feature};

/// Sets up, runs, prints, removes.
pub(crate) fn run(args: &LatencyArgs) -> Result<Exit, Failure> {
    let for_the_kernel = [
        ("CMD or --duration", args.until.is_any()),
        ("--follow", args.output.interval().is_some()),
        ("--dry-run", args.set.dry_run),
        ("-B or --top", args.set.place.is_any()),
    ];
    args.recorded.check(args.size, &for_the_kernel)?;
    refuse::<LatencyArgs>(moot_output(&args.given, args.recorded.file().is_some()))?;
    if args.recorded.file().is_some() {
        return recorded::measure(args);
    }
    let outcome = measure(args);
    if args.until.has_command() { outcome.map_err(Failure::of_command) } else { outcome }
}

fn measure(args: &LatencyArgs) -> Result<Exit, Failure> {
    let HistSetArgs { place, write, dry_run } = &args.set;
    let tracefs = if *dry_run { write.open_formats()? } else { write.open()? };
    let top = tracefs.top();
    let format = |event: &str| read_format(&top, &find_event(&top, event)?);
    let features = [Feature::HistTriggers, Feature::SyntheticEvents];
    if !dry_run && args.side.is_here(&tracefs, &features, true)? {
        let streamed = HistStream { tracefs: &tracefs, place, write, until: &args.until };
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
        return print(&text.unwrap_or_else(|| lines.join("\n") + "\n"));
    }
    let mut session = HistSession::prepare(&args.until)?;
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
    let answer = LatencyAnswer::of(&tables, &printer, &plan, Losses::read(&instance, &plan)?);
    journal.undo()?;
    answer.print(&args.output, &printer, &live, None)?;
    answer.losses.verdict(&args.output)?;
    args.output.verdict(&[], session.status())
}
