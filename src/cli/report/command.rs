//! `rtrace report`: what its arguments ask for, of files that are opened once.
//! The kinds of output that `report` has, and the options that ask for them.
//! Options of `report` that can do nothing beside another option, or without one.
//! The options of `report`, and the outputs that each can change: what cannot have an effect is refused.

use super::args::{ReportArgs, ReportFormat};
use super::{events, facts, kernel};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::{Moot, option_name, refuse};
use crate::cli::profile::report::ProfileLayout;
use crate::cli::query::{QueryInput, formats};
use crate::cli::terminal::{Color, stdout};
use crate::cli::{helper_programs, user_symbols};
use anyhow::anyhow;
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
    const TEXT: Outputs = Outputs(1);
    const KERNEL: Outputs = Outputs(1 << 1);
    const JSON: Outputs = Outputs(1 << 2);
    const CSV: Outputs = Outputs(1 << 3);
    const RAW: Outputs = Outputs(1 << 4);
    const COUNT: Outputs = Outputs(1 << 5);
    const SUMMARY: Outputs = Outputs(1 << 6);
    const PROFILE: Outputs = Outputs(1 << 7);
    /// `-T`
    const FILTERS: Outputs = Outputs(1 << 8);
    /// `--first-event`, `--last-event`
    const ENDS: Outputs = Outputs(1 << 9);
    const FUNCTIONS: Outputs = Outputs(1 << 10);
    /// Facts of the file that nothing changes.
    const FIXED: Outputs = Outputs(1 << 11);
    const CHECK: Outputs = Outputs(1 << 12);
    const SCHEMA: Outputs = Outputs(1 << 13);

    const EVENTS: Outputs = Self::TEXT.or(Self::KERNEL).or(Self::JSON).or(Self::CSV).or(Self::RAW);
    const NUMBERS: Outputs = Self::COUNT.or(Self::SUMMARY).or(Self::PROFILE);
    /// Outputs for which events are read.
    const READ: Outputs = Self::EVENTS.or(Self::NUMBERS);
    const FACTS: Outputs = Self::ENDS.or(Self::FUNCTIONS).or(Self::FIXED);
    const ALL: Outputs = Outputs(u16::MAX);
    const NONE: Outputs = Outputs(0);

    const fn or(self, other: Outputs) -> Outputs {
        Outputs(self.0 | other.0)
    }

    const fn without(self, other: Outputs) -> Outputs {
        Outputs(self.0 & !other.0)
    }

    const fn meets(self, other: Outputs) -> bool {
        self.0 & other.0 != 0
    }

    /// The options that ask for them, for a reader.
    fn names(self) -> String {
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
    fn moot(&self, wanted: Outputs) -> Option<Moot<'static>> {
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

/// Options that do one thing to some outputs.
struct Effect {
    /// Ids of the arguments: the names of the fields.
    options: &'static [&'static str],
    /// Ends the sentence "it ..."
    deed: &'static str,
    on: Outputs,
}

const fn effect(options: &'static [&'static str], deed: &'static str, on: Outputs) -> Effect {
    Effect { options, deed, on }
}

/// Every option that asks for no output of its own.
const EFFECTS: &[Effect] = &[
    effect(&["files", "input", "no_pager", "verbose", "local_plugins"], "is for all", Outputs::ALL),
    effect(&["report_filter", "invert"], "selects events", Outputs::READ.or(Outputs::FILTERS)),
    effect(
        &[
            "kernel",
            "pid",
            "tgid",
            "comm",
            "cgroup",
            "no_irq",
            "no_softirq",
            "cpu",
            "since",
            "until",
            "around",
            "first",
            "last",
        ],
        "selects events",
        Outputs::READ,
    ),
    effect(&["raw_ts", "nodate", "ts_offset", "ts2secs"], "changes time stamps", Outputs::READ.or(Outputs::ENDS)),
    effect(&["align", "align_ts"], "changes the time stamps of events", Outputs::READ),
    effect(&["ts_check"], "looks at the time stamps of events", Outputs::READ),
    effect(&["threads"], "says how many threads read the events", Outputs::READ),
    effect(&["wall"], "shows local time", Outputs::TEXT.or(Outputs::CSV)),
    effect(&["nanoseconds"], "changes how time stamps are printed", Outputs::TEXT.or(Outputs::ENDS)),
    effect(&["latency", "raw", "ts_diff", "wakeups", "boundary"], "changes lines of text", Outputs::TEXT),
    effect(&["raw_events", "no_handler"], "changes the texts of events", Outputs::TEXT),
    effect(&["no_plugins", "options"], "changes the texts of events", Outputs::TEXT),
    effect(
        &["kallsyms"],
        "names functions",
        Outputs::TEXT.or(Outputs::KERNEL).or(Outputs::JSON).or(Outputs::PROFILE).or(Outputs::FUNCTIONS),
    ),
    effect(&["symbols", "symfs"], "names functions of user space", Outputs::TEXT.or(Outputs::KERNEL).or(Outputs::JSON)),
    effect(&["redact"], "replaces names", Outputs::JSON.or(Outputs::CSV).or(Outputs::RAW)),
    effect(&["fields"], "names the columns of `--format csv`", Outputs::CSV),
    effect(
        &["syscalls"],
        "is about the events of `--format text` and `--format json`",
        Outputs::TEXT.or(Outputs::JSON),
    ),
    effect(&["top_tasks"], "limits the tasks of `--summary`", Outputs::SUMMARY),
    effect(&["global_irqs", "by_comm", "hooks", "layout", "limit"], "is about `--profile`", Outputs::PROFILE),
    effect(&["color"], "colours lines of text", Outputs::TEXT),
    effect(
        &["format", "json"],
        "is the format of events, numbers and facts",
        Outputs::READ.or(Outputs::FACTS).or(Outputs::FILTERS).or(Outputs::CHECK),
    ),
];

/// An output that is asked for, and by which option: an id, or none for the events.
type Asked = (Outputs, Option<&'static str>);

impl ReportArgs {
    /// The outputs that are asked for; of the events in their format, if there is no other.
    fn asked(&self) -> Vec<Asked> {
        let asked: Vec<Asked> =
            ASKING.iter().filter(|(id, _)| self.given.has(id)).map(|(id, on)| (*on, Some(*id))).collect();
        if !asked.is_empty() {
            return asked;
        }
        let events = match self.format() {
            ReportFormat::Text => Outputs::TEXT,
            ReportFormat::Kernel => Outputs::KERNEL,
            ReportFormat::Json => Outputs::JSON,
            ReportFormat::Csv => Outputs::CSV,
            ReportFormat::Raw => Outputs::RAW,
        };
        vec![(events, None)]
    }

    /// Refuses options that cannot have an effect. Scripts that call a link named `trace-cmd` may be used to them.
    fn check_effects(&self) -> Result<(), Failure> {
        if helper_programs::name() == "trace-cmd" {
            return Ok(());
        }
        if self.facts.endian
            && let Some(word) = self.files.iter().find(|file| is_name_of_events(file) && !file.exists())
        {
            let word = word.display();
            let named = word.to_string().replace(':', "/");
            let error = anyhow!("`-e` prints the byte order of a file, and `{word}` is none");
            return Err(Failure::new(Exit::Usage, error).hint(format!("`-F {named}` selects events.")));
        }
        let asked = self.asked();
        if let Some((one, other)) = contradiction(&asked) {
            let failure =
                Failure::new(Exit::Usage, anyhow!("{} and {} print different things", name(one), name(other)));
            return Err(failure.hint("ask for one of them."));
        }
        if self.tally.json && !matches!(self.format, ReportFormat::Text | ReportFormat::Json) {
            let failure = Failure::new(Exit::Usage, anyhow!("`--json` contradicts `--format`"));
            return Err(failure.hint("choose one of them."));
        }
        let wanted = asked.iter().fold(Outputs::NONE, |all, (kind, _)| all.or(*kind));
        for Effect { options, deed, on } in EFFECTS {
            let Some(id) = options.iter().find(|id| self.given.has(id) && self.claims(id)) else { continue };
            if !on.meets(wanted) || (*id == "format" && !self.format_fits(wanted)) {
                return Err(without_effect(id, deed, *on, asked[0]));
            }
        }
        refuse::<ReportArgs>(self.moot(wanted))
    }

    /// True if the option's value asks for anything that is not so anyway.
    fn claims(&self, id: &str) -> bool {
        id != "color" || self.color == Color::Always
    }

    /// True if the outputs wanted can have the format.
    fn format_fits(&self, wanted: Outputs) -> bool {
        wanted.without(Outputs::EVENTS) == Outputs::NONE
            || matches!(self.format, ReportFormat::Text | ReportFormat::Json)
    }
}

/// True of what may be an event's name, or a pattern of them.
fn is_name_of_events(file: &Path) -> bool {
    file.to_str().is_some_and(|word| word.chars().all(|c| c.is_ascii_alphanumeric() || "_:*?-".contains(c)))
}

/// Two options that ask for outputs of which only one is printed; facts of the file go together.
fn contradiction(asked: &[Asked]) -> Option<(&'static str, &'static str)> {
    let (first, rest) = asked.split_first()?;
    let together = |other: &Asked| Outputs::FACTS.meets(first.0) && Outputs::FACTS.meets(other.0);
    let other = rest.iter().find(|other| !together(other))?;
    Some((first.1?, other.1?))
}

fn without_effect(id: &str, deed: &str, on: Outputs, (kind, by): Asked) -> Failure {
    let beside = by.map_or_else(|| kind.names(), name);
    let error = anyhow!("{} has no effect on {beside}: it {deed}", name(id));
    let failure = Failure::new(Exit::Usage, error);
    if by == Some("event") {
        return failure.hint("`--event` prints formats; `-F EVENT` selects the events to print.");
    }
    failure.hint(format!("it goes with {}; leave out one of the two.", on.names()))
}

/// The option as it is typed, in backquotes.
fn name(id: &str) -> String {
    option_name::<ReportArgs>(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An option that is new has to say what it changes.
    #[test]
    fn every_option_stands_in_one_table_once() {
        let listed: Vec<&str> =
            EFFECTS.iter().flat_map(|e| e.options).chain(ASKING.iter().map(|(id, _)| id)).copied().collect();
        let command = <ReportArgs as clap::Args>::augment_args(clap::Command::new("report"));
        let options: Vec<&str> = command.get_arguments().map(|arg| arg.get_id().as_str()).collect();
        for id in &options {
            assert_eq!(listed.iter().filter(|listed| *listed == id).count(), 1, "{id}");
        }
        assert_eq!(listed.len(), options.len(), "{listed:?}");
    }
}
