//! One buffer of one recording, as a query reads it.

use super::Recording;
use crate::base::units::RecordedClock;
use crate::file::trace_dat::{OptionId, TimeOptions, TimeShift, WallClock};

/// One buffer of one recording. [`Record::buffer`](crate::kernel::event::Record::buffer) of a query's records is an index into
/// [`Query::sources`](super::Query::sources).
#[derive(Clone, Debug)]
pub struct BufferSource {
    /// The recording: index into those of the query.
    pub recording: usize,
    /// The buffer: index into [`Trace::buffers`](crate::file::trace_dat::Trace::buffers).
    pub buffer: usize,
    /// The buffer's CPUs that are read: indices into [`Buffer::cpus`](crate::file::trace_dat::Buffer::cpus).
    pub cpus: Vec<usize>,
    /// True if time stamps count something other than nanoseconds.
    pub in_ticks: bool,
    /// True if reports show time stamps as they are; else as seconds, which is also done with the ticks of `uptime`.
    pub shown_in_ticks: bool,
    /// Corrections of its time stamps.
    pub time: TimeOptions,
}

impl BufferSource {
    /// All sources in the order that decides between equal time stamps: the top buffers of all recordings, then the rest.
    pub(super) fn all(recordings: &[&Recording], time: &TimeOptions) -> Vec<BufferSource> {
        let mut sources = Vec::new();
        for (number, recording) in recordings.iter().enumerate() {
            for (buffer, of) in recording.trace.buffers.iter().enumerate() {
                let cpus = (0..of.cpus.len()).collect();
                let mut source = BufferSource {
                    recording: number,
                    buffer,
                    cpus,
                    in_ticks: false,
                    shown_in_ticks: false,
                    time: *time,
                };
                source.set_time(recordings, time);
                sources.push(source);
            }
        }
        sources.sort_by_key(|s| (!recordings[s.recording].trace.buffers[s.buffer].name.is_empty(), s.recording));
        sources
    }

    /// The wall clock by its times; `None` if nobody knows it.
    pub fn wall_clock(&self, recordings: &[&Recording]) -> Option<WallClock> {
        let trace = &recordings.get(self.recording)?.trace;
        let peer = trace.option(OptionId::TIME_SHIFT).and_then(|option| TimeShift::read(option, trace.prefix.abi).ok());
        let host = peer.and_then(|shift| recordings.iter().find(|other| other.trace.id() == Some(shift.peer)));
        trace.wall_clock(&self.time, host.map(|host| &host.trace)).filter(|_| !self.in_ticks)
    }

    /// Corrects its time stamps as `time` says.
    pub(super) fn set_time(&mut self, recordings: &[&Recording], time: &TimeOptions) {
        let trace = &recordings[self.recording].trace;
        let clock = trace.buffers[self.buffer].clock.as_str();
        let converted = time.frequency.is_some() || trace.option(OptionId::TSC2NSEC).is_some();
        let clock = RecordedClock::of(clock);
        self.in_ticks = time.raw || !(converted || clock.counts_nanoseconds());
        self.shown_in_ticks = time.raw || !(converted || clock.shown_as_seconds);
        self.time = *time;
    }
}
