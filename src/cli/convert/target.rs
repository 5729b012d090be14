//! The formats that `convert` writes.

use rtrace::syntax::did_you_mean;
use std::path::Path;

/// A format to write.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConvertTarget {
    /// A recording, as `record` and trace-cmd write it
    #[value(name = "trace.dat")]
    TraceDat,
    /// Perfetto's trace format, for ui.perfetto.dev and its SQL
    Perfetto,
    /// A line per call stack with its time or count, for flame graphs
    Folded,
    /// Call stacks in the order of time, for speedscope.app
    Speedscope,
    /// Firefox Profiler's processed profile, for profiler.firefox.com
    Firefox,
    /// One page for a browser, which asks for no other file: summary, timeline, longest waits, tables, flame graph
    Html,
    /// Chrome's trace events, as JSON: for viewers that read nothing newer
    Chrome,
    /// A directory in the Common Trace Format 1.8, for babeltrace2 and Trace Compass
    Ctf,
    /// The same in version 2 of that format, for babeltrace2 from 2.1 on
    Ctf2,
    /// A directory with a table of typed columns per event type, for DuckDB, Spark, polars, pandas
    Parquet,
    /// All events as one stream of Arrow's record batches, for polars and pandas
    Arrow,
    /// One JSON object per line, as of `report --format json`
    Json,
    /// Comma-separated values, as of `report --format csv`
    Csv,
}

/// The formats in which texts can be pseudonyms, in words.
pub(super) const PSEUDONYMOUS: &str = "json, csv, perfetto, parquet and ctf";

/// Endings of file names, the longest first.
const ENDINGS: &[(&str, ConvertTarget)] = &[
    (".perfetto-trace", ConvertTarget::Perfetto),
    (".perfetto.tar", ConvertTarget::Perfetto),
    (".perfetto", ConvertTarget::Perfetto),
    (".html", ConvertTarget::Html),
    (".pftrace", ConvertTarget::Perfetto),
    (".speedscope.json", ConvertTarget::Speedscope),
    (".firefox.json", ConvertTarget::Firefox),
    (".chrome.json", ConvertTarget::Chrome),
    (".ctf", ConvertTarget::Ctf),
    (".ctf2", ConvertTarget::Ctf2),
    (".parquet", ConvertTarget::Parquet),
    (".arrows", ConvertTarget::Arrow),
    (".folded", ConvertTarget::Folded),
    (".jsonl", ConvertTarget::Json),
    (".ndjson", ConvertTarget::Json),
    (".json", ConvertTarget::Json),
    (".csv", ConvertTarget::Csv),
    (".dat", ConvertTarget::TraceDat),
];

impl ConvertTarget {
    /// The format that the file's name ends in.
    pub(super) fn of_ending(path: &Path) -> Option<ConvertTarget> {
        let name = path.file_name()?.to_string_lossy();
        ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, target)| *target)
    }

    /// The ending of a file's name that stands for it, if `name` has one.
    pub(super) fn ending_of(self, name: &str) -> Option<&'static str> {
        ENDINGS.iter().find(|(ending, target)| *target == self && name.ends_with(ending)).map(|(ending, _)| *ending)
    }

    /// Its name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            ConvertTarget::TraceDat => "trace.dat",
            ConvertTarget::Perfetto => "perfetto",
            ConvertTarget::Folded => "folded",
            ConvertTarget::Speedscope => "speedscope",
            ConvertTarget::Firefox => "firefox",
            ConvertTarget::Html => "html",
            ConvertTarget::Chrome => "chrome",
            ConvertTarget::Ctf => "ctf",
            ConvertTarget::Ctf2 => "ctf2",
            ConvertTarget::Parquet => "parquet",
            ConvertTarget::Arrow => "arrow",
            ConvertTarget::Json => "json",
            ConvertTarget::Csv => "csv",
        }
    }

    /// True if it is a directory of files.
    pub(super) fn is_directory(self) -> bool {
        matches!(self, ConvertTarget::Ctf | ConvertTarget::Ctf2 | ConvertTarget::Parquet)
    }

    /// True if texts in it can be pseudonyms.
    pub(super) fn has_pseudonyms(self) -> bool {
        matches!(
            self,
            ConvertTarget::Json
                | ConvertTarget::Csv
                | ConvertTarget::Perfetto
                | ConvertTarget::Parquet
                | ConvertTarget::Ctf
                | ConvertTarget::Ctf2
        )
    }

    /// The size in bytes above which its viewers fail, and their name: JavaScript's longest string, less what they add.
    pub(super) fn viewers_limit(self) -> Option<(u64, &'static str)> {
        const LIMIT: u64 = 375_000_000;
        match self {
            ConvertTarget::Speedscope => Some((LIMIT, "speedscope")),
            ConvertTarget::Firefox => Some((LIMIT, "Firefox Profiler")),
            _ => None,
        }
    }

    /// True if it is text, which a terminal can show.
    pub(super) fn is_text(self) -> bool {
        !matches!(
            self,
            ConvertTarget::TraceDat
                | ConvertTarget::Perfetto
                | ConvertTarget::Ctf
                | ConvertTarget::Ctf2
                | ConvertTarget::Parquet
                | ConvertTarget::Arrow
        )
    }
}

/// The ending of a file's name that looks like that of a format and is none, as `.xyz`. A number is none, nor what follows
/// `.dat`, as in `run.dat.old`.
pub(super) fn strange_ending(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    let (stem, ending) = name.rsplit_once('.')?;
    let is_word = ending.len() > 1 && ending.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_word && !stem.is_empty() && !stem.contains(".dat")).then(|| format!(".{ending}"))
}

/// The hint on an ending that stands for no format: the command that writes such a file, or an ending that is near.
pub(super) fn meant_by(ending: &str, input: &Path, output: &Path) -> String {
    let input = input.display();
    match ending {
        ".txt" | ".log" => format!("`rtrace report {input} > FILE{ending}` prints the events as text."),
        ".svg" => format!(
            "`rtrace flame {input} -o FILE{ending}` draws call stacks, with `--off-cpu` how long tasks waited; `.html` is a page for a browser."
        ),
        ".pq" | ".parq" => "did you mean `.parquet`, or `--to parquet`?".to_owned(),
        ".gz" | ".zst" | ".xz" | ".bz2" => {
            let format = output.file_stem().and_then(|stem| ConvertTarget::of_ending(Path::new(stem)));
            let program = match ending {
                ".zst" => "zstd",
                ".xz" => "xz",
                ".bz2" => "bzip2",
                _ => "gzip",
            };
            let format = format.map_or("FORMAT", ConvertTarget::name);
            format!(
                "`rtrace convert {input} --to {format} -o - | {program} > {}` compresses what is written.",
                output.display()
            )
        }
        ".data" => "perf.data is not written; of call stacks `--to firefox`, `--to speedscope` or `--to folded`, of events `--to perfetto`.".to_owned(),
        ".pcap" | ".pcapng" => {
            format!("events hold no packets, as `tcpdump -w FILE{ending}` writes them; `rtrace analyze net {input}` says what became of them.")
        }
        ".xlsx" | ".xls" | ".ods" => "`.csv` is what spreadsheets read.".to_owned(),
        ".md" => format!("`rtrace analyze all {input} --markdown > FILE{ending}` writes tables."),
        ".db" | ".sqlite" | ".duckdb" => {
            format!("`rtrace sql {input} STATEMENT` asks a recording; `.parquet` is for databases.")
        }
        _ => {
            let near = did_you_mean(ending, ENDINGS.iter().map(|(own, _)| *own));
            let near = near.map(|near| near + " ").unwrap_or_default();
            near + "`--to trace.dat` writes a recording, `--to FORMAT` one of those in `rtrace convert --help`."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        let of = |name: &str| ConvertTarget::of_ending(Path::new(name));
        assert_eq!(of("a.perfetto-trace"), Some(ConvertTarget::Perfetto));
        assert_eq!(of("a.perfetto.tar"), Some(ConvertTarget::Perfetto));
        assert_eq!(of("a.speedscope.json"), Some(ConvertTarget::Speedscope));
        assert_eq!(of("a/b.json"), Some(ConvertTarget::Json));
        assert_eq!(of("a.csv"), Some(ConvertTarget::Csv));
        let strange = |name: &str| strange_ending(Path::new(name));
        assert_eq!([strange("a.xyz"), strange("a.b.xyz")], [Some(".xyz".into()), Some(".xyz".into())]);
        assert!(
            ["a", "a.1", "run.dat.old", ".hidden", "-", "dir.xyz/a", "host.v6"]
                .iter()
                .all(|name| strange(name).is_none())
        );
        assert_eq!(of("trace.dat"), Some(ConvertTarget::TraceDat));
        assert_eq!([of("a"), of("a.csv/"), of("-"), of("/")], [None, Some(ConvertTarget::Csv), None, None]);
    }
}
