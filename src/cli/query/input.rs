//! A file to report: opened, its spools beside it if it is unfinished.
//! `--align`: several recordings whose clocks do not agree.

use super::window::unknown_wall_clock;
use crate::cli::exit::{Exit, Failure};
use crate::cli::trace_file;
use anyhow::anyhow;
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::{ReadAt, TimeOptions};
use rtrace::recording::{BufferSource, Query, Recording};
use std::fmt;
use std::fs::File;
use std::ops::{ControlFlow, Deref};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// One file.
pub(crate) struct QueryInput {
    pub(crate) path: PathBuf,
    pub(crate) recording: Recording,
    /// Files younger than this one that names were taken from.
    pub(crate) newer: Arc<Mutex<Vec<String>>>,
}

impl Deref for QueryInput {
    type Target = Recording;

    fn deref(&self) -> &Recording {
        &self.recording
    }
}

impl QueryInput {
    /// Opens the file; `kallsyms` stands in for the symbols it holds. With `ahead`, symbols are read
    /// while formats are parsed.
    pub(crate) fn open(path: &Path, kallsyms: Option<&Path>, ahead: bool) -> Result<Self, Failure> {
        let recording = trace_file::open_recording_with(path, kallsyms, ahead)?;
        Ok(QueryInput { path: path.to_owned(), recording, newer: Arc::default() })
    }

    /// Opens the file as `wrap` gives it.
    pub(crate) fn open_through<R: ReadAt + 'static>(
        path: &Path,
        wrap: impl FnOnce(File) -> R,
    ) -> Result<Self, Failure> {
        let recording = trace_file::open_recording_through(path, None, false, wrap)?;
        Ok(QueryInput { path: path.to_owned(), recording, newer: Arc::default() })
    }

    /// All formats.
    pub(crate) fn formats(&self) -> impl Iterator<Item = &EventFormat> {
        self.trace.formats()
    }

    /// The label of its lines.
    pub(crate) fn label(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The moment that is taken as the same in all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Align {
    /// The first event.
    #[default]
    Start,
    /// The last event.
    End,
    /// Any moment of the wall clock.
    Wall,
    /// The first event of that name, with or without its system.
    Event(String),
}

impl fmt::Display for Align {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Align::Start => "start",
            Align::End => "end",
            Align::Wall => "wall clock",
            Align::Event(name) => name,
        })
    }
}

/// `start`, `end`, `wall`, or an event.
pub(crate) fn parse(text: &str) -> Result<Align, String> {
    Ok(match text {
        "" => return Err("start, end, wall, or an event is wanted".to_owned()),
        "start" => Align::Start,
        "end" => Align::End,
        "wall" => Align::Wall,
        event => Align::Event(event.replace('/', ":")),
    })
}

/// Shifts the time stamps of all files but the first.
pub(super) fn align<'a>(at: &Align, inputs: &'a [QueryInput], query: Query<'a>) -> Result<Query<'a>, Failure> {
    let sources = query.sources();
    if sources.iter().any(|s| s.in_ticks != sources[0].in_ticks) {
        return Err(anyhow!("the files count time in different units: they cannot be aligned").into());
    }
    let (mut first, mut shifts) = (None, Vec::new());
    for (file, input) in inputs.iter().enumerate() {
        let own = sources.iter().filter(|source| source.recording == file).cloned().collect();
        let own = query.clone().of_sources(own);
        let (begin, end) = own.span()?.unwrap_or_default();
        let time = moment(at, input, own)?;
        let by = shift(*first.get_or_insert(time), time, (begin.0, end.0));
        shifts.push(by.ok_or_else(|| before_zero(at, &input.path))?);
    }
    let sources = sources.iter().map(|source| shifted(source, shifts[source.recording])).collect();
    Ok(query.of_sources(sources))
}

/// The number to add to times of a recording from `begin` to `end` so that `there` becomes `here`; `None` if a time would be
/// negative, or have no number.
pub(crate) fn shift(here: u64, there: u64, (begin, end): (u64, u64)) -> Option<i64> {
    let by = here.wrapping_sub(there).cast_signed();
    (begin.checked_add_signed(by).is_some() && end.checked_add_signed(by).is_some()).then_some(by)
}

/// The recording `path` begins before the first one's clock does.
pub(crate) fn before_zero(at: &Align, path: &Path) -> Failure {
    let error = anyhow!("aligned by {at}, {} begins before time 0 of the first one: name it first", path.display());
    Failure::new(Exit::Usage, error)
}

/// The time in one file of the moment that is taken as the same in all.
pub(crate) fn moment(at: &Align, input: &QueryInput, own: Query<'_>) -> Result<u64, Failure> {
    Ok(match at {
        Align::Start => own.span()?.unwrap_or_default().0.0,
        Align::End => own.span()?.unwrap_or_default().1.0,
        Align::Wall => start_of_1970(input, &own)?,
        Align::Event(name) => first_of(name, input, own)?,
    })
}

/// The time of 1970-01-01 by the recording's clock, which is mostly before its zero: modulo 2^64.
fn start_of_1970(input: &QueryInput, query: &Query<'_>) -> Result<u64, Failure> {
    let first = query.span()?.unwrap_or_default().0.0;
    let clock = query.sources().iter().find_map(|source| source.wall_clock(query.recordings()));
    let clock = clock.ok_or_else(|| unknown_wall_clock(&input.path.to_string_lossy()))?;
    Ok(first.wrapping_sub(clock.wall(first).cast_unsigned()))
}

/// The time of the first event of that name.
fn first_of(name: &str, input: &QueryInput, query: Query<'_>) -> Result<u64, Failure> {
    let named = |system: &str, event: &str| match name.split_once(':') {
        Some(both) => both == (system, event),
        None => name == event,
    };
    let none = || Failure::new(Exit::Usage, anyhow!("{} has no event {name} to be aligned by", input.path.display()));
    if !input.formats().any(|f| named(&f.system, &f.name)) {
        return Err(none());
    }
    let filter = if name.contains(':') { name.to_owned() } else { format!("*:{name}") };
    let (query, mut time) = (query.filter(&filter)?.first(1), None);
    // Damage is reported when the events are read.
    query.resolve()?.walk(|current| {
        time = Some(current.record().timestamp.0);
        Ok::<_, Failure>(ControlFlow::Break(()))
    })?;
    time.ok_or_else(none)
}

/// The source with its time stamps moved.
pub(crate) fn shifted(source: &BufferSource, by: i64) -> BufferSource {
    let offset = source.time.offset.wrapping_add(by);
    BufferSource { time: TimeOptions { offset, ..source.time }, ..source.clone() }
}
