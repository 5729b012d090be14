//! Arguments of `rtrace osnoise` and `rtrace timerlat`.

use crate::cli::args::{TracefsArgs, sudo_caller};
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::{Given, Moot};
use crate::cli::record_error::failure;
use crate::cli::terminal::note;
use crate::cli::traced::micros;
use anyhow::anyhow;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rtrace::filter::{CpuList, CpuListError};
use rtrace::record::{Compression, Ring, extract};
use rtrace::tracefs::Instance;
use rtrace::units::parse_duration;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Measure how late timers and the threads that they wake are, and show it while it is measured
///
/// The kernel's tracer timerlat has a timer and a thread on each CPU. The table has the latencies of interrupt, thread and, with
/// --user-threads, user space, and what interfered. Beyond --stop the kernel stops tracing, and the late sample is taken apart;
/// the exit code is 3 then. `rtrace help analyses` defines each number.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace timerlat --duration 10s
  rtrace timerlat --stop 100us --save late.dat   the events before it: rtrace report late.dat
  rtrace timerlat --stop 50us --continue --run 'logger late' -- make -j8
  rtrace timerlat -q --json --duration 1m --stop 200us || exit 1")]
pub(crate) struct TimerlatArgs {
    /// One timer per CPU each TIME, 100 us to 1 s (microseconds, or with us, ms, s)
    #[arg(short, long, value_name = "TIME", value_parser = micros)]
    pub(super) period: Option<u64>,
    /// Stop if a thread is TIME late or later
    #[arg(short, long, value_name = "TIME", value_parser = micros)]
    pub(super) stop: Option<u64>,
    /// Stop if an interrupt is TIME late or later
    #[arg(long, value_name = "TIME", value_parser = micros)]
    pub(super) stop_irq: Option<u64>,
    /// Record the stack at the interrupt if the thread is later than TIME [default: that of --stop]
    #[arg(long, value_name = "TIME", value_parser = micros)]
    pub(super) stack: Option<u64>,
    /// Measure threads of user space instead of the kernel's (since Linux 6.5)
    #[arg(short, long)]
    pub(super) user_threads: bool,
    #[command(flatten)]
    pub(super) run: NoiseRunArgs,
}

/// Measure how much time the operating system takes from a CPU, and show it while it is measured
///
/// The kernel's tracer osnoise has a thread on each CPU that reads the clock all the time. The table has the time available, noises
/// and their causes. Beyond --stop the kernel stops tracing, and the noise is explained; the exit code is 3 then.
/// `rtrace help analyses` defines each number.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace osnoise --duration 10s
  rtrace osnoise --cpus 2-3 --period 1s --runtime 900ms
  rtrace osnoise --stop 50us --save noise.dat   the events before it: rtrace report noise.dat")]
pub(crate) struct OsnoiseArgs {
    /// One period each TIME (microseconds, or with us, ms, s)
    #[arg(short, long, value_name = "TIME", value_parser = micros)]
    pub(super) period: Option<u64>,
    /// Measure for TIME of each period
    #[arg(short, long, value_name = "TIME", value_parser = micros)]
    pub(super) runtime: Option<u64>,
    /// Count gaps between two readings of the clock that are longer than TIME as noise [default: 1us]
    #[arg(long, value_name = "TIME", value_parser = micros)]
    pub(super) threshold: Option<u64>,
    /// Stop if a single noise is longer than TIME
    #[arg(short, long, value_name = "TIME", value_parser = micros)]
    pub(super) stop: Option<u64>,
    /// Stop if the noise of a period is more than TIME
    #[arg(long, value_name = "TIME", value_parser = micros)]
    pub(super) stop_total: Option<u64>,
    #[command(flatten)]
    pub(super) run: NoiseRunArgs,
}

/// Arguments of both.
#[derive(clap::Args)]
pub(super) struct NoiseRunArgs {
    /// Measure these CPUs only, as in 0-3,7
    #[arg(short, long, value_name = "CPUS", value_parser = |text: &str| text.parse::<CpuList>().map_err(|e: CpuListError| e.to_string()))]
    pub(super) cpus: Option<CpuList>,
    /// End after TIME (seconds, or with ms, m, h); CMD goes on
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(super) duration: Option<Duration>,
    #[command(flatten)]
    pub(super) reaction: ReactionArgs,
    /// Time between two tables on a terminal
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1s")]
    pub(super) interval: Duration,
    /// Rows of interferences; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(super) top: usize,
    /// No tables while it is measured
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// One JSON document at the end instead of text
    #[arg(long)]
    pub(super) json: bool,
    /// Show each write to tracefs as a line of shell
    #[arg(long)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) tracefs: TracefsArgs,
    /// Command to run meanwhile, and its arguments; without one, until Ctrl-C or --duration
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

/// A thread of user space that timerlat measures: asked for by `rtrace timerlat --user-threads`
#[derive(clap::Args)]
pub(crate) struct ReaderArgs {
    /// The CPU
    pub(super) cpu: usize,
    /// Its `timerlat_fd`
    pub(super) file: std::path::PathBuf,
}

// The reaction to a threshold that was hit.

/// Actions at the threshold, done in this order.
#[derive(clap::Args)]
pub(super) struct ReactionArgs {
    #[command(flatten)]
    given: Given,
    /// At the threshold: save what the kernel recorded before it to FILE (with --continue also FILE.2, FILE.3, ...)
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) save: Option<PathBuf>,
    /// At the threshold: send a signal to a process, as in USR1:1234
    #[arg(long, value_name = "SIGNAL:PID", value_parser = signal)]
    signal: Option<(Signal, Pid)>,
    /// At the threshold: run a command with sh(1), and wait for it
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,
    /// After the threshold go on measuring
    #[arg(long = "continue")]
    pub(super) go_on: bool,
}

impl ReactionArgs {
    /// The first option that nothing on the command line is for: `stops` is true if there is a threshold.
    pub(super) fn moot(&self, stops: bool) -> Option<Moot<'static>> {
        let option = self.given.first_of(&["save", "signal", "run", "go_on"]).filter(|_| !stops)?;
        Some(Moot { option, reason: "without a threshold", hint: "`--stop TIME` sets one." })
    }

    /// Does what is asked for, the `number`th time; gives the file that was saved out of `flight`.
    pub(super) fn act(&self, number: u64, flight: Option<&Instance>) -> Result<Option<PathBuf>, Failure> {
        let mut saved = None;
        if let (Some(file), Some(flight)) = (&self.save, flight) {
            let path = numbered(file, number);
            let stored = extract(
                std::slice::from_ref(flight),
                Ring::Live,
                None,
                &path,
                Compression::default(),
                None,
                sudo_caller(),
            );
            let stored = stored.map_err(|error| failure(error, |exit| exit))?;
            if let Some(failed) = stored.failures.first() {
                return Err(Failure::new(Exit::Incomplete, anyhow!("{}: {failed}", path.display())));
            }
            saved = Some(path);
        }
        if let Some((signal, pid)) = self.signal
            && let Err(error) = kill(pid, signal)
        {
            note!("rtrace: warning: failed to send {signal} to process {pid}: {error}");
        }
        if let Some(command) = &self.run {
            match Command::new("sh").arg("-c").arg(command).status() {
                Ok(status) if status.success() => {}
                Ok(status) => note!("rtrace: warning: `{command}`: {status}"),
                Err(error) => note!("rtrace: warning: failed to run sh: {error}"),
            }
        }
        Ok(saved)
    }
}

/// `late.dat`, `late.dat.2`, `late.dat.3`.
fn numbered(file: &Path, number: u64) -> PathBuf {
    if number <= 1 {
        return file.to_owned();
    }
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// `USR1:1234`, `SIGUSR1:1234`, `10:1234`.
fn signal(text: &str) -> Result<(Signal, Pid), String> {
    let expected = || format!("`{text}` is no signal and process: expected as in `USR1:1234`");
    let (signal, pid) = text.split_once(':').ok_or_else(expected)?;
    let number = signal.parse::<i32>().ok().and_then(|number| Signal::try_from(number).ok());
    let named = || format!("SIG{}", signal.trim_start_matches("SIG")).parse::<Signal>().ok();
    let signal = number.or_else(named).ok_or_else(expected)?;
    let pid = pid.parse::<i32>().ok().filter(|pid| *pid > 0).ok_or_else(expected)?;
    Ok((signal, Pid::from_raw(pid)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_and_processes() {
        for text in ["USR1:1234", "SIGUSR1:1234", "10:1234"] {
            assert_eq!(signal(text), Ok((Signal::SIGUSR1, Pid::from_raw(1234))), "{text}");
        }
        for text in ["USR1", "USR1:0", "USR1:-5", "NONE:1", ":1", "999:1"] {
            assert!(signal(text).is_err(), "{text}");
        }
    }

    #[test]
    fn files_have_numbers_from_the_second_on() {
        assert_eq!(numbered(Path::new("a/late.dat"), 1), Path::new("a/late.dat"));
        assert_eq!(numbered(Path::new("a/late.dat"), 3), Path::new("a/late.dat.3"));
    }
}
