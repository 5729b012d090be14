//! Arguments that several commands share.

use super::exit::Failure;
use crate::cli::terminal::note;
use nix::unistd::geteuid;
use rtrace::record::{FileOwner, left_unfinished};
use rtrace::tracefs::{Instance, JOURNAL_DIR, Journal, Tracefs, WriteLog, find_orphans};
use std::path::PathBuf;

/// The tracing directory that a command works on.
#[derive(clap::Args, Clone)]
pub(crate) struct TracefsArgs {
    /// Tracing directory to use, instead of where tracefs is mounted
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    tracefs: Option<PathBuf>,
    /// Directory of the journals of changes
    #[arg(long, value_name = "DIR", hide = true)]
    journal_dir: Option<PathBuf>,
}

impl TracefsArgs {
    /// Opens the tracing directory, mounting it if need be, and says so if a killed rtrace left something changed.
    pub(crate) fn open(&self) -> Result<Tracefs, Failure> {
        let tracefs = self.open_quietly()?;
        // A user who may not read the journals may not undo them either.
        let found = find_orphans(&self.journal_dir());
        for error in &found.unusable {
            note!("rtrace: {error}");
        }
        let mut orphans = found.orphans.iter().filter(|orphan| orphan.tracefs() == tracefs.root());
        if let Some(orphan) = orphans.next() {
            let mend = match left_unfinished(orphan) {
                Some(recording) => format!("`rtrace recover {}` finishes its recording and", recording.path),
                None => "`rtrace reset --stale`".to_owned(),
            };
            let more = match orphans.count() {
                0 => String::new(),
                count => format!("; so were {count} more, which `rtrace doctor` names"),
            };
            note!(
                "rtrace: `{}` (process {}) was killed and left tracing changed; {mend} puts it back{more}",
                orphan.command(),
                orphan.pid()
            );
        }
        Ok(tracefs)
    }

    /// The same without a word about orphans: for the command that looks after them.
    pub(crate) fn open_quietly(&self) -> Result<Tracefs, Failure> {
        Ok(self.find()?)
    }

    /// Opens it to read the events' formats: the directory that is named may be a copy of them.
    pub(crate) fn open_formats(&self) -> Result<Tracefs, Failure> {
        match &self.tracefs {
            Some(path) => Ok(Tracefs::formats_at(path)?),
            None => self.open(),
        }
    }

    /// Opens the tracing directory, mounting it if need be.
    ///
    /// # Errors
    /// Errors of [`Tracefs::at`] and [`Tracefs::discover`].
    pub(crate) fn find(&self) -> Result<Tracefs, rtrace::tracefs::Error> {
        match &self.tracefs {
            Some(path) => Tracefs::at(path),
            None => Tracefs::discover(),
        }
    }

    /// Directory of the journals.
    ///
    /// Users other than root have no place in /run but their own directory, which the login session makes.
    pub(crate) fn journal_dir(&self) -> PathBuf {
        let own = || {
            let user = geteuid();
            let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
            let session =
                session.or_else(|| Some(PathBuf::from(format!("/run/user/{user}"))).filter(|dir| dir.is_dir()));
            session.filter(|_| !user.is_root()).map(|dir| dir.join("rtrace"))
        };
        self.journal_dir.clone().or_else(own).unwrap_or_else(|| JOURNAL_DIR.into())
    }

    /// A journal for changes that are meant to last, or cannot be undone; `verbose` shows each write on stderr.
    pub(crate) fn changes(&self, tracefs: &Tracefs, verbose: bool) -> Journal {
        let journal = Journal::in_memory(tracefs);
        if verbose { journal.verbose(to_stderr()) } else { journal }
    }

    /// A journal for changes by this command; `verbose` shows each write on stderr.
    pub(crate) fn journal(&self, tracefs: &Tracefs, verbose: bool) -> Journal {
        let command: Vec<String> = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let journal = Journal::on_disk(tracefs, self.journal_dir(), command.join(" "));
        if verbose { journal.verbose(to_stderr()) } else { journal }
    }
}

/// The caller of sudo, to whom root's recordings are given: SUDO_UID and SUDO_GID.
pub(crate) fn sudo_caller() -> Option<FileOwner> {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    let (uid, gid) = (number("SUDO_UID")?, number("SUDO_GID")?);
    (geteuid().is_root() && uid != 0).then_some(FileOwner { uid, gid })
}

/// A command that changes tracefs.
#[derive(clap::Args)]
pub(crate) struct WriteArgs {
    /// Show each write to tracefs as a shell line
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

impl WriteArgs {
    /// Opens the tracing directory.
    pub(crate) fn open(&self) -> Result<Tracefs, Failure> {
        self.tracefs.open()
    }

    /// Opens it to read the events' formats only: [`TracefsArgs::open_formats`].
    pub(crate) fn open_formats(&self) -> Result<Tracefs, Failure> {
        self.tracefs.open_formats()
    }

    /// A journal for changes by this command, to be undone also if it is killed.
    pub(crate) fn journal(&self, tracefs: &Tracefs) -> Journal {
        self.tracefs.journal(tracefs, self.verbose)
    }

    /// A journal for changes that are meant to last, or cannot be undone.
    pub(crate) fn changes(&self, tracefs: &Tracefs) -> Journal {
        self.tracefs.changes(tracefs, self.verbose)
    }
}

/// A command that lists something of the tracing directory.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// One JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

impl ListArgs {
    /// Opens the tracing directory.
    pub(crate) fn open(&self) -> Result<Tracefs, Failure> {
        self.tracefs.open()
    }
}

/// Shows writes on stderr.
pub(crate) fn to_stderr() -> WriteLog {
    Box::new(|line| note!("{line}"))
}

/// The instance that a command works on.
#[derive(clap::Args)]
pub(crate) struct InstanceArg {
    /// Instance to use, instead of the top level
    #[arg(short = 'B', long = "instance", value_name = "NAME")]
    instance: Option<String>,
}

impl InstanceArg {
    /// The instance, which must exist.
    pub(crate) fn open(&self, tracefs: &Tracefs) -> Result<Instance, Failure> {
        Ok(match &self.instance {
            Some(name) => tracefs.instance(name)?,
            None => tracefs.top(),
        })
    }
}

/// The instances that a command works on.
#[derive(clap::Args)]
pub(crate) struct InstancesArgs {
    /// Instance to use, instead of the top level; may be given more than once
    #[arg(short = 'B', long = "instance", value_name = "NAME")]
    instances: Vec<String>,
    /// Every instance
    #[arg(short, long)]
    all: bool,
    /// The top level too, beside -B or -a
    #[arg(short, long)]
    top: bool,
}

impl InstancesArgs {
    /// True if all instances are meant.
    pub(crate) fn are_all(&self) -> bool {
        self.all
    }

    /// The instances, which must exist; the top level first.
    pub(crate) fn open(&self, tracefs: &Tracefs) -> Result<Vec<Instance>, Failure> {
        let mut names = self.instances.clone();
        if self.all {
            names.extend(tracefs.instances()?);
            names.sort();
            names.dedup();
        }
        let top = (self.top || (names.is_empty() && !self.all)).then(|| tracefs.top());
        let mut instances: Vec<Instance> = top.into_iter().collect();
        for name in &names {
            instances.push(tracefs.instance(name)?);
        }
        Ok(instances)
    }
}

/// `the top level`, `instance foo`.
pub(crate) fn called(instance: &Instance) -> String {
    instance.name().map_or_else(|| "the top level".to_owned(), |name| format!("instance {name}"))
}
