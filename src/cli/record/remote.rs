//! `record -N`: the other end, and what it cannot take.

use super::super::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::internal::network::Address;
use rtrace::internal::network::send::{BufferSession, ConnectError, Destination, ListenerKind, Transport, connect};
use rtrace::internal::trace_dat::write::Version;
use rtrace::record::{BufferPlan, Compression, Plan, TargetBuffer};
use std::path::PathBuf;
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

/// The value of `-N`.
pub(super) fn place(text: &str) -> Result<String, String> {
    match Address::is_place(text) {
        true => Ok(text.to_owned()),
        false => Err("expected HOST:PORT, [ADDRESS]:PORT, or PORT of this machine".to_owned()),
    }
}

/// Connects to `place`, and makes `plan` one that can be sent there. Says what will not be known of it.
pub(super) fn connect_to(
    place: &str,
    transport: Transport,
    file_version: Option<u8>,
    plan: &mut Plan,
    warn: &mut dyn FnMut(&str),
) -> Result<Destination, Failure> {
    let version = if file_version == Some(7) { Version::V7(plan.compression.codec()) } else { Version::V6 };
    let connected = connect(place, transport, version, PATIENCE, &buffers(plan));
    let destination = connected.map_err(|error| {
        let nobody_answers = matches!(&error, ConnectError::Connect { .. });
        let failure = Failure::new(Exit::Failed, error);
        match nobody_answers {
            true => failure.hint("`rtrace listen --port PORT` on that machine waits for recordings."),
            false => failure,
        }
    })?;
    let kind = destination.kind;
    if file_version == Some(6) && kind != ListenerKind::TraceCmd {
        let error = anyhow!("the listener at {place} is rtrace's, which writes files of version 7");
        return Err(Failure::new(Exit::Usage, error).hint("`rtrace convert --file-version 6` there makes the other."));
    }
    plan.output = PathBuf::from(destination.remote.place());
    let (who, hint) = match kind {
        ListenerKind::Ours => return Ok(destination),
        ListenerKind::OursOverUdp => ("a session over UDP".to_owned(), "Without --udp it takes more."),
        ListenerKind::TraceCmd => {
            (format!("the listener at {place} is trace-cmd's, which"), "`rtrace listen` there takes more.")
        }
    };
    check_texts(plan, &who).map_err(|why| Failure::new(Exit::Usage, anyhow!(why)).hint(hint))?;
    if (kind, transport) == (ListenerKind::TraceCmd, Transport::Udp) {
        warn(&format!(
            "the listener at {place} is trace-cmd's, which does not count datagrams: those lost on the way will not be known \
             (without --udp none are lost)"
        ));
    }
    plan.compression = Compression::None;
    Ok(destination)
}

/// The buffers that have rings: the instances, and the main one (which is called ``) if anything fills it.
fn buffers(plan: &Plan) -> Vec<String> {
    let name = |(index, buffer): (usize, &BufferPlan)| match &buffer.place {
        _ if index == 0 => buffer.traces().then(String::new),
        TargetBuffer::Instance(name) => Some(name.clone()),
        TargetBuffer::Private | TargetBuffer::Top => None,
    };
    plan.buffers.iter().enumerate().filter_map(name).collect()
}

/// The lines of a summary that say which file at the listener is which buffer's.
pub(super) fn tell(sessions: &[BufferSession]) -> String {
    let line = |BufferSession { buffer, port }: &BufferSession| match buffer.as_str() {
        "" => format!("the main buffer: the file there with {port} in its name\n"),
        buffer => format!("instance {buffer}: the file there with {port} in its name\n"),
    };
    sessions.iter().map(line).collect()
}

/// The same for a summary in JSON.
pub(super) fn json(sessions: &[BufferSession]) -> serde_json::Value {
    sessions.iter().map(|of| serde_json::json!({ "buffer": of.buffer, "port": of.port })).collect()
}

/// Refuses what cannot be sent to a controller; `who` is that.
pub(super) fn check_for_controller(plan: &Plan, who: &str) -> Result<(), String> {
    if plan.buffers.iter().filter(|buffer| buffer.traces()).count() > 1 {
        return Err(format!("{who} takes one buffer: -B cannot be sent to it"));
    }
    check_texts(plan, who)
}

/// Refuses what is no data of rings.
fn check_texts(plan: &Plan, who: &str) -> Result<(), String> {
    if plan.buffers.iter().any(BufferPlan::is_of_latency_tracer) {
        return Err(format!("{who} takes no latency tracer's text"));
    }
    Ok(())
}
