//! Arguments of `rtrace generate`, and what it does.
//! The part of `docs/reference/analyses.md` that lists the columns of each analysis, as these say it themselves.

use super::pages;
use super::pages::PAGES;
use crate::cli::analyze::definitions;
use crate::cli::completions::SCRIPTS;
use crate::cli::exit::{Exit, Failure};
use crate::cli::help::TOPICS;
use anyhow::Context;
use rtrace::internal::answers::TextTable;
use rtrace::internal::table::{ColumnDefinition, ColumnKind};
use std::fs;
use std::path::{Path, PathBuf};

/// Write the man pages, the shell completions and the columns of analyses
#[derive(clap::Args)]
pub(crate) struct GenerateArgs {
    /// Folder that gets `man/` and `completions/`, whose files are replaced, and `docs/reference/analyses.md`
    dir: PathBuf,
}

/// Writes the files.
pub(crate) fn run(args: &GenerateArgs, root: clap::Command) -> Result<Exit, Failure> {
    let man = emptied(&args.dir.join("man"))?;
    command_pages(&root, &man)?;
    for (name, page, section) in PAGES {
        let topic = TOPICS.iter().find(|topic| topic.name == *name).with_context(|| format!("no topic {name}"))?;
        write(&man.join(format!("{page}.{section}")), pages::topic_page(topic, page, section))?;
    }
    let completions = emptied(&args.dir.join("completions"))?;
    for (_, name, script) in SCRIPTS {
        write(&completions.join(name), script)?;
    }
    let page = args.dir.join(PAGE);
    fs::create_dir_all(page.parent().unwrap_or(&page))
        .with_context(|| format!("failed to create {}", page.display()))?;
    write(&page, page_of_columns()?)?;
    Ok(Exit::Success)
}

/// One page per visible command: `rtrace.1`, `rtrace-record.1`, ...
fn command_pages(root: &clap::Command, dir: &Path) -> anyhow::Result<()> {
    let mut root = root.clone().disable_help_subcommand(true);
    root.build();
    let mut pages = vec![&root];
    while let Some(command) = pages.pop() {
        pages.extend(command.get_subcommands().filter(|sub| !sub.is_hide_set()));
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        write(&dir.join(format!("{name}.1")), pages::command_page(command, command.get_name() == root.get_name()))?;
    }
    Ok(())
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("failed to write {}", path.display()))
}

/// The folder `dir`, made if it is not there, without files.
fn emptied(dir: &Path) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(dir).with_context(|| format!("failed to create {}", dir.display()))?;
    for entry in fs::read_dir(dir).with_context(|| format!("failed to list {}", dir.display()))? {
        let path = entry?.path();
        fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
    }
    Ok(dir.to_owned())
}

/// The page's place below the folder of the source.
pub(super) const PAGE: &str = "docs/reference/analyses.md";

/// The heading of the part.
const HEADING: &str = "## Columns\n";

/// The page with the columns of this program.
fn page_of_columns() -> anyhow::Result<String> {
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
