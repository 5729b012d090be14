//! Progress while recording: one line on a terminal, nothing elsewhere.

use super::daemon::Daemon;
use crate::cli::terminal::{Line, note};
use rtrace::record::{Live, Observer};
use rtrace::units::ByteSize;
use std::time::Duration;

/// Standard error, with or without a line that changes.
pub(crate) struct Screen {
    quiet: bool,
    line: Option<Line>,
    last: Option<Live>,
    daemon: Option<Daemon>,
}

const EVERY: Duration = Duration::from_millis(250);

impl Screen {
    /// A line only if stderr is a terminal; with `quiet` not even warnings.
    /// A process in the background says to its parent when recording runs.
    pub(crate) fn new(quiet: bool, daemon: Option<Daemon>) -> Self {
        let line = if quiet || daemon.is_some() { None } else { Line::new() };
        Screen { quiet, line, last: None, daemon }
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if let Some(line) = &mut self.line {
            line.clear();
        }
    }

    fn say(&self, text: &str) {
        match &self.line {
            Some(line) => line.say(text),
            None => note!("{text}"),
        }
    }
}

impl Observer for Screen {
    fn warn(&mut self, text: &str) {
        if !self.quiet {
            self.say(&format!("rtrace: warning: {text}"));
        }
    }

    fn started(&mut self, buffers: &[(String, Option<u64>)]) {
        if let Some(daemon) = &mut self.daemon {
            daemon.running();
        }
        let Some(line) = &mut self.line else { return };
        let sizes: Vec<String> = buffers
            .iter()
            .map(|(name, kib)| {
                let size = kib.map_or("various sizes".to_owned(), |kib| ByteSize(kib << 10).to_string());
                if name.is_empty() { size } else { format!("{name}: {size}") }
            })
            .collect();
        line.set(&format!("recording (ring buffer per CPU: {})", sizes.join(", ")));
    }

    fn live_every(&self) -> Option<Duration> {
        self.line.as_ref().map(|_| EVERY)
    }

    fn live(&mut self, live: &Live) {
        let Some(line) = &mut self.line else { return };
        let (time, raw) = self.last.map_or((Duration::ZERO, 0), |last| (last.elapsed, last.raw));
        let passed = live.elapsed.saturating_sub(time).as_secs_f64().max(0.001);
        let rate = (live.raw.saturating_sub(raw) as f64 / passed) as u64;
        line.set(&format!(
            "recording {:.1} s, {}/s, {} lost, file {}",
            live.elapsed.as_secs_f64(),
            ByteSize(rate),
            live.lost,
            ByteSize(live.written),
        ));
        self.last = Some(*live);
    }
}
