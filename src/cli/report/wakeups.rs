//! Additions of `-w` and `--boundary` to the lines.

use super::run::ReportRun;
use crate::cli::query::QueryInput;
use rtrace::analysis::{Analysis, WakeupLatencies, Wakeups};
use rtrace::event::Lost;
use rtrace::recording::Current;

/// Looks at each event that is shown, and adds to its lines.
pub(super) struct Extras<'a> {
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
    pub(super) fn new(run: &ReportRun<'a>, labels: &[Vec<u8>]) -> Self {
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
    pub(super) fn see(&mut self, current: &Current<'_>) {
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
    pub(super) fn add(&mut self, start: usize, lines: &mut Vec<u8>) {
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
    pub(super) fn text(&self) -> String {
        self.wakeups.iter().map(|(_, latencies)| latencies.text()).collect()
    }
}
