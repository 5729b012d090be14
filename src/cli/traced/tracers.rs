//! The options about tracers that stand in order with `-e` and `-B`, and those that hold for the whole machine.
//! Settings of the tracers hwlat, osnoise and timerlat.

use clap::{Arg, ArgAction};
use rtrace::filter::{CpuList, CpuListError};
use rtrace::record::{FunctionFilters, MachineSettings, TracerSettings, TracerTime};
use rtrace::trigger::FunctionTrigger;
use rtrace::units::parse_duration;

/// Adds the options that belong to an instance.
pub(super) fn augment(command: clap::Command) -> clap::Command {
    let each =
        |id: &'static str, value: &'static str| Arg::new(id).long(id).value_name(value).action(ArgAction::Append);
    let flag = |id: &'static str| Arg::new(id).long(id).action(ArgAction::Append).num_args(0).default_missing_value("");
    command
        .arg(each("tracer", "TRACER").short('p').help("Run a tracer: function, function_graph, ... (rtrace list -t)"))
        .arg(
            each("function", "FUNC")
                .short('l')
                .help("Trace only these functions (name or glob), or FUNC:COMMAND")
                .long_help(
                    "Trace only these functions, or set FUNC:COMMAND. FUNC is a whole name, a glob, or a regular expression that matches whole names (`.*read.*`); after a `!` it is taken out of the list (of set_ftrace_filter as it is, if no other -l is given), and a COMMAND removed",
                ),
        )
        .arg(
            each("no-function", "FUNC")
                .short('n')
                .help("Do not trace these functions; function_graph: nor what they call"),
        )
        .arg(each("graph-function", "FUNC").short('g').help("function_graph: trace these functions and what they call"))
        .arg(
            each("module", "MODULE")
                .help("The -l, -n and -g that follow mean functions of this module; alone: all of them"),
        )
        .arg(flag("func-stack").help("A stack trace with each function that -l names"))
        .arg(each("option", "OPTION").short('O').help("Enable trace options; `noOPTION` disables one: A,noB"))
        .arg(flag("stack-trace").short('T').help("A stack trace with each event (-O stacktrace)"))
        .arg(
            each("cpumask", "MASK")
                .short('M')
                .help("Only these CPUs: a hexadecimal mask, -1 for all")
                .allow_hyphen_values(true),
        )
        .arg(each("cpu", "LIST").help("Only these CPUs, by number: 0-3,8"))
        .arg(each("subbuf-size", "SIZE").help("Size of a sub-buffer: KiB, or with K, M (since Linux 6.8); the kernel rounds up to a power of two"))
        .arg(
            each("syscall-bytes", "N")
                .help("Bytes of names and data that system calls are given, 0 for none (Linux 6.19)")
                .long_help(
                    "Bytes that events of system calls hold of each file name or data that the call is given by address; 0 for none (syscall_user_buf_size, since Linux 6.19: 63 unless set, 165 at most)",
                ),
        )
}

/// Settings that all instances share.
#[derive(clap::Args, Clone)]
pub(crate) struct MachineArgs {
    /// function_graph: follow calls to this depth
    #[arg(long, value_name = "N")]
    max_graph_depth: Option<u32>,
    /// Number of task names the kernel remembers
    #[arg(long, value_name = "N")]
    cmdlines_size: Option<u32>,
    /// Only trace functions/latencies of at least this long: latency tracers, function_graph, hwlat, osnoise, timerlat (microseconds)
    #[arg(long, value_name = "MICROSECONDS")]
    threshold: Option<u64>,
    #[command(flatten)]
    tracers: TracerArgs,
    /// Latency tracers: only trace latencies above this (tracing_max_latency, microseconds)
    #[arg(long, value_name = "MICROSECONDS")]
    max_latency: Option<u64>,
    /// Latency tracers: no functions on the way
    #[arg(short = 'd', long = "no-function-trace")]
    no_functions: bool,
    /// -p blk: trace this block device only; all disks without it
    #[arg(long = "device", value_name = "DEVICE")]
    devices: Vec<String>,
    /// Enable these monitors of runtime verification: name or glob, A,B (--for rv alone: all)
    ///
    /// `sched` is every monitor within `sched`. Their errors are events rv:error_NAME, which --for rv records.
    #[arg(long = "monitor", value_name = "MONITOR", value_delimiter = ',')]
    monitors: Vec<String>,
    /// No tracing of functions in the whole system (ftrace_enabled)
    #[arg(short = 'D', long = "no-ftrace")]
    no_ftrace: bool,
    /// Tracing of functions in the whole system, after a -D (ftrace_enabled)
    #[arg(long, conflicts_with = "no_ftrace")]
    ftrace: bool,
}

impl MachineArgs {
    pub(crate) fn machine(&self) -> MachineSettings {
        MachineSettings {
            graph_depth: self.max_graph_depth,
            saved_cmdlines: self.cmdlines_size,
            threshold: self.threshold,
            tracers: self.tracers.settings(),
            latency_floor: self.max_latency,
            no_functions: self.no_functions,
            block_devices: self.devices.clone(),
            ftrace: if self.no_ftrace { Some(false) } else { self.ftrace.then_some(true) },
            monitors: self.monitors.clone(),
        }
    }
}

/// Adds one `-l`: a pattern, or a command on functions.
pub(super) fn trace(functions: &mut FunctionFilters, text: &str, module: Option<&str>) -> Result<(), String> {
    let is_pattern = !text.contains(':') || text.split(':').nth(1) == Some("mod");
    if is_pattern {
        functions.trace.push(of_module(text, module));
        return Ok(());
    }
    if let Some(removal) = text.strip_prefix('!') {
        functions.removals.push(removal.parse::<FunctionTrigger>().map_err(|error| error.to_string())?);
        return Ok(());
    }
    functions.commands.push(text.parse::<FunctionTrigger>().map_err(|error| error.to_string())?);
    Ok(())
}

/// A pattern restricted to a module.
pub(super) fn of_module(pattern: &str, module: Option<&str>) -> String {
    match module {
        Some(module) if !pattern.contains(":mod:") => format!("{pattern}:mod:{module}"),
        _ => pattern.to_owned(),
    }
}

/// A mask as the kernel takes it: a comma every 8 digits. `-1` is all of `cpus`. A list of CPUs is refused with its mask.
pub(super) fn cpu_mask(text: &str, cpus: usize) -> Result<String, String> {
    let is_list = text.split(',').skip(1).any(|group| group.len() != 8) || text.trim_start_matches('-').contains('-');
    if is_list {
        let last = cpus.saturating_sub(1);
        let meant = match text.parse::<CpuList>().ok().and_then(|list| list.iter().max()) {
            Some(most) if most as usize > last => format!("; this machine's last CPU is {last}, all are `-1`"),
            Some(_) => format!("; `--cpu {text}` are those CPUs"),
            None => String::new(),
        };
        return Err(format!("invalid CPU mask `{text}`: a bit for each CPU is expected, in hexadecimal digits{meant}"));
    }
    let digits: String = if text == "-1" {
        let first = match cpus % 4 {
            0 => String::new(),
            rest => format!("{:x}", (1 << rest) - 1),
        };
        first + &"f".repeat(cpus / 4)
    } else {
        text.trim_start_matches("0x").chars().filter(|c| *c != ',').collect()
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(format!("invalid CPU mask `{text}`: expected hexadecimal digits, or -1"));
    }
    Ok(grouped(&digits))
}

/// The mask of the CPUs of the list `text`; the kernel says which of them the machine has.
pub(crate) fn mask_of(text: &str) -> Result<String, String> {
    let list = text.parse::<CpuList>().map_err(|error: CpuListError| format!("{error}, not `{text}`"))?;
    let most = list.iter().max().unwrap_or_default();
    let digit = |at: u32| (0..4).filter(|bit| list.contains(at * 4 + bit)).fold(0, |digit, bit| digit | 1 << bit);
    Ok(grouped(&(0..=most / 4).rev().map(|at| format!("{:x}", digit(at))).collect::<String>()))
}

/// Hexadecimal digits with a comma every 8.
fn grouped(digits: &str) -> String {
    let words: Vec<&[u8]> = digits.as_bytes().rchunks(8).rev().collect();
    words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>().join(",")
}

/// Settings of the tracers hwlat, osnoise and timerlat, which all instances share.
#[derive(clap::Args, Clone)]
pub(crate) struct TracerArgs {
    /// hwlat: sample for TIME of each window, with interrupts disabled (microseconds, or with us, ms, s)
    #[arg(long, value_name = "TIME", value_parser = micros)]
    hwlat_width: Option<u64>,
    /// hwlat: one window each TIME
    #[arg(long, value_name = "TIME", value_parser = micros)]
    hwlat_window: Option<u64>,
    /// hwlat: threads: none, round-robin, per-cpu
    #[arg(long, value_name = "MODE")]
    hwlat_mode: Option<String>,
    /// osnoise: sample for TIME of each period
    #[arg(long, value_name = "TIME", value_parser = micros)]
    osnoise_runtime: Option<u64>,
    /// osnoise: one period each TIME
    #[arg(long, value_name = "TIME", value_parser = micros)]
    osnoise_period: Option<u64>,
    /// osnoise, timerlat: measure these CPUs only, as in 0-3,7
    #[arg(long, value_name = "CPUS", value_parser = |text: &str| text.parse::<CpuList>().map_err(|e: CpuListError| e.to_string()))]
    osnoise_cpus: Option<CpuList>,
    /// osnoise, timerlat: switch an option on, or with NO_ before it off: OSNOISE_WORKLOAD, PANIC_ON_STOP, ...
    #[arg(long = "osnoise-option", value_name = "OPTION")]
    osnoise_options: Vec<String>,
    /// Stop tracing at a single noise, or an interrupt latency of timerlat, beyond TIME; 0 for never
    #[arg(long, value_name = "TIME", value_parser = micros)]
    stop_tracing: Option<u64>,
    /// Stop tracing at a noise per period, or a thread latency of timerlat, beyond TIME; 0 for never
    #[arg(long, value_name = "TIME", value_parser = micros)]
    stop_tracing_total: Option<u64>,
    /// timerlat: one timer each TIME, 100 us to 1 s
    #[arg(long, value_name = "TIME", value_parser = micros)]
    timerlat_period: Option<u64>,
    /// timerlat: TIME between the timers of two CPUs, with --osnoise-option TIMERLAT_ALIGN
    #[arg(long, value_name = "TIME", value_parser = micros)]
    timerlat_align: Option<u64>,
    /// timerlat: the stack at the interrupt, if the thread is later than TIME; 0 for never
    #[arg(long, value_name = "TIME", value_parser = micros)]
    print_stack: Option<u64>,
}

impl TracerArgs {
    fn settings(&self) -> TracerSettings {
        let times = [
            (TracerTime::HwlatWidth, self.hwlat_width),
            (TracerTime::HwlatWindow, self.hwlat_window),
            (TracerTime::OsnoiseRuntime, self.osnoise_runtime),
            (TracerTime::OsnoisePeriod, self.osnoise_period),
            (TracerTime::StopTracing, self.stop_tracing),
            (TracerTime::StopTracingTotal, self.stop_tracing_total),
            (TracerTime::TimerlatPeriod, self.timerlat_period),
            (TracerTime::TimerlatAlign, self.timerlat_align),
            (TracerTime::PrintStack, self.print_stack),
        ];
        let option = |text: &String| match text.strip_prefix("NO_") {
            Some(name) => (name.to_owned(), false),
            None => (text.clone(), true),
        };
        TracerSettings {
            times: times.into_iter().filter_map(|(time, value)| Some((time, value?))).collect(),
            hwlat_mode: self.hwlat_mode.clone(),
            cpus: self.osnoise_cpus.clone(),
            options: self.osnoise_options.iter().map(option).collect(),
        }
    }
}

/// Ids of the options, each with the tracers that look at it.
pub(super) const OF_TRACERS: [(&str, &[&str]); 12] = [
    ("hwlat_width", &["hwlat"]),
    ("hwlat_window", &["hwlat"]),
    ("hwlat_mode", &["hwlat"]),
    ("osnoise_runtime", &["osnoise"]),
    ("osnoise_period", &["osnoise"]),
    ("osnoise_cpus", &["osnoise", "timerlat"]),
    ("osnoise_options", &["osnoise", "timerlat"]),
    ("stop_tracing", &["osnoise", "timerlat"]),
    ("stop_tracing_total", &["osnoise", "timerlat"]),
    ("timerlat_period", &["timerlat"]),
    ("timerlat_align", &["timerlat"]),
    ("print_stack", &["timerlat"]),
];

/// Whole microseconds, of which the kernel's files are: `50`, `50us`, `0.5ms`, `1s`.
pub(crate) fn micros(text: &str) -> Result<u64, String> {
    let digits_only = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let time = if digits_only { parse_duration(&format!("{text}us")) } else { parse_duration(text) };
    let nanos = time.map_err(|error| error.to_string())?.as_nanos() as u64;
    match nanos % 1000 {
        0 => Ok(nanos / 1000),
        _ => Err(format!("`{text}` is no whole number of microseconds")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        assert_eq!(cpu_mask("3", 8).unwrap(), "3");
        assert_eq!(cpu_mask("0x1ffffffff", 64).unwrap(), "1,ffffffff");
        assert_eq!(cpu_mask("-1", 8).unwrap(), "ff");
        assert_eq!(cpu_mask("-1", 6).unwrap(), "3f");
        assert_eq!(cpu_mask("-1", 40).unwrap(), "ff,ffffffff");
        assert!(cpu_mask("xyz", 8).is_err() && cpu_mask("", 8).is_err());
        assert_eq!(cpu_mask("1,00000000", 64).unwrap(), "1,00000000");
        for (list, mask) in
            [("0,1", "3"), ("0-1", "3"), ("2-3,5", "2c"), ("0,36", "10,00000001"), ("63-64", "1,80000000,00000000")]
        {
            assert_eq!(mask_of(list).as_deref(), Ok(mask), "{list}");
            assert!(cpu_mask(list, 128).unwrap_err().contains(&format!("`--cpu {list}`")), "{list}");
        }
        assert!(mask_of("1-").is_err() && mask_of("").is_err());
    }

    #[test]
    fn patterns_and_commands() {
        let mut functions = FunctionFilters::default();
        for text in ["sched*", "*:mod:ext4", "schedule:traceoff:3"] {
            trace(&mut functions, text, None).unwrap();
        }
        trace(&mut functions, "ext4_*", Some("ext4")).unwrap();
        assert_eq!(functions.trace, ["sched*", "*:mod:ext4", "ext4_*:mod:ext4"]);
        assert_eq!(functions.commands[0].to_string(), "schedule:traceoff:3");
        trace(&mut functions, "!schedule:traceoff:0", None).unwrap();
        assert_eq!(
            (functions.commands.len(), functions.removals[0].to_string()),
            (1, "schedule:traceoff:0".to_owned())
        );
        assert!(trace(&mut functions, "schedule:nonsense", None).is_err());
    }

    #[test]
    fn times_are_whole_microseconds() {
        for (text, expected) in [("50", 50), ("50us", 50), ("0.5ms", 500), ("1s", 1_000_000), ("0", 0)] {
            assert_eq!(micros(text), Ok(expected), "{text}");
        }
        assert!(micros("50ns").unwrap_err().contains("whole number of microseconds"));
        assert!(micros("").is_err() && micros("5 us").is_err() && micros("-1").is_err());
    }
}
