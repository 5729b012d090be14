//! The kernel's events that Perfetto has messages for, with the numbers of their fields.
//!
//! `known.txt` has a line for each: `system:name`, the number of its field in `FtraceEvent`, and its message's fields as
//! `name=NUMBER` with their type. The numbers are those of Perfetto's `protos/perfetto/trace/ftrace/`, of the events that
//! kernels 6.1 to 7.3 have and Perfetto v52 (2025) knows: a message that is younger than the engine would not be shown.
//! `tests/cli/perfetto/check.py` compares them with the descriptors that Perfetto publishes.
//!
//! Markers in atrace's syntax, which the engine makes slices and counters of.

/// A kernel event's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Field number in Perfetto's message.
    pub(super) number: u32,
    /// Fields of the message.
    pub(super) fields: Vec<KnownField>,
}

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownField {
    /// The name, which is the kernel's.
    pub(super) name: &'static str,
    /// Field number in Perfetto's message.
    pub(super) number: u32,
    /// Type in Perfetto's message.
    pub(super) kind: KnownKind,
    /// True if it may stand several times.
    pub(super) repeated: bool,
}

/// The type of a message's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownKind {
    /// `int32`, `uint32` or an enumeration.
    Narrow,
    /// `int64` or `uint64`.
    Wide,
    /// `string`.
    Text,
    /// `bytes`.
    Bytes,
}

const TABLE: &str = include_str!("known.txt");

/// The message of the event `system:name`.
pub(super) fn find(system: &str, name: &str) -> Option<Known> {
    TABLE.lines().find_map(|line| {
        let (event, rest) = line.split_once(' ')?;
        (event.split_once(':')? == (system, name)).then(|| parse(rest))?
    })
}

fn parse(rest: &'static str) -> Option<Known> {
    let mut words = rest.split(' ');
    let number = words.next()?.parse().ok()?;
    Some(Known { number, fields: words.map(field).collect::<Option<_>>()? })
}

/// `name=NUMBER`, and a letter for its type: i, l signed of 32 and 64 bits, u, w unsigned, e enumeration, b bool, s
/// string, y bytes; `*` if it may stand several times.
fn field(word: &'static str) -> Option<KnownField> {
    let (name, rest) = word.split_once('=')?;
    let (rest, repeated) = rest.strip_suffix('*').map_or((rest, false), |rest| (rest, true));
    let (number, kind) = rest.split_at_checked(rest.len().checked_sub(1)?)?;
    let kind = match kind {
        "i" | "u" | "e" | "b" => KnownKind::Narrow,
        "l" | "w" => KnownKind::Wide,
        "s" => KnownKind::Text,
        "y" => KnownKind::Bytes,
        _ => return None,
    };
    Some(KnownField { name, number: number.parse().ok()?, kind, repeated })
}

/// True if the engine makes more of the event than a row with arguments: a slice, a counter, a thread's state or name.
/// Such an event is written as its message even where that has no place for a field of the kernel's.
pub(super) fn builds(system: &str, name: &str) -> bool {
    BUILDS.contains(&(system, name))
}

const BUILDS: &[(&str, &str)] = &[
    ("ftrace", "funcgraph_entry"),
    ("ftrace", "funcgraph_exit"),
    ("net", "napi_gro_receive_entry"),
    ("net", "net_dev_xmit"),
    ("net", "netif_receive_skb"),
    ("oom", "mark_victim"),
    ("sched", "sched_process_exit"),
    ("signal", "signal_deliver"),
    ("signal", "signal_generate"),
    ("skb", "kfree_skb"),
    ("sock", "inet_sock_set_state"),
    ("tcp", "tcp_retransmit_skb"),
    ("vmscan", "mm_shrink_slab_end"),
    ("vmscan", "mm_shrink_slab_start"),
    ("vmscan", "mm_vmscan_direct_reclaim_begin"),
    ("vmscan", "mm_vmscan_direct_reclaim_end"),
];

/// True if the engine looks for the field's function in the kernel's symbols of the trace (`kKernelFunctionFields` of
/// its ftrace importer).
pub(super) fn is_function(name: &str, field: &str) -> bool {
    FUNCTIONS.contains(&(name, field))
}

const FUNCTIONS: &[(&str, &str)] = &[
    ("funcgraph_entry", "func"),
    ("funcgraph_exit", "func"),
    ("mm_shrink_slab_end", "shrink"),
    ("mm_shrink_slab_start", "shrink"),
    ("sched_blocked_reason", "caller"),
    ("workqueue_execute_start", "function"),
    ("workqueue_queue_work", "function"),
];

/// True if the engine understands the marker: `B|pid|name`, `E`, `E|pid`, `C|pid|name|value`, `S|pid|name|cookie`,
/// `F|pid|name|cookie`, `I|pid|name`. It counts an error for any other.
pub(super) fn is_atrace(text: &[u8]) -> bool {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let mut parts = text.split(|byte| *byte == b'|');
    let kind = parts.next().unwrap_or_default();
    let rest: Vec<&[u8]> = parts.collect();
    let number = |text: &[u8]| (1..=9).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    let signed = |text: &[u8]| number(text.strip_prefix(b"-").unwrap_or(text));
    match (kind, &*rest) {
        (b"E", []) => true,
        (b"E", [pid]) => number(pid),
        (b"B" | b"I", [pid, name]) => number(pid) && !name.is_empty(),
        (b"C", [pid, name, value]) => number(pid) && !name.is_empty() && signed(value),
        (b"S" | b"F", [pid, name, cookie]) => number(pid) && !name.is_empty() && signed(cookie),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood() {
        for line in TABLE.lines() {
            let (event, _) = line.split_once(' ').unwrap();
            let (system, name) = event.split_once(':').unwrap();
            let known = find(system, name).unwrap_or_else(|| panic!("{line}"));
            assert!(!known.fields.is_empty() || line.split(' ').count() == 2, "{line}");
        }
        let names: Vec<&str> = TABLE.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(names.is_sorted());
        let unknown = BUILDS.iter().map(|(system, name)| format!("{system}:{name}")).find(|n| !names.contains(&&**n));
        assert_eq!(unknown, None);
    }

    #[test]
    fn sched_switch() {
        let known = find("sched", "sched_switch").unwrap();
        assert_eq!(known.number, 4);
        let state = KnownField { name: "prev_state", number: 4, kind: KnownKind::Wide, repeated: false };
        assert_eq!(known.fields[3], state);
        assert_eq!(find("kprobes", "sched_switch"), None);
        assert!(find("raw_syscalls", "sys_enter").unwrap().fields[1].repeated);
    }

    #[test]
    fn of_atrace_and_others() {
        for text in ["B|12|draw", "B|12|draw\n", "E", "E|12\n", "C|12|fps|-60", "S|1|a|7", "F|1|a|7", "I|1|now"] {
            assert!(is_atrace(text.as_bytes()), "{text}");
        }
        for text in
            ["", "hello", "B", "B|", "B|x|y", "B|1|", "C|1|a|b", "E|", "D|1|2", "end", "E |1", "B|12345678901|a"]
        {
            assert!(!is_atrace(text.as_bytes()), "{text}");
        }
    }
}
