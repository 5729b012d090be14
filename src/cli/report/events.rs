//! The events of all files, merged: arguments to a query.

use super::input::Input;
use super::run::{Run, query, shifted};
use super::{Args, Format, align, formats, kernel, profile, select, tally, text};
use crate::cli::damage::Damage;
use crate::cli::exit::Failure;
use crate::cli::terminal::Output;
use rtrace::recording::Notice;
use std::io::Stdout;

/// The number of events to show.
#[derive(clap::Args, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LimitArgs {
    /// Only the first N events that would be shown
    #[arg(long, value_name = "N")]
    first: Option<u64>,
    /// Only the last N events that would be shown
    #[arg(long, value_name = "N", conflicts_with = "first")]
    last: Option<u64>,
}

/// Prints what is wanted of them.
pub(super) fn print(args: &Args, inputs: &[Input], damage: &Damage, out: &mut Output<Stdout>) -> Result<(), Failure> {
    let notice = |notice: Notice<'_>| damage.notice(|recording| &inputs[recording].path, &notice);
    let mut query = query(args, inputs).on_notice(&notice);
    if let Some(at) = &args.align {
        query = align::align(at, inputs, query)?;
    }
    if args.align_ts {
        let first = query.span()?.map_or(0, |span| span.0.0);
        let sources = query.sources().iter().map(|source| shifted(source, first.wrapping_neg() as i64)).collect();
        query = query.of_sources(sources);
    }
    let window = args.window.resolve(&query)?;
    query = query.window(window).select(args.selection()).surroundings(args.surroundings());
    query = match args.limit {
        LimitArgs { first: Some(count), .. } => query.first(count),
        LimitArgs { last: Some(count), .. } => query.last(count),
        LimitArgs { first: None, last: None } => query,
    };
    query = query.check_order(args.ts_check).note_pages(args.layout.boundary);
    // A mistake in a filter is an error before anything is written.
    query.resolve().map_err(|error| select::failure(error, inputs))?;
    let run = Run { args, inputs, query };
    if args.tally.any() {
        return tally::print(&run, out);
    }
    if args.profile.profile {
        return profile::print(&run, out);
    }
    match args.format {
        Format::Text => text::print(&run, out),
        Format::Kernel => kernel::print(&run, out),
        Format::Json | Format::Raw => formats::json(&run, out),
        Format::Csv => formats::csv(&run, out),
    }
}
