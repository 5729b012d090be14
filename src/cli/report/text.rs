//! Events as text, in trace-cmd's layout.

use super::events::{GATHER, Run};
use super::input::Input;
use super::source::Source;
use super::undecoded;
use super::wakeups::Extras;
use super::{Args, color};
use crate::cli::exit::Failure;
use crate::cli::terminal::{Output, Styled};
use rtrace::event::{EventTypes, NameFix, Record, State};
use rtrace::export::{Text, TextOptions, TimeColumn};
use rtrace::filter::Sign;
use rtrace::merge::Merge;
use rtrace::merge::ahead::{Commit, Work};
use std::io::{Stdout, Write};

pub(super) fn print(run: &mut Run<'_>, out: &mut Output<Stdout>) -> Result<(), Failure> {
    let (args, inputs, sources) = (run.args, run.inputs, run.sources);
    let decode = args.wording.decode(!args.layout.no_plugins);
    let types: Vec<EventTypes<'_>> =
        inputs.iter().map(|input| args.wording.except(input.types(&decode), input, &decode)).collect();
    let mut states: Vec<State> = inputs.iter().map(|i| State::new(i.symbols.comms.clone())).collect();
    let labels = labels(inputs, sources);
    let texts: Vec<Text<'_>> = sources
        .iter()
        .map(|source| {
            let options = TextOptions {
                time: match () {
                    () if source.in_ticks => TimeColumn::Ticks,
                    () if args.layout.nanoseconds => TimeColumn::Nanos,
                    () => TimeColumn::Micros,
                },
                latency: args.layout.latency,
                raw: args.layout.raw,
                time_diff: args.layout.ts_diff,
                labels: labels.clone(),
            };
            Text::new(&types[source.file], &inputs[source.file].symbols, options)
        })
        .collect();
    let lines = Lines { sources, texts };
    if args.wording.show_filters {
        return filters(args, out);
    }
    let mut extras = Extras::new(run, &labels);
    match args.color.is_wanted() {
        false if run.is_whole() => {
            out.write_all(&head(inputs))?;
            states = run.all_to(&lines, states, out)?;
        }
        false => run.each_to(head(inputs), out, |merge, out| {
            let start = out.len();
            extras.see(&merge.record());
            lines.current(merge, &mut states, out);
            extras.add(start, out);
        })?,
        true => {
            let (mut plain, mut shown) = (Vec::new(), Styled::default());
            shown.text(&head(inputs));
            run.each(|merge| {
                plain.clear();
                let record = merge.record();
                let types = &types[sources[record.buffer].file];
                let event = types.get(types.common().event_id(types.abi(), record.data));
                extras.see(&record);
                lines.current(merge, &mut states, &mut plain);
                extras.add(0, &mut plain);
                color::lines(&plain, event.map_or("", |e| &e.format.name), &mut shown);
                if shown.len() >= GATHER {
                    out.styled(&shown)?;
                    shown.clear();
                }
                Ok(())
            })?;
            out.styled(&shown)?;
        }
    }
    out.write_all(extras.text().as_bytes())?;
    for ((input, types), state) in inputs.iter().zip(&types).zip(&states) {
        undecoded::tell(input, types, state);
    }
    Ok(())
}

/// `-T`: the filters, instead of the events.
fn filters(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    for (filter, sign) in &args.filters.list {
        writeln!(out, "{}'{}'", if *sign == Sign::Keep { " " } else { "!" }, filter.text())?;
    }
    Ok(())
}

/// The lines of all sources. What one leaves for the next is kept per file.
struct Lines<'a> {
    sources: &'a [Source],
    texts: Vec<Text<'a>>,
}

impl Lines<'_> {
    /// The lines of the current record of `merge`.
    fn current(&self, merge: &mut Merge, states: &mut Vec<State>, out: &mut Vec<u8>) {
        if self.record(&merge.record(), || merge.peek(), states, out) {
            merge.skip_peeked();
        }
    }
}

impl Work for Lines<'_> {
    type State = Vec<State>;

    fn fork(&self, known: &Vec<State>, used: Option<Vec<State>>) -> Vec<State> {
        let mut used = used.into_iter().flatten();
        known.iter().map(|known| known.fork(used.next())).collect()
    }

    #[inline]
    fn record<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        states: &mut Vec<State>,
        out: &mut Vec<u8>,
    ) -> bool {
        let state = &mut states[self.sources[record.buffer].file];
        self.texts[record.buffer].event(record, next, state, out)
    }

    fn commit(&self, known: &mut Vec<State>, done: &mut Vec<State>, out: &mut Vec<u8>) -> Commit {
        if done.iter().any(State::needs_order) {
            return Commit::Serialize;
        }
        let mut fixes: Vec<NameFix> = known.iter_mut().zip(&*done).flat_map(|(k, d)| k.join(d)).collect();
        if let (Some(text), false) = (self.texts.first(), fixes.is_empty()) {
            fixes.sort_by_key(NameFix::at);
            text.amend(out, &fixes);
        }
        Commit::Accept
    }
}

/// What stands in front of the lines of each buffer; nothing if there is only one.
fn labels(inputs: &[Input], sources: &[Source]) -> Vec<Vec<u8>> {
    if inputs.len() == 1 && inputs[0].trace.buffers.iter().all(|b| b.name.is_empty()) {
        return Vec::new();
    }
    let name = |source: &Source| match &inputs[source.file].trace.buffers[source.buffer].name {
        top if top.is_empty() && inputs.len() > 1 => inputs[source.file].label(),
        name => name.clone(),
    };
    let names: Vec<String> = sources.iter().map(name).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    let label = |name: &String| format!("{name:>width$}{}", if name.is_empty() { "  " } else { ": " }).into_bytes();
    names.iter().map(label).collect()
}

/// `cpus=N` of each file, and what latency tracers left as text.
pub(super) fn head(inputs: &[Input]) -> Vec<u8> {
    let mut text = Vec::new();
    let width = inputs.iter().map(|i| i.label().len()).max().unwrap_or(0);
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
