//! The stages of a report, one by one: walking pages, merging streams, three kinds of print programs, JSON.
//!
//! The events are those of a real recording: `RTRACE_BENCH_TRACE` names a trace.dat; without it a small one of the test
//! data serves. All that is measured works on memory.

use criterion::{Criterion, Throughput};
use rtrace::event::{DecodeOptions, EventTypes, Lost, PrintState, Record};
use rtrace::export::{Json, JsonBuffer, JsonTypes, Style, Text, TextOptions};
use rtrace::internal::merge::Merge;
use rtrace::internal::ring_buffer::Walker;
use rtrace::internal::trace_dat::{TimeOptions, Trace};
use rtrace::symbols::{Comms, Kallsyms, PrintkFormats, Symbols};
use rtrace::units::{CpuId, Timestamp};
use std::hint::black_box;

/// No more data than this of each CPU.
const MOST: usize = 16 << 20;

/// The trace's top buffer: its sub-buffers, CPU by CPU.
fn sub_buffers(trace: &Trace) -> Vec<u8> {
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    for cpu in 0..trace.buffers[0].cpus.len() {
        let mut pages = trace.raw_pages(&trace.buffers[0], cpu);
        let start = all.len();
        while all.len() - start < MOST && pages.next(&mut chunk).expect("its pages") {
            all.extend_from_slice(&chunk);
        }
    }
    all
}

/// Gives every record of the pages to `see`.
fn walk(trace: &Trace, pages: &[u8], mut see: impl FnMut(u64, &[u8])) {
    let layout = trace.page_layout(&trace.buffers[0]);
    for base in (0..pages.len()).step_by(layout.size) {
        let page = layout.page(&pages[base..]).expect("a page");
        let mut walker = Walker::new(trace.abi, base, &page);
        let most = usize::MAX;
        walker.walk(pages, most, |item| see(item.timestamp, &pages[item.range()])).expect("a sound page");
    }
}

fn record((time, data): &(u64, Vec<u8>)) -> Record<'_> {
    Record { timestamp: Timestamp(*time), cpu: CpuId(0), buffer: 0, lost: Lost::None, data }
}

fn merge(trace: &Trace) -> Merge {
    let mut merge = Merge::default();
    for cpu in 0..trace.buffers[0].cpus.len() {
        merge.add(trace.stream(&trace.buffers[0], cpu, &TimeOptions::default()).expect("a stream"), 0);
    }
    merge
}

fn benches(c: &mut Criterion) {
    let small = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat").into();
    let path = std::env::var_os("RTRACE_BENCH_TRACE").unwrap_or(small);
    let trace = Trace::open(std::fs::read(&path).expect("the trace")).expect("a trace.dat file");
    let symbols = Symbols {
        kallsyms: Kallsyms::parse(trace.kallsyms.get().expect("kallsyms")),
        printk: PrintkFormats::parse(&trace.printk_formats),
        comms: Comms::parse(&trace.saved_cmdlines),
        ..Symbols::default()
    };
    let formats = || trace.ftrace_formats.iter().chain(&trace.event_formats);
    let types = EventTypes::new(formats(), trace.abi, &symbols, &DecodeOptions::default());
    let pages = sub_buffers(&trace);
    let mut records: Vec<(u64, Vec<u8>)> = Vec::new();
    walk(&trace, &pages, |time, data| records.push((time, data.to_vec())));

    let mut group = c.benchmark_group("decode");
    group.sample_size(20).throughput(Throughput::Elements(records.len() as u64));
    group.bench_function("walk pages", |b| {
        b.iter(|| {
            let mut bytes = 0;
            walk(&trace, &pages, |_, data| bytes += data.len());
            black_box(bytes)
        });
    });
    group.bench_function("unpack, walk and merge (whole file)", |b| {
        b.iter(|| {
            let (mut merge, mut bytes) = (merge(&trace), 0);
            while matches!(merge.advance(), Ok(true)) {
                bytes += merge.record().data.len();
            }
            black_box(bytes)
        });
    });

    let text = Text::new(&types, &symbols, TextOptions::default());
    let json_types = JsonTypes::new(formats(), trace.abi, Style::Json);
    let buffer = JsonBuffer { types: &json_types, comms: &symbols.comms, source: None, buffer: None };
    let id = |data: &[u8]| types.common().event_id(trace.abi, data);
    // Numbers only; a handler that prints two tasks; symbols and flags: as far as the trace has them.
    for name in ["sys_enter", "sched_switch", "kmalloc", "timer_start", "any"] {
        let of_name = |data: &[u8]| types.get(id(data)).is_some_and(|t| name == "any" || t.format.name == name);
        let chosen: Vec<&(u64, Vec<u8>)> = records.iter().filter(|(_, data)| of_name(data)).take(100_000).collect();
        if chosen.is_empty() {
            println!("decode/{name}: the trace has none");
            continue;
        }
        group.throughput(Throughput::Elements(chosen.len() as u64));
        let mut out = Vec::new();
        let mut state = PrintState::new(symbols.comms.clone());
        group.bench_function(format!("text of {name}"), |b| {
            b.iter(|| {
                out.clear();
                for one in &chosen {
                    text.event(&record(one), || None, &mut state, &mut out);
                }
                black_box(out.len())
            });
        });
        let mut json = Json::new([buffer]);
        group.bench_function(format!("JSON of {name}"), |b| {
            b.iter(|| {
                out.clear();
                chosen.iter().for_each(|one| json.event(&record(one), &mut out));
                black_box(out.len())
            });
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    benches(&mut criterion);
    criterion.final_summary();
}
