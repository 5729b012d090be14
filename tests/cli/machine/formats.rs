//! The formats say the same.

use super::files::{events, json, recordings, report, run};
use serde_json::Value;

/// A small CSV reader: rows of cells.
fn csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut chars) = (false, text.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    assert!(row.is_empty() && cell.is_empty() && !quoted, "it ends with a whole line");
    rows
}

#[test]
fn csv_says_what_json_says() {
    for file in recordings() {
        let lines = json(&file, &[]);
        let all = csv(&report(&file, &["--format", "csv", "--fields", "ts,cpu,pid,comm,event,buffer,fields"]));
        assert_eq!(all[0].join(","), "ts,cpu,pid,comm,event,buffer,fields");
        let events = events(&lines);
        assert_eq!(events.len(), all.len() - 1, "{}", file.display());
        for (event, row) in events.iter().zip(&all[1..]) {
            assert_eq!(row.len(), 7);
            for (cell, key) in row.iter().zip(["ts", "cpu", "pid", "comm", "event", "buffer"]) {
                let expected = match &event[key] {
                    Value::String(text) => text.clone(),
                    Value::Null => String::new(),
                    other => other.to_string(),
                };
                assert_eq!(*cell, expected, "{}: {key} of {event}", file.display());
            }
            let fields: Value = serde_json::from_str(&row[6]).unwrap_or_else(|e| panic!("{e}: {}", row[6]));
            // Names of functions, which CSV has not.
            let mut own = event["fields"].clone();
            own.as_object_mut().expect("fields").retain(|name, _| !name.ends_with("_symbol"));
            assert_eq!(fields, own, "{}", file.display());
        }
    }
}

#[test]
fn columns_can_be_fields_of_events() {
    let file = &recordings()[1]; // sched, irq, timer
    let rows = csv(&report(file, &["--format", "csv", "--fields", "name,next_pid,next_comm"]));
    let lines = json(file, &[]);
    let mut switches = 0;
    for (event, row) in events(&lines).iter().zip(&rows[1..]) {
        let cell = |key: &str| match &event["fields"][key] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        assert_eq!(row[1..], [cell("next_pid"), cell("next_comm")]);
        switches += usize::from(row[0] == "sched_switch");
    }
    assert!(switches > 10);
    let unknown = run(file, &["--format", "csv", "--fields", "next_pd"]);
    unknown.exits(2).complains_with("no event has a field `next_pd`").complains_with("`next_pid`");
    run(file, &["--format", "csv", "--first", "1"]).exits(0).prints_with("ts,cpu,pid,comm,event,lost,");
    run(file, &["--fields", "ts"]).exits(2).complains_with("--format csv");
}

#[test]
fn raw_lines_hold_every_field() {
    for file in recordings() {
        let raw = report(&file, &["--format", "raw"]);
        let lines = json(&file, &[]);
        let raw_lines: Vec<&str> = raw.lines().collect();
        assert_eq!(raw_lines.len(), lines.len() - 1, "{}: a line each but for the header", file.display());
        for (line, raw) in lines[1..].iter().zip(raw_lines) {
            assert!(raw.starts_with(&format!("{} cpu={}", line["ts"], line["cpu"])), "{raw}");
            for (name, value) in line["fields"].as_object().into_iter().flatten() {
                if !value.is_string() {
                    assert!(raw.contains(&format!(" {name}={value}")), "{name}={value} in {raw}");
                }
            }
        }
    }
}

#[test]
fn json_and_text_show_the_same_events() {
    for file in recordings() {
        let lines = json(&file, &[]);
        let text = report(&file, &["-R"]); // one line per event, whatever function_graph makes of them
        let lost = |line: &&str| !line.ends_with("EVENTS DROPPED]");
        let shown = text.lines().skip(1).filter(lost).filter(|l| l.contains(": ")).count();
        assert!(shown >= events(&lines).len(), "{}: {shown} lines, {} events", file.display(), events(&lines).len());
        let dropped = text.lines().filter(|l| l.ends_with("EVENTS DROPPED]")).count();
        assert_eq!(lines.iter().filter(|l| l["type"] == "lost").count(), dropped, "{}", file.display());
    }
}

#[test]
fn several_files_are_merged_and_labelled() {
    let files = recordings();
    let (a, b) = (&files[1], &files[2]);
    let outcome = run(a, &["-i", b.to_str().unwrap(), "--format", "json"]);
    let both: Vec<Value> = outcome.exits(0).stdout().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    for file in [a, b] {
        let label = file.file_name().unwrap().to_str().unwrap();
        let from_both: Vec<Value> = events(&both)
            .into_iter()
            .filter(|e| e["source"] == label)
            .map(|e| {
                let mut event = e.clone();
                event.as_object_mut().unwrap().remove("source");
                event
            })
            .collect();
        assert_eq!(from_both, events(&json(file, &[])).into_iter().cloned().collect::<Vec<_>>());
    }
    let times: Vec<u64> = events(&both).iter().map(|e| e["ts"].as_u64().unwrap()).collect();
    assert!(times.is_sorted());
}

#[test]
fn colour_changes_no_text() {
    let escapes = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
    for file in recordings() {
        let plain = report(&file, &[]);
        let coloured = report(&file, &["--color", "always"]);
        assert!(coloured.contains("\x1b[36m"), "{}", file.display());
        // With colours, bytes that are not UTF-8 are escaped, wherever the text goes.
        let stripped = escapes.replace_all(&coloured, "").replace("\\xff", "\u{fffd}");
        assert!(stripped == escapes.replace_all(&plain, ""), "{}", file.display());
        assert_eq!(report(&file, &["--color", "never"]), plain);
        assert_eq!(report(&file, &["--color", "auto"]), plain, "a pipe is no terminal");
    }
}
