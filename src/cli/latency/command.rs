//! `rtrace latency`: what its arguments ask for, measured by the kernel or of a recording.
//! `rtrace latency -i FILE`, and `rtrace latency --in-user`.

use super::request;
use super::request::LatencyArgs;
use super::shown::{LatencyAnswer, Losses};
use crate::cli::exit::{Exit, Failure, print};
use crate::cli::given::refuse;
use crate::cli::hist::{
    Answered, HistDisplay, HistRefresh, HistSession, HistSetArgs, HistStream, Printer, add_triggers,
    event as find_event, find_format, lines_in_own, moot_output, read_format,
};
use anyhow::anyhow;
use rtrace::analysis::{HistSetup, HistTrigger, SetupError};
use rtrace::format::EventFormat;
use rtrace::hist::render::sort_classes;
use rtrace::hist::spec::Features;
use rtrace::hist::table::HistTable;
use rtrace::synth::ChainPlan;
use rtrace::tracefs::{EventName, Feature};
use std::cell::{OnceCell, RefCell};

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
        return measure_recorded(args);
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
        return measure_now(args, &streamed, format);
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

/// The synthetic event of the chain; there is no kernel that could have another one of that name.
const NAME: &str = "latency";

/// Matches the events of the recording, and prints the distribution.
fn measure_recorded(args: &LatencyArgs) -> Result<Exit, Failure> {
    let plan = OnceCell::new();
    args.recorded.ask(
        |input| {
            let format = |event: &str| find_format(input, event).cloned();
            let made = request::plan(args, format, NAME, true)?;
            let setup = setup(&made);
            let _ = plan.set(made);
            Ok(setup)
        },
        |error| Failure::new(Exit::Usage, anyhow!("{error}")),
        |answered| match plan.get() {
            Some(plan) => show(args, plan, answered, &args.output.live()).map(|()| Exit::Success),
            None => Err(anyhow!("the chain has no triggers").into()),
        },
    )
}

/// Matches the events that come while a command runs, and prints the distribution.
fn measure_now(
    args: &LatencyArgs,
    streamed: &HistStream<'_>,
    format: impl Fn(&str) -> Result<EventFormat, Failure>,
) -> Result<Exit, Failure> {
    let plan = request::plan(args, format, NAME, true)?;
    let failure = |error: SetupError| Failure::new(Exit::Usage, anyhow!("{error}"));
    let (earlier, live) = (RefCell::new(None), RefCell::new(args.output.live()));
    let mut reading = |answered: &Answered<'_>| {
        with_tables(args, &plan, answered, |printer, tables| {
            // The first is of all times; the others are of legs.
            let whole = tables.first().cloned().into_iter().collect();
            let next = printer.follow(whole, &mut earlier.borrow_mut(), &live.borrow())?;
            live.borrow_mut().show(&next)
        })
    };
    let following = args.output.interval().map(|interval| HistRefresh { interval, show: &mut reading });
    streamed.ask(setup(&plan), failure, following, |answered| show(args, &plan, answered, &live.borrow()))
}

/// Calls `act` with the distributions, that of all times first.
fn with_tables(
    args: &LatencyArgs,
    plan: &ChainPlan,
    answered: &Answered<'_>,
    act: impl FnOnce(&Printer<'_>, Vec<HistTable>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some((_, format)) = answered.findings.trigger(0) else {
        return Err(anyhow!("the chain has no distribution").into());
    };
    let event = EventName::new(&format.system, &format.name);
    let mut printer = args.output.printer_of(&event, format.clone());
    printer.sign(plan.times());
    let distributions = plan.tables().count();
    let mut tables: Vec<_> = (0..distributions).filter_map(|number| answered.table(number, &args.output)).collect();
    tables.iter_mut().for_each(|table| sort_classes(table, printer.options()));
    act(&printer, tables)
}

/// Prints the distribution, after the readings that `live` showed.
fn show(args: &LatencyArgs, plan: &ChainPlan, answered: &Answered<'_>, live: &HistDisplay) -> Result<(), Failure> {
    let distributions = plan.tables().count();
    let counts = (distributions..distributions + plan.stages.len()).map(|number| {
        let counts = answered.findings.counts(number).unwrap_or_default();
        (counts, answered.table(number, &args.output).map_or(0, |table| table.dropped))
    });
    let losses = Losses::of_recording(plan, counts);
    with_tables(args, plan, answered, |printer, tables| {
        let answer = LatencyAnswer::of(&tables, printer, plan, losses);
        answer.print(&args.output, printer, live, Some(answered.json()))?;
        // As in the kernel, where a table without room is an error. Losses of a recording were reported when it was made.
        let allowed = args.output.max_lost().or(answered.is_live().then_some(0));
        answered.note_losses(allowed)?;
        answer.losses.verdict(&args.output)?;
        args.output.verdict(&[], None).map(drop)
    })
}

/// The distributions first, then the stages, whose order is that of the writes.
fn setup(plan: &ChainPlan) -> HistSetup {
    let trigger = |(system, event): (&str, &str), spec: &rtrace::hist::spec::HistSpec| HistTrigger {
        system: system.to_owned(),
        event: event.to_owned(),
        spec: spec.clone(),
    };
    let tables = plan.tables().map(|table| trigger(("synthetic", &plan.definition.name), table));
    let stages = plan.stages.iter().map(|stage| trigger((&stage.event.0, &stage.event.1), &stage.spec));
    HistSetup {
        definitions: vec![plan.definition.clone()],
        triggers: tables.chain(stages).collect(),
        ..HistSetup::default()
    }
}
