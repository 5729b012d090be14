//! Answers as text.

use super::layout::TextTable;
use super::unit::ClockUnit;
use crate::answer::table::{Answer, AnswerBlock, AnswerCell, AnswerGrid, ColumnKind, GridColumn, GridRow, TextPart};
use crate::base::units::{ByteSize, counted};
use std::io::{self, Write};

/// The form of an answer's text.
#[derive(Clone, Copy, Debug)]
pub struct AnswerStyle {
    /// The unit of times.
    pub unit: ClockUnit,
    /// Characters of a line, if tables are to fit: columns are left out then.
    pub width: Option<usize>,
}

/// The hint below a table without all its columns, of commands that have the option.
pub const ALL_COLUMNS: &str = "`--wide` shows all columns";

/// Writes the tables and lines of an answer, an empty line before each table.
///
/// # Errors
/// Those of `out`.
pub fn answer_text(answer: &Answer, style: AnswerStyle, out: &mut dyn Write) -> io::Result<()> {
    for block in &answer.blocks {
        match block {
            AnswerBlock::Lines(lines) => lines.iter().try_for_each(|line| writeln!(out, "{line}"))?,
            AnswerBlock::Grid(grid) => {
                grid.parts.iter().enumerate().try_for_each(|(at, part)| write_part(grid, part, at, style, out))?;
            }
        }
    }
    Ok(())
}

/// The text of a cell of no table.
pub fn cell_text(cell: &AnswerCell, kind: ColumnKind, unit: ClockUnit) -> String {
    match (cell, kind) {
        (AnswerCell::Record(_), ColumnKind::Tally) => "?".to_owned(),
        (AnswerCell::Absent | AnswerCell::List(_) | AnswerCell::Record(_), _) => String::new(),
        (AnswerCell::Undefined | AnswerCell::Distribution(_), _) => "-".to_owned(),
        (AnswerCell::Unknown, _) => "?".to_owned(),
        (AnswerCell::Count(number), ColumnKind::Size) => ByteSize(*number).to_string(),
        (AnswerCell::Count(number), _) => number.to_string(),
        (AnswerCell::Signed(number), _) => number.to_string(),
        (AnswerCell::Flag(flag), _) => flag.to_string(),
        (AnswerCell::Decimal(number), ColumnKind::Decimal(places)) => format!("{number:.places$}"),
        (AnswerCell::Decimal(number), _) => number.to_string(),
        (AnswerCell::Time(time), ColumnKind::Sum) => unit.long(*time),
        (AnswerCell::Time(time), _) => unit.short(*time),
        (AnswerCell::Point(at), _) => unit.point(*at),
        (AnswerCell::Share(_, 0), _) => "-".to_owned(),
        (AnswerCell::Share(part, whole), _) => format!("{:.1}", *part as f64 * 100.0 / *whole as f64),
        (AnswerCell::Text(text), _) => text.clone(),
        (AnswerCell::Address(address), _) => format!("{address:#x}"),
        (AnswerCell::Tally(names), _) => tally(names),
        (AnswerCell::AtLeast(cell), _) => at_least(cell_text(cell, kind, unit)).unwrap_or_else(|| "?".to_owned()),
        (AnswerCell::Between(least, most), _) => {
            let [least, most] = [least, most].map(|cell| cell_text(cell, kind, unit));
            if least == most { most } else { format!("{least} to {most}") }
        }
    }
}

/// A number of which there is at least so much; `None` of nothing, which says nothing.
pub(super) fn at_least(text: String) -> Option<String> {
    let is_something = text.chars().any(|letter| ('1'..='9').contains(&letter));
    is_something.then(|| format!(">={text}"))
}

/// `EAGAIN 12, EINTR 1`.
pub(super) fn tally(names: &[(String, u64)]) -> String {
    names.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

fn write_part(
    grid: &AnswerGrid,
    part: &TextPart,
    at: usize,
    style: AnswerStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let unknown: Vec<&GridRow> = grid.rows.iter().filter(|row| is_unknown(grid, row, at, style.unit)).collect();
    // One line alone is shorter as it is.
    let folds = unknown.len() > 1;
    let shows = |row: &GridRow| !folds || !is_unknown(grid, row, at, style.unit);
    let Some(mut table) = part_table(grid, part, at, style.unit, shows) else { return Ok(()) };
    let left_out = table.fit(style.width, ALL_COLUMNS);
    writeln!(out, "\n{}", part.title)?;
    table.write(out)?;
    if folds {
        writeln!(out, "({} of which nothing was recorded)", counted(unknown.len() as u64, "other"))?;
    }
    left_out.iter().chain(&part_not_shown(grid, part)).try_for_each(|line| writeln!(out, "{line}"))
}

/// True of a row of a part of which nothing but its names is known.
fn is_unknown(grid: &AnswerGrid, row: &GridRow, at: usize, unit: ClockUnit) -> bool {
    let cells = grid.columns.iter().zip(&row.cells).filter(|(column, _)| is_in(column, at) && column.part.is_some());
    let mut texts =
        cells.map(|(column, cell)| cell_text(cell, column.kind, unit)).filter(|text| !text.is_empty()).peekable();
    let names = grid.columns.iter().any(|column| column.part.is_none());
    names && texts.peek().is_some() && texts.all(|text| text == "?")
}

fn is_in(column: &GridColumn, at: usize) -> bool {
    column.heading.is_some() && column.part.unwrap_or(at) == at
}

/// The cells of a part as text, of the rows that `shows` accepts; `None` if it is left out.
pub(super) fn part_table(
    grid: &AnswerGrid,
    part: &TextPart,
    at: usize,
    unit: ClockUnit,
    shows: impl Fn(&GridRow) -> bool,
) -> Option<TextTable> {
    let is_shown = |row: &&GridRow| (!part.only_some || row.filled & (1 << at) != 0) && shows(row);
    let mut rows = grid.rows.iter().filter(is_shown).peekable();
    if rows.peek().is_none() && part.only_some {
        return None;
    }
    let columns: Vec<usize> = (0..grid.columns.len()).filter(|column| is_in(&grid.columns[*column], at)).collect();
    let of = |column: &usize| &grid.columns[*column];
    let heading = columns.iter().map(|column| of(column).heading.as_deref().unwrap_or_default());
    let left = columns.iter().map(|column| of(column).left).collect();
    let mut table = TextTable::aligned(left, heading).minor(columns.iter().map(|column| of(column).priority));
    if let Some(first) = &part.first {
        table.row(first.iter().map(|(kind, cell)| cell_text(cell, *kind, unit)));
    }
    for row in rows {
        table.row(columns.iter().map(|column| cell_text(&row.cells[*column], of(column).kind, unit)));
    }
    Some(table)
}

/// The line on rows of a part that are not shown.
pub(super) fn part_not_shown(grid: &AnswerGrid, part: &TextPart) -> Option<String> {
    not_shown(if part.only_some { 0 } else { grid.total - grid.rows.len() })
}

/// The line below a table of which `more` rows are not shown, if there are any.
pub fn not_shown(more: usize) -> Option<String> {
    (more > 0).then(|| format!("({more} more; `--top 0` shows all)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::analysis::{Durations, KnownPart, RowSubject};
    use crate::answer::table::{AnswerColumn, AnswerTable};
    use crate::export::answers::{answer_json, csv_heading, csv_rows};

    type Row = (&'static str, Vec<u64>);

    fn durations(row: &Row) -> Durations {
        let mut durations = Durations::default();
        row.1.iter().for_each(|time| durations.add(*time));
        durations
    }

    /// Runs of two tasks; the second never ran.
    fn answer(known: KnownPart) -> Answer {
        type Of = AnswerColumn<Row>;
        let count = |row: &Row| AnswerCell::Count(row.1.len() as u64);
        let columns = vec![
            Of::new("name", ColumnKind::Text, "Name.", |row| row.0.into()).text("TASK").csv("task"),
            Of::new("runs.count", ColumnKind::Count, "Runs.", count).text("runs").csv("runs").no_json(),
            Of::new("runs", ColumnKind::Distribution, "Times.", |row| (&durations(row)).into()).text("").csv("run_"),
            Of::new("longest.at", ColumnKind::Point, "Begin.", |row| {
                row.1.first().map(|_| AnswerCell::Point(7)).into()
            })
            .text("at")
            .csv("max_at"),
        ];
        let rows: [Row; 2] = [("a", vec![1_000, 3_000]), ("b", Vec::new())];
        let known = |name: &str, _: RowSubject| if name.starts_with("tasks.runs") { known } else { KnownPart::Whole };
        let grid = AnswerTable::new("tasks", columns).csv(true).grid(rows, 0, &known);
        Answer::of([grid.part("Tasks (us)").into()])
    }

    fn text(answer: &Answer, width: Option<usize>) -> String {
        let mut out = Vec::new();
        answer_text(answer, AnswerStyle { unit: ClockUnit::Nanoseconds, width }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_that_matter_less_are_left_out_of_what_is_too_wide() {
        let answer = answer(KnownPart::Whole);
        let all = "\nTasks (us)\n\
            TASK  runs   mean    p50    p90    p99  p99.9    max           at\n\
            a        2  2.000  1.000  3.000  3.000  3.000  3.000  0.000000007\n\
            b        0      -      -      -      -      -      -\n";
        assert_eq!(text(&answer, None), all);
        assert_eq!(text(&answer, Some(66)), all);
        let narrow = "\nTasks (us)\n\
            TASK  runs   mean    p50    p99    max           at\n\
            a        2  2.000  1.000  3.000  3.000  0.000000007\n\
            b        0      -      -      -      -\n\
            (p90, p99.9 left out; `--wide` shows all columns)\n";
        assert_eq!(text(&answer, Some(55)), narrow);
        // What names a row, the longest and its time stay, however narrow it is.
        assert!(text(&answer, Some(10)).contains("\nTASK  runs    p99    max           at\n"));
    }

    #[test]
    fn no_form_says_more_than_is_known() {
        let forms = |known| {
            let answer = answer(known);
            let mut csv = Vec::new();
            let grid = answer.csv().unwrap();
            csv_heading(grid, &["buffer"], &mut csv).unwrap();
            csv_rows(grid, &[""], &mut csv).unwrap();
            (text(&answer, None), String::from_utf8(csv).unwrap(), answer_json(&answer, usize::MAX, None))
        };
        let (text, csv, json) = forms(KnownPart::AtLeast);
        assert!(text.contains("a      >=2  >=2.000") && text.contains("b        ?"), "{text}");
        assert!(csv.contains("\n,a,>=2,>=2000,") && csv.ends_with("\n,b,,,,,,,,\n"), "{csv}");
        let (first, second) = (&json["tasks"][0], &json["tasks"][1]);
        assert_eq!((&first["runs"]["mean"], &second["runs"]["count"]), (&2000.into(), &0.into()));
        assert_eq!((&second["longest"], second["runs"].get("mean")), (&serde_json::Value::Null, None));
        assert!(json["at_least"].as_array().unwrap().contains(&"tasks.runs.p99.9".into()), "{json:?}");
        let (text, csv, json) = forms(KnownPart::Unknown);
        assert!(text.contains("a        ?     ?") && csv.starts_with("buffer,task,runs,run_mean,"), "{text}{csv}");
        assert!(csv.contains("\n,a,,,,,,,,7\n"), "{csv}");
        assert_eq!((&json["tasks"][0]["runs"]["mean"], json.get("at_least")), (&serde_json::Value::Null, None));
    }

    #[test]
    fn rows_that_are_left_out_are_counted() {
        let json = answer_json(&answer(KnownPart::Whole), 1, None);
        assert_eq!((json["tasks"].as_array().map(Vec::len), &json["total"]["tasks"]), (Some(1), &2.into()));
        assert_eq!(answer_json(&answer(KnownPart::Whole), 2, None).get("total"), None);
    }
}
