//! Nothing is allocated per event: once every type is compiled and every buffer has its size, a second pass over a trace
//! allocates what its streams begin with, and nothing while events are printed.

#[path = "common/corpus.rs"]
mod corpus;
#[path = "common/trace_files.rs"]
mod trace_files;

use rtrace::event::{DecodeOptions, EventTypes, State};
use rtrace::export::{Json, JsonBuffer, JsonTypes, Style, Text, TextOptions};
use rtrace::merge::Merge;
use rtrace::symbols::{Comms, Kallsyms, PrintkFormats, Symbols};
use rtrace::trace_dat::{TimeOptions, Trace};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: hands everything to the system's allocator and only counts.
#[expect(unsafe_code, reason = "a counting allocator cannot be written without")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller's.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller's.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// Gives every record to `print`, and says how many there were and during how many of the second half something was
/// allocated, reading on included.
fn pass(trace: &Trace, records: u64, print: &mut dyn FnMut(&mut Merge)) -> (u64, u64) {
    let mut merge = Merge::default();
    for (number, buffer) in trace.buffers.iter().enumerate() {
        for cpu in 0..buffer.cpus.len() {
            merge.add(trace.stream(buffer, cpu, &TimeOptions::default()).unwrap(), number);
        }
    }
    let (mut count, mut allocating) = (0, 0);
    loop {
        let before = allocations();
        match merge.advance() {
            Ok(true) => print(&mut merge),
            Ok(false) => return (count, allocating),
            Err(_) => continue,
        }
        count += 1;
        allocating += u64::from(count > records / 2 && allocations() > before);
    }
}

/// Checks that the second of two passes does not allocate in its second half.
#[track_caller]
fn none_in_second(trace: &Trace, what: &str, mut print: impl FnMut(&mut Merge, &mut Vec<u8>)) -> u64 {
    let mut out = Vec::with_capacity(1 << 20);
    let mut print = |merge: &mut Merge| {
        if out.len() > 1 << 19 {
            out.clear();
        }
        print(merge, &mut out);
    };
    let (records, _) = pass(trace, u64::MAX, &mut print);
    let (_, allocating) = pass(trace, records, &mut print);
    assert_eq!(allocating, 0, "{what}: of {records} records so many made it allocate");
    records
}

#[test]
fn printing_allocates_nothing() {
    let mut records = 0;
    for file in trace_files::trace_files() {
        let name = file.display().to_string();
        // Function tracers keep names per depth, which may grow deeper late.
        let trace = Trace::open(std::fs::read(&file).unwrap()).unwrap();
        let symbols = Symbols {
            kallsyms: Kallsyms::parse(&trace.kallsyms),
            printk: PrintkFormats::parse(&trace.printk_formats),
            comms: Comms::parse(&trace.saved_cmdlines),
        };
        let formats = || trace.ftrace_formats.iter().chain(&trace.event_formats);
        let types = EventTypes::new(formats(), trace.abi, &symbols, &DecodeOptions::default());
        let text = Text::new(&types, &symbols, TextOptions::default());
        let mut state = State::new(symbols.comms.clone());
        records += none_in_second(&trace, &format!("{name}: text"), |merge, out| {
            let record = merge.record();
            if text.event(&record, || merge.peek(), &mut state, out) {
                merge.skip_peeked();
            }
        });
        let json_types = JsonTypes::new(formats(), trace.abi, Style::Json);
        let mut json = Json::new(trace.buffers.iter().map(|_| JsonBuffer {
            types: &json_types,
            comms: &symbols.comms,
            source: None,
            buffer: None,
        }));
        none_in_second(&trace, &format!("{name}: json"), |merge, out| json.event(&merge.record(), out));
    }
    assert!(records > 1000, "only {records} records");
}
