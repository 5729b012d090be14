//! The columns of lines.

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CsvColumn {
    /// `ts`: the time stamp, in nanoseconds or ticks.
    Timestamp,
    /// `cpu`.
    Cpu,
    /// `pid`: the task that was running.
    Pid,
    /// `comm`: its name.
    Comm,
    /// `event`: `system:name`.
    Event,
    /// `system`: the event's system.
    System,
    /// `name`: the event's name.
    Name,
    /// `source`: which of several files.
    Source,
    /// `buffer`: the instance.
    Buffer,
    /// `lost`: how many events the CPU lost just before; `?` if the kernel did not say how many.
    Lost,
    /// `fields`: all of the event's own fields, as a JSON object.
    Fields,
    /// `wall`: local time with its zone; empty if nobody knows it.
    Wall,
    /// A field of the event, by its name.
    Field(String),
}

impl CsvColumn {
    /// The columns that are not fields, in their usual order.
    pub const FIXED: [(&'static str, CsvColumn); 12] = [
        ("ts", CsvColumn::Timestamp),
        ("wall", CsvColumn::Wall),
        ("cpu", CsvColumn::Cpu),
        ("pid", CsvColumn::Pid),
        ("comm", CsvColumn::Comm),
        ("event", CsvColumn::Event),
        ("system", CsvColumn::System),
        ("name", CsvColumn::Name),
        ("source", CsvColumn::Source),
        ("buffer", CsvColumn::Buffer),
        ("lost", CsvColumn::Lost),
        ("fields", CsvColumn::Fields),
    ];

    /// The names of fields that are called as fixed columns are, in the same order.
    const DOTTED: [&'static str; 12] = [
        ".ts", ".wall", ".cpu", ".pid", ".comm", ".event", ".system", ".name", ".source", ".buffer", ".lost", ".fields",
    ];

    /// The column of that name. An event's field of the name of a fixed column is written with a leading dot.
    pub fn named(name: &str) -> CsvColumn {
        match CsvColumn::FIXED.iter().find(|(fixed, _)| *fixed == name) {
            Some((_, column)) => column.clone(),
            None => CsvColumn::Field(name.strip_prefix('.').unwrap_or(name).to_owned()),
        }
    }

    /// True if its cells say when or where a record was made, which its bytes do not.
    pub(super) fn is_of_place(&self) -> bool {
        use CsvColumn::{Buffer, Cpu, Source, Timestamp, Wall};
        matches!(self, Timestamp | Wall | Cpu | Source | Buffer)
    }

    /// The name in the first line, as `--fields` takes it.
    pub(super) fn title(&self) -> &str {
        match self {
            CsvColumn::Field(name) => match CsvColumn::FIXED.iter().position(|(fixed, _)| fixed == name) {
                Some(at) => CsvColumn::DOTTED[at],
                None => name,
            },
            other => CsvColumn::FIXED.iter().find(|(_, column)| column == other).map_or("", |(name, _)| *name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_by_name() {
        assert_eq!(CsvColumn::named("ts"), CsvColumn::Timestamp);
        assert_eq!(CsvColumn::named("prev_comm"), CsvColumn::Field("prev_comm".into()));
        assert_eq!(CsvColumn::named(".name"), CsvColumn::Field("name".into()));
        assert_eq!(CsvColumn::named(".name").title(), ".name");
        for ((name, _), dotted) in CsvColumn::FIXED.iter().zip(CsvColumn::DOTTED) {
            assert_eq!(format!(".{name}"), dotted);
        }
    }
}
