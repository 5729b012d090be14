//! `--pair` and `--counter` of `--to perfetto`.

use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{Input, QueryEvents};
use anyhow::anyhow;
use rtrace::assertion::Pair;
use rtrace::export::{CounterField, PerfettoCounters, perfetto_slices};
use rtrace::format::EventFormat;
use std::io::Write;

/// `SYSTEM:NAME:SYSTEM:NAME:KEY`, without systems where names are enough; or the pair as assertions have it.
pub(super) fn pair(text: &str) -> Result<Pair, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let (from, to, key) = match &parts[..] {
        _ if text.starts_with("latency(") => return parsed(text),
        [from, to, key] => ((*from).to_owned(), (*to).to_owned(), *key),
        [system, from, other, to, key] => (format!("{system}:{from}"), format!("{other}:{to}"), *key),
        _ => return Err("expected START:END:KEY, each event as NAME or both as SYSTEM:NAME".into()),
    };
    parsed(&format!("latency({from}, {to}, {key})"))
}

fn parsed(text: &str) -> Result<Pair, String> {
    Pair::parse(text).map_err(|error| {
        let hints: String = error.hints().iter().map(|hint| format!("\n  Hint: {hint}")).collect();
        format!("\n{error}{hints}")
    })
}

/// `SYSTEM:NAME.FIELD`.
pub(super) fn counter(text: &str) -> Result<CounterField, String> {
    match text.rsplit_once('.') {
        Some((event, field)) if event.contains(':') && !field.is_empty() => {
            Ok(CounterField { event: event.to_owned(), field: field.to_owned() })
        }
        _ => Err("expected SYSTEM:NAME.FIELD".into()),
    }
}

/// Appends the tracks that are asked for; gives what is left out of them.
pub(super) fn write(
    pairs: &[Pair],
    counters: &[CounterField],
    events: &QueryEvents<'_>,
    out: &mut (impl Write + Send),
) -> Result<Vec<String>, Failure> {
    let mut left_out = Vec::new();
    for (number, pair) in pairs.iter().enumerate() {
        let [input] = events.inputs else {
            return Err(Failure::new(Exit::Usage, anyhow!("--pair takes one recording: pairs are of one machine")));
        };
        left_out.extend(slices(number, pair, input, events, out)?);
    }
    if !counters.is_empty() {
        let buffers = events.query.sources().iter().map(|source| {
            let input = &events.inputs[source.recording];
            (input.formats().collect(), input.trace.abi)
        });
        let exporter = PerfettoCounters::new(counters.to_vec(), buffers);
        if let Some(none) = counters.iter().find(|counter| !exporter.has(counter)) {
            let failure = anyhow!("no event {} has a field `{}`", none.event, none.field);
            return Err(Failure::new(Exit::Usage, failure).hint("`rtrace report --events FILE` shows the formats."));
        }
        events.query.export(&exporter, out).map_err(|error| anyhow!("{error}"))?;
    }
    Ok(left_out)
}

fn slices(
    number: usize,
    pair: &Pair,
    input: &Input,
    events: &QueryEvents<'_>,
    out: &mut (impl Write + Send),
) -> Result<Vec<String>, Failure> {
    let formats: Vec<&EventFormat> = input.formats().collect();
    let pairs = pair.pairs(&formats, input.trace.abi, &input.symbols.comms).map_err(|error| {
        error.hints().iter().fold(Failure::new(Exit::Usage, anyhow!("{error}")), |failure, hint| failure.hint(hint))
    })?;
    let pairs = pairs.map_err(|missing| Failure::new(Exit::Usage, anyhow!("{}: {missing}", input.path.display())))?;
    let (mut report, _) = events.query.analyse(pairs.keep())?;
    let mut packets = Vec::new();
    perfetto_slices(&pair.text, number, &mut report.kept, &mut packets);
    out.write_all(&packets)?;
    let counts = [
        (report.begun_again, "starts that another one followed"),
        (report.without_begin, "ends without a start"),
        (report.unfinished, "starts without an end"),
        (report.censored, "starts before lost events"),
    ];
    let there = counts.iter().filter(|(count, _)| *count > 0);
    Ok(there.map(|(count, which)| format!("{count} {which} of {}", pair.text)).collect())
}
