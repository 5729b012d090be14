//! All `-F` of one report, compiled for the events of one file.

use super::ast::ReportFilter;
use super::resolve::resolve;
use crate::base::abi::Abi;
use crate::base::syntax::{Diagnostic, did_you_mean};
use crate::base::units::EventId;
use crate::kernel::format::EventFormat;
use crate::language::filter::program::{FilterProgram, ProgramTree};
use crate::language::filter::source::Subject;

/// The meaning of a filter's match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `-F`: the event is shown. Several are or-ed.
    Keep,
    /// `-v -F`: the event is not shown, whatever the others say.
    Remove,
}

/// Decides, per event, whether a report shows it.
///
/// With at least one [`Sign::Keep`] filter, an event that none of them names is not shown.
#[derive(Debug)]
pub struct ReportFilters {
    /// By event id; ids beyond the end, and `None`, take `otherwise`.
    by_id: Vec<Option<FilterProgram>>,
    otherwise: bool,
    needs_comm: bool,
}

impl ReportFilters {
    /// Holds `filters` against `formats`, all the events of a file recorded on a machine with `abi`.
    ///
    /// # Errors
    /// A [`Diagnostic`] if a filter names no event of the file, or does not fit one it names.
    pub fn compile<'f>(
        filters: &[(ReportFilter, Sign)],
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
    ) -> Result<Self, Diagnostic> {
        let formats: Vec<&EventFormat> = formats.into_iter().collect();
        for (filter, _) in filters {
            for events in &filter.events {
                if !formats.iter().any(|f| events.value.fits(&f.system, &f.name)) {
                    let named = events.span.of(&filter.text);
                    let name = named.rsplit('/').next().unwrap_or(named);
                    let near = did_you_mean(name, formats.iter().flat_map(|f| [f.system.as_str(), f.name.as_str()]));
                    let message = format!("no event of this file matches `{named}`");
                    return Err(Diagnostic::new("filter", &filter.text, events.span, message).hint_opt(near));
                }
            }
        }
        let otherwise = !filters.iter().any(|(_, sign)| *sign == Sign::Keep);
        let mut by_id: Vec<Option<FilterProgram>> = Vec::new();
        for format in formats {
            let (mut keep, mut remove) = (Vec::new(), Vec::new());
            let named = |f: &ReportFilter| f.events.iter().any(|e| e.value.fits(&format.system, &format.name));
            for (filter, sign) in filters.iter().filter(|(filter, _)| named(filter)) {
                let tree = match &filter.expr {
                    Some(expr) => resolve(filter, expr, format)?,
                    None => ProgramTree::Const(true),
                };
                match sign {
                    Sign::Keep => keep.push(tree),
                    Sign::Remove => remove.push(tree),
                }
            }
            if keep.is_empty() && remove.is_empty() {
                continue;
            }
            let kept = if otherwise { ProgramTree::Const(true) } else { ProgramTree::Or(keep) };
            let tree = ProgramTree::And(vec![kept, ProgramTree::Not(Box::new(ProgramTree::Or(remove)))]);
            let at = usize::from(format.id.0);
            if by_id.len() <= at {
                by_id.resize_with(at + 1, || None);
            }
            by_id[at] = Some(FilterProgram::new(tree, abi));
        }
        let needs_comm = by_id.iter().flatten().any(FilterProgram::needs_comm);
        Ok(ReportFilters { by_id, otherwise, needs_comm })
    }

    /// True if the event `id`, which is `subject`, is shown.
    #[inline]
    pub fn matches(&self, id: EventId, subject: &Subject<'_>) -> bool {
        match self.by_id.get(usize::from(id.0)) {
            Some(Some(program)) => program.matches(subject),
            _ => self.otherwise,
        }
    }

    /// True if any filter looks at [`Subject::comm`]; if not, it may be left empty.
    pub fn needs_comm(&self) -> bool {
        self.needs_comm
    }
}
