//! Output of tables.

use super::live::Live;
use super::spec::read_format;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::note;
use crate::cli::terminal::stdout;
use anyhow::{Context, anyhow};
use rtrace::format::{EventFormat, Field};
use rtrace::hist::render::{Options, csv, diff, folded, json, since, text};
use rtrace::hist::spec::HistSpec;
use rtrace::hist::table::{self, HistTable};
use rtrace::tracefs::{EventName, Instance};
use rtrace::units::parse_duration;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// Options for the output of tables.
#[derive(clap::Args)]
pub(crate) struct OutputArgs {
    /// JSON instead of text; with --follow a document per line
    #[arg(long, conflicts_with_all = ["csv", "folded", "raw"])]
    json: bool,
    /// CSV instead of text
    #[arg(long, conflicts_with_all = ["folded", "raw"])]
    csv: bool,
    /// Stacks as folded text, for flame graphs
    #[arg(long, conflicts_with = "raw")]
    folded: bool,
    /// The kernel's own text
    #[arg(long)]
    raw: bool,
    /// Only the N largest entries (by the order of --sort)
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Show the table again at every INTERVAL (1s if none is given)
    #[arg(long, value_name = "INTERVAL", num_args = 0..=1, require_equals = true, default_missing_value = "1s", value_parser = parse_duration)]
    follow: Option<Duration>,
    /// With --follow: what was counted since the last time
    #[arg(long, requires = "follow")]
    diff: bool,
    /// Fail (4) if more than N events found no room in the table
    #[arg(long, value_name = "N")]
    max_lost: Option<u64>,
}

impl OutputArgs {
    /// True if the answer is one JSON document.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// The interval of --follow.
    pub(crate) fn interval(&self) -> Option<Duration> {
        self.follow
    }

    /// The screen of --follow.
    pub(crate) fn live(&self) -> Live {
        Live::new(self.is_text())
    }

    /// True if people read it.
    pub(super) fn is_text(&self) -> bool {
        !(self.json || self.csv || self.folded || self.raw)
    }

    /// Reads and prints the tables of one event.
    pub(crate) fn printer<'a>(&'a self, instance: &'a Instance, event: &'a EventName) -> Result<Printer<'a>, Failure> {
        let format = read_format(instance, event)?;
        let signed = format.fields.iter().chain(format.common.iter()).filter(|f| Field::is_signed(f) && !f.is_string());
        let options = Options { top: self.limit, signed: signed.map(|f| f.name.clone()).collect(), bar_width: 30 };
        Ok(Printer { args: self, instance, event, format, options })
    }

    /// The command's exit: too much dropped, the status of CMD, or success.
    pub(crate) fn verdict(&self, tables: &[HistTable], status: Option<u8>) -> Result<Exit, Failure> {
        let dropped: u64 = tables.iter().map(|t| t.dropped).fold(0, u64::saturating_add);
        if let Some(limit) = self.max_lost.filter(|limit| dropped > *limit) {
            let error = anyhow!("{dropped} events found no room in the table, {limit} are allowed");
            return Err(Failure::new(Exit::Incomplete, error).hint("--size makes more room, fewer keys need less."));
        }
        if dropped > 0 {
            note!("rtrace: {dropped} events found no room in the table and are not counted; use a larger --size");
        }
        Ok(status.map_or(Exit::Success, Exit::Command))
    }

    /// Compares the first table of a file with that of the only event chosen.
    pub(super) fn against(&self, path: &Path, instance: &Instance, events: &[EventName]) -> Result<Exit, Failure> {
        let [event] = events else {
            let error = anyhow!("{} events have histograms: name the one to compare", events.len());
            return Err(Failure::new(Exit::Usage, error));
        };
        let bytes = std::fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
        let earlier = table::parse(&bytes).with_context(|| format!("failed to read {}", path.display()))?;
        let printer = self.printer(instance, event)?;
        let now = printer.read(None)?;
        let (Some(earlier), Some(now)) = (earlier.first(), now.first()) else {
            return Err(anyhow!("failed to compare: there is no table").into());
        };
        diff(earlier, now).text(&printer.options, &mut stdout().lock())?;
        Ok(Exit::Success)
    }
}

/// Reads and prints the tables of one event.
pub(crate) struct Printer<'a> {
    args: &'a OutputArgs,
    instance: &'a Instance,
    event: &'a EventName,
    format: EventFormat,
    options: Options,
}

impl Printer<'_> {
    /// The tables, or only that of one trigger.
    pub(crate) fn read(&self, of: Option<&HistSpec>) -> Result<Vec<HistTable>, Failure> {
        let file = self.event.file("hist");
        let bytes = self.instance.read_bytes(&file)?;
        let mut tables = table::parse(&bytes).with_context(|| format!("failed to read {file}"))?;
        if let Some(spec) = of {
            let normal = spec.shown_on(&self.format);
            if tables.iter().any(|t| t.spec == normal) {
                tables.retain(|t| t.spec == normal);
            }
        }
        Ok(tables)
    }

    /// Prints tables.
    pub(crate) fn print(&self, tables: &[HistTable]) -> Result<(), Failure> {
        let mut out = stdout().lock();
        out.write_all(&self.written(tables, &self.options)?)?;
        Ok(out.flush()?)
    }

    fn written(&self, tables: &[HistTable], options: &Options) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        if self.args.raw {
            let texts: Vec<_> = tables.iter().map(ToString::to_string).collect();
            out.write_all(texts.join("\n\n").as_bytes())?;
        } else if self.args.json {
            let value = json(&self.event.to_string(), tables, options);
            if self.args.follow.is_some() {
                serde_json::to_writer(&mut out, &value).map_err(io::Error::from)?;
            } else {
                serde_json::to_writer_pretty(&mut out, &value).map_err(io::Error::from)?;
            }
            writeln!(out)?;
        } else if self.args.csv {
            csv(tables, options, &mut out)?;
        } else if self.args.folded {
            for table in tables {
                let lines = folded(table, options).map_err(|e| Failure::new(Exit::Usage, e))?;
                out.write_all(lines.as_bytes())?;
            }
        } else {
            for (at, table) in tables.iter().enumerate() {
                if at > 0 {
                    writeln!(out)?;
                }
                text(table, options, &mut out)?;
            }
        }
        Ok(out)
    }

    /// One more reading of --follow, of one trigger or of all: what is to be shown.
    pub(crate) fn next(
        &self,
        of: Option<&HistSpec>,
        earlier: &mut Option<Vec<HistTable>>,
        live: &Live,
    ) -> Result<Vec<u8>, Failure> {
        let now = self.read(of)?;
        let shown = match earlier.as_ref().filter(|e| self.args.diff && e.len() == now.len()) {
            Some(earlier) => earlier.iter().zip(&now).map(|(earlier, now)| since(earlier, now)).collect(),
            None => now.clone(),
        };
        *earlier = Some(now);
        let room = live.rows().map(|rows| rows.saturating_sub(4).max(1));
        let top = self.options.top.into_iter().chain(room).min();
        self.written(&shown, &Options { top, ..self.options.clone() })
    }
}
