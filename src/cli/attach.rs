//! `rtrace attach`.

use super::damage::DamageReport;
use super::exit::{Exit, Failure, print};
use super::trace_file::{OutputFile, Overwrite, mode_like, open_recording, threads};
use anyhow::{Context, anyhow};
use rtrace::event::Value;
use rtrace::internal::trace_dat::write::{Version, convert};
use rtrace::internal::trace_dat::{
    ClockSample, FilePart, GuestFacts, OptionId, RawOption, TimeOptions, TimeShift, Trace, incomparable_clocks,
};
use rtrace::recording::{QueryError, Recording};
use rtrace::syntax::parse_int;
use rtrace::units::{CpuId, Pid, counted};
use std::collections::{BTreeMap, BTreeSet};
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
        value_parser = sample,
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
        let (one, other) = (args.host.display(), args.guest.display());
        return Err(
            Failure::new(Exit::Usage, error).hint(format!("`rtrace report {one} {other}` reads parts together."))
        );
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
        None => written(&vcpus, cpus).map_err(|error| error.failure(&args.host, &host.trace.clock()))?,
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

/// `OFFSET[,SCALE,FRAC[,TS]]`: numbers as C writes them.
fn sample(text: &str) -> Result<ClockSample, String> {
    let expected = || format!("expected OFFSET, OFFSET,SCALE,FRAC or OFFSET,SCALE,FRAC,TS in numbers, not `{text}`");
    let numbers: Result<Vec<i128>, _> = text.split(',').map(|word| parse_int(word.trim())).collect();
    let mut sample = ClockSample::new(0, 0);
    let small = |number: i128| u64::try_from(number).map_err(|_| expected());
    let (offset, more) = match numbers.map_err(|_| expected())?[..] {
        [offset] => (offset, None),
        [offset, scale, fraction] => (offset, Some((scale, fraction, 0))),
        [offset, scale, fraction, time] => (offset, Some((scale, fraction, time))),
        _ => return Err(expected()),
    };
    sample.offset = i64::try_from(offset).map_err(|_| expected())?;
    if let Some((scale, fraction, time)) = more {
        (sample.scaling, sample.fraction, sample.time) = (small(scale)?, small(fraction)?, small(time)?);
    }
    if sample.scaling == 0 || sample.fraction > 63 {
        return Err("SCALE is at least 1, and FRAC at most 63".to_owned());
    }
    Ok(sample)
}

/// Reasons why the offset of a CPU is not known.
#[derive(Debug, PartialEq, Eq)]
enum OffsetError {
    /// KVM wrote none while the host recorded.
    None,
    /// Not for this CPU, and not the same one for all others.
    Of(u32),
}

/// The offsets of a guest with `cpus` as KVM wrote them while the host recorded. The first one of a CPU counts for the time
/// before it, too. A CPU of which that is not known has that of the others, if they are of one mind.
fn written(vcpus: &Vcpus, cpus: u32) -> Result<Vec<Vec<ClockSample>>, OffsetError> {
    let samples = |cpu: u32| {
        let mut samples: Vec<ClockSample> = Vec::new();
        for (time, offset) in vcpus.writes.get(&cpu).into_iter().flatten() {
            // The guest's counter at that moment, and the way back from it.
            let (time, back) = (time.wrapping_add_signed(*offset), offset.wrapping_neg());
            match samples.last() {
                Some(last) if last.offset == back => {}
                None => samples.push(ClockSample::new(0, back)),
                Some(_) => samples.push(ClockSample::new(time, back)),
            }
        }
        samples
    };
    let mut all: Vec<Vec<ClockSample>> = (0..cpus).map(samples).collect();
    let known: Vec<i64> = all.iter().filter_map(|samples| Some(samples.last()?.offset)).collect();
    let common = known.first().copied().ok_or(OffsetError::None)?;
    let agree = known.iter().all(|offset| *offset == common);
    for (cpu, samples) in all.iter_mut().enumerate().filter(|(_, samples)| samples.is_empty()) {
        if !agree {
            return Err(OffsetError::Of(cpu as u32));
        }
        samples.push(ClockSample::new(0, common));
    }
    Ok(all)
}

impl OffsetError {
    /// As a failure of the command, about the host's recording at `path`, by `clock`.
    fn failure(&self, path: &Path, clock: &str) -> Failure {
        let path = path.display();
        let of = match self {
            OffsetError::None => String::new(),
            OffsetError::Of(cpu) => format!(" of the guest's CPU {cpu}"),
        };
        let what = format!("the difference of the clocks{of} is not known: {path} has no kvm_write_tsc_offset");
        Failure::new(Exit::Usage, anyhow!(what)).hint(match clock {
            "x86-tsc" => "`-s OFFSET` gives it: minus kvm/PID-FD/vcpuN/tsc-offset in the host's debugfs.",
            _ => "`-s OFFSET` gives it, in the unit of the clocks.",
        })
    }
}

/// A moment at which KVM gave a CPU its clock: the host's time, and what is added to its counter for the guest.
type Write = (u64, i64);

/// A guest's CPUs, by number.
#[derive(Debug, Default)]
struct Vcpus {
    /// The thread of each.
    threads: BTreeMap<u32, Pid>,
    /// The offsets that were written.
    writes: BTreeMap<u32, Vec<Write>>,
}

/// Reasons why they are not known.
#[derive(Debug)]
enum VcpuError {
    Query(QueryError),
    /// No event of KVM's tells of a CPU.
    None,
    /// None of these is the thread of one; those that are.
    Others(BTreeSet<i32>),
    /// Several threads ran the same CPU number: they are of several guests.
    Several(u32, BTreeSet<i32>),
}

impl Vcpus {
    /// Those of `host` that ran in `pids`; in any thread, if there are none.
    fn find(host: &Recording, pids: &[i32]) -> Result<Self, VcpuError> {
        if !host.trace.formats().any(|format| format.system == "kvm") {
            return Err(VcpuError::None);
        }
        let mut found = Vcpus::default();
        let mut runners: BTreeMap<u32, BTreeSet<i32>> = BTreeMap::new();
        let mut all = BTreeSet::new();
        let raw = TimeOptions { raw: true, ..TimeOptions::default() };
        let query = host.query().filter("kvm:*").map_err(VcpuError::Query)?.time(&raw);
        let searched = query.for_each(|event| {
            let number = |name| match event.field(name) {
                Some(Value::Unsigned(number)) => Some(number),
                _ => None,
            };
            let Some(vcpu) = number("vcpu_id").and_then(|vcpu| u32::try_from(vcpu).ok()) else { return };
            let pid = event.pid().0;
            let is_runner = matches!(event.name(), "kvm_entry" | "kvm_exit");
            if is_runner {
                all.insert(pid);
            }
            if !pids.is_empty() && !pids.contains(&pid) {
                return;
            }
            match event.name() {
                "kvm_write_tsc_offset" => {
                    let offset = number("next_tsc_offset").map(u64::cast_signed);
                    found.writes.entry(vcpu).or_default().extend(offset.map(|offset| (event.timestamp().0, offset)));
                }
                _ if is_runner => drop(runners.entry(vcpu).or_default().insert(pid)),
                _ => {}
            }
        });
        searched.map_err(VcpuError::Query)?;
        if runners.is_empty() {
            return Err(if all.is_empty() { VcpuError::None } else { VcpuError::Others(all) });
        }
        for (vcpu, pids) in runners {
            match pids.iter().copied().collect::<Vec<_>>()[..] {
                [pid] => drop(found.threads.insert(vcpu, Pid(pid))),
                _ => return Err(VcpuError::Several(vcpu, pids)),
            }
        }
        Ok(found)
    }
}

impl VcpuError {
    /// As a failure of the command, about the host's recording at `path`.
    fn failure(self, path: &Path) -> Failure {
        let path = path.display();
        let list = |pids: BTreeSet<i32>| pids.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
        match self {
            VcpuError::Query(error) => Failure::from(anyhow::Error::from(error)),
            VcpuError::None => {
                Failure::new(Exit::Usage, anyhow!("{path}, the host's, has no kvm_entry or kvm_exit that names a CPU"))
                    .hint("the host's recording stands first: `rtrace attach HOST.dat GUEST.dat`.")
                    .hint("`rtrace record -e kvm` on the host records them while the guest runs.")
            }
            VcpuError::Others(pids) => {
                Failure::new(Exit::Usage, anyhow!("none of the threads given ran a guest in {path}"))
                    .hint(format!("those that did: {}.", list(pids)))
            }
            VcpuError::Several(vcpu, pids) => {
                Failure::new(Exit::Usage, anyhow!("several guests ran in {path}: CPU {vcpu} in threads {}", list(pids)))
                    .hint("name the threads of the guest after its file: those of /proc/PID/task of its emulator.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_numbers() {
        assert_eq!(sample("-5").unwrap(), ClockSample::new(0, -5));
        assert_eq!(sample("0x10").unwrap(), ClockSample::new(0, 16));
        let whole = ClockSample { time: 9, offset: 27950965013436847, scaling: 3, fraction: 32 };
        assert_eq!(sample("27950965013436847,3,32,9").unwrap(), whole);
        for wrong in
            ["", "x", "1,2", "1,2,3,4,5", "1,0,0", "1,1,64", "1,-1,0", "9223372036854775808", "1,1,1,-1", "1,,"]
        {
            assert!(sample(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn kvm_wrote_them() {
        let with = |writes: &[(u32, &[(u64, i64)])]| {
            let writes = writes.iter().map(|(cpu, writes)| (*cpu, writes.to_vec())).collect();
            written(&Vcpus { writes, ..Vcpus::default() }, 2)
        };
        let same = vec![ClockSample::new(0, 70)];
        assert_eq!(with(&[(0, &[(100, -70)])]).unwrap(), [same.clone(), same.clone()]);
        // Written twice: from that moment of the guest's on.
        let twice = vec![ClockSample::new(0, 70), ClockSample::new(160, 40)];
        assert_eq!(with(&[(0, &[(100, -70), (150, -70), (200, -40)]), (1, &[(99, -70)])]).unwrap(), [twice, same]);
        assert_eq!(with(&[]), Err(OffsetError::None));
        assert_eq!(with(&[(0, &[(1, -70)]), (1, &[(1, -71)])]).unwrap().len(), 2);
        let three = Vcpus { writes: [(0, vec![(1, -70)]), (1, vec![(1, -71)])].into(), ..Vcpus::default() };
        assert_eq!(written(&three, 3), Err(OffsetError::Of(2)));
    }
}
