//! The throttled time of cgroups that have a quota of CPU time, read again and again while tasks are recorded: no event tells when
//! the kernel keeps a cgroup off a CPU.
//!
//! A thread of its own, which is there only if a cgroup has a quota. One that comes late makes its readings say less, and no less
//! true, as each has the time before and after it.

use super::cgroup_tree::{QuotaFiles, throttled};
use super::trace_clock::trace_clock;
use crate::base::sys;
use crate::control::tracefs::Instance;
use crate::file::trace_dat::{QuotaSample, QuotaSamples, QuotaSeries};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time between two readings of a cgroup.
const PERIOD: Duration = Duration::from_millis(50);
/// Its nice value: on a busy machine it would come some hundred milliseconds late else.
const NICE: i32 = -20;
/// Cgroups that are read between two readings of the clock.
const AT_ONCE: usize = 16;
/// Beyond so many readings (24 bytes each) there are no more.
const MOST: usize = 2 << 20;
/// The kernel cuts off what is less than a microsecond of the clock.
const CUT_OFF: u64 = 1_000;

/// A cgroup that is read.
#[derive(Debug)]
struct SampledCgroup {
    files: QuotaFiles,
    /// What the files of its limit said last.
    limit: Vec<u8>,
    series: QuotaSeries,
}

/// Cgroups that are read, and what was read of them.
#[derive(Debug)]
struct SampledCgroups {
    clock: File,
    cgroups: Vec<SampledCgroup>,
    done: QuotaSamples,
    count: usize,
    is_over: bool,
}

/// The cgroups, and what wakes the thread at the end.
type Shared = Arc<(Mutex<SampledCgroups>, Condvar)>;

/// The readings, while the thread makes them.
#[derive(Debug)]
pub(super) struct QuotaSampler {
    shared: Shared,
    thread: Option<JoinHandle<()>>,
}

impl QuotaSampler {
    /// By the clock of `instance`, which counts nanoseconds.
    ///
    /// # Errors
    /// The error of opening the clock's file or of starting the thread.
    pub(super) fn start(instance: &Instance) -> io::Result<Self> {
        let cpus = instance.cpus().map_err(io::Error::other)?;
        let cpu = *cpus.first().ok_or(io::ErrorKind::NotFound)?;
        let clock = File::open(instance.path(&Instance::cpu_file(cpu, "stats")))?;
        let all =
            SampledCgroups { clock, cgroups: Vec::new(), done: QuotaSamples::default(), count: 0, is_over: false };
        let shared: Shared = Arc::new((Mutex::new(all), Condvar::new()));
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("rtrace/quotas".to_owned()).spawn(move || run(&of_thread))?;
        Ok(QuotaSampler { shared, thread: Some(thread) })
    }

    /// Reads the cgroup `path` from now on.
    pub(super) fn add(&self, path: &str, files: QuotaFiles) {
        let mut all = lock(&self.shared);
        let limit = limit_of(&files);
        all.cgroups.push(SampledCgroup { files, limit, series: QuotaSeries::new(path) });
        let first = all.cgroups.len() - 1;
        all.read_from(first);
    }

    /// Reads the cgroups now, and sleeps: as this thread gives up its CPU there is an event after the reading.
    pub(super) fn read_before_event(&self) {
        lock(&self.shared).read_from(0);
        thread::sleep(Duration::from_micros(200));
    }

    /// What was read so far, and is read now.
    pub(super) fn samples(&self) -> QuotaSamples {
        let mut all = lock(&self.shared);
        all.read_from(0);
        let mut samples = all.done.clone();
        all.cgroups.iter().for_each(|cgroup| samples.add(cgroup.series.clone()));
        samples
    }
}

impl Drop for QuotaSampler {
    fn drop(&mut self) {
        lock(&self.shared).is_over = true;
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, SampledCgroups> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads until it is over.
fn run(shared: &Shared) {
    // It needs little time, and that soon.
    let _ = sys::nice_thread(NICE);
    let mut next = Instant::now() + PERIOD;
    let mut all = lock(shared);
    while !all.is_over {
        let now = Instant::now();
        if now < next {
            all = shared.1.wait_timeout(all, next - now).unwrap_or_else(PoisonError::into_inner).0;
            continue;
        }
        all.read_from(0);
        next = now.max(next) + PERIOD;
    }
}

impl SampledCgroups {
    /// Reads the cgroups from the one with this number on.
    fn read_from(&mut self, first: usize) {
        let mut at = first;
        while at < self.cgroups.len() && self.count < MOST {
            let end = self.cgroups.len().min(at + AT_ONCE);
            let Some(before) = now(&self.clock) else { return };
            let read: Vec<_> = self.cgroups[at..end].iter().map(SampledCgroup::read).collect();
            let Some(after) = now(&self.clock) else { return };
            let (begin, end) = (before, after.saturating_add(CUT_OFF));
            let mut gone = Vec::new();
            for (number, read) in (at..).zip(read) {
                let Some((throttled, limit)) = read else {
                    gone.push(number);
                    continue;
                };
                let cgroup = &mut self.cgroups[number];
                let path = cgroup.series.cgroup.clone();
                // Another limit lets all tasks go on: what is counted then says nothing of the quota.
                if std::mem::replace(&mut cgroup.limit, limit.clone()) != limit {
                    self.done.add(std::mem::replace(&mut cgroup.series, QuotaSeries::new(path)));
                    continue;
                }
                let before = cgroup.series.samples().len();
                cgroup.series.add(QuotaSample { begin, end, throttled });
                self.count += cgroup.series.samples().len() - before;
            }
            at += AT_ONCE;
            for number in gone.into_iter().rev() {
                self.done.add(self.cgroups.remove(number).series);
                at -= 1;
            }
        }
    }
}

impl SampledCgroup {
    /// Its throttled time and limit; `None` once it is removed.
    fn read(&self) -> Option<(u64, Vec<u8>)> {
        // The time first: of a limit that was changed before, it is no reading.
        let throttled = throttled(&text(&self.files.stat)?)?;
        Some((throttled, limit_of(&self.files)))
    }
}

fn limit_of(files: &QuotaFiles) -> Vec<u8> {
    files.limit.iter().filter_map(text).flat_map(String::into_bytes).collect()
}

/// A file's text from its begin on; these have less than a page.
fn text(file: &File) -> Option<String> {
    let mut bytes = [0; 4096];
    let len = file.read_at(&mut bytes, 0).ok()?;
    Some(String::from_utf8_lossy(&bytes[..len]).into_owned())
}

/// The trace clock, up to a microsecond later.
fn now(clock: &File) -> Option<u64> {
    trace_clock(&text(clock)?)
}
