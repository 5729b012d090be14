//! The kernels' texts of the events of `module/`, each helper and each `%p` form there is: stored in `tests/data/forms`
//! beside the ring buffers, so that no kernel is needed to hold our text to theirs.

use crate::whole::{Tally, cases};
use std::path::Path;

/// Texts in the print formats of the module's events that we read back. (On 64-bit kernels `__print_flags_u64` and its
/// like stand there by their plain names, `__print_ns_to_secs()` as a division.)
const IN_EVENTS: &[&str] = &[
    "%pS",
    "%ps",
    "%pB",
    "%pSR",
    "%px",
    "%pe",
    "%pK",
    "=%p ",
    "%pM",
    "%pm",
    "%pMR",
    "%pmR",
    "%pMF",
    "%pI4",
    "%pi4",
    "%pI4h",
    "%pI4n",
    "%pI4b",
    "%pI4l",
    "%pI6",
    "%pi6",
    "%pI6c",
    "%pIS",
    "%pISp",
    "%piS",
    "%pISc",
    "%pISpc",
    "%pISpfsc",
    "%pISs",
    "%pISf",
    "%pISh",
    "%pISphn",
    "%pUb",
    "%pUB",
    "%pUl",
    "%pUL",
    "%pU ",
    "%*ph ",
    "%*phC",
    "%*phD",
    "%*phN",
    "%6ph",
    "%*pb ",
    "%*pbl",
    "%pGg",
    "%pGv",
    "%ptT",
    "%ptTd",
    "%ptTt",
    "%ptTs",
    "%ptTr",
    "[%40pS]",
    "[%-30ps]",
    "[%20px]",
    "[%-20px]",
    "[%20pM]",
    "[%-20pI4]",
    "[%30pI6c]",
    "%*d",
    "%-*d",
    "%.*s",
    "%-*s",
    "%hd",
    "%hhd",
    "%hhu",
    "%hx",
    "%zu",
    "%#010x",
    "%.5d",
    "%8.3d",
    "%-5c",
    "%%",
    "__print_flags(",
    "__print_symbolic(",
    "__print_hex(",
    "__print_hex_str(",
    "__print_array(",
    "__print_hex_dump(",
    "__get_str(",
    "__get_rel_str(",
    "__get_bitmask(",
    "__get_dynamic_array(",
    "__get_dynamic_array_len(",
    "sizeof(",
];

/// Texts in its calls of trace_printk(): the kernel packs the arguments, or the text of what they point to.
const IN_PRINTK: &[&str] = &[
    "%pS", "%ps", "%pB", "%pSR", "%px", "%p\\n", "%pM", "%pm", "%pMR", "%pmR", "%pMF", "%pI4", "%pI6", "%pI6c", "%pUb",
    "%pUB", "%pUl", "%pUL", "%*phC", "%*phD", "%*phN", "%*pb ", "%*pbl", "%pe", "%pGg", "%pGv", "%ptR", "%ptRd",
    "%ptRt", "%ptT", "%pr", "%pR", "%pa", "%pd", "%pd2", "%pd3", "%pd4", "%pD", "%pD2", "%lld", "%llx", "%zd", "%td",
    "%hhx", "%#010x", "[%-*d]", "[%*.*s]", "[%.0d]",
];

#[test]
fn are_what_kernels_printed() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/forms");
    let folders = cases(&data);
    assert_eq!(folders.len(), 2, "6.1 and 6.12: {folders:?}");
    for folder in folders {
        let said = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a captured file");
        let (formats, printk) = (said("formats"), said("printk_formats"));
        let ours: Vec<&str> = formats.lines().filter(|line| line.starts_with("rtrace_forms/")).collect();
        let ours = ours.join("\n");
        let lacking: Vec<_> = IN_EVENTS.iter().filter(|form| !ours.contains(**form)).collect();
        assert!(lacking.is_empty(), "{}: no event has {lacking:?}", folder.display());
        let lacking: Vec<_> = IN_PRINTK.iter().filter(|form| !printk.contains(**form)).collect();
        assert!(lacking.is_empty(), "{}: no trace_printk() has {lacking:?}", folder.display());
        // With hash-ptr off 6.1 loses texts, so its plain pointers are hashed.
        let mut tally = Tally::of(folder.ends_with("6.1"));
        tally.case(&folder);
        tally.judge(&format!("forms, {}", folder.file_name().unwrap_or_default().to_string_lossy()), 8, 60);
    }
}
