//! The tasks of some cgroups, moment by moment.

use super::{BufferSource, QueryError, Recording};
use crate::base::syntax::nearest;
use crate::base::units::Pid;
use crate::file::trace_dat::Cgroups;
use crate::kernel::events::glob_matches;
use std::collections::HashSet;

/// The cgroups of a source's tasks, and those that are selected.
pub(super) struct SelectedCgroups {
    cgroups: Cgroups,
    chosen: HashSet<String>,
}

impl SelectedCgroups {
    /// Those that one of `globs` names, or one above them, for each of `sources`; none without globs.
    ///
    /// # Errors
    /// [`QueryError::NoCgroups`], [`QueryError::NoCgroup`].
    pub(super) fn all(
        globs: &[String],
        recordings: &[&Recording],
        sources: &[BufferSource],
    ) -> Result<Vec<Self>, QueryError> {
        if globs.is_empty() {
            return Ok(Vec::new());
        }
        let of = |source: &BufferSource| {
            let cgroups = recordings[source.recording].trace.cgroups(&source.time);
            let cgroups = cgroups.ok_or(QueryError::NoCgroups { recording: source.recording })?;
            let is_chosen = |path: &&str| globs.iter().any(|glob| is_below(path, glob));
            let chosen = cgroups.paths().filter(is_chosen).map(str::to_owned).collect();
            Ok::<_, QueryError>(SelectedCgroups { cgroups, chosen })
        };
        let all: Vec<Self> = sources.iter().map(of).collect::<Result<_, _>>()?;
        let paths = || all.iter().flat_map(|one| one.cgroups.paths());
        match globs.iter().find(|glob| !paths().any(|path| is_below(path, glob))) {
            Some(glob) => {
                let nearest = nearest(glob, paths()).into_iter().map(str::to_owned).collect();
                Err(QueryError::NoCgroup { pattern: glob.clone(), nearest })
            }
            None => Ok(all),
        }
    }

    /// True if `task` is in one of them at `time`.
    pub(super) fn has(&self, task: Pid, time: u64) -> bool {
        self.cgroups.at(task, time).is_some_and(|path| self.chosen.contains(path))
    }
}

/// True if `glob` names the cgroup `path` or one above it.
fn is_below(path: &str, glob: &str) -> bool {
    let glob = if glob.len() > 1 { glob.trim_end_matches('/') } else { glob };
    let ends = path.match_indices('/').map(|(end, _)| end.max(1)).chain([path.len()]);
    ends.filter_map(|end| path.get(..end)).any(|above| glob_matches(glob, above))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cgroup_is_chosen_with_all_below_it() {
        for glob in ["/a/b", "/a/b/", "/a", "/", "*/b", "/a/*", "/a/b/c"] {
            assert!(is_below("/a/b/c", glob), "{glob}");
        }
        for glob in ["/b", "/a/c", "a", "/a/b/c/d", "/a/bb"] {
            assert!(!is_below("/a/b/c", glob), "{glob}");
        }
        assert!(is_below("/", "/") && !is_below("/", "/a"));
    }
}
