//! Every captured `hist` file parses, and what was parsed writes the same bytes.

use rtrace::hist::table::{self, ColumnValue, KeyValue};
use std::fs;
use std::path::Path;

#[test]
fn every_captured_table_is_written_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hist");
    let (mut files, mut tables, mut entries) = (0, 0, 0);
    for kernel in ["vm-6.1", "vm-6.12", "arm64", "i386", "s390x"] {
        for path in fs::read_dir(root.join(kernel)).unwrap().map(|e| e.unwrap().path()) {
            if path.extension().is_none_or(|e| e != "hist") {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let parsed = table::parse(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let written: Vec<String> = parsed.iter().map(ToString::to_string).collect();
            assert_eq!(written.join("\n\n"), String::from_utf8_lossy(&bytes), "{}", path.display());
            for table in &parsed {
                assert_eq!(table.entries.len() as u64, table.entry_count, "{}", path.display());
                if let Some(sum) = table.entries.iter().map(|e| e.hitcount).sum::<Option<u64>>() {
                    // The kernel reads entry by entry while events go on.
                    assert!(sum.abs_diff(table.hits - table.dropped) <= 60, "{}: {sum}", path.display());
                }
            }
            files += 1;
            tables += parsed.len();
            entries += parsed.iter().map(|t| t.entries.len()).sum::<usize>();
        }
    }
    println!("{files} files, {tables} tables, {entries} entries");
    assert!(files >= 95 && tables > files && entries >= 2600, "{files} files, {tables} tables, {entries} entries");
}

#[test]
fn typed_content() {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hist/vm-6.12").join(name);
        table::parse(&fs::read(path).unwrap()).unwrap().remove(0)
    };
    let table = read("hist-onmaxsnap.hist");
    let snapshot = table.snapshot.unwrap();
    assert_eq!((snapshot.handler.as_str(), snapshot.value), ("onmax($lat)", 16227));
    assert_eq!(snapshot.keys[0].value, KeyValue::Number(154));
    let table = read("hist-onchange.hist");
    assert!(table.entries.last().unwrap().tracked[0].change);
    let table = read("hist-percent.hist");
    assert_eq!(table.entries[0].values[0].value, ColumnValue::Percent(Some(156)));
    let table = read("hist-nohitgraph.hist");
    assert_eq!((table.entries[0].hitcount, table.entries[0].values[0].value), (None, ColumnValue::Bar(20)));
    let KeyValue::Stack { frames, field: false } = &read("hist-stack-pid.hist").entries[0].keys[0].value else {
        panic!("no stack")
    };
    assert_eq!(frames[0], "call_timer_fn+0x2a/0x120");
}
