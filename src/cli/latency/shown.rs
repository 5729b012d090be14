//! The answer: the distribution, the legs, and what the chain missed.
//! Events that the tables of a chain did not keep, and those without a partner.

use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{HistDisplay, HistOutputArgs, Printer, table_with_variable};
use crate::cli::terminal::{note, stdout};
use anyhow::anyhow;
use rtrace::analysis::HistCounts;
use rtrace::hist::render::{ValueSummary, summary};
use rtrace::hist::spec::HistSpec;
use rtrace::hist::table::HistTable;
use rtrace::synth::ChainPlan;
use rtrace::tracefs::{EventName, Instance};
use rtrace::units::{counted, grouped};
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

/// The events of one stage of a chain.
struct StageCounts {
    event: EventName,
    /// Events of this kind, without those that the filter left out.
    seen: u64,
    /// Events that followed the one before; of the first stage all.
    matched: u64,
    /// Matched events for which the table had no room.
    dropped: u64,
    /// Events whose time was forgotten, as events were lost while they waited; of recordings only.
    censored: u64,
}

/// The counts of all stages, and of the tables of the synthetic event.
pub(super) struct Losses {
    stages: Vec<StageCounts>,
    /// Times for which the distributions had no room.
    untold: u64,
}

impl Losses {
    /// Reads the tables from the first event to the last. Events go on meanwhile, so those counted later may be more: no
    /// event is called unmatched because of that.
    pub(super) fn read(instance: &Instance, plan: &ChainPlan) -> Result<Losses, Failure> {
        let mut stages = Vec::with_capacity(plan.stages.len());
        for stage in &plan.stages {
            let event = EventName::new(&stage.event.0, &stage.event.1);
            let total = |spec: &HistSpec| -> Result<(u64, u64), Failure> {
                let variable = spec.vars.first().map_or("", |var| var.name.value.as_str());
                let table: Option<HistTable> = table_with_variable(instance, &event, variable)?;
                Ok(table.map_or((0, 0), |table| (table.hits, table.dropped)))
            };
            let seen = stage.seen.as_ref().map(total).transpose()?;
            let (hits, dropped) = total(&stage.spec)?;
            let matched = hits.saturating_add(dropped);
            let seen = seen.map_or(matched, |(hits, dropped)| hits.saturating_add(dropped).max(matched));
            stages.push(StageCounts { event, seen, matched, dropped, censored: 0 });
        }
        Ok(Losses { stages, untold: 0 })
    }

    /// The same of a recording: `counts` has what became of each stage's events, and those for which there was no room.
    pub(super) fn of_recording(plan: &ChainPlan, counts: impl Iterator<Item = (HistCounts, u64)>) -> Losses {
        let stages = plan.stages.iter().zip(counts).map(|(stage, (counts, dropped))| StageCounts {
            event: EventName::new(&stage.event.0, &stage.event.1),
            seen: counts.seen,
            matched: counts.seen.saturating_sub(counts.unmatched),
            dropped,
            censored: counts.censored,
        });
        Losses { stages: stages.collect(), untold: 0 }
    }

    /// Each event with how many events of the next kind followed it.
    fn pairs(&self) -> impl Iterator<Item = (&StageCounts, Option<&StageCounts>)> {
        self.stages.iter().enumerate().map(|(at, stage)| (stage, self.stages.get(at + 1)))
    }

    /// Events kept that nothing followed: others of the same key took their place, or they still wait.
    fn unfollowed(stage: &StageCounts, next: Option<&StageCounts>) -> u64 {
        let kept = stage.matched.saturating_sub(stage.dropped);
        next.map_or(0, |next| kept.saturating_sub(next.matched).saturating_sub(stage.censored))
    }

    /// A line per event, for people.
    fn text(&self) -> String {
        let mut text = String::new();
        for (stage, next) in self.pairs() {
            let mut parts = vec![counted(stage.seen, "event")];
            let without = stage.seen.saturating_sub(stage.matched);
            if without > 0 {
                parts.push(format!("{} without the event before", grouped(without)));
            }
            if stage.dropped > 0 {
                parts.push(format!("{} dropped (the table was full)", grouped(stage.dropped)));
            }
            if stage.censored > 0 {
                parts.push(format!("{} forgotten where events were lost", stage.censored));
            }
            let unfollowed = Self::unfollowed(stage, next);
            if unfollowed > 0 {
                parts.push(format!("{unfollowed} without the event after"));
            }
            text.push_str(&format!("{}: {}\n", stage.event, parts.join(", ")));
        }
        let pairs = || self.pairs().filter_map(|(stage, next)| Some((stage, next?)));
        if let Some((stage, next)) = pairs().find(|(stage, next)| Self::are_odd(stage, next)) {
            text.push_str(&format!(
                "Few {} have a {} after them with equal fields of --by: is it the other way round, `{} {}`?\n",
                stage.event, next.event, next.event, stage.event
            ));
        }
        text
    }

    /// True if both kinds of event are frequent and hardly one has a partner.
    fn are_odd(stage: &StageCounts, next: &StageCounts) -> bool {
        const FREQUENT: u64 = 20;
        let rarer = stage.seen.min(next.seen);
        rarer >= FREQUENT && next.matched.saturating_mul(10) < rarer
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        let stages = self.pairs().map(|(stage, next)| {
            json!({
                "event": stage.event.to_string(),
                "events": stage.seen,
                "matched": stage.matched,
                "dropped": stage.dropped,
                "censored": stage.censored,
                "unmatched": stage.seen.saturating_sub(stage.matched),
                "unfollowed": Self::unfollowed(stage, next),
            })
        });
        stages.collect()
    }

    /// An error if more was dropped than is allowed; without a limit nothing is.
    pub(super) fn verdict(&self, output: &HistOutputArgs) -> Result<(), Failure> {
        let dropped: u64 = self.stages.iter().map(|stage| stage.dropped).fold(self.untold, u64::saturating_add);
        if dropped == 0 {
            return Ok(());
        }
        let of_stages = self.stages.iter().filter(|stage| stage.dropped > 0);
        let mut names: Vec<String> =
            of_stages.map(|stage| format!("{} of {}", grouped(stage.dropped), stage.event)).collect();
        if self.untold > 0 {
            names.push(format!("{} of the distribution", grouped(self.untold)));
        }
        let message = format!("{} found no room in their table: {}", counted(dropped, "event"), names.join(", "));
        let allowed = output.max_lost().unwrap_or(0);
        if dropped <= allowed {
            note!("rtrace: {message}");
            return Ok(());
        }
        let failure = Failure::new(Exit::Incomplete, anyhow!("{message}; {} allowed (--max-lost)", grouped(allowed)));
        Err(failure.hint("--size makes more room, a filter (--if-start) needs less"))
    }
}
