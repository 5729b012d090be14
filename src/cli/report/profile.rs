//! `--profile`.

use super::args::{ReportFormat, ReportRun};
use super::text;
use crate::cli::exit::Failure;
use crate::cli::profile::json;
use crate::cli::profile::layout::{LayoutArgs, ProfileLayout};
use crate::cli::query::ClockUnit;
use crate::cli::terminal::table_width;
use rtrace::analysis::{Grouped, Profile};
use rtrace::internal::trace_dat::OptionId;
use rtrace::recording::BufferSource;
use std::io::Write;

pub(super) fn print(run: &ReportRun<'_>, out: &mut impl Write) -> Result<(), Failure> {
    let (args, inputs, sources) = (run.args, run.inputs, run.query.sources());
    let wanted = &args.profile;
    let mut profiles: Vec<Profile> = Vec::new();
    for source in sources {
        let input = &inputs[source.recording];
        let stored: Vec<String> = input.trace.options(OptionId::HOOK).map(|option| option.text()).collect();
        let profile = wanted.account.profile(input.formats(), input.trace.abi, &wanted.hooks, &stored)?;
        let is_text = !args.tally.json && args.format != ReportFormat::Json;
        let as_theirs = is_text && wanted.layout() == ProfileLayout::TraceCmd;
        let profile = if as_theirs { profile.as_trace_cmd() } else { profile };
        profiles.push(profile.covering(run.query.coverage(source)?.0));
    }
    let profiles = run.analyse(Grouped::by_buffer(profiles))?;
    let by_comm = wanted.account.by_comm;
    if args.tally.json || args.format == ReportFormat::Json {
        let one = |(source, profile): (&BufferSource, &Profile)| {
            let input = &inputs[source.recording];
            let name = &input.trace.buffers[source.buffer].name;
            json::buffer(Some(&input.path.to_string_lossy()), name, profile, &input.symbols, by_comm)
        };
        let document = json::document(sources.iter().zip(&profiles).map(one).collect());
        return Ok(writeln!(out, "{document:#}")?);
    }
    out.write_all(&text::head(inputs))?;
    for (source, profile) in sources.iter().zip(&profiles) {
        let input = &inputs[source.recording];
        if inputs.len() > 1 {
            writeln!(out, "\nFile: {}", input.path.display())?;
        }
        let name = &input.trace.buffers[source.buffer].name;
        if !name.is_empty() {
            writeln!(out, "\nInstance: {name}")?;
        }
        let fit = (table_width(false), "a wider terminal shows all columns");
        let layout = LayoutArgs { layout: Some(wanted.layout()), limit: wanted.limit, wide: true };
        layout.write(profile, &input.symbols, by_comm, ClockUnit::of(source.in_ticks), fit, out)?;
    }
    Ok(())
}
