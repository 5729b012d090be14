//! `--count` and `--summary`.

use super::{Format, Input, Run};
use crate::cli::exit::Failure;
use rtrace::export::{Count, Summary, SummaryBuffer};
use rtrace::recording::Source;
use std::io::Write;

/// Numbers instead of events.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct TallyArgs {
    /// Print the number of each event, instead of the events
    #[arg(long, conflicts_with = "summary")]
    count: bool,
    /// Print the numbers of events by kind, CPU and task, instead of the events
    #[arg(long)]
    summary: bool,
    /// Number of the busiest tasks that --summary shows [default: 20]
    #[arg(long, value_name = "N", requires = "summary")]
    top_tasks: Option<usize>,
    /// JSON: --count, --summary or --profile as one object, events as --format json
    #[arg(long)]
    pub(super) json: bool,
}

impl TallyArgs {
    pub(super) fn any(self) -> bool {
        self.count || self.summary
    }
}

/// Counts the events and prints the numbers.
pub(super) fn print(run: &Run<'_>, out: &mut (impl Write + Send)) -> Result<(), Failure> {
    let (args, inputs) = (run.args.tally, run.inputs);
    let as_json = args.json || run.args.format == Format::Json;
    let labels: Vec<String> = inputs.iter().map(Input::label).collect();
    let buffer = |source: &Source| {
        let input = &inputs[source.recording];
        let name = input.trace.buffers[source.buffer].name.as_str();
        SummaryBuffer {
            recording: source.recording,
            abi: input.trace.abi,
            formats: input.formats().collect(),
            comms: &input.symbols.comms,
            source: (inputs.len() > 1).then_some(labels[source.recording].as_str()),
            buffer: (!name.is_empty()).then_some(name),
            in_ticks: source.in_ticks,
        }
    };
    let buffers = run.query.sources().iter().map(buffer).collect();
    match args.count {
        true => run.export(&Count::new(buffers, as_json), out).map(drop),
        false => run.export(&Summary::new(buffers, args.top_tasks.unwrap_or(20), as_json), out).map(drop),
    }
}
