//! A recorder as a service: what it says to the service manager and to node_exporter, and a changed configuration.

use crate::cli::exit::Failure;
use crate::cli::terminal::note;
use nix::time::{ClockId, clock_gettime};
use rtrace::internal::safe_file;
use rtrace::record::{Live, Save};
use std::env::{args_os, current_exe, var_os};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Interval between two files of metrics.
const METRICS_EVERY: Duration = Duration::from_secs(10);

/// Refuses a wrong configuration.
pub(super) type ConfigCheck = fn(&Path) -> Result<(), Failure>;

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
    pub(super) fn started(&mut self) {
        self.write(None);
        notify("READY=1\nSTATUS=recording");
    }

    /// Interval of [`Service::live`].
    pub(super) fn live_every(&self) -> Option<Duration> {
        self.metrics.as_ref().map(|_| METRICS_EVERY)
    }

    pub(super) fn live(&mut self, live: &Live) {
        if self.written.is_none_or(|written| written.elapsed() >= METRICS_EVERY) {
            self.write(Some(live));
        }
    }

    pub(super) fn saved(&mut self, save: &Save) {
        self.saves += 1;
        self.failed_saves += u64::from(save.error.is_some());
        let last = self.last.clone();
        self.write(last.as_ref());
    }

    /// SIGHUP came; true if the recording is to end for a new configuration. One that is wrong is said, and the old one
    /// goes on.
    pub(super) fn hangup(&mut self) -> bool {
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
