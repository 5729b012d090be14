use super::*;
use crate::hist::table::{HistTable, parse};

fn table(body: &str, trigger: &str) -> HistTable {
    let text = format!(
        "# event histogram\n#\n# trigger info: hist:{trigger} [active]\n#\n\n{body}\nTotals:\n    Hits: 10\n    Entries: 2\n    Dropped: 1\n"
    );
    parse(text.as_bytes()).unwrap().remove(0)
}

fn written(table: &HistTable, options: &Options) -> String {
    let mut out = Vec::new();
    text(table, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn latencies() -> HistTable {
    table(
        "{ lat: ~ 2^3  } hitcount:          6\n{ lat: ~ 2^5  } hitcount:          3\n{ lat: ~ 2^10 } hitcount:          1\n",
        "keys=lat.log2:vals=hitcount:sort=lat.log2:size=2048",
    )
}

#[test]
fn columns_bars_and_percentiles() {
    let options = Options { bar_width: 10, ..Options::default() };
    assert_eq!(
        written(&latencies(), &options),
        "     lat  hitcount     %  cum %\n\
         \x20    5-8         6  60.0   60.0  ##########\n\
         \x20  17-32         3  30.0   90.0  #####\n\
         513-1024         1  10.0  100.0  #\n\
         lat: p50 <= 8, p90 <= 32, p99 <= 1024, p99.9 <= 1024, max <= 1024\n\
         3 entries, 10 hits, 1 dropped (the table was full)\n"
    );
    let top = Options { top: Some(1), ..Options::default() };
    assert!(written(&latencies(), &top).ends_with("1 of 3 entries, 10 hits, 1 dropped (the table was full)\n"));
}

#[test]
fn ids_have_no_percentiles() {
    let body = "{ next_pid:          7 } hitcount:          4\n";
    let spec = "keys=next_pid:vals=hitcount:sort=hitcount:size=2048";
    assert!(percentiles(&table(body, spec), &Options::default()).is_empty());
    let body = "{ bytes_req:          7 } hitcount:          4\n{ bytes_req:          9 } hitcount:          6\n";
    let found = percentiles(&table(body, "keys=bytes_req:vals=hitcount:sort=hitcount:size=2048"), &Options::default());
    assert_eq!(found[0].at, [("p50", (9, 9)), ("p90", (9, 9)), ("p99", (9, 9)), ("p99.9", (9, 9)), ("max", (9, 9))]);
}

#[test]
fn signed_cells_and_texts_of_any_bytes() {
    let comm = format!("{:<50}", "a\u{1b}[2J");
    let body = format!("{{ comm: {comm}, ret: 18446744073709551614 }} hitcount:          4\n");
    let table = table(&body, "keys=comm,ret:vals=hitcount:sort=hitcount:size=2048");
    let options = Options { signed: ["ret".to_owned()].into(), ..Options::default() };
    let text = written(&table, &options);
    assert!(text.contains("a\u{1b}[2J   -2"), "{text}");
    let mut out = Vec::new();
    csv(std::slice::from_ref(&table), &options, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "comm,ret,hitcount\r\na\u{1b}[2J,-2,4\r\n");
    let json = json("s:e", &[table], &options);
    assert_eq!(json["tables"][0]["entries"][0]["keys"]["ret"], -2);
}

#[test]
fn negative_classes_come_first_in_percentiles() {
    let body = "{ ret: ~ 2^3  } hitcount:          6\n{ ret: ~ 2^64 } hitcount:          4\n";
    let table = table(body, "keys=ret.log2:vals=hitcount:sort=ret.log2:size=2048");
    let options = Options { signed: ["ret".to_owned()].into(), ..Options::default() };
    let text = written(&table, &options);
    assert!(text.contains("\nnegative         4"), "{text}");
    assert!(text.contains("p50 <= 8") && text.contains("max <= 8"), "{text}");
    assert_eq!(percentiles(&table, &Options::default())[0].at[1].1.1, i128::from(u64::MAX));
    let json = json("s:e", &[table], &options);
    assert_eq!(json["tables"][0]["entries"][1]["keys"]["ret"]["high"], -1);
}

#[test]
fn the_largest_of_a_table_sorted_by_key() {
    let top = Options { top: Some(2), ..Options::default() };
    let text = written(&latencies(), &top);
    assert!(text.contains("5-8") && text.contains("17-32") && !text.contains("513-1024 "), "{text}");
    assert!(text.contains("2 of 3 entries"), "{text}");
}

#[test]
fn json_and_csv_of_classes() {
    let options = Options::default();
    let json = json("synthetic:lat", &[latencies()], &options);
    assert_eq!((&json["schema"], &json["version"]), (&SCHEMA.into(), &1.into()));
    assert_eq!(json["tables"][0]["dropped"], 1);
    assert_eq!(json["tables"][0]["entries"][1]["keys"]["lat"]["high"], 32);
    assert_eq!(json["tables"][0]["percentiles"]["lat"]["p90"]["low"], 17);
    let mut out = Vec::new();
    csv(&[latencies()], &options, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "lat_low,lat_high,hitcount\r\n5,8,6\r\n17,32,3\r\n513,1024,1\r\n");
}

#[test]
fn stacks_fold() {
    let file = include_bytes!("../../../tests/data/hist/vm-6.12/hist-stack-pid.hist");
    let table = parse(file).unwrap().remove(0);
    let text = folded(&table, &Options::default()).unwrap();
    assert_eq!(text.lines().count(), table.entries.len());
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("154;entry_SYSCALL_64_after_hwframe;do_syscall_64;"), "{last}");
    assert!(last.ends_with(" 1560"), "{last}");
    assert_eq!(folded(&latencies(), &Options::default()), Err(NoStack));
    let shown = written(&table, &Options::default());
    assert!(shown.contains("\n    call_timer_fn+0x2a/0x120\n"), "{shown}");
}

#[test]
fn differences() {
    let spec = "keys=pid:vals=hitcount,len:sort=hitcount:size=2048";
    let line = |pid: u32, hits: u32, len: u32| format!("{{ pid: {pid:10} }} hitcount: {hits:10}  len: {len:10}\n");
    let before = table(&[line(1, 4, 40), line(2, 6, 60)].concat(), spec);
    let mut after = table(&[line(2, 6, 60), line(3, 2, 5), line(1, 9, 95)].concat(), spec);
    after.hits = 17;
    let changes = diff(&before, &after);
    let as_numbers: Vec<_> = changes.changes.iter().map(|c| (c.before, c.after)).collect();
    assert_eq!(as_numbers, [(4, 9), (0, 2), (6, 6)]);
    let mut out = Vec::new();
    changes.text(&Options::default(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert_eq!(out.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>(), ["4", "9", "+5", "+125.0", "1"]);
    let delta = since(&before, &after);
    assert_eq!(delta.hits, 7);
    let entries: Vec<_> = delta.entries.iter().map(|e| (e.hitcount, e.values[0].value)).collect();
    use crate::hist::table::ColumnValue::Number;
    assert_eq!(entries, [(Some(2), Number(5)), (Some(5), Number(55))]);
    assert_eq!(since(&after, &before), before, "cleared in between");
}
