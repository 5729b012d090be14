//! Sub-buffers to lines.

use super::ordered::Ordered;
use super::queue::Queue;
use crate::cli::exit::Failure;
use crate::cli::terminal::stdout;
use rtrace::event::{EventTypes, State};
use rtrace::export::{
    Json, JsonBuffer, JsonBufferInfo, JsonHeader, JsonSource, JsonTypes, Text, TextOptions, TimeColumn,
};
use rtrace::record::{Audience, LiveFacts};
use rtrace::symbols::{Comms, Symbols};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What lines look like.
pub(super) enum Words<'a> {
    /// As of report; a layout for each buffer.
    Text(&'a EventTypes<'a>, Vec<Text<'a>>),
    Json(&'a JsonTypes),
}

/// Prints what comes, in order.
pub(super) struct Screen<'a> {
    facts: &'a LiveFacts,
    words: Words<'a>,
    events: Ordered,
    state: State,
    /// Names of tasks: the latest that each was seen with.
    names: BTreeMap<i32, Vec<u8>>,
    saved: Vec<u8>,
    comms: Comms,
}

impl<'a> Screen<'a> {
    /// For these buffers. The first line of JSON is written at once.
    pub(super) fn new(facts: &'a LiveFacts, words: Words<'a>, quiet: bool) -> Result<Self, Failure> {
        if let Words::Json(_) = words {
            let mut line = Vec::new();
            header(facts).write(&mut line);
            stdout().lock().write_all(&line)?;
        }
        let comms = Comms::parse(b"");
        let state = State::new(comms.clone());
        let (names, saved) = (BTreeMap::new(), Vec::new());
        let events = Ordered::new(facts, quiet);
        Ok(Screen { facts, words, events, state, names, saved, comms })
    }

    /// Takes the names of tasks over, if the kernel has news of them.
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
        self.comms = Comms::parse(&text);
        self.state.set_comms(self.comms.clone());
    }

    /// Prints what is there for certain; gives the text.
    fn print(&mut self, until: u64, last: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut json = match &self.words {
            Words::Json(types) => Some(Json::new(self.facts.buffers.iter().map(|buffer| JsonBuffer {
                types,
                comms: &self.comms,
                source: None,
                buffer: (!buffer.name.is_empty()).then_some(buffer.name.as_str()),
            }))),
            Words::Text(..) => None,
        };
        while let Some(current) = self.events.next(until) {
            let Some(record) = self.events.queues[current].first() else { break };
            let mut told = None;
            match (&self.words, &mut json) {
                (Words::Text(types, texts), _) => {
                    let id = types.common().event_id(types.abi(), record.data);
                    let following = if types.get(id).is_some_and(|event| event.needs_next()) {
                        let following = following(&self.events.queues, current);
                        if following.is_none() && !last {
                            break; // it may be a leaf: a later round tells
                        }
                        following
                    } else {
                        None
                    };
                    let next = || following.and_then(|(queue, at)| self.events.queues[queue].get(at));
                    if texts[record.buffer].event(&record, next, &mut self.state, &mut out) {
                        told = following;
                    }
                }
                (Words::Json(_), Some(json)) => json.event(&record, &mut out),
                (Words::Json(_), None) => {}
            }
            if let Some((queue, at)) = told {
                self.events.queues[queue].remove(at);
            }
            self.events.queues[current].remove(0);
        }
        out
    }
}

/// The queue of the event behind the first of `current` in the same buffer, and its place there.
fn following(queues: &[Queue], current: usize) -> Option<(usize, usize)> {
    let buffer = queues.get(current)?.buffer;
    let of_buffer = queues.iter().enumerate().filter(|(_, queue)| queue.buffer == buffer);
    let next = |(number, queue): (usize, &Queue)| {
        let at = usize::from(number == current);
        queue.get(at).map(|record| (record.timestamp.0, number, at))
    };
    of_buffer.filter_map(next).min().map(|(_, number, at)| (number, at))
}

impl Audience for Screen<'_> {
    fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) {
        self.events.page(buffer, cpu, page);
    }

    fn unfinished(&mut self, buffer: usize, cpu: usize) {
        self.events.unfinished(buffer, cpu);
    }

    fn round(&mut self, saved_cmdlines: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()> {
        let until = self.events.round(last);
        if self.events.next(until).is_none() {
            return Ok(());
        }
        self.learn(saved_cmdlines());
        let out = self.print(until, last);
        let mut stdout = stdout().lock();
        stdout.write_all(&out)?;
        stdout.flush()
    }
}

/// The layout of each buffer's lines.
pub(super) fn texts<'a>(
    facts: &LiveFacts,
    types: &'a EventTypes<'a>,
    symbols: &'a Symbols,
    raw: bool,
    nanoseconds: bool,
) -> Vec<Text<'a>> {
    let width = facts.buffers.iter().map(|b| b.name.len()).max().unwrap_or(0);
    let label = |name: &str| format!("{name:>width$}{}", if name.is_empty() { "  " } else { ": " }).into_bytes();
    let labels: Vec<Vec<u8>> =
        if width == 0 { Vec::new() } else { facts.buffers.iter().map(|b| label(&b.name)).collect() };
    let text = |clock: &str| {
        let time = match () {
            () if !counts_nanoseconds(clock) => TimeColumn::Ticks,
            () if nanoseconds => TimeColumn::Nanos,
            () => TimeColumn::Micros,
        };
        Text::new(types, symbols, TextOptions { time, raw, labels: labels.clone(), ..TextOptions::default() })
    };
    facts.buffers.iter().map(|buffer| text(&buffer.clock)).collect()
}

/// Whether a clock counts nanoseconds.
fn counts_nanoseconds(clock: &str) -> bool {
    matches!(clock, "" | "local" | "global" | "uptime" | "perf" | "tai" | "boot") || clock.starts_with("mono")
}

/// The first line of JSON: as report's, of a file that there is not.
fn header(facts: &LiveFacts) -> JsonHeader {
    let buffer = |buffer: &rtrace::record::LiveBuffer| JsonBufferInfo {
        name: (!buffer.name.is_empty()).then(|| buffer.name.clone()),
        clock: Some(buffer.clock.clone()),
        unit: if counts_nanoseconds(&buffer.clock) { "ns" } else { "ticks" },
        cpus: buffer.cpus.iter().map(|cpu| cpu.0).collect(),
    };
    let cpus = facts.buffers.iter().map(|b| b.cpus.len() as u32).max().unwrap_or(0);
    let buffers = facts.buffers.iter().map(buffer).collect();
    JsonHeader { sources: vec![JsonSource { file: "live".to_owned(), label: None, uname: None, cpus, buffers }] }
}
