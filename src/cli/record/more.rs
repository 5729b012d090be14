//! The options of `record` that are about how it records, not what.

use super::super::exit::{Exit, Failure};
use super::daemon;
use crate::cli::record_error::failure;
use crate::cli::terminal::{note, stdout};
use rtrace::record::{BootForm, COMMAND_PID, OWN_PID, Plan, dry_run, from_boot};
use rtrace::tracefs::{DryRun, Journal, Tracefs};
use rtrace::units::ByteSize;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of the recorder.
#[derive(clap::Args)]
pub(crate) struct RecorderArgs {
    /// Store a number to be added to every time stamp
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "date")]
    pub(super) ts_offset: Option<i64>,
    /// Leave tracing set up (but off) afterwards; records at the top level
    #[arg(short = 'k', long)]
    keep: bool,
    /// As -k; trace-cmd also needs it to keep what was set before, which rtrace always does
    #[arg(short = 'K', long)]
    keep_all: bool,
    /// Read the ring buffers instead of splicing them
    #[arg(long)]
    pub(super) nosplice: bool,
    /// Print the tracefs writes as shell commands without performing them
    #[arg(long, conflicts_with = "verbose")]
    pub(super) dry_run: bool,
    /// With --dry-run: print what traces the same from boot on, as `rtrace extract` then takes it out of the ring
    ///
    /// cmdline: parameters for the kernel's command line, at the top level, without filters. bootconfig: a file for
    /// `bootconfig -a FILE INITRD` (kernels with CONFIG_BOOTTIME_TRACING; boot with the parameter `bootconfig`).
    #[arg(long = "as", value_name = "FORM", requires = "dry_run")]
    pub(super) boot_form: Option<BootFormArg>,
    /// Keep only the newest events of each CPU: SIZE on the disk for each (KiB, or with K, M, G)
    #[arg(short = 'm', long = "max-per-cpu", value_name = "SIZE", value_parser = kib,
          conflicts_with_all = ["ring", "max_size"])]
    pub(super) max_per_cpu: Option<ByteSize>,
    /// Poll the ring buffers instead of sleeping until woken: fewer interrupts on the traced CPUs, more work on the others
    #[arg(long, conflicts_with = "nosplice")]
    poll: bool,
    /// With --poll: look so often; without it readers sleep until the kernel wakes them
    #[arg(short = 's', long, value_name = "MICROSECONDS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    sleep: u64,
    /// Store the memory maps of CMD or the -P processes and all that they start, else of all processes
    #[arg(long)]
    pub(super) proc_map: bool,
    /// Store the factor that converts x86-tsc timestamps to ns (-C tsc2nsec also selects that clock)
    #[arg(long)]
    pub(super) tsc2nsec: bool,
    /// File format: 7, or 6 for older tools (uncompressed; briefly needs twice the disk space)
    ///
    /// With -N: of the file that trace-cmd's listener writes. There it is 6, which all of them know; 7 has the codec of --compression.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(u8).range(6..=7))]
    pub(super) file_version: Option<u8>,
    /// Return as soon as recording runs, and record in the background
    ///
    /// It ends by a signal, or with CMD. Standard output and standard error of the caller are let go of: what it says from then
    /// on goes to a file (`2>log`) or nowhere.
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) daemonize: bool,
    /// With --daemonize: file to write the recorder's PID to
    #[arg(long, value_name = "FILE", default_value = daemon::PID_FILE, requires = "daemonize")]
    pub(super) pid_file: PathBuf,
    /// End a recording that runs in the background, and wait until its file is complete
    ///
    /// By the recorder's PID, the file that --pid-file wrote it to, or the file that is being recorded.
    #[arg(long, value_name = "PID|FILE", value_hint = clap::ValueHint::FilePath, exclusive = true)]
    pub(super) stop: Option<String>,
    /// Take all options from FILE, in TOML, under their long names; SIGHUP reads it again
    ///
    /// A recording that was killed and left FILE's output unfinished is recovered first. At SIGHUP a new configuration ends the
    /// recording and begins the next; a wrong one is refused, and the recording goes on.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) config: Option<PathBuf>,
    /// With --config: only say whether FILE is sound
    #[arg(long, requires = "config")]
    pub(super) check: bool,
    /// Write what is counted to FILE every 10 s, as node_exporter's textfile collector reads it; it goes with the recorder
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, value_parser = file_of_metrics)]
    pub(super) metrics: Option<PathBuf>,
    /// The process that --daemonize starts
    #[arg(long, hide = true)]
    pub(super) daemonized: bool,
    /// Taken for trace-cmd's sake: what rtrace itself says always goes to stderr
    #[arg(long = "stderr", hide = true)]
    _stderr: bool,
    /// Taken for trace-cmd's sake: there are no temporary files, the spools become the file
    #[arg(long = "temp", value_name = "DIR", hide = true)]
    _temp: Option<PathBuf>,
    /// Taken for trace-cmd's sake
    #[arg(long = "debug", hide = true)]
    _debug: bool,
}

/// A size in KiB unless it has a unit.
/// The file of `--metrics`: nothing listens, so an address is no name for it.
fn file_of_metrics(text: &str) -> Result<PathBuf, String> {
    let is_address =
        text.rsplit_once(':').is_some_and(|(host, port)| !host.contains('/') && port.parse::<u16>().is_ok());
    match is_address {
        true => Err("it is a file for node_exporter's textfile collector, as /var/lib/node_exporter/rtrace.prom; nothing listens at an address".to_owned()),
        false => Ok(text.into()),
    }
}

fn kib(text: &str) -> Result<ByteSize, String> {
    ByteSize::parse_with_unit(text, 1024).map_err(|error| error.to_string())
}

impl RecorderArgs {
    pub(super) fn keeps(&self) -> bool {
        self.keep || self.keep_all
    }

    pub(super) fn poll_every(&self) -> Option<Duration> {
        self.poll.then_some(Duration::from_micros(self.sleep))
    }
}

/// The form of what a kernel reads at its boot.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum BootFormArg {
    Cmdline,
    Bootconfig,
}

/// `--dry-run`: the writes on stdout, or with `--as` what a kernel reads at its boot.
pub(super) fn show_writes(plan: &Plan, tracefs: &Tracefs, form: Option<BootFormArg>) -> Result<Exit, Failure> {
    if let Some(form) = form {
        let form = match form {
            BootFormArg::Cmdline => BootForm::CommandLine,
            BootFormArg::Bootconfig => BootForm::BootConfig,
        };
        let (text, warnings) = from_boot(plan, tracefs, form).map_err(|error| failure(error, |exit| exit))?;
        warnings.iter().for_each(|warning| note!("rtrace: warning: {warning}"));
        stdout().write_all(text.as_bytes())?;
        return Ok(Exit::Success);
    }
    let dry = Tracefs::with_files(tracefs.root(), Arc::new(DryRun::default()))?;
    let (command, own) = (COMMAND_PID.to_string(), OWN_PID.to_string());
    let show = move |line: &str| {
        let line = line.replace(&command, "$PID_OF_CMD").replace(&own, "$PIDS_OF_RTRACE");
        // The numbers may stand among others, in single quotes, where a shell would leave the names as they are.
        let line = if line.contains("$PID") { line.replace('\'', "\"") } else { line };
        drop(writeln!(stdout(), "{line}"));
    };
    let between = || match &plan.command {
        Some(words) => {
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            drop(writeln!(stdout(), "# {}", words.join(" ")));
        }
        None => match plan.duration {
            Some(time) => drop(writeln!(stdout(), "# for {time:?}, or until Ctrl-C")),
            None => drop(writeln!(stdout(), "# until Ctrl-C")),
        },
    };
    let journal = Journal::in_memory(&dry).verbose(Box::new(show));
    dry_run(plan, journal, between).map_err(|error| failure(error, |exit| exit))?;
    Ok(Exit::Success)
}
