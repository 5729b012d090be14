//! Keys of histograms as others write them: of bpftrace, of hist triggers, without an option.

use super::line::GivenLine;

/// The hint on a histogram's command line, if it `lacks_key` or its event.
pub(super) fn of_hist(lacks_key: bool, line: &GivenLine) -> Option<String> {
    let words: Vec<&str> = line.own().iter().skip(1).map(String::as_str).collect();
    if let Some(program) = words.iter().find(|word| word.contains('{')) {
        return Some(of_bpftrace(program));
    }
    if let Some(at) = words.iter().position(|word| word.starts_with("hist:"))
        && let (Some(trigger), Some(_)) = (words.get(at), words.get(at.saturating_add(1)))
    {
        return Some(format!("the event stands first: `rtrace hist EVENT '{trigger}'`."));
    }
    let is_field = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'.');
    match words.as_slice() {
        _ if !lacks_key => None,
        // An event, and behind it a field in the place of a trigger.
        [event, field, rest @ ..] if !event.starts_with('-') && is_field(field) => {
            let rest: String = rest.iter().filter(|word| **word != "--key").map(|word| format!(" {word}")).collect();
            Some(format!(
                "`{field}` is taken for a trigger: `rtrace hist {event} --key {field}{rest}` counts by that field."
            ))
        }
        words => Some(key(words)),
    }
}

/// The hint on a histogram without a key, by what stands in its place.
fn key(words: &[&str]) -> String {
    let of = |begin: &str| words.iter().find_map(|word| word.strip_prefix(begin));
    if let Some(keys) = of("keys=").or_else(|| of("key=")) {
        let first = keys.split(':').next().unwrap_or_default();
        return format!("`'hist:keys={keys}'` is a trigger; of fields alone, `--key {first}`.");
    }
    let with_field = words.iter().find(|word| word.matches(':').count() == 2 && !word.starts_with('-'));
    if let Some((event, field)) = with_field.and_then(|word| word.rsplit_once(':')) {
        return format!("a field stands apart: `rtrace hist {event} --key {field}`.");
    }
    match words.iter().any(|word| word.contains("hist(") || word.contains('@')) {
        true => "`--key FIELD` counts by a field, `--key FIELD.log2` and `--key FIELD.buckets=N` in ranges of it.",
        false => "a field of the event, or as in `--key common_pid.execname`.",
    }
    .to_owned()
}

/// The hint on a program of bpftrace in the place of an event.
fn of_bpftrace(program: &str) -> String {
    let (probe, body) = program.split_once('{').unwrap_or_default();
    let event = probe.trim().strip_prefix("tracepoint:").filter(|event| event.matches(':').count() == 1);
    let event = event.unwrap_or("EVENT");
    let field = |of: &str| {
        let name = body
            .split_once(of)?
            .1
            .split(')')
            .next()?
            .trim()
            .trim_start_matches("args")
            .trim_start_matches(['.', '-', '>']);
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_name.then(|| name.to_owned())
    };
    let task = if body.contains("@[comm]") || body.contains("@[pid]") { "common_pid.execname" } else { "" };
    let ranges = ["lhist(", "hist("].iter().find_map(|of| field(of)).map(|field| format!("{field}.log2"));
    let keys: Vec<String> = ranges.into_iter().chain((!task.is_empty()).then(|| task.to_owned())).collect();
    let keys = if keys.is_empty() { "common_pid.execname".to_owned() } else { keys.join(",") };
    let value = field("sum(").map_or_else(String::new, |field| format!(" --val {field}"));
    format!("programs are bpftrace's; `rtrace hist {event} --key {keys}{value} -- CMD` counts so.")
}
