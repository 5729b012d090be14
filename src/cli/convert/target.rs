//! The formats that `convert` writes.

use std::path::Path;

/// A format to write.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A recording, as `record` and trace-cmd write it
    #[value(name = "trace.dat")]
    TraceDat,
    /// Perfetto's trace format, for ui.perfetto.dev and its SQL
    Perfetto,
    /// A line per call stack with its time or count, for flame graphs
    Folded,
    /// Call stacks in the order of time, for speedscope.app
    Speedscope,
    /// Chrome's trace events, as JSON: for viewers that read nothing newer
    Chrome,
    /// A directory in the Common Trace Format 1.8, for babeltrace2 and Trace Compass
    Ctf,
    /// A directory with a table of typed columns per event type, for DuckDB, Spark, polars, pandas
    Parquet,
    /// All events as one stream of Arrow's record batches, for polars and pandas
    Arrow,
    /// One JSON object per line, as of `report --format json`
    Json,
    /// Comma-separated values, as of `report --format csv`
    Csv,
}

/// Endings of file names, the longest first.
const ENDINGS: &[(&str, Target)] = &[
    (".perfetto-trace", Target::Perfetto),
    (".perfetto", Target::Perfetto),
    (".pftrace", Target::Perfetto),
    (".speedscope.json", Target::Speedscope),
    (".chrome.json", Target::Chrome),
    (".ctf", Target::Ctf),
    (".parquet", Target::Parquet),
    (".arrows", Target::Arrow),
    (".folded", Target::Folded),
    (".jsonl", Target::Json),
    (".ndjson", Target::Json),
    (".json", Target::Json),
    (".csv", Target::Csv),
    (".dat", Target::TraceDat),
];

impl Target {
    /// The format that the file's name ends in.
    pub(super) fn of_ending(path: &Path) -> Option<Target> {
        let name = path.file_name()?.to_string_lossy();
        ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, target)| *target)
    }

    /// Its name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Target::TraceDat => "trace.dat",
            Target::Perfetto => "perfetto",
            Target::Folded => "folded",
            Target::Speedscope => "speedscope",
            Target::Chrome => "chrome",
            Target::Ctf => "ctf",
            Target::Parquet => "parquet",
            Target::Arrow => "arrow",
            Target::Json => "json",
            Target::Csv => "csv",
        }
    }

    /// True if it is a directory of files.
    pub(super) fn is_directory(self) -> bool {
        matches!(self, Target::Ctf | Target::Parquet)
    }

    /// True if it is text, which a terminal can show.
    pub(super) fn is_text(self) -> bool {
        !matches!(self, Target::TraceDat | Target::Perfetto | Target::Ctf | Target::Parquet | Target::Arrow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        let of = |name: &str| Target::of_ending(Path::new(name));
        assert_eq!(of("a.perfetto-trace"), Some(Target::Perfetto));
        assert_eq!(of("a.speedscope.json"), Some(Target::Speedscope));
        assert_eq!(of("a/b.json"), Some(Target::Json));
        assert_eq!(of("a.csv"), Some(Target::Csv));
        assert_eq!(of("trace.dat"), Some(Target::TraceDat));
        assert_eq!([of("a"), of("a.csv/"), of("-"), of("/")], [None, Some(Target::Csv), None, None]);
    }
}
