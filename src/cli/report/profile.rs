//! `--profile`.

use super::{Format, ReportRun, text};
use crate::cli::analyze::unit::ClockUnit;
use crate::cli::exit::Failure;
use crate::cli::profile::layout::{Layout, LayoutArgs};
use crate::cli::profile::{AccountArgs, json, parse_hook};
use rtrace::analysis::{Grouped, Hook, Profile};
use rtrace::recording::BufferSource;
use rtrace::trace_dat::OptionId;
use std::io::Write;

/// Options of a profile.
#[derive(clap::Args, Clone)]
pub(crate) struct ProfileArgs {
    /// Print where tasks spent their time
    ///
    /// Blocked, waiting for a CPU, in the kernel; from what `record --profile` recorded.
    #[arg(long, conflicts_with_all = ["count", "summary", "wakeups"])]
    pub(super) profile: bool,
    #[command(flatten)]
    account: AccountArgs,
    /// With --profile: a table, the longest times first, or all as trace-cmd has it
    #[arg(long, value_enum, value_name = "LAYOUT", requires = "profile", default_value_t = Layout::TraceCmd)]
    layout: Layout,
    /// With --profile --layout table: number of rows; 0 for all
    #[arg(long, value_name = "N", requires = "profile", default_value_t = 30)]
    limit: usize,
    /// With --profile: the time between two events, as in `irq_handler_entry,irq/irq_handler_exit,irq,p`
    #[arg(short = 'H', long = "hook", value_name = "START/END", value_parser = parse_hook)]
    hooks: Vec<Hook>,
}

impl ProfileArgs {
    pub(super) fn layout(&self) -> Layout {
        self.layout
    }
}

pub(super) fn print(run: &ReportRun<'_>, out: &mut impl Write) -> Result<(), Failure> {
    let (args, inputs, sources) = (run.args, run.inputs, run.query.sources());
    let wanted = &args.profile;
    let mut profiles: Vec<Profile> = Vec::new();
    for source in sources {
        let input = &inputs[source.recording];
        let stored: Vec<String> = input.trace.options(OptionId::HOOK).map(|option| option.text()).collect();
        profiles.push(wanted.account.profile(input.formats(), input.trace.abi, &wanted.hooks, &stored)?);
    }
    let profiles = run.analyse(Grouped::by_buffer(profiles))?;
    let by_comm = wanted.account.by_comm;
    if args.tally.json || args.format == Format::Json {
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
        let layout = LayoutArgs { layout: Some(wanted.layout), limit: wanted.limit };
        layout.write(profile, &input.symbols, by_comm, ClockUnit::of(source.in_ticks), out)?;
    }
    Ok(())
}
