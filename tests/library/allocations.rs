//! Nothing is allocated per event: once every type is compiled and every buffer has its size, another pass over a trace
//! allocates what its streams begin with, and nothing while events are printed.

use crate::common::counting::allocations;
use rtrace::event::{Consumed, DecodeOptions, EventTypes, Lost, PrintState};
use rtrace::export::{Csv, CsvBuffer, CsvColumn, Json, JsonBuffer, JsonTypes, Style, Text, TextOptions};
use rtrace::internal::merge::Merge;
use rtrace::internal::trace_dat::{TimeOptions, Trace};
use rtrace::symbols::{Comms, Kallsyms, PrintkFormats, Symbols};

/// Allocations of a pass over a trace.
#[derive(Default)]
struct Pass {
    records: u64,
    streams: u64,
    /// Number of records for which printing allocated.
    printing: u64,
    /// Number of records for which reading on allocated.
    reading: u64,
}

/// Gives every record to `print`.
fn pass(trace: &Trace, print: &mut dyn FnMut(&mut Merge)) -> Pass {
    let mut pass = Pass::default();
    let mut merge = Merge::default();
    for (number, buffer) in trace.buffers.iter().enumerate() {
        for cpu in 0..buffer.cpus.len() {
            merge.add(trace.stream(buffer, cpu, &TimeOptions::default()).unwrap(), number);
            pass.streams += 1;
        }
    }
    loop {
        let before = allocations();
        match merge.advance() {
            Ok(true) => {}
            Ok(false) => return pass,
            Err(_) => continue,
        }
        let read = allocations();
        print(&mut merge);
        pass.records += 1;
        pass.reading += u64::from(read > before);
        // Lines about lost events are put together anew.
        pass.printing += u64::from(allocations() > read && merge.record().lost == Lost::None);
    }
}

/// Checks that the last of three passes does not allocate. (Names of functions are kept per depth of the call stack,
/// which the second pass begins with what the first one left.)
#[track_caller]
fn none_in_last(trace: &Trace, what: &str, mut print: impl FnMut(&mut Merge, &mut Vec<u8>)) -> u64 {
    let mut out = Vec::with_capacity(1 << 20);
    let mut print = |merge: &mut Merge| {
        if out.len() > 1 << 19 {
            out.clear();
        }
        print(merge, &mut out);
    };
    pass(trace, &mut print);
    pass(trace, &mut print);
    let Pass { records, streams, printing, reading } = pass(trace, &mut print);
    assert_eq!(printing, 0, "{what}: number of {records} records that made it allocate");
    // Each stream needs buffers for a stored chunk, an unpacked one, and the found records; two are exchanged.
    assert!(reading <= 8 * streams, "{what}: {reading} of {records} records made reading allocate");
    records
}

#[test]
fn printing_allocates_nothing() {
    let mut records = 0;
    for file in crate::common::trace_files::trace_files() {
        let name = file.display().to_string();
        let trace = Trace::open(std::fs::read(&file).unwrap()).unwrap();
        let symbols = Symbols {
            kallsyms: Kallsyms::parse(trace.kallsyms.get().unwrap()),
            printk: PrintkFormats::parse(&trace.printk_formats),
            comms: Comms::parse(&trace.saved_cmdlines),
            ..Symbols::default()
        };
        let formats = || trace.ftrace_formats.iter().chain(&trace.event_formats);
        let types = EventTypes::new(formats(), trace.abi, &symbols, &DecodeOptions::default());
        let text = Text::new(&types, &symbols, TextOptions::default());
        let mut state = PrintState::new(symbols.comms.clone());
        records += none_in_last(&trace, &format!("{name}: text"), |merge, out| {
            let record = merge.record();
            if text.event(&record, || merge.peek(), &mut state, out) == Consumed::Two {
                merge.skip_peeked();
            }
        });
    }
    assert!(records > 1000, "only {records} records");
}

#[test]
fn machine_formats_allocate_nothing() {
    let mut records = 0;
    for file in crate::common::trace_files::trace_files() {
        let name = file.display().to_string();
        let trace = Trace::open(std::fs::read(&file).unwrap()).unwrap();
        let comms = Comms::parse(&trace.saved_cmdlines);
        let formats = || trace.ftrace_formats.iter().chain(&trace.event_formats);
        for style in [Style::Json, Style::Raw] {
            let types = JsonTypes::new(formats(), trace.abi, style);
            let buffer = |_| JsonBuffer { types: &types, comms: &comms, source: None, buffer: None };
            let mut json = Json::new(trace.buffers.iter().map(buffer));
            records += none_in_last(&trace, &format!("{name}: {style:?}"), |merge, out| {
                json.event(&merge.record(), out);
            });
        }
        let columns = CsvColumn::FIXED.into_iter().map(|(_, column)| column).collect();
        let buffer = |_| CsvBuffer {
            formats: formats().collect(),
            abi: trace.abi,
            comms: &comms,
            kallsyms: None,
            wall: None,
            source: Some("file"),
            buffer: None,
        };
        let mut csv = Csv::new(columns, trace.buffers.iter().map(buffer));
        records += none_in_last(&trace, &format!("{name}: csv"), |merge, out| csv.event(&merge.record(), out));
    }
    assert!(records > 3000, "only {records} records");
}
