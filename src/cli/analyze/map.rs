//! `rtrace analyze map`.

use super::answers::{AnalysisAnswer, AnswerArgs, Form, Outline, Question, Row, rows};
use super::file::TaskArgs;
use super::words::many;
use crate::cli::query::QueryInput;
use rtrace::analysis::{MAP_NEEDS, MappedStay, Needs, RowSubject, Sched, SchedReport};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::internal::trace_dat::Coverage;
use rtrace::units::{CpuId, Pid};
use std::collections::HashMap;

/// Map of the scheduler: which task each CPU ran, from switch to switch
///
/// A line for each stay of a task on a CPU, with what all CPUs run as it begins: a code for each task, `.` of an idle CPU, `?` where no
/// event tells; `*` is the CPU that changes. From sched_switch. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeMapArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
}

impl Question for AnalyzeMapArgs {
    type Analysis = Sched;
    const PURPOSE: &'static str = "map";
    const LACKING: &'static str = "sched_switch";
    const NEEDS: &'static [Needs] = MAP_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn analysis(&self, input: &QueryInput) -> Option<Sched> {
        let sched = Sched::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        sched.has_events().then(|| sched.with_stays())
    }

    fn covering(analysis: Sched, coverage: &Coverage) -> Sched {
        analysis.covering(coverage)
    }

    fn outline(report: &SchedReport) -> Option<Outline> {
        let switches = report.counts.switches;
        (switches > 0).then(|| Outline {
            window: report.window,
            extent: vec![many(switches, "switch"), many(report.cpus.len() as u64, "CPU")],
            lost: report.counts.losses > 0,
            notes: notes(report),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, SchedReport>, top: usize) -> Answer {
        let (report, known, us) = (&found.report, &found.known(), found.place.unit.short_name());
        // A document that is to be small has no room for more.
        let top = match (self.shown.form(), self.shown.rows()) {
            (Form::Json, None) => SMALL,
            _ => top,
        };
        let is_drawn = matches!(self.shown.form(), Form::Text | Form::Markdown);
        let codes = CodeTable::of(report.stays().filter_map(|stay| stay.task));
        let mut line = MapLine::of(report.cpus.iter().map(|cpu| cpu.cpu), codes.width());
        let heading = line.heading();
        let chosen = self.tasks.set(found.input);
        let mut sums: HashMap<Pid, StaySum> = HashMap::new();
        let mut shown = 0;
        let mut drawn = Vec::new();
        let mut count = 0;
        for stay in report.stays() {
            line.change(stay.cpu, codes.code(stay.task));
            let is_chosen = stay.task.map_or(self.tasks.is_empty(), |task| chosen.contains(task, stay.at));
            if !is_chosen {
                continue;
            }
            if let Some(task) = stay.task.filter(|task| task.0 != 0) {
                let sum = sums.entry(task).or_default();
                sum.stays += 1;
                sum.run = sum.run.saturating_add(stay.time);
            }
            count += 1;
            if top == 0 || shown < top {
                shown += 1;
                let text = if is_drawn { line.draw(stay.cpu) } else { String::new() };
                drawn.push(DrawnStay { stay, code: codes.code(stay.task), line: text });
            }
        }
        let covered: HashMap<Pid, bool> = report.tasks.iter().map(|task| (task.pid, task.covered)).collect();
        let tasks = codes.tasks().filter_map(|task| {
            let sum = *sums.get(&task)?;
            let covered = covered.get(&task).copied().unwrap_or(true);
            Some(MappedTask { task, code: codes.code(Some(task)), sum, covered })
        });
        let tasks: Vec<MappedTask> = tasks.collect();
        let stays = stays().grid(rows(found, drawn), 0, known).of(count).heading(MAP, heading);
        Answer::of([
            stays.part(format!("Stays ({us})")).into(),
            of_tasks().grid(rows(found, tasks), top, known).part("Tasks").into(),
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        [stays().definitions(), of_tasks().definitions()].concat()
    }
}

/// Rows of which a small JSON document holds no more.
const SMALL: usize = 1_000;

/// The heading of the map in the definitions: the CPUs' numbers stand there in an answer.
const MAP: &str = "CPUs";

fn notes(report: &SchedReport) -> Vec<String> {
    let counts = report.counts;
    let lost = (counts.losses > 0)
        .then(|| format!("events were lost at {}: what ran there is unknown (?)", many(counts.losses, "place")));
    let contradicted = (counts.contradictions > 0).then(|| {
        let events = many(counts.contradictions, "event");
        format!("{events} against what was known: a stay that an event contradicts is unknown (?)")
    });
    lost.into_iter().chain(contradicted).collect()
}

/// A stay, and what all CPUs run as it begins.
struct DrawnStay {
    stay: MappedStay,
    code: String,
    line: String,
}

/// Stays of one task.
#[derive(Clone, Copy, Default)]
struct StaySum {
    stays: u64,
    run: u64,
}

struct MappedTask {
    task: Pid,
    code: String,
    sum: StaySum,
    covered: bool,
}

type StayRow<'a> = Row<'a, SchedReport, DrawnStay>;
type TaskRow<'a> = Row<'a, SchedReport, MappedTask>;

fn stays<'a>() -> Table<StayRow<'a>> {
    type Of<'a> = Column<StayRow<'a>>;
    Table::new(
        "stays",
        vec![
            Of::new(
                "at",
                Kind::Point,
                "Begin of the stay: the switch to the task, or the first event that says what runs.",
                |row| Cell::Point(row.of.stay.at),
            )
            .text("TIME")
            .csv("at"),
            Of::new(
                "",
                Kind::Text,
                "Codes of what the CPUs run from then on, by CPU; * before the one that changes.",
                |row| row.of.line.clone().into(),
            )
            .text(MAP)
            .no_json(),
            Of::new("cpu", Kind::Count, "CPU of the stay.", |row| row.of.stay.cpu.0.into()).csv("cpu"),
            Of::new("code", Kind::Text, "Code of the task; . of an idle task, ? if no event tells.", |row| {
                row.of.code.clone().into()
            })
            .csv("code"),
            Of::new("", Kind::Text, "Name and number of the task.", |row| match row.of.stay.task {
                None => Cell::Unknown,
                Some(Pid(0)) => "idle".into(),
                Some(task) => row.found.place.task(task).into(),
            })
            .text("TASK")
            .no_json(),
            Of::new("comm", Kind::Text, "Name of the task; null if no event tells, and of an idle task.", |row| {
                row.of.stay.task.map_or(Cell::Unknown, |task| match task.0 {
                    0 => Cell::Absent,
                    _ => row.found.place.comm(task).into(),
                })
            })
            .csv("task"),
            Of::new("pid", Kind::Count, "Number of the task, 0 of an idle task; null if no event tells.", |row| {
                row.of.stay.task.map_or(Cell::Unknown, |task| task.0.into())
            })
            .csv("pid"),
            Of::new(
                "time",
                Kind::Time,
                "From there to the switch from the task, or as far as it is known what runs.",
                |row| Cell::Time(row.of.stay.time),
            )
            .text("time")
            .csv("time"),
        ],
    )
    .about(|row| RowSubject::Cpu(row.of.stay.cpu))
    .csv(true)
}

fn of_tasks<'a>() -> Table<TaskRow<'a>> {
    type Of<'a> = Column<TaskRow<'a>>;
    Table::new(
        "tasks",
        vec![
            Of::new("code", Kind::Text, "Its code in the map.", |row| row.of.code.clone().into()).text("CODE"),
            Of::new("", Kind::Text, "Name and number of the task.", |row| row.found.place.task(row.of.task).into())
                .text("TASK")
                .no_json(),
            Of::new("comm", Kind::Text, "Name of the task.", |row| row.found.place.comm(row.of.task).into()),
            Of::new("pid", Kind::Count, "Number of the task.", |row| row.of.task.0.into()),
            Of::new("stays", Kind::Count, "Its stays on CPUs.", |row| row.of.sum.stays.into()).text("stays"),
            Of::new("run", Kind::Sum, "Time of these stays.", |row| Cell::Time(row.of.sum.run)).text("run ms"),
        ],
    )
    .about(|row| RowSubject::Task(row.of.covered))
}

// Codes of tasks, and lines of them: what all CPUs run at a moment.

/// A short name for each task, in the order in which they come.
struct CodeTable {
    tasks: Vec<Pid>,
    places: HashMap<Pid, usize>,
}

impl CodeTable {
    fn of(tasks: impl IntoIterator<Item = Pid>) -> Self {
        let mut table = CodeTable { tasks: Vec::new(), places: HashMap::new() };
        for task in tasks.into_iter().filter(|task| task.0 != 0) {
            let CodeTable { tasks, places } = &mut table;
            places.entry(task).or_insert_with(|| {
                tasks.push(task);
                tasks.len() - 1
            });
        }
        table
    }

    /// The tasks in the order of their codes.
    fn tasks(&self) -> impl Iterator<Item = Pid> + '_ {
        self.tasks.iter().copied()
    }

    /// `A0` to `Z0`, then `A1` and so on; `.` of an idle task, `?` of an unknown one.
    fn code(&self, task: Option<Pid>) -> String {
        match task {
            None => "?".to_owned(),
            Some(task) => self.places.get(&task).map_or_else(|| ".".to_owned(), |place| code_of(*place)),
        }
    }

    /// Characters of the longest code.
    fn width(&self) -> usize {
        self.tasks.len().checked_sub(1).map_or(1, |last| code_of(last).len())
    }
}

fn code_of(place: usize) -> String {
    format!("{}{}", char::from(b'A' + (place % 26) as u8), place / 26)
}

/// Tasks that the CPUs run, a column each.
struct MapLine {
    cpus: Vec<(CpuId, String)>,
    width: usize,
}

impl MapLine {
    /// Of CPUs in order; what they run is unknown. Codes have `width` characters at most.
    fn of(cpus: impl IntoIterator<Item = CpuId>, width: usize) -> Self {
        let cpus: Vec<_> = cpus.into_iter().map(|cpu| (cpu, "?".to_owned())).collect();
        let numbers = cpus.iter().map(|(cpu, _)| cpu.0.to_string().len()).max().unwrap_or(1);
        MapLine { cpus, width: width.max(numbers) }
    }

    /// The CPUs' numbers above their columns.
    fn heading(&self) -> String {
        let numbers = self.cpus.iter().map(|(cpu, _)| format!(" {:<width$}", cpu.0, width = self.width));
        numbers.collect::<Vec<_>>().join(" ").trim_end().to_owned()
    }

    /// From now on the CPU runs the task of this code.
    fn change(&mut self, cpu: CpuId, code: String) {
        if let Ok(place) = self.cpus.binary_search_by_key(&cpu, |(cpu, _)| *cpu) {
            self.cpus[place].1 = code;
        }
    }

    /// The line, in which `changed` has changed.
    fn draw(&self, changed: CpuId) -> String {
        let column = |(cpu, code): &(CpuId, String)| {
            let mark = if *cpu == changed { '*' } else { ' ' };
            format!("{mark}{code:<width$}", width = self.width)
        };
        self.cpus.iter().map(column).collect::<Vec<_>>().join(" ").trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_has_a_code_of_its_own() {
        let table = CodeTable::of((0..600).chain(0..600).map(Pid));
        let codes: std::collections::HashSet<String> = (1..600).map(|pid| table.code(Some(Pid(pid)))).collect();
        assert_eq!(codes.len(), 599);
        let of = |pid| table.code(Some(Pid(pid)));
        assert_eq!([of(0), of(1), of(26), of(27), of(599)].concat(), ".A0Z0A1A23");
        assert_eq!((table.code(None), table.width(), table.tasks().count()), ("?".to_owned(), 3, 599));
    }

    #[test]
    fn columns_stand_below_their_cpus() {
        let mut line = MapLine::of([CpuId(0), CpuId(9), CpuId(10)], 2);
        line.change(CpuId(9), "A0".to_owned());
        line.change(CpuId(4), "B0".to_owned());
        assert_eq!(line.heading(), " 0   9   10");
        assert_eq!(line.draw(CpuId(9)), " ?  *A0  ?");
    }
}
