//! Errors of the recorder as failures of a command: exit codes, hints, and the reason of a refusal that the kernel does
//! not give, as of all triggers but filters and hist.

use crate::cli::exit::{Exit, Failure};
use crate::cli::language;
use crate::cli::meant_options::{flag_before, meant_number, word_before};
use crate::cli::meant_settings::of_setting;
use clap::error::ErrorKind;
use rtrace::filter::CpuList;
use rtrace::internal::trace_dat::is_recording;
use rtrace::record::{BootForm, CommandError, PlanError, RecordError};
use rtrace::syntax::{Diagnostic, did_you_mean, nearest};
use rtrace::tracefs::{Error, EventName, Tracefs};
use rtrace::trigger::Trigger;
use rtrace::units::parse_duration;
use std::io::ErrorKind as ErrorKindIo;
use std::path::Path;

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
    if let Some(given) = given.filter(|_| matches!(error, PlanError::NoEvents)) {
        text.push_str(&format!("  Hint: {given}\n"));
    }
    let alone = std::env::args().nth(2).filter(|word| !word.starts_with('-') && matches!(error, PlanError::NoEvents));
    if let Some(word) = alone {
        if word.contains('{') {
            text.push_str(
                "  Hint: that is a program of bpftrace's; `rtrace hist EVENT --key common_pid.execname -- CMD` counts by task\n",
            );
        } else if is_recording(Path::new(&word)) {
            text.push_str(&format!(
                "  Hint: {word} is a recording: `rtrace report {word}` prints it, `-o {word}` writes it\n"
            ));
        } else if word.contains(['_', ':']) && !word.contains('/') {
            text.push_str(&format!("  Hint: `{word}` is CMD; an event is `-e {word}`\n"));
        }
    }
    let rate = std::env::args().skip_while(|word| word != "-F").nth(1).filter(|rate| rate.parse::<u64>().is_ok());
    if let Some(rate) = rate.filter(|_| matches!(error, PlanError::NoEvents)) {
        text.push_str(&format!(
            "  Hint: nothing is sampled: `-F` takes no value (only events of CMD), and `{rate}` is CMD; `-e EVENT -R stacktrace` records call stacks at an event\n"
        ));
    }
    let after =
        |flag: &str| std::env::args().skip_while(|word| word != flag).nth(1).filter(|word| !word.starts_with('-'));
    let is_first = std::env::args().nth(2).is_some_and(|word| word == "-i"); // one behind CMD is CMD's own
    if let Some(word) = after("-i").filter(|_| is_first && matches!(error, PlanError::NoEvents)) {
        text.push_str(&format!("  Hint: `-i` takes no value: `{word}` is CMD; events are chosen by `-e EVENT`\n"));
    }
    if let Some(count) = after("-c").filter(|_| matches!(error, PlanError::NoParents) && command == "stream")
        && count.parse::<u64>().is_ok()
    {
        text.push_str(&format!("  Hint: `rtrace stream ... | head -n {count}` ends after so many lines\n"));
    }
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
            let other = match lower.trim_start_matches("clock_") {
                "monotonic" => "mono",
                "monotonic_raw" => "mono_raw",
                "realtime" | "wall" | "utc" => "tai",
                "boottime" => "boot",
                name => name,
            };
            let other = available.iter().find(|known| *known == other && other != name.as_str());
            let other = other.map(|other| format!("did you mean `{other}`?"));
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
    let hint = path.and_then(|path| {
        let name = path.display();
        if is_recording(&path) {
            return Some(format!("it is a recording: `rtrace report {name}` or `rtrace profile --input {name}` reads it."));
        }
        if name.to_string().contains(['<', '>', '=']) && name.to_string().contains('(') {
            return Some(format!("`--assert '{name}'` holds the recording against that."));
        }
        let digits = name.to_string();
        if let Some(flag) = flag_before(&digits).filter(|flag| flag == "--keep") {
            return Some(format!("`{flag}` takes no value.{}", meant_number(&flag, &digits)));
        }
        let unit = if digits.bytes().all(|byte| byte.is_ascii_digit()) { "s" } else { "" };
        let is_given = std::env::args().any(|word| word == "-d" || word.starts_with("--duration"));
        let is_time = flag_before(&digits).is_none_or(|flag| !["-F", "-t", "--top"].contains(&flag.as_str()))
            && !is_given
            && !path.exists()
            && parse_duration(&format!("{digits}{unit}")).is_ok();
        let is_of_output = |file: &String| word_before(file).is_some_and(|word| word == "-o" || word == "--output");
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let is_program = |file: &String| std::env::split_paths(&folders).any(|folder| folder.join(file).is_file());
        let is_new = |file: &String| !file.contains('.');
        if let Some(file) = word_before(&digits).filter(is_of_output).filter(is_program).filter(is_new) {
            return Some(format!("`-o` took `{file}` for its file: `-o FILE -- {file} {digits}`."));
        }
        if is_time {
            return Some(format!("`{name}` is taken for the command, as no option before it takes it; did you mean `--duration {name}{unit}`?"));
        }
        if !path.exists() && path.extension().is_some_and(|ending| ending == "dat") {
            return Some(format!("`{name}` is taken for the command to run; there is no recording of that name either."));
        }
        meant_command(&digits).or_else(|| near_program(&digits))
    });
    let failure = Failure::new(exit, RecordError::Command(error));
    hint.into_iter().fold(failure, Failure::hint)
}

/// The hint on a word that a program is called nearly.
fn near_program(word: &str) -> Option<String> {
    if word.contains('/') || word.len() < 3 {
        return None;
    }
    let folders = std::env::var_os("PATH")?;
    let entries = std::env::split_paths(&folders).filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    did_you_mean(word, names.iter().map(String::as_str))
}

/// The hint on a word that is no program, by the words before it and what it is made of.
fn meant_command(word: &str) -> Option<String> {
    let predicate = word.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    if let Some(predicate) = predicate.filter(|text| text.contains(['=', '<', '>'])) {
        // bpftrace's `pid` is that of the process.
        let (filter, task) = match predicate.split_once("==").map(|(name, value)| (name.trim(), value.trim())) {
            Some(("pid" | "tid", value)) => (format!("common_pid == {value}"), format!(", `-P {value}` a process")),
            _ => (predicate.to_owned(), String::new()),
        };
        return Some(format!("`-f '{filter}'` after the `-e` is a filter{task}; options stand before CMD."));
    }
    if flag_before(word).is_some_and(|flag| flag == "-F") && word.contains(['<', '>', '=', '~']) {
        return Some(format!(
            "`-F` takes no value (it is --follow: only events of CMD); `-f '{word}'` after the `-e` is a filter."
        ));
    }
    if word.contains(['|', ';', '&', '<', '>', '$', '`']) && word.contains(' ') {
        return Some(format!("a shell runs it: `-- sh -c '{}'`.", word.replace('\'', "'\\''")));
    }
    const BUILTINS: [&str; 9] = ["cd", "export", "source", ".", "ulimit", "umask", "set", "eval", "exec"];
    if BUILTINS.contains(&word) {
        return Some(format!("`{word}` is the shell's: `-- sh -c '{word} ...; CMD'`."));
    }
    let steers = std::env::args().nth(1).is_some_and(|verb| verb == "set" || verb == "start");
    if let Some(hint) = of_setting(word).filter(|_| steers && word.contains('=')) {
        return Some(hint);
    }
    if word
        .split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|one| one.is_ascii_alphanumeric() || one == b'_'))
    {
        return Some(format!("`-- env {word} CMD` sets a variable for CMD."));
    }
    if let Some((program, rest)) = word.split_once(' ') {
        return Some(format!("without the quotes `{program}` is run with its arguments: `-- {program} {rest}`."));
    }
    let before = word_before(word);
    let number = before.as_deref().filter(|number| number.parse::<f64>().is_ok());
    if let Some(number) = number
        && let Some(unit) = unit_of(word)
    {
        return Some(format!("a time is one word: `{number}{unit}`."));
    }
    const SIZES: [&str; 6] = ["K", "KB", "M", "MB", "G", "GB"];
    if let Some(number) = number.filter(|_| SIZES.contains(&word.to_uppercase().as_str())) {
        return Some(format!("a size is one word: `{number}{word}`."));
    }
    if word == "if" {
        let trigger = before.unwrap_or_else(|| "EVENT".to_owned());
        return Some(format!("quotes make one word of it: `'{trigger} if FIELD == VALUE'`."));
    }
    let flag = flag_before(word)?;
    if flag == "-k" && (word.starts_with("CLOCK_") || word.contains("mono") || word.contains("boot")) {
        let clock = match word.trim_start_matches("CLOCK_").to_lowercase().as_str() {
            "monotonic_raw" => "mono_raw",
            "boottime" | "boot" => "boot",
            "realtime" | "tai" => "tai",
            _ => "mono",
        };
        return Some(format!("`-k` takes no value; `-C {clock}` sets the clock."));
    }
    if flag == "--top" && word.parse::<u32>().is_ok() {
        return Some(format!(
            "`--top` takes no value (it records at the top level); `rtrace analyze all FILE --top {word}` shows so many rows."
        ));
    }
    if flag == "-t" && word.parse::<u32>().is_ok() {
        return Some(format!("`-t` takes no value; `--thread {word}` traces a thread, `-P {word}` a process."));
    }
    let meaning = match flag.as_str() {
        "-F" => " (it is --follow: only events of CMD)",
        _ => "",
    };
    let is_rate = flag == "-F" && word.bytes().all(|byte| byte.is_ascii_digit());
    let rate =
        if is_rate { " Nothing is sampled at a rate: `--for offcpu` records where tasks leave their CPU." } else { "" };
    Some(format!("`{flag}` takes no value{meaning}, so that `{word}` is the command.{rate}"))
}

/// The unit of time that `word` means, after its number.
pub(super) fn unit_of(word: &str) -> Option<&'static str> {
    let units = [("ms", "mil"), ("us", "mic"), ("s", "sec"), ("m", "min"), ("h", "hour")];
    units.into_iter().find(|(unit, begin)| word == *unit || word.starts_with(begin)).map(|(unit, _)| unit)
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
