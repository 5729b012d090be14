//! Times and commands in words.

use super::chosen_events::ChosenEvents;
use super::source::ViewSource;
use crate::cli::query::ClockUnit;

/// A length of time: `163.02 ms`.
pub(super) fn length(unit: ClockUnit, time: u64) -> String {
    let part = |unit: u64, name: &str| format!("{}.{:02} {name}", time / unit, time % unit / (unit / 100));
    match (unit, time) {
        (ClockUnit::Ticks, _) => format!("{time} ticks"),
        (_, ..1_000) => format!("{time} ns"),
        (_, ..1_000_000) => part(1_000, "us"),
        (_, ..1_000_000_000) => part(1_000_000, "ms"),
        _ => part(1_000_000_000, "s"),
    }
}

/// A whole length of time: `200 us`.
pub(super) fn round_length(unit: ClockUnit, time: u64) -> String {
    if unit == ClockUnit::Ticks {
        return time.to_string();
    }
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
    let (size, name) =
        units.into_iter().find(|(size, _)| time >= *size && time.is_multiple_of(*size)).unwrap_or((1, "ns"));
    format!("{} {name}", time / size)
}

/// The options that choose the window by the file's own times; none for all of it.
pub(super) fn window_words(source: &ViewSource<'_>, from: u64, to: u64) -> String {
    let in_ticks = source.unit == ClockUnit::Ticks;
    let point = |at: u64| ClockUnit::of(in_ticks).point(at.saturating_add_signed(source.later.saturating_neg()));
    if from <= source.begin && source.end <= to {
        return String::new();
    }
    format!(" --since {} --until {}", point(from), point(to))
}

/// The command that prints the window's events.
pub(super) fn command(source: &ViewSource<'_>, from: u64, to: u64, filter: Option<&str>) -> String {
    let mut command = format!("rtrace report -i {}", quoted(&source.input.path.to_string_lossy()));
    command.push_str(&window_words(source, from, to));
    if let Some(filter) = filter {
        let (option, value) = ChosenEvents::option(filter);
        command.push_str(&format!(" {option} {}", quoted(value)));
    }
    command
}

/// A word of a shell's command line.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
