//! `rtrace analyze`.

mod all;
mod answers;
mod distribution;
mod errno;
mod faults;
mod functions;
mod io;
pub(super) mod irq;
mod locks;
mod memory;
mod noise;
mod osnoise;
mod place;
mod sched;
pub(super) mod symbol;
mod syscalls;
pub(super) mod table;
mod tasks;
mod timerlat;
pub(super) mod unit;
pub(super) mod words;

use super::exit::{Exit, Failure};
use super::query::{self, QueryEvents, WindowArgs};
use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Say where time went in a recording
///
/// Each analysis is defined in `rtrace help analyses`: which event begins and ends each interval, what counts at the edges of
/// the recording, and what lost events do.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace record --for sched -- make; rtrace analyze sched
  rtrace record --for sched,irq,syscalls,io -- make; rtrace analyze all --top 5
  rtrace analyze sched run.dat --since -1s --top 5
  rtrace analyze sched run.dat --timehist --comm make
  rtrace record --for irq -- sleep 5; rtrace analyze irq --kind softirq,work
  rtrace record --for syscalls -- ls; rtrace analyze syscalls --sort errors
  rtrace record --for functions -g vfs_read -- cat /etc/passwd; rtrace analyze functions
  rtrace record --for locks,memory,faults -- make; rtrace analyze all
  rtrace record --for timerlat -- sleep 10; rtrace analyze timerlat --beyond 50us
  rtrace analyze sched run.dat --json | jq '.buffers[0].waits.p99'")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    All(all::Args),
    Faults(faults::Args),
    Functions(functions::Args),
    Io(io::Args),
    Irq(irq::Args),
    Locks(locks::Args),
    Memory(memory::Args),
    Osnoise(osnoise::Args),
    Sched(sched::Args),
    Syscalls(syscalls::Args),
    Timerlat(timerlat::Args),
}

/// The events that an analysis reads.
#[derive(clap::Args, Clone, Default)]
pub(super) struct FileArgs {
    /// Recording to read [default: trace.dat]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// Recording to read
    #[arg(short, long, value_name = "FILE", conflicts_with = "file", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
    #[command(flatten)]
    window: WindowArgs,
    /// Number of threads; the output is the same for any number [default: one per CPU]
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
}

impl FileArgs {
    /// All events of the recording at `path`.
    pub(super) fn of(path: &Path) -> Self {
        FileArgs { file: Some(path.to_owned()), ..FileArgs::default() }
    }

    /// Some events of the recording at `path`.
    pub(super) fn of_part(path: &Path, window: &WindowArgs, threads: Option<NonZero<usize>>) -> Self {
        FileArgs { file: Some(path.to_owned()), input: None, window: window.clone(), threads }
    }

    /// The recording, if one is named.
    pub(super) fn named(&self) -> Option<&Path> {
        self.input.as_deref().or(self.file.as_deref())
    }

    /// Names it.
    pub(super) fn name(&mut self, path: PathBuf) {
        self.file = Some(path);
    }

    /// The path of the recording.
    pub(super) fn path(&self) -> &Path {
        self.named().unwrap_or(Path::new("trace.dat"))
    }

    /// True if the whole of it is asked for.
    pub(super) fn is_whole(&self) -> bool {
        self.window.to_text().is_empty()
    }

    /// Opens the recording and has `print` write what it makes of the events.
    fn print(
        &self,
        print: impl FnOnce(&QueryEvents<'_>, &mut dyn Write) -> Result<(), Failure>,
    ) -> Result<Exit, Failure> {
        self.answer(|events, out| print(events, out).map(|()| Exit::Success))
    }

    /// The same of an answer with an exit code of its own, which counts more than that of damage.
    pub(super) fn answer(
        &self,
        answer: impl FnOnce(&QueryEvents<'_>, &mut dyn Write) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        query::answer(self.path(), &self.window, self.threads, answer)
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.what {
        What::All(args) => all::run(args),
        What::Faults(args) => faults::run(args),
        What::Functions(args) => functions::run(args),
        What::Io(args) => io::run(args),
        What::Irq(args) => irq::run(args),
        What::Locks(args) => locks::run(args),
        What::Memory(args) => memory::run(args),
        What::Osnoise(args) => osnoise::run(args),
        What::Sched(args) => sched::run(args),
        What::Syscalls(args) => syscalls::run(args),
        What::Timerlat(args) => timerlat::run(args),
    }
}
