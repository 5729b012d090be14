//! The size of a file before it is written: some of its events, spread over the time, are written to nowhere.

use crate::cli::exit::Failure;
use crate::cli::query::QueryEvents;
use rtrace::units::Timestamp;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Events in the order of time: how many, from when to when, and places among them.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) count: u64,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    /// Numbers of events, ascending, with their times; each is the first event of its time.
    places: Vec<(u64, Timestamp)>,
}

/// Number of places at which every other one is dropped.
const MOST_PLACES: usize = 4096;
/// Samples, and the events in each.
const SAMPLES: u64 = 8;
const EVENTS: u64 = 4000;

impl Course {
    /// That of all events; `None` if there are none.
    pub(super) fn of(events: &QueryEvents<'_>) -> Result<Option<Self>, Failure> {
        let mut course: Option<Course> = None;
        let (mut next, mut every) = (0, 1);
        events.query.resolve()?.walk(|current| {
            let time = current.record().timestamp;
            let fresh = || Course { count: 0, first: time, last: time, places: vec![(0, time)] };
            let course = course.get_or_insert_with(fresh);
            if course.count >= next && time > course.last {
                course.places.push((course.count, time));
                next = course.count + every;
                if course.places.len() == MOST_PLACES {
                    let mut number = 0;
                    course.places.retain(|_| {
                        number += 1;
                        number % 2 == 1
                    });
                    every *= 2;
                }
            }
            (course.count, course.last) = (course.count + 1, time);
            Ok::<_, Failure>(ControlFlow::Continue(()))
        })?;
        Ok(course)
    }

    /// The place at or before an event's number.
    pub(super) fn place(&self, event: u64) -> (u64, Timestamp) {
        let after = self.places.partition_point(|(number, _)| *number <= event);
        after.checked_sub(1).and_then(|at| self.places.get(at)).copied().unwrap_or((0, self.first))
    }

    /// The number of bytes that `export` makes of all of them, from samples.
    pub(super) fn size<'e>(
        &self,
        events: &QueryEvents<'e>,
        export: impl Fn(&QueryEvents<'e>, &mut (dyn Write + Send)) -> Result<u64, Failure>,
    ) -> Result<u64, Failure> {
        let (mut bytes, mut written) = (EstimateOutput(0), 0);
        for sample in 0..SAMPLES {
            let (_, begin) = self.place(self.count / SAMPLES * sample);
            let query = events.query.clone().since(begin).until(self.last).first(EVENTS);
            written += export(&QueryEvents { query, ..events.clone() }, &mut bytes)?;
        }
        let share = self.count as f64 / written.max(1) as f64;
        Ok((bytes.0 as f64 * share) as u64)
    }
}

/// An output that counts its bytes.
struct EstimateOutput(u64);

impl Write for EstimateOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
