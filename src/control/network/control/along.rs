//! Guests record while this machine does.

use super::guest::{Clocks, Guest};
use super::summary::GuestSummary;
use crate::control::network::incoming::{Finished, IncomingMetadata, Phase, collect};
use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::sync::SyncResult;
use crate::control::network::wire::Message;
use crate::file::trace_dat::{OptionId, SectionWriter, Trace};
use crossbeam_channel::{Sender, unbounded};
use nix::sys::signal::{SigSet, SigmaskHow};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Time that an agent gets after CLOSE to send what its rings hold.
const LAST: Duration = Duration::from_secs(120);

/// More CPUs than any agent counts the data of.
const MOST_COUNTS: usize = 8192;
/// The first bytes of a trace file.
const BEGIN: &[u8] = b"\x17\x08\x44tracing";

/// Ends the guests' recordings, also when a panic leaves this one.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Takes the data of `guests` until `record` returns; then their agents stop. If it returns an error, their files are removed.
/// `gone` is called for a guest that is gone before.
///
/// # Errors
/// Those of `record`.
pub fn record_along<T, E>(
    guests: Vec<Guest>,
    gone: &(dyn Fn(&str, &str) + Sync),
    record: impl FnOnce() -> Result<T, E>,
) -> Result<(T, Vec<GuestSummary>), E> {
    let (over, failed) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let (over, failed) = (&over, &failed);
        let take = |guest: Guest| scope.spawn(move || guest.take(over, failed, gone));
        let guests: Vec<ScopedJoinHandle<'_, GuestSummary>> =
            without_signals(|| guests.into_iter().map(take).collect());
        let end = EndOnDrop(over);
        let recorded = record();
        failed.store(recorded.is_err(), Ordering::Relaxed);
        drop(end);
        let join = |guest: ScopedJoinHandle<'_, GuestSummary>| {
            guest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let summaries = guests.into_iter().map(join).collect();
        Ok((recorded?, summaries))
    })
}

/// Runs `spawn`, whose threads get no signals: they are for the thread that records, and to any other that takes them a
/// signal does what it does by default, which is to end the process.
fn without_signals<T>(spawn: impl FnOnce() -> T) -> T {
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let spawned = spawn();
    if let Ok(before) = before {
        let _ = before.thread_set_mask();
    }
    spawned
}

impl Guest {
    /// From its first byte to its finished file.
    fn take(self, over: &AtomicBool, failed: &AtomicBool, gone: &(dyn Fn(&str, &str) + Sync)) -> GuestSummary {
        let Guest {
            facts,
            begun,
            control,
            incoming,
            mut trace,
            table,
            mut writer,
            spools,
            sockets,
            clocks,
            through_fifos,
            ..
        } = self;
        let Clocks { answerer, every, host } = clocks;
        let (phase, progress) = (Phase::default(), incoming.progress());
        let (fed, why, rest, compared) = thread::scope(|scope| {
            let (closed, is_closed) = unbounded();
            let comparing = answerer.map(|answerer| scope.spawn(move || answerer.run(every, &is_closed, host)));
            let scan = Some(incoming.scan(&trace));
            let (fed, why, rest) =
                match incoming.drain(scope, sockets, spools, trace.prefix.abi, scan, &phase, &progress) {
                    Ok(draining) => {
                        let (why, rest) = until_the_end(&control, over, &incoming.path, &closed, &phase, begun);
                        phase.end();
                        if let Some(why) = why.as_ref().filter(|_| !over.load(Ordering::Relaxed)) {
                            gone(&facts.name, why);
                        }
                        (collect(draining), why, rest)
                    }
                    Err(error) => {
                        phase.abort();
                        (Vec::new(), Some(format!("failed to take its data: {error}")), None)
                    }
                };
            drop(closed);
            let compared = match comparing {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(why) => SyncResult::not(why),
            };
            (fed, why, rest, compared)
        });
        // Tracing is over there; closing says so to an agent that waits.
        drop(control);
        if failed.load(Ordering::Relaxed) {
            for drained in fed {
                drained.fed.spool.remove();
            }
            let _ = fs::remove_file(&incoming.path);
            let summary = Finished { size: 0, events: None, incomplete: why };
            return summary_of(facts.name, incoming.path, summary, compared, through_fifos);
        }
        let mut why = why;
        if let Some(rest) = rest
            && let Err(error) = add_rest(&mut writer, &mut trace, rest)
        {
            why = why.or(Some(format!("names of its tasks and its statistics are missing: {error}")));
        }
        if let Some(shift) = &compared.shift {
            writer.option(OptionId::TIME_SHIFT, shift.write(trace.prefix.abi));
        }
        writer.option(OptionId::RTRACE_CLOCKS, compared.comparison.write());
        let finished = incoming.finish(writer, &trace, &table, fed, why);
        summary_of(facts.name, incoming.path.clone(), finished, compared, through_fifos)
    }
}

fn summary_of(
    name: String,
    path: PathBuf,
    finished: Finished,
    compared: SyncResult,
    through_fifos: bool,
) -> GuestSummary {
    let Finished { size, events, incomplete } = finished;
    let offset = compared.offset();
    let (clocks, unsynchronized) = (compared.comparison, compared.failed);
    GuestSummary { name, path, size, events, clocks, offset, unsynchronized, through_fifos, incomplete }
}

/// Says CLOSE when it is time, also to `closing`, and waits for the agent's answer. `phase` hears how much it has sent. Gives what
/// went wrong, and what the agent reported at the end.
fn until_the_end(
    control: &Patient,
    over: &AtomicBool,
    beside: &Path,
    closing: &Sender<()>,
    phase: &Phase,
    mut begun: Option<IncomingMetadata>,
) -> (Option<String>, Option<IncomingMetadata>) {
    let mut closed: Option<Instant> = None;
    let (mut rest, mut sent) = (None, Vec::new());
    // A host's end has two parts: that of its own file, and options for the guest's, which without trace-cmd's way to
    // compare clocks say nothing.
    let (is_host, mut is_second) = (begun.is_some(), false);
    loop {
        let mut tick = || {
            if over.load(Ordering::Relaxed) && closed.is_none() {
                closed = Some(Instant::now());
                control.write(&Message::Close.bytes())?;
                let _ = closing.send(());
            }
            match closed {
                Some(since) if since.elapsed() > LAST => Err(ConnectionError::Silent(LAST)),
                _ => Ok(()),
            }
        };
        let why = match control.message(&mut tick) {
            Ok(Message::Closed) => {
                if !sent.is_empty() {
                    phase.count(std::mem::take(&mut sent));
                }
                None
            }
            Ok(Message::Count(count)) if sent.len() < MOST_COUNTS => {
                sent.push(count);
                continue;
            }
            Ok(Message::Data(_)) if is_second => continue,
            Ok(Message::Data(data)) => {
                let begun = match (rest.take(), begun.take()) {
                    (Some(rest), _) => Ok(rest),
                    (None, Some(begun)) if !data.starts_with(BEGIN) => Ok(begun),
                    (None, _) => IncomingMetadata::new(beside, None),
                };
                match begun.and_then(|mut metadata| metadata.add(&data).map(|()| metadata)) {
                    Ok(metadata) => rest = Some(metadata),
                    Err(error) => return (Some(error.to_string()), None),
                }
                continue;
            }
            Ok(Message::EndOfData) if is_host && !is_second => {
                is_second = true;
                match control.write(&Message::Continue.bytes()) {
                    Ok(()) => continue,
                    Err(error) => Some(error.to_string()),
                }
            }
            Ok(Message::EndOfData | Message::NotSupported) => continue,
            Ok(Message::Refused(why)) => Some(why),
            Ok(_) => Some("the agent sent another message than the one that is due".to_owned()),
            Err(ConnectionError::Closed) => Some("the agent went away".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        return (why, rest);
    }
}

/// Adds names of tasks and options that were not known at the beginning.
fn add_rest(
    writer: &mut SectionWriter,
    trace: &mut Trace,
    rest: IncomingMetadata,
) -> Result<(), crate::file::trace_dat::WriteError> {
    let rest = rest.read(None)?;
    writer.saved_cmdlines(&rest.saved_cmdlines)?;
    // A host's agent of trace-cmd's sends all options at the end.
    let lacks_all = trace.option(OptionId::TRACEID).is_none();
    let known = |trace: &Trace, id: OptionId, data: &[u8]| trace.options.iter().any(|o| o.id == id && o.data == data);
    for option in &rest.options {
        let ours = matches!(
            option.id,
            OptionId::CPUSTAT
                | OptionId::LAST_BOOT_INFO
                | OptionId::RTRACE_VIEW
                | OptionId::RTRACE_OFFLINE
                | OptionId::RTRACE_WALL_CLOCK
                | OptionId::PROCMAPS
        );
        let lacked = lacks_all
            && matches!(
                option.id,
                OptionId::DATE
                    | OptionId::TRACECLOCK
                    | OptionId::UNAME
                    | OptionId::VERSION
                    | OptionId::HOOK
                    | OptionId::OFFSET
                    | OptionId::TRACEID
                    | OptionId::GUEST
                    | OptionId::TSC2NSEC
            );
        if (ours || lacked) && !known(trace, option.id, &option.data) {
            writer.option(option.id, option.data.clone());
            trace.options.push(option.clone());
        }
    }
    Ok(())
}
