//! `record -N`: the other end, and what it cannot take.

use super::super::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::network::send::{Destination, connect};
use rtrace::record::{BufferPlan, Compression, Plan, Remote};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Time that an interrupted connection is tried again.
const PATIENCE: Duration = Duration::from_secs(60);

/// Connects to `place`, and makes `plan` one that can be sent there.
pub(super) fn connect_to(place: &str, plan: &mut Plan) -> Result<Arc<dyn Remote>, Failure> {
    let Destination { remote, is_trace_cmd } =
        connect(place, PATIENCE).map_err(|error| Failure::new(Exit::Failed, error))?;
    plan.output = PathBuf::from(remote.place());
    if is_trace_cmd {
        if plan.buffers.iter().filter(|buffer| buffer.traces()).count() > 1 {
            let error =
                anyhow!("the listener at {place} is trace-cmd's, which takes one buffer: -B cannot be sent to it");
            return Err(Failure::new(Exit::Usage, error).hint("`rtrace listen` there takes all of them."));
        }
        if plan.buffers.iter().any(BufferPlan::is_of_latency_tracer) {
            let error = anyhow!("the listener at {place} is trace-cmd's, which takes no latency tracer's text");
            return Err(Failure::new(Exit::Usage, error));
        }
        plan.compression = Compression::None;
    }
    Ok(remote)
}
