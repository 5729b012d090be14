//! Refusals of queries in DuckDB's words, with what was meant.

use rtrace::syntax::nearest;

/// DuckDB's words and a hint; of a table that is not there the nearest of `views`, as DuckDB's own may be another thing of a similar
/// name.
pub(super) fn worded(said: &str, views: &str) -> (String, Option<String>) {
    let between = |begin: &str, end: &str| said.split_once(begin)?.1.split_once(end).map(|(name, _)| name.to_owned());
    if let Some(table) = between("Table with name ", " does not exist") {
        let first = said.lines().next().unwrap_or(said).to_owned();
        let tables = || views.lines().filter_map(|line| line.strip_prefix("create view ")?.split_once(" as "));
        let names: Vec<String> = tables().map(|(name, _)| name.replace('"', "")).collect();
        let alone = |name: &str| name.rsplit('.').next().map(str::to_owned).unwrap_or_default();
        let bare: Vec<String> = names.iter().map(|name| alone(name)).collect();
        let wanted = alone(&table);
        let near = nearest(&wanted, bare.iter().map(String::as_str));
        let meant = near.first().and_then(|near| names.iter().find(|name| alone(name) == **near));
        return (first, meant.map(|name| format!("did you mean `{name}`?")));
    }
    if let Some(function) = between("Scalar Function with name ", " does not exist") {
        let first = said.lines().next().unwrap_or(said).to_owned();
        let is_percentile = function.contains("perc") || function.contains("quantile") || function.starts_with('p');
        let hint = is_percentile.then(|| "a percentile is `quantile_cont(dur, 0.99)`.".to_owned());
        return (first, hint);
    }
    let column = between("Referenced column \"", "\" not found");
    let hint = column.filter(|text| !text.contains('_')).map(|text| {
        format!("a text stands in single quotes, as `comm = '{text}'`; double quotes are about names of columns.")
    });
    (said.to_owned(), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_table_is_an_event_of_the_recording() {
        let views = "create schema if not exists \"sched\";\ncreate view \"sched\".\"sched_switch\" as select 1;\ncreate view \"sched_slice\" as select 2;\n";
        let said =
            "Catalog Error: Table with name sched_swich does not exist!\nDid you mean \"sched_slice\"?\nLINE 1: ...";
        let (text, hint) = worded(said, views);
        assert_eq!(text, "Catalog Error: Table with name sched_swich does not exist!");
        assert_eq!(hint.as_deref(), Some("did you mean `sched.sched_switch`?"));
        let said = "Binder Error: Referenced column \"sleep\" not found in FROM clause!";
        assert!(worded(said, views).1.is_some_and(|hint| hint.contains("`comm = 'sleep'`")));
    }
}
