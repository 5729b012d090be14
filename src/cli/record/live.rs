//! Progress while recording: one line on a terminal, nothing elsewhere.

use super::daemon::Daemon;
use crate::cli::exit::Failure;
use crate::cli::terminal::{TerminalLine, note};
use nix::time::{ClockId, clock_gettime};
use rtrace::internal::safe_file;
use rtrace::record::{Live, Observer, Plan, Save};
use rtrace::units::{ByteSize, counted, grouped};
use std::env::{args_os, current_exe, var_os};
use std::fmt::Write as _;
use std::io;
use std::io::Write as _;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

// A recorder as a service: what it says to the service manager and to node_exporter, and a changed configuration.

/// Interval between two files of metrics.
const METRICS_EVERY: Duration = Duration::from_secs(10);

/// Refuses a wrong configuration.
type ConfigCheck = fn(&Path) -> Result<(), Failure>;

/// A service's side of a recording.
#[derive(Debug, Default)]
pub(crate) struct Service {
    /// The configuration, which SIGHUP reads again, and what refuses a wrong one.
    config: Option<(PathBuf, ConfigCheck)>,
    metrics: Option<PathBuf>,
    /// A new configuration is there, and recording ended for it.
    reloads: bool,
    saves: u64,
    failed_saves: u64,
    /// Times that a recorder began where the one before it had left its metrics.
    restarts: u64,
    last: Option<Live>,
    written: Option<Instant>,
}

impl Service {
    pub(super) fn new(config: Option<(&Path, ConfigCheck)>, metrics: Option<&Path>) -> Self {
        let config = config.map(|(path, check)| (path.to_owned(), check));
        let restarts = metrics.and_then(restarts_before).map_or(0, |before| before.saturating_add(1));
        Service { config, metrics: metrics.map(Path::to_owned), restarts, ..Service::default() }
    }

    /// Recording runs.
    fn started(&mut self) {
        self.write(None);
        notify("READY=1\nSTATUS=recording");
    }

    /// Interval of [`Service::live`].
    fn live_every(&self) -> Option<Duration> {
        self.metrics.as_ref().map(|_| METRICS_EVERY)
    }

    fn live(&mut self, live: &Live) {
        if self.written.is_none_or(|written| written.elapsed() >= METRICS_EVERY) {
            self.write(Some(live));
        }
    }

    fn saved(&mut self, save: &Save) {
        self.saves += 1;
        self.failed_saves += u64::from(save.error.is_some());
        let last = self.last.clone();
        self.write(last.as_ref());
    }

    /// SIGHUP came; true if the recording is to end for a new configuration. One that is wrong is said, and the old one
    /// goes on.
    fn hangup(&mut self) -> bool {
        let Some((path, check)) = &self.config else { return true };
        match check(path) {
            Ok(()) => {
                let now = clock_gettime(ClockId::CLOCK_MONOTONIC)
                    .map_or(0, |now| now.tv_sec() * 1_000_000 + now.tv_nsec() / 1000);
                notify(&format!("RELOADING=1\nMONOTONIC_USEC={now}\nSTATUS=reloading"));
                self.reloads = true;
                true
            }
            Err(failure) => {
                let _ = failure.tell();
                note!("rtrace: recording goes on as before");
                notify("STATUS=recording; the new configuration is wrong");
                false
            }
        }
    }

    /// Recording has ended: with a new configuration the program begins again as the same process, which does not return.
    pub(super) fn ended(&mut self) -> Result<(), Failure> {
        if !self.reloads {
            notify("STOPPING=1");
            if let Some(path) = &self.metrics {
                let _ = std::fs::remove_file(path);
            }
            return Ok(());
        }
        let mut words = args_os();
        let name = words.next().unwrap_or_default();
        let error = Command::new(current_exe()?).arg0(name).args(words).exec();
        Err(anyhow::Error::new(error).context("failed to begin again with the new configuration").into())
    }

    /// Writes the metrics beside their file and renames them, so that no half of them is read.
    fn write(&mut self, live: Option<&Live>) {
        (self.last, self.written) = (live.cloned(), live.map(|_| Instant::now()));
        let Some(path) = &self.metrics else { return };
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let write = || -> io::Result<()> {
            // node_exporter is another user.
            safe_file::create(&temporary, 0o644)?.write_all(self.metrics(live).as_bytes())?;
            std::fs::rename(&temporary, path)
        };
        if let Err(error) = write() {
            note!("rtrace: warning: failed to write {}: {error}", path.display());
        }
    }

    fn metrics(&self, live: Option<&Live>) -> String {
        let mut text = String::new();
        let mut put = |name: &str, kind: &str, help: &str, values: &[(&str, u64)]| {
            let _ = writeln!(text, "# HELP rtrace_{name} {help}\n# TYPE rtrace_{name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(text, "rtrace_{name}{labels} {value}");
            }
        };
        let since = live.map_or(Duration::ZERO, |live| live.elapsed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        put(
            "recording_start_time_seconds",
            "gauge",
            "When recording began, since 1970.",
            &[("", now.saturating_sub(since).as_secs())],
        );
        let zero = Live::default();
        let live = live.unwrap_or(&zero);
        put("events_total", "counter", "Events that the ring buffers took.", &[("", live.events)]);
        let [overrun, commit_overrun, dropped] = live.lost_by;
        let lost = [
            ("{reason=\"overrun\"}", overrun),
            ("{reason=\"commit_overrun\"}", commit_overrun),
            ("{reason=\"dropped\"}", dropped),
        ];
        put("lost_events_total", "counter", "Events that the ring buffers lost.", &lost);
        put("raw_bytes_total", "counter", "Bytes taken from the ring buffers.", &[("", live.raw)]);
        put(
            "written_bytes_total",
            "counter",
            "Bytes written, those that were dropped again included.",
            &[("", live.written)],
        );
        put("ring_buffer_bytes", "gauge", "Bytes waiting in the ring buffers.", &[("", live.waiting)]);
        if let Some(capacity) = live.capacity {
            put("ring_buffer_size_bytes", "gauge", "Bytes that the ring buffers hold.", &[("", capacity)]);
        }
        put("saves_total", "counter", "Saves while recording, those that failed included.", &[("", self.saves)]);
        put("failed_saves_total", "counter", "Saves that failed.", &[("", self.failed_saves)]);
        let help = "Times that it began again since it was last stopped: after a crash, or with a new configuration.";
        put(RESTARTS, "counter", help, &[("", self.restarts)]);
        text
    }
}

/// Name of the counter that the next recorder goes on with.
const RESTARTS: &str = "restarts_total";

/// The restarts in a file of metrics that a recorder left; `None` if none did.
fn restarts_before(path: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("rtrace_")?.strip_prefix(RESTARTS));
    lines.find_map(|value| value.trim().parse().ok())
}

/// Tells the service manager (sd_notify(3)), if there is one.
fn notify(state: &str) {
    let Some(path) = var_os("NOTIFY_SOCKET") else { return };
    let tell = || -> io::Result<usize> {
        let address = match path.as_bytes().strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name)?,
            None => SocketAddr::from_pathname(&path)?,
        };
        UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)
    };
    // A manager that cannot be reached is none.
    let _ = tell();
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
