//! Requests as slices: one for each, and below it one for each of its parts.
//!
//! ```text
//!   | order 17                                       |
//!   | run | io |queued| wait |          run          |    task: "worker [412]"
//! ```

use super::proto::{bytes, message, text};
use super::tracks::{SLICE_BEGIN, SLICE_END, describe, track_event, uuid};
use crate::answer::analysis::TimedRequest;
use crate::base::units::Pid;

/// Number of the track's kind, beyond those of pairs, before those of calls and tables.
const REQUESTS: u64 = 124;

/// `TrackEvent.debug_annotations`; of each its name and a text.
const ANNOTATION: u32 = 4;
const ANNOTATION_NAME: u32 = 10;
const ANNOTATION_TEXT: u32 = 6;

/// Appends requests, each named by its key, on as many tracks as overlap, all called `name`. `task` names the thread of a part.
pub fn perfetto_requests<T: AsRef<[u8]>>(
    name: &str,
    machine: usize,
    mut requests: Vec<TimedRequest>,
    task: impl Fn(Pid) -> T,
    out: &mut Vec<u8>,
) {
    requests.sort_by(|a, b| (a.begin, a.end, &a.key).cmp(&(b.begin, b.end, &b.key)));
    // By track, the end of its last request.
    let mut tracks: Vec<u64> = Vec::new();
    for request in &requests {
        let place = tracks.iter().position(|end| *end <= request.begin).unwrap_or(tracks.len());
        let track = uuid(machine, REQUESTS, place);
        if place == tracks.len() {
            describe(out, machine, track, name, false);
            tracks.push(0);
        }
        tracks[place] = request.end;
        track_event(out, machine, (request.begin, SLICE_BEGIN, track), |out| text(out, 23, &request.key));
        for piece in &request.pieces {
            track_event(out, machine, (piece.begin, SLICE_BEGIN, track), |out| {
                if let Some(pid) = piece.task {
                    message(out, ANNOTATION, |out| {
                        bytes(out, ANNOTATION_NAME, b"task");
                        text(out, ANNOTATION_TEXT, task(pid).as_ref());
                    });
                }
                text(out, 23, piece.part.name().as_bytes());
            });
            track_event(out, machine, (piece.end, SLICE_END, track), |_| ());
        }
        track_event(out, machine, (request.end, SLICE_END, track), |_| ());
    }
}
