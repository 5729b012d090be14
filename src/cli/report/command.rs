//! `rtrace report`: what its arguments ask for, of files that are opened once.
//! The kinds of output that `report` has, and the options that ask for them.
//! Options of `report` that can do nothing beside another option, or without one.

use super::args::ReportArgs;
use super::{events, facts, kernel};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::Moot;
use crate::cli::profile::report::ProfileLayout;
use crate::cli::query::{QueryInput, formats};
use crate::cli::terminal::stdout;
use crate::cli::user_symbols;
use rtrace::filter::Sign;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    args.check_effects()?;
    if args.json_schema && args.input.is_empty() && args.files.is_empty() {
        formats::print_schema(&[], &mut stdout().lock())?;
        return Ok(Exit::Success);
    }
    let named: Vec<&Path> = args.input.iter().chain(&args.files).map(PathBuf::as_path).collect();
    let files = if named.is_empty() { vec![Path::new("trace.dat")] } else { named };
    let ahead = args.events.may_use_threads() && args.wants_all_texts();
    let mut inputs = files
        .iter()
        .map(|path| QueryInput::open(path, args.wording.kallsyms.as_deref(), ahead))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|failure| match args.facts.event_names {
            true => failure.hint("`-E` lists the events that FILE knows; `-F EVENT` selects events."),
            false => failure,
        })?;
    let damage = DamageReport::default();
    args.names.add_to(&mut inputs, &damage);
    for input in &inputs {
        damage.opened(&input.path, &input.trace);
    }
    // Given the end of the output when this returns, whatever the outcome.
    let _pager = args.pager.start();
    let mut out = stdout(); // not locked: any thread may write
    let done = if args.json_schema {
        formats::print_schema(&inputs, &mut out)
    } else if args.facts.check_events {
        facts::check_events(args, &inputs, &mut out)
    } else if args.facts.any() {
        facts::print(args, &inputs, &damage, &mut out)
    } else {
        events::print(args, &inputs, &damage, &mut out)
    };
    let done = done.and_then(|()| Ok(out.flush()?));
    for input in &inputs {
        damage.late(&input.path, &input.recording);
        user_symbols::tell(input);
    }
    if !args.facts.any() && !args.json_schema && args.wants_all_texts() {
        args.names.tell_of_addresses(&inputs);
    }
    if !args.facts.any() && !args.json_schema && !args.events.time().raw {
        kernel::tell(&inputs);
    }
    std::mem::forget(inputs); // giving back thousands of small pieces takes longer than ending
    damage.outcome(done)
}

/// Kinds of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outputs(u16);

impl Outputs {
    pub(super) const TEXT: Outputs = Outputs(1);
    pub(super) const KERNEL: Outputs = Outputs(1 << 1);
    pub(super) const JSON: Outputs = Outputs(1 << 2);
    pub(super) const CSV: Outputs = Outputs(1 << 3);
    pub(super) const RAW: Outputs = Outputs(1 << 4);
    const COUNT: Outputs = Outputs(1 << 5);
    pub(super) const SUMMARY: Outputs = Outputs(1 << 6);
    pub(super) const PROFILE: Outputs = Outputs(1 << 7);
    /// `-T`
    pub(super) const FILTERS: Outputs = Outputs(1 << 8);
    /// `--first-event`, `--last-event`
    pub(super) const ENDS: Outputs = Outputs(1 << 9);
    pub(super) const FUNCTIONS: Outputs = Outputs(1 << 10);
    /// Facts of the file that nothing changes.
    const FIXED: Outputs = Outputs(1 << 11);
    pub(super) const CHECK: Outputs = Outputs(1 << 12);
    const SCHEMA: Outputs = Outputs(1 << 13);

    pub(super) const EVENTS: Outputs = Self::TEXT.or(Self::KERNEL).or(Self::JSON).or(Self::CSV).or(Self::RAW);
    const NUMBERS: Outputs = Self::COUNT.or(Self::SUMMARY).or(Self::PROFILE);
    /// Outputs for which events are read.
    pub(super) const READ: Outputs = Self::EVENTS.or(Self::NUMBERS);
    pub(super) const FACTS: Outputs = Self::ENDS.or(Self::FUNCTIONS).or(Self::FIXED);
    pub(super) const ALL: Outputs = Outputs(u16::MAX);
    pub(super) const NONE: Outputs = Outputs(0);

    pub(super) const fn or(self, other: Outputs) -> Outputs {
        Outputs(self.0 | other.0)
    }

    pub(super) const fn without(self, other: Outputs) -> Outputs {
        Outputs(self.0 & !other.0)
    }

    pub(super) const fn meets(self, other: Outputs) -> bool {
        self.0 & other.0 != 0
    }

    /// The options that ask for them, for a reader.
    pub(super) fn names(self) -> String {
        let names: Vec<&str> = NAMES.iter().filter(|(kind, _)| self.meets(*kind)).map(|(_, name)| *name).collect();
        match &names[..] {
            [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
            _ => names.concat(),
        }
    }
}

const NAMES: [(Outputs, &str); 12] = [
    (Outputs::TEXT, "`--format text` (the default)"),
    (Outputs::KERNEL, "`--format kernel`"),
    (Outputs::JSON, "`--format json`"),
    (Outputs::CSV, "`--format csv`"),
    (Outputs::RAW, "`--format raw`"),
    (Outputs::COUNT, "`--count`"),
    (Outputs::SUMMARY, "`--summary`"),
    (Outputs::PROFILE, "`--profile`"),
    (Outputs::FILTERS, "`-T`"),
    (Outputs::ENDS, "`--first-event` and `--last-event`"),
    (Outputs::FUNCTIONS, "`--functions`"),
    (Outputs::CHECK, "`--check-events`"),
];

/// Options that ask for an output of their own, instead of the events.
pub(super) const ASKING: &[(&str, Outputs)] = &[
    ("count", Outputs::COUNT),
    ("summary", Outputs::SUMMARY),
    ("profile", Outputs::PROFILE),
    ("show_filters", Outputs::FILTERS),
    ("first_event", Outputs::ENDS),
    ("last_event", Outputs::ENDS),
    ("functions", Outputs::FUNCTIONS),
    ("cpus", Outputs::FIXED),
    ("stat", Outputs::FIXED),
    ("uname", Outputs::FIXED),
    ("version", Outputs::FIXED),
    ("event_names", Outputs::FIXED),
    ("events", Outputs::FIXED),
    ("event", Outputs::FIXED),
    ("endian", Outputs::FIXED),
    ("page_size", Outputs::FIXED),
    ("printk", Outputs::FIXED),
    ("check_events", Outputs::CHECK),
    ("json_schema", Outputs::SCHEMA),
];

impl ReportArgs {
    /// The first option that has no effect in this combination, if the outputs are `wanted`.
    pub(super) fn moot(&self, wanted: Outputs) -> Option<Moot<'static>> {
        let given = |id| self.given.has(id);
        let any = |ids: &[&'static str]| self.given.first_of(ids);
        let moot = |option, reason, hint| Some(Moot { option, reason, hint });
        if given("show_filters") && self.events.report_filters().is_empty() {
            return moot(
                "show_filters",
                "without `-F`: there is no filter to show",
                "`rtrace help filter` shows the language.",
            );
        }
        if given("invert") && !self.events.report_filters().iter().any(|(_, sign)| *sign == Sign::Remove) {
            return moot(
                "invert",
                "without a `-F` after it",
                "as in `rtrace report -v -F sched_switch`, all but sched_switch.",
            );
        }
        if given("align") && self.files.len() + self.input.len() < 2 {
            return moot(
                "align",
                "on one file: it shifts the others' times",
                "as in `rtrace report --align start a.dat b.dat`.",
            );
        }
        let window = any(&["since", "until", "around"]).is_some();
        let times = any(&["raw_ts", "nodate", "ts_offset", "ts2secs", "align", "align_ts"]);
        if let Some(option) = times.filter(|_| wanted == Outputs::COUNT && !window) {
            return moot(option, "on `--count`: numbers of events have no time", "`--summary` shows times, too.");
        }
        let texts = any(&["raw_events", "no_handler", "no_plugins", "options"]);
        if let Some(option) = texts.filter(|_| self.layout.raw) {
            return moot(option, "beside `-R`, which shows all events by their fields", "leave out one of the two.");
        }
        if given("limit") && self.profile.layout() == ProfileLayout::TraceCmd {
            return moot("limit", "on trace-cmd's layout, which shows all", "`--layout table` has rows.");
        }
        None
    }
}
