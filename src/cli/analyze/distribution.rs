//! Distributions of durations in tables, CSV and JSON.

use crate::cli::query::ClockUnit;
use rtrace::analysis::Distribution;
use serde_json::{Value, json};

/// The times of [`cells`].
pub(super) const TIMES: [&str; 6] = ["mean", "p50", "p90", "p99", "p99.9", "max"];

fn times(of: &Distribution) -> [u64; 6] {
    [of.mean(), of.p50, of.p90, of.p99, of.p999, of.greatest]
}

/// Mean, quantiles and maximum, each a cell.
pub(super) fn cells(of: &Distribution, unit: ClockUnit) -> [String; 6] {
    times(of).map(|time| if of.count == 0 { "-".to_owned() } else { unit.short(time) })
}

/// The same in the clock's unit, for CSV.
pub(super) fn csv(of: &Distribution) -> [String; 6] {
    times(of).map(|time| if of.count == 0 { String::new() } else { time.to_string() })
}

/// The names in JSON of a row's numbers: those before the distribution `of`, its own as [`cells`] has them, and those after it.
pub(super) fn names(before: &[&str], of: &str, after: &[&str]) -> Vec<String> {
    let own = ["mean", "p50", "p90", "p99", "p99.9", "max"].map(|number| format!("{of}.{number}"));
    let given = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    [given(before), own.to_vec(), given(after)].concat()
}

/// Of none, only their number.
pub(super) fn json(of: &Distribution) -> Value {
    if of.count == 0 {
        return json!({"count": 0});
    }
    json!({
        "count": of.count,
        "total": of.total,
        "mean": of.mean(),
        "min": of.least,
        "p50": of.p50,
        "p90": of.p90,
        "p99": of.p99,
        "p99.9": of.p999,
        "max": of.greatest,
        "exact": of.exact,
    })
}
