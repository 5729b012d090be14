//! The options of `record` that are about how it records, not what.

use super::super::exit::{Exit, Failure};
use rtrace::record::{COMMAND_PID, Plan, User, UserError, dry_run};
use rtrace::tracefs::{DryRun, Journal, Tracefs};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// How to record.
#[derive(clap::Args)]
pub(crate) struct More {
    /// Run CMD as this user, with its groups, HOME, USER and LOGNAME
    #[arg(long, value_name = "NAME", requires = "command")]
    user: Option<String>,
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
    /// Print every write to tracefs in order, as lines of shell, and do none of them
    #[arg(long, conflicts_with = "verbose")]
    pub(super) dry_run: bool,
    /// Taken for trace-cmd's sake: readers sleep until the kernel wakes them
    #[arg(short = 's', long = "sleep", value_name = "MICROSECONDS", hide = true)]
    _sleep: Option<u64>,
    /// Taken for trace-cmd's sake: readers sleep until the kernel wakes them
    #[arg(long = "poll", hide = true)]
    _poll: bool,
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

impl More {
    pub(super) fn keeps(&self) -> bool {
        self.keep || self.keep_all
    }

    pub(super) fn user(&self) -> Result<Option<User>, UserError> {
        self.user.as_deref().map(User::find).transpose()
    }

    /// The variables a command of another user is given.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        if self.user.is_some() { std::env::vars_os().collect() } else { Vec::new() }
    }
}

/// `--dry-run`: the writes on stdout.
pub(super) fn show_writes(plan: &Plan, tracefs: &Tracefs) -> Result<Exit, Failure> {
    let dry = Tracefs::with_files(tracefs.root(), Arc::new(DryRun::default()))?;
    let pid = COMMAND_PID.to_string();
    let show = move |line: &str| drop(writeln!(std::io::stdout(), "{}", line.replace(&pid, "$PID_OF_CMD")));
    let between = || match &plan.command {
        Some(words) => {
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            drop(writeln!(std::io::stdout(), "# {}", words.join(" ")));
        }
        None => drop(writeln!(std::io::stdout(), "# until Ctrl-C")),
    };
    let journal = Journal::in_memory(&dry).verbose(Box::new(show));
    dry_run(plan, journal, between).map_err(|error| super::failure(error, |exit| exit))?;
    Ok(Exit::Success)
}
