//! `rtrace record`: arguments to a plan, the plan to a file, the outcome to an exit code.

mod agents;
mod cgroups;
mod command_line;
mod config;
mod daemon;
pub(super) mod empty;
mod live;
mod moot;
mod more;
mod remote;
mod stop;
mod stop_if;

use super::args::sudo_caller;
use super::exit::{Exit, Failure, print};
use super::given::refuse;
use super::piped::{self, Outgoing};
use super::record_error::{explain, failure, refused};
use super::terminal::{say, stdout};
use super::traced::{SessionArgs, Traced, TracedProfileArgs, add_profile};
use super::{check, command_words, recover};
pub(super) use agents::{gathered, plan_for_controller};
use live::{RecordScreen, Service};
use rtrace::internal::assertion::Assertion;
use rtrace::internal::network::control::{GuestSummary, GuestTarget, record_along};
use rtrace::internal::network::send::Transport;
use rtrace::internal::safe_file;
use rtrace::internal::trace_dat::{GuestFacts, Siblings};
use rtrace::record::{
    self, Beside, BufferPlan, Compression, Ended, Limits, Observer, Plan, Reached, RecordError, RecordSummary, Sentry,
    TargetBuffer,
};
use rtrace::symbols::Comms;
use rtrace::units::{ByteSize, counted, grouped, parse_duration};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
pub(super) use stop::recorder;
use stop_if::StopIf;

/// Record events into a trace.dat file
///
/// Records the events chosen with -e until CMD ends, or without CMD until Ctrl-C. It works in a ring buffer of its own
/// (an instance), so that other users of tracing are not disturbed, and puts everything back as it was.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    traced: Traced,
    #[command(flatten)]
    cgroups: cgroups::CgroupArgs,
    /// Write to FILE; `-` is standard output
    ///
    /// The recording is made in TMPDIR and copied when it is complete; what CMD prints goes to standard error.
    #[arg(short, long, value_name = "FILE", default_value = "trace.dat")]
    output: PathBuf,
    /// Send the recording to `rtrace listen`, or to trace-cmd's, at HOST:PORT (or PORT of this machine); there is no file here
    ///
    /// Over TCP, unless --udp says otherwise. With a listener of rtrace's an interrupted connection is taken up again for a minute,
    /// and the exit code is 0 only if everything is written there.
    #[arg(short = 'N', long = "to", value_name = "HOST:PORT", value_parser = remote::place,
          conflicts_with_all = ["output", "max_size", "min_free", "ring", "ring_time", "rotate", "max_per_cpu", "assert"])]
    to: Option<String>,
    /// The same over vsock: CID 2 is the host, for its guests
    #[arg(short = 'V', long = "to-vsock", value_name = "CID:PORT", value_parser = remote::vsock_place,
          conflicts_with_all = ["to", "agents", "output", "max_size", "min_free", "ring", "ring_time", "rotate", "max_per_cpu", "assert"])]
    to_vsock: Option<String>,
    /// Record along on HOST, or on guest CID over vsock, where `rtrace agent` or trace-cmd's runs (port 823 without :PORT)
    ///
    /// All options after it, up to the next -A or -B, are that machine's: -e sched, -f, -b, -C, -p, and others that say what is recorded.
    /// Its events go to a file beside FILE, trace-HOST.dat; `rtrace report FILE FILE` merges them. May be repeated.
    #[arg(short = 'A', value_name = "HOST[:PORT]|[NAME]@CID[:PORT]", value_parser = agents::TargetParser, conflicts_with_all = ["to", "dry_run"])]
    agents: Vec<GuestTarget>,
    /// In a guest: record along on its host (CID 2), where `rtrace agent -P` or trace-cmd's runs
    ///
    /// As -A, with the host in the place of a guest: the options after it are the host's, whose events go to trace-cidCID.dat.
    #[arg(long, value_name = "CID[:PORT]")]
    proxy: Option<String>,
    /// After -A: call that machine NAME, and its file trace-NAME.dat
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// After -A: compare the clocks every MS milliseconds; 0: at the beginning and at the end; negative: never
    ///
    /// The times of that machine's file become those of this one's clock, which `rtrace report` then orders both by.
    #[arg(long = "tsync-interval", value_name = "MS", allow_negative_numbers = true)]
    tsync_interval: Option<i64>,
    /// With -A: take the guests' data over connections, also where there are FIFOs (`rtrace setup-guest`)
    #[arg(long, alias = "nofifos")]
    no_fifos: bool,
    /// With -N: send the data in datagrams, which the network may lose
    ///
    /// A listener of rtrace's counts them: lost events are marked in its file, and the exit code is 4. Of those on the way to
    /// trace-cmd's listener only the ones that this machine refuses are known. Names of tasks are those of the beginning.
    #[arg(long, requires = "to")]
    udp: bool,
    /// Taken for trace-cmd's sake: -N uses TCP without --udp
    #[arg(short = 't', hide = true, conflicts_with = "udp")]
    _tcp: bool,
    /// Store the formats of all events, not only of those recorded
    #[arg(short, long)]
    all_formats: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    session: SessionArgs,
    /// Exit with 4 if more than N events were lost
    #[arg(long, value_name = "N")]
    max_lost: Option<u64>,
    /// Hold an assertion against the recording: `rtrace help assertions`
    ///
    /// The exit code is 3 if it fails, 4 if that is not known (where CMD itself did not fail).
    #[arg(long, value_name = "ASSERTION", value_parser = check::assertion)]
    assert: Vec<Assertion>,
    #[command(flatten)]
    stop_if: stop_if::StopIfArgs,
    /// Print the summary as JSON, on standard output
    #[arg(long, conflicts_with = "summary_json")]
    json: bool,
    /// Write the summary to FILE as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    summary_json: Option<PathBuf>,
    /// End recording before the file is larger than SIZE
    ///
    /// CMD goes on and is waited for.
    #[arg(long, value_name = "SIZE")]
    max_size: Option<ByteSize>,
    /// End recording, with 4, before the file system has less than SIZE left
    #[arg(long, value_name = "SIZE")]
    min_free: Option<ByteSize>,
    /// Keep only the newest events: SIZE on the disk
    ///
    /// In equal parts for all CPUs.
    #[arg(long, value_name = "SIZE", conflicts_with = "max_size")]
    ring: Option<ByteSize>,
    /// Keep only the newest events: those of the last TIME, and up to some 2 s more
    ///
    /// Whole pieces are dropped, an eighth of TIME each, and events come in chunks, which take the longer to fill the fewer
    /// events there are.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    ring_time: Option<Duration>,
    /// Give the recording threads real-time priority PRIO (1 to 99)
    #[arg(short = 'r', long, value_name = "PRIO", value_parser = clap::value_parser!(i32).range(1..=99))]
    priority: Option<i32>,
    /// Compress with zstd[:LEVEL], zlib[:LEVEL] or any (zstd), or none; zstd without it
    #[arg(long, value_name = "HOW", value_parser = parse_compression)]
    compression: Option<Compression>,
    /// Store the wall clock's time, which reports then show
    #[arg(long)]
    date: bool,
    #[command(flatten)]
    profile: TracedProfileArgs,
    #[command(flatten)]
    more: more::RecorderArgs,
}

const EXAMPLES: &str = "\
Examples:
  Scheduling and interrupts while a command runs:
    rtrace record -e sched -e irq -- make -j8
  Only what the command and its children do, in a larger ring buffer:
    rtrace record -F -c -b 16M -e 'syscalls:sys_enter_*' -- ./server --once
  Ten seconds of the whole machine, without what a filter leaves out:
    rtrace record --duration 10 -e sched:sched_switch -f 'prev_pid != 0'
  A job that fails if its tasks wait too long for a CPU:
    rtrace record --for sched --assert 'lost == 0' --assert 'max(wait()) < 1s' -- make
  The last ten seconds before a task waits too long for its CPU:
    rtrace record --for latency --ring-time 10s --stop-if 'latency(sched:sched_waking, sched:sched_switch, pid=next_pid) > 1s' -- make -j8
  What the kernel does on behalf of a command, three calls deep:
    rtrace record -F -p function_graph --max-graph-depth 3 -- ls
  What would be written, without writing it:
    rtrace record --dry-run -e sched -p function -l 'tcp_*' -- ./client";

/// `none`, `zstd`, `zstd:3`, `zlib`, `zlib:9`, `any`.
pub(crate) fn parse_compression(text: &str) -> Result<Compression, String> {
    let (name, level) = match text.split_once(':') {
        Some((name, level)) => (name, Some(level)),
        None => (text, None),
    };
    match (name, level) {
        ("none", None) => Ok(Compression::None),
        ("any" | "zstd", None) => Ok(Compression::default()),
        ("zlib", None) => Ok(Compression::Zlib(1)),
        ("zstd", Some(level)) => {
            let levels = Compression::zstd_levels();
            let wrong = || format!("a zstd level lies between {} and {}", levels.start(), levels.end());
            level.parse().ok().filter(|level| levels.contains(level)).map(Compression::Zstd).ok_or_else(wrong)
        }
        ("zlib", Some(level)) => {
            let wrong = || "a zlib level lies between 1 and 9".to_owned();
            level.parse().ok().filter(|level| (1..=9).contains(level)).map(Compression::Zlib).ok_or_else(wrong)
        }
        _ => Err("expected zstd, zstd:LEVEL, zlib, zlib:LEVEL, any or none".to_owned()),
    }
}

impl RecordArgs {
    fn plan(&self) -> Result<Plan, clap::Error> {
        let main = if self.more.keeps() { TargetBuffer::Top } else { self.session.place() };
        let version6 = self.more.file_version == Some(6) && self.to.is_none();
        let compression = self.compression.unwrap_or(if version6 { Compression::None } else { Compression::default() });
        let traced = self.session.add_to(self.traced.plan(main)?);
        Ok(Plan {
            output: self.output.clone(),
            owner: sudo_caller(),
            compression,
            command_line: command_line::of_this_process(),
            all_formats: self.all_formats,
            date: self.date,
            limits: Limits {
                max_size: self.max_size,
                min_free: self.min_free,
                ring_size: self.ring,
                ring_per_cpu: self.more.max_per_cpu,
                ring_time: self.ring_time,
            },
            priority: self.priority,
            saves: self.stop_if.saves(),
            start_at: self.stop_if.start_at(),
            ts_offset: self.more.ts_offset,
            keep: self.more.keeps(),
            no_splice: self.more.nosplice,
            poll_every: self.more.poll_every(),
            proc_map: self.more.proc_map,
            tsc2nsec: self.more.tsc2nsec || traced.tsc2nsec,
            version6,
            guests: self
                .agents
                .iter()
                .map(|target| GuestFacts { name: target.name(), id: 0, cpus: Vec::new() })
                .collect(),
            ..traced
        })
    }
}

/// Records, prints the summary, and says how it went.
pub(crate) fn run(args: &RecordArgs) -> Result<Exit, Failure> {
    if let Some(target) = &args.more.stop {
        return stop::stop(target);
    }
    let Some(path) = &args.more.config else { return record(args, Service::new(None, args.more.metrics.as_deref())) };
    if let Some(other) = args.traced.given().first_besides::<RecordArgs>(&["config", "check"]) {
        let error = anyhow::anyhow!("{other} cannot be used with --config, whose file has all options");
        return Err(Failure::new(Exit::Usage, error).hint("write it there, under its long name."));
    }
    check_config(path)?;
    if args.more.check {
        return print(&format!("{}: a sound configuration\n", path.display()));
    }
    let args: RecordArgs = config::read(path)?;
    recover_first(&args)?;
    record(&args, Service::new(Some((path, check_config)), args.more.metrics.as_deref()))
}

/// Refuses a file of which no recording can be made.
fn check_config(path: &Path) -> Result<(), Failure> {
    let args: RecordArgs = config::read(path)?;
    let of_file = |failure: Failure| failure.hint(format!("{} has the options.", path.display()));
    args.plan()?.check().map_err(|error| of_file(refused(&error, "record", None).into()))?;
    refuse::<RecordArgs>(args.moot()).map_err(of_file)
}

/// Finishes what a recorder left unfinished that was killed before this one, in the file that the new one is to write.
fn recover_first(args: &RecordArgs) -> Result<(), Failure> {
    let is_unfinished = |file: File| Siblings::of(&args.output, &file).is_ok_and(|beside| beside.any_spool().is_some());
    if File::open(&args.output).is_ok_and(is_unfinished) {
        recover::finish(&args.output, args.traced.tracefs(), false)?;
    }
    Ok(())
}

/// Records as the arguments say.
fn record(args: &RecordArgs, service: Service) -> Result<Exit, Failure> {
    let mut plan = args.plan()?;
    plan.tasks.cgroups = args.cgroups.plan()?;
    let profiled = if args.profile.what.only_named { Vec::new() } else { args.traced.profiled() };
    // The settings of a profile depend on the kernel.
    if profiled.is_empty()
        && let Err(error) = plan.check()
    {
        let given = plan.command.as_deref().and_then(command_words::note::<RecordArgs>);
        return Err(refused(&error, "record", given).into());
    }
    let prints_json = args.json || args.summary_json.as_deref().is_some_and(piped::is_stdout);
    piped::check(&args.output, prints_json)?;
    refuse::<RecordArgs>(args.moot())?;
    if !args.agents.is_empty() && agents::has_no_place(&args.output) {
        let error = anyhow::anyhow!("the files of guests lie beside the recording, which goes to standard output");
        return Err(Failure::new(Exit::Usage, error).hint("`-o FILE` names a file."));
    }
    if args.udp && args.more.file_version != Some(7) && args.compression.is_some_and(|it| it != Compression::None) {
        let error = anyhow::anyhow!("--compression does nothing with --udp, which sends each sub-buffer as it is");
        return Err(Failure::new(Exit::Usage, error).hint("Without --udp it is sent packed."));
    }
    if args.more.daemonize && piped::is_stdout(&args.output) {
        let error = anyhow::anyhow!("--daemonize lets go of standard output, where the recording is to go");
        return Err(Failure::new(Exit::Usage, error).hint("`-o FILE` names a file."));
    }
    if args.more.daemonize && !args.more.daemonized {
        return daemon::start(args.quiet);
    }
    let daemon = if args.more.daemonized { Some(daemon::Daemon::new(&args.more.pid_file)?) } else { None };
    let with_command = plan.command.is_some();
    // A failure before or beside the command must not look like the command's own status.
    let own = |exit: Exit| if with_command && exit != Exit::Usage { Exit::Command(125) } else { exit };
    let mut screen = RecordScreen::new(args.quiet, plan.duration.or(plan.timeout), daemon, service);
    let tracefs = args.traced.open(args.quiet).map_err(|failure| failure.with_exit(own))?;
    check::refuse_unknown_calls(&args.assert, &tracefs)?;
    if !profiled.is_empty() {
        let warn = |text: &str| Observer::warn(&mut screen, text);
        add_profile(&mut plan, &profiled, &tracefs, warn).map_err(|failure| failure.with_exit(own))?;
    }
    if args.more.dry_run {
        return more::show_writes(&plan, &tracefs, args.more.boot_form);
    }
    if let Some(path) = args.summary_json.as_deref().filter(|path| !piped::is_stdout(path)) {
        safe_file::check(path).map_err(|error| unwritten(path, &error, own))?;
    }
    let ending = plan.output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if ["json", "csv", "parquet", "pftrace", "html", "svg", "txt"].contains(&ending) {
        let name = plan.output.display();
        let text = format!(
            "{name} will be a trace.dat, whatever its name; `rtrace convert`, `report` and `flame` make other formats of one"
        );
        Observer::warn(&mut screen, &text);
    }
    let events = plan.buffers.iter().flat_map(|buffer| &buffer.events).filter(|event| !event.filters.is_empty());
    if events
        .flat_map(|event| &event.triggers)
        .any(|trigger| trigger.starts_with("stacktrace") && !trigger.contains(" if "))
    {
        let text = "the trigger `stacktrace` stores stacks of all its events: -f does not limit it, `stacktrace if FILTER` does";
        Observer::warn(&mut screen, text);
    }
    check::warn_of_missing(&args.assert, &plan, &tracefs, |text| Observer::warn(&mut screen, text));
    fit_memory(&plan, &tracefs).map_err(|failure| failure.with_exit(own))?;
    screen.announce(&plan);
    let without_maps = lacks_maps(&plan);
    let comms = Comms::default();
    let mut sentry = args.stop_if.sentry(&tracefs, &comms).map_err(|failure| failure.with_exit(own))?;
    let outgoing = Outgoing::new(&plan.output).map_err(|failure| failure.with_exit(own))?;
    if let Some(outgoing) = &outgoing {
        plan.output = outgoing.path();
    }
    let destination = match args.to.as_ref().or(args.to_vsock.as_ref()) {
        Some(place) => {
            let transport = if args.udp { Transport::Udp } else { Transport::Stream };
            let mut warn = |text: &str| Observer::warn(&mut screen, text);
            let connected = remote::connect_to(place, transport, args.more.file_version, &mut plan, &mut warn);
            Some(connected.map_err(|failure| failure.with_exit(own))?)
        }
        None => None,
    };
    let (remote, sessions) = destination.map_or((None, Vec::new()), |it| (Some(it.remote), it.sessions));
    let beside = Beside { remote, sentry: sentry.as_mut().map(|sentry| sentry as &mut dyn Sentry), stop: None };
    // The signals are put back when the recording is over.
    let agents::ConnectedGuests { guests, signals: _signals } = match args.agents.is_empty() {
        true => agents::ConnectedGuests::default(),
        false => agents::connect(args, &mut plan, &tracefs).map_err(|failure| failure.with_exit(own))?,
    };
    let recorded = record_along(guests, &agents::gone, || {
        record::record_beside(&plan, beside, args.traced.journal(&tracefs), &mut screen)
    });
    screen.clear();
    let (mut summary, guests) = recorded
        .map_err(|error| explain(&tracefs, &error).map_or_else(|| failure(error, own), |known| known.with_exit(own)))?;
    let recorded_at = summary.output.clone();
    if outgoing.is_some() && summary.error.is_none() {
        summary.output = PathBuf::from("-");
    }
    if let Some(path) = args.summary_json.as_deref().or(args.json.then_some(Path::new("-"))) {
        let mut json = summary.json();
        if !guests.is_empty() {
            json["guests"] = guests.iter().map(GuestSummary::json).collect();
        }
        if !sessions.is_empty() {
            json["sessions"] = remote::json(&sessions);
        }
        let text = format!("{json:#}\n");
        let written = match piped::is_stdout(path) {
            true => stdout().write_all(text.as_bytes()),
            // It holds names of tasks.
            false => safe_file::create(path, safe_file::PRIVATE).and_then(|mut file| file.write_all(text.as_bytes())),
        };
        written.map_err(|error| unwritten(path, &error, own))?;
    }
    if !args.quiet {
        let mut text = summary.text();
        text.push_str(&remote::tell(&sessions));
        if let Some(size) = args.more.max_per_cpu.filter(|_| plan.buffers.iter().all(|buffer| buffer.size.is_none())) {
            text.push_str(&format!(
                "rtrace: the file keeps the newest {size} of each CPU (`-m`); the ring buffer is `-b SIZE`\n"
            ));
        }
        if without_maps {
            text.push_str("rtrace: stacks of user space have no names without `--proc-map`\n");
        }
        text.push_str(&sentry.as_ref().map_or_else(String::new, StopIf::notes));
        text.push_str(&empty::why(&plan, &summary).unwrap_or_default());
        text.push_str(&empty::unheard(&plan, &tracefs).unwrap_or_default());
        let words = plan.command.as_deref().unwrap_or_default();
        if summary.command.is_some_and(|ended| ended.code() != 0) || command_words::is_of_ours_alone(words) {
            let given = command_words::note::<RecordArgs>(words);
            text.push_str(&given.map(|note| format!("rtrace: {note}\n")).unwrap_or_default());
        }
        say(format_args!("{text}"));
    }
    let along = agents::tell(&guests, args.quiet);
    let outcome = match summary.error.take() {
        Some(error) => Err(unfinished(error, &summary, own)),
        None => {
            let exit = verdict(&summary, args.max_lost).and_then(|exit| along.map(|()| exit)).and_then(|exit| {
                asserted(args, &recorded_at, exit).map_err(|failure| failure.with_exit(|_| own(Exit::Failed)))
            });
            // However it is judged: the reader gets what was recorded.
            outgoing.map_or(Ok(()), Outgoing::send).map_err(|failure| failure.with_exit(own)).and(exit)
        }
    };
    screen.ended()?;
    outcome
}

fn unwritten(summary: &Path, error: &std::io::Error, own: impl Fn(Exit) -> Exit) -> Failure {
    Failure::new(own(Exit::Failed), anyhow::anyhow!("failed to write {}: {error}", summary.display()))
}

/// The exit code of a recording that made the file at `path` and would end with `exit`, after its assertions.
fn asserted(args: &RecordArgs, path: &Path, exit: Exit) -> Result<Exit, Failure> {
    if args.assert.is_empty() {
        return Ok(exit);
    }
    let (verdict, text) = check::check_recorded(&args.assert, path)?;
    if !args.quiet || verdict != Exit::Success {
        say(format_args!("{text}"));
    }
    Ok(if matches!(exit, Exit::Success | Exit::Command(0)) && verdict != Exit::Success { verdict } else { exit })
}

/// The failure at the end of a recording, with what is left of the file.
fn unfinished(error: RecordError, summary: &RecordSummary, own: impl Fn(Exit) -> Exit) -> Failure {
    let all_kept = summary.failures.is_empty() && summary.totals().events_discarded == 0;
    match error {
        RecordError::Removed(_) | RecordError::Remote { .. } => Failure::new(Exit::Incomplete, error),
        RecordError::NotFinished { ref path, .. } => {
            let path = path.display().to_string();
            let held = if all_kept { "nothing recorded is lost: " } else { "" };
            Failure::new(Exit::Incomplete, error).hint(format!(
                "{held}`rtrace report {path}` reads what was recorded, `rtrace recover {path}` completes it."
            ))
        }
        error => failure(error, own),
    }
}

/// Size of each CPU's ring, in KiB; 0 if they differ or cannot be read.
fn kib_of(instance: &rtrace::tracefs::Instance) -> u64 {
    instance.buffer_size().ok().and_then(|size| size.kib()).unwrap_or(0)
}

/// Refuses rings that memory has no room for: the kernel would look for it until others are killed for want of it.
fn fit_memory(plan: &Plan, tracefs: &rtrace::tracefs::Tracefs) -> Result<(), Failure> {
    let cpus = tracefs.top().cpus()?.len() as u64;
    // An instance that is there has its memory already.
    let has = |buffer: &BufferPlan| match &buffer.place {
        TargetBuffer::Private => 0,
        TargetBuffer::Top => kib_of(&tracefs.top()),
        TargetBuffer::Instance(name) => tracefs.instance(name).map_or(0, |instance| kib_of(&instance)),
    };
    let more = |buffer: &BufferPlan| Some(buffer.size?.0.saturating_sub(has(buffer) << 10));
    let sizes = plan.buffers.iter().filter_map(more);
    let wanted = sizes.fold(0u64, |sum, size| sum.saturating_add(size.saturating_mul(cpus)));
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    match free.map(|kib| kib << 10) {
        Some(free) if wanted > free => {
            let (wanted, free) = (ByteSize(wanted), ByteSize(free));
            let error = anyhow::anyhow!(
                "ring buffers of {wanted} for {cpus} CPUs are more than the {free} of memory that are free"
            );
            Err(Failure::new(Exit::Usage, error).hint("`-b SIZE` is the size for each CPU."))
        }
        _ => Ok(()),
    }
}

/// True if stacks of programs are recorded, but not what could name their functions.
fn lacks_maps(plan: &Plan) -> bool {
    let stacks =
        |buffer: &BufferPlan| buffer.options.iter().rfind(|(name, _)| name == "userstacktrace").is_some_and(|o| o.1);
    !plan.proc_map && plan.buffers.iter().any(stacks)
}

/// The exit code of a recording that made a file.
fn verdict(summary: &RecordSummary, max_lost: Option<u64>) -> Result<Exit, Failure> {
    if let Some(failure) = summary.failures.first() {
        let held = if summary.is_rest { "the file holds the rest" } else { "the file holds everything before" };
        return Err(Failure::new(Exit::Incomplete, anyhow::anyhow!("{failure}; {held}")));
    }
    if let Some(limit @ Reached::MinFree) = summary.limit {
        return Err(Failure::new(Exit::Incomplete, anyhow::anyhow!("{limit}; the file holds everything before")));
    }
    if summary.saves.untold > 0 {
        let last = summary.saves.latest.iter().rev().find_map(|save| save.error.as_deref());
        let why = last.map_or_else(String::new, |why| format!(": {why}"));
        let failed = counted(summary.saves.untold, "save");
        return Err(Failure::new(
            Exit::Incomplete,
            anyhow::anyhow!("{failed} failed{why}; the recording has its own file"),
        ));
    }
    let lost = summary.totals().lost;
    if let Some(allowed) = max_lost.filter(|&allowed| lost > allowed) {
        let failure = Failure::new(
            Exit::Incomplete,
            anyhow::anyhow!("{} lost, {} allowed", counted(lost, "event"), grouped(allowed)),
        );
        return Err(match summary.hint() {
            Some(hint) => failure.hint(format!("{hint}.")),
            None => failure,
        });
    }
    if let Some(changes) = summary.changes() {
        return Err(Failure::new(Exit::Incomplete, anyhow::anyhow!("{changes}: events may be missing")));
    }
    // --max-lost may allow events that other readers took, but the loss of a cleared ring has no known size.
    if let Some(interference) = summary.interference().filter(|_| max_lost.is_none() || summary.was_cleared()) {
        return Err(Failure::new(Exit::Incomplete, anyhow::anyhow!("{interference}")));
    }
    Ok(match summary.command.map(Ended::code) {
        _ if summary.timed_out => Exit::Command(124),
        None | Some(0) if summary.stopped.is_some() => Exit::Unmet,
        Some(code) => Exit::Command(code),
        None => Exit::Success,
    })
}
