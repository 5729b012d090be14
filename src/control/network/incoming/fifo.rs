//! Data of a guest's CPU that comes through a FIFO, which has no end.

use super::phase::Phase;
use crate::control::network::fifos::FifoReader;
use crate::control::record::Feed;
use std::io;
use std::time::{Duration, Instant};

/// Data that is older than this is stored although its chunk is not full.
const AGE: Duration = Duration::from_millis(500);
/// After the end, the time without data after which none is expected any more, of an agent that does not count.
const QUIET: Duration = Duration::from_secs(1);
/// The same if some that was counted is missing.
const LAST: Duration = Duration::from_secs(10);

/// Takes all that comes for `cpu`: until what was counted is there, or until nothing comes any more after the end.
pub(super) fn drain_fifo(
    mut fifo: FifoReader,
    cpu: u32,
    sub_buffer: usize,
    feed: &mut Feed<'_>,
    phase: &Phase,
) -> io::Result<()> {
    let (mut came, mut last, mut ended) = (0u64, Instant::now(), None);
    // Where what the file cannot take goes: the guest's agent would wait for the FIFO to have room.
    let mut dropped = vec![0; 64 << 10];
    loop {
        // Before looking: what came by the end is found by the look after it.
        let over = phase.is_over();
        let failed = feed.has_failed();
        if let Some(read) = fifo.read(if failed { &mut dropped } else { feed.room() })? {
            if !failed {
                feed.filled(read);
            }
            came += read as u64;
            last = Instant::now();
            continue;
        }
        feed.rest(AGE);
        if phase.is_aborted() {
            return Err(io::Error::other("the FIFO was still in use"));
        }
        if over {
            let quiet = last.max(*ended.get_or_insert_with(Instant::now)).elapsed();
            match phase.sent(cpu) {
                Some(sent) if came >= sent.saturating_mul(sub_buffer as u64) => return Ok(()),
                Some(sent) if quiet > LAST => {
                    let lost = sent.saturating_sub(came / (sub_buffer as u64).max(1));
                    return Err(io::Error::other(format!("{lost} of {sent} sub-buffers did not come out of the FIFO")));
                }
                None if quiet > QUIET => return Ok(()),
                _ => {}
            }
        }
        fifo.wait();
    }
}
