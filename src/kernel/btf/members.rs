//! Members of structures and unions.

use super::walk::TYPE;
use super::{Type, TypeKind};

/// Limit of anonymous structures and unions within each other: kernels have a handful, a damaged file may have a ring.
const DEPTH: usize = 16;

impl<'a> Type<'a> {
    /// The type of a member of a structure or union, searched in anonymous members too; `None` of any other type.
    pub fn member(self, name: &str) -> Option<Type<'a>> {
        self.member_within(name, DEPTH)
    }

    fn member_within(self, name: &str, depth: usize) -> Option<Type<'a>> {
        let deeper = depth.checked_sub(1)?;
        let found = self.members().find(|(of_member, _)| *of_member == name).map(|(_, of)| of);
        found.or_else(|| self.anonymous().find_map(|of| of.member_within(name, deeper)))
    }

    /// The names of all members, those of anonymous ones after the others.
    pub fn member_names(self) -> Vec<&'a str> {
        let mut names = Vec::new();
        self.add_names(&mut names, DEPTH);
        names
    }

    fn add_names(self, names: &mut Vec<&'a str>, depth: usize) {
        let Some(deeper) = depth.checked_sub(1) else { return };
        names.extend(self.members().map(|(name, _)| name).filter(|name| !name.is_empty()));
        self.anonymous().for_each(|of| of.add_names(names, deeper));
    }

    fn anonymous(self) -> impl Iterator<Item = Type<'a>> {
        self.members().filter(|(name, _)| name.is_empty()).map(|(_, of)| of.resolved())
    }

    /// Name and type of each member of a structure or union; none of any other type.
    fn members(self) -> impl Iterator<Item = (&'a str, Type<'a>)> {
        let count = match self.kind() {
            TypeKind::Struct | TypeKind::Union => self.word(1).unwrap_or(0) & 0xffff,
            _ => 0,
        };
        (0..count as usize).map(move |nth| {
            let first = nth.saturating_mul(3).saturating_add(TYPE / 4);
            let word = |at: usize| self.word(first.saturating_add(at)).unwrap_or(0);
            (self.btf.name(word(0)), self.btf.get(word(1)))
        })
    }
}
