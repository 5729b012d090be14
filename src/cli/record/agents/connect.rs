//! Agents asked to record along, before the host's own recording begins.
//! The clock of this machine's recording, for the comparison with those of guests.

use crate::cli::exit::{Exit, Failure};
use crate::cli::record::RecordArgs;
use crate::cli::terminal::note;
use rtrace::internal::network::FIFO_FOLDER;
use rtrace::internal::network::control::{AgentConnection, Guest, GuestError, GuestTarget, HostFacts};
use rtrace::record::{self, Plan, Signals, TraceClockReader, wall_clock_at_zero};
use rtrace::tracefs::{KvmFolders, Tracefs};
use std::path::Path;

/// Agents that are about to record.
#[derive(Default)]
pub(in crate::cli::record) struct ConnectedGuests {
    pub(in crate::cli::record) guests: Vec<Guest>,
    /// Taken since the first of them, whose clock is compared by an instance of its own.
    pub(in crate::cli::record) signals: Option<Signals>,
}

/// Asks all agents to record along. A signal ends that in order.
pub(in crate::cli::record) fn connect(
    args: &RecordArgs,
    plan: &mut Plan,
    tracefs: &Tracefs,
) -> Result<ConnectedGuests, Failure> {
    let file = |target: &GuestTarget| target.file(&plan.output);
    let taken =
        |(nth, target): (usize, &GuestTarget)| args.agents[..nth].iter().any(|other| file(other) == file(target));
    if let Some((_, twice)) = args.agents.iter().enumerate().find(|of| taken(*of)) {
        let error = anyhow::anyhow!("two agents' recordings would go to {}", file(twice).display());
        return Err(Failure::new(Exit::Usage, error).hint("`--name NAME` after an -A names its guest, and its file."));
    }
    let id = record::trace_id();
    plan.id = Some(id);
    let clock = plan.buffers.first().and_then(|main| main.clock.clone());
    let mut guests: Vec<Guest> = Vec::new();
    let mut first = args.agents.first().map(AgentConnection::open);
    // Until here a signal leaves nothing behind.
    let signals = Signals::block().map_err(|error| Failure::new(Exit::Failed, error))?;
    let is_over = || signals.is_pending();
    if plan.date && args.agents.iter().any(|target| target.sync_every.is_some()) {
        plan.known_date = date(args, plan, tracefs);
    }
    for target in &args.agents {
        let fifos = (!args.no_fifos).then(|| FIFO_FOLDER.into());
        let mut target = GuestTarget { fifos, kvm: Some(KvmFolders::default()), ..target.clone() };
        let says =
            |short: &str, long: &str| target.args.iter().any(|arg| arg.starts_with(short) || arg.starts_with(long));
        if let Some(clock) = clock.as_ref().filter(|_| !says("-C", "--clock")) {
            target.args.splice(0..0, ["-C".to_owned(), clock.clone()]);
        }
        if plan.date && !target.args.iter().any(|arg| arg == "--date") {
            target.args.push("--date".to_owned());
        }
        let max_size = args.max_size.map(|size| size.0);
        let host = HostFacts { id, path: &plan.output, date: plan.known_date, max_size };
        let connection = first.take().unwrap_or_else(|| AgentConnection::open(&target));
        let connected = connection.and_then(|connection| {
            Guest::connect(connection, &target, host, host_clock(args, &target, plan, tracefs), &is_over)
        });
        match connected {
            Ok(guest) => {
                for text in guest.notes().iter().filter(|_| !args.quiet) {
                    note!("rtrace: guest {}: {text}", target.name());
                }
                guests.push(guest);
            }
            Err(error) => {
                guests.into_iter().for_each(Guest::give_up);
                return Err(unanswered(error, &target));
            }
        }
    }
    plan.guests = guests.iter().map(|guest| guest.facts().clone()).collect();
    Ok(ConnectedGuests { guests, signals: Some(signals) })
}

fn unanswered(error: GuestError, target: &GuestTarget) -> Failure {
    let refused =
        matches!(&error, GuestError::Connect { source, .. } if source.kind() == std::io::ErrorKind::ConnectionRefused);
    let is_lost = matches!(&error, GuestError::Address { .. });
    let failure = Failure::new(Exit::Failed, error);
    if is_lost {
        return failure.hint("a guest of this host is `-A NAME@CID` (vsock), as `-A web@3`; a machine is a name that resolves, or an address.");
    }
    if refused && target.is_host {
        return failure.hint("on the host, `rtrace agent -P CID` waits for this (CID: the guest's own).");
    }
    if refused {
        return failure.hint(format!("on {}, `rtrace agent -N CONTROLLER` waits for this.", target.name()));
    }
    failure
}

/// True if `-` is the output, which a guest's file cannot stand beside.
pub(in crate::cli::record) fn has_no_place(output: &Path) -> bool {
    crate::cli::piped::is_stdout(output)
}

/// Reads the clock that `plan` records by, to be compared with that of `target`; else says why it is not.
fn host_clock(
    args: &RecordArgs,
    target: &GuestTarget,
    plan: &Plan,
    tracefs: &Tracefs,
) -> Result<TraceClockReader, String> {
    if target.sync_every.is_none() {
        return Err("--tsync-interval says so".to_owned());
    }
    if plan.tsc2nsec {
        return Err("the host's ticks are shown in nanoseconds (--tsc2nsec)".to_owned());
    }
    let clock = record::main_clock(plan, tracefs).map_err(|error| error.to_string())?;
    let reader = TraceClockReader::new(args.traced.journal(tracefs), clock.as_deref());
    reader.map_err(|error| error.to_string())
}

/// Measures the wall clock's time once for all recordings: they would differ by as much as it is inexact. `None` if recording
/// is to find out itself that this does not work.
fn date(args: &RecordArgs, plan: &Plan, tracefs: &Tracefs) -> Option<u64> {
    let clock = record::main_clock(plan, tracefs).ok()?;
    let reader = TraceClockReader::new(args.traced.journal(tracefs), clock.as_deref()).ok()?;
    wall_clock_at_zero(&mut args.traced.journal(tracefs), reader.name()).ok()?
}
