//! The options of `report`, and the outputs that each can change: what cannot have an effect is refused.

use super::args::{ReportArgs, ReportFormat};
use super::command::{ASKING, Outputs};
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::{option_name, refuse};
use crate::cli::helper_programs;
use crate::cli::terminal::Color;
use anyhow::anyhow;
use std::path::Path;

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
    pub(super) fn check_effects(&self) -> Result<(), Failure> {
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
