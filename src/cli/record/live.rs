//! Progress while recording: one line on a terminal, nothing elsewhere.

use super::daemon::Daemon;
use super::service::Service;
use crate::cli::exit::Failure;
use crate::cli::terminal::{TerminalLine, note};
use rtrace::record::{Live, Observer, Plan, Save};
use rtrace::units::{ByteSize, counted, grouped};
use std::time::Duration;

/// Standard error, with or without a line that changes.
pub(crate) struct RecordScreen {
    quiet: bool,
    line: Option<TerminalLine>,
    /// The time after which recording ends by itself.
    limit: Option<Duration>,
    last: Option<Live>,
    /// The advice about losses was given.
    advised: bool,
    daemon: Option<Daemon>,
    service: Service,
    /// The recording ends when somebody ends it, and no line shows that.
    endless: bool,
}

const EVERY: Duration = Duration::from_millis(250);

/// A ring buffer that the kernel takes seconds to allocate, and no signal ends that.
const LARGE: ByteSize = ByteSize(1 << 30);

impl RecordScreen {
    /// A line only if stderr is a terminal; with `quiet` not even warnings.
    /// A process in the background says to its parent when recording runs.
    pub(crate) fn new(quiet: bool, limit: Option<Duration>, daemon: Option<Daemon>, service: Service) -> Self {
        let line = if quiet || daemon.is_some() { None } else { TerminalLine::new() };
        RecordScreen { quiet, line, limit, last: None, advised: false, daemon, service, endless: false }
    }

    /// Recording has ended, and all is said: begins again with a new configuration, if there is one.
    pub(super) fn ended(&mut self) -> Result<(), Failure> {
        self.service.ended()
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if let Some(line) = &mut self.line {
            line.clear();
        }
    }

    /// Once it runs, a recording of `plan` that has no end of its own says how it ends, where no line shows it.
    pub(super) fn announce(&mut self, plan: &Plan) {
        let ends = plan.command.is_some() || plan.duration.is_some() || plan.timeout.is_some();
        let shown = self.quiet || self.line.is_some() || self.daemon.is_some();
        self.endless = !ends && !shown && plan.tasks.named().next().is_none();
        let largest = plan.buffers.iter().filter_map(|buffer| buffer.size).max().unwrap_or(ByteSize(0));
        if largest >= LARGE && !self.quiet {
            self.say(&format!("rtrace: allocating ring buffers of {largest} for each CPU"));
        }
    }

    fn say(&self, text: &str) {
        match &self.line {
            Some(line) => line.say(text),
            None => note!("{text}"),
        }
    }
}

impl Observer for RecordScreen {
    fn warn(&mut self, text: &str) {
        if !self.quiet {
            self.say(&format!("rtrace: warning: {text}"));
        }
    }

    fn warn_of_loss(&mut self, text: &str) {
        self.say(&format!("rtrace: warning: {text}"));
    }

    fn saved(&mut self, save: &Save) {
        self.service.saved(save);
        if !self.quiet || save.error.is_some() {
            self.say(&format!("rtrace: {}", save.text()));
        }
    }

    fn hangup(&mut self) -> bool {
        self.service.hangup()
    }

    fn preparing(&mut self, events: usize) {
        if let Some(line) = &mut self.line {
            line.set(&format!("enabling {}", counted(events as u64, "event")));
        }
    }

    fn started(&mut self, buffers: &[(String, Option<u64>)]) {
        if let Some(daemon) = &mut self.daemon {
            daemon.running();
        }
        self.service.started();
        if self.endless {
            note!("rtrace: there is no CMD and no `--duration`: recording until Ctrl-C (SIGINT or SIGTERM)");
        }
        let Some(line) = &mut self.line else { return };
        let sizes: Vec<String> = buffers
            .iter()
            .map(|(name, kib)| {
                let size = kib.map_or("various sizes".to_owned(), |kib| ByteSize(kib << 10).to_string());
                if name.is_empty() { size } else { format!("{name}: {size}") }
            })
            .collect();
        line.set(&format!("recording (ring buffer per CPU: {}); Ctrl-C ends it", sizes.join(", ")));
    }

    fn live_every(&self) -> Option<Duration> {
        self.line.as_ref().map(|_| EVERY).or(self.service.live_every())
    }

    fn live(&mut self, live: &Live) {
        self.service.live(live);
        let Some(line) = &mut self.line else { return };
        line.set(&progress(live, self.last.as_ref(), self.limit));
        if let Some(hint) = live.hint.as_ref().filter(|_| !self.advised) {
            line.say(&format!("rtrace: the ring buffers lose events; next time try `{hint}`, or select fewer events"));
            self.advised = true;
        }
        self.last = Some(live.clone());
    }
}

/// The line. `last` is what the one before showed, `limit` the time after which recording ends.
fn progress(live: &Live, last: Option<&Live>, limit: Option<Duration>) -> String {
    let (time, events) = last.map_or((Duration::ZERO, 0), |last| (last.elapsed, last.events));
    let passed = live.elapsed.saturating_sub(time).as_secs_f64().max(0.001);
    let rate = (live.events.saturating_sub(events) as f64 / passed) as u64;
    let of = limit.map_or(String::new(), |limit| format!(" of {} s", limit.as_secs_f64()));
    format!(
        "{:.1} s{of}: {}, {}/s, {} lost, file {}; Ctrl-C ends it",
        live.elapsed.as_secs_f64(),
        counted(live.events, "event"),
        grouped(rate),
        grouped(live.lost),
        ByteSize(live.written),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_events() {
        let at = |elapsed, events| Live {
            elapsed: Duration::from_millis(elapsed),
            events,
            raw: 1 << 20,
            written: 3 << 10,
            lost: 1200,
            ..Live::default()
        };
        let line = progress(&at(1500, 12_500), Some(&at(1000, 2_500)), Some(Duration::from_secs(6)));
        let expected = "1.5 s of 6 s: 12,500 events, 20,000/s, 1,200 lost, file 3.0 KiB; Ctrl-C ends it";
        assert_eq!(line, expected);
        assert!(progress(&at(250, 1), None, None).starts_with("0.2 s: 1 event, 4/s, "));
    }
}
