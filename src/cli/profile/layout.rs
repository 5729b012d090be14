//! The layout of a profile's text.

use super::{table, text};
use crate::cli::helper_programs;
use crate::cli::query::ClockUnit;
use rtrace::analysis::Profile;
use rtrace::symbols::Symbols;
use std::io::{self, Write};

/// A layout of text.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProfileLayout {
    /// One table, the longest times first
    Table,
    /// All tasks and stack traces, as trace-cmd has them
    TraceCmd,
}

/// The layout, and how much of it.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct LayoutArgs {
    /// Layout of a profile's text [default: table, of report --profile trace-cmd]
    #[arg(long, value_enum, value_name = "LAYOUT")]
    pub(crate) layout: Option<ProfileLayout>,
    /// Number of rows of the table; 0 for all; --top N is the same
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) limit: usize,
    /// All columns of the table, also where the terminal is too narrow for them
    #[arg(long)]
    pub(crate) wide: bool,
}

impl LayoutArgs {
    /// The layout; a script that calls `trace-cmd profile` gets what it expects.
    pub(crate) fn layout(self) -> ProfileLayout {
        let usual = if helper_programs::name() == "trace-cmd" { ProfileLayout::TraceCmd } else { ProfileLayout::Table };
        self.layout.unwrap_or(usual)
    }

    /// Writes the profile of one buffer, a table in lines of `fit.0` characters, with `fit.1` as the hint on how to see all columns.
    pub(crate) fn write(
        self,
        profile: &Profile,
        symbols: &Symbols,
        by_comm: bool,
        unit: ClockUnit,
        fit: (Option<usize>, &str),
        mut out: &mut impl Write,
    ) -> io::Result<()> {
        match self.layout() {
            ProfileLayout::Table => {
                let limit = (self.limit > 0).then_some(self.limit);
                table::write(profile, symbols, by_comm, limit, unit, fit, &mut out)
            }
            ProfileLayout::TraceCmd => text::write(profile, symbols, by_comm, out),
        }
    }
}
