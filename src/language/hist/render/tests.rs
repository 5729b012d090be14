use super::*;
use crate::language::hist::table::{HistTable, parse};

fn table(body: &str, trigger: &str) -> HistTable {
    let text = format!(
        "# event histogram\n#\n# trigger info: hist:{trigger} [active]\n#\n\n{body}\nTotals:\n    Hits: 10\n    Entries: 2\n    Dropped: 1\n"
    );
    parse(text.as_bytes()).unwrap().remove(0)
}

fn written(table: &HistTable, options: &TableLayout) -> String {
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
    let options = TableLayout { bar_width: 10, ..TableLayout::default() };
    assert_eq!(
        written(&latencies(), &options),
        "     lat  hitcount     %  cum %\n\
         \x20    5-8         6  60.0   60.0  ##########\n\
         \x20  17-32         3  30.0   90.0  #####\n\
         513-1024         1  10.0  100.0  #\n\
         lat: p50 <= 8, p90 <= 32, p99 <= 1024, p99.9 <= 1024, max <= 1024\n\
         3 entries, 10 hits, 1 dropped (the table was full)\n"
    );
    let top = TableLayout { top: Some(1), ..TableLayout::default() };
    assert!(written(&latencies(), &top).ends_with("1 of 3 entries, 10 hits, 1 dropped (the table was full)\n"));
}

#[test]
fn ids_have_no_percentiles() {
    let body = "{ next_pid:          7 } hitcount:          4\n";
    let spec = "keys=next_pid:vals=hitcount:sort=hitcount:size=2048";
    assert!(percentiles(&table(body, spec), &TableLayout::default()).is_empty());
    let body = "{ bytes_req:          7 } hitcount:          4\n{ bytes_req:          9 } hitcount:          6\n";
    let found =
        percentiles(&table(body, "keys=bytes_req:vals=hitcount:sort=hitcount:size=2048"), &TableLayout::default());
    assert_eq!(found[0].at, [("p50", (9, 9)), ("p90", (9, 9)), ("p99", (9, 9)), ("p99.9", (9, 9)), ("max", (9, 9))]);
}

#[test]
fn signed_cells_and_texts_of_any_bytes() {
    let comm = format!("{:<50}", "a\u{1b}[2J");
    let body = format!("{{ comm: {comm}, ret: 18446744073709551614 }} hitcount:          4\n");
    let table = table(&body, "keys=comm,ret:vals=hitcount:sort=hitcount:size=2048");
    let options = TableLayout { signed: ["ret".to_owned()].into(), ..TableLayout::default() };
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
    let options = TableLayout { signed: ["ret".to_owned()].into(), ..TableLayout::default() };
    let text = written(&table, &options);
    assert!(text.contains("\nnegative         4"), "{text}");
    assert!(text.contains("p50 <= 8") && text.contains("max <= 8"), "{text}");
    assert_eq!(percentiles(&table, &TableLayout::default())[0].at[1].1.1, i128::from(u64::MAX));
    let json = json("s:e", &[table], &options);
    assert_eq!(json["tables"][0]["entries"][1]["keys"]["ret"]["high"], -1);
}

#[test]
fn the_largest_of_a_table_sorted_by_key() {
    let top = TableLayout { top: Some(2), ..TableLayout::default() };
    let text = written(&latencies(), &top);
    assert!(text.contains("5-8") && text.contains("17-32") && !text.contains("513-1024 "), "{text}");
    assert!(text.contains("2 of 3 entries"), "{text}");
}

#[test]
fn json_and_csv_of_classes() {
    let options = TableLayout::default();
    let json = json("synthetic:lat", &[latencies()], &options);
    assert_eq!((&json["schema"], &json["version"]), (&SCHEMA.into(), &2.into()));
    assert_eq!(json["tables"][0]["dropped"], 1);
    assert_eq!(json["tables"][0]["entries"][1]["keys"]["lat"]["high"], 32);
    assert_eq!(json["tables"][0]["percentiles"]["lat"]["p90"]["low"], 17);
    let mut out = Vec::new();
    csv(&[latencies()], &options, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "lat_low,lat_high,hitcount\r\n5,8,6\r\n17,32,3\r\n513,1024,1\r\n");
}

#[test]
fn stacks_fold() {
    let file = include_bytes!("../../../../tests/data/hist/vm-6.12/hist-stack-pid.hist");
    let table = parse(file).unwrap().remove(0);
    let text = folded(&table, &TableLayout::default()).unwrap();
    // Two stacks differ in an offset only.
    assert_eq!(text.lines().count(), table.entries.len() - 1);
    let counted = folded(&table, &TableLayout { weight: Weight::Count, ..TableLayout::default() }).unwrap();
    let weights = counted.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap());
    assert_eq!(weights.sum::<u64>(), table.entries.iter().filter_map(|e| e.hitcount).sum::<u64>());
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("154;entry_SYSCALL_64_after_hwframe;do_syscall_64;"), "{last}");
    assert!(last.ends_with(" 1560"), "{last}");
    assert_eq!(folded(&latencies(), &TableLayout::default()), Err(FoldError::NoStack));
    let shown = written(&table, &TableLayout::default());
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
    changes.text(&TableLayout::default(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert_eq!(out.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>(), ["4", "9", "+5", "+125.0", "1"]);
    let json = changes.json(&TableLayout { top: Some(1), ..TableLayout::default() });
    assert_eq!(json.to_string(), r#"[{"after":9,"before":4,"keys":{"pid":1}}]"#);
    let delta = since(&before, &after);
    assert_eq!(delta.hits, 7);
    let entries: Vec<_> = delta.entries.iter().map(|e| (e.hitcount, e.values[0].value)).collect();
    use crate::language::hist::table::ColumnValue::Number;
    assert_eq!(entries, [(Some(2), Number(5)), (Some(5), Number(55))]);
    assert_eq!(since(&after, &before), before, "cleared in between");
}

#[test]
fn functions_of_another_boot_are_the_same_by_name() {
    let spec = "keys=ip.sym:vals=hitcount:sort=hitcount:size=2048";
    let line = |address: &str, hits: u32| format!("{{ ip: [{address}] {:45} }} hitcount: {hits:10}\n", "do_it");
    let (before, after) = (table(&line("ffffffff81000010", 4), spec), table(&line("ffffffffa3000010", 9), spec));
    let hits = |diff: Diff| diff.changes.iter().map(|c| (c.before, c.after)).collect::<Vec<_>>();
    assert_eq!(hits(diff(&before, &after)), [(0, 9), (4, 0)]);
    let by_name = diff_by_name(&before, &after);
    assert_eq!(by_name.json(&TableLayout::default()).to_string(), r#"[{"after":9,"before":4,"keys":{"ip":"do_it"}}]"#);
}

/// Two comms, classes of a time, and the sum of the time.
fn split() -> HistTable {
    let line = |comm: &str, class: u32, hits: u32, sum: u64| {
        format!("{{ comm: {comm:<50}, lat: ~ 2^{class:<2} }} hitcount: {hits:10}  lat: {sum:10}\n")
    };
    let body = [line("b", 3, 2, 13), line("a", 5, 1, 30), line("a", 3, 3, 20)].concat();
    table(&body, "keys=comm,lat.log2:vals=hitcount,lat:sort=comm,lat:size=2048")
}

#[test]
fn groups_have_their_own_percentiles_sum_and_mean() {
    let (mut table, options) = (split(), TableLayout::default());
    sort_classes(&mut table, &options);
    let found = groups(&table, &options);
    let numbers: Vec<_> = found.iter().map(|g| (options.key(&g.keys[0]), g.summary.count, g.summary.sum)).collect();
    assert_eq!(numbers, [("a".to_owned(), 4, Some(50)), ("b".to_owned(), 2, Some(13))]);
    assert_eq!(found[0].summary.at[..2], [("p50", (5, 8)), ("p90", (17, 32))]);
    assert_eq!(summary(&table, &options).unwrap().to_string().split(", p").next(), Some("sum 63, mean 10.5"));
    let text = written(&table, &options);
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).collect();
    assert_eq!(
        lines[..4],
        [
            "comm lat hitcount sum lat % cum %",
            "a 5-8 3 20 50.0 50.0",
            "a 17-32 1 30 16.7 66.7",
            "b 5-8 2 13 33.3 100.0"
        ]
    );
    assert!(lines.contains(&"sum 63, mean 10.5".to_owned()), "{text}");
    assert!(lines.contains(&"a 4 50 79.4 12.5 <= 8 <= 32 <= 32 <= 32 <= 32".to_owned()), "{text}");
    let json = json("s:e", &[table], &options);
    assert_eq!(json["tables"][0]["groups"][1]["summary"]["mean"], 6.5);
    assert_eq!(json["tables"][0]["summary"]["sum"], 63);
}

#[test]
fn folded_stacks_are_weighed_as_asked_and_classes_are_none_of_their_frames() {
    let stack = "{ stack.stacktrace         schedule+0x1/0x2\n         main+0x3/0x4\n";
    let body = format!(
        "{stack}, lat: ~ 2^3 }} hitcount:          2  lat:         13\n{stack}, lat: ~ 2^5 }} hitcount:          1  lat:         30\n"
    );
    let body = body.replace(" }", "}").replace("2^3", "2^3 ").replace("2^5", "2^5 ");
    let table = table(&body, "keys=stack.stacktrace,lat.log2:vals=hitcount,lat:sort=lat:size=2048");
    let of = |weight| folded(&table, &TableLayout { weight, ..TableLayout::default() }).unwrap();
    assert_eq!(of(Weight::Any), "main;schedule 43\n");
    assert_eq!(
        (of(Weight::Value), of(Weight::Count)),
        ("main;schedule 43\n".to_owned(), "main;schedule 3\n".to_owned())
    );
}

#[test]
fn large_numbers_are_strings_in_json() {
    let body = "{ a: 9007199254740992, b: 9007199254740993 } hitcount:          4\n";
    let table = table(body, "keys=a,b:vals=hitcount:sort=hitcount:size=2048");
    let json = |signed: &[&str]| {
        let options =
            TableLayout { signed: signed.iter().map(|s| (*s).to_owned()).collect(), ..TableLayout::default() };
        json("s:e", std::slice::from_ref(&table), &options)["tables"][0]["entries"][0]["keys"].clone()
    };
    assert_eq!(json(&[]), serde_json::json!({"a": 9_007_199_254_740_992_u64, "b": "9007199254740993"}));
    let body = "{ a: 18446744073709551615, b: 9214364837600034815 } hitcount:          4\n";
    let table = self::table(body, "keys=a,b:vals=hitcount:sort=hitcount:size=2048");
    let options = TableLayout { signed: ["a".to_owned()].into(), ..TableLayout::default() };
    let keys = super::json("s:e", &[table], &options)["tables"][0]["entries"][0]["keys"].clone();
    assert_eq!(keys, serde_json::json!({"a": -1, "b": "9214364837600034815"}));
}

#[test]
fn readings_carry_their_time_and_number() {
    let stamp = Stamp { time_ms: 1_763_886_463_007, interval: Some(2) };
    let options = TableLayout { stamp: Some(stamp), ..TableLayout::default() };
    let mut out = Vec::new();
    csv(&[latencies()], &options, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("time,interval,lat_low,lat_high,hitcount\r\n1763886463.007,2,5,8,6\r\n"), "{text}");
    let json = json("s:e", &[latencies()], &options);
    assert_eq!((&json["time_ms"], &json["interval"]), (&1_763_886_463_007_u64.into(), &2.into()));
}
