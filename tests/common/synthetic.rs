//! Recordings of events that never happened, with the facts of a real one.

use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::write::{NewFile, Version};
use rtrace::internal::trace_dat::{FilePart, OptionId, RawOption, Trace};
use rtrace::units::CpuId;
use std::fs::File;
use std::path::Path;

const PAGE: usize = 4096;
const PAGE_HEADER: usize = 16;

/// A recording in the making: the events of each CPU, by rising time.
pub(crate) struct Synthetic {
    pub(crate) facts: Trace,
    clock: &'static str,
    cpus: Vec<Vec<(u64, Vec<u8>)>>,
    /// CPU, number of its event, and how many events were lost before that.
    losses: Vec<(usize, usize, u64)>,
}

impl Synthetic {
    /// Without events. `saved_cmdlines` are lines of `pid comm`.
    pub(crate) fn new(cpus: usize, saved_cmdlines: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces/host/small-zlib.dat");
        let mut facts = Trace::open(File::open(path).expect("test data")).expect("a recording");
        facts.saved_cmdlines = saved_cmdlines.as_bytes().to_vec();
        facts.cpu_count = cpus as u32;
        // Those of the real recording's CPUs.
        facts.options.retain(|option| ![OptionId::CPUCOUNT, OptionId::CPUSTAT].contains(&option.id));
        Synthetic { facts, clock: "local", cpus: vec![Vec::new(); cpus], losses: Vec::new() }
    }

    /// With times of another clock.
    pub(crate) fn by_clock(mut self, clock: &'static str) -> Self {
        self.clock = clock;
        self.facts.options.retain(|option| option.id != OptionId::TRACECLOCK);
        self.with_option(OptionId::TRACECLOCK, format!("local global [{clock}]\n\0").as_bytes())
    }

    /// With an option more.
    pub(crate) fn with_option(mut self, id: OptionId, data: &[u8]) -> Self {
        self.facts.options.push(RawOption { id, data: data.to_vec(), offset: 0, place: FilePart::Prefix });
        self
    }

    fn format(&self, name: &str) -> &EventFormat {
        self.facts.event_formats.iter().find(|f| f.name == name).expect("an event of the facts")
    }

    /// Adds an event of task `pid` with these values in its fields; the other fields are 0.
    pub(crate) fn event(&mut self, cpu: usize, time: u64, name: &str, pid: i32, fields: &[(&str, &[u8])]) {
        let format = self.format(name);
        let end = format.fields.iter().map(|f| f.offset + f.size).max().expect("fields");
        let mut data = vec![0; end.next_multiple_of(4)];
        data[..2].copy_from_slice(&format.id.0.to_le_bytes());
        data[4..8].copy_from_slice(&pid.to_le_bytes());
        for (name, value) in fields {
            let field = format.fields.iter().find(|f| f.name == *name).expect("a field of the event");
            data[field.offset..][..value.len()].copy_from_slice(value);
        }
        self.cpus[cpu].push((time, data));
    }

    /// Loses `count` events of a CPU before its event of this number.
    pub(crate) fn lose(&mut self, cpu: usize, event: usize, count: u64) {
        self.losses.push((cpu, event, count));
    }

    /// Writes the file, in chunks of 32 KiB.
    pub(crate) fn write(&self, path: &Path, version: Version) {
        self.write_in_chunks(path, version, 8 * PAGE);
    }

    /// Writes the file, in chunks of this many bytes of sub-buffers.
    pub(crate) fn write_in_chunks(&self, path: &Path, version: Version, chunk: usize) {
        let mut file =
            NewFile::create(File::create(path).expect("a file"), &self.facts, version, &[""]).expect("facts");
        file.begin_buffer("", self.clock, PAGE).expect("a buffer");
        for (cpu, events) in self.cpus.iter().enumerate() {
            file.begin_cpu(CpuId(cpu as u32)).expect("a CPU");
            let lost =
                |event| self.losses.iter().find(|loss| (loss.0, loss.1) == (cpu, event)).map_or(0, |loss| loss.2);
            for pages in pages(events, lost).chunks(chunk) {
                file.pages(pages).expect("sub-buffers");
            }
            file.end_cpu().expect("a CPU");
        }
        file.end_buffer().expect("a buffer");
        file.finish().expect("a whole file");
    }
}

/// Sub-buffers with these events, as the ring buffer of a little-endian 64-bit kernel has them.
fn pages(events: &[(u64, Vec<u8>)], lost: impl Fn(usize) -> u64) -> Vec<u8> {
    let (mut all, mut page, mut before, mut of_page): (Vec<u8>, Vec<u8>, u64, u64) = (Vec::new(), Vec::new(), 0, 0);
    for (number, (time, data)) in events.iter().enumerate() {
        let far = time - before >= 1 << 27;
        let lost = lost(number);
        if page.is_empty() || far || lost > 0 || page.len() + 4 + data.len() + if of_page > 0 { 8 } else { 0 } > PAGE {
            end_page(&mut all, &mut page, std::mem::replace(&mut of_page, lost));
            page.extend_from_slice(&time.to_le_bytes());
            page.resize(PAGE_HEADER, 0);
            before = *time;
        }
        let header = (data.len() / 4) as u32 | ((time - before) as u32) << 5;
        page.extend_from_slice(&header.to_le_bytes());
        page.extend_from_slice(data);
        before = *time;
    }
    end_page(&mut all, &mut page, of_page);
    all
}

/// `lost` events were lost before the sub-buffer: two bits say so, and their number stands after the data.
fn end_page(all: &mut Vec<u8>, page: &mut Vec<u8>, lost: u64) {
    if page.is_empty() {
        return;
    }
    let commit = (page.len() - PAGE_HEADER) as u64 | if lost > 0 { 3 << 30 } else { 0 };
    page[8..PAGE_HEADER].copy_from_slice(&commit.to_le_bytes());
    if lost > 0 {
        page.extend_from_slice(&lost.to_le_bytes());
    }
    page.resize(PAGE, 0);
    all.append(page);
}

/// Random numbers, the same each time (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

/// A build, say: tasks are forked, take other names, run and die, and their pids are used again; only the first ones
/// have a saved name.
pub(crate) fn fork_storm(cpus: usize, events: usize, pids: usize, seed: u64) -> Synthetic {
    let mut storm = Synthetic::new(cpus, "1 init\n2 kthreadd\n3 sh\n");
    let mut random = Random(seed | 1);
    let comm = |name: &str| {
        let mut comm = [0; 16];
        comm[..name.len()].copy_from_slice(name.as_bytes());
        comm
    };
    let mut names: Vec<Option<String>> = vec![None; pids];
    names[1..10].fill(Some("sh".to_owned()));
    let mut running: Vec<usize> = (0..cpus).map(|cpu| cpu + 1).collect();
    let mut time = 1_000_000;
    for number in 0..events {
        time += random.below(3_000) as u64;
        let cpu = random.below(cpus);
        let pid = running[cpu];
        let other = 1 + random.below(pids - 1);
        let name = names[pid].clone().unwrap_or_else(|| "gone".to_owned());
        let (own, others) = (comm(&name), names[other].as_deref().map(comm));
        match (random.below(8), others) {
            // Forked, with the parent's name, maybe as a task that had this pid before.
            (0, _) => {
                names[other] = Some(name);
                let pid_field = (other as i32).to_le_bytes();
                storm.event(cpu, time, "sched_wakeup_new", pid as i32, &[("comm", &own), ("pid", &pid_field)]);
            }
            // exec or prctl: seen at the next switch only.
            (1, _) => {
                names[pid] = Some(format!("{}:{}", ["cc1", "ld", "make", "a long name"][number % 4], number % 97))
            }
            (2, Some(comm)) => {
                let pid_field = (other as i32).to_le_bytes();
                storm.event(cpu, time, "sched_wakeup", pid as i32, &[("comm", &comm), ("pid", &pid_field)]);
            }
            (3 | 4, Some(comm)) => {
                let (prev, next) = ((pid as i32).to_le_bytes(), (other as i32).to_le_bytes());
                let fields: [(&str, &[u8]); 4] =
                    [("prev_comm", &own), ("prev_pid", &prev), ("next_comm", &comm), ("next_pid", &next)];
                storm.event(cpu, time, "sched_switch", pid as i32, &fields);
                running[cpu] = other;
            }
            (5, Some(_)) if random.below(4) == 0 => names[other] = None,
            _ => storm.event(cpu, time, "sched_process_wait", pid as i32, &[]),
        }
    }
    storm
}
