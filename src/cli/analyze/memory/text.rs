//! `rtrace analyze memory` as text.

use super::answer::MemoryAnswer;
use super::args::AnalyzeMemoryArgs;
use crate::cli::analyze::distribution;
use crate::cli::analyze::table::TextTable;
use crate::cli::analyze::words::{cut, not_shown};
use crate::cli::exit::Failure;
use rtrace::analysis::{PageCount, RowSubject};
use std::io::Write;

pub(super) fn write(
    args: &AnalyzeMemoryArgs,
    found: &MemoryAnswer<'_>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let MemoryAnswer { place, report, .. } = found;
    let unit = place.unit;
    if !report.sites.is_empty() {
        let (rows, more) = args.rows(found, top);
        writeln!(out, "\nObjects by the place that allocated them (bytes; lives: {})", unit.short_name())?;
        let heading = ["SITE", "objects", "asked", "taken", "freed", "live", "live objects", "most"];
        let mut table = TextTable::new(1, heading.into_iter().chain(["lives: mean", "p50", "p99", "max"]));
        let names = ["", "allocations", "asked", "taken", "freed", "live_taken", "live", "most"];
        let lives = ["lives.mean", "lives.p50", "lives.p99", "lives.max"];
        let columns: Vec<String> = names.into_iter().chain(lives).map(|name| format!("sites.{name}")).collect();
        for site in &rows {
            let lives = site.lives.distribution();
            let mut row = vec![found.site(site)];
            let numbers = [site.allocations, site.asked, site.taken, site.freed, site.live_taken, site.live, site.most];
            row.extend(numbers.map(|number| number.to_string()));
            let [mean, p50, _, p99, _, max] = distribution::cells(&lives, unit);
            row.extend([mean, p50, p99, max]);
            table.row(found.limits.row(RowSubject::All, &columns, row));
        }
        table.write(out)?;
        not_shown(more, out)?;
    }
    if report.orders.is_empty() {
        return Ok(());
    }
    let columns = ["allocations", "pages", "freed", "live"];
    let counts = |of: &PageCount| [of.allocations, of.pages, of.freed, of.live].map(|number| number.to_string());
    writeln!(out, "\nPages by order of their block")?;
    let mut table = TextTable::new(0, ["ORDER"].into_iter().chain(columns));
    let row = |name: String, of: &PageCount| {
        let numbers = ["", "orders.allocations", "orders.pages", "orders.freed", "orders.live"];
        found.limits.row(RowSubject::All, &numbers, [name].into_iter().chain(counts(of)))
    };
    report.orders.iter().for_each(|(order, of)| table.row(row(order.to_string(), of)));
    table.write(out)?;
    writeln!(out, "\nPages by the task that allocated them")?;
    let mut table = TextTable::new(1, ["TASK"].into_iter().chain(columns));
    let mut rows: Vec<_> = report.tasks.iter().collect();
    let more = cut(&mut rows, top);
    rows.iter().for_each(|(pid, of)| table.row(row(place.task(*pid), of)));
    table.write(out)?;
    not_shown(more, out)?;
    Ok(())
}
