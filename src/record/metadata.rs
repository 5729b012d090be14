//! What a trace file says about the kernel it was made on.

use crate::trace_dat::{WriteError, Writer};
use crate::tracefs::{Error, EventName, Tracefs};
use std::collections::BTreeMap;

/// Texts of tracefs that go into the file as they are.
#[derive(Debug)]
pub(super) struct Metadata {
    pub(super) header_page: String,
    pub(super) header_event: String,
    /// Formats of the `ftrace` system: markers, function entries and the like need no enabling.
    pub(super) ftrace_formats: Vec<String>,
    /// Formats by system.
    pub(super) formats: BTreeMap<String, Vec<String>>,
    pub(super) printk_formats: Vec<u8>,
}

impl Metadata {
    /// Reads the formats of `events`, or of all events there are.
    pub(super) fn read(tracefs: &Tracefs, events: Option<&[EventName]>) -> Result<Self, Error> {
        let top = tracefs.top();
        let all;
        let events = match events {
            Some(events) => events,
            None => {
                all = top.events()?;
                &all
            }
        };
        let mut formats: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for event in events.iter().filter(|event| event.system != "ftrace") {
            formats.entry(event.system.clone()).or_default().push(top.event_format(event)?);
        }
        let mut ftrace_formats = Vec::new();
        for event in top.events_of("ftrace")? {
            ftrace_formats.push(top.event_format(&event)?);
        }
        Ok(Metadata {
            header_page: tracefs.header_page()?.0,
            header_event: tracefs.header_event()?,
            ftrace_formats,
            formats,
            printk_formats: tracefs.printk_formats()?,
        })
    }

    /// Puts them into a file.
    pub(super) fn write(self, writer: &mut Writer) -> Result<(), WriteError> {
        writer.header_info(self.header_page.as_bytes(), self.header_event.as_bytes())?;
        writer.ftrace_formats(&self.ftrace_formats)?;
        writer.event_formats(&self.formats.into_iter().collect::<Vec<_>>())?;
        writer.printk_formats(&self.printk_formats)
    }
}
