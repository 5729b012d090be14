//! Errors of tracefs, in words that name the file and quote the kernel.

use super::error_log::{LogEntry, missing_config};
use super::words_of_others;
use crate::base::syntax::did_you_mean;
use crate::base::units::CpuId;
use crate::kernel::events::NoEvent;
use nix::errno::Errno;
use std::io;
use std::path::PathBuf;

/// Most instances that a hint names.
const MOST_INSTANCES: usize = 8;

/// A failed operation on tracefs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No tracefs or debugfs is mounted, and this user may not mount one.
    #[error("tracefs is not mounted, and only root can mount it")]
    NotMounted,
    /// No tracefs is mounted and the kernel refuses to mount it.
    #[error("failed to mount tracefs at {path}: {}", errno_words(cause))]
    Mount {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// The directory is there, but closed to this user.
    #[error("failed to open {path}: permission denied")]
    NotRoot {
        /// The tracing directory.
        path: PathBuf,
    },
    /// The directory named by the caller is not a tracing directory.
    #[error("{path} is not a tracefs: it has no `{missing}`")]
    NotTracefs {
        /// The directory.
        path: PathBuf,
        /// A file that every tracefs has.
        missing: &'static str,
    },
    /// The kernel is locked down so far that it shows nothing of tracefs.
    #[error("the kernel is locked down (confidentiality): it refuses tracefs even to root")]
    LockedDown,
    /// The kernel lacks a file, thus a feature.
    #[error("failed to {action} `{file}`: this kernel has no such file")]
    Unsupported {
        /// `read` or `set`.
        action: &'static str,
        /// Path below the tracing directory.
        file: String,
        /// The kernel configuration that would bring it, where known.
        config: Option<&'static str>,
    },
    /// The kernel lacks a feature that is not one file.
    #[error("this kernel has no {what}")]
    NoFeature {
        /// The feature's name, as a noun.
        what: String,
        /// The kernel configuration that would bring it, where known.
        config: Option<&'static str>,
    },
    /// The kernel knows no tracer of that name, and neither do we.
    #[error("this kernel has no tracer `{name}`")]
    NoTracer {
        /// The name asked for.
        name: String,
        /// Names that exist.
        available: Vec<String>,
        /// The tracer with nearly that name that this kernel lacks, and its CONFIG.
        lacking: Option<(&'static str, &'static str)>,
    },
    /// The kernel has the tracer, but at the top level only.
    #[error("this kernel has tracer `{name}` at the top level only")]
    TopTracer {
        /// The name asked for.
        name: String,
    },
    /// A read or write was refused.
    #[error("failed to {action} {}: {}{}", subject(file), errno_words(cause), quote(kernel))]
    File {
        /// `read`, `set`, `append to`, `create`, `remove`.
        action: &'static str,
        /// Path below the tracing directory.
        file: String,
        /// The value written, if any.
        value: Option<String>,
        /// The kernel's errno.
        cause: io::Error,
        /// The kernel's own words about it.
        kernel: Option<Box<LogEntry>>,
    },
    /// A copy of what an earlier boot wrote, in which nothing can be set.
    #[error("instance {name} is a copy of what an earlier boot wrote, which can only be read")]
    ReadOnlyInstance {
        /// The instance's name.
        name: String,
    },
    /// The size of a ring buffer that lies in memory which was reserved at boot: nobody can change it.
    #[error(
        "failed to set {}: the ring buffer lies in memory that was reserved at boot, and keeps its size",
        subject(file)
    )]
    FixedBuffer {
        /// Path below the tracing directory.
        file: String,
    },
    /// A file does not say what the kernel is known to write there.
    #[error("failed to understand {}: `{text}`", subject(file))]
    Content {
        /// Path below the tracing directory.
        file: String,
        /// The part that is not understood.
        text: String,
    },
    /// There is no instance of that name.
    #[error("no instance is called `{name}`")]
    NoInstance {
        /// The name asked for.
        name: String,
        /// Names that exist.
        others: Vec<String>,
    },
    /// There is no remote of that name.
    #[error("no remote is called `{name}`; there are {}", .others.join(", "))]
    NoRemote {
        /// The name asked for.
        name: String,
        /// Names that exist.
        others: Vec<String>,
    },
    /// There is no ring buffer of that CPU.
    #[error("this machine has no CPU {cpu}")]
    NoCpu {
        /// The CPU asked for.
        cpu: CpuId,
        /// CPUs that have one.
        cpus: Vec<CpuId>,
    },
    /// A name that cannot be an instance's.
    #[error("`{name}` cannot be the name of an instance")]
    InstanceName {
        /// The name.
        name: String,
    },
    /// No event matches a selection.
    #[error(transparent)]
    NoEvent(#[from] NoEvent),
    /// No function is called so, or fits.
    #[error("no function matches `{pattern}`")]
    NoFunction {
        /// The name or glob as given.
        pattern: String,
        /// Names that resemble it.
        nearest: Vec<String>,
    },
    /// Nothing of that kind stands in a list of functions.
    #[error("nothing to take out: `{file}` has no `{pattern}`")]
    NotListed {
        /// The list.
        file: &'static str,
        /// The function as given.
        pattern: String,
        /// The list's entries that resemble it; none if the list is empty.
        listed: Vec<String>,
    },
    /// No command on functions is like that.
    #[error("failed to remove `{command}`: there is no such trigger")]
    NoCommand {
        /// The command as given.
        command: String,
        /// Commands that are set.
        listed: Vec<String>,
    },
    /// The journal cannot be written, so nothing is.
    #[error("failed to {action} the journal {path}: {cause}")]
    Journal {
        /// `create`, `write`, `read`, `remove`.
        action: &'static str,
        /// The journal's file or directory.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// A journal about a directory that is not the kernel's.
    #[error("the journal {journal} is not undone: {path} does not lie on tracefs")]
    NotOnTracefs {
        /// The journal's file.
        journal: PathBuf,
        /// The tracing directory that it names.
        path: PathBuf,
    },
    /// A journal that holds something else.
    #[error("failed to read the journal {path}: line {line} is not an entry")]
    JournalContent {
        /// The journal's file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}

impl Error {
    /// True if no change of the command line would help: this kernel or this user cannot do it.
    pub fn is_unable(&self) -> bool {
        match self {
            Error::NotMounted
            | Error::Mount { .. }
            | Error::NotRoot { .. }
            | Error::LockedDown
            | Error::Unsupported { .. }
            | Error::NoFeature { .. }
            | Error::TopTracer { .. }
            | Error::ReadOnlyInstance { .. }
            | Error::FixedBuffer { .. } => true,
            Error::File { kernel: Some(_), .. } => false,
            Error::File { cause, .. } | Error::Journal { cause, .. } => {
                matches!(cause.raw_os_error(), Some(code) if [Errno::EPERM, Errno::EACCES, Errno::EROFS].iter().any(|errno| *errno as i32 == code))
            }
            _ => false,
        }
    }

    /// Its errno, if there is one.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Error::Mount { cause, .. } | Error::File { cause, .. } | Error::Journal { cause, .. } => {
                cause.raw_os_error().map(Errno::from_raw)
            }
            _ => None,
        }
    }

    /// Advice to the user, as whole sentences.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Error::NotMounted => vec!["as root, rtrace mounts it at /sys/kernel/tracing by itself.".to_owned()],
            Error::Mount { .. } => vec![
                "the kernel needs CONFIG_TRACING; in a container, the host's tracefs must be mounted into it."
                    .to_owned(),
            ],
            Error::NotRoot { .. } => vec![
                "run it as root.".to_owned(),
                "root can hand it to a user: `mount -o remount,uid=USER` on it; a group (`gid=GROUP,mode=750`) may only read."
                    .to_owned(),
            ],
            Error::LockedDown => {
                vec!["boot without lockdown=confidentiality, or without Secure Boot where that asks for it.".to_owned()]
            }
            Error::File { cause, .. } if cause.raw_os_error() == Some(Errno::EROFS as i32) => vec![
                "tracefs is mounted read-only: as root, `mount -o remount,rw /sys/kernel/tracing` opens it; a container takes \
                 the host's with `-v /sys/kernel/tracing:/sys/kernel/tracing`."
                    .to_owned(),
            ],
            Error::Unsupported { config: Some(config), .. } | Error::NoFeature { config: Some(config), .. } => {
                vec![config_hint(config)].into_iter().chain(instead_of(config)).collect()
            }
            Error::File { file, cause, value, .. } if is_of_no_cpu(file, cause) => {
                let mask = value.as_deref().unwrap_or_default();
                let last = mask_bits(mask).last().map_or_else(String::new, |cpu| format!("this machine has no CPU {cpu}; "));
                vec![format!(
                    "{last}`--cpu LIST` takes the numbers of CPUs, from 0, and `-M MASK` hexadecimal digits whose bits stand for them."
                )]
            }
            Error::File { file, cause, kernel: None, .. }
                if file.contains("available_filter_functions") && cause.raw_os_error() == Some(Errno::EPERM as i32) =>
            {
                vec!["the kernel's functions by name: `grep ' [tT] ' /proc/kallsyms`.".to_owned()]
            }
            Error::File { file, cause, kernel: None, .. } if cause.raw_os_error() == Some(Errno::EPERM as i32) => {
                let refused = "a locked-down kernel, a container or the hypervisor refuses this even to root.".to_owned();
                let is_of_tracer = file.contains("current_tracer") || file.contains("ftrace");
                let events = is_of_tracer.then(|| "events may work all the same: `-e EVENT`, `--for WHAT`.".to_owned());
                vec![refused].into_iter().chain(events).collect()
            }
            Error::File { cause, kernel: None, .. } if cause.raw_os_error() == Some(Errno::EACCES as i32) => vec![
                "the owner of tracefs may write, a group only read: as root, `mount -o remount,uid=USER` on it hands it over."
                    .to_owned(),
            ],
            Error::NoTracer { name, available, lacking } => did_you_mean(name, available.iter().map(String::as_str))
                .or_else(|| {
                    let (lacking, config) = lacking.as_ref()?;
                    Some(format!("did you mean `{lacking}`? This kernel lacks it: it needs {config}."))
                })
                .or_else(|| name.parse::<u32>().is_ok().then(|| format!("a process is named with `-P {name}`.")))
                .or_else(|| {
                    let hint = "`-p` sets a tracer; tasks are chosen with `-P PID`, or by name: `-e EVENT -f 'COMM == \"";
                    lacking.is_none().then(|| format!("{hint}{name}\"'`."))
                })
                .into_iter()
                .chain([format!("tracers of this kernel are {}.", available.join(", "))])
                .collect(),
            Error::ReadOnlyInstance { name } => vec![
                format!("`rtrace extract -B {name}` makes a recording of it, after which the kernel removes it."),
                "the instance that it was copied from, as `trace_instance=NAME=SOURCE` says, can be traced.".to_owned(),
            ],
            Error::InstanceName { .. } => {
                vec!["a name is that of one directory: without `/`, and neither `.` nor `..`.".to_owned()]
            }
            Error::File { file, cause, .. }
                if file.ends_with("buffer_subbuf_size_kb") && cause.raw_os_error() == Some(Errno::EINVAL as i32) =>
            {
                vec!["a sub-buffer is 1 to 128 pages: 4 to 512 KiB where a page is 4 KiB.".to_owned()]
            }
            Error::FixedBuffer { .. } => {
                vec!["leave the size out; the kernel parameters `reserve_mem=` and `trace_instance=` decide it.".to_owned()]
            }
            Error::TopTracer { name } => vec![format!("leave out -B, or let -p {name} stand before it.")],
            Error::NoInstance { name, others } if !others.is_empty() => {
                let near = did_you_mean(name, others.iter().map(String::as_str));
                let all = match others.len() > MOST_INSTANCES {
                    true => format!("there are {} instances: `rtrace instance list`.", others.len()),
                    false => format!("instances are {}.", others.join(", ")),
                };
                near.into_iter().chain([all]).collect()
            }
            Error::NoInstance { .. } => vec!["there is none but the top level; `rtrace instance create NAME` makes one.".to_owned()],
            Error::NoEvent(NoEvent { pattern, .. }) if pattern.starts_with('!') => {
                let event = pattern.trim_start_matches('!');
                vec![format!("`-v -e {event}` leaves {event} out, or switches it off.")]
            }
            Error::NoEvent(NoEvent { pattern, .. }) if pattern.contains(" if ") => {
                let (event, filter) = pattern.split_once(" if ").unwrap_or_default();
                vec![format!("`-e {event} -f '{filter}'` filters it.")]
            }
            Error::NoEvent(NoEvent { pattern, .. }) if pattern.contains('/') && pattern.trim_end().ends_with('/') => {
                let (event, filter) = pattern.trim_end_matches(['/', ' ']).split_once('/').unwrap_or_default();
                vec![format!("`-e {} -f '{}'` filters it.", event.trim(), filter.trim())]
            }
            Error::NoEvent(NoEvent { pattern, .. }) if words_of_others::event(pattern).is_some() => {
                words_of_others::event(pattern).into_iter().collect()
            }
            Error::NoEvent(NoEvent { pattern, .. }) if pattern.starts_with("ftrace:") => {
                vec!["events of `ftrace` have no switch: tracers (`-p`) write them, and trace_marker writes `print`, which is recorded without `-e`.".to_owned()]
            }
            Error::NoEvent(NoEvent { nearest, pattern }) if !nearest.is_empty() => {
                let within =
                    !pattern.contains([':', '/']) && nearest.iter().any(|name| name.contains(pattern.as_str()));
                let all = within.then(|| format!("`-e '*{pattern}*'` selects all that have it in their name."));
                std::iter::once(one_of(nearest)).chain(all).collect()
            }
            Error::NoFunction { nearest, .. } if !nearest.is_empty() => vec![one_of(nearest)],
            Error::NoFunction { .. } => vec!["`rtrace list -f PATTERN` shows the functions of this kernel.".to_owned()],
            Error::NoCpu { cpus, .. } => {
                vec![format!("it has {}.", cpus.iter().map(CpuId::to_string).collect::<Vec<_>>().join(", "))]
            }
            Error::NoCommand { listed, .. } if listed.is_empty() => vec!["no function has a trigger".to_owned()],
            Error::NoCommand { listed, .. } => vec![format!("there is {}", listed.join("; "))],
            Error::NotListed { listed, .. } if !listed.is_empty() => vec![format!("it has {}.", listed.join(", "))],
            Error::NotListed { .. } => {
                vec!["the list is empty; `-n FUNC` leaves a function out of the trace.".to_owned()]
            }
            Error::NoEvent(NoEvent { pattern, .. }) if words_of_others::optional(pattern).is_some() => {
                words_of_others::optional(pattern).into_iter().collect()
            }
            Error::NoEvent(NoEvent { pattern, .. }) if pattern.is_empty() => {
                vec!["a name is missing: a comma stands between two.".to_owned()]
            }
            Error::NoEvent(NoEvent { pattern, .. }) if pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
                vec![format!("`rtrace list -e '*{pattern}*'` looks for it in the names of events, `rtrace list -f '*{pattern}*'` in those of functions.")]
            }
            Error::NoEvent(NoEvent { pattern, .. }) if pattern.matches(':').count() == 2 && pattern.contains('_') => {
                let at = pattern.rfind(':').unwrap_or_default();
                let (event, rest) = pattern.split_at(at);
                let rest = rest.trim_start_matches(':');
                match rest.contains(['<', '>', '=', '!', '&', '~']) {
                    true => vec![format!("`-e {event} -f '{rest}'` filters it.")],
                    false => vec![format!("an event is SYSTEM:EVENT, and a comma is between two: `-e {event},{rest}`.")],
                }
            }
            Error::NoEvent(NoEvent { pattern, .. }) if words_of_others::of_event(pattern).is_some() => {
                words_of_others::of_event(pattern).into_iter().collect()
            }
            Error::NoEvent(_) => {
                vec!["`rtrace list --systems` shows the groups of events of this kernel, `rtrace list -e` all events.".to_owned()]
            }
            _ => Vec::new(),
        }
    }

    /// True if the typed text is wrong: it names no instance, or the kernel's log names an error in it. False for an obstacle
    /// to a right text (`EEXIST`, `EBUSY`).
    pub fn is_usage(&self) -> bool {
        match self {
            Error::NoInstance { .. }
            | Error::NoRemote { .. }
            | Error::InstanceName { .. }
            | Error::NoTracer { .. }
            | Error::NoCpu { .. }
            | Error::NoEvent(_)
            | Error::NotListed { .. } => true,
            Error::File { file, cause, .. } if is_of_no_cpu(file, cause) => true,
            Error::File { kernel: Some(_), cause, .. } => {
                ![Errno::EEXIST, Errno::EBUSY].iter().any(|errno| cause.raw_os_error() == Some(*errno as i32))
            }
            _ => false,
        }
    }

    /// The write of `text` to `file` that the kernel refused, and what it logged about that.
    pub(super) fn refused(action: &'static str, file: &str, text: &str, cause: io::Error, entry: LogEntry) -> Error {
        let value = Some(text.to_owned());
        Error::File { action, file: file.to_owned(), value, cause, kernel: Some(Box::new(entry)) }
    }

    /// The failed read or write of `file`, where a missing file means a missing feature.
    pub(super) fn file(action: &'static str, file: &str, value: Option<&str>, cause: io::Error) -> Error {
        let last = file.rsplit('/').next().unwrap_or(file);
        if cause.kind() == io::ErrorKind::NotFound && missing_config(last).is_some() {
            return Error::Unsupported { action, file: file.to_owned(), config: missing_config(last) };
        }
        Error::File { action, file: file.to_owned(), value: value.map(str::to_owned), cause, kernel: None }
    }
}

/// True of a mask with a CPU that the machine has not.
fn is_of_no_cpu(file: &str, cause: &io::Error) -> bool {
    file.contains("tracing_cpumask") && cause.raw_os_error() == Some(Errno::EOVERFLOW as i32)
}

/// The CPUs of a mask of hexadecimal digits, ascending.
fn mask_bits(mask: &str) -> Vec<usize> {
    let digits = mask.bytes().rev().filter_map(|digit| char::from(digit).to_digit(16)).enumerate();
    digits
        .flat_map(|(at, digit)| (0..4).filter(move |bit| digit >> bit & 1 == 1).map(move |bit| at * 4 + bit))
        .collect()
}

/// The sentence about a missing CONFIG, or about the version that something came with.
fn config_hint(config: &str) -> String {
    match config.strip_prefix("CONFIG_") {
        Some(short) => {
            format!(
                "it needs {config}; `zgrep {short} /proc/config.gz` shows the running kernel's setting, or nothing if what it builds on is off."
            )
        }
        None => format!("it came with {config}."),
    }
}

/// Another way to the same, without what a kernel lacks.
fn instead_of(config: &str) -> Option<String> {
    let way = match config {
        "CONFIG_HIST_TRIGGERS" => "`rtrace hist EVENT --key FIELD -- CMD` counts without it.",
        "CONFIG_TRACER_SNAPSHOT" => {
            "`rtrace extract -o FILE` writes what the ring buffer holds, `rtrace record --ring-time 10s` keeps the last of what happens."
        }
        "CONFIG_FUNCTION_GRAPH_TRACER" | "CONFIG_FUNCTION_TRACER" => {
            "`--for syscalls` has the times of system calls, `-e EVENT -R stacktrace` the functions that led to an event."
        }
        "CONFIG_SCHED_TRACER" => {
            "`rtrace latency sched_waking sched_switch --by pid=next_pid -- CMD` measures wakeups without it."
        }
        "CONFIG_SYNTH_EVENTS" => "`rtrace latency FROM TO --by FIELD=FIELD -- CMD` pairs two events without it.",
        "CONFIG_KPROBE_EVENTS" => {
            "`rtrace probe add uprobe PROGRAM:FUNCTION` works without it, and system calls are events: `-e 'syscalls:*'`."
        }
        _ => return None,
    };
    Some(way.to_owned())
}

/// `Invalid argument` rather than `Invalid argument (os error 22)`.
fn errno_words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error ").map_or(text.as_str(), |(words, _)| words).to_owned()
}

/// The file as people speak of it: `` `filter` of sched:sched_switch in instance foo ``.
fn subject(file: &str) -> String {
    let (instance, rest) = match file.strip_prefix("instances/").and_then(|f| f.split_once('/')) {
        Some((name, rest)) => (format!(" in instance {name}"), rest),
        None => (String::new(), file),
    };
    match rest.strip_prefix("events/").map(|e| e.split('/').collect::<Vec<_>>()).as_deref() {
        Some([system, event, file]) => format!("`{file}` of {system}:{event}{instance}"),
        Some([system, file]) => format!("`{file}` of all {system} events{instance}"),
        _ => format!("`{rest}`{instance}"),
    }
}

fn quote(kernel: &Option<Box<LogEntry>>) -> String {
    kernel.as_ref().map_or_else(String::new, |entry| format!("\n{entry}"))
}

/// `did you mean `a`, `b` or `c`?`
fn one_of(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("did you mean {} or {last}?", all.join(", ")),
        one => format!("did you mean {}?", one.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(file: &str, code: Errno) -> Error {
        Error::file("set", file, Some("x"), io::Error::from_raw_os_error(code as i32))
    }

    #[test]
    fn words() {
        let mut error = refused("events/sched/sched_switch/filter", Errno::EINVAL);
        assert_eq!(error.to_string(), "failed to set `filter` of sched:sched_switch: Invalid argument");
        if let Error::File { kernel, .. } = &mut error {
            *kernel = Some(Box::new(LogEntry {
                location: "event filter parse error".into(),
                text: "Field not found".into(),
                command: "nextpid == 1".into(),
                caret: 0,
            }));
        }
        assert_eq!(
            error.to_string(),
            "failed to set `filter` of sched:sched_switch: Invalid argument\n  kernel: nextpid == 1\n          ^ Field not found"
        );
        assert_eq!(
            refused("instances/foo/buffer_size_kb", Errno::ENOMEM).to_string(),
            "failed to set `buffer_size_kb` in instance foo: Cannot allocate memory"
        );
        assert_eq!(
            refused("events/sched/enable", Errno::EINVAL).to_string(),
            "failed to set `enable` of all sched events: Invalid argument"
        );
    }

    #[test]
    fn a_missing_file_is_a_missing_feature() {
        let error = refused("snapshot", Errno::ENOENT);
        assert!(error.is_unable());
        assert_eq!(error.to_string(), "failed to set `snapshot`: this kernel has no such file");
        assert!(error.hints()[0].contains("CONFIG_TRACER_SNAPSHOT"));
        assert!(!refused("nonsense", Errno::ENOENT).is_unable());
        assert!(refused("set_ftrace_filter", Errno::EPERM).is_unable());
    }

    #[test]
    fn what_the_kernel_logged_is_the_cause() {
        for (code, is_usage) in
            [(Errno::ENOENT, true), (Errno::EPERM, true), (Errno::EEXIST, false), (Errno::EBUSY, false)]
        {
            let entry = LogEntry {
                location: "trace_kprobe".into(),
                text: "BTF is not available or not supported".into(),
                command: "p:kprobes/vfs_read vfs_read nosucharg".into(),
                caret: 28,
            };
            let cause = io::Error::from_raw_os_error(code as i32);
            let error =
                Error::refused("add to", "dynamic_events", "p:kprobes/vfs_read vfs_read nosucharg", cause, entry);
            assert!(!error.is_unable() && error.is_usage() == is_usage && error.hints().is_empty(), "{error}");
            assert!(error.to_string().contains("^ BTF is not available"), "{error}");
        }
    }
}
