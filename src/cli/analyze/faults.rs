//! `rtrace analyze faults`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::file::TaskArgs;
use super::membership;
use super::words::{many, place};
use crate::cli::query::{ClockUnit, QueryInput};
use rtrace::analysis::{FAULT_NEEDS, FaultCount, FaultReport, Faults, Needs};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::units::Pid;

/// Page faults: by task, by the instruction that faulted and by page
///
/// From exceptions:page_fault_user and page_fault_kernel (x86 and RISC-V). `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeFaultsArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
}

impl Question for AnalyzeFaultsArgs {
    type Analysis = Faults;
    const PURPOSE: &'static str = "faults";
    const LACKING: &'static str = "page faults";
    const NEEDS: &'static [Needs] = FAULT_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn analysis(&self, input: &QueryInput) -> Option<Faults> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let faults = Faults::new(formats, input.trace.abi, self.tasks.set(input));
        faults.has_events().then_some(faults)
    }

    fn outline(report: &FaultReport) -> Option<Outline> {
        let places = many(report.losses, "place");
        let lost = (report.losses > 0).then(|| format!("events were lost at {places}: there were more faults"));
        (!report.tasks.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(all(report), "fault"), many(report.tasks.len() as u64, "task")],
            lost: report.losses > 0,
            notes: lost.into_iter().collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, FaultReport>, top: usize) -> Answer {
        let (report, known) = (&found.report, &found.known());
        let again = report.pages.iter().filter(|(_, count)| count.all() > 1);
        Answer::of([
            losses().grid([report], 0, known).into(),
            tasks().and(membership::known(found)).grid(rows(found, &report.tasks), top, known).part("Tasks").into(),
            places().grid(rows(found, &report.places), top, known).part("Instructions that faulted").into(),
            pages().grid(rows(found, &report.pages), top, known).into(),
            pages()
                .no_json()
                .grid(rows(found, again), top, known)
                .part("Pages that were faulted on more than once")
                .into(),
            codes().grid(rows(found, &report.codes), 0, known).keyed().part("Error codes of the processor").into(),
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        let tables = [losses().definitions(), tasks().and(membership::all()).definitions(), places().definitions()];
        [tables.concat(), pages().definitions(), codes().definitions()].concat()
    }
}

fn all(report: &FaultReport) -> u64 {
    report.codes.values().map(|count| count.all()).sum()
}

fn losses<'a>() -> Table<&'a FaultReport> {
    type Of<'a> = Column<&'a FaultReport>;
    Table::new("", vec![Of::new("losses", Kind::Count, "Places where events were lost.", |of| of.losses.into())])
}

type TaskRow<'a> = Row<'a, FaultReport, &'a (Pid, FaultCount)>;
type CodeRow<'a> = Row<'a, FaultReport, (&'a u64, &'a FaultCount)>;
type AddressRow<'a> = Row<'a, FaultReport, &'a (u64, FaultCount)>;

/// The faults of a row.
trait OfFaults {
    fn count(&self) -> FaultCount;
    fn report(&self) -> &FaultReport;
}

impl<T: Copy> OfFaults for Row<'_, FaultReport, &(T, FaultCount)> {
    fn count(&self) -> FaultCount {
        self.of.1
    }

    fn report(&self) -> &FaultReport {
        &self.found.report
    }
}

impl OfFaults for CodeRow<'_> {
    fn count(&self) -> FaultCount {
        *self.of.1
    }

    fn report(&self) -> &FaultReport {
        &self.found.report
    }
}

/// The columns of a table: what names its rows, and their faults.
fn columns<R: OfFaults>(names: impl IntoIterator<Item = Column<R>>) -> Vec<Column<R>> {
    let share = |row: &R| Cell::Share(row.count().all(), all(row.report()));
    let counts = [
        Column::new("user", Kind::Count, "All faults.", |row: &R| row.count().all().into()).text("faults").no_json(),
        Column::new("share", Kind::Share, "The same in % of all faults.", share).text("%").no_json(),
        Column::new("user", Kind::Count, "Faults of user space.", |row: &R| row.count().user.into())
            .text("user")
            .csv("user"),
        Column::new("kernel", Kind::Count, "Faults of the kernel.", |row: &R| row.count().kernel.into())
            .text("kernel")
            .csv("kernel"),
    ];
    names.into_iter().chain(counts).collect()
}

fn tasks<'a>() -> Table<TaskRow<'a>> {
    type Of<'a> = Column<TaskRow<'a>>;
    let comm = |row: &TaskRow<'a>| row.found.place.comm(row.of.0).into();
    let names = [
        Of::new("", Kind::Text, "Name and number of the task.", |row| row.found.place.task(row.of.0).into())
            .text("TASK")
            .no_json(),
        Of::new("comm", Kind::Text, "Name of the task.", comm).csv("task"),
        Of::new("pid", Kind::Count, "Number of the task.", |row| row.of.0.0.into()).csv("pid"),
    ];
    let mut columns = columns(names);
    columns.push(
        Of::new("user", Kind::Decimal(1), "Faults of a second.", |row| {
            // One fault has no rate, nor has anything on a clock of unknown ticks.
            match row.found.length() {
                length if length > 0 && row.found.place.unit != ClockUnit::Ticks => {
                    Cell::Decimal(row.count().all() as f64 * 1e9 / length as f64)
                }
                _ => Cell::Undefined,
            }
        })
        .text("per second")
        .no_json(),
    );
    Table::new("tasks", columns).csv(true)
}

fn places<'a>() -> Table<AddressRow<'a>> {
    type Of<'a> = Column<AddressRow<'a>>;
    /// The kernel's function, where the kernel faulted.
    fn name(row: &AddressRow<'_>) -> Option<String> {
        (row.of.1.kernel > 0).then(|| place(row.found.kallsyms(), row.of.0))
    }
    let either = |row: &AddressRow<'a>| name(row).map_or(Cell::Address(row.of.0), Cell::Text);
    Table::new(
        "places",
        columns([
            Of::new("", Kind::Text, "The place, or the instruction's address.", either).text("INSTRUCTION").no_json(),
            Of::new("ip", Kind::Address, "Address of the instruction.", |row| Cell::Address(row.of.0)),
            Of::new("place", Kind::Text, "Place in the kernel's function; null where user space faulted.", |row| {
                name(row).into()
            }),
        ]),
    )
}

fn pages<'a>() -> Table<AddressRow<'a>> {
    type Of<'a> = Column<AddressRow<'a>>;
    let page = |row: &AddressRow<'a>| Cell::Address(row.of.0);
    Table::new("pages", columns([Of::new("page", Kind::Address, "Address of the page.", page).text("PAGE")]))
}

fn codes<'a>() -> Table<CodeRow<'a>> {
    type Of<'a> = Column<CodeRow<'a>>;
    let code = |row: &CodeRow<'a>| Cell::Address(*row.of.0);
    Table::new(
        "codes",
        columns([Of::new("", Kind::Address, "Error code of the processor.", code).text("CODE").no_json()]),
    )
}
