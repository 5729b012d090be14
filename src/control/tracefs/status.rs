//! Settings of an instance that differ from the boot defaults.
//! Values of knobs after boot, where the kernel's source fixes them (`kernel/trace/trace.c`,
//! `trace_functions_graph.c`).
//! The trace clock that the kernel chose at boot.

use super::error_log::LogEntry;
use super::{BufferSize, Error, EventName, Instance, MachineKnob};
use crate::base::units::CpuId;
use std::collections::BTreeMap;

/// One instance's settings; what is empty or `None` is as it is after boot, or cannot be read on this kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The instance; `None` for the top level.
    pub instance: Option<String>,
    /// True if the ring buffer takes events.
    pub on: bool,
    /// The tracer, if it is not `nop`.
    pub tracer: Option<String>,
    /// Systems of which every event is enabled.
    pub systems: Vec<String>,
    /// Enabled events of the other systems.
    pub events: Vec<EventName>,
    /// True if `systems` are all there are.
    pub all_events: bool,
    /// Filters; a refused one is its text, caret and complaint.
    pub filters: Vec<(EventName, String)>,
    /// Triggers, as the kernel shows them.
    pub triggers: Vec<(EventName, String)>,
    /// Function and pid lists that hold something: file and lines.
    pub lists: BTreeMap<&'static str, Vec<String>>,
    /// Size of the ring buffer.
    pub buffer: BufferSize,
    /// KiB of each CPU's buffer, where they differ.
    pub cpu_buffers: Vec<(CpuId, u64)>,
    /// KiB of all CPUs' buffers.
    pub buffer_total_kib: Option<u64>,
    /// KiB of a sub-buffer, if it is not one page.
    pub sub_buffer_kib: Option<u64>,
    /// Bytes of each text that events of system calls hold, if it is another number than after boot.
    pub syscall_bytes: Option<u32>,
    /// The trace clock, if it is not the one after boot.
    pub clock: Option<String>,
    /// `tracing_cpumask`, if it leaves out a CPU.
    pub cpumask: Option<String>,
    /// Longest latency that a latency tracer saw, in microseconds, if any.
    pub max_latency_us: Option<u64>,
    /// Options that differ from after boot.
    pub options: Vec<(String, bool)>,
    /// Settings of the whole machine that differ from after boot. Only at the top level.
    pub machine: Vec<MachineKnob>,
    /// Dynamic events: probes and synthetic events, as the kernel shows them. Only at the top level.
    pub dynamic_events: Vec<String>,
    /// The kernel's log of refused writes.
    pub error_log: Vec<LogEntry>,
}

/// Files of which each line is an entry.
pub(super) const LISTS: [&str; 9] = [
    "set_ftrace_filter",
    "set_ftrace_notrace",
    "set_graph_function",
    "set_graph_notrace",
    "set_event_pid",
    "set_event_notrace_pid",
    "set_ftrace_pid",
    "set_ftrace_notrace_pid",
    "stack_trace_filter",
];

impl Status {
    /// Reads it. Files that this kernel lacks, or refuses to show, are left out.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Content`] for the files that every kernel has.
    pub fn read(instance: &Instance) -> Result<Self, Error> {
        let known = instance.events()?;
        let enabled = instance.enabled_events()?;
        let (systems, events) = by_whole_systems(&known, &enabled);
        let mut all = known.iter().map(|event| &event.system).collect::<Vec<_>>();
        all.dedup();
        let optional = |file: &str| instance.read(file).ok().map(|text| text.trim().to_owned());
        let buffer = instance.buffer_size()?;
        let cpus = instance.cpus()?;
        let cpu_buffers = match buffer {
            BufferSize::PerCpu => cpus
                .iter()
                .filter_map(|cpu| {
                    let text = optional(&Instance::cpu_file(*cpu, "buffer_size_kb"))?;
                    Some((*cpu, BufferSize::parse(&text)?.kib()?))
                })
                .collect(),
            _ => Vec::new(),
        };
        Ok(Status {
            instance: instance.name().map(str::to_owned),
            on: instance.is_on()?,
            tracer: Some(instance.current_tracer()?).filter(|tracer| tracer != "nop"),
            all_events: !all.is_empty() && systems.len() == all.len(),
            systems,
            events,
            filters: instance.event_filters(Some(&known)).unwrap_or_default(),
            triggers: instance.event_triggers(Some(&known)).unwrap_or_default(),
            lists: LISTS.into_iter().map(|file| (file, list(instance, file))).filter(|(_, l)| !l.is_empty()).collect(),
            buffer,
            cpu_buffers,
            buffer_total_kib: optional("buffer_total_size_kb")
                .and_then(|text| BufferSize::parse(&text))
                .and_then(BufferSize::kib),
            sub_buffer_kib: optional("buffer_subbuf_size_kb")
                .and_then(|t| t.parse().ok())
                .filter(|kib| *kib != page_kib()),
            syscall_bytes: optional("syscall_user_buf_size")
                .and_then(|t| t.parse().ok())
                .filter(|bytes| *bytes != SYSCALL_BYTES),
            clock: Some(instance.trace_clock()?.current).filter(|clock| *clock != boot_clock(instance)),
            cpumask: optional("tracing_cpumask").filter(|mask| is_partial(mask, cpus.len())),
            max_latency_us: optional("tracing_max_latency").and_then(|t| t.parse().ok()).filter(|us| *us != 0),
            options: unusual_options(instance)?,
            machine: match instance.name() {
                None => instance.tracefs().machine_knobs(),
                Some(_) => Vec::new(),
            },
            dynamic_events: match instance.name() {
                None => list(instance, "dynamic_events"),
                Some(_) => Vec::new(),
            },
            error_log: LogEntry::parse_all(&optional("error_log").unwrap_or_default()),
        })
    }
}

/// The lines of a list that are entries; none if it cannot be read.
pub(super) fn list(instance: &Instance, file: &str) -> Vec<String> {
    let text = instance.read(file).unwrap_or_default();
    text.lines().filter(|l| !l.is_empty() && !l.starts_with('#') && *l != "no pid").map(str::to_owned).collect()
}

/// Options that differ from after boot, those of tracers that are not at work included: they wait for their tracer.
pub(super) fn unusual_options(instance: &Instance) -> Result<Vec<(String, bool)>, Error> {
    let mut options = instance.options()?;
    // `trace_options` shows the current tracer's only.
    for (name, _) in instance.list("options")? {
        if options.iter().any(|(listed, _)| *listed == name) {
            continue;
        }
        match instance.read(&format!("options/{name}")).as_deref().map(str::trim) {
            Ok("1") => options.push((name, true)),
            Ok("0") => options.push((name, false)),
            // Gone meanwhile, or not to be read.
            Ok(_) | Err(_) => {}
        }
    }
    let options = options.into_iter();
    Ok(options.filter(|(name, on)| default_option(name).is_some_and(|default| default != *on)).collect())
}

/// True if `mask` (hexadecimal, in groups of eight digits) leaves out one of `cpus` CPUs.
pub(super) fn is_partial(mask: &str, cpus: usize) -> bool {
    mask.chars().filter_map(|digit| digit.to_digit(16)).map(u32::count_ones).sum::<u32>() < cpus as u32
}

pub(super) fn page_kib() -> u64 {
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
    page.and_then(|bytes| u64::try_from(bytes).ok()).map_or(4, |bytes| bytes / 1024)
}

fn by_whole_systems(known: &[EventName], enabled: &[EventName]) -> (Vec<String>, Vec<EventName>) {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    known.iter().for_each(|event| counts.entry(&event.system).or_default().0 += 1);
    enabled.iter().for_each(|event| counts.entry(&event.system).or_default().1 += 1);
    let whole = |system: &str| counts.get(system).is_some_and(|(known, enabled)| known == enabled);
    let systems = counts.keys().filter(|system| whole(system)).map(|system| (*system).to_owned()).collect();
    (systems, enabled.iter().filter(|event| !whole(&event.system)).cloned().collect())
}

/// KiB per CPU of a ring buffer once it is used (`TRACE_BUF_SIZE_DEFAULT`), unless `trace_buf_size=` says otherwise.
pub(super) const BUFFER_KIB: u64 = 1408;

/// Bytes of each text that a system call is given (`CONFIG_TRACE_SYSCALL_BUF_SIZE_DEFAULT`, as kernels are built).
pub(super) const SYSCALL_BYTES: u32 = 63;

/// Options that are on after boot (`TRACE_DEFAULT_FLAGS`, and those of the function_graph tracer).
const ON: [&str; 16] = [
    "annotate",
    "context-info",
    "funcgraph-cpu",
    "funcgraph-duration",
    "funcgraph-irqs",
    "funcgraph-overhead",
    "function-trace",
    "graph-time",
    "hash-ptr",
    "irq-info",
    "markers",
    "overwrite",
    "print-parent",
    "record-cmd",
    "sleep-time",
    "trace_printk",
];

/// Options whose value after boot is not the same in every instance or on every kernel.
const VARYING: [&str; 4] = ["copy_trace_marker", "trace_printk_dest", "test_nop_accept", "test_nop_refuse"];

/// State of an option after boot; `None` where that depends.
fn default_option(name: &str) -> Option<bool> {
    (!VARYING.contains(&name)).then(|| ON.contains(&name))
}

/// The clock of every ring buffer whose kernel had no reason for another one.
const LOCAL: &str = "local";
/// Its answer to a time stamp counter that is not stable, with the line that it logs
/// (kernel: `tracing_set_default_clock` in `kernel/trace/trace.c`). Other CPUs' readings of the local clock differ then.
const UNSTABLE: (&str, &str) = ("global", "Unstable clock detected, switching default tracing");

/// The clock of `instance` after boot: that of the parameter `trace_clock=`, or the one that the kernel log tells of.
/// Only the top level's differs from `local`.
pub fn boot_clock(instance: &Instance) -> String {
    let tracefs = instance.tracefs();
    if instance.name().is_some() {
        return LOCAL.to_owned();
    }
    let parameters = tracefs.read_bytes("/proc/cmdline").unwrap_or_default();
    chosen(&String::from_utf8_lossy(&parameters), || tracefs.files().kernel_log())
}

fn chosen(parameters: &str, log: impl FnOnce() -> Vec<u8>) -> String {
    let mut named = parameters.split_whitespace().filter_map(|word| word.strip_prefix("trace_clock="));
    if let Some(clock) = named.next_back() {
        return clock.to_owned();
    }
    let (global, line) = UNSTABLE;
    let is_unstable = memchr::memmem::find(&log(), line.as_bytes()).is_some();
    if is_unstable { global } else { LOCAL }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{chosen, *};

    #[test]
    fn masks() {
        assert!(!is_partial("3", 2));
        assert!(is_partial("2", 2));
        assert!(!is_partial("f,ffffffff", 36));
        assert!(is_partial("f,fffffff7", 36));
        assert!(!is_partial("ff", 4), "more bits than CPUs");
    }

    #[test]
    fn whole_systems() {
        let names = |texts: &[&str]| texts.iter().map(|t| EventName::parse(t).unwrap()).collect::<Vec<_>>();
        let known = names(&["a:x", "a:y", "b:x", "b:y"]);
        let (systems, events) = by_whole_systems(&known, &names(&["a:x", "a:y", "b:y"]));
        assert_eq!((systems, events), (vec!["a".to_owned()], names(&["b:y"])));
    }

    #[test]
    fn parameter_then_log() {
        let log = "4,412,987595,-;Unstable clock detected, switching default tracing clock to \"global\"\n";
        assert_eq!(chosen("quiet", Vec::new), "local");
        assert_eq!(chosen("quiet", || log.into()), "global");
        assert_eq!(chosen("trace_clock=mono quiet trace_clock=boot", || log.into()), "boot");
    }
}
