//! Errors of the recorder as failures of a command: exit codes, hints, and the reason of a refusal that the kernel does
//! not give, as of all triggers but filters and hist.

use crate::cli::exit::{Exit, Failure};
use crate::cli::hints::{GivenLine, Misplaced, no_program};
use crate::cli::language;
use clap::error::ErrorKind;
use rtrace::filter::CpuList;
use rtrace::record::{BootForm, CommandError, PlanError, RecordError};
use rtrace::syntax::{Diagnostic, did_you_mean, nearest};
use rtrace::tracefs::{Error, EventName, Tracefs};
use rtrace::trigger::Trigger;
use std::io::ErrorKind as ErrorKindIo;

/// A recording that failed, with its exit code and hints.
pub(crate) fn failure(error: RecordError, own: impl Fn(Exit) -> Exit) -> Failure {
    match error {
        RecordError::Command(error) => no_command(error, own),
        RecordError::Plan(
            PlanError::NoClock { .. }
            | PlanError::NoOption { .. }
            | PlanError::NoDevice { .. }
            | PlanError::NoMonitor { .. },
        ) => setup_failure(error).with_exit(own),
        RecordError::Plan(PlanError::NotFromBoot { form, .. }) => {
            let failure = Failure::new(Exit::Usage, error);
            if form == Some(BootForm::CommandLine) {
                failure.hint("a bootconfig has more: `--as bootconfig`.")
            } else {
                failure
            }
        }
        RecordError::Plan(
            PlanError::NoEvents
            | PlanError::IsOver(..)
            | PlanError::NoTimeToRotate(_)
            | PlanError::NotTsc { .. }
            | PlanError::RingSize { .. }
            | PlanError::PerCpuSize(_)
            | PlanError::StopIf(_)
            | PlanError::TracerSetting { .. }
            | PlanError::SyscallBytes { .. }
            | PlanError::NoUse { .. },
        ) => Failure::new(Exit::Usage, error),
        RecordError::Plan(PlanError::NoGraph) => {
            Failure::new(Exit::Usage, error).hint("`rtrace list -t` shows the tracers of this kernel.")
        }
        RecordError::Plan(ref plan) if is_about_functions(plan) => Failure::new(Exit::Usage, error),
        RecordError::Plan(PlanError::Language { .. }) => setup_failure(error),
        RecordError::Watch(..) => Failure::from(error)
            .with_exit(own)
            .hint("`pidof NAME` finds a process; `rtrace record -F ... -- CMD` starts one."),
        RecordError::Version6 { .. } => Failure::new(Exit::Incomplete, error),
        // By itself, so that its own exit code and hints are found.
        RecordError::Tracefs(error) => Failure::from(error).with_exit(own),
        RecordError::Unfinished { ref path, .. } => {
            let hint = format!("`rtrace recover {}` completes it.", path.display());
            Failure::from(error).with_exit(own).hint(hint)
        }
        RecordError::NotFinished { .. } => Failure::new(Exit::Incomplete, error),
        RecordError::Output { ref path, ref source, .. } => {
            let dir = path.parent().filter(|dir| source.kind() == ErrorKindIo::NotFound && !dir.exists());
            let hint = dir.map(|dir| format!("`mkdir -p {}` makes its directory.", dir.display()));
            let inside = || format!("it is a directory: `-o {}` writes into it.", path.join("trace.dat").display());
            let is_strange = source.kind() == ErrorKindIo::NotFound && hint.is_none();
            let strange =
                || "its directory is there, and no file can be made in it: `-o` names another place.".to_owned();
            let hint = hint.or_else(|| path.is_dir().then(inside)).or_else(|| is_strange.then(strange));
            let failure = Failure::from(error).with_exit(own);
            hint.into_iter().fold(failure, Failure::hint)
        }
        error => Failure::from(error).with_exit(own),
    }
}

/// The answer to a plan of `rtrace COMMAND` that no machine can carry out; for one that traces nothing, what to type. `given`:
/// a sentence on options that stand after CMD.
pub(crate) fn refused(error: &PlanError, command: &str, given: Option<String>) -> clap::Error {
    let mut text = format!("{error}\n");
    let line = GivenLine::of_this();
    let place = match error {
        PlanError::NoEvents => "nothing",
        PlanError::NoParents => "nobody",
        _ => "",
    };
    let hints = line.own().iter().filter_map(|word| Misplaced { command, place, word, line: &line }.hint());
    let hints: Vec<String> = hints.collect();
    let given = given.filter(|_| hints.is_empty() && matches!(error, PlanError::NoEvents));
    hints.into_iter().chain(given).for_each(|hint| text.push_str(&format!("  Hint: {hint}\n")));
    if matches!(error, PlanError::NoEvents) {
        let examples = [
            ("-e sched", "events by name; `rtrace list -e` shows all"),
            ("--for irq", "what an analysis reads: sched, irq, syscalls, io, functions, ..."),
            ("--for offcpu", "where tasks leave their CPU, with call stacks"),
        ];
        text.push('\n');
        for (options, about) in examples {
            let line = format!("rtrace {command} {options} -- CMD");
            text.push_str(&format!("  {line:41}  {about}\n"));
        }
    }
    clap::Error::raw(ErrorKind::MissingRequiredArgument, text)
}

/// An error of setting tracing up, with hints.
pub(crate) fn setup_failure(error: RecordError) -> Failure {
    match error {
        RecordError::Command(error) => no_command(error, |exit| exit),
        RecordError::Tracefs(error) => Failure::from(error),
        RecordError::Plan(PlanError::Language { what, error }) => language::invalid(&what, *error),
        RecordError::Plan(
            PlanError::NoParents
            | PlanError::NoUse { .. }
            | PlanError::TracerSetting { .. }
            | PlanError::SyscallBytes { .. },
        ) => Failure::new(Exit::Usage, error),
        RecordError::Plan(ref plan) if is_about_functions(plan) => Failure::new(Exit::Usage, error),
        RecordError::Plan(PlanError::NoClock { ref name, ref available })
        | RecordError::Plan(PlanError::NoOption { ref name, ref available })
        | RecordError::Plan(PlanError::NoDevice { ref name, ref available })
        | RecordError::Plan(PlanError::NoMonitor { ref name, ref available }) => {
            let near = |name: &str| did_you_mean(name, available.iter().map(String::as_str));
            let lower = name.to_ascii_lowercase();
            let known = |known: &str, _: Option<&str>| {
                let is_one = available.iter().any(|one| one == known) && known != name;
                is_one.then(|| format!("did you mean `{known}`?"))
            };
            let other = Misplaced { command: "*", place: "CLOCK", word: &lower, line: &GivenLine::of_this() };
            let other = other.remedy(&known).map(|remedy| remedy.hint).or_else(|| known(&lower, None));
            let is_option = matches!(error, RecordError::Plan(PlanError::NoOption { .. }));
            let negated = name
                .strip_prefix("no")
                .filter(|_| is_option)
                .and_then(|rest| nearest(rest, available.iter().map(String::as_str)).first().copied());
            let negated = negated.map(|option| format!("did you mean `no{option}`?"));
            let cpus = (!is_option && name.parse::<CpuList>().is_ok())
                .then(|| format!("`--cpu {name}` are CPUs, `-C CLOCK` is the clock."));
            let hint = other.or(cpus).or(negated).or_else(|| near(name));
            let hint = hint.or_else(|| is_option.then(|| "`rtrace list -o` shows all.".to_owned()));
            let failure = Failure::new(Exit::Usage, error);
            match hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
        }
        error => Failure::from(error),
    }
}

/// The failure to run CMD; what was meant, if it was another argument.
fn no_command(error: CommandError, own: impl Fn(Exit) -> Exit) -> Failure {
    let (exit, path) = match &error {
        CommandError::NotFound(path) => (Exit::Command(127), Some(path.clone())),
        CommandError::NotRunnable(path, _) => (Exit::Command(126), Some(path.clone())),
        _ => (own(Exit::Failed), None),
    };
    let hint = path.and_then(|path| no_program(&path.to_string_lossy(), &GivenLine::of_this()));
    let failure = Failure::new(exit, RecordError::Command(error));
    hint.into_iter().fold(failure, Failure::hint)
}

/// True if lists of functions contradict the tracer.
fn is_about_functions(error: &PlanError) -> bool {
    matches!(
        error,
        PlanError::NoFunctionsIn(_)
            | PlanError::NoGraph
            | PlanError::StackInGraph
            | PlanError::StackOfEverything
            | PlanError::FunctionPattern { .. }
    )
}

/// The failure in our words, if `error` is such a refusal and we know its reason.
pub(crate) fn explain(tracefs: &Tracefs, error: &RecordError) -> Option<Failure> {
    let RecordError::Tracefs(refused @ Error::File { file, value: Some(text), kernel: None, .. }) = error else {
        return None;
    };
    let path = file.strip_suffix("/trigger")?.rsplit_once("events/")?.1;
    let wrong = match text.parse::<Trigger>() {
        Err(wrong) => wrong,
        Ok(parsed) => match language::feature_of(&parsed.action).map(|feature| tracefs.require(&feature)) {
            Some(Err(lacking)) => return Some(lacking.into()),
            _ => check(tracefs, &parsed, text, &EventName::parse(path)?)?,
        },
    };
    let failure = Failure::from(anyhow::anyhow!("{refused}: {wrong}"));
    Some(wrong.hints().iter().cloned().fold(failure, Failure::hint))
}

/// Findings of our own checker.
fn check(tracefs: &Tracefs, parsed: &Trigger, text: &str, event: &EventName) -> Option<Diagnostic> {
    let top = tracefs.top();
    let known: Vec<String> = top.events().ok()?.iter().map(EventName::to_string).collect();
    parsed.check(text, &language::format(&top, event).ok()?, &known).err()
}
