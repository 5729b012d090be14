//! The kinds of output that `report` has, and the options that ask for them.

/// Kinds of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outputs(u16);

impl Outputs {
    pub(super) const TEXT: Outputs = Outputs(1);
    pub(super) const KERNEL: Outputs = Outputs(1 << 1);
    pub(super) const JSON: Outputs = Outputs(1 << 2);
    pub(super) const CSV: Outputs = Outputs(1 << 3);
    pub(super) const RAW: Outputs = Outputs(1 << 4);
    pub(super) const COUNT: Outputs = Outputs(1 << 5);
    pub(super) const SUMMARY: Outputs = Outputs(1 << 6);
    pub(super) const PROFILE: Outputs = Outputs(1 << 7);
    /// `-T`
    pub(super) const FILTERS: Outputs = Outputs(1 << 8);
    /// `--first-event`, `--last-event`
    pub(super) const ENDS: Outputs = Outputs(1 << 9);
    pub(super) const FUNCTIONS: Outputs = Outputs(1 << 10);
    /// Facts of the file that nothing changes.
    pub(super) const FIXED: Outputs = Outputs(1 << 11);
    pub(super) const CHECK: Outputs = Outputs(1 << 12);
    pub(super) const SCHEMA: Outputs = Outputs(1 << 13);

    pub(super) const EVENTS: Outputs = Self::TEXT.or(Self::KERNEL).or(Self::JSON).or(Self::CSV).or(Self::RAW);
    pub(super) const NUMBERS: Outputs = Self::COUNT.or(Self::SUMMARY).or(Self::PROFILE);
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
