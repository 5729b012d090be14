//! The profile of a file.

use super::live::TraceArgs;
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::wall_clock;
use crate::cli::trace_file::{open_recording, threads_for};
use rtrace::analysis::Grouped;
use rtrace::internal::trace_dat::OptionId;
use rtrace::recording::{BufferSource, Notice, Recording};
use std::path::Path;

pub(super) fn run(path: &Path, args: &TraceArgs) -> Result<Exit, Failure> {
    let recording = open_recording(path)?;
    let _pager = args.pager.start();
    let damage = DamageReport::of(path, &recording.trace);
    let done = write(path, args, &recording, &damage);
    damage.late(path, &recording);
    damage.outcome(done)
}

fn write(path: &Path, args: &TraceArgs, recording: &Recording, damage: &DamageReport) -> Result<(), Failure> {
    let Recording { trace, symbols, .. } = recording;
    let stored: Vec<String> = trace.options(OptionId::HOOK).map(|option| option.text()).collect();
    let hooks = args.what.hooks();
    let notice = |notice: Notice<'_>| damage.notice(|_| path, &notice);
    let query = recording.query().threads(threads_for(None, [&recording.trace])).on_notice(&notice);
    let window = args.window.within(&query, path)?;
    let query = query.window(window);
    let empty = |source: &BufferSource| {
        let profile = args.account.profile(trace.formats(), trace.abi, &hooks, &stored)?;
        let profile = if args.output.is_in_trace_cmds_layout() { profile.as_trace_cmd() } else { profile };
        Ok::<_, Failure>(profile.covering(query.coverage(source)?.0))
    };
    let empty = query.sources().iter().map(empty).collect::<Result<Vec<_>, _>>()?;
    let (found, _) = query.analyse(Grouped::by_buffer(empty))?;
    let name = |source: &BufferSource| trace.buffers[source.buffer].name.clone();
    let profiles: Vec<_> = query.sources().iter().map(name).zip(found).collect();
    let unit = args.wall.unit(&query, path)?;
    Ok(args.output.open()?.write(
        Some(&path.to_string_lossy()),
        &profiles,
        symbols,
        args.account.by_comm,
        (unit, wall_clock(&query)),
    )?)
}
