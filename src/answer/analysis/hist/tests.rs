//! Triggers over records made here, against tables counted by hand or by a slow evaluator.

use super::*;
use crate::answer::analysis::Analysis;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::file::ring_buffer::Lost;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Symbols;
use crate::language::hist::spec::HistSpec;
use crate::language::hist::table::HistTable;
use crate::language::synth::SynthDef;
use proptest::prelude::*;
use std::collections::BTreeMap;

struct NoNames;

impl HistNames for NoNames {
    fn symbol(&self, address: u64, _: bool) -> String {
        format!("0x{address:x}")
    }

    fn syscall(&self, _: u64) -> Option<String> {
        None
    }

    fn comm(&self, _: Pid) -> String {
        String::new()
    }
}

/// Two events, `begin` and `end`, with a key, a signed number and a small unsigned one.
fn formats() -> [EventFormat; 2] {
    ["begin", "end"].map(|name| {
        let id = if name == "begin" { 7 } else { 8 };
        let text = format!(
            "name: {name}\nID: {id}\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
             \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
             \tfield:int key;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:int number;\toffset:12;\tsize:4;\tsigned:1;\n\
             \tfield:u8 small;\toffset:16;\tsize:1;\tsigned:0;\n\nprint fmt: \"\"\n"
        );
        EventFormat::parse("t", &text).unwrap()
    })
}

#[derive(Clone, Debug)]
struct HistTestEvent {
    id: u16,
    time: u64,
    lost: bool,
    key: i32,
    number: i32,
    small: u8,
}

impl HistTestEvent {
    fn bytes(&self) -> Vec<u8> {
        let mut data = Vec::from(self.id.to_le_bytes());
        data.extend([0, 0]);
        data.extend(1i32.to_le_bytes());
        data.extend(self.key.to_le_bytes());
        data.extend(self.number.to_le_bytes());
        data.push(self.small);
        data
    }
}

const LITTLE: Abi = Abi { endian: crate::base::abi::Endian::Little, long_size: 8 };

fn setup(definitions: &[&str], triggers: &[(&str, &str)]) -> HistSetup {
    HistSetup {
        definitions: definitions.iter().map(|text| SynthDef::parse(text).unwrap()).collect(),
        triggers: triggers
            .iter()
            .map(|(event, text)| HistTrigger {
                system: if matches!(*event, "begin" | "end") { "t" } else { "synthetic" }.to_owned(),
                event: (*event).to_owned(),
                spec: HistSpec::parse(text).unwrap(),
            })
            .collect(),
        ..HistSetup::default()
    }
}

/// Findings of the triggers over the events; with `cut`, as two segments.
fn run(setup: &HistSetup, events: &[HistTestEvent], cut: Option<usize>) -> HistFindings {
    let (formats, symbols) = (formats(), Symbols::default());
    let formats: Vec<&EventFormat> = formats.iter().collect();
    let analysis = Histograms::new(setup, &formats, LITTLE, &symbols).unwrap();
    let mut known = analysis.begin();
    let cut = cut.unwrap_or(events.len()).min(events.len());
    let feed = |events: &[HistTestEvent], part: &mut <Histograms<'_> as Analysis>::Part| {
        for event in events {
            let lost = if event.lost { Lost::Unknown } else { Lost::None };
            let (timestamp, data) = (Timestamp(event.time), event.bytes());
            analysis.record(&Record { timestamp, cpu: CpuId(0), buffer: 0, lost, data: &data }, || None, part);
        }
    };
    feed(&events[..cut], &mut known);
    let mut later = analysis.fork(None);
    feed(&events[cut..], &mut later);
    analysis.merge(&mut known, &mut later);
    analysis.finish(known)
}

fn table(findings: &HistFindings, trigger: usize) -> HistTable {
    findings.table(trigger, &NoNames).unwrap()
}

fn lines(table: &HistTable) -> Vec<String> {
    table.entries.iter().map(ToString::to_string).collect()
}

fn made(id: u16, time: u64, key: i32, number: i32) -> HistTestEvent {
    HistTestEvent { id, time, lost: false, key, number, small: number as u8 }
}

const LATENCY: [(&str, &str); 3] = [
    ("begin", "hist:keys=key:ts=common_timestamp"),
    ("end", "hist:keys=key:lat=common_timestamp-$ts:onmatch(t.begin).lat($lat,key)"),
    ("lat", "hist:keys=key:vals=ns"),
];

#[test]
fn a_time_is_measured_once_and_never_across_a_loss() {
    let setup = setup(&["lat u64 ns; int key"], &LATENCY);
    let mut events = vec![
        made(7, 100, 1, 0), // begins
        made(7, 110, 1, 0), // begins again
        made(8, 150, 1, 0), // 40
        made(8, 160, 1, 0), // nothing is on
        made(7, 200, -2, 0),
        made(8, 250, -2, 0), // 50
        made(7, 300, 1, 0),
    ];
    let found = run(&setup, &events, None);
    assert_eq!(
        lines(&table(&found, 2)),
        [
            "{ key:          1 } hitcount:          1  ns:         40",
            "{ key: 18446744073709551614 } hitcount:          1  ns:         50",
        ]
    );
    let counts = HistCounts { seen: 4, unmatched: 0, begun_again: 1, waiting: 1, censored: 0 };
    assert_eq!(found.counts(0), Some(counts));
    assert_eq!(found.counts(1), Some(HistCounts { seen: 3, unmatched: 1, ..HistCounts::default() }));
    // The same events with a loss before an end: it is no time any more.
    events[2].lost = true;
    let found = run(&setup, &events, Some(2));
    assert_eq!(lines(&table(&found, 2)), ["{ key: 18446744073709551614 } hitcount:          1  ns:         50"]);
    assert_eq!(found.counts(0).map(|counts| counts.censored), Some(1));
}

#[test]
fn the_kernels_limits_drop_what_the_kernel_drops() {
    let mut setup = setup(&[], &[("begin", "hist:keys=key:size=128")]);
    let events: Vec<HistTestEvent> = (0..200).chain(0..200).map(|key| made(7, 1, key, 0)).collect();
    assert_eq!(
        (table(&run(&setup, &events, None), 0).entries.len(), table(&run(&setup, &events, None), 0).dropped),
        (200, 0)
    );
    setup.kernel_limits = true;
    for cut in [None, Some(50), Some(150), Some(300)] {
        let table = table(&run(&setup, &events, cut), 0);
        assert_eq!((table.entries.len(), table.hits, table.dropped), (128, 256, 144), "{cut:?}");
    }
}

#[test]
fn a_paused_trigger_counts_nothing() {
    let table = table(&run(&setup(&[], &[("begin", "hist:keys=key:pause")]), &[made(7, 1, 5, 3)], None), 0);
    assert_eq!((table.hits, table.state), (0, crate::language::hist::spec::TriggerState::Paused));
    assert!(table.trigger.ends_with(" [paused]"), "{}", table.trigger);
}

#[test]
fn handlers_keep_what_they_followed() {
    let setup = setup(
        &[],
        &[
            ("begin", "hist:keys=key:n=number:onmax($n).save(small)"),
            ("begin", "hist:keys=key:m=small:onchange($m).save(number)"),
            ("begin", "hist:keys=key:o=small:onmax($o).snapshot()"),
        ],
    );
    let events = [made(7, 1, 5, 3), made(7, 2, 5, 9), made(7, 3, 5, 4)];
    let found = run(&setup, &events, Some(1));
    assert_eq!(
        lines(&table(&found, 0)),
        ["{ key:          5 } hitcount:          3\n\tmax:          9  small:          9"]
    );
    assert_eq!(
        lines(&table(&found, 1)),
        ["{ key:          5 } hitcount:          3\n\tchanged:          4  number:          4"]
    );
    assert_eq!(found.snapshot(2).map(|moment| moment.time), Some(Timestamp(2)));
    assert_eq!(
        table(&found, 2).snapshot.map(|snapshot| (snapshot.handler, snapshot.value)),
        Some(("onmax($o)".into(), 9))
    );
}

#[test]
fn a_setup_that_cannot_be_answered_is_refused() {
    let (formats, symbols) = (formats(), Symbols::default());
    let formats: Vec<&EventFormat> = formats.iter().collect();
    let error = |definitions: &[&str], triggers: &[(&str, &str)]| {
        let error = Histograms::new(&setup(definitions, triggers), &formats, LITTLE, &symbols).map(|_| ()).unwrap_err();
        (error.trigger, error.to_string())
    };
    assert_eq!(error(&[], &[("begin", "hist:keys=key"), ("begin", "hist:keys=nokey")]).0, 1);
    assert!(error(&[], &[("begin", "hist:keys=common_stacktrace")]).1.contains("no stacks"));
    assert!(error(&[], &[("end", "hist:keys=key:lat=number-$nowhere")]).1.contains("nowhere"));
    assert!(error(&[], &[("nosuch", "hist:keys=key")]).1.contains("no event synthetic:nosuch"));
}

/// A trigger of the random ones: key and value by name, sign and size, filter.
#[derive(Clone, Debug)]
struct Random {
    keys: Vec<(&'static str, u64)>,
    value: &'static str,
    threshold: Option<i32>,
}

impl Random {
    fn text(&self) -> String {
        let keys: Vec<String> = self
            .keys
            .iter()
            .map(|(name, class)| match class {
                0 => (*name).to_owned(),
                1 => format!("{name}.log2"),
                size => format!("{name}.buckets={size}"),
            })
            .collect();
        let filter = self.threshold.map_or(String::new(), |least| format!(" if number >= {least}"));
        format!("hist:keys={}:vals={}{filter}", keys.join(","), self.value)
    }
}

fn field(event: &HistTestEvent, name: &str) -> u64 {
    match name {
        "key" => i64::from(event.key) as u64,
        "number" => i64::from(event.number) as u64,
        _ => event.small.into(),
    }
}

/// The table, counted the obvious way: class by class, with 128 bits.
fn obvious(random: &Random, events: &[HistTestEvent]) -> BTreeMap<Vec<u64>, (u64, u64)> {
    let mut table = BTreeMap::new();
    for event in events.iter().filter(|event| event.id == 7) {
        if random.threshold.is_some_and(|least| event.number < least) {
            continue;
        }
        let class = |(name, class): &(&'static str, u64)| {
            let value = field(event, name);
            match class {
                0 => value,
                1 => (0..=64).find(|power| u128::from(value) <= 1u128 << power).unwrap(),
                size => value - value % size,
            }
        };
        let entry = table.entry(random.keys.iter().map(class).collect()).or_insert((0u64, 0u64));
        entry.0 += 1;
        entry.1 = entry.1.wrapping_add(field(event, random.value));
    }
    table
}

fn randoms() -> impl Strategy<Value = Random> {
    let name = prop::sample::select(vec!["key", "number", "small"]);
    let key = (name.clone(), prop::sample::select(vec![0, 0, 1, 3, 10]));
    let keys = prop::collection::vec(key, 1..=3);
    (keys, name, prop::option::of(-3..3i32)).prop_filter_map("two keys of one name", |(keys, value, threshold)| {
        let mut names: Vec<_> = keys.iter().map(|key| key.0).collect();
        names.sort_unstable();
        names.dedup();
        (names.len() == keys.len()).then_some(Random { keys, value, threshold })
    })
}

fn events() -> impl Strategy<Value = Vec<HistTestEvent>> {
    let event = (7..=8u16, -4..4i32, prop_oneof![-5..5i32, any::<i32>()], any::<u8>(), 0..5u64);
    let event = event.prop_map(|(id, key, number, small, later)| HistTestEvent {
        id,
        time: later,
        lost: false,
        key,
        number,
        small,
    });
    prop::collection::vec(event, 0..60).prop_map(|mut events| {
        let mut time = 0;
        for event in &mut events {
            time += event.time;
            event.time = time;
        }
        events
    })
}

/// A trigger other than hist: its event, its action, a filter and a count.
#[derive(Clone, Debug)]
struct RandomGate {
    id: u16,
    action: &'static str,
    threshold: Option<i32>,
    count: Option<u64>,
}

impl RandomGate {
    fn trigger(&self) -> EventTrigger {
        let count = self.count.map_or(String::new(), |count| format!(":{count}"));
        let filter = self.threshold.map_or(String::new(), |least| format!(" if number >= {least}"));
        let event = if self.id == 7 { "begin" } else { "end" };
        let trigger = format!("{}{count}{filter}", self.action).parse().unwrap();
        EventTrigger { system: "t".to_owned(), event: event.to_owned(), trigger }
    }
}

fn gates() -> impl Strategy<Value = Vec<RandomGate>> {
    let actions = vec!["traceon", "traceoff", "enable_event:t:end", "disable_event:t:end", "enable_event:t:begin"];
    let gate = (7..=8u16, prop::sample::select(actions), prop::option::of(-3..4i32), prop::option::of(1..4u64));
    let gate = gate.prop_map(|(id, action, threshold, count)| RandomGate { id, action, threshold, count });
    prop::collection::vec(gate, 1..5)
}

/// The events that the ring takes: a switch for tracing and one for each event, turned by hand.
fn let_in(gates: &[RandomGate], events: &[HistTestEvent]) -> Vec<bool> {
    let mut tracing = true;
    let opens = |gate: &RandomGate, name: &str| gate.action == format!("enable_event:t:{name}");
    let mut enabled = [7, 8].map(|id| !gates.iter().any(|gate| opens(gate, if id == 7 { "begin" } else { "end" })));
    let mut used = vec![0; gates.len()];
    let mut all = Vec::new();
    for event in events {
        let own = usize::from(event.id - 7);
        let (tracing_before, enabled_before) = (tracing, enabled[own]);
        // The newest first.
        for (gate, used) in gates.iter().zip(&mut used).rev().filter(|(gate, _)| gate.id == event.id) {
            if gate.threshold.is_some_and(|least| event.number < least) {
                continue;
            }
            let (switch, wanted) = match gate.action {
                "traceon" => (&mut tracing, true),
                "traceoff" => (&mut tracing, false),
                "enable_event:t:begin" => (&mut enabled[0], true),
                "enable_event:t:end" => (&mut enabled[1], true),
                _ => (&mut enabled[1], false),
            };
            if *switch != wanted && gate.count.is_none_or(|count| *used < count) {
                (*switch, *used) = (wanted, *used + 1);
            }
        }
        // An enabled event that a filter looks at is in the ring already when tracing stops, as it is where traceoff follows it.
        let is_first = |gate: &RandomGate| gate.threshold.is_some() || gate.action == "traceoff";
        let is_reserved = enabled_before && gates.iter().any(|gate| gate.id == event.id && is_first(gate));
        all.push(enabled[own] && if is_reserved { tracing_before } else { tracing });
    }
    all
}

proptest! {
    #[test]
    fn tables_are_what_counting_gives(random in randoms(), events in events(), cut in 0..60usize) {
        let setup = setup(&[], &[("begin", &random.text())]);
        let wanted = obvious(&random, &events);
        for cut in [None, Some(cut)] {
            let table = table(&run(&setup, &events, cut), 0);
            prop_assert_eq!(table.entries.len(), wanted.len());
            prop_assert_eq!(table.hits, wanted.values().map(|entry| entry.0).sum::<u64>());
            let mut found: Vec<(u64, u64)> = table.entries.iter().map(|entry| {
                let crate::language::hist::table::ColumnValue::Number(sum) = entry.values[0].value else { panic!("a number") };
                (entry.hitcount.unwrap(), sum)
            }).collect();
            let mut expected: Vec<(u64, u64)> = wanted.values().copied().collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_ring_takes_what_the_gates_let_in(gates in gates(), events in events(), cut in 0..60usize) {
        let setup = HistSetup {
            gates: gates.iter().map(RandomGate::trigger).collect(),
            note_held: true,
            ..HistSetup::default()
        };
        let wanted = let_in(&gates, &events);
        for cut in [None, Some(cut)] {
            let found = run(&setup, &events, cut);
            let held: Vec<bool> = (0..events.len()).map(|at| found.held().contains(CpuId(0), at as u64)).collect();
            prop_assert_eq!(&held, &wanted);
        }
    }

    #[test]
    fn times_are_those_of_a_list_of_begins(events in events(), cut in 0..60usize) {
        let setup = setup(&["lat u64 ns; int key"], &LATENCY);
        let (mut on, mut wanted) = (BTreeMap::new(), BTreeMap::new());
        for event in &events {
            match event.id {
                7 => drop(on.insert(event.key, event.time)),
                _ => if let Some(begin) = on.remove(&event.key) {
                    let entry = wanted.entry(i64::from(event.key) as u64).or_insert((0u64, 0u64));
                    *entry = (entry.0 + 1, entry.1 + event.time - begin);
                },
            }
        }
        for cut in [None, Some(cut)] {
            let found = run(&setup, &events, cut);
            let table = table(&found, 2);
            prop_assert_eq!(table.hits, wanted.values().map(|entry| entry.0).sum::<u64>());
            let mut lines = lines(&table);
            lines.sort_unstable();
            let mut expected: Vec<String> = wanted.iter().map(|(key, (hits, sum))| {
                format!("{{ key: {key:10} }} hitcount: {hits:10}  ns: {sum:10}")
            }).collect();
            expected.sort_unstable();
            prop_assert_eq!(lines, expected);
            prop_assert_eq!(found.counts(0).unwrap().waiting, on.len() as u64);
        }
    }
}
