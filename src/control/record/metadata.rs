//! Facts in a trace file about the kernel it was made on.
//! Settings that decide how the kernel shows a buffer's events, kept for `report --format kernel`.
//! Statistics and settings of the buffers when the last event was taken: after that nothing of them is needed any more.
//! Marks in the file of events that it lacks and that no record of it tells of.

use super::offline::online_cpus;
use super::setup::SetUpBuffer;
use super::wall_clock;
use super::worker::Drained;
use crate::base::units::CpuId;
use crate::control::tracefs::{self, Error, EventName, Tracefs};
use crate::file::trace_dat::{
    Cgroups, CpuRanges, KernelView, LossCause, OptionId, SectionWriter, UnsavedEvents, WriteError,
};
use crate::kernel::btf::Enumerators;
use nix::sys::utsname;
use nix::unistd::{SysconfVar, sysconf};
use std::collections::{BTreeMap, BTreeSet};

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

/// The options that hold the cgroups of tasks, and the throttled time of cgroups.
pub(super) fn cgroup_options(cgroups: &Cgroups) -> Vec<(OptionId, Vec<u8>)> {
    let mut options = vec![(OptionId::RTRACE_CGROUPS, with_nul(&cgroups.to_text()))];
    if !cgroups.quotas().is_empty() {
        options.push((OptionId::RTRACE_QUOTAS, with_nul(&cgroups.quotas().to_text())));
    }
    options
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

/// The settings of `buffer`, which has been read out to its end.
fn view(tracefs: &Tracefs, buffer: &SetUpBuffer) -> Result<KernelView, Error> {
    let possible = buffer.cpus.len() as u32;
    let online = sysconf(SysconfVar::_NPROCESSORS_ONLN).ok().flatten().and_then(|n| u32::try_from(n).ok());
    let mut view = KernelView {
        tracer: buffer.instance.current_tracer()?,
        online: online.unwrap_or(possible),
        possible,
        release: uname().split(' ').nth(2).unwrap_or_default().to_owned(),
        ..KernelView::default()
    };
    for (name, on) in buffer.instance.options()? {
        view.options.set(&if on { name } else { format!("no{name}") });
    }
    if view.options.record_tgid {
        view.set_tgids(&String::from_utf8_lossy(&tracefs.saved_tgids()?));
    }
    view.set_dynamic_events(&String::from_utf8_lossy(&tracefs.dynamic_events()?));
    for (cpu, _) in &buffer.cpus {
        let stats = buffer.instance.cpu_stats(*cpu)?;
        view.entries += stats.read + stats.entries;
        view.written += stats.read + stats.entries + stats.overrun;
    }
    Ok(view)
}

/// `sysname nodename release machine` of the running kernel, as uname(1) prints them and recordings keep them; empty
/// where the kernel does not tell.
pub fn uname() -> String {
    let Ok(name) = utsname::uname() else { return String::new() };
    let words = [name.sysname(), name.nodename(), name.release(), name.machine()];
    words.map(|word| word.to_string_lossy().into_owned()).join(" ")
}

/// Options of the file, and texts in place of events.
pub(super) struct AtTheEnd {
    pub(super) options: Vec<(OptionId, Vec<u8>)>,
    /// Of each buffer whose events are text.
    pub(super) texts: Vec<Result<Vec<u8>, tracefs::Error>>,
}

/// Options about a recording that goes on, all but its coverage.
pub(super) fn options_so_far(tracefs: &Tracefs, buffers: &[SetUpBuffer]) -> Vec<(OptionId, Vec<u8>)> {
    let mut options = Vec::new();
    if let Some(reading) = buffers.first().and_then(wall_clock::read) {
        options.push((OptionId::RTRACE_WALL_CLOCK, with_nul(&reading.to_string())));
    }
    for buffer in buffers.iter().filter(|buffer| buffer.counted) {
        if let Ok(view) = view(tracefs, buffer) {
            options.push((OptionId::RTRACE_VIEW, with_nul(&view.to_text(&buffer.name))));
        }
    }
    options
}

impl AtTheEnd {
    /// Reads them; `offline` are the CPUs that had no events for that.
    pub(super) fn read(tracefs: &Tracefs, buffers: &[SetUpBuffer], offline: &CpuRanges) -> Self {
        let mut options = Vec::new();
        if !offline.is_empty() {
            options.push((OptionId::RTRACE_OFFLINE, with_nul(&offline.to_string())));
        }
        if let Some(reading) = buffers.first().and_then(wall_clock::read) {
            options.push((OptionId::RTRACE_WALL_CLOCK, with_nul(&reading.to_string())));
        }
        for buffer in buffers {
            if !buffer.name.is_empty() {
                options.push((OptionId::CPUSTAT, with_nul(&format!("\nBuffer: {}\n\n", buffer.name))));
            }
            if let Some(text) = &buffer.last_boot {
                options.push((OptionId::LAST_BOOT_INFO, with_nul(&format!("{}:{text}", buffer.name))));
            }
            for (cpu, _) in buffer.cpus.iter().filter(|_| buffer.counted) {
                // Without its counters a recording is still one.
                if let Some(stats) = buffer.counters(*cpu) {
                    options.push((OptionId::CPUSTAT, with_nul(&format!("CPU: {cpu}\n{stats}"))));
                }
            }
            let coverage = &buffer.coverage;
            let is_later = coverage.joined > 0 || !coverage.changes.is_empty() || !coverage.shortened.is_empty();
            if is_later || !(coverage.left_out.is_empty() && coverage.excluded.is_empty()) {
                options.push((OptionId::RTRACE_COVERAGE, with_nul(&buffer.coverage.to_text(&buffer.name))));
            }
            // A snapshot's entries are not counted. Without a view, only its looks are guessed, so no error is worth a
            // recording.
            if let (true, Ok(view)) = (buffer.counted, view(tracefs, buffer)) {
                options.push((OptionId::RTRACE_VIEW, with_nul(&view.to_text(&buffer.name))));
            }
        }
        let texts = buffers.iter().filter(|b| b.is_text).map(|buffer| buffer.instance.trace_text()).collect();
        AtTheEnd { options, texts }
    }
}

/// Marks in `drained` the CPUs that gave nothing and were offline both at the begin, when those of `before` were online, and
/// now; those without a ring are marked already. Gives those that are marked in all buffers.
pub(super) fn mark_offline(drained: &mut [Vec<Drained>], before: Option<&CpuRanges>) -> CpuRanges {
    let now = online_cpus();
    let is_off = |cpus: Option<&CpuRanges>, cpu| cpus.is_some_and(|online| !online.contains(cpu));
    for ring in drained.iter_mut().flatten() {
        ring.offline |= ring.tally.bytes == 0 && is_off(before, ring.cpu) && is_off(now.as_ref(), ring.cpu);
    }
    let with = |offline| drained.iter().flatten().filter(move |d| d.offline == offline).map(|d| d.cpu);
    let on: BTreeSet<CpuId> = with(false).collect();
    let off: BTreeSet<CpuId> = with(true).filter(|cpu| !on.contains(cpu)).collect();
    off.into_iter().collect()
}

/// The events of one CPU of `buffer` that are not in its spool, beside those that a limit of the user's keeps out and those
/// that a flight recorder dropped. `unread`: events left in the ring. `cut_short`: recording ended because something could not
/// be written.
pub(super) fn marks(buffer: &str, drained: &Drained, unread: u64, cut_short: bool) -> Vec<UnsavedEvents> {
    let others = &drained.interference;
    let (dropped, gone, tally) = (drained.spool.dropped(), drained.gone, &drained.tally);
    let discarded = tally.events_discarded.saturating_sub(dropped.events).saturating_sub(gone.events);
    let known = |events: u64| Some(events).filter(|events| *events > 0);
    let counted = |events: u64| tally.events.and(known(events));
    let marks = [
        (others.read > 0, LossCause::READ_BY_OTHERS, known(others.read)),
        (others.cleared, LossCause::CLEARED, known(others.cleared_events)),
        (gone.bytes > 0, LossCause::REMOVED, counted(gone.events)),
        (cut_short, LossCause::NOT_WRITTEN, counted(discarded)),
        (unread > 0, LossCause::UNREAD, known(unread)),
    ];
    let mark = |(_, cause, events)| UnsavedEvents { buffer: buffer.to_owned(), cpu: drained.cpu, events, cause };
    marks.into_iter().filter(|mark| mark.0).map(mark).collect()
}
