//! Answers as Markdown: what a pull request or a report of a machine is written in.

use super::layout::markdown_text;
use super::text::{part_not_shown, part_table};
use super::unit::ClockUnit;
use crate::answer::table::{Answer, AnswerBlock};
use std::io::{self, Write};

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
