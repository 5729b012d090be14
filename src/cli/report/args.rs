//! The arguments of `rtrace report`.
//! Options that ask for facts of a file.

use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::Given;
use crate::cli::profile::report::ProfileLayout;
use crate::cli::profile::{AccountArgs, parse_hook};
use crate::cli::query::{QueryArgs, QueryEvents, QueryInput, WallArgs};
use crate::cli::terminal::{Color, PagerArgs, note};
use crate::cli::{plugin_options, user_symbols};
use anyhow::anyhow;
use regex::Regex;
use rtrace::analysis::Hook;
use rtrace::event::{DecodeOptions, EventTypes};
use rtrace::format::EventFormat;
use std::ops::Deref;
use std::path::PathBuf;

/// Print a recording as text
///
/// Prints the events of trace.dat files in the order of time, as trace-cmd report does. A damaged or cut-off file gives
/// all that can be read; each damage is named on stderr, and the exit code is 4. The file of a recording that still
/// runs, or that was killed, can be read too.
#[derive(clap::Args)]
#[command(
    disable_version_flag = true,
    after_help = "EXAMPLES:\n  \
        rtrace report                                       what `rtrace record` just recorded\n  \
        rtrace report -t --cpu 0,2-3 run.dat                nanoseconds, three CPUs only\n  \
        rtrace report -F 'sched_switch: next_prio < 100'    the events that match\n  \
        rtrace report -v -F 'sched/.*'                      all but the events of sched\n  \
        rtrace report --filter 'sched:sched_switch: prev_prio < 100'   in the kernel's language\n  \
        rtrace report --since -200ms                        the last 200 ms\n  \
        rtrace report --around 167.716832±5ms               what happened around that time\n  \
        rtrace report --format json | jq 'select(.pid == 1)'\n  \
        rtrace report --format csv --fields ts,cpu,next_comm --filter sched:sched_switch\n  \
        rtrace report --summary                             what there is, and who did it\n  \
        rtrace report -w -F 'sched/.*'                      how long tasks waited for a CPU\n  \
        rtrace report --syscalls --comm ls                  calls, as strace prints them\n  \
        rtrace report --symbols user                        user-space stacks by name, after `record --proc-map`\n  \
        rtrace report -O fgraph:tailprint -r 'timer_.*'     names after `}`, timers as fields"
)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(super) given: Given,
    /// Files to print, merged by time; `-` is standard input [default: trace.dat]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
    /// File to print; may be given several times
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) input: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) events: QueryArgs,
    #[command(flatten)]
    pub(super) wall: WallArgs,
    #[command(flatten)]
    pub(super) layout: ReportLayout,
    /// Say where the time stamps of a CPU go backwards
    #[arg(long)]
    pub(super) ts_check: bool,
    #[command(flatten)]
    pub(super) wording: WordingArgs,
    #[command(flatten)]
    pub(super) names: NamesArgs,
    /// Output format of the events
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(super) format: ReportFormat,
    /// Columns of --format csv
    ///
    /// ts, cpu, pid, comm, event, system, name, source, buffer, lost, fields, or fields of events.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(super) fields: Vec<String>,
    /// Replace names by pseudonyms in json, csv and raw: of tasks, files, machines, and all other texts
    ///
    /// A name has one pseudonym throughout the output, and another in the next. Structures and arrays of bytes become zeros. Numbers,
    /// times, kernel functions and names of events stay.
    #[arg(long, conflicts_with = "symbols")]
    pub(super) redact: bool,
    /// System calls as strace prints them: a line per call, with names of flags and errors
    ///
    /// The line stands where the call ended; the time since its entry follows, in seconds. `<unfinished ...>`: it has no exit
    /// (`events lost`: the kernel dropped events meanwhile); `<... NAME resumed>`: its entry is not recorded. Other events
    /// stay as they are. With --format json a call is an object of type `syscall`. On one thread.
    #[arg(long, conflicts_with_all = ["raw", "wakeups"])]
    pub(super) syscalls: bool,
    /// The JSON Schema of what --format json prints: of any file, or of the files given
    #[arg(long)]
    pub(super) json_schema: bool,
    #[command(flatten)]
    pub(super) tally: TallyArgs,
    #[command(flatten)]
    pub(super) profile: ReportProfileArgs,
    /// Colour the text
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub(super) color: Color,
    #[command(flatten)]
    pub(super) pager: PagerArgs,
    #[command(flatten)]
    pub(super) facts: ReportFactsArgs,
    #[command(flatten)]
    words: ReportMessageArgs,
}

/// Trace-cmd's level of its own messages: here a warning is a line on stderr, and there are no levels.
#[derive(clap::Args, Clone)]
struct ReportMessageArgs {
    /// Taken as in trace-cmd, without effect
    #[arg(short = 'V', long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, hide = true)]
    verbose: Option<Option<String>>,
}

/// Output format of events.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReportFormat {
    /// Lines as of trace-cmd report
    #[default]
    Text,
    /// Lines as of the kernel's `trace` file
    Kernel,
    /// One JSON object per line, every field named and typed
    Json,
    /// Comma-separated values
    Csv,
    /// `name=value` lines: every field, no print formats
    Raw,
}

/// Layout of the lines.
#[derive(clap::Args, Clone, Copy)]
pub(super) struct ReportLayout {
    /// Time stamps in nanoseconds
    #[arg(short = 't')]
    pub(super) nanoseconds: bool,
    /// Short columns, as the kernel's latency format
    #[arg(short)]
    pub(super) latency: bool,
    /// Fields by name instead of the events' texts
    #[arg(short = 'R')]
    pub(super) raw: bool,
    /// Ignore built-in plugins; use the kernel's print formats
    #[arg(short = 'N')]
    pub(super) no_plugins: bool,
    /// Accepted for compatibility: rtrace has no plugins of the user
    #[arg(short = 'L')]
    local_plugins: bool,
    /// The time since the line before, after each time stamp
    #[arg(long)]
    pub(super) ts_diff: bool,
    /// Print how long each task waited for its CPU after it was woken
    ///
    /// And an account of it at the end.
    #[arg(short = 'w', long)]
    pub(super) wakeups: bool,
    /// A line where a sub-buffer of the ring buffer begins
    #[arg(long, alias = "debug")]
    pub(super) boundary: bool,
}

impl ReportArgs {
    /// The output format of the events.
    pub(super) fn format(&self) -> ReportFormat {
        let events = !self.tally.any() && !self.profile.profile && !self.facts.any();
        if self.tally.json && events { ReportFormat::Json } else { self.format }
    }

    /// True if facts and numbers are to be JSON.
    pub(super) fn wants_json(&self) -> bool {
        self.tally.json || self.format == ReportFormat::Json
    }

    /// True if symbols of the file will be needed at once: for the texts of all events.
    pub(super) fn wants_all_texts(&self) -> bool {
        let texts = matches!(self.format(), ReportFormat::Text | ReportFormat::Kernel)
            && !self.tally.any()
            && !self.facts.any();
        texts && !self.events.by_content() && self.wording.kallsyms.is_none()
    }
}

/// The output for the files.
pub(super) struct ReportRun<'a> {
    pub(super) args: &'a ReportArgs,
    pub(super) events: QueryEvents<'a>,
}

impl<'a> Deref for ReportRun<'a> {
    type Target = QueryEvents<'a>;

    fn deref(&self) -> &QueryEvents<'a> {
        &self.events
    }
}

/// Numbers instead of events.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct TallyArgs {
    /// Print the number of each event, instead of the events
    #[arg(long, conflicts_with = "summary")]
    pub(super) count: bool,
    /// Print the numbers of events by kind, CPU and task, instead of the events
    #[arg(long)]
    summary: bool,
    /// Number of the busiest tasks that --summary shows [default: 20]
    #[arg(long, value_name = "N", requires = "summary")]
    pub(super) top_tasks: Option<usize>,
    /// JSON instead of text
    ///
    /// Of --count, --summary and --profile one object; of events what --format json prints.
    #[arg(long)]
    pub(super) json: bool,
}

impl TallyArgs {
    pub(super) fn any(self) -> bool {
        self.count || self.summary
    }
}

// Options that ask for a profile of tasks.

/// Options of a profile.
#[derive(clap::Args, Clone)]
pub(crate) struct ReportProfileArgs {
    /// Print where tasks spent their time
    ///
    /// Blocked, waiting for a CPU, in the kernel; from what `record --profile` recorded.
    #[arg(long, conflicts_with_all = ["count", "summary", "wakeups"])]
    pub(super) profile: bool,
    #[command(flatten)]
    pub(super) account: AccountArgs,
    /// With --profile: a table, the longest times first, or all as trace-cmd has it
    #[arg(long, value_enum, value_name = "LAYOUT", requires = "profile", default_value_t = ProfileLayout::TraceCmd)]
    layout: ProfileLayout,
    /// With --profile --layout table: number of rows; 0 for all
    #[arg(long, value_name = "N", requires = "profile", default_value_t = 30)]
    pub(super) limit: usize,
    /// With --profile: the time between two events, as in `irq_handler_entry,irq/irq_handler_exit,irq,p`
    #[arg(short = 'H', long = "hook", value_name = "START/END", value_parser = parse_hook)]
    pub(super) hooks: Vec<Hook>,
}

impl ReportProfileArgs {
    pub(super) fn layout(&self) -> ProfileLayout {
        self.layout
    }
}

// `--symbols user`: names in the stacks of user space, from the files of this machine.

/// Names that a recording does not hold.
#[derive(clap::Args)]
pub(super) struct NamesArgs {
    /// Name the functions of user-space stacks, by the memory maps of `record --proc-map` and the files mapped then
    #[arg(long, value_enum, value_name = "WHICH")]
    symbols: Option<Which>,
    /// Look for these files below DIR
    #[arg(long, value_name = "DIR", requires = "symbols", value_hint = clap::ValueHint::DirPath)]
    symfs: Option<PathBuf>,
}

/// Whose symbols.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Those of programs and libraries
    User,
}

impl NamesArgs {
    /// Says once that stacks of user space, which the text shows as addresses, can have names.
    pub(super) fn tell_of_addresses(&self, inputs: &[QueryInput]) {
        /// Number of events among which there is such a stack if there are any.
        const FIRST: u64 = 10_000;
        let has_stack = |input: &QueryInput| {
            let mut found = false;
            let _ = input.recording.query().first(FIRST).for_each(|event| {
                found |= (event.system(), event.name()) == ("ftrace", "user_stack");
            });
            found
        };
        let has_maps = |input: &QueryInput| input.trace.process_maps().is_ok_and(|maps| !maps.is_empty());
        if self.symbols.is_none() && inputs.iter().any(|input| has_maps(input) && has_stack(input)) {
            note!("rtrace: stacks of user space are shown as addresses; `--symbols user` names them");
        }
    }

    /// Gives the files' symbols these names.
    pub(super) fn add_to(&self, inputs: &mut [QueryInput], damage: &DamageReport) {
        if self.symbols.is_none() {
            return;
        }
        for input in inputs {
            if !user_symbols::add(input, self.symfs.clone(), damage) {
                let error =
                    anyhow!("{}: no memory maps in it, so user-space stacks have no names", input.path.display());
                let _ = Failure::new(Exit::Success, error).hint("`rtrace record --proc-map` stores them.").tell();
            }
        }
    }
}

// Options for the texts of events: `-r`, `-n`, `-O`, `--kallsyms`.

/// Options for the texts of events.
#[derive(clap::Args, Clone)]
pub(crate) struct WordingArgs {
    /// Fields by name for events or systems that match this expression
    #[arg(short = 'r', long, value_name = "EVENTS", value_parser = whole_name)]
    raw_events: Vec<Regex>,
    /// The kernel's print format for events or systems that match this expression
    #[arg(short = 'n', long, value_name = "EVENTS", value_parser = whole_name)]
    no_handler: Vec<Regex>,
    /// Option of a plugin, as in fgraph:tailprint or ftrace:indent=0 (`rtrace options` lists them)
    #[arg(short = 'O', long = "option", value_name = "[PLUGIN:]OPTION[=VALUE]", value_parser = plugin_options::parse)]
    options: Vec<plugin_options::Setting>,
    /// Symbols to use instead of those the file holds, as /proc/kallsyms has them
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) kallsyms: Option<PathBuf>,
    /// Show the filters of -F as they were understood, and no events
    #[arg(short = 'T', long = "filter-test")]
    pub(super) show_filters: bool,
}

/// trace-cmd's expressions are for the whole name, and case does not matter.
fn whole_name(text: &str) -> Result<Regex, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "an event's name is wanted; `--last {text}` prints the last {text} events, `--first {text}` the first"
        ));
    }
    Regex::new(&format!("(?i)^(?:{text})$")).map_err(|e| e.to_string())
}

impl WordingArgs {
    /// Options that hold for all events.
    pub(super) fn decode(&self, plugins: bool) -> DecodeOptions {
        let mut decode = DecodeOptions { plugins, ..DecodeOptions::default() };
        self.options.iter().for_each(|setting| setting.apply(&mut decode));
        decode
    }

    /// The types with what `-r` and `-n` say of some of them.
    pub(super) fn except<'a>(
        &self,
        mut types: EventTypes<'a>,
        input: &'a QueryInput,
        decode: &DecodeOptions,
    ) -> EventTypes<'a> {
        if self.raw_events.is_empty() && self.no_handler.is_empty() {
            return types;
        }
        for expression in self.raw_events.iter().chain(&self.no_handler) {
            let shown = expression.as_str().trim_start_matches("(?i)^(?:").trim_end_matches(")$");
            // A pattern may be meant for several files; a name that is nothing is mistyped.
            let is_name = shown.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-'));
            if is_name && !input.formats().any(|f| expression.is_match(&f.name) || expression.is_match(&f.system)) {
                note!("rtrace: {}: no event or system is called `{shown}` (-r, -n)", input.path.display());
            }
        }
        for format in input.formats() {
            let named = |list: &[Regex]| list.iter().any(|e| e.is_match(&format.name) || e.is_match(&format.system));
            let (raw, plain) = (named(&self.raw_events), named(&self.no_handler));
            if raw || plain {
                types = types.except(format.id, DecodeOptions { raw, plugins: decode.plugins && !plain, ..*decode });
            }
        }
        types
    }
}

/// The output instead of the events.
#[derive(clap::Args, Clone)]
pub(crate) struct ReportFactsArgs {
    /// The buffers' statistics when recording ended, and where the data lies
    #[arg(long)]
    pub(super) stat: bool,
    /// The recorded machine and kernel, and the recorder's version
    #[arg(long)]
    pub(super) uname: bool,
    /// The version of the program that recorded
    #[arg(long)]
    pub(super) version: bool,
    /// The CPUs that have data
    #[arg(long)]
    pub(super) cpus: bool,
    /// The names of the events whose formats the file holds
    #[arg(short = 'E', long)]
    pub(super) event_names: bool,
    /// The formats of the events
    #[arg(long)]
    pub(super) events: bool,
    /// The formats of the events that match this expression, as in sched:.*switch
    #[arg(long, value_name = "EVENTS", value_parser = event_pattern)]
    pub(super) event: Option<Regex>,
    /// Print the time of the first event of each CPU
    #[arg(long)]
    pub(super) first_event: bool,
    /// Print the time of the last event of each CPU
    #[arg(long)]
    pub(super) last_event: bool,
    /// Check that all events' formats are understood; 1 if not
    #[arg(long)]
    pub(super) check_events: bool,
    /// The byte order of the file and of this machine
    #[arg(short = 'e', long)]
    pub(super) endian: bool,
    /// The page size of the file and of this machine
    #[arg(short = 'p', long)]
    pub(super) page_size: bool,
    /// The functions whose addresses the file holds
    #[arg(short = 'f', long)]
    pub(super) functions: bool,
    /// The constant strings of trace_printk() that the file holds
    #[arg(short = 'P', long)]
    pub(super) printk: bool,
}

/// An expression for the whole of `system:event`, or of either.
fn event_pattern(text: &str) -> Result<Regex, String> {
    Regex::new(&format!("(?i)^(?:{text})$")).map_err(|e| e.to_string())
}

impl ReportFactsArgs {
    pub(super) fn any(&self) -> bool {
        let of_cpus = self.cpus || self.first_event || self.last_event;
        let of_file = self.stat || self.uname || self.version || self.endian || self.page_size;
        of_cpus || self.of_formats() || of_file || self.functions || self.printk
    }

    /// True if this format is to be printed.
    pub(super) fn wants_format(&self, format: &EventFormat) -> bool {
        match &self.event {
            None => self.events,
            Some(event) => {
                event.is_match(&format!("{}:{}", format.system, format.name))
                    || event.is_match(&format.name)
                    || event.is_match(&format.system)
            }
        }
    }

    pub(super) fn of_formats(&self) -> bool {
        self.event_names || self.events || self.event.is_some()
    }
}
