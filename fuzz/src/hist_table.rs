//! Any bytes as a `hist` file: an error, or tables that read back as themselves from what they print, and that can be
//! shown in every layout.

use rtrace::hist::render::{TableLayout, csv, diff, folded, json, text};
use rtrace::hist::table::parse;

pub(crate) fn run(data: &[u8]) {
    let Ok(tables) = parse(data) else { return };
    let options = TableLayout::default();
    let mut out = Vec::new();
    for table in &tables {
        text(table, &options, &mut out).expect("a Vec takes everything");
        diff(&tables[0], table).text(&options, &mut out).expect("a Vec takes everything");
        let _ = folded(table, &options);
    }
    csv(&tables, &options, &mut out).expect("a Vec takes everything");
    let _ = json("system:event", &tables, &options).to_string();
    // Bytes that are not UTF-8 are replaced, which makes a text longer.
    if std::str::from_utf8(data).is_ok() {
        let printed: Vec<String> = tables.iter().map(ToString::to_string).collect();
        let printed = printed.join("\n\n");
        assert_eq!(parse(printed.as_bytes()), Ok(tables), "{printed}");
    }
}
