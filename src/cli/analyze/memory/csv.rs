//! `rtrace analyze memory --csv`.

use super::answer::MemoryAnswer;
use crate::cli::analyze::distribution;
use rtrace::analysis::MemorySite;

/// A site as [`Question::COLUMNS`](crate::cli::analyze::answers::Question::COLUMNS) has it.
pub(super) fn row(found: &MemoryAnswer<'_>, site: &MemorySite) -> Vec<String> {
    let mut row = vec![found.site(site), format!("{:#x}", site.site)];
    let numbers = [site.allocations, site.asked, site.taken, site.freed, site.live_taken, site.live, site.most];
    row.extend(numbers.map(|number| number.to_string()));
    row.extend(distribution::csv(&site.lives.distribution()));
    row
}
