//! Parts that rtrace itself makes of whole recordings.

use super::making::{PartLimit, PartMaker};
use crate::common::environment::TestEnvironment;
use std::collections::BTreeSet;
use std::path::Path;

impl PartMaker<'_> {
    /// Has `rtrace convert` copy some events, tasks or CPUs.
    pub(super) fn copy(&mut self, to: &Path) -> Option<PartLimit> {
        let env = TestEnvironment::new();
        let (whole, part) = (self.path.to_string_lossy(), to.to_string_lossy());
        let printed = env.rtrace(&["report", "--format", "csv", "--fields", "event,pid,cpu", &whole]).stdout();
        let column = |at: usize| {
            let cells = printed.lines().skip(1).filter_map(move |line| line.split(',').nth(at));
            let all: BTreeSet<&str> = cells.filter(|cell| !cell.is_empty() && *cell != "0").collect();
            all.into_iter().collect::<Vec<_>>()
        };
        let mut one = |of: Vec<&str>| of.get(self.chance.next(of.len())).map(|one| (*one).to_owned());
        let (option, value) = match (one(column(0))?, one(column(1)), one(column(2))) {
            (_, Some(pid), _) if self.chance.next(3) == 0 => ("--pid", pid),
            (_, _, Some(cpu)) if self.chance.next(2) == 0 => ("--cpu", cpu),
            (event, ..) => ("--filter", event),
        };
        let made = env.rtrace(&["convert", &whole, &part, "--force", option, &value]);
        let pids = (option == "--pid").then(|| value.clone());
        let tasks = column(1).into_iter().map(str::to_owned).collect();
        (made.status() == Some(0)).then(|| PartLimit { text: format!("{option} {value}"), pids, tasks })
    }
}
