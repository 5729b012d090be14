//! `rtrace analyze idle`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::words::many;
use crate::cli::query::QueryInput;
use rtrace::analysis::{CpuIdle, FrequencyTime, IDLE_NEEDS, Idle, IdleReport, IdleState, Needs, RowSubject};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::units::CpuId;

/// Idle CPUs: time and visits in each idle state, time from its end to a task, and frequencies
///
/// From cpu_idle, cpu_idle_miss and cpu_frequency; what runs after an idle state, from sched_switch. `rtrace help analyses`
/// defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeIdleArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
}

impl Question for AnalyzeIdleArgs {
    type Analysis = Idle;
    const PURPOSE: &'static str = "idle";
    const LACKING: &'static str = "cpu_idle or cpu_frequency";
    const NEEDS: &'static [Needs] = IDLE_NEEDS;
    const SILENT: Option<&'static str> =
        Some("a kernel without a driver of idle states (cpuidle), as in many virtual machines, writes none.");

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn analysis(&self, input: &QueryInput) -> Option<Idle> {
        let idle = Idle::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        idle.has_events().then_some(idle)
    }

    fn outline(report: &IdleReport) -> Option<Outline> {
        (!report.cpus.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(report.cpus.len() as u64, "CPU"), many(visits(report), "idle state")],
            lost: report.losses > 0,
            notes: notes(report),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, IdleReport>, _: usize) -> Answer {
        let (unit, report, known) = (found.place.unit, &found.report, &found.known());
        let of_states = report.cpus.iter().flat_map(|(cpu, of)| of.states.iter().map(|(state, of)| (*cpu, *state, of)));
        let of_frequencies =
            report.cpus.iter().flat_map(|(cpu, of)| of.frequencies.iter().map(|(khz, of)| (*cpu, *khz, *of)));
        let us = unit.short_name();
        let frequencies = frequencies().grid(rows(found, of_frequencies), 0, known);
        Answer::of([
            counts().grid([report], 0, known).into(),
            cpus()
                .grid(rows(found, &report.cpus), 0, known)
                .part(format!("CPUs (end of an idle state to task: {us})"))
                .into(),
            states().grid(rows(found, of_states), 0, known).part(format!("Idle states: time in them ({us})")).into(),
            match report.cpus.iter().all(|(_, of)| of.frequencies.is_empty()) {
                true => frequencies.into(),
                false => frequencies.part("Frequencies").into(),
            },
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        [counts().definitions(), cpus().definitions(), states().definitions(), frequencies().definitions()].concat()
    }
}

fn visits(report: &IdleReport) -> u64 {
    report.cpus.iter().flat_map(|(_, of)| of.states.values()).map(|state| state.residency.count()).sum()
}

fn notes(report: &IdleReport) -> Vec<String> {
    let contradictions: u64 = report.cpus.iter().map(|(_, of)| of.contradictions).sum();
    let lost = (report.losses > 0)
        .then(|| format!("events were lost at {}: what CPUs did there is unknown time", many(report.losses, "place")));
    let contradicted = (contradictions > 0).then(|| {
        format!("{} without the begin or end that belongs to it: unknown time", many(contradictions, "event"))
    });
    let switches = (!report.has_switches && visits(report) > 0)
        .then(|| "no sched_switch is recorded: what ran after an idle state is unknown".to_owned());
    lost.into_iter().chain(contradicted).chain(switches).collect()
}

fn counts<'a>() -> Table<&'a IdleReport> {
    type Of<'a> = Column<&'a IdleReport>;
    Table::new("", vec![Of::new("losses", Kind::Count, "Places where events were lost.", |of| of.losses.into())])
}

type CpuRow<'a> = Row<'a, IdleReport, &'a (CpuId, CpuIdle)>;
type StateRow<'a> = Row<'a, IdleReport, (CpuId, u32, &'a IdleState)>;
type FrequencyRow<'a> = Row<'a, IdleReport, (CpuId, u64, FrequencyTime)>;

fn cpus<'a>() -> Table<CpuRow<'a>> {
    type Of<'a> = Column<CpuRow<'a>>;
    fn share(row: &CpuRow<'_>, part: u64) -> Cell {
        Cell::Share(part, row.found.length())
    }
    Table::new(
        "cpus",
        vec![
            Of::new("cpu", Kind::Count, "CPU.", |row| row.of.0.0.into()).text("CPU"),
            Of::new("idle", Kind::Share, "In an idle state.", |row| share(row, row.of.1.idle)).text("idle %"),
            Of::new("awake", Kind::Share, "In none.", |row| share(row, row.of.1.awake)).text("awake %"),
            Of::new("unknown", Kind::Share, "No event tells.", |row| share(row, row.of.1.unknown)).text("unknown %"),
            Of::new("entries", Kind::Count, "Idle states that ended.", |row| {
                row.of.1.states.values().map(|state| state.residency.count()).sum::<u64>().into()
            })
            .text("idle states"),
            Of::new(
                "for_nothing",
                Kind::Count,
                "Ends of idle states after which no task ran; null without sched_switch.",
                |row| match row.found.report.has_switches {
                    true => row.of.1.for_nothing.into(),
                    false => Cell::Undefined,
                },
            )
            .text("for nothing"),
            Of::new(
                "to_task",
                Kind::Distribution,
                "From the end of an idle state to the switch to a task; null without sched_switch.",
                |row| match row.found.report.has_switches {
                    true => (&row.of.1.to_task).into(),
                    false => Cell::Undefined,
                },
            )
            .text("to task: "),
        ],
    )
    .about(|row| RowSubject::Cpu(row.of.0))
}

fn states<'a>() -> Table<StateRow<'a>> {
    type Of<'a> = Column<StateRow<'a>>;
    let share = |row: &StateRow<'a>| Cell::Share(row.of.2.time, row.found.length());
    Table::new(
        "states",
        vec![
            Of::new("cpu", Kind::Count, "CPU.", |row| row.of.0.0.into()).text("CPU").csv("cpu"),
            Of::new("state", Kind::Count, "Number of the idle state, as in cpuidle/stateN of sysfs.", |row| {
                row.of.1.into()
            })
            .text("STATE")
            .csv("state"),
            Of::new("time", Kind::Share, "All time in it, of the window.", share).text("%").csv("time"),
            Of::new("residency.count", Kind::Count, "Visits that began and ended.", |row| {
                row.of.2.residency.count().into()
            })
            .text("visits")
            .csv("visits")
            .no_json(),
            Of::new("residency", Kind::Distribution, "Times from begin to end of a visit.", |row| {
                (&row.of.2.residency).into()
            })
            .text("")
            .csv(""),
            Of::new("above", Kind::Count, "Visits that a shallower state would have served (cpu_idle_miss).", |row| {
                row.of.2.above.into()
            })
            .text("too deep")
            .csv("above")
            .minor(1),
            Of::new("below", Kind::Count, "Visits that a deeper state would have served (cpu_idle_miss).", |row| {
                row.of.2.below.into()
            })
            .text("too shallow")
            .csv("below")
            .minor(1),
        ],
    )
    .about(|row| RowSubject::Cpu(row.of.0))
    .csv(true)
}

fn frequencies<'a>() -> Table<FrequencyRow<'a>> {
    type Of<'a> = Column<FrequencyRow<'a>>;
    let share = |row: &FrequencyRow<'a>| Cell::Share(row.of.2.time, row.found.length());
    Table::new(
        "frequencies",
        vec![
            Of::new("cpu", Kind::Count, "CPU.", |row| row.of.0.0.into()).text("CPU"),
            Of::new("khz", Kind::Count, "Frequency in kHz.", |row| row.of.1.into()).text("kHz"),
            Of::new("time", Kind::Share, "Time from setting it to the next one.", share).text("%"),
            Of::new("sets", Kind::Count, "Times that it was set.", |row| row.of.2.sets.into()).text("set"),
        ],
    )
    .about(|row| RowSubject::Cpu(row.of.0))
}
