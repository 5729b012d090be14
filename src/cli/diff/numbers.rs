//! Numbers of comparisons as text.

use rtrace::internal::assertion::Metric;
use rtrace::internal::comparison::{ChangeVerdict, Compared};
use rtrace::units::grouped;

/// `+3.2 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() >= 1000.0 { format!("{percent:+.0} %") } else { format!("{percent:+.1} %") }
}

/// `-1.0 % to +7.6 %`.
pub(super) fn interval(compared: &Compared) -> String {
    compared.interval.map_or("-".to_owned(), |(low, high)| format!("{} to {}", percent(low), percent(high)))
}

/// A value with its unit.
pub(super) fn value(metric: &Metric, value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| metric.shown(value))
}

/// The smallest change that is found: `12.3 %`.
pub(super) fn finds(compared: &Compared) -> String {
    compared.reach.map_or("-".to_owned(), |reach| percent(reach.finds).trim_start_matches('+').to_owned())
}

/// The runs that it takes to tell, if there were fewer.
pub(super) fn needs(compared: &Compared) -> String {
    let indeterminate = compared.verdict == ChangeVerdict::Indeterminate;
    let needed = compared.reach.filter(|_| indeterminate).and_then(|reach| reach.runs);
    let had = compared.difference.map_or(0.0, |difference| difference.runs);
    needed.filter(|needed| *needed as f64 > had).map_or("-".to_owned(), grouped)
}

pub(super) fn word(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::Better => "better",
        ChangeVerdict::Worse => "worse",
        ChangeVerdict::Same => "same",
        ChangeVerdict::Indeterminate => "indeterminate",
    }
}

/// `0.031`, `<0.001`.
pub(super) fn probability(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}
