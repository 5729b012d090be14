//! `rtrace analyze io --csv`.

use super::text::start;
use crate::cli::analyze::{distribution, errno};
use rtrace::analysis::IoRequests;

/// Requests as [`Question::COLUMNS`](crate::cli::analyze::answers::Question::COLUMNS) has them.
pub(super) fn row(requests: &IoRequests) -> Vec<String> {
    let [device, operation, count] = start(requests);
    let mut cells: Vec<String> = device.split(',').map(str::to_owned).collect();
    cells.extend([operation, count, requests.bytes.to_string()]);
    cells.extend(distribution::csv(&requests.total.distribution()));
    cells.push(requests.queued.count().to_string());
    cells.extend(distribution::csv(&requests.queued.distribution()));
    cells.extend(distribution::csv(&requests.device_time.distribution()));
    let longest = requests.longest.map(|longest| [longest.at.to_string(), longest.sector.to_string()]);
    cells.extend(longest.unwrap_or_default());
    cells.push(errno::list(&requests.errors));
    cells
}
