//! The results of `guest/capture`: the kernel's own text of some events, and the same events as bytes.

use regex::Regex;
use rtrace::abi::{Abi, Endian};
use rtrace::format::{EventFormat, HeaderPage};
use rtrace::internal::btf::Enumerators;
use rtrace::internal::ring_buffer::{PageLayout, Walker};
use rtrace::print_fmt::{Context, PrintProgram, Semantics, compile};
use rtrace::symbols::{Comms, Kallsyms, PrintkFormats, Symbols};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

/// The outcome of a comparison.
#[derive(Default)]
pub(crate) struct Compared {
    /// Lines that were compared.
    pub(crate) lines: usize,
    /// Names of the events that these lines are of.
    pub(crate) events: BTreeSet<String>,
    /// The systems of these events.
    pub(crate) systems: BTreeSet<String>,
    /// Lines that differ: the event, the kernel's text, ours.
    pub(crate) differences: Vec<(String, String, String)>,
}

/// A line of either side: CPU, event, text.
type Line = (u32, String, String);

struct Event {
    system: String,
    name: String,
    program: PrintProgram,
    /// True if its print format has a plain `%p`.
    has_pointer: bool,
}

/// The kernel's text of a plain `%p`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pointers {
    /// The value.
    Plain,
    /// The value, hashed with a secret: only the kernel can know it.
    Hashed,
}

/// The values of the names in the formats, if the kernel's types are available.
fn enumerators(dir: &Path) -> Enumerators {
    let Ok(types) = std::fs::read(dir.join("btf")) else { return Enumerators::default() };
    let formats = String::from_utf8_lossy(&bytes(dir, "formats")).into_owned();
    Enumerators::find(&mut Enumerators::wanted(formats.lines()), &types, None).expect("the kernel's types")
}

/// Compares the text of every event in `dir`.
pub(crate) fn compare(dir: &Path, pointers: Pointers) -> Compared {
    let text = |name: &str| String::from_utf8_lossy(&bytes(dir, name)).into_owned();
    let symbols = Symbols {
        kallsyms: Kallsyms::parse(&bytes(dir, "kallsyms")),
        printk: PrintkFormats::parse(&bytes(dir, "printk_formats")),
        comms: Comms::default(),
        enumerators: enumerators(dir),
        ..Symbols::default()
    };
    let header = HeaderPage::parse(&text("header_page")).expect("header_page");
    let abi = header.abi(if cfg!(target_endian = "big") { Endian::Big } else { Endian::Little });
    let events = compiled(&text("formats"), abi, &symbols);
    let ours = decoded(dir, &PageLayout::new(&header, abi, header.sub_buffer_size), &events, &symbols);
    let kernels = printed(&text("trace"));

    let mut compared = Compared::default();
    let system_of: BTreeMap<&str, &str> = events.values().map(|e| (e.name.as_str(), e.system.as_str())).collect();
    let with_pointers: BTreeSet<&str> = events.values().filter(|e| e.has_pointer).map(|e| e.name.as_str()).collect();
    for (kernel, our) in kernels.iter().zip(&ours) {
        compared.lines += 1;
        let hidden = pointers == Pointers::Hashed && with_pointers.contains(our.1.as_str());
        if same(kernel, our)
            || hidden && same(&without_pointers(kernel), &without_pointers(our))
            || same(&without_unknowable(kernel), &without_unknowable(our))
        {
            if let Some(system) = system_of.get(our.1.as_str()) {
                compared.systems.insert((*system).to_owned());
            }
            compared.events.insert(our.1.clone());
        } else {
            let name = if kernel.1 == our.1 { our.1.clone() } else { String::from("another event") };
            compared.differences.push((name, format!("{kernel:?}"), format!("{our:?}")));
        }
    }
    if kernels.len() != ours.len() {
        let counts = (String::from("count"), format!("{} lines", kernels.len()), format!("{} records", ours.len()));
        compared.differences.push(counts);
    }
    compared
}

fn bytes(dir: &Path, name: &str) -> Vec<u8> {
    let path = dir.join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The captured formats (`SYSTEM/EVENT/format:LINE` per line), compiled as the kernel's C reads them, by id.
fn compiled(text: &str, abi: Abi, symbols: &Symbols) -> BTreeMap<u64, Event> {
    let mut texts: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for line in text.lines() {
        let (path, rest) = line.split_once("/format:").expect("a line of a format file");
        let (system, event) = path.split_once('/').expect("SYSTEM/EVENT");
        let text = texts.entry((system, event)).or_default();
        text.push_str(rest);
        text.push('\n');
    }
    let mut events = BTreeMap::new();
    for ((system, name), text) in texts {
        let format = EventFormat::parse(system, &text).unwrap_or_else(|e| panic!("{system}:{name}: {e}"));
        // Without a program (statement expressions only) its lines differ, if there are any.
        if let Ok(program) = compile(&format, abi, symbols, Semantics::Kernel) {
            let has_pointer = has_plain_pointer(&format.print_fmt);
            let event = Event { system: system.to_owned(), name: format.name.clone(), program, has_pointer };
            events.insert(u64::from(format.id.0), event);
        }
    }
    events
}

/// All records of `dir/N.raw`, ordered by time and CPU, as text.
fn decoded(dir: &Path, layout: &PageLayout, events: &BTreeMap<u64, Event>, symbols: &Symbols) -> Vec<Line> {
    let mut records: Vec<(u64, u32, usize, Line)> = Vec::new();
    for cpu in 0.. {
        let path = dir.join(format!("{cpu}.raw"));
        let Ok(pages) = std::fs::read(&path) else { break };
        assert_eq!(pages.len() % layout.size, 0, "{}: whole sub-buffers", path.display());
        for page in pages.chunks_exact(layout.size) {
            let header = layout.page(page).expect("a page of this kernel");
            let mut walker = Walker::new(layout.abi, 0, &header);
            while let Some(item) = walker.step(page).expect("an item of this kernel") {
                let data = &page[item.range()];
                let id = layout.abi.uint(data, 0, 2).expect("a common_type");
                let line = match events.get(&id) {
                    Some(event) => {
                        let mut out = Vec::new();
                        event.program.render(&Context { data, abi: layout.abi, symbols, lists: false }, &mut out);
                        (cpu, event.name.clone(), String::from_utf8_lossy(&out).into_owned())
                    }
                    None => (cpu, format!("event {id}"), String::new()),
                };
                let number = records.len();
                records.push((item.timestamp, cpu, number, line));
            }
        }
    }
    records.sort_by_key(|(time, cpu, number, _)| (*time, *cpu, *number));
    records.into_iter().map(|(.., line)| line).collect()
}

/// The lines of a `trace` file.
///
/// ```text
///          capture-108     [000] ...1.     6.379275: sys_dup2(oldfd: b, newfd: 1)
///           <idle>-0       [001] d.h1.     6.379609: hrtimer_expire_exit: hrtimer=ff44ae6fde923440
/// ```
fn printed(text: &str) -> Vec<Line> {
    let head = Regex::new(r"^.{16,}-\d+ +(?:\([ \d-]+\) )?\[(\d{3,})\] \S+ +\d+\.\d{6}: (.*)$").expect("a pattern");
    let mut lines: Vec<Line> = Vec::new();
    for line in text.lines() {
        if let Some(found) = head.captures(line) {
            let cpu = found[1].parse().expect("a CPU");
            let (name, rest) = split_name(&found[2]);
            lines.push((cpu, name, rest));
        } else if line.starts_with('#') || line.starts_with("CPU:") || line.is_empty() {
            // the heading, `##### CPU 1 buffer started ####`, `CPU:1 [LOST 12 EVENTS]`
        } else if let Some((.., text)) = lines.last_mut() {
            text.push('\n');
            text.push_str(line);
        }
    }
    lines
}

/// `NAME: TEXT`, or a system call's `sys_NAME(ARGS)` and `sys_NAME -> RESULT`.
fn split_name(text: &str) -> (String, String) {
    let word = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(word);
    if let Some(rest) = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(':')) {
        (name.to_owned(), rest.to_owned())
    } else if let Some(call) = name.strip_prefix("sys_") {
        match rest.strip_prefix(" -> ") {
            Some(result) => (format!("sys_exit_{call}"), result.to_owned()),
            None => (format!("sys_enter_{call}"), rest.to_owned()),
        }
    } else {
        (name.to_owned(), rest.to_owned())
    }
}

/// True if two lines say the same. For system calls the kernel's `trace` has its own wording, which no print format
/// describes: there the arguments' names and numbers are compared.
fn same(kernel: &Line, our: &Line) -> bool {
    if kernel.0 != our.0 || kernel.1 != our.1 {
        return false;
    }
    if kernel.2 == our.2 {
        return true;
    }
    if our.1.starts_with("sys_enter_") {
        let kernel = kernel.2.trim_start_matches('(').trim_end_matches(')');
        return arguments(kernel) == arguments(&our.2);
    }
    our.1.starts_with("sys_exit_") && number(&kernel.2) == number(&our.2)
}

/// Words of print formats that depend on something that only the running kernel knows, by event.
const UNKNOWABLE: &[(&str, &[&str])] = &[
    // pfn_to_page(): vmemmap_base, a variable whose value is random from boot to boot
    ("mm_page_alloc", &["page="]),
    ("mm_page_alloc_extfrag", &["page="]),
    ("mm_page_alloc_zone_locked", &["page="]),
    ("mm_page_free", &["page="]),
    ("mm_page_free_batched", &["page="]),
    ("mm_page_pcpu_drain", &["page="]),
    // jiffies_to_msecs(): CONFIG_HZ
    ("jbd2_run_stats", &["wait ", "request_delay ", "running ", "locked ", "flushing ", "logging "]),
    ("jbd2_checkpoint_stats", &["chp_time "]),
    // jiffies: the time of printing, and CONFIG_HZ
    ("writeback_single_inode", &["age="]),
    ("writeback_single_inode_start", &["age="]),
    ("writeback_sb_inodes_requeue", &["age="]),
];

/// The line with the values after its event's unknowable words left out.
fn without_unknowable(line: &Line) -> Line {
    (line.0, line.1.clone(), unknowable_left_out(&line.1, &line.2))
}

/// The text with the values after the event's unknowable words left out.
pub(crate) fn unknowable_left_out(event: &str, text: &str) -> String {
    let mut text = text.to_owned();
    for (_, words) in UNKNOWABLE.iter().filter(|(name, _)| *name == event) {
        for word in *words {
            let value = Regex::new(&format!(r"\b{word}[0-9a-zA-Z_|?]+")).expect("a pattern");
            text = value.replace_all(&text, *word).into_owned();
        }
    }
    text
}

/// The line with each number of 16 hexadecimal digits made zero.
fn without_pointers(line: &Line) -> Line {
    (line.0, line.1.clone(), without_addresses(&line.2))
}

/// The text with each number of 16 hexadecimal digits made zero.
pub(crate) fn without_addresses(text: &str) -> String {
    static POINTER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[0-9a-f]{16}\b").expect("a pattern"));
    POINTER.replace_all(text, "0000000000000000").into_owned()
}

fn has_plain_pointer(print_fmt: &str) -> bool {
    let mut conversions = print_fmt.match_indices("%p");
    conversions.any(|(at, _)| !print_fmt[at + 2..].starts_with(|c: char| c.is_ascii_alphanumeric()))
}

/// `fd: 3, buf: 7ffd0, count: 0x10` as names and numbers; all numbers are hexadecimal.
fn arguments(text: &str) -> Vec<(String, Option<u64>)> {
    static PAIR: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\w+): (0x)?([0-9a-f]+)").expect("a pattern"));
    PAIR.captures_iter(text).map(|c| (c[1].to_owned(), number(&c[3]))).collect()
}

fn number(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}
