//! The examples of the kernel's documentation: rows of `tests/library/languages/examples.tsv`.

/// One example.
#[derive(Debug)]
pub(crate) struct Example {
    /// `filter`, `refused` (a filter that the text says is wrong), `pids`, `trigger`, `remove`, `function`,
    /// `function-remove`.
    pub(crate) kind: &'static str,
    /// `SYSTEM/EVENT`, `SYSTEM`, or `-`.
    pub(crate) event: &'static str,
    /// The written text; `!` is left out.
    pub(crate) text: &'static str,
}

/// All of them.
pub(crate) fn examples() -> Vec<Example> {
    let rows = include_str!("../library/languages/examples.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| match row.split('\t').collect::<Vec<_>>()[..] {
        [kind, event, text] => Example { kind, event, text },
        _ => panic!("not three columns: {row}"),
    })
    .collect()
}
