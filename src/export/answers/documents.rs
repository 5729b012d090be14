//! Answers in the forms of other programs' documents: CSV, Markdown, HTML.

use super::layout::markdown_text;
use super::text::{at_least, cell_text, not_shown, part_not_shown, part_table, tally};
use super::unit::ClockUnit;
use crate::answer::table::{Answer, AnswerBlock, AnswerCell, AnswerGrid, ColumnKind, GridColumn, GridRow, TextPart};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes the names of a table's columns, after `before`.
///
/// # Errors
/// Those of `out`.
pub fn csv_heading(grid: &AnswerGrid, before: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let names = grid.columns.iter().filter_map(|column| column.csv.as_deref());
    writeln!(out, "{}", before.iter().copied().chain(names).collect::<Vec<_>>().join(","))
}

/// Writes the rows of a table, each after the cells `before`.
///
/// # Errors
/// Those of `out`.
pub fn csv_rows(grid: &AnswerGrid, before: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let before: Vec<String> = before.iter().map(|cell| quoted(cell)).collect();
    for row in &grid.rows {
        let cells = grid.columns.iter().zip(&row.cells).filter(|(column, _)| column.csv.is_some());
        let cells = cells.map(|(column, cell)| quoted(&csv_cell(cell, column.kind)));
        writeln!(out, "{}", before.iter().cloned().chain(cells).collect::<Vec<_>>().join(","))?;
    }
    Ok(())
}

/// A cell before it is quoted: empty where nothing is known.
fn csv_cell(cell: &AnswerCell, kind: ColumnKind) -> String {
    match cell {
        AnswerCell::Undefined | AnswerCell::Unknown | AnswerCell::Distribution(_) | AnswerCell::Record(_) => {
            String::new()
        }
        AnswerCell::Count(number) | AnswerCell::Time(number) | AnswerCell::Point(number) => number.to_string(),
        AnswerCell::Share(part, _) => part.to_string(),
        AnswerCell::Tally(names) => tally(names),
        AnswerCell::AtLeast(cell) => at_least(csv_cell(cell, kind)).unwrap_or_default(),
        AnswerCell::Between(least, most) => match [least, most].map(|cell| csv_cell(cell, kind)) {
            [least, most] if least == most => most,
            [least, most] => format!("{least} to {most}"),
        },
        cell => cell_text(cell, kind, ClockUnit::Ticks),
    }
}

/// A cell of CSV.
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Writes the tables and lines of an answer, all columns of each table.
///
/// # Errors
/// Those of `out`.
pub fn answer_markdown(answer: &Answer, unit: ClockUnit, out: &mut dyn Write) -> io::Result<()> {
    for block in &answer.blocks {
        match block {
            AnswerBlock::Lines(lines) => {
                writeln!(out)?;
                for line in lines {
                    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                    writeln!(out, "{}", format!("    {line}").trim_end())?;
                }
            }
            AnswerBlock::Grid(grid) => {
                for (at, part) in grid.parts.iter().enumerate() {
                    let Some(table) = part_table(grid, part, at, unit, |_| true) else { continue };
                    writeln!(out, "\n**{}**\n", markdown_text(&part.title))?;
                    table.markdown(|_| false).iter().try_for_each(|line| writeln!(out, "{line}"))?;
                    part_not_shown(grid, part).iter().try_for_each(|line| writeln!(out, "\n{line}"))?;
                }
            }
        }
    }
    Ok(())
}

/// Appends text with the characters of HTML's own replaced; control characters become U+FFFD.
pub fn put_html(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
}

/// Appends the tables and lines of an answer as HTML; all columns are there.
pub fn answer_html(answer: &Answer, unit: ClockUnit, out: &mut String) {
    for block in &answer.blocks {
        match block {
            AnswerBlock::Lines(lines) => {
                out.push_str("<pre>");
                put_html(&lines.join("\n"), out);
                out.push_str("</pre>\n");
            }
            AnswerBlock::Grid(grid) => {
                grid.parts.iter().enumerate().for_each(|(at, part)| put_part(grid, part, at, unit, out));
            }
        }
    }
}

fn put_part(grid: &AnswerGrid, part: &TextPart, at: usize, unit: ClockUnit, out: &mut String) {
    let is_shown = |row: &&GridRow| !part.only_some || row.filled & (1 << at) != 0;
    let rows: Vec<&GridRow> = grid.rows.iter().filter(is_shown).collect();
    if rows.is_empty() && part.only_some {
        return;
    }
    let is_here = |column: &GridColumn| column.heading.is_some() && column.part.unwrap_or(at) == at;
    let columns: Vec<(usize, &GridColumn)> =
        grid.columns.iter().enumerate().filter(|(_, column)| is_here(column)).collect();
    out.push_str("<h3>");
    put_html(&part.title, out);
    out.push_str("</h3>\n<div class=\"wide\"><table><thead><tr>");
    for (_, column) in &columns {
        out.push_str(if column.left { "<th class=\"left\">" } else { "<th>" });
        put_html(column.heading.as_deref().unwrap_or_default(), out);
        out.push_str("</th>");
    }
    out.push_str("</tr></thead><tbody>\n");
    let mut put_row = |cells: &mut dyn Iterator<Item = (bool, String)>| {
        out.push_str("<tr>");
        for (left, text) in cells {
            out.push_str(if left { "<td class=\"left\">" } else { "<td>" });
            put_html(&text, out);
            out.push_str("</td>");
        }
        out.push_str("</tr>\n");
    };
    if let Some(first) = &part.first {
        let lefts = columns.iter().map(|(_, column)| column.left);
        put_row(&mut lefts.zip(first).map(|(left, (kind, cell))| (left, cell_text(cell, *kind, unit))));
    }
    for row in rows {
        let cells = columns.iter().map(|(at, column)| (column.left, cell_text(&row.cells[*at], column.kind, unit)));
        put_row(&mut cells.collect::<Vec<_>>().into_iter());
    }
    let _ = writeln!(out, "</tbody></table></div>");
    let more = if part.only_some { 0 } else { grid.total - grid.rows.len() };
    if let Some(line) = not_shown(more) {
        out.push_str("<p>");
        put_html(&line, out);
        out.push_str("</p>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::put_html;

    #[test]
    fn nothing_of_a_name_is_markup() {
        let mut out = String::new();
        put_html("<b onclick='x'>\"&\u{1b}[31m\n", &mut out);
        assert_eq!(out, "&lt;b onclick=&#39;x&#39;&gt;&quot;&amp;\u{fffd}[31m\n");
    }
}
