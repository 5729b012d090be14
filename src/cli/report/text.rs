//! Events as text, in trace-cmd's layout.
//! The heading of text on a terminal: what each column is, and what the letters of the flags mean.
//! Additions of `-w` and `--boundary` to the lines.
//! Lines of events in colours.

use super::args::ReportRun;
use crate::cli::exit::Failure;
use crate::cli::query::QueryInput;
use crate::cli::syscalls::decoders;
use crate::cli::terminal;
use crate::cli::terminal::{Sequence, StandardOutput, Styled, note};
use memchr::memmem;
use rtrace::analysis::{Analysis, WakeupLatencies, Wakeups};
use rtrace::event::{EventTypes, Lost, PrintState};
use rtrace::export::{Exporter, SyscallLines, Text, TextLines, TextOptions, TimeColumn};
use rtrace::recording::{BufferSource, Current};
use rtrace::syntax::widest;
use std::io::{Stdout, Write};
use std::ops::ControlFlow;

/// Output gathered before it is written, in bytes.
const GATHER: usize = 256 << 10;

pub(super) fn print(run: &ReportRun<'_>, out: &mut StandardOutput<Stdout>) -> Result<(), Failure> {
    let (args, inputs, sources) = (run.args, run.inputs, run.query.sources());
    let decode = args.wording.decode(!args.layout.no_plugins);
    let types: Vec<EventTypes<'_>> =
        inputs.iter().map(|input| args.wording.except(input.types(&decode), input, &decode)).collect();
    let labels = labels(inputs, sources);
    let text = |source: &BufferSource| {
        let options = TextOptions {
            time: match run.wall_clock(source) {
                Some(clock) => TimeColumn::Wall { clock, nanoseconds: args.layout.nanoseconds },
                None if source.shown_in_ticks => TimeColumn::Ticks,
                None if args.layout.nanoseconds => TimeColumn::Nanos,
                None => TimeColumn::Micros,
            },
            latency: args.layout.latency,
            raw: args.layout.raw,
            time_diff: args.layout.ts_diff,
            labels: labels.clone(),
        };
        let file = source.recording;
        (file, Text::new(&types[file], &inputs[file].symbols, options))
    };
    let mut heading = head(inputs);
    if terminal::stdout_is_terminal() {
        let label = labels.first().map_or(0, Vec::len);
        heading.extend_from_slice(header(widest([label]), args.layout.latency, sources).as_bytes());
    }
    let comms = inputs.iter().map(|input| &input.symbols.comms).collect();
    let lines = TextLines::new(heading, sources.iter().map(text).collect(), comms);
    let colored = args.color.is_wanted();
    if args.layout.wakeups && run.query.splits_pairs() {
        note!(
            "rtrace: -w: only wakeups among the selected events are paired, and a task's are written by others, on any CPU; `rtrace analyze sched FILE --comm NAME` has all of its waits"
        );
    }
    let extras = || Extras::new(run, &labels);
    let plain = !(args.layout.wakeups || args.layout.boundary || colored);
    let states = match (args.syscalls, plain) {
        (false, true) => run.export(&lines, out)?.0,
        (false, false) => one_by_one(run, &lines, &types, extras(), colored, out)?,
        (true, plain) => {
            let lines = SyscallLines::new(lines, decoders(inputs.iter().map(|input| &input.trace))?);
            match plain {
                true => run.export(&lines, out)?.0.lines,
                false => one_by_one(run, &lines, &types, extras(), colored, out)?.lines,
            }
        }
    };
    for ((input, types), state) in inputs.iter().zip(&types).zip(&states) {
        tell_undecoded(input, types, state);
    }
    Ok(())
}

/// Prints events with what is added to their lines.
fn one_by_one<E: Exporter>(
    run: &ReportRun<'_>,
    lines: &E,
    types: &[EventTypes<'_>],
    mut extras: Extras<'_>,
    colored: bool,
    out: &mut StandardOutput<Stdout>,
) -> Result<E::State, Failure> {
    let (mut states, mut plain, mut shown) = (lines.state(), Vec::new(), Styled::default());
    lines.begin(&mut states, &mut plain);
    if colored {
        shown.text(&plain);
        plain.clear();
    }
    let mut resolved = run.query.resolve()?;
    resolved.walk(|current| {
        let record = current.record();
        let types = &types[run.query.sources()[record.buffer].recording];
        let event = types.get(types.common().event_id(types.abi(), record.data));
        let start = plain.len();
        run.count(1);
        extras.see(current);
        current.export(lines, &mut states, &mut plain);
        extras.add(start, &mut plain);
        if colored {
            coloured_lines(&plain, event.map_or("", |e| &e.format.name), &mut shown);
            plain.clear();
        }
        if plain.len() >= GATHER {
            out.write_all(&plain)?;
            plain.clear();
        }
        if shown.len() >= GATHER {
            out.styled(&shown)?;
            shown.clear();
        }
        Ok::<_, Failure>(ControlFlow::Continue(()))
    })?;
    lines.end(&mut states, &mut plain);
    if colored {
        shown.text(&plain);
        plain.clear();
    }
    out.write_all(&plain)?;
    out.styled(&shown)?;
    out.write_all(extras.text().as_bytes())?;
    Ok(states)
}

/// The labels of the buffers' lines; none if there is only one buffer.
fn labels(inputs: &[QueryInput], sources: &[BufferSource]) -> Vec<Vec<u8>> {
    if inputs.len() == 1 && inputs[0].trace.buffers.iter().all(|b| b.name.is_empty()) {
        return Vec::new();
    }
    let name = |source: &BufferSource| match &inputs[source.recording].trace.buffers[source.buffer].name {
        top if top.is_empty() && inputs.len() > 1 => inputs[source.recording].label(),
        name => name.clone(),
    };
    let names: Vec<String> = sources.iter().map(name).collect();
    let width = widest(names.iter().map(String::len));
    let label = |name: &String| format!("{name:>width$}{}", if name.is_empty() { "  " } else { ": " }).into_bytes();
    names.iter().map(label).collect()
}

/// `cpus=N` of each file, and what latency tracers left as text.
pub(super) fn head(inputs: &[QueryInput]) -> Vec<u8> {
    let mut text = Vec::new();
    let width = widest(inputs.iter().map(|i| i.label().len()));
    for input in inputs {
        if inputs.len() > 1 {
            text.extend_from_slice(format!("{:>width$}: ", input.label()).as_bytes());
        }
        text.extend_from_slice(format!("cpus={}\n", input.trace.cpu_count).as_bytes());
    }
    for latency in inputs.iter().flat_map(|i| &i.trace.buffers).filter_map(|b| b.text.as_ref()) {
        text.extend_from_slice(latency);
        text.push(b'\n');
    }
    text
}

/// Lines for the columns of events with labels of `label` columns before them.
fn header(label: usize, latency: bool, sources: &[BufferSource]) -> String {
    let ticks = sources.iter().any(|source| source.shown_in_ticks);
    let time = if ticks { "TICKS" } else { "SECONDS" };
    let columns = match latency {
        true => format!("#{:label$}   TASK-PID   CPUflags {time:>12}: EVENT:               FIELDS", ""),
        false => format!("#{:label$}           TASK-PID   [CPU] FLAGS {time:>12}: EVENT:               FIELDS", ""),
    };
    format!(
        "{columns}\n\
         # FLAGS: d: interrupts off; N, L: to be rescheduled (L: lazily); h, s: in a\n\
         #        hard or soft interrupt, H: in a hard one within a soft one; then the\n\
         #        depths of disabled preemption and migration; `.`: none of it\n"
    )
}

/// Looks at each event that is shown, and adds to its lines.
struct Extras<'a> {
    /// By file, if `-w` was given.
    wakeups: Vec<(Wakeups<'a>, WakeupLatencies)>,
    file_of: Vec<usize>,
    labels: Vec<usize>,
    /// Of the event that was seen last.
    latency: Option<u64>,
    boundary: Option<Boundary>,
}

/// Place of the line for a sub-buffer that begins.
struct Boundary {
    cpu: u32,
    after_lost: bool,
    label: usize,
}

impl<'a> Extras<'a> {
    fn new(run: &ReportRun<'a>, labels: &[Vec<u8>]) -> Self {
        let layout = run.args.layout;
        let wakeups = |_| {
            let one = |input: &'a QueryInput| {
                let wakeups = Wakeups::new(input.formats(), input.trace.abi, &input.symbols);
                let none = wakeups.begin();
                (wakeups, none)
            };
            run.inputs.iter().map(one).collect()
        };
        Extras {
            wakeups: layout.wakeups.then_some(()).map(wakeups).unwrap_or_default(),
            file_of: run.query.sources().iter().map(|source| source.recording).collect(),
            labels: labels.iter().map(Vec::len).collect(),
            latency: None,
            boundary: None,
        }
    }

    /// Looks at the event whose lines come next.
    fn see(&mut self, current: &Current<'_>) {
        let record = &current.record();
        if let Some((wakeups, latencies)) = self.file_of.get(record.buffer).and_then(|file| self.wakeups.get_mut(*file))
        {
            self.latency = wakeups.step(record, latencies);
        }
        self.boundary = current.begins_page().then(|| Boundary {
            cpu: record.cpu.0,
            after_lost: record.lost != Lost::None,
            label: self.labels.get(record.buffer).copied().unwrap_or(0),
        });
    }

    /// Completes its lines, which start at `start`.
    fn add(&mut self, start: usize, lines: &mut Vec<u8>) {
        if let Some(latency) = self.latency.take() {
            lines.pop();
            lines.extend_from_slice(format!(" Latency: {}.{:03} usecs\n", latency / 1000, latency % 1000).as_bytes());
        }
        let Some(Boundary { cpu, after_lost, label }) = self.boundary.take() else { return };
        let new = lines.get(start..).unwrap_or_default();
        let lost = memchr::memchr(b'\n', new).filter(|_| after_lost);
        let at = start + lost.map_or(label, |end| end + 1);
        lines.splice(at..at, format!("CPU:{cpu} [SUBBUFFER START]\n").into_bytes());
    }

    /// The text after all events.
    fn text(&self) -> String {
        self.wakeups.iter().map(|(_, latencies)| latencies.text()).collect()
    }
}

/// Limit of the event types in the message.
const MOST_LINES: usize = 20;

/// Says on stderr what became of a file's events that have no text.
pub(super) fn tell_undecoded(input: &QueryInput, types: &EventTypes, state: &PrintState) {
    let path = input.path.display();
    for (id, count) in state.undecoded().take(MOST_LINES) {
        let events = if count == 1 { "event" } else { "events" };
        if let Some(event) = types.get(id) {
            let name = format!("{}:{}", event.format.system, event.format.name);
            let reason = event.failure().map_or_else(String::new, |error| format!(": {error}"));
            note!("rtrace: {path}: {count} {events} of {name} shown as raw fields{reason}");
        }
    }
    let types = state.undecoded().count();
    if types > MOST_LINES {
        note!("rtrace: {path}: events of {} more types shown as raw fields", types - MOST_LINES);
    }
}

/// Appends the lines of one record of the event `event`.
fn coloured_lines(mut lines: &[u8], event: &str, out: &mut Styled) {
    if let Some(lost) = lost_line(lines) {
        let (line, rest) = lines.split_at(lost);
        out.sequence(Sequence::Lost).text(line.trim_ascii_end()).sequence(Sequence::Plain).text(b"\n");
        lines = rest;
    }
    // `TIME: NAME: `
    let name = format!(": {event}: ");
    match memmem::find(lines, name.as_bytes()) {
        Some(at) => {
            let (front, text) = (&lines[..at + 1], &lines[at + name.len() - 1..]);
            out.sequence(Sequence::Dim).text(front).sequence(Sequence::Plain).text(b" ");
            out.sequence(Sequence::Name).text(event.as_bytes()).sequence(Sequence::Plain).text(b":").text(text);
        }
        None => drop(out.text(lines)),
    }
}

/// The length of a line about lost events in front of the event's own, newline included.
fn lost_line(lines: &[u8]) -> Option<usize> {
    let end = memchr::memchr(b'\n', lines)?;
    let is_lost = lines[..end].ends_with(b"EVENTS DROPPED]") && end + 1 < lines.len();
    is_lost.then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &[u8]) -> String {
        let mut out = Styled::default();
        coloured_lines(text, "sched_switch", &mut out);
        out.for_test()
    }

    #[test]
    fn names_and_losses_are_coloured() {
        assert_eq!(
            shown(b"CPU:1 [5 EVENTS DROPPED]\n sh-1 [000] 1.5: sched_switch:   a: b\n"),
            "\x1b[1;31mCPU:1 [5 EVENTS DROPPED]\x1b[0m\n\
             \x1b[2m sh-1 [000] 1.5:\x1b[0m \x1b[36msched_switch\x1b[0m:   a: b\n"
        );
    }

    #[test]
    fn text_between_the_colours_is_escaped() {
        assert_eq!(
            shown(b" \x1b[2J-1 [000] 1.5: sched_switch: \xc2\x9b\n"),
            "\x1b[2m \\x1b[2J-1 [000] 1.5:\x1b[0m \x1b[36msched_switch\x1b[0m: \\xc2\\x9b\n"
        );
    }
}
