//! Output of tables.

use super::live::HistDisplay;
use super::return_addresses::rename;
use super::spec::read_format;
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::{Given, Moot};
use crate::cli::terminal::note;
use crate::cli::terminal::stdout;
use anyhow::{Context, anyhow};
use rtrace::format::{EventFormat, Field};
use rtrace::hist::render::{Stamp, TableLayout, Weight, csv, diff, folded, json, since, sort_classes, text};
use rtrace::hist::spec::HistSpec;
use rtrace::hist::table::{self, HistTable};
use rtrace::symbols::Kallsyms;
use rtrace::tracefs::{EventName, Instance};
use rtrace::units::{counted, grouped, parse_duration};
use serde_json::Value;
use std::cell::OnceCell;
use std::io::{self, Write};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Options for the output of tables.
#[derive(clap::Args, Default)]
pub(crate) struct HistOutputArgs {
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
    /// With --folded: weigh stacks by their first value (`time`: of latency the time), or by the number of events
    #[arg(long, value_name = "time|count", requires = "folded", value_enum)]
    weight: Option<HistWeight>,
    /// Only the N largest entries (by the order of --sort); --top N is the same
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Show the table again at every INTERVAL (1s if none is given), with the time and the number of the reading
    #[arg(long, value_name = "INTERVAL", num_args = 0..=1, require_equals = true, default_missing_value = "1s", value_parser = parse_duration)]
    follow: Option<Duration>,
    /// With --follow: what was counted since the last time
    #[arg(long, requires = "follow")]
    diff: bool,
    /// Fail (4) if more than N events were lost, or found no room in the table
    #[arg(long, value_name = "N")]
    max_lost: Option<u64>,
}

/// The weight of a folded stack.
#[derive(Clone, Copy, clap::ValueEnum)]
enum HistWeight {
    /// The first value
    Time,
    /// The number of events
    Count,
}

/// The first option of a table's output that cannot have an effect among those given; `recorded`: of a recording.
pub(crate) fn moot_output(given: &Given, recorded: bool) -> Option<Moot<'static>> {
    let moot = |option, reason, hint| Some(Moot { option, reason, hint });
    if given.has("weight") && !given.has("folded") {
        return moot("weight", "without `--folded`: it weighs stacks", "`--folded --weight time` goes together.");
    }
    if given.has("limit") && given.has("raw") {
        return moot("limit", "on `--raw`, the kernel's own text", "`--csv` and `--json` have a limit, too.");
    }
    if recorded && given.has("verbose") {
        return moot("verbose", "on a recording: it shows writes to tracefs", "leave it out.");
    }
    if recorded && given.has("tracefs") {
        return moot("tracefs", "on a recording, which is read alone", "leave out it or `-i`.");
    }
    None
}

impl HistOutputArgs {
    /// True if the answer is one JSON document.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// True if the kernel's own text is asked for.
    pub(super) fn is_raw(&self) -> bool {
        self.raw
    }

    /// JSON, CSV or text with all entries; an error where more than `max_lost` events were lost.
    pub(crate) fn of(json: bool, csv: bool, max_lost: Option<u64>) -> Self {
        HistOutputArgs { json, csv, max_lost, ..HistOutputArgs::default() }
    }

    /// True if the answer is CSV.
    pub(crate) fn is_csv(&self) -> bool {
        self.csv
    }

    /// The number of entries to show, if not all.
    pub(crate) fn limit(&self) -> Option<usize> {
        self.limit
    }

    /// The interval of --follow.
    pub(crate) fn interval(&self) -> Option<Duration> {
        self.follow
    }

    /// The number of events that may be lost, if one is given.
    pub(crate) fn max_lost(&self) -> Option<u64> {
        self.max_lost
    }

    /// The screen of --follow.
    pub(crate) fn live(&self) -> HistDisplay {
        HistDisplay::new(self.is_text())
    }

    /// True if people read it.
    pub(crate) fn is_text(&self) -> bool {
        !(self.json || self.csv || self.folded || self.raw)
    }

    /// Reads and prints the tables of one event.
    pub(crate) fn printer<'a>(
        &'a self,
        instance: &'a Instance,
        event: &'a EventName,
    ) -> Result<LiveTables<'a>, Failure> {
        let format = read_format(instance, event)?;
        Ok(LiveTables { instance, printer: self.printer_of(event, format), symbols: OnceCell::new() })
    }

    /// Prints tables of one event.
    pub(crate) fn printer_of<'a>(&'a self, event: &'a EventName, format: EventFormat) -> Printer<'a> {
        let signed = format.fields.iter().chain(format.common.iter()).filter(|f| Field::is_signed(f) && !f.is_string());
        let weight = match self.weight {
            Some(HistWeight::Time) => Weight::Value,
            Some(HistWeight::Count) => Weight::Count,
            None => Weight::Any,
        };
        let signed = signed.map(|f| f.name.clone()).collect();
        let options = TableLayout { top: self.limit, signed, bar_width: 30, weight, stamp: None };
        Printer { args: self, event, format, options }
    }

    /// The command's exit: too much dropped, the status of CMD, or success.
    pub(crate) fn verdict(&self, tables: &[HistTable], status: Option<u8>) -> Result<Exit, Failure> {
        let dropped: u64 = tables.iter().map(|t| t.dropped).fold(0, u64::saturating_add);
        if let Some(limit) = self.max_lost.filter(|limit| dropped > *limit) {
            let error = anyhow!("{} found no room in the table, {} allowed", counted(dropped, "event"), grouped(limit));
            return Err(Failure::new(Exit::Incomplete, error).hint("--size makes more room, fewer keys need less."));
        }
        if dropped > 0 {
            note!(
                "rtrace: {} found no room in the table and not counted; use a larger --size",
                counted(dropped, "event")
            );
        }
        Ok(status.map_or(Exit::Success, Exit::Command))
    }

    /// The same of a synthetic event, for which `unfired` events found no room in the tables that fire it.
    pub(super) fn verdict_of_chain(
        &self,
        tables: &[HistTable],
        unfired: u64,
        status: Option<u8>,
    ) -> Result<Exit, Failure> {
        if unfired > 0 {
            let message = format!("{} found no room in the tables that fire this one", counted(unfired, "event"));
            let hint = "create it with a larger --size (`rtrace synth create`)";
            if self.max_lost.is_some_and(|limit| unfired > limit) {
                return Err(Failure::new(Exit::Incomplete, anyhow!("{message}")).hint(hint));
            }
            note!("rtrace: {message}; {hint}");
        }
        self.verdict(tables, status)
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

/// Reads and prints the tables of one event of an instance.
pub(crate) struct LiveTables<'a> {
    instance: &'a Instance,
    printer: Printer<'a>,
    /// The kernel's symbols, once they are needed.
    symbols: OnceCell<Option<Kallsyms>>,
}

impl<'a> Deref for LiveTables<'a> {
    type Target = Printer<'a>;

    fn deref(&self) -> &Printer<'a> {
        &self.printer
    }
}

impl DerefMut for LiveTables<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.printer
    }
}

/// Prints the tables of one event.
pub(crate) struct Printer<'a> {
    args: &'a HistOutputArgs,
    event: &'a EventName,
    format: EventFormat,
    options: TableLayout,
}

impl LiveTables<'_> {
    /// The tables, or only that of one trigger.
    pub(crate) fn read(&self, of: Option<&HistSpec>) -> Result<Vec<HistTable>, Failure> {
        let mut tables = read_tables(self.instance, self.event)?;
        if let Some(spec) = of
            && tables.iter().any(|table| self.is_of(table, spec))
        {
            tables.retain(|table| self.is_of(table, spec));
        }
        if !self.args.is_raw() {
            let read = || self.instance.tracefs().kallsyms().ok().map(Kallsyms::new);
            rename(&mut tables, || self.symbols.get_or_init(read).as_ref());
        }
        tables.iter_mut().for_each(|table| sort_classes(table, &self.options));
        Ok(tables)
    }

    /// One more reading of --follow, of one trigger or of all: what is to be shown.
    pub(crate) fn next(
        &self,
        of: Option<&HistSpec>,
        earlier: &mut Option<Vec<HistTable>>,
        live: &HistDisplay,
    ) -> Result<Vec<u8>, Failure> {
        self.follow(self.read(of)?, earlier, live)
    }
}

impl Printer<'_> {
    /// The next reading of --follow: what is to be shown of the tables as they are `now`.
    pub(crate) fn follow(
        &self,
        now: Vec<HistTable>,
        earlier: &mut Option<Vec<HistTable>>,
        live: &HistDisplay,
    ) -> Result<Vec<u8>, Failure> {
        let shown = match earlier.as_ref().filter(|e| self.args.diff && e.len() == now.len()) {
            Some(earlier) => earlier.iter().zip(&now).map(|(earlier, now)| since(earlier, now)).collect(),
            None => now.clone(),
        };
        *earlier = Some(now);
        let room = live.rows().map(|rows| rows.saturating_sub(4).max(1));
        let top = self.options.top.into_iter().chain(room).min();
        let stamp = self.stamp(Some(live.next()));
        let mut text = Vec::new();
        if let Some(stamp) = stamp.filter(|_| self.args.is_text() && !live.is_screen()) {
            writeln!(text, "interval {} at {}", live.next(), stamp.seconds())?;
        }
        text.extend(self.written(&shown, &TableLayout { top, stamp, ..self.options.clone() }, Value::Null)?);
        Ok(text)
    }

    /// True if the table is that of the trigger `spec`.
    pub(crate) fn is_of(&self, table: &HistTable, spec: &HistSpec) -> bool {
        table.spec == spec.shown_on(&self.format)
    }

    /// Shows fields as signed though their types are not.
    pub(crate) fn sign<'a>(&mut self, fields: impl Iterator<Item = &'a str>) {
        self.options.signed.extend(fields.map(str::to_owned));
    }

    /// The layout of the tables.
    pub(crate) fn options(&self) -> &TableLayout {
        &self.options
    }

    /// Prints tables, at the end of what --follow showed if it did.
    pub(crate) fn print(&self, tables: &[HistTable], live: &HistDisplay) -> Result<(), Failure> {
        self.print_with(tables, live, Value::Null)
    }

    /// The same; JSON with the fields of the object `more`.
    pub(crate) fn print_with(&self, tables: &[HistTable], live: &HistDisplay, more: Value) -> Result<(), Failure> {
        let options = TableLayout { stamp: self.stamp(None), ..self.options.clone() };
        let mut out = stdout().lock();
        if live.next() > 1 && !live.is_screen() && self.args.is_text() {
            out.write_all(b"\n")?;
        }
        out.write_all(&self.written(tables, &options, more)?)?;
        Ok(out.flush()?)
    }

    /// The time of a reading, where there are several.
    fn stamp(&self, interval: Option<u64>) -> Option<Stamp> {
        self.args.follow?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Some(Stamp { time_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX), interval })
    }

    fn written(&self, tables: &[HistTable], options: &TableLayout, more: Value) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        if self.args.raw {
            let texts: Vec<_> = tables.iter().map(ToString::to_string).collect();
            out.write_all(texts.join("\n\n").as_bytes())?;
        } else if self.args.json {
            let mut value = json(&self.event.to_string(), tables, options);
            if let (Some(all), Value::Object(more)) = (value.as_object_mut(), more) {
                all.extend(more);
            }
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
                if tables.len() > 1 {
                    writeln!(out, "{}", table.trigger)?;
                }
                text(table, options, &mut out)?;
            }
        }
        Ok(out)
    }
}

/// All tables of an event.
fn read_tables(instance: &Instance, event: &EventName) -> Result<Vec<HistTable>, Failure> {
    let file = event.file("hist");
    let bytes = instance.read_bytes(&file)?;
    Ok(table::parse(&bytes).with_context(|| format!("failed to read {file}"))?)
}

/// The table of an event whose trigger sets the variable `name`.
pub(crate) fn table_with_variable(
    instance: &Instance,
    event: &EventName,
    name: &str,
) -> Result<Option<HistTable>, Failure> {
    let has = |table: &HistTable| table.spec.vars.iter().any(|var| var.name.value == name);
    Ok(read_tables(instance, event)?.into_iter().find(has))
}
