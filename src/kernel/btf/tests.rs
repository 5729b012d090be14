//! BTF of a compiler, whole and damaged; the running kernel's, where it has one.

use super::*;
use std::sync::Arc;

/// From `tests/data/btf/functions.c`.
const FUNCTIONS: &[u8] = include_bytes!("../../../tests/data/btf/functions.btf");

const PROTOTYPES: [&str; 5] = [
    "int iterate(const char *const *names, int (*rows)[3], actor_t actor, int (*plain)(unsigned char))",
    "const char *name_of(volatile const struct file *restrict file, ...)",
    "void nothing(void)",
    "bool seek(struct file *file, enum whence whence, union value value)",
    "long int vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)",
];

fn shown(btf: &Btf) -> Vec<String> {
    btf.functions().map(|function| function.to_string()).collect()
}

/// The same file as a machine of the other byte order would have it: everything but the first four bytes and the names
/// is 32-bit numbers.
fn other_order(data: &[u8]) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().unwrap()) as usize;
    let names = word(4) + word(16);
    let mut other = data.to_vec();
    other[..2].reverse();
    other[4..names].chunks_exact_mut(4).for_each(<[u8]>::reverse);
    other
}

#[test]
fn prototypes_as_c_has_them() {
    assert_eq!(shown(&Btf::parse(FUNCTIONS).unwrap()), PROTOTYPES);
    assert_eq!(shown(&Btf::parse(other_order(FUNCTIONS)).unwrap()), PROTOTYPES);
}

#[test]
fn parameters_by_their_types() {
    let btf = Btf::parse(FUNCTIONS).unwrap();
    let seek = btf.function("seek").unwrap();
    let kinds: Vec<(TypeKind, Option<u32>)> =
        seek.parameters().map(|p| (p.of().resolved().kind(), p.of().size())).collect();
    assert_eq!(kinds[0], (TypeKind::Pointer, None));
    assert!(matches!(kinds[1], (TypeKind::Enum { .. }, Some(4))));
    assert_eq!(kinds[2], (TypeKind::Union, Some(8)));
    let read = btf.function("vfs_read").unwrap();
    let count = read.parameters().nth(2).unwrap();
    assert_eq!((count.name(), count.of().name(), count.of().kind()), ("count", "size_t", TypeKind::Typedef));
    let TypeKind::Int(int) = count.of().resolved().kind() else { panic!("{count}") };
    assert_eq!((int.bits, int.offset, int.signed, int.boolean), (64, 0, false, false));
    assert!(matches!(read.returns().kind(), TypeKind::Int(Int { signed: true, bits: 64, .. })));
    assert!(matches!(seek.returns().resolved().kind(), TypeKind::Int(Int { boolean: true, bits: 8, .. })));
    assert!(btf.function("name_of").unwrap().parameters().nth(1).unwrap().is_rest());
}

#[test]
fn a_compilers_copy_is_found_by_the_name_before_the_dot() {
    let btf = Btf::parse(FUNCTIONS).unwrap();
    assert_eq!(btf.function("seek.isra.0").unwrap().name(), "seek");
    for name in ["", "see", "seeks", ".seek", "file"] {
        assert!(btf.function(name).is_none(), "{name}");
    }
}

/// A module's file whose types are those of `FUNCTIONS` again: its numbers still mean the types below.
#[test]
fn a_module_goes_on_where_the_kernel_ends() {
    let kernel = Arc::new(Btf::parse(FUNCTIONS).unwrap());
    // A function `mine` of the prototype of the kernel's `seek`.
    let prototype = kernel.function("seek").unwrap();
    let number = (1..kernel.len() as u32).find(|id| {
        let of = kernel.get(*id);
        of.kind() == TypeKind::Prototype && of.declare("seek") == prototype.to_string()
    });
    let names = u32::from_le_bytes(FUNCTIONS[20..24].try_into().unwrap());
    let mut module = vec![0x9f, 0xeb, 1, 0];
    for word in [24u32, 0, 12, 12, 6, names + 1, 12 << 24, number.unwrap()] {
        module.extend(word.to_le_bytes());
    }
    module.extend(b"\0mine\0");
    let btf = Btf::parse_module(module.clone(), kernel.clone()).unwrap();
    assert_eq!(shown(&btf), ["bool mine(struct file *file, enum whence whence, union value value)"]);
    assert_eq!(btf.len(), kernel.len() + 1);
    assert_eq!(btf.function("nothing").unwrap().to_string(), "void nothing(void)");
    assert_eq!(Btf::parse_module(other_order(&module), kernel).unwrap_err(), Error::ByteOrder);
}

#[test]
fn defects_say_where() {
    let with = |at: usize, byte: u8| {
        let mut data = FUNCTIONS.to_vec();
        data[at] = byte;
        Btf::parse(data).unwrap_err()
    };
    assert_eq!(with(0, 0x7f), Error::Magic { found: 0xeb7f });
    assert_eq!(with(2, 2), Error::Version { version: 2 });
    assert_eq!(with(4, 23), Error::Part { part: "header", offset: 0, len: 23, size: FUNCTIONS.len() });
    assert!(matches!(with(15, 1), Error::Part { part: "types", offset: 24, .. }));
    assert!(matches!(with(23, 1), Error::Part { part: "names", .. }));
    assert_eq!(with(24 + 7, 0x1f), Error::UnknownKind { id: 1, offset: 24, kind: 0x1f });
    let short = FUNCTIONS.get(..23).unwrap();
    assert_eq!(Btf::parse(short).unwrap_err(), Error::Part { part: "header", offset: 0, len: 24, size: 23 });
    // The types end in the middle of one.
    let types = u32::from_le_bytes(FUNCTIONS[12..16].try_into().unwrap());
    let mut data = FUNCTIONS.to_vec();
    data[12..16].copy_from_slice(&(types - 4).to_le_bytes());
    let error = Btf::parse(data).unwrap_err();
    assert!(matches!(error, Error::TypeRunsOut { .. }), "{error}");
}

#[test]
fn no_byte_makes_it_panic_or_go_on_for_ever() {
    for at in 0..FUNCTIONS.len() {
        for byte in [0, 1, 0x0d, 0x7f, 0x80, 0xff, FUNCTIONS[at] ^ 1, FUNCTIONS[at] ^ 8] {
            let mut data = FUNCTIONS.to_vec();
            data[at] = byte;
            let Ok(btf) = Btf::parse(data) else { continue };
            for id in 0..btf.len() as u32 + 2 {
                let of = btf.get(id);
                let _ = (of.to_string(), of.resolved().kind(), of.size(), of.name());
            }
            let _ = shown(&btf);
        }
        let _ = Btf::parse(&FUNCTIONS[..at]).map(|btf| shown(&btf));
    }
}

#[test]
fn the_running_kernels() {
    let Ok(data) = std::fs::read("/sys/kernel/btf/vmlinux") else { return };
    let btf = Btf::parse(data).unwrap();
    assert!(btf.len() > 10_000 && btf.functions().count() > 10_000, "{} types", btf.len());
    let read = btf.function("vfs_read").unwrap().to_string();
    assert_eq!(read, "ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)");
    assert!(btf.functions().all(|function| !function.to_string().contains('?')), "every type is known");
}
