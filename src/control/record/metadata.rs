//! Facts in a trace file about the kernel it was made on.

use super::setup::SetUpBuffer;
use crate::control::tracefs::{Error, EventName, Tracefs};
use crate::file::trace_dat::{OptionId, SectionWriter, WriteError};
use crate::kernel::btf::Enumerators;
use std::collections::BTreeMap;

/// Texts of tracefs that go into the file as they are.
#[derive(Debug)]
pub(super) struct KernelMetadata {
    pub(super) header_page: String,
    header_event: String,
    /// Formats of the `ftrace` system: markers, function entries and the like need no enabling.
    pub(super) ftrace_formats: Vec<String>,
    /// Formats by system.
    pub(super) formats: BTreeMap<String, Vec<String>>,
    pub(super) printk_formats: Vec<u8>,
    /// Of names in the formats.
    pub(super) enumerators: Enumerators,
}

/// Formats that were read before anything was switched on: what the kernel does for two thousand files would run the
/// probes of many events.
#[derive(Debug, Default)]
pub(super) struct Formats(BTreeMap<EventName, String>);

impl Formats {
    /// Reads those of `events`.
    pub(super) fn read<'a>(tracefs: &Tracefs, events: impl IntoIterator<Item = &'a EventName>) -> Result<Self, Error> {
        let events: Vec<&EventName> = events.into_iter().collect();
        let texts = tracefs.top().event_formats(&events)?;
        Ok(Formats(events.into_iter().cloned().zip(texts).collect()))
    }
}

impl KernelMetadata {
    /// Reads the formats of `events`, or of all events there are, but for those that are `known`.
    pub(super) fn read(tracefs: &Tracefs, events: Option<&[EventName]>, mut known: Formats) -> Result<Self, Error> {
        let top = tracefs.top();
        let all;
        let events = match events {
            Some(events) => events,
            None => {
                all = top.events()?;
                &all
            }
        };
        let others = || events.iter().filter(|event| event.system != "ftrace");
        let missing: Vec<&EventName> = others().filter(|event| !known.0.contains_key(*event)).collect();
        known.0.extend(missing.iter().copied().cloned().zip(top.event_formats(&missing)?));
        let mut formats: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for event in others() {
            if let Some(format) = known.0.remove(event) {
                formats.entry(event.system.clone()).or_default().push(format);
            }
        }
        let ftrace = top.events_of("ftrace")?;
        let ftrace_formats = top.event_formats(&ftrace.iter().collect::<Vec<_>>())?;
        let enumerators = enumerators(tracefs, formats.values().flatten());
        Ok(KernelMetadata {
            enumerators,
            header_page: tracefs.header_page()?.0,
            header_event: tracefs.header_event()?,
            ftrace_formats,
            formats,
            printk_formats: tracefs.printk_formats()?,
        })
    }

    /// Puts them into a file.
    pub(super) fn write(self, writer: &mut SectionWriter) -> Result<(), WriteError> {
        writer.header_info(self.header_page.as_bytes(), self.header_event.as_bytes())?;
        writer.ftrace_formats(&self.ftrace_formats)?;
        writer.event_formats(&self.formats.into_iter().collect::<Vec<_>>())?;
        if !self.enumerators.is_empty() {
            writer.option(OptionId::RTRACE_ENUMERATORS, self.enumerators.to_text().as_bytes());
        }
        writer.printk_formats(&self.printk_formats)
    }
}

/// The values of the names in the formats. Those of modules are looked up in the modules' types only if the kernel's do
/// not have them. Without types the names stay what they are, so no error is worth a recording.
fn enumerators<'a>(tracefs: &Tracefs, formats: impl Iterator<Item = &'a String>) -> Enumerators {
    let mut wanted = Enumerators::wanted(formats.map(String::as_str));
    if wanted.is_empty() {
        return Enumerators::default();
    }
    let Ok(kernel) = tracefs.kernel_types() else { return Enumerators::default() };
    let mut found = Enumerators::find(&mut wanted, &kernel, None).unwrap_or_default();
    for module in tracefs.modules_with_btf() {
        if wanted.is_empty() {
            break;
        }
        let Ok(types) = tracefs.module_btf(&module) else { continue };
        found.extend(Enumerators::find(&mut wanted, &types, Some(&kernel)).unwrap_or_default());
    }
    found
}

/// Texts in options end with a NUL, as in trace-cmd's files.
pub(super) fn with_nul(text: &str) -> Vec<u8> {
    [text.as_bytes(), b"\0"].concat()
}

/// Options of tracers that store them.
const OPTIONS: [&str; 2] = ["func-args", "funcgraph-args"];

/// The kernel's BTF if any of the buffers stores arguments: megabytes that are of no use to others. Without it arguments
/// stay numbers, so no error is worth a recording.
pub(super) fn btf(tracefs: &Tracefs, buffers: &[SetUpBuffer]) -> Option<Vec<u8>> {
    let is_on = |(name, on): &(String, bool)| *on && OPTIONS.contains(&name.as_str());
    let stores = |buffer: &SetUpBuffer| buffer.instance.options().is_ok_and(|options| options.iter().any(is_on));
    if !buffers.iter().any(stores) {
        return None;
    }
    tracefs.kernel_btf().ok()
}
