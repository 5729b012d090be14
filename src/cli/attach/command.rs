//! Arguments of `rtrace attach`, and what it does.

use super::offsets;
use super::vcpus::Vcpus;
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure, print};
use crate::cli::trace_file::{OutputFile, Overwrite, mode_like, open_recording, threads};
use anyhow::{Context, anyhow};
use rtrace::internal::trace_dat::write::{Version, convert};
use rtrace::internal::trace_dat::{
    ClockSample, FilePart, GuestFacts, OptionId, RawOption, TimeShift, Trace, incomparable_clocks,
};
use rtrace::recording::Recording;
use rtrace::units::{CpuId, Pid, counted};
use std::path::{Path, PathBuf};

/// Join the recordings of a host and of its guest, made apart
///
/// Both files are written anew: the host's names the guest and the threads that run its CPUs, the guest's gets the difference
/// of the clocks, so that `rtrace report HOST.dat GUEST.dat` shows both by the host's clock. Record on the host with
/// `-C x86-tsc -e kvm` (or -C tsc2nsec) and in the guest with `-C x86-tsc`.
///
/// The offset comes from -s, or from kvm_write_tsc_offset events of the host's file, which KVM makes when a guest is started.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace attach trace.dat guest.dat                 the host recorded while the guest was started
  rtrace attach -s 27950965013436847 trace.dat guest.dat
                                                    debugfs says kvm/PID-FD/vcpu0/tsc-offset -27950965013436847
  rtrace report trace.dat guest.dat")]
pub(crate) struct AttachArgs {
    /// The host's recording
    #[arg(value_name = "HOST.dat", value_hint = clap::ValueHint::FilePath)]
    host: PathBuf,
    /// The guest's recording
    #[arg(value_name = "GUEST.dat", value_hint = clap::ValueHint::FilePath)]
    guest: PathBuf,
    /// Threads of the host that ran the guest, if it had several guests; other threads may be among them
    #[arg(value_name = "PID", value_delimiter = ',')]
    pids: Vec<i32>,
    /// Number of the guest's CPUs [default: as its recording says]
    #[arg(short, long, value_name = "CPUS", value_parser = clap::value_parser!(u32).range(1..=65536))]
    cpus: Option<u32>,
    /// The difference of the clocks: the tsc-offset of KVM, negated; once for each CPU, the last one for all others
    ///
    /// The host's ticks are TICKS * SCALE >> FRAC + OFFSET, from the guest's tick TS on (0: all). SCALE and FRAC are
    /// tsc-scaling-ratio and tsc-scaling-ratio-frac-bits, which stand beside tsc-offset where the guest's clock is scaled.
    #[arg(
        short = 's',
        long = "shift",
        value_name = "OFFSET[,SCALE,FRAC[,TS]]",
        value_parser = offsets::sample,
        allow_hyphen_values = true
    )]
    shifts: Vec<ClockSample>,
    /// Name of the guest in the host's recording [default: that of its file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

pub(crate) fn run(args: &AttachArgs) -> Result<Exit, Failure> {
    // A link stays one.
    let real = |path: &Path| path.canonicalize().with_context(|| format!("failed to read {}", path.display()));
    let (host_path, guest_path) = (real(&args.host)?, real(&args.guest)?);
    if host_path == guest_path {
        return Err(Failure::new(Exit::Usage, anyhow!("a recording cannot be the guest of itself")));
    }
    let (host, mut guest) = (open(&args.host)?, open(&args.guest)?.trace);
    let (host_id, guest_id) = (id(&args.host, &host.trace)?, id(&args.guest, &guest)?);
    if host_id == guest_id {
        let error = anyhow!("{} and {} are of one recording", args.host.display(), args.guest.display());
        return Err(Failure::new(Exit::Usage, error));
    }
    if let Some(why) = incomparable_clocks(&guest.clock(), &host.trace.clock()) {
        let error = anyhow!("the times of {} cannot be those of the host: {why}", args.guest.display());
        return Err(Failure::new(Exit::Usage, error)
            .hint("record with `-C x86-tsc` in both: KVM derives the guest's counter from the host's."));
    }
    let cpus = args.cpus.unwrap_or(guest.cpu_count);
    let vcpus = Vcpus::find(&host, &args.pids).map_err(|error| error.failure(&args.host))?;
    let samples = match args.shifts.last() {
        Some(last) => (0..cpus).map(|cpu| vec![*args.shifts.get(cpu as usize).unwrap_or(last)]).collect(),
        None => offsets::written(&vcpus, cpus).map_err(|error| error.failure(&args.host, &host.trace.clock()))?,
    };
    let file_name = || args.guest.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let facts = GuestFacts {
        name: args.name.clone().unwrap_or_else(file_name),
        id: guest_id,
        cpus: vcpus
            .threads
            .iter()
            .filter(|(cpu, _)| **cpu < cpus)
            .map(|(cpu, pid)| (CpuId(*cpu), Some(*pid)))
            .collect(),
    };
    let said = said(args, &facts, cpus, &samples, &host.trace.clock());
    let mut host = host.trace;
    let to_host = |id: OptionId| host.option(id).map(|option| option.data.clone());
    let shift = TimeShift { peer: host_id, interpolate: false, cpus: samples };
    let same_order = host.prefix.abi.endian == guest.prefix.abi.endian;
    // Its times become the host's.
    let of_times = [
        OptionId::DATE,
        OptionId::OFFSET,
        OptionId::TIME_SHIFT,
        OptionId::TSC2NSEC,
        OptionId::RTRACE_CLOCKS,
        OptionId::RTRACE_WALL_CLOCK,
    ];
    guest.options.retain(|option| !of_times.contains(&option.id));
    let shift = shift.write(guest.prefix.abi);
    put(&mut guest, OptionId::TIME_SHIFT, shift);
    for text in [OptionId::DATE, OptionId::OFFSET] {
        to_host(text).into_iter().for_each(|data| put(&mut guest, text, data));
    }
    if let Some(conversion) = to_host(OptionId::TSC2NSEC) {
        if !same_order {
            return Err(Failure::new(Exit::Usage, anyhow!("host and guest have not the same byte order")));
        }
        put(&mut guest, OptionId::TSC2NSEC, conversion);
    }
    let abi = host.prefix.abi;
    let is_former = |option: &RawOption| GuestFacts::read(option, abi).is_some_and(|former| former.id == guest_id);
    host.options.retain(|option| option.id != OptionId::GUEST || !is_former(option));
    put(&mut host, OptionId::GUEST, facts.write(abi));
    // Both are complete before either is put in its place.
    let made = [(&guest_path, &guest), (&host_path, &host)].map(|(path, trace)| rewritten(path, trace));
    let [guest_made, host_made] = made;
    let (guest_made, host_made) = (guest_made?, host_made?);
    guest_made.keep()?;
    host_made.keep()?;
    print(&said)
}

/// A recording that is whole.
fn open(path: &Path) -> Result<Recording, Failure> {
    let recording = open_recording(path)?;
    let trace = &recording.trace;
    if trace.spools.is_some() {
        let error = anyhow!("{} is an unfinished recording", path.display());
        return Err(Failure::new(Exit::Usage, error).hint(format!("`rtrace recover {}` completes it.", path.display())));
    }
    if !trace.damage.is_empty() {
        DamageReport::of(path, trace);
        return Err(damaged(path));
    }
    Ok(recording)
}

/// The refusal of a damaged file: its damaged parts would be lost from one that is written anew.
fn damaged(path: &Path) -> Failure {
    let error = anyhow!("{} is damaged, and stays as it is", path.display());
    Failure::new(Exit::Incomplete, error).hint("`rtrace convert FILE OUT.dat` copies what is sound.")
}

fn id(path: &Path, trace: &Trace) -> Result<u64, Failure> {
    let without = || anyhow!("{} has no trace id, by which recordings find each other", path.display());
    trace
        .id()
        .ok_or_else(|| Failure::new(Exit::Usage, without()).hint("trace-cmd 2.9 and newer write one, as rtrace does."))
}

fn put(trace: &mut Trace, id: OptionId, data: Vec<u8>) {
    trace.options.push(RawOption { id, data, offset: 0, place: FilePart::Prefix });
}

/// Writes `trace`, which was read from `path`, beside it.
fn rewritten(path: &Path, trace: &Trace) -> Result<OutputFile, Failure> {
    let (made, file) = OutputFile::new(path, mode_like(path), Overwrite::FORCE)?;
    let version = match trace.prefix.version {
        6 => Version::V6,
        _ => Version::V7(trace.prefix.codec),
    };
    let mut whole = true;
    let damage = DamageReport::default();
    let written = convert(trace, file, version, threads(), &mut |found| {
        damage.note(path, &found);
        whole = false;
    });
    written.with_context(|| format!("failed to write {}", path.display()))?;
    if whole { Ok(made) } else { Err(damaged(path)) }
}

/// The outcome, a line for each file.
fn said(args: &AttachArgs, facts: &GuestFacts, cpus: u32, samples: &[Vec<ClockSample>], clock: &str) -> String {
    let threads: Vec<String> = facts.cpus.iter().map(|(_, pid)| pid.map_or(-1, |Pid(pid)| pid).to_string()).collect();
    let mut text = format!("{}: guest {}, ", args.host.display(), facts.name);
    text += &format!("{} run by threads {}", counted(threads.len() as u64, "CPU"), threads.join(", "));
    match u64::from(cpus).saturating_sub(threads.len() as u64) {
        0 => text += "\n",
        others => text += &format!("; {} did not run in it\n", counted(others, "CPU")),
    }
    let first = samples.first().and_then(|samples| samples.last());
    let offset = first.map_or(0, |sample| sample.offset);
    text + &format!("{}: times by the host's clock {clock}: its own and {offset}\n", args.guest.display())
}
