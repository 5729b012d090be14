//! Any print format and any record: no panic, an end, and an output that is bounded.

use proptest::prelude::*;
use rtrace::abi::{Abi, Endian};
use rtrace::event::{DecodeOptions, EventTypes, Lost, PrintState, Record};
use rtrace::export::{Text, TextOptions};
use rtrace::format::EventFormat;
use rtrace::symbols::Symbols;
use rtrace::units::{CpuId, Timestamp};
use std::path::Path;

#[path = "../../fuzz/src/print_fmt.rs"]
mod target;

/// Compiles and renders in all readings and byte orders, as the fuzz target does.
fn run(print_fmt: &str, data: &[u8]) {
    target::run(&[print_fmt.as_bytes(), b"\n", data].concat());
}

/// Pieces of print formats, to be strung together in any order.
const PIECES: [&str; 76] = [
    "\"",
    "%d",
    "%s",
    "%*s",
    "%.*s",
    "%-99999s",
    "%99999999999d",
    "%p",
    "%pS",
    "%pI4",
    "%pI6c",
    "%pISpc",
    "%pM",
    "%*phD",
    "%*pbl",
    "%pUb",
    "%x",
    "%#llx",
    "%c",
    "%hhu",
    "%",
    ",",
    "REC->a",
    "REC->b",
    "REC->c",
    "REC->e",
    "REC->f",
    "REC->b[2]",
    "REC->b[REC->a]",
    "__get_str(c)",
    "__get_dynamic_array(d)",
    "__get_dynamic_array_len(d)",
    "__get_rel_dynamic_array(d)",
    "__get_bitmask(d)",
    "__get_cpumask(d)",
    "__get_sockaddr(c)",
    "__get_stacktrace(d)",
    "__print_flags(",
    "__print_symbolic(",
    "__print_hex(",
    "__print_hex_str(",
    "__print_array(",
    "__print_dynamic_array(",
    "__print_hex_dump(",
    "{",
    "}",
    "(",
    ")",
    "({",
    "})",
    ";",
    "int x =",
    "x",
    "?",
    ":",
    "?:",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "&&",
    "||",
    "!",
    "~",
    "(u8)",
    "(unsigned long)",
    "sizeof(",
    "0",
    "-1",
    "1UL",
    "0x7fffffffffffffff",
    "'a'",
    "((u32 *)",
];

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => "\\PC{0,3}",
    ]
}

fn argument() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("REC->a".to_owned()),
        Just("REC->e".to_owned()),
        Just("REC->b[REC->a]".to_owned()),
        Just("((u32 *)__get_dynamic_array(d))[1]".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
    ];
    leaf.prop_recursive(6, 48, 3, |inner| {
        let op =
            prop::sample::select(vec!["+", "-", "*", "/", "%", "<<", ">>", "<", "<=", "==", "&", "|", "^", "&&", "||"]);
        let cast =
            prop::sample::select(vec!["u8", "s16", "int", "unsigned long", "long long", "char", "void *", "bool"]);
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (cast, inner.clone()).prop_map(|(t, a)| format!("({t})({a})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(c, a, b)| format!("({c} ? {a} : {b})")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("({{ int x = {a}; u64 y = {b}; x < y ? x : y; }})")),
            inner.prop_map(|a| format!("-{a}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text(text in "\\PC{0,200}", data in prop::collection::vec(any::<u8>(), 0..100)) {
        run(&text, &data);
    }

    #[test]
    fn pieces(pieces in prop::collection::vec(piece(), 0..40), data in prop::collection::vec(any::<u8>(), 0..100)) {
        run(&pieces.join(" "), &data);
    }

    #[test]
    fn formats_with_arguments(
        format in prop::collection::vec(prop::sample::select(&PIECES[1..21]), 1..6),
        args in prop::collection::vec(argument(), 1..8),
        data in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        run(&format!("\"{}\", {}", format.concat(), args.join(", ")), &data);
    }

    /// Statement expressions whose names stand for each other could ask for 2^n operations.
    #[test]
    fn doubling_names(depth in 1usize..60) {
        let mut arg = "REC->a".to_owned();
        for _ in 0..depth {
            arg = format!("({{ int x = {arg}; x + x; }})");
        }
        run(&format!("\"%d\", {arg}"), &[0xff; 64]);
    }
}

/// Every event of a whole kernel, with records of any bytes.
#[test]
fn any_record_of_any_event() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/formats/host-6.18.zst");
    let text = String::from_utf8(zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap()).unwrap();
    let formats: Vec<EventFormat> = text
        .split("=== ")
        .skip(1)
        .map(|part| part.split_once('\n').unwrap())
        .map(|(system, text)| EventFormat::parse(system, text).unwrap())
        .collect();
    let symbols = Symbols::default();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for abi in [Abi { endian: Endian::Little, long_size: 8 }, Abi { endian: Endian::Big, long_size: 4 }] {
        let types = EventTypes::new(&formats, abi, &symbols, &DecodeOptions::default());
        let layouts =
            [false, true].map(|raw| Text::new(&types, &symbols, TextOptions { raw, ..TextOptions::default() }));
        let mut state = PrintState::default();
        let mut out = Vec::new();
        for event in &formats {
            for _ in 0..12 {
                let len = 2 + (random() % 120) as usize;
                let mut data: Vec<u8> = (0..len).map(|_| (random() >> 24) as u8).collect();
                let id = match abi.endian {
                    Endian::Little => event.id.0.to_le_bytes(),
                    Endian::Big => event.id.0.to_be_bytes(),
                };
                data[..2].copy_from_slice(&id);
                let record = Record {
                    timestamp: Timestamp(random()),
                    cpu: CpuId(random() as u32),
                    buffer: 0,
                    lost: Lost::None,
                    data: &data,
                };
                for text in &layouts {
                    out.clear();
                    text.event(&record, || Some(record), &mut state, &mut out);
                    assert!(out.ends_with(b"\n"), "{}", event.name);
                    assert!(out.len() < 100_000, "{}: {} bytes", event.name, out.len());
                }
            }
        }
    }
}
