//! Percentiles of a numeric key, weighted by hitcount.

use super::cells::Options;
use crate::hist::spec::{Expr, Modifier};
use crate::hist::table::HistTable;

/// The percentiles that are shown, in thousandths.
const WANTED: [(u64, &str); 4] = [(500, "p50"), (900, "p90"), (990, "p99"), (999, "p99.9")];

/// The bound below which a share of all events lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Percentiles {
    /// The key's name.
    pub key: String,
    /// Name (`p50`, ..., `max`) and the number or class it falls in, both ends included. Of a class only its ends are
    /// known, so the percentile is at most its upper end.
    pub at: Vec<(&'static str, (i128, i128))>,
}

/// The percentiles of every key whose numbers measure something: keys with `.log2` or `.buckets`, timestamps, and the
/// only key of a table if its values differ like measurements (it is not an id, a CPU or a pid).
pub fn percentiles(table: &HistTable, options: &Options) -> Vec<Percentiles> {
    let keys = &table.spec.keys;
    let measured = keys.iter().enumerate().filter(|(_, key)| match &key.value {
        Expr::Field { modifier: Some(Modifier::Log2 | Modifier::Buckets(_)), .. } => true,
        Expr::Field { name, modifier: None } => keys.len() == 1 && !is_identity(name),
        _ => false,
    });
    measured.filter_map(|(at, _)| of_key(table, options, at)).collect()
}

/// Names of numbers that name something.
fn is_identity(name: &str) -> bool {
    ["pid", "tgid", "tid", "id", "cpu", "nr", "irq", "vec", "dev", "ino", "fd", "state", "prio", "type", "flags"]
        .iter()
        .any(|word| name.split('_').any(|part| part == *word))
}

fn of_key(table: &HistTable, options: &Options, at: usize) -> Option<Percentiles> {
    let mut classes = Vec::with_capacity(table.entries.len());
    for entry in &table.entries {
        let key = entry.keys.get(at)?;
        classes.push((options.range(key)?, entry.hitcount?));
    }
    classes.sort_unstable();
    let total: u128 = classes.iter().map(|(_, count)| u128::from(*count)).sum();
    let last = classes.iter().rev().find(|(_, count)| *count > 0)?.0;
    let mut found = Vec::new();
    for (thousandths, name) in WANTED {
        // The smallest number of events that is at least this share.
        let rank = (total * u128::from(thousandths)).div_ceil(1000).max(1);
        let mut seen = 0;
        let class = classes.iter().find(|(_, count)| {
            seen += u128::from(*count);
            seen >= rank
        })?;
        found.push((name, class.0));
    }
    found.push(("max", last));
    let key = table.entries.first()?.keys.get(at)?.name.clone();
    Some(Percentiles { key, at: found })
}
