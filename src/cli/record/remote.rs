//! `record -N`: the other end, and what it cannot take.

use super::super::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::network::Address;
use rtrace::network::send::{Destination, connect};
use rtrace::record::{BufferPlan, Compression, Plan, Remote};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Time that an interrupted connection is tried again.
const PATIENCE: Duration = Duration::from_secs(60);

/// The value of `-V`: a place over vsock.
pub(super) fn vsock_place(text: &str) -> Result<String, String> {
    let place = format!("@{text}");
    match Address::vsock(&place, None) {
        Some(Ok(_)) => Ok(place),
        _ => Err("expected CID:PORT in numbers".to_owned()),
    }
}

/// Connects to `place`, and makes `plan` one that can be sent there.
pub(super) fn connect_to(place: &str, plan: &mut Plan) -> Result<Arc<dyn Remote>, Failure> {
    let Destination { remote, is_trace_cmd } =
        connect(place, PATIENCE).map_err(|error| Failure::new(Exit::Failed, error))?;
    plan.output = PathBuf::from(remote.place());
    if is_trace_cmd {
        let who = format!("the listener at {place} is trace-cmd's, which");
        check_for_trace_cmd(plan, &who)
            .map_err(|why| Failure::new(Exit::Usage, anyhow!(why)).hint("`rtrace listen` there takes more."))?;
        plan.compression = Compression::None;
    }
    Ok(remote)
}

/// Refuses what cannot be sent in trace-cmd's way; `who` is the receiver.
pub(super) fn check_for_trace_cmd(plan: &Plan, who: &str) -> Result<(), String> {
    if plan.buffers.iter().filter(|buffer| buffer.traces()).count() > 1 {
        return Err(format!("{who} takes one buffer: -B cannot be sent to it"));
    }
    if plan.buffers.iter().any(BufferPlan::is_of_latency_tracer) {
        return Err(format!("{who} takes no latency tracer's text"));
    }
    Ok(())
}
