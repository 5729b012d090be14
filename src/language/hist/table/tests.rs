use super::*;
use proptest::prelude::*;

fn block(trigger: &str, body: &str) -> String {
    format!(
        "# event histogram\n#\n# trigger info: {trigger} [active]\n#\n\n{body}\nTotals:\n    Hits: 9\n    Entries: 1\n    Dropped: 3\n"
    )
}

#[test]
fn hostile_comms() {
    let trigger = "hist:keys=comm,pid:vals=hitcount:sort=hitcount:size=2048";
    for comm in ["a } hitcount: 1", ", pid: 5", "7", "x\ny", "[0]", "         7", "é"] {
        let body = format!("{{ comm: {comm}{:1$}, pid:         12 }} hitcount:          9\n", "", 50 - comm.len());
        let text = block(trigger, &body);
        let tables = parse(text.as_bytes()).unwrap_or_else(|e| panic!("{comm}: {e}"));
        assert_eq!(tables[0].entries[0].keys[0].value, KeyValue::Text(comm.to_owned()));
        assert_eq!(tables[0].entries[0].keys[1].value, KeyValue::Number(12));
        assert_eq!(tables[0].to_string(), text);
        assert_eq!(tables[0].dropped, 3);
    }
    let trigger = "hist:keys=common_pid.execname:vals=hitcount:sort=hitcount:size=2048";
    let text = block(trigger, "{ common_pid: a[ 1] }         [        12] } hitcount:          9\n");
    let tables = parse(text.as_bytes()).unwrap();
    assert_eq!(tables[0].entries[0].keys[0].value, KeyValue::Execname { comm: "a[ 1] }".into(), pid: 12 });
}

#[test]
fn addresses_without_a_symbol() {
    for (modifier, width) in [("sym", 45), ("sym-offset", 55)] {
        let trigger = format!("hist:keys=ip.{modifier}:vals=hitcount:sort=hitcount:size=2048");
        let body = format!("{{ ip: [ffffffffc0a3b000] {:width$} }} hitcount:          1\n", "0xffffffffc0a3b000");
        let text = block(&trigger, &body);
        assert_eq!(parse(text.as_bytes()).unwrap()[0].to_string(), text);
    }
}

#[test]
fn newer_totals_are_kept() {
    let mut text = block("hist:keys=pid:vals=hitcount:sort=hitcount:size=2048", "");
    text.push_str("    Stalled: 4\n");
    let tables = parse(text.as_bytes()).unwrap();
    assert_eq!(tables[0].more, [("Stalled".to_owned(), 4)]);
    assert_eq!(tables[0].to_string(), text);
    assert_eq!(parse(b""), Ok(Vec::new()));
}

#[test]
fn errors_name_the_line() {
    let trigger = "hist:keys=pid:vals=hitcount,prio:sort=hitcount:size=2048";
    for (body, expected) in [
        ("{ pid:          1 } hitcount:          2\n", "value `prio`"),
        ("{ pod:          1 } hitcount:          2  prio:          1\n", "key `pid`"),
        ("{ pid:          1 } hitcount:          x  prio:          1\n", "a number"),
        ("{ pid:          1 } hitcount: 99999999999999999999  prio:          1\n", "a number"),
        ("garbage\n", "\nTotals:"),
    ] {
        let error = parse(block(trigger, body).as_bytes()).unwrap_err();
        assert_eq!((error.line, error.expected.as_str()), (6, expected), "{body}");
    }
    let error = parse(b"# event histogram\n#\n# trigger info: nonsense [active]\n#\n\n").unwrap_err();
    assert_eq!(error.line, 3);
    let error = parse(block("hist:keys=a.log2", "{ a: ~ 2^99 } hitcount:          1\n").as_bytes()).unwrap_err();
    assert_eq!(error.expected, "a power up to 64");
}

#[test]
fn classes() {
    assert_eq!(KeyValue::Log2(0).range(), Some((0, 1)));
    assert_eq!(KeyValue::Log2(1).range(), Some((2, 2)));
    assert_eq!(KeyValue::Log2(10).range(), Some((513, 1024)));
    assert_eq!(KeyValue::Log2(64).range(), Some(((1 << 63) + 1, u64::MAX)));
    assert_eq!(KeyValue::Bucket { low: 3, high: 5 }.range(), Some((3, 5)));
    assert_eq!(KeyValue::Text("5".into()).range(), None);
}

proptest! {
    /// Cut and bent tables end in an answer.
    #[test]
    fn any_bytes(cut in 0usize..2000, at in 0usize..2000, with in any::<u8>()) {
        let text = include_bytes!("../../../../tests/data/hist/vm-6.12/hist-onmax.hist");
        let mut text = text[..cut.min(text.len())].to_vec();
        if let Some(byte) = text.get_mut(at) {
            *byte = with;
        }
        let _ = parse(&text);
    }
}
