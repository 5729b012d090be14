//! Sub-buffers to lines.

use crate::cli::live::{live_merge, warn_of_damage};
use crate::cli::terminal::stdout;
use rtrace::event::EventTypes;
use rtrace::export::{
    Exporter, Json, JsonBuffer, JsonBufferInfo, JsonHeader, JsonSource, JsonTypes, Text, TextLines, TextOptions,
    TimeColumn,
};
use rtrace::record::{Audience, LiveBuffer, LiveFacts};
use rtrace::recording::LiveMerge;
use rtrace::symbols::{Comms, Symbols};
use rtrace::syntax::widest;
use rtrace::units::RecordedClock;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Prints the events of running rings with an exporter, in the order of time.
pub(super) struct StreamScreen<'e, E: Exporter> {
    exporter: &'e E,
    state: E::State,
    events: LiveMerge,
    quiet: bool,
    /// The latest name of each task.
    names: BTreeMap<i32, Vec<u8>>,
    /// The text that `names` were read from last.
    saved: Vec<u8>,
}

impl<'e, E: Exporter> StreamScreen<'e, E> {
    /// A screen for the buffers of `facts`. Writes the exporter's first lines.
    pub(super) fn new(facts: &LiveFacts, exporter: &'e E, quiet: bool) -> io::Result<Self> {
        let (mut state, mut first) = (exporter.state(), Vec::new());
        exporter.begin(&mut state, &mut first);
        stdout().lock().write_all(&first)?;
        let (names, saved) = (BTreeMap::new(), Vec::new());
        Ok(StreamScreen { exporter, state, events: live_merge(facts), quiet, names, saved })
    }

    /// Takes over the names of tasks, if the kernel has new ones.
    fn learn(&mut self, saved: Vec<u8>) {
        if saved == self.saved {
            return;
        }
        for line in saved.split(|b| *b == b'\n') {
            let Some(blank) = line.iter().position(|b| *b == b' ') else { continue };
            let pid = std::str::from_utf8(&line[..blank]).ok().and_then(|pid| pid.parse().ok());
            if let Some(pid) = pid {
                self.names.insert(pid, line[blank + 1..].to_vec());
            }
        }
        self.saved = saved;
        let mut text = Vec::new();
        for (pid, name) in &self.names {
            text.extend_from_slice(format!("{pid} ").as_bytes());
            text.extend_from_slice(name);
            text.push(b'\n');
        }
        self.exporter.set_comms(&mut self.state, &Comms::parse(&text));
    }

    /// The output of all complete events.
    fn print(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        while self.events.advance() {
            let Some(record) = self.events.record() else { break };
            let mut following = None;
            if self.exporter.needs_next(&record) {
                following = self.events.following();
                if following.is_none() && !self.events.is_last() {
                    break; // a later round may bring the record that it depends on
                }
            }
            let consumed = self.exporter.event(&record, || following, &mut self.state, &mut out);
            self.events.take(consumed);
        }
        out
    }
}

impl<E: Exporter> Audience for StreamScreen<'_, E> {
    fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) {
        warn_of_damage(self.events.page(buffer, cpu, page), self.quiet);
    }

    fn unfinished(&mut self, buffer: usize, cpu: usize) {
        self.events.unfinished(buffer, cpu);
    }

    fn round(&mut self, saved_cmdlines: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()> {
        self.events.end_round(last);
        let mut out = Vec::new();
        if self.events.advance() {
            self.learn(saved_cmdlines());
            out = self.print();
        }
        if last {
            self.exporter.end(&mut self.state, &mut out);
        }
        if out.is_empty() {
            return Ok(());
        }
        let mut stdout = stdout().lock();
        stdout.write_all(&out)?;
        stdout.flush()
    }
}

/// Lines as of report: a layout for each buffer.
pub(super) fn text_lines<'a>(
    facts: &LiveFacts,
    types: &'a EventTypes<'a>,
    symbols: &'a Symbols,
    raw: bool,
    nanoseconds: bool,
) -> TextLines<'a> {
    let width = widest(facts.buffers.iter().map(|b| b.name.len()));
    let label = |name: &str| format!("{name:>width$}{}", if name.is_empty() { "  " } else { ": " }).into_bytes();
    let labels: Vec<Vec<u8>> =
        if width == 0 { Vec::new() } else { facts.buffers.iter().map(|b| label(&b.name)).collect() };
    let text = |clock: &str| {
        let time = match () {
            () if !RecordedClock::of(clock).shown_as_seconds => TimeColumn::Ticks,
            () if nanoseconds => TimeColumn::Nanos,
            () => TimeColumn::Micros,
        };
        Text::new(types, symbols, TextOptions { time, raw, labels: labels.clone(), ..TextOptions::default() })
    };
    let buffers = facts.buffers.iter().map(|buffer| (0, text(&buffer.clock))).collect();
    TextLines::new(Vec::new(), buffers, vec![&symbols.comms])
}

/// JSON lines, as of report.
pub(super) fn json<'a>(facts: &'a LiveFacts, types: &'a JsonTypes, comms: &'a Comms) -> Json<'a> {
    let buffer = |buffer: &'a LiveBuffer| {
        let name = (!buffer.name.is_empty()).then_some(buffer.name.as_str());
        JsonBuffer { types, comms, source: None, buffer: name }
    };
    Json::new(facts.buffers.iter().map(buffer)).with_header(header(facts))
}

/// The first line of JSON: as report's, of a file that there is not.
fn header(facts: &LiveFacts) -> JsonHeader {
    let buffer = |buffer: &LiveBuffer| JsonBufferInfo {
        name: (!buffer.name.is_empty()).then(|| buffer.name.clone()),
        clock: Some(buffer.clock.clone()),
        unit: if RecordedClock::of(&buffer.clock).counts_nanoseconds() { "ns" } else { "ticks" },
        wall: None,
        cpus: buffer.cpus.iter().map(|cpu| cpu.0).collect(),
    };
    let cpus = facts.buffers.iter().map(|b| b.cpus.len() as u32).max().unwrap_or(0);
    let buffers = facts.buffers.iter().map(buffer).collect();
    JsonHeader {
        sources: vec![JsonSource {
            file: "live".to_owned(),
            label: None,
            uname: None,
            cpus,
            unfinished: false,
            buffers,
        }],
    }
}
