//! Remotes (`remotes/NAME`, Linux 7.0; Documentation/trace/remotes.rst): ring buffers that a hypervisor or a firmware fills. The kernel shows
//! them as text, and lets nobody read their pages.

use super::instance::REMOTES;
use super::{Error, EventName, Feature, Instance, Tracefs};

/// The state of a remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteState {
    /// It traces.
    pub on: bool,
    /// Size of each CPU's ring, in KiB.
    pub kib_per_cpu: Option<u64>,
    /// The ring is there: since it traced first, while it holds events.
    pub loaded: bool,
    /// Its events, each with whether it is enabled.
    pub events: Vec<(EventName, bool)>,
}

impl Tracefs {
    /// The names of all remotes, sorted. None in a kernel in which nobody has registered one.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn remotes(&self) -> Result<Vec<String>, Error> {
        if !self.top().has(REMOTES) {
            return Ok(Vec::new());
        }
        Ok(self.list(REMOTES)?.into_iter().filter(|(_, dir)| *dir).map(|(name, _)| name).collect())
    }

    /// An existing remote, as a handle of its files.
    ///
    /// # Errors
    /// [`Error::NoFeature`] if this kernel has none at all, [`Error::NoRemote`]; [`Error::File`].
    pub fn remote(&self, name: &str) -> Result<Instance, Error> {
        self.require(&Feature::Remotes)?;
        let others = self.remotes()?;
        if others.iter().any(|known| known == name) {
            Ok(Instance::remote(self, name))
        } else {
            Err(Error::NoRemote { name: name.to_owned(), others })
        }
    }
}

impl RemoteState {
    /// That of `remote`.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn of(remote: &Instance) -> Result<Self, Error> {
        let size = remote.read("buffer_size_kb")?;
        let mut events = Vec::new();
        for (system, _) in remote.list("events")?.into_iter().filter(|(_, dir)| *dir) {
            for event in remote.events_of(&system)? {
                let on = remote.read(&event.file("enable"))?.trim() == "1";
                events.push((event, on));
            }
        }
        Ok(RemoteState {
            on: remote.read("tracing_on")?.trim() == "1",
            kib_per_cpu: size.split_whitespace().next().and_then(|kib| kib.parse().ok()),
            loaded: size.contains("(loaded)"),
            events,
        })
    }
}
