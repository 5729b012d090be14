//! The answer: the distribution, the legs, and what the chain missed.

use super::losses::Losses;
use crate::cli::exit::Failure;
use crate::cli::hist::{HistDisplay, HistOutputArgs, Printer};
use crate::cli::terminal::stdout;
use rtrace::hist::render::{ValueSummary, summary};
use rtrace::hist::spec::HistSpec;
use rtrace::hist::table::HistTable;
use rtrace::synth::ChainPlan;
use serde_json::{Value, json};
use std::io::Write;

/// One leg of the chain.
struct LegTimes {
    from: String,
    to: String,
    times: ValueSummary,
    /// Its part of the whole time, between 0 and 1; `None` where no time passed.
    share: Option<f64>,
}

/// All that was measured.
pub(super) struct LatencyAnswer {
    tables: Vec<HistTable>,
    legs: Vec<LegTimes>,
    pub(super) losses: Losses,
}

impl LatencyAnswer {
    /// From all tables of the synthetic event.
    pub(super) fn of(all: &[HistTable], printer: &Printer<'_>, plan: &ChainPlan, mut losses: Losses) -> LatencyAnswer {
        let of = |spec: &HistSpec| all.iter().find(|table| printer.is_of(table, spec)).cloned();
        let tables: Vec<HistTable> = of(&plan.table).into_iter().collect();
        let whole: Option<i128> = tables.first().and_then(|table| summary(table, printer.options())?.sum);
        let mut legs = Vec::new();
        for leg in &plan.legs {
            let Some(table) = of(&leg.table) else { continue };
            losses.untold = losses.untold.saturating_add(table.dropped);
            let Some(times) = summary(&table, printer.options()) else { continue };
            let share = times.sum.zip(whole.filter(|whole| *whole > 0)).map(|(sum, whole)| sum as f64 / whole as f64);
            let name = |(system, event): &(String, String)| format!("{system}:{event}");
            legs.push(LegTimes { from: name(&leg.from), to: name(&leg.to), times, share });
        }
        for table in &tables {
            losses.untold = losses.untold.saturating_add(table.dropped);
        }
        LatencyAnswer { tables, legs, losses }
    }

    /// Prints it as the options say; JSON with what is known of the `recording` that was asked.
    pub(super) fn print(
        &self,
        output: &HistOutputArgs,
        printer: &Printer<'_>,
        live: &HistDisplay,
        recording: Option<Value>,
    ) -> Result<(), Failure> {
        if output.is_json() {
            let legs: Vec<Value> = self
                .legs
                .iter()
                .map(|leg| json!({"from": leg.from, "to": leg.to, "share": leg.share, "times": leg.times.json()}))
                .collect();
            let mut document = json!({"legs": legs, "stages": self.losses.json()});
            if let (Some(recording), Some(document)) = (recording, document.as_object_mut()) {
                document.insert("recording".to_owned(), recording);
            }
            return printer.print_with(&self.tables, live, document);
        }
        printer.print(&self.tables, live)?;
        if output.is_text() {
            let mut out = stdout().lock();
            out.write_all(self.text().as_bytes())?;
            out.flush()?;
        }
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for leg in &self.legs {
            let share = leg.share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0));
            text.push_str(&format!("{} -> {}: {share}, {}\n", leg.from, leg.to, leg.times));
        }
        text + &self.losses.text()
    }
}
