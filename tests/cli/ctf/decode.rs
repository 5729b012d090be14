//! Traces in CTF 2, read by what their metadata says and by nothing else, held against the JSON lines of the same events.

use crate::common::environment::TestEnvironment;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// A field as its bytes have it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CtfValue {
    Number(i128),
    Text(Vec<u8>),
    List(Vec<i128>),
}

/// An event: time, CPU, task, its name, the event's name, fields.
type Event = (u64, u64, i64, Vec<u8>, String, BTreeMap<String, CtfValue>);

/// The bytes of a packet that are still to be read.
struct Bytes<'b>(&'b [u8]);

impl Bytes<'_> {
    fn take(&mut self, count: usize) -> &[u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn number(&mut self, class: &Value) -> i128 {
        assert_eq!((&class["alignment"], &class["byte-order"]), (&json!(8), &json!("little-endian")), "{class}");
        let size = class["length"].as_u64().expect("a length") / 8;
        let mut bytes = [0; 16];
        bytes[..size as usize].copy_from_slice(self.take(size as usize));
        let number = i128::from_le_bytes(bytes);
        match class["type"].as_str() {
            Some("fixed-length-unsigned-integer") => number,
            Some("fixed-length-signed-integer") if number >> (8 * size - 1) == 1 => number - (1 << (8 * size)),
            Some("fixed-length-signed-integer") => number,
            _ => panic!("{class} is no number"),
        }
    }

    /// The members of a structure, and those that have a role by its name.
    fn structure(&mut self, class: &Value) -> (BTreeMap<String, CtfValue>, BTreeMap<String, CtfValue>) {
        assert_eq!(class["type"], "structure");
        let (mut found, mut roles) = (BTreeMap::new(), BTreeMap::new());
        for member in class["member-classes"].as_array().expect("members") {
            let class = &member["field-class"];
            let value = match class["type"].as_str() {
                Some("null-terminated-string") => {
                    let len = self.0.iter().position(|byte| *byte == 0).expect("the end of a text");
                    let text = self.take(len).to_vec();
                    self.take(1);
                    CtfValue::Text(text)
                }
                Some("static-length-blob") => {
                    CtfValue::Text(self.take(class["length"].as_u64().expect("a length") as usize).to_vec())
                }
                Some("dynamic-length-array") => {
                    let path = class["length-field-location"]["path"].as_array().expect("a path");
                    let length = path.first().and_then(Value::as_str).expect("a name");
                    let Some(CtfValue::Number(count)) = found.remove(length) else { panic!("no {length}") };
                    CtfValue::List((0..count).map(|_| self.number(&class["element-field-class"])).collect())
                }
                _ => CtfValue::Number(self.number(class)),
            };
            if let Some(role) = class["roles"][0].as_str() {
                roles.insert(role.to_owned(), value.clone());
            }
            let name = member["name"].as_str().expect("a name");
            assert!(found.insert(name.to_owned(), value).is_none(), "{name} comes twice");
        }
        (found, roles)
    }
}

/// The objects of a file of metadata, by their type.
pub(super) fn fragments(metadata: &[u8]) -> Vec<Value> {
    let mut pieces = metadata.split(|byte| *byte == 0x1e);
    assert_eq!(pieces.next(), Some(&b""[..]), "text before the first record separator");
    pieces
        .map(|piece| {
            assert_eq!(piece.last(), Some(&b'\n'));
            serde_json::from_slice(piece).expect("JSON")
        })
        .collect()
}

fn number(fields: &BTreeMap<String, CtfValue>, name: &str) -> i128 {
    match fields.get(name) {
        Some(CtfValue::Number(number)) => *number,
        other => panic!("{name} is {other:?}"),
    }
}

/// All events of a directory, in the order of time, CPU and all else; and the last counts of discarded ones added up.
pub(super) fn read(directory: &Path) -> (Vec<Event>, i128) {
    let metadata = fragments(&std::fs::read(directory.join("metadata")).expect("metadata"));
    let one = |kind: &str| {
        let mut found = metadata.iter().filter(|fragment| fragment["type"] == kind);
        let first = found.next().unwrap_or_else(|| panic!("no {kind}"));
        assert!(found.next().is_none(), "{kind} comes twice");
        first
    };
    let (preamble, trace, clock, stream) =
        (one("preamble"), one("trace-class"), one("clock-class"), one("data-stream-class"));
    assert_eq!((&metadata[0], &preamble["version"]), (preamble, &json!(2)));
    assert_eq!((&clock["frequency"], &clock["id"]), (&json!(1_000_000_000), &stream["default-clock-class-id"]));
    let uuid: Vec<u8> = serde_json::from_value(preamble["uuid"].clone()).expect("a UUID");
    let classes: BTreeMap<i128, &Value> = metadata
        .iter()
        .filter(|fragment| fragment["type"] == "event-record-class")
        .map(|class| (class["id"].as_u64().expect("an id").into(), class))
        .collect();
    let (mut found, mut all_discarded) = (Vec::new(), 0);
    for (name, bytes) in super::files(directory) {
        if name == "metadata" {
            continue;
        }
        let (mut rest, mut discarded, mut latest) = (&bytes[..], 0, 0);
        while !rest.is_empty() {
            let mut packet = Bytes(rest);
            let (_, header) = packet.structure(&trace["packet-header-field-class"]);
            assert_eq!(number(&header, "packet-magic-number"), 0xc1fc_1fc1);
            assert_eq!(header["metadata-stream-uuid"], CtfValue::Text(uuid.clone()));
            assert_eq!(json!(number(&header, "data-stream-class-id") as u64), stream["id"]);
            let (context, roles) = packet.structure(&stream["packet-context-field-class"]);
            let size = (number(&roles, "packet-total-length") / 8) as usize;
            assert_eq!(roles["packet-total-length"], roles["packet-content-length"]);
            let read = rest.len() - packet.0.len();
            packet.0 = &rest[read..size];
            rest = &rest[size..];
            let (begin, end) =
                (number(&roles, "default-clock-timestamp"), number(&roles, "packet-end-default-clock-timestamp"));
            assert!(begin >= latest, "{name}: a packet begins before the last one ends");
            latest = begin;
            let count = number(&roles, "discarded-event-record-counter-snapshot");
            assert!(count >= discarded);
            discarded = count;
            while !packet.0.is_empty() {
                let (_, header) = packet.structure(&stream["event-record-header-field-class"]);
                let (context_of_event, _) = packet.structure(&stream["event-record-common-context-field-class"]);
                let class = classes[&number(&header, "event-record-class-id")];
                let (fields, _) = packet.structure(&class["payload-field-class"]);
                let time = number(&header, "default-clock-timestamp");
                assert!(latest <= time && time <= end, "{name}: {latest} {time} {end}");
                latest = time;
                let CtfValue::Text(comm) = context_of_event["procname"].clone() else { panic!("no name") };
                found.push((
                    time as u64,
                    number(&context, "cpu_id") as u64,
                    number(&context_of_event, "tid") as i64,
                    comm,
                    class["name"].as_str().expect("a name").to_owned(),
                    fields,
                ));
            }
            assert_eq!(latest, end, "{name}: a packet ends with its last event");
        }
        all_discarded += discarded;
    }
    found.sort_by_key(|event| format!("{:020} {:05} {event:?}", event.0, event.1));
    (found, all_discarded)
}

/// The event of a line of JSON, with LTTng's names. The fields of `as_bytes` are lists of bytes there, and text here.
fn of_json(line: &Value, seen: &BTreeMap<String, CtfValue>) -> Event {
    let text = |value: &Value| value.as_str().map(rtrace::export::original_bytes).unwrap_or_default();
    let name = line["event"].as_str().expect("a name");
    let (system, event) = name.split_once(':').expect("a system");
    let name = match (system, event) {
        ("irq", event) if event.starts_with("softirq_") => format!("irq_{event}"),
        ("timer", event) if event.starts_with("hrtimer_") => format!("timer_{event}"),
        ("syscalls", event) => event.replace("sys_enter_", "syscall_entry_").replace("sys_exit_", "syscall_exit_"),
        (_, event) => event.to_owned(),
    };
    let mut fields = BTreeMap::new();
    let common = line.as_object().expect("an object").iter().filter(|(name, _)| {
        !["type", "ts", "cpu", "pid", "comm", "event", "fields", "buffer", "source"].contains(&name.as_str())
    });
    let own = line["fields"].as_object().expect("fields").iter().filter(|(name, _)| !name.ends_with("_symbol"));
    let common = common.map(|(name, value)| (format!("common_{name}"), value));
    for (name, value) in common.chain(own.map(|(name, value)| (name.clone(), value))) {
        let is_priority = system == "sched" && (name == "prio" || name.ends_with("_prio"));
        let name = match name.strip_suffix("pid") {
            Some(start) if system == "sched" && (start.is_empty() || start.ends_with('_')) => format!("{start}tid"),
            _ => name,
        };
        let value = match (value, seen.get(&name)) {
            (Value::Number(number), _) => {
                let number: i128 = number.to_string().parse().expect("an integer");
                CtfValue::Number(if is_priority { number - 100 } else { number })
            }
            (Value::Bool(truth), _) => CtfValue::Number((*truth).into()),
            (Value::Array(items), _) => {
                CtfValue::List(items.iter().map(|item| item.to_string().parse().expect("an integer")).collect())
            }
            (Value::String(hex), Some(CtfValue::Number(_))) => {
                CtfValue::Number(u64::from_str_radix(hex.trim_start_matches("0x"), 16).expect("a pointer").into())
            }
            (Value::String(hex), Some(CtfValue::List(_))) => {
                let byte = |at| i128::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
                CtfValue::List((0..hex.len()).step_by(2).map(byte).collect())
            }
            (Value::String(_), _) => CtfValue::Text(text(value)),
            // A field that its record lacks.
            (Value::Null, Some(CtfValue::Number(_))) => CtfValue::Number(0),
            (Value::Null, Some(CtfValue::List(_))) => CtfValue::List(Vec::new()),
            (Value::Null, _) => CtfValue::Text(Vec::new()),
            (Value::Object(_), _) => panic!("{name} is an object"),
        };
        fields.insert(name, value);
    }
    let integer = |key: &str| line[key].as_i64().expect("an integer");
    (integer("ts") as u64, integer("cpu") as u64, integer("pid"), text(&line["comm"]), name, fields)
}

/// Holds the events of `directory` against `report --format json` of the recording; gives how many there are.
pub(super) fn hold(env: &TestEnvironment, directory: &Path, recording: &str) -> usize {
    let json = env.rtrace(&["report", "--format", "json", recording]).stdout();
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (events, _) = read(directory);
    // What kind of value each field of each event is.
    let mut kinds: BTreeMap<&str, &BTreeMap<String, CtfValue>> = BTreeMap::new();
    events.iter().for_each(|event| {
        kinds.insert(&event.4, &event.5);
    });
    let nothing = BTreeMap::new();
    let event = |line: &Value| {
        let plain = of_json(line, &nothing);
        of_json(line, kinds.get(plain.4.as_str()).unwrap_or_else(|| panic!("no {}", plain.4)))
    };
    let mut expected: Vec<Event> = lines.iter().filter(|line| line["type"] == "event").map(event).collect();
    expected.sort_by_key(|event| format!("{:020} {:05} {event:?}", event.0, event.1));
    assert_eq!(events.len(), expected.len(), "{recording}");
    for (found, expected) in events.iter().zip(&expected) {
        assert_eq!(found, expected, "{recording}");
    }
    events.len()
}
