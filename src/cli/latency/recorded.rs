//! `rtrace latency -i FILE`, and `rtrace latency --in-user`.

use super::args::LatencyArgs;
use super::losses::Losses;
use super::request;
use super::shown::LatencyAnswer;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{Answered, HistDisplay, HistRefresh, HistStream, Printer, find_format};
use anyhow::anyhow;
use rtrace::analysis::{HistSetup, HistTrigger, SetupError};
use rtrace::format::EventFormat;
use rtrace::hist::render::sort_classes;
use rtrace::hist::table::HistTable;
use rtrace::synth::ChainPlan;
use rtrace::tracefs::EventName;
use std::cell::{OnceCell, RefCell};

/// The synthetic event of the chain; there is no kernel that could have another one of that name.
const NAME: &str = "latency";

/// Matches the events of the recording, and prints the distribution.
pub(super) fn measure(args: &LatencyArgs) -> Result<Exit, Failure> {
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
pub(super) fn measure_now(
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
