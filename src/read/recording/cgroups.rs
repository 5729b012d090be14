//! The tasks of the cgroups that a query selects.

use super::{BufferSource, QueryError, Recording};
use crate::answer::analysis::CgroupSet;
use crate::base::syntax::nearest;
use std::sync::Arc;

/// Those that one of `globs` names, or one above them, for each of `sources`; none without globs.
///
/// # Errors
/// [`QueryError::NoCgroups`], [`QueryError::NoCgroup`].
pub(super) fn selected_cgroups(
    globs: &[String],
    recordings: &[&Recording],
    sources: &[BufferSource],
) -> Result<Vec<CgroupSet>, QueryError> {
    if globs.is_empty() {
        return Ok(Vec::new());
    }
    let of = |source: &BufferSource| {
        let cgroups = recordings[source.recording].trace.cgroups(&source.time);
        let cgroups = cgroups.ok_or(QueryError::NoCgroups { recording: source.recording })?;
        Ok::<_, QueryError>(Arc::new(cgroups))
    };
    let all = sources.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    for glob in globs {
        let is_stray = |cgroups: &Arc<_>| CgroupSet::new(Arc::clone(cgroups), &[glob]).is_empty();
        if all.iter().all(is_stray) {
            let paths = all.iter().flat_map(|cgroups| cgroups.paths());
            let nearest = nearest(glob, paths).into_iter().map(str::to_owned).collect();
            return Err(QueryError::NoCgroup { pattern: glob.clone(), nearest });
        }
    }
    Ok(all.into_iter().map(|cgroups| CgroupSet::new(cgroups, globs)).collect())
}
