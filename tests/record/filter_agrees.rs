//! Our evaluator and the running kernel's filter, over the same events.
//!
//! Two private instances see the same load: one without, one with a filter. Every record of the second one must pass
//! our evaluator, and what that lets pass of the first one's records must be the second one's records.
//!
//! Same means the same fields, text up to its NUL: what lies after it, and between fields, is left over from earlier
//! events. Filters that look there ([`GARBAGE`]) cannot be compared over two buffers, only over the filtered one.

use crate::common::not_run::not_run;
use rtrace::abi::Abi;
use rtrace::filter::{Filter, Subject};
use rtrace::format::{EventFormat, Field, Shape};
use rtrace::units::CpuId;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const TRACING: &str = "/sys/kernel/tracing";
const EVENTS: [&str; 5] = [
    "syscalls/sys_enter_lseek",
    "syscalls/sys_exit_lseek",
    "task/task_rename",
    "sched/sched_process_exec",
    "sched/sched_switch",
];

/// An instance of its own, removed at the end.
struct Instance(PathBuf);

impl Instance {
    fn new(name: &str) -> std::io::Result<Self> {
        let dir = Path::new(TRACING).join("instances").join(format!("rtrace-test-{name}-{}", std::process::id()));
        fs::create_dir(&dir).map(|()| Instance(dir))
    }

    fn write(&self, file: &str, text: &str) -> std::io::Result<()> {
        fs::write(self.0.join(file), text)
    }

    /// The records of one CPU, in order, each from `common_type` on.
    fn records(&self, cpu: usize) -> Vec<Vec<u8>> {
        let path = self.0.join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
        let mut pipe = fs::File::options().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path).unwrap();
        let size: usize =
            fs::read_to_string(self.0.join("buffer_subbuf_size_kb")).map_or(4, |kb| kb.trim().parse().unwrap());
        let mut records = Vec::new();
        let mut page = vec![0; size * 1024];
        while let Ok(len @ 1..) = pipe.read(&mut page) {
            walk(&page[..len], &mut records);
        }
        records
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Just enough of the ring buffer's layout (`ring_buffer_event`) for records without surprises.
fn walk(page: &[u8], records: &mut Vec<Vec<u8>>) {
    let word = |at: usize| Abi::HOST.uint(page, at, 4).unwrap() as usize;
    let commit = Abi::HOST.uint(page, 8, 8).unwrap() as usize & 0xfffff;
    let mut at = 16;
    while at < 16 + commit {
        let head = word(at);
        let (start, len) = match head & 0x1f {
            0 => (at + 8, word(at + 4) - 4),
            n @ 1..=28 => (at + 4, n * 4),
            29 => break,
            30 | 31 => {
                at += 8;
                continue;
            }
            _ => unreachable!("five bits"),
        };
        records.push(page[start..start + len].to_vec());
        at = start + len;
    }
}

/// Renames the thread, seeks with telling numbers, sleeps and starts programs with telling names.
fn load(dir: &Path) {
    let comm = format!("/proc/self/task/{}/comm", nix::unistd::gettid());
    for name in ["bash", "sh", "a-15-byte-name!", "9lives", "cat", "k[x]*", "filter-test"] {
        fs::write(&comm, name).unwrap();
    }
    let mut file = fs::File::open("/proc/self/exe").unwrap();
    for n in [0, 1, -1, 5, 255, -128, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN, 1 << 32] {
        let _ = file.seek(SeekFrom::Current(n));
        let _ = file.seek(SeekFrom::End(n));
        let _ = file.seek(SeekFrom::Start(n as u64));
    }
    for _ in 0..3 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    for name in ["bash", "true", "x9"] {
        assert!(Command::new(dir.join(name)).status().unwrap().success());
    }
}

/// (the event of EVENTS, a filter for it)
const FILTERS: [(usize, &str); 58] = [
    (0, "offset == 5"),
    (0, "offset != 5"),
    (0, "offset > 0x7fffffff"),
    (0, "offset >= 0x7fffffff && offset <= 0x100000000"),
    (0, "offset & 0x80"),
    (0, "whence == 1 || whence == 2 && offset == 1"),
    (0, "(whence == 1 || whence == 2) && offset == 1"),
    (0, "!(whence == 1) && !(offset < 6)"),
    (0, "!whence == 1"),
    (0, "!!(whence == 1 || (offset == 0 && !(whence == 0)))"),
    (0, "COMM == \"filter-test\""),
    (0, "COMM ~ \"filter*\" && comm != \"x\""),
    (0, "COMM ~ \"*test\""),
    (0, "COMM ~ \"*ter-t*\""),
    (0, "COMM ~ \"f[a-j]l?er-*st\""),
    (0, "COMM ~ \"!f*\""),
    (0, "CPU == 0"),
    (0, "CPU >= 0 && CPU < 9999"),
    (0, "CPU != 0"),
    (0, "CPU & 1"),
    (0, "CPU & CPUS{0}"),
    (0, "CPU == CPUS{0}"),
    (0, "CPU != CPUS{0-1}"),
    (0, "CPU & CPUS{0-1}"),
    (0, "fd == CPUS{0-1}"),
    (0, "whence & CPUS{0-1}"),
    (0, "whence != CPUS{1}"),
    (0, "common_pid > 0 && common_preempt_count == 0"),
    (0, "common_type != 0 || common_flags == 77"),
    (1, "ret < 0"),
    (1, "ret >= 0"),
    (1, "ret == -22"),
    (1, "ret > -23 && ret != -22"),
    (1, "ret & 0x10"),
    (1, "ret == 0x7fffffffffffffff"),
    (1, "ret > 010"),
    (2, "newcomm == \"bash\""),
    (2, "newcomm != \"bash\""),
    (2, "newcomm ~ \"*sh\""),
    (2, "newcomm ~ \"*sh*\""),
    (2, "newcomm ~ \"*name!\""),
    (2, "newcomm ~ \"9*\""),
    (2, "newcomm ~ \"9lives\""),
    (2, "newcomm ~ \"[9]*\""),
    (2, "newcomm ~ \"k\\[x]\\*\""),
    (2, "newcomm ~ \"k[[]*\""),
    (2, "newcomm ~ \"[!a-z]*\""),
    (2, "newcomm ~ \"!*a*\""),
    (2, "newcomm ~ \"*\""),
    (2, "newcomm ~ \"\""),
    (2, "oldcomm ~ \"*byte*\""),
    (2, "oldcomm ~ \"?at\" || newcomm == 'sh'"),
    (3, "filename ~ \"*/bash\""),
    (3, "filename ~ \"*/b*h\" || filename ~ \"*x9*\""),
    (3, "filename != \"/bin/sh\" && !(filename ~ \"*true\")"),
    (3, "filename ~ \"/tmp*\""),
    (4, "prev_state == 1 && prev_comm == \"filter-test\""),
    (4, "prev_prio == 4294967416 || prev_pid == -1 || prev_comm ~ \"*lter*\""),
];

/// Filters that also look at what lies after a text's NUL.
const GARBAGE: [&str; 5] =
    ["newcomm ~ \"*name!\"", "newcomm ~ \"!*a*\"", "newcomm ~ \"*sh\"", "newcomm ~ \"*sh*\"", "oldcomm ~ \"*byte*\""];

/// The record's own fields, without what lies between and after them.
fn fields(format: &EventFormat, record: &[u8]) -> Vec<Vec<u8>> {
    let bytes = |field: &Field| {
        let bytes = &record[field.offset..field.offset + field.size];
        let text = match field.shape {
            Shape::DataLoc { .. } => {
                let word = Abi::HOST.uint(bytes, 0, 4).unwrap() as usize;
                &record[word & 0xffff..][..word >> 16]
            }
            _ if field.is_string() => bytes,
            _ => return bytes.to_vec(),
        };
        text.split(|&b| b == 0).next().unwrap().to_vec()
    };
    format.fields.iter().map(bytes).collect()
}

#[test]
fn with_the_running_kernel() {
    let Some((_, _alone)) = crate::host::kernel() else { return };
    let Ok(plain) = Instance::new("plain") else {
        let must = std::env::var_os("CI").is_some() && Path::new(TRACING).join("instances").is_dir();
        assert!(!must, "CI has a tracefs, and its instances cannot be made");
        not_run("needs root and a mounted tracefs");
        return;
    };
    let filtered = Instance::new("filtered").unwrap();
    let mut cpus = nix::sched::CpuSet::new();
    cpus.set(0).unwrap();
    let here = nix::unistd::Pid::from_raw(0);
    let before = nix::sched::sched_getaffinity(here).unwrap();
    nix::sched::sched_setaffinity(here, &cpus).unwrap();
    let programs = tempfile::TempDir::new().unwrap();
    for name in ["bash", "true", "x9"] {
        fs::copy("/bin/true", programs.path().join(name)).unwrap();
    }
    for instance in [&plain, &filtered] {
        instance.write("tracing_on", "0").unwrap();
        instance.write("options/event-fork", "1").unwrap();
        instance.write("set_event_pid", &nix::unistd::gettid().to_string()).unwrap();
    }
    let formats = EVENTS.map(|event| {
        let text = fs::read_to_string(format!("{TRACING}/events/{event}/format")).unwrap();
        EventFormat::parse(event.split('/').next().unwrap(), &text).unwrap()
    });
    let (mut passed, mut dropped) = (0, 0);
    let mut differing = Vec::new();
    for (i, text) in FILTERS {
        let (event, format) = (EVENTS[i], &formats[i]);
        let filter = Filter::parse(text).unwrap();
        let program = filter.compile(format, Abi::HOST, &()).unwrap_or_else(|e| panic!("{e}"));
        filtered
            .write(&format!("events/{event}/filter"), &filter.to_string())
            .unwrap_or_else(|e| panic!("{filter}: {e}\n{}", fs::read_to_string(filtered.0.join("error_log")).unwrap()));
        // The plain one is on before and after the other, so that it misses nothing that the other sees.
        let switch = |order: [&Instance; 2], file: String, on: &str| order.map(|i| i.write(&file, on).unwrap());
        switch([&plain, &filtered], format!("events/{event}/enable"), "1");
        switch([&plain, &filtered], "tracing_on".to_owned(), "1");
        load(programs.path());
        switch([&filtered, &plain], "tracing_on".to_owned(), "0");
        switch([&filtered, &plain], format!("events/{event}/enable"), "0");
        filtered.write(&format!("events/{event}/filter"), "0").unwrap();
        let own = |record: &Vec<u8>| Abi::HOST.uint(record, 0, 2) == Some(format.id.0.into());
        let records: Vec<_> = plain.records(0).into_iter().filter(own).collect();
        let kernel: Vec<_> = filtered.records(0).into_iter().filter(own).collect();
        assert!(records.len() >= 3, "{event}: {} records", records.len());
        let passes =
            |data: &&Vec<u8>| program.matches(&Subject { data, cpu: CpuId(0), comm: b"filter-test", names: &() });
        let ours: Vec<_> = records.iter().filter(passes).collect();
        passed += ours.len();
        dropped += records.len() - ours.len();
        let plain = |records: &[&Vec<u8>]| -> Vec<_> { records.iter().map(|r| fields(format, r)).collect() };
        let all: Vec<_> = kernel.iter().collect();
        // Another task may take the CPU while only the plain one is on: two switches more at either end.
        let more = if event == "sched/sched_switch" { ours.len().saturating_sub(all.len()).min(4) } else { 0 };
        let (ours_plain, all_plain) = (plain(&ours), plain(&all));
        let is_all =
            |skip: usize| ours_plain.get(skip..(ours.len() + skip).saturating_sub(more)) == Some(&all_plain[..]);
        let same = GARBAGE.contains(&text) || (0..=more).any(is_all);
        if !same || !kernel.iter().all(|data| passes(&data)) {
            differing.push(format!(
                "{event} {filter}: we {}, kernel {} of {}",
                ours.len(),
                kernel.len(),
                records.len()
            ));
        }
    }
    nix::sched::sched_setaffinity(here, &before).unwrap();
    println!("{} filters, {passed} records passed, {dropped} dropped", FILTERS.len());
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(passed > 500 && dropped > 500, "{passed} {dropped}");
}
