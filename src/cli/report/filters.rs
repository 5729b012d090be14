//! `-T`: the filters of `-F` as they were understood, instead of the events.

use super::args::ReportArgs;
use crate::cli::exit::Failure;
use rtrace::filter::Sign;
use serde_json::json;
use std::io::Write;

pub(super) fn print(args: &ReportArgs, out: &mut impl Write) -> Result<(), Failure> {
    let filters = args.events.report_filters();
    if args.wants_json() {
        let all: Vec<_> = filters
            .iter()
            .map(|(filter, sign)| json!({"filter": filter.text(), "keeps": *sign == Sign::Keep}))
            .collect();
        return Ok(writeln!(out, "{:#}", json!({"schema": "rtrace.filters", "version": 1, "filters": all}))?);
    }
    for (filter, sign) in filters {
        writeln!(out, "{}'{}'", if *sign == Sign::Keep { " " } else { "!" }, filter.text())?;
    }
    Ok(())
}
