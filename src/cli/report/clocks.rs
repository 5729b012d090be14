//! Several machines' recordings in one report: how well their clocks agree.

use crate::cli::query::QueryInput;
use crate::cli::terminal::note;
use rtrace::internal::trace_dat::{GuestFacts, OptionId, TimeShift, Trace};

/// Says of each guest's file by which clock its times are shown, and how exactly.
pub(super) fn tell(inputs: &[QueryInput]) {
    if inputs.len() < 2 {
        return;
    }
    for input in inputs {
        let trace = &input.trace;
        let path = input.path.display();
        if let Some(comparison) = trace.clock_comparison() {
            note!("rtrace: {path}: times {comparison}");
        } else if inputs.iter().any(|host| is_guest_of(trace, &host.trace) && !is_timed_by(&host.trace, trace)) {
            match trace.option(OptionId::TIME_SHIFT) {
                Some(_) => note!("rtrace: {path}: times by the host's clock; the file does not say how exactly"),
                None => note!("rtrace: {path}: times by the guest's own clock, which was not compared with the host's"),
            }
        }
    }
}

/// True if the times of `other` become those of `trace`: by trace-cmd's `record --proxy` each is the other's guest.
fn is_timed_by(other: &Trace, trace: &Trace) -> bool {
    let shift = other.option(OptionId::TIME_SHIFT).and_then(|option| TimeShift::read(option, other.prefix.abi).ok());
    shift.is_some_and(|shift| Some(shift.peer) == trace.id())
}

/// True if `host` names `guest` as a guest of its own.
fn is_guest_of(guest: &Trace, host: &Trace) -> bool {
    let named = |id| {
        host.options(OptionId::GUEST)
            .any(|option| GuestFacts::read(option, host.prefix.abi).is_some_and(|facts| facts.id == id))
    };
    guest.id().is_some_and(named)
}
