//! What the running kernel, or a recording, lacks of what a line of a hint asks for: a hint promises nothing that is not there.

use super::hints::GivenLine;
use rtrace::events::EventSelection;
use rtrace::filter::Filter;
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::{Trace, is_recording};
use rtrace::tracefs::{EventName, Feature, Tracefs};
use std::fs::File;
use std::path::Path;

/// What keeps `line`, the words between backquotes in a hint, from doing what it is for.
pub(super) fn lacking(line: &str) -> Option<String> {
    let words = shlex::split(line)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(file) = words.iter().find(|word| is_recording(Path::new(word))) {
        return of_recording(&words, file);
    }
    if !(words.first()?.starts_with('-') || words.starts_with(&["rtrace"])) {
        return None;
    }
    let tracefs = Tracefs::mounted()?;
    let lacks = |feature: &Feature| {
        let error = tracefs.require(feature).err()?;
        Some(format!("{error}{}", feature.config().map_or_else(String::new, |config| format!(" ({config})"))))
    };
    features(&words).iter().find_map(lacks).or_else(|| of_events(&words, &tracefs))
}

/// The features that a line needs.
fn features(words: &[&str]) -> Vec<Feature> {
    let tracer = |name: &str| Feature::Tracer(name.to_owned());
    let mut needed = match words {
        ["rtrace", "probe", "add", kind, ..] => match kind.split([':', ' ']).next().unwrap_or_default() {
            "kprobe" | "kretprobe" | "p" | "r" => vec![Feature::Kprobes],
            "uprobe" | "uretprobe" => vec![Feature::Uprobes],
            "fprobe" | "fretprobe" | "tprobe" => vec![Feature::Fprobes],
            "eprobe" => vec![Feature::EventProbes],
            "user" => vec![Feature::UserEvents],
            _ => Vec::new(),
        },
        ["rtrace", name @ ("timerlat" | "osnoise"), ..] => vec![tracer(name)],
        ["rtrace", "synth", "create" | "define", ..] | ["rtrace", "synth", "sql", "-n", ..] => {
            vec![Feature::SyntheticEvents]
        }
        ["rtrace", "snapshot", _, ..] => vec![Feature::Snapshot],
        ["rtrace", "stack", ..] => vec![Feature::StackTracer],
        _ => Vec::new(),
    };
    let values = |option: &'static str| words.windows(2).filter(move |pair| pair[0] == option).map(|pair| pair[1]);
    needed.extend(values("-p").filter(|name| is_filled_in(name)).map(tracer));
    let purposes = values("--for").flat_map(|list| list.split(','));
    needed.extend(purposes.filter_map(|purpose| match purpose {
        "functions" => Some(tracer("function_graph")),
        "osnoise" | "timerlat" => Some(tracer(purpose)),
        _ => None,
    }));
    needed
}

/// Events of a line that the kernel has not, or whose filter is not for them.
fn of_events(words: &[&str], tracefs: &Tracefs) -> Option<String> {
    let top = tracefs.top();
    let known = top.events().ok()?;
    let format = |event: &EventName| EventFormat::parse(&event.system, &top.event_format(event).ok()?).ok();
    let live = ["record", "stream", "start", "set", "profile"];
    // Options alone are those of the command that was typed.
    let typed = GivenLine::of_this();
    let command =
        if words.first() == Some(&"rtrace") { words.get(1).copied() } else { typed.own().first().map(String::as_str) };
    let is_live = command.is_some_and(|name| live.contains(&name));
    let mut pairs = words.windows(2).enumerate().filter(|_| is_live);
    pairs.find_map(|(at, pair)| {
        let name = ["-e", "--event"].contains(&pair[0]).then_some(pair[1]).filter(|name| is_filled_in(name))?;
        let selected = match EventSelection::new(name).select(&known) {
            Ok(selected) => selected,
            Err(_) => return Some(format!("this kernel has no event `{name}`")),
        };
        let filter = match words.get(at + 2..at + 4)? {
            ["-f", filter] if is_filled_in(filter) => Filter::parse(filter).ok()?,
            _ => return None,
        };
        let mut refused = selected.iter().take(MOST_CHECKED).map(|event| filter.check(&format(event)?).err());
        let first = refused.next()??;
        refused.all(|error| error.is_some()).then(|| first.message.clone())
    })
}

/// Most events that a filter is held against.
const MOST_CHECKED: usize = 16;

/// Events and keys of a line that the recording it names does not hold.
fn of_recording(words: &[&str], file: &str) -> Option<String> {
    let trace = Trace::open(File::open(file).ok()?).ok()?;
    let is_one = |format: &&EventFormat, name: &str| match name.split_once([':', '/']) {
        Some((system, event)) => format.system == system && format.name == event,
        None => format.name == name,
    };
    let after = |option: &str| words.iter().position(|word| *word == option).and_then(|at| words.get(at + 1)).copied();
    let event = match words {
        ["rtrace", "hist", "-i", _, event, ..] | ["rtrace", "hist", _, event, ..] => Some(*event),
        _ => after("-F").filter(|name| !name.contains([' ', '*', '.'])),
    };
    let event = event.filter(|name| is_filled_in(name) && !name.starts_with('-'))?;
    let Some(format) = trace.formats().find(|format| is_one(format, event)) else {
        return Some(format!("{file} holds no event `{event}`"));
    };
    let own = |name: &str| format.fields.iter().chain(format.common.iter()).any(|field| field.name == name);
    let keys = after("--key")?.split(',').map(|key| key.split('.').next().unwrap_or(key));
    let mut strange = keys.filter(|key| is_filled_in(key) && !own(key) && !["stacktrace", "hitcount"].contains(key));
    strange.find(|key| !key.starts_with("common_")).map(|key| format!("{event} has no field `{key}`"))
}

/// True of a word that is none to be filled in, as `EVENT` is.
fn is_filled_in(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// The hint on a device in a filter with the number that it has on this machine, in place of how to find it; `None` of others.
pub(super) fn device(hint: &str) -> Option<String> {
    let (_, rest) = hint.split_once("`cat /sys/block/")?;
    let (name, _) = rest.split_once("/dev`").filter(|(name, _)| !name.contains('/'))?;
    let (field, _) = hint.split_once('`')?.1.split_once(" == ")?;
    let path = Path::new("/sys/class/block").join(name).join("dev");
    Some(match std::fs::read_to_string(path) {
        Ok(text) => rtrace::filter::device_hint(field, text.trim())?,
        Err(_) => format!(
            "a device is a number, and this machine has none called `{name}`: `lsblk` shows those that there are."
        ),
    })
}
