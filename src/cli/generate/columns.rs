//! The part of `docs/reference/analyses.md` that lists the columns of each analysis, as these say it themselves.

use crate::cli::analyze::definitions;
use crate::cli::help::TOPICS;
use anyhow::Context;
use rtrace::internal::answers::TextTable;
use rtrace::internal::table::{ColumnDefinition, ColumnKind};

/// The page's place below the folder of the source.
pub(super) const PAGE: &str = "docs/reference/analyses.md";

/// The heading of the part.
const HEADING: &str = "## Columns\n";

/// The page with the columns of this program.
pub(super) fn page() -> anyhow::Result<String> {
    let topic = TOPICS.iter().find(|topic| topic.name == "analyses").context("no topic analyses")?;
    let (before, _) = topic.text.split_once(HEADING).with_context(|| format!("{PAGE} has no columns"))?;
    let mut page = format!("{before}{HEADING}{INTRODUCTION}");
    for (analysis, columns) in definitions() {
        page.push_str(&format!("\n### {analysis}\n\n"));
        let mut table = TextTable::new(5, ["JSON", "CSV", "text", "unit", "meaning"]);
        columns.iter().filter(|column| !column.definition.is_empty()).for_each(|column| table.row(row(column)));
        table.lines().iter().for_each(|line| page.push_str(&format!("  {line}\n")));
    }
    Ok(page)
}

const INTRODUCTION: &str = "\
The numbers by their place in a buffer of the JSON document, by their column in CSV, and by their heading in text. `*` stands for
the numbers of a distribution, each a column: mean, p50, p90, p99, p99.9, max. A `time` is in the clock's unit in JSON and
CSV; in text a single one is in microseconds, a `sum` in milliseconds, a `share` in per cent.
";

fn row(column: &ColumnDefinition) -> [String; 5] {
    let is_distribution = column.kind == ColumnKind::Distribution;
    let named = |name: Option<&str>| match name {
        None => "-".to_owned(),
        Some(name) if is_distribution => format!("{name}*"),
        Some(name) => name.to_owned(),
    };
    let json = if column.json.is_empty() { "-".to_owned() } else { column.json.clone() };
    [json, named(column.csv), named(column.heading), unit(column.kind).to_owned(), column.definition.to_owned()]
}

fn unit(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text => "text",
        ColumnKind::Count | ColumnKind::Tally => "number",
        ColumnKind::Decimal(_) => "fraction",
        ColumnKind::Size => "bytes",
        ColumnKind::Time => "time",
        ColumnKind::Sum => "sum",
        ColumnKind::Point => "point",
        ColumnKind::Share => "share",
        ColumnKind::Address => "address",
        ColumnKind::Flag => "flag",
        ColumnKind::Distribution => "times",
        ColumnKind::Data => "object",
    }
}
