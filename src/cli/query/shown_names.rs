//! Names as an export shows them: their own, or pseudonyms (`--redact`).

use super::{QueryEvents, QueryInput};
use rtrace::export::{Pseudonyms, Redacted};
use rtrace::internal::trace_dat::{Cgroups, TimeOptions};
use rtrace::symbols::{Comms, Symbols};
use std::borrow::Cow;

/// Names of tasks, files and machines as an export shows them: their own, or pseudonyms (`--redact`).
pub(crate) struct ShownNames<'e> {
    pseudonyms: Option<Pseudonyms>,
    /// Names of tasks, by recording.
    comms: Vec<Cow<'e, Comms>>,
    /// Names of recordings, if there are several.
    labels: Vec<String>,
}

impl<'e> ShownNames<'e> {
    pub(crate) fn of(events: &QueryEvents<'e>) -> Self {
        let pseudonyms = &events.pseudonyms;
        let comms = |input: &'e QueryInput| match pseudonyms {
            Some(pseudonyms) => Cow::Owned(pseudonyms.comms(&input.symbols.comms)),
            None => Cow::Borrowed(&input.symbols.comms),
        };
        let several = if events.inputs.len() > 1 { events.inputs } else { &[] };
        let mut names = ShownNames {
            comms: events.inputs.iter().map(comms).collect(),
            labels: Vec::new(),
            pseudonyms: pseudonyms.clone(),
        };
        names.labels = several.iter().map(|input| names.path(&input.label())).collect();
        names
    }

    /// The names of a recording's tasks.
    pub(crate) fn comms(&self, recording: usize) -> &Comms {
        &self.comms[recording]
    }

    /// The symbols of a recording.
    pub(crate) fn symbols<'i>(&self, input: &'i QueryInput) -> Cow<'i, Symbols> {
        match &self.pseudonyms {
            Some(names) => Cow::Owned(names.symbols(&input.symbols)),
            None => Cow::Borrowed(&input.symbols),
        }
    }

    /// The cgroups of a recording's tasks; the root has no name of its own.
    pub(crate) fn cgroups(&self, input: &QueryInput) -> Option<Cgroups> {
        let cgroups = input.trace.cgroups(&TimeOptions::default())?;
        let Some(names) = &self.pseudonyms else { return Some(cgroups) };
        Some(cgroups.with_paths(|path| if path == "/" { path.to_owned() } else { names.path(path.as_bytes()) }))
    }

    /// The value of `source` in lines of a recording.
    pub(crate) fn label(&self, recording: usize) -> Option<&str> {
        self.labels.get(recording).map(String::as_str)
    }

    /// `exporter`, whose records are shown so, too.
    pub(crate) fn shown<E>(&self, events: &QueryEvents<'_>, exporter: E) -> Redacted<'_, E> {
        let Some(pseudonyms) = &self.pseudonyms else { return Redacted::plain(exporter) };
        let buffers = events.query.sources().iter().map(|source| {
            let input = &events.inputs[source.recording];
            (input.trace.abi, input.trace.formats())
        });
        Redacted::new(exporter, pseudonyms, buffers)
    }

    /// The path of a recording, or a part of one.
    pub(crate) fn path(&self, path: &str) -> String {
        match &self.pseudonyms {
            Some(names) => names.path(path.as_bytes()),
            None => path.to_owned(),
        }
    }

    /// The name of a machine; nothing of an empty one.
    pub(crate) fn host(&self, name: &str) -> String {
        match &self.pseudonyms {
            Some(names) if !name.is_empty() => names.host(name.as_bytes()),
            _ => name.to_owned(),
        }
    }

    /// `sysname nodename release machine`, of which the second is the machine's name.
    pub(crate) fn uname(&self, text: String) -> String {
        if self.pseudonyms.is_none() {
            return text;
        }
        let word = |(at, word): (usize, &str)| if at == 1 { self.host(word) } else { word.to_owned() };
        text.split(' ').enumerate().map(word).collect::<Vec<_>>().join(" ")
    }
}
