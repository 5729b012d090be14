//! Any bytes as a program to put uprobes into: an error, or functions whose names take at most four times the file
//! (linkers let names share bytes).

use rtrace::probe::{symbol_offset, symbols};

pub(crate) fn run(data: &[u8]) {
    let Ok(names) = symbols(data) else { return };
    let taken: usize = names.iter().map(String::len).sum();
    assert!(taken <= 4 * data.len(), "{taken} bytes of names from {} bytes", data.len());
    for name in names.iter().take(8) {
        let _ = symbol_offset(data, name);
    }
    assert!(matches!(symbol_offset(data, "no\0function"), Ok(None)));
}
