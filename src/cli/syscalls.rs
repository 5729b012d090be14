//! `--syscalls`: calls in words, of recordings and of this machine.

use super::exit::{Exit, Failure};
use super::machine::RecordingMachine;
use anyhow::anyhow;
use rtrace::abi::Abi;
use rtrace::export::{SyscallDecoder, SyscallNames};
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::Trace;

/// Decoders for the calls of each recording, if one of them has events of calls.
pub(crate) fn decoders<'t>(traces: impl Iterator<Item = &'t Trace>) -> Result<Vec<SyscallDecoder>, Failure> {
    let of = |trace: &Trace| decoder(trace.formats(), trace.abi, RecordingMachine::of_recording(trace));
    checked(traces.map(of).collect())
}

/// The decoder for calls of this machine.
pub(crate) fn live_decoder(formats: &[EventFormat], abi: Abi) -> Result<SyscallDecoder, Failure> {
    let machine =
        nix::sys::utsname::uname().ok().and_then(|uname| RecordingMachine::of(&uname.machine().to_string_lossy()));
    let decoder = decoder(formats, abi, machine);
    checked(vec![decoder])?.pop().ok_or_else(none)
}

fn decoder<'f>(
    formats: impl IntoIterator<Item = &'f EventFormat>,
    abi: Abi,
    machine: Option<RecordingMachine>,
) -> SyscallDecoder {
    let names: SyscallNames = Box::new(move |number| machine?.name(number));
    SyscallDecoder::new(formats, abi, machine.map(RecordingMachine::dialect).unwrap_or_default(), names)
}

fn checked(decoders: Vec<SyscallDecoder>) -> Result<Vec<SyscallDecoder>, Failure> {
    if decoders.iter().any(SyscallDecoder::has_events) { Ok(decoders) } else { Err(none()) }
}

fn none() -> Failure {
    Failure::new(Exit::Failed, anyhow!("there are no events of system calls for --syscalls"))
        .hint("`-e raw_syscalls` records all of them.")
}
