//! Any bytes as a kernel's BTF or as that of a module: an error, or types of bounded text; functions and enumerators
//! are found as a walk over all types finds them.

use rtrace::internal::btf::{Btf, Enumerators, TypeKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const KERNEL: &[u8] = include_bytes!("../../tests/data/btf/functions.btf");
/// Types whose declarations are looked at: each may take a thousand steps.
const SOME: usize = 32;
/// The most bytes of a declaration: a thousand types, each with a name of 4096 bytes or an array's length.
const LONGEST: usize = 1000 * 2 * 4200;

pub(crate) fn run(data: &[u8]) {
    if let Ok(btf) = Btf::parse(data) {
        look(&btf);
        enumerators(&btf, data, None);
    }
    let Ok(kernel) = Btf::parse(KERNEL) else { panic!("the kernel of the tests") };
    if let Ok(module) = Btf::parse_module(data, Arc::new(kernel)) {
        look(&module);
        enumerators(&module, data, Some(KERNEL));
    }
}

fn look(btf: &Btf) {
    let mut functions = BTreeSet::new();
    for id in btf.own() {
        let of = btf.get(id);
        let _ = (of.size(), of.resolved().kind().word());
        if of.kind() == TypeKind::Function && !of.name().is_empty() {
            functions.insert(of.name());
        }
    }
    for id in btf.own().take(SOME) {
        assert!(btf.get(id).declare("name").len() <= LONGEST);
    }
    assert_eq!(btf.functions().map(|function| function.name()).collect::<BTreeSet<_>>(), functions);
    for name in functions.into_iter().take(SOME) {
        let function = btf.function_named(name).expect("a function that the walk found");
        assert_eq!(function.name(), name);
        assert!(function.to_string().len() <= LONGEST);
    }
}

fn enumerators(btf: &Btf, data: &[u8], kernel: Option<&[u8]>) {
    let mut all: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for (name, value) in btf.own().flat_map(|id| btf.get(id).enumerators()) {
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            all.entry(name).or_default().push(value);
        }
    }
    let mut wanted: BTreeSet<&str> = all.keys().copied().collect();
    let found = Enumerators::find(&mut wanted, data, kernel).expect("types that were read before");
    assert!(wanted.is_empty(), "not found: {wanted:?}");
    for (name, values) in &all {
        assert!(found.get(name).is_some_and(|value| values.contains(&value)), "{name}");
    }
    assert_eq!(Enumerators::parse(&found.to_text()), found);
}
