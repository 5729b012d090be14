//! The reaction to a threshold that was hit.

use crate::cli::args::sudo_caller;
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::{Given, Moot};
use crate::cli::record_error::failure;
use crate::cli::terminal::note;
use anyhow::anyhow;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rtrace::record::{Compression, Ring, extract};
use rtrace::tracefs::Instance;
use std::path::{Path, PathBuf};
use std::process::Command;

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
