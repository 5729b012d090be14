//! The names of a table's files: `host=H/date=2026-11-24/event=sched.sched_switch/STEM-ID.parquet`, which engines read as columns.

/// Hive's name for a value that is not known, which engines read as null.
const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";

/// The name of the file for `event` of a recording.
pub(super) fn file(host: &str, date: Option<&str>, event: &str, stem: &str) -> String {
    let part = |value: &str| if value.is_empty() { UNKNOWN.to_owned() } else { escaped(value) };
    let (host, date, stem) = (part(host), part(date.unwrap_or_default()), escaped(stem));
    format!("host={host}/date={date}/event={}/{stem}.parquet", escaped(event))
}

/// A recording's id as text.
pub(super) fn id(recording: u64) -> String {
    format!("{recording:016x}")
}

/// With everything but letters, digits, `_`, `-` and dots between them as `%XX`: the recording chooses names.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'.' if at > 0 => out.push('.'),
            b'_' | b'-' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out.truncate(200);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_lead_elsewhere() {
        assert_eq!(
            file("web1", Some("2026-11-24"), "irq.softirq_entry", "run"),
            "host=web1/date=2026-11-24/event=irq.softirq_entry/run.parquet"
        );
        let hostile = file("../../etc", None, "a/b\0c", "..");
        assert_eq!(hostile, format!("host=%2E.%2F..%2Fetc/date={UNKNOWN}/event=a%2Fb%00c/%2E..parquet"));
    }
}
