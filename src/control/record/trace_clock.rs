//! The trace clock: an instance's at this moment, from the statistics of one of its rings; and nanoseconds of the time stamp counter.

use super::offline::is_offline;
use crate::base::abi::Abi;
use crate::base::sys::{TaskEvents, page_size};
use crate::base::units::{CpuId, RecordedClock};
use crate::control::record::{Plan, RecordError, TargetBuffer};
use crate::control::tracefs::{Error, EventName, Instance, Journal, Tracefs, UndoError};
use crate::file::ring_buffer::{PageError, PageLayout, Walker};
use crate::kernel::format::EventFormat;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A time by the trace clock of `instance` that is not before now; `None` of a clock that does not count nanoseconds.
pub(super) fn not_before(instance: &Instance) -> Option<u64> {
    // The kernel cuts off what is less than a microsecond.
    not_after(instance)?.checked_add(1_000)
}

/// A time by the trace clock of `instance` that is not after now; `None` of a clock that does not count nanoseconds.
pub(super) fn not_after(instance: &Instance) -> Option<u64> {
    let clock = instance.trace_clock().ok()?;
    if !RecordedClock::of(&clock.current).counts_nanoseconds() {
        return None;
    }
    trace_clock(&instance.cpu_stats_text(*instance.cpus().ok()?.first()?).ok()?)
}

/// The trace clock in nanoseconds by a `stats` file's line `now ts:   805.767522` (kernel/trace/trace.c,
/// `tracing_stats_read()`; since Linux 2.6.39); `None` of a clock that counts something else.
pub(super) fn trace_clock(stats: &str) -> Option<u64> {
    let text = stats.lines().find_map(|line| line.strip_prefix("now ts:"))?.trim();
    let (seconds, micros) = text.split_once('.').filter(|(_, micros)| micros.len() == 6)?;
    let (seconds, micros): (u64, u64) = (seconds.parse().ok()?, micros.parse().ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(micros * 1_000)
}

// The trace clock, read from user space by way of raw markers: there is no system call for it.

/// Size of the ring of each CPU, in KiB: some thousand markers.
const RING: u64 = 256;
/// Our markers among those of others.
const ID: u32 = u32::from_ne_bytes(*b"rtcl");
/// Size of a marker: [`ID`] and a number.
const SIZE: usize = 8;

/// The clock of the main buffer of `plan`; `None` for the one of every new instance.
///
/// # Errors
/// [`Error`] if the buffer that is there cannot be asked.
pub fn main_clock(plan: &Plan, tracefs: &Tracefs) -> Result<Option<String>, Error> {
    let Some(main) = plan.buffers.first() else { return Ok(None) };
    let instance = match &main.place {
        _ if main.clock.is_some() => return Ok(main.clock.clone()),
        TargetBuffer::Private => return Ok(None),
        TargetBuffer::Top => tracefs.top(),
        TargetBuffer::Instance(name) if !tracefs.instances()?.contains(name) => return Ok(None),
        TargetBuffer::Instance(name) => tracefs.instance(name)?,
    };
    Ok(Some(instance.trace_clock()?.current))
}

/// A clock that the kernel stamps events with. Each reading is a marker in an instance of its own, which is gone with it.
#[derive(Debug)]
pub struct TraceClockReader {
    name: String,
    marker: File,
    rings: Vec<File>,
    /// Dropped after the files: an instance that is in use cannot be removed.
    journal: Journal,
    layout: PageLayout,
    /// Offset of the marker's bytes in its event.
    at: usize,
}

impl TraceClockReader {
    /// Reads the clock that is called `clock`, or the one of every new instance. `journal` removes the instance again.
    ///
    /// # Errors
    /// [`RecordError`]: the kernel has no such clock or no raw markers, or may not be asked.
    pub fn new(mut journal: Journal, clock: Option<&str>) -> Result<Self, RecordError> {
        let instance = journal.create_own_instance(&format!("rtrace-{}-clock", std::process::id()))?;
        journal.set_buffer_size(&instance, RING)?;
        if let Some(clock) = clock {
            journal.set_clock(&instance, clock)?;
        }
        let tracefs = instance.tracefs().clone();
        let name = instance.trace_clock()?.current;
        let (_, header) = tracefs.header_page()?;
        let layout = PageLayout::new(&header, header.abi(Abi::HOST.endian), instance.sub_buffer_size()?);
        let event = EventName { system: "ftrace".to_owned(), name: "raw_data".to_owned() };
        let format = tracefs.top().event_format(&event)?;
        let format = EventFormat::parse("ftrace", &format).ok();
        // `unsigned int id`, with which a marker's bytes begin.
        let at = format.as_ref().and_then(|format| format.field("id")).map_or(8, |field| field.offset);
        let open = |how: &OpenOptions, path: &Path| how.open(path).map_err(RecordError::Start);
        let marker = open(OpenOptions::new().write(true), &instance.path("trace_marker_raw"))?;
        let mut how = OpenOptions::new();
        how.read(true).custom_flags(nix::libc::O_NONBLOCK);
        let rings = instance.cpus()?.into_iter().map(|cpu| open(&how, &instance.trace_pipe_raw(cpu)));
        let rings = rings.collect::<Result<_, _>>()?;
        Ok(TraceClockReader { journal, name, marker, rings, layout, at })
    }

    /// The clock's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the clock; [`TraceClockReader::readings`] has the result, under `number`.
    ///
    /// # Errors
    /// The system call's error.
    pub fn read(&mut self, number: u32) -> io::Result<()> {
        let mut marker = [0; SIZE];
        let (id, rest) = marker.split_at_mut(SIZE / 2);
        id.copy_from_slice(&ID.to_ne_bytes());
        rest.copy_from_slice(&number.to_ne_bytes());
        self.marker.write_all(&marker)
    }

    /// The readings since the last call: number and time, in no order.
    ///
    /// # Errors
    /// The system call's error.
    pub fn readings(&mut self) -> io::Result<Vec<(u32, u64)>> {
        let mut found = Vec::new();
        let mut page = vec![0; self.layout.size];
        for ring in &mut self.rings {
            loop {
                match ring.read(&mut page) {
                    Ok(0) => break,
                    Ok(_) => readings_in(&page, &self.layout, self.at, &mut found)?,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock || is_offline(&e) => break,
                    Err(e) => return Err(e),
                }
            }
        }
        Ok(found)
    }

    /// Removes its instance.
    ///
    /// # Errors
    /// [`UndoError`] if that fails.
    pub fn close(self) -> Result<(), UndoError> {
        let TraceClockReader { journal, marker, rings, .. } = self;
        drop((marker, rings));
        journal.undo()
    }
}

fn readings_in(page: &[u8], layout: &PageLayout, at: usize, found: &mut Vec<(u32, u64)>) -> io::Result<()> {
    let damaged = |error: PageError| io::Error::other(error.to_string());
    let mut walker = Walker::new(layout.abi, 0, &layout.page(page).map_err(damaged)?);
    while let Some(place) = walker.step(page).map_err(damaged)? {
        let word = |offset: usize| {
            let bytes = place.bytes(page)?.get(at + offset..)?.first_chunk::<4>()?;
            Some(u32::from_ne_bytes(*bytes))
        };
        if word(0) == Some(ID) {
            found.extend(word(4).map(|number| (number, place.timestamp)));
        }
    }
    Ok(())
}

/// The clock that counts what this is about.
pub(super) const CLOCK: &str = "x86-tsc";

/// Multiplier and shift that the kernel itself uses, from perf's first page (since Linux 3.14), the same on all
/// `cpus`.
///
/// # Errors
/// [`Error::NoFeature`] where the kernel keeps time by something else, as in many guests; [`RecordError::Start`] if perf
/// may not be used.
pub(super) fn conversion(cpus: impl Iterator<Item = CpuId>) -> Result<(u32, u32), RecordError> {
    let none = || Error::NoFeature { what: "time stamp counter that it keeps time by".to_owned(), config: None };
    let mut all = None;
    for cpu in cpus {
        let event = match TaskEvents::open(cpu.0, page_size(), page_size() / 4) {
            Err(error) if is_offline(&error) => continue,
            opened => opened.map_err(RecordError::Start)?,
        };
        let (multiplier, shift) = event.tsc_conversion().ok_or_else(none)?;
        let found = (multiplier, u32::from(shift));
        if *all.get_or_insert(found) != found {
            return Err(none().into());
        }
    }
    Ok(all.ok_or_else(none)?)
}

/// The option's data: multiplier, shift, and an offset that no reader uses.
pub(super) fn option((multiplier, shift): (u32, u32)) -> Vec<u8> {
    [&multiplier.to_ne_bytes()[..], &shift.to_ne_bytes(), &0u64.to_ne_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::trace_clock;

    #[test]
    fn the_time_of_the_statistics() {
        let stats =
            |now: &str| format!("entries: 0\noldest event ts:     1.000000\nnow ts: {now}\ndropped events: 0\n");
        assert_eq!(trace_clock(&stats("  805.767522")), Some(805_767_522_000));
        assert!([stats("123456"), stats("x.000000"), String::new()].iter().all(|text| trace_clock(text).is_none()));
    }
}
