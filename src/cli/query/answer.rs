//! A command's answer about the events of one recording.

use super::{QueryEvents, QueryInput, WindowArgs};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::stdout;
use crate::cli::trace_file::threads_for;
use anyhow::anyhow;
use rtrace::internal::trace_dat::Buffer;
use rtrace::recording::{Notice, Query};
use std::io::{BufWriter, Write};
use std::num::NonZero;
use std::path::Path;

/// Opens the recording at `path` and has `answer` write what it makes of the events within the window. Its exit code counts
/// more than that of damage.
pub(crate) fn answer(
    path: &Path,
    window: &WindowArgs,
    threads_wanted: Option<NonZero<usize>>,
    answer: impl FnOnce(&QueryEvents<'_>, &mut dyn Write) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let inputs = [QueryInput::open(path, None, false)?];
    let damage = DamageReport::of(path, &inputs[0].trace);
    let notice = |notice: Notice<'_>| damage.notice(|_| path, &notice);
    let query = Query::of([&inputs[0].recording]).threads(threads_for(threads_wanted, [&inputs[0].trace]));
    let query = query.on_notice(&notice);
    let window = window.within(&query, path)?;
    let mut out = BufWriter::new(stdout());
    let mut exit = Exit::Success;
    let done = QueryEvents::new(&inputs, query.window(window)).and_then(|events| answer(&events, &mut out));
    let done = done.and_then(|own| {
        exit = own;
        Ok(out.flush()?)
    });
    damage.late(path, &inputs[0].recording);
    damage.outcome(done).map(|of_damage| if exit == Exit::Success { of_damage } else { exit })
}

/// The events of the one buffer to look at: the one called `wanted`, or the only one that holds events.
pub(crate) fn one_buffer<'e>(
    wanted: Option<&str>,
    events: &QueryEvents<'e>,
) -> Result<(Query<'e>, &'e Buffer), Failure> {
    let trace = &events.inputs[0].trace;
    let all = || trace.buffers.iter();
    let found = match wanted {
        Some(name) => all().find(|buffer| buffer.name == name),
        None => {
            let mut full = Vec::new();
            for buffer in all() {
                if events.query.clone().buffer(&buffer.name).span()?.is_some() {
                    full.push(buffer);
                }
            }
            if let [_, _, ..] = full[..] {
                let names: Vec<String> = full.iter().map(|buffer| format!("`--buffer '{}'`", buffer.name)).collect();
                let error = anyhow!("{} holds events of several buffers", events.inputs[0].path.display());
                return Err(Failure::new(Exit::Usage, error).hint(format!("Choose one: {}.", names.join(", "))));
            }
            full.first().copied().or_else(|| all().next())
        }
    };
    let Some(buffer) = found else {
        let path = events.inputs[0].path.display();
        let names: Vec<String> = all().map(|buffer| format!("`{}`", buffer.name)).filter(|name| name != "``").collect();
        if trace.buffers.is_empty() {
            return Err(anyhow!("{path} has no buffer: it holds no events").into());
        }
        return Err(match wanted.filter(|name| !name.is_empty()) {
            None => Failure::new(Exit::Usage, anyhow!("{path} has no top buffer")),
            Some(name) => Failure::new(Exit::Usage, anyhow!("{path} has no buffer `{name}`")),
        }
        .hint(match names.as_slice() {
            [] => "it has the top buffer alone.".to_owned(),
            names => format!("it has {}; the empty name is the top buffer.", names.join(", ")),
        }));
    };
    Ok((events.query.clone().buffer(&buffer.name), buffer))
}
