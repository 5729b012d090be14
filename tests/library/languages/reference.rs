//! The examples of `docs/reference` are what the languages take.

use super::captured::format;
use rtrace::filter::Filter;
use rtrace::probe::Probe;
use rtrace::trigger::Trigger;

/// The indented lines under `## Examples`, each split at its first run of blanks.
fn examples(page: &'static str) -> Vec<(&'static str, &'static str)> {
    let section = page.split("## Examples\n").nth(1).expect("an Examples section");
    let section = section.split("\n## ").next().unwrap_or(section);
    let lines = section.lines().filter_map(|line| line.strip_prefix("    "));
    let found: Vec<_> =
        lines.map(|line| line.split_once(' ').map(|(a, b)| (a, b.trim())).expect("two columns")).collect();
    assert!(found.len() >= 6, "{found:?}");
    found
}

#[test]
fn filters() {
    for (event, text) in examples(include_str!("../../../docs/reference/filter.md")) {
        let (system, name) = event.split_once(':').unwrap();
        let filter = Filter::parse(text).unwrap_or_else(|e| panic!("{e}"));
        let warnings = filter.check(&format(system, name)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(warnings, [], "{text}");
        assert_eq!(filter.to_string(), text, "the page shows filters as they are printed");
    }
}

#[test]
fn triggers() {
    for (event, text) in examples(include_str!("../../../docs/reference/trigger.md")) {
        assert!(event.contains(':'));
        let text = text.replace(" --count ", ":").replace(" --if '", " if ").replace('\'', "");
        let trigger: Trigger = text.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(trigger.to_string(), text);
    }
}

#[test]
fn probes() {
    for (kind, rest) in examples(include_str!("../../../docs/reference/probe.md")) {
        let letter = match kind {
            "kprobe" | "uprobe" => "p",
            "kretprobe" | "uretprobe" => "r",
            "eprobe" => "e",
            "fprobe" => "f",
            "tprobe" => "t",
            _ => continue,
        };
        let rest = rest.replace('\'', "").replace("libc:malloc", "/lib/libc.so.6:0x98930");
        let text = format!("{letter} {rest}");
        let probe: Probe = text.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(probe.to_string().parse(), Ok(probe), "{text}");
    }
}
