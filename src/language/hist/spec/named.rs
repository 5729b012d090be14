//! Histograms of one name, which share a table.

use super::{HistExpr, HistSpec, SpecError, SpecErrorKind as Kind};
use crate::base::syntax::{Span, Spanned};
use crate::kernel::format::EventFormat;

impl HistSpec {
    /// Checks that this histogram on `event` can share the table of `other`, which is set on `other_event` and has the
    /// same name: the kernel wants the same keys, values and order, of the same types.
    ///
    /// # Errors
    /// [`SpecError`] at the first key or value that differs.
    pub fn check_named(
        &self,
        event: &EventFormat,
        other: &HistSpec,
        other_event: &EventFormat,
    ) -> Result<(), SpecError> {
        let Some(name) = &self.name else { return Ok(()) };
        let differs = |span: Span, theirs: String, ours: String| {
            let (system, event) = (&other_event.system, &other_event.name);
            let differs = format!("{system}:{event} has {theirs}, this one {ours}");
            let hint = "give it another name, or the same keys, values and order";
            Err(SpecError::new(Kind::NamedDiffers { name: name.value.clone(), differs }, span).hint(hint))
        };
        let (ours, theirs) = (self.shown_on(event), other.shown_on(other_event));
        let described = |expr: &HistExpr, format: &EventFormat| match expr {
            HistExpr::Field { name, .. } => match format.field(name) {
                Some(field) => format!("`{expr}` ({})", field.type_name),
                None => format!("`{expr}`"),
            },
            _ => format!("`{expr}`"),
        };
        let lists = [("keys", &self.keys, &ours.keys, &theirs.keys), ("values", &self.vals, &ours.vals, &theirs.vals)];
        for (what, written, mine, others) in lists {
            for (at, (a, b)) in mine.iter().zip(others).enumerate() {
                let (a, b) = (described(&a.value, event), described(&b.value, other_event));
                if a != b {
                    let span = written.get(at).map_or(name.span, |expr| expr.span);
                    return differs(span, b, a);
                }
            }
            if mine.len() != others.len() {
                return differs(name.span, format!("{} {what}", others.len()), format!("{}", mine.len()));
            }
        }
        let order = |spec: &HistSpec| {
            let keys: Vec<String> = spec.sort.iter().map(|key: &Spanned<_>| key.value.to_string()).collect();
            format!("sort={}", keys.join(","))
        };
        if ours.sort != theirs.sort {
            let span = self.sort.first().map_or(name.span, |key| key.span);
            return differs(span, order(&theirs), order(&ours));
        }
        Ok(())
    }
}
