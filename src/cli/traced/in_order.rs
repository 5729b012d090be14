//! The options whose order matters: `-f` and `-R` belong to the `-e` before them, everything after a `-B` to that
//! instance, and `-v` turns round all `-e` that follow.

use super::tracers;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};
use rtrace::analysis::{Hook, HookError};
use rtrace::record::{BufferPlan, EventPlan, TargetBuffer};
use rtrace::tracefs::EventSelection;
use rtrace::units::{ByteSize, CpuId};

/// `-e -f -R -v -B -b -C` as they stood on the command line.
#[derive(Clone, Debug)]
pub(crate) struct TracedOptions {
    words: Vec<(usize, OptionKind, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionKind {
    Event,
    Purpose,
    Filter,
    Trigger,
    Invert,
    Instance,
    Size,
    Clock,
    Tracer,
    Option,
    StackTrace,
    Function,
    NoFunction,
    GraphFunction,
    Module,
    FuncStack,
    CpuMask,
    Cpus,
    SubBuffer,
    SyscallBytes,
    Hook,
    /// `--profile`, which has no value.
    Profile,
}

const KINDS: [(&str, OptionKind); 21] = [
    ("event", OptionKind::Event),
    ("for", OptionKind::Purpose),
    ("filter", OptionKind::Filter),
    ("trigger", OptionKind::Trigger),
    ("invert", OptionKind::Invert),
    ("instance", OptionKind::Instance),
    ("buffer-size", OptionKind::Size),
    ("clock", OptionKind::Clock),
    ("tracer", OptionKind::Tracer),
    ("option", OptionKind::Option),
    ("stack-trace", OptionKind::StackTrace),
    ("function", OptionKind::Function),
    ("no-function", OptionKind::NoFunction),
    ("graph-function", OptionKind::GraphFunction),
    ("module", OptionKind::Module),
    ("func-stack", OptionKind::FuncStack),
    ("cpumask", OptionKind::CpuMask),
    ("cpu", OptionKind::Cpus),
    ("subbuf-size", OptionKind::SubBuffer),
    ("syscall-bytes", OptionKind::SyscallBytes),
    ("hook", OptionKind::Hook),
];

impl clap::Args for TracedOptions {
    fn augment_args(command: clap::Command) -> clap::Command {
        let each = |id: &'static str, short: char, value: &'static str| {
            Arg::new(id).short(short).long(id).value_name(value).action(ArgAction::Append)
        };
        let command = command
            .arg(each("event", 'e', "EVENT").help("Record events: SYSTEM:EVENT, SYSTEM, EVENT, all, 'GLOB' (quoted), A,B"))
            .arg(
                Arg::new("for")
                    .long("for")
                    .value_name("ANALYSIS,...")
                    .action(ArgAction::Append)
                    .help("Record what an analysis reads: sched, irq, syscalls, io, locks, ...")
                    .long_help(
                        "Record what an analysis reads: sched, irq, syscalls, io, functions, locks, memory, faults, osnoise, timerlat, wakers, migrations, map, idle, reclaim, net, requests, latency, offcpu; rv: the errors of monitors of runtime verification (--monitor)",
                    ),
            )
            .arg(each("filter", 'f', "FILTER").allow_hyphen_values(true).help("Filter for the -e before it"))
            .arg(each("trigger", 'R', "TRIGGER").allow_hyphen_values(true).help("Set a trigger on the -e before it"))
            .arg(
                Arg::new("invert")
                    .short('v')
                    .action(ArgAction::Append)
                    .num_args(0)
                    .default_missing_value("")
                    .help("Leave out the events of every -e that follows"),
            )
            .arg(
                each("instance", 'B', "INSTANCE")
                    .help("Record in this instance too; options after it belong to it")
                    .long_help(
                        "Record in this instance too; options after it belong to it (made and removed if absent)",
                    ),
            )
            .arg(
                each("buffer-size", 'b', "SIZE")
                    .help("Ring buffer per CPU: KiB, or with K, M, G, or CPU=SIZE; default 1408K"),
            )
            .arg(each("clock", 'C', "CLOCK").help("Trace clock: local, global, mono, boot, tsc2nsec, ... (list -C)"));
        tracers::augment(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TracedOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut words = Vec::new();
        for (id, kind) in KINDS {
            // Not every command takes all of them.
            let Ok(values) = matches.try_get_many::<String>(id) else { continue };
            let values = values.into_iter().flatten();
            let places = matches.indices_of(id).into_iter().flatten();
            words.extend(places.zip(values).map(|(at, value)| (at, kind, value.clone())));
        }
        let given = |id: &str| matches.try_contains_id(id).is_ok_and(|known| known);
        if given("profile") && matches.value_source("profile") == Some(ValueSource::CommandLine) {
            words.extend(matches.index_of("profile").map(|at| (at, OptionKind::Profile, String::new())));
        }
        words.sort_by_key(|&(at, ..)| at);
        Ok(TracedOptions { words })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl TracedOptions {
    /// As [`TracedOptions::buffers`], with trace-cmd's clock `tsc2nsec`: the time stamp counter, and its conversion
    /// stored.
    pub(crate) fn buffers_and_tsc(&self, main: TargetBuffer) -> Result<(Vec<BufferPlan>, bool), clap::Error> {
        let mut buffers = self.buffers(main)?;
        let mut clocks: Vec<&mut String> = buffers.iter_mut().filter_map(|buffer| buffer.clock.as_mut()).collect();
        let tsc = clocks.iter().any(|clock| *clock == "tsc2nsec");
        for clock in clocks.iter_mut().filter(|clock| **clock == "tsc2nsec") {
            **clock = "x86-tsc".to_owned();
        }
        Ok((buffers, tsc))
    }

    /// Indices of the buffers of `--profile`.
    pub(crate) fn profiled(&self) -> Vec<usize> {
        let mut buffer = 0;
        let mut all = Vec::new();
        for (_, kind, _) in &self.words {
            match kind {
                OptionKind::Instance => buffer += 1,
                OptionKind::Profile => all.push(buffer),
                _ => {}
            }
        }
        all
    }

    /// True if a `-v` has no `-e` after it that it could turn round.
    pub(super) fn inverts_nothing(&self) -> bool {
        let mut open = false;
        for (_, kind, _) in &self.words {
            match kind {
                OptionKind::Invert => open = true,
                OptionKind::Event => open = false,
                OptionKind::Instance if open => return true,
                _ => {}
            }
        }
        open
    }

    /// The hooks, as they were given.
    pub(crate) fn hooks(&self) -> Vec<String> {
        let hooks = self.words.iter().filter(|(_, kind, _)| *kind == OptionKind::Hook);
        hooks.map(|(_, _, text)| text.clone()).collect()
    }

    /// As if `--profile` stood after each `-B`, or first if there is none.
    pub(crate) fn profile_all(mut self) -> Self {
        let instances = self.words.iter().filter(|(_, kind, _)| *kind == OptionKind::Instance);
        let mut at: Vec<usize> = instances.map(|(at, ..)| *at).collect();
        if at.is_empty() {
            at.push(0);
        }
        self.words.extend(at.into_iter().map(|at| (at, OptionKind::Profile, String::new())));
        self.words.sort_by_key(|&(at, ..)| at); // stable: after its -B
        self
    }

    /// The ring buffers these words ask for; the main one, which lies at `main`, comes first.
    pub(crate) fn buffers(&self, main: TargetBuffer) -> Result<Vec<BufferPlan>, clap::Error> {
        let buffers = self.settings(main)?;
        // A profile brings its tracer along.
        let profiled = !self.profiled().is_empty();
        for buffer in buffers.iter().filter(|buffer| buffer.tracer.is_none() && !profiled) {
            let functions = &buffer.functions;
            if !(functions.trace.is_empty() && functions.leave_out.is_empty() && functions.graph.is_empty()) {
                let mut text = "-l, -n, -g and --module are about a tracer, and there is none: add -p function or -p function_graph\n".to_owned();
                if !functions.graph.is_empty() {
                    text.push_str("  Hint: `-g FUNC` is about function_graph; `-R stacktrace` after `-e EVENT` records call stacks.\n");
                }
                let is_number = |function: &String| function.bytes().all(|digit| digit.is_ascii_digit());
                if let Some(number) = functions.leave_out.iter().find(|function| is_number(function)) {
                    text.push_str(&format!("  Hint: `-n FUNC` leaves a function out; `rtrace stream ... | head -n {number}` ends after {number} lines.\n"));
                }
                return Err(clap::Error::raw(ErrorKind::ValueValidation, text));
            }
        }
        Ok(buffers)
    }

    /// The same for a command that changes settings: functions may be those of a tracer that runs already.
    pub(crate) fn settings(&self, main: TargetBuffer) -> Result<Vec<BufferPlan>, clap::Error> {
        let usage = |text: String| clap::Error::raw(ErrorKind::ValueValidation, text + "\n");
        let mut buffers = vec![BufferPlan::new(main)];
        let mut invert = false;
        let mut module: Option<&str> = None;
        let mut alone = false; // a --module that nothing follows means all its functions
        for (_, kind, text) in &self.words {
            let buffer = buffers.last_mut().expect("there is always the main one");
            if alone && matches!(kind, OptionKind::Instance | OptionKind::Module) {
                buffer.functions.trace.push(tracers::of_module("*", module));
            }
            alone &= !matches!(
                kind,
                OptionKind::Function | OptionKind::NoFunction | OptionKind::GraphFunction | OptionKind::Instance
            );
            match kind {
                OptionKind::Invert => invert = true,
                OptionKind::Instance => {
                    let place = TargetBuffer::Instance(text.clone());
                    if buffers.iter().any(|b| b.place == place) {
                        return Err(usage(format!("instance `{text}` is named twice")));
                    }
                    buffers.push(BufferPlan::new(place));
                    (invert, module) = (false, None);
                }
                OptionKind::Size => {
                    let (cpu, text) = match text.split_once('=') {
                        Some((cpu, size)) => (Some(cpu), size),
                        None => (None, text.as_str()),
                    };
                    let size = ByteSize::parse_with_unit(text, 1024).map_err(|e| usage(e.to_string()))?;
                    if size.0 < 1024 {
                        return Err(usage(format!("invalid size `{text}`: a ring buffer has at least 1 KiB per CPU")));
                    }
                    match cpu.map(str::parse) {
                        None => buffer.size = Some(size),
                        Some(Ok(cpu)) => buffer.cpu_sizes.push((CpuId(cpu), size)),
                        Some(Err(_)) => {
                            return Err(usage(format!("invalid CPU in `-b {}={text}`", cpu.unwrap_or_default())));
                        }
                    }
                }
                OptionKind::Clock => buffer.clock = Some(text.clone()),
                OptionKind::Tracer => buffer.tracer = Some(text.trim().to_owned()),
                OptionKind::StackTrace => buffer.options.push(("stacktrace".to_owned(), true)),
                OptionKind::Function => {
                    tracers::trace(&mut buffer.functions, text, module).map_err(usage)?;
                }
                OptionKind::NoFunction => buffer.functions.leave_out.push(tracers::of_module(text, module)),
                OptionKind::GraphFunction => buffer.functions.graph.push(tracers::of_module(text, module)),
                OptionKind::Module => (module, alone) = (Some(text.as_str()), true),
                OptionKind::FuncStack => buffer.functions.stack = true,
                OptionKind::CpuMask => {
                    // All that may be there, not those that this process may run on.
                    let cpus = nix::unistd::sysconf(nix::unistd::SysconfVar::_NPROCESSORS_CONF);
                    let cpus = cpus.ok().flatten().and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
                    buffer.cpu_mask = Some(tracers::cpu_mask(text, cpus).map_err(usage)?);
                }
                OptionKind::Cpus => {
                    let mask = tracers::mask_of(text).map_err(|error| usage(format!("--cpu: {error}")))?;
                    buffer.cpu_mask = Some(mask);
                }
                OptionKind::SubBuffer => {
                    buffer.sub_buffer = Some(ByteSize::parse_with_unit(text, 1024).map_err(|e| usage(e.to_string()))?);
                }
                OptionKind::SyscallBytes => {
                    let bytes = text.parse().map_err(|_| usage(format!("invalid number of bytes `{text}`")))?;
                    buffer.syscall_bytes = Some(bytes);
                }
                OptionKind::Option => {
                    buffer.options.extend(text.split(',').map(|text| match text.strip_prefix("no") {
                        Some(name) => (name.to_owned(), false),
                        None => (text.to_owned(), true),
                    }))
                }
                OptionKind::Hook => {
                    let hook: Hook = text.parse().map_err(|e: HookError| usage(e.to_string()))?;
                    super::profile::want(buffer, &hook.start.to_string(), hook.stack);
                    super::profile::want(buffer, &hook.end.to_string(), false);
                }
                OptionKind::Profile => {}
                OptionKind::Purpose => super::purpose::add(buffer, text).map_err(usage)?,
                OptionKind::Event => buffer.events.push(EventPlan {
                    selection: EventSelection::new(text.clone()),
                    filters: Vec::new(),
                    triggers: Vec::new(),
                    enable: !invert,
                }),
                OptionKind::Filter | OptionKind::Trigger => {
                    let (option, what) = if *kind == OptionKind::Filter { ("-f", "filter") } else { ("-R", "trigger") };
                    let Some(event) = buffer.events.last_mut() else {
                        return Err(usage(format!(
                            "{option} `{text}`: a {what} belongs to the -e before it, and there is none: `-e EVENT {option} {}`",
                            what.to_uppercase()
                        )));
                    };
                    if *kind == OptionKind::Filter { &mut event.filters } else { &mut event.triggers }
                        .push(text.clone());
                }
            }
        }
        if alone && let Some(buffer) = buffers.last_mut() {
            buffer.functions.trace.push(tracers::of_module("*", module));
        }
        Ok(buffers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffers(words: &[&str]) -> Result<Vec<BufferPlan>, clap::Error> {
        let command = <TracedOptions as clap::Args>::augment_args(clap::Command::new("record"));
        let matches = command.try_get_matches_from([&["record"], words].concat()).unwrap();
        TracedOptions::from_arg_matches(&matches).unwrap().buffers(TargetBuffer::Private)
    }

    #[test]
    fn each_option_belongs_to_what_stands_before_it() {
        let buffers = buffers(&[
            "-b",
            "512",
            "-e",
            "sched",
            "-f",
            "a == 1",
            "-R",
            "traceoff",
            "-f",
            "b == 2",
            "-e",
            "irq",
            "-v",
            "-e",
            "irq:softirq*",
            "-B",
            "one",
            "-C",
            "mono",
            "-e",
            "timer",
            "-b",
            "2M",
        ])
        .unwrap();
        let [main, one] = &buffers[..] else { panic!("{buffers:?}") };
        assert_eq!(main.size, Some(ByteSize(512 << 10)));
        assert_eq!(main.clock, None);
        let [sched, irq, softirq] = &main.events[..] else { panic!("{main:?}") };
        assert_eq!(sched.filters, ["a == 1", "b == 2"]);
        assert_eq!(sched.triggers, ["traceoff"]);
        assert!(irq.filters.is_empty() && irq.enable && !softirq.enable);
        assert_eq!(one.place, TargetBuffer::Instance("one".to_owned()));
        assert_eq!((one.size, one.clock.as_deref()), (Some(ByteSize(2 << 20)), Some("mono")));
        assert!(one.events[0].enable, "-v ends with the instance");
    }

    #[test]
    fn functions_belong_to_a_tracer_and_a_module() {
        let all = buffers(&[
            "-p",
            "function",
            "-l",
            "a*",
            "--module",
            "ext4",
            "-l",
            "b",
            "-n",
            "c",
            "-B",
            "x",
            "-p",
            "function_graph",
            "-g",
            "d",
            "--module",
            "xfs",
            "-T",
            "-M",
            "3",
        ])
        .unwrap();
        assert_eq!(all[0].functions.trace, ["a*", "b:mod:ext4"]);
        assert_eq!(all[0].functions.leave_out, ["c:mod:ext4"]);
        assert_eq!(all[1].functions.graph, ["d"]);
        assert_eq!(all[1].functions.trace, ["*:mod:xfs"]);
        assert_eq!((all[1].options[0].0.as_str(), all[1].cpu_mask.as_deref()), ("stacktrace", Some("3")));
        assert!(buffers(&["-l", "a"]).unwrap_err().to_string().contains("add -p function"));
        let command = <TracedOptions as clap::Args>::augment_args(clap::Command::new("set"));
        let set = TracedOptions::from_arg_matches(&command.try_get_matches_from(["set", "-l", "a", "-n", ""]).unwrap())
            .unwrap();
        let set = set.settings(TargetBuffer::Top).unwrap();
        assert_eq!(
            (set[0].functions.trace.as_slice(), set[0].functions.leave_out.as_slice()),
            (&["a".to_owned()][..], &[String::new()][..])
        );
    }

    #[test]
    fn tsc2nsec_is_a_clock_and_its_conversion() {
        let command = <TracedOptions as clap::Args>::augment_args(clap::Command::new("record"));
        let parse = |words: &[&str]| {
            let matches = command.clone().try_get_matches_from(words).unwrap();
            TracedOptions::from_arg_matches(&matches).unwrap().buffers_and_tsc(TargetBuffer::Private).unwrap()
        };
        let (buffers, tsc) = parse(&["record", "-C", "tsc2nsec", "-B", "one", "-C", "x86-tsc"]);
        assert_eq!((buffers[0].clock.as_deref(), buffers[1].clock.as_deref()), (Some("x86-tsc"), Some("x86-tsc")));
        assert!(tsc && !parse(&["record", "-C", "x86-tsc"]).1);
    }

    #[test]
    fn hooks_and_profiles_belong_to_a_buffer() {
        let command = <TracedOptions as clap::Args>::augment_args(clap::Command::new("record"))
            .arg(Arg::new("hook").short('H').action(ArgAction::Append))
            .arg(Arg::new("profile").long("profile").action(ArgAction::SetTrue));
        let parse = |words: &[&str]| {
            let matches = command.clone().try_get_matches_from([&["record"], words].concat()).unwrap();
            TracedOptions::from_arg_matches(&matches).unwrap()
        };
        let words = parse(&["-e", "irq", "-B", "one", "--profile", "-H", "s:a,x/b,y,s", "-B", "two"]);
        assert_eq!((words.profiled(), words.hooks()), (vec![1], vec!["s:a,x/b,y,s".to_owned()]));
        let buffers = words.buffers(TargetBuffer::Private).unwrap();
        let [a, b] = &buffers[1].events[..] else { panic!("{buffers:?}") };
        assert_eq!((a.selection.text(), b.selection.text()), ("s:a", "b"));
        assert_eq!((a.triggers.as_slice(), b.triggers.len()), (&["stacktrace".to_owned()][..], 0));
        assert!(parse(&["-e", "irq"]).profiled().is_empty());
        assert_eq!(parse(&["-e", "irq"]).profile_all().profiled(), [0]);
        assert_eq!(parse(&["-B", "one", "-B", "two"]).profile_all().profiled(), [1, 2]);
        let functions = parse(&["-l", "sys_*"]);
        assert!(
            functions.buffers(TargetBuffer::Private).is_err()
                && functions.profile_all().buffers(TargetBuffer::Private).is_ok()
        );
    }

    #[test]
    fn what_belongs_to_nothing_is_refused() {
        assert!(buffers(&["-f", "a == 1"]).is_err());
        assert!(buffers(&["-e", "sched", "-B", "x", "-R", "traceoff"]).is_err());
        assert!(buffers(&["-B", "x", "-B", "x"]).is_err());
        assert!(buffers(&["-b", "12X"]).is_err());
        assert!(buffers(&["-b", "0"]).is_err());
        assert!(buffers(&["-b", "x=4M"]).is_err());
        let sizes = buffers(&["-b", "1M", "-b", "1=4M"]).unwrap();
        assert_eq!(
            (sizes[0].size, sizes[0].cpu_sizes.as_slice()),
            (Some(ByteSize(1 << 20)), &[(CpuId(1), ByteSize(4 << 20))][..])
        );
    }
}
