//! A CPU: what runs on it, and how many tasks wait for it.

use super::spans::CpuLog;
use crate::answer::analysis::{CellPlan, Cells};
use crate::base::units::Pid;

/// A CPU while it is followed.
#[derive(Clone, Debug)]
pub(super) struct CpuTimes {
    /// The task on it; 0 is its idle task; `None` if that is not known.
    pub(super) current: Option<Pid>,
    since: u64,
    /// True if the task on it is another one.
    is_doubted: bool,
    /// The time of its last event.
    pub(super) seen: u64,
    pub(super) busy: u64,
    pub(super) busy_cells: Option<Cells>,
    pub(super) idle: u64,
    pub(super) unknown: u64,
    /// Idle while at least one task waited for any CPU.
    pub(super) idle_while_waited: u64,
    waited_before: u64,
    pub(super) switches: u64,
    pub(super) wakeups: u64,
    waiting: usize,
    waiting_since: u64,
    /// Time (ns) by the number of tasks waiting for the CPU: the index is that number.
    pub(super) lengths: Vec<u64>,
    /// Its spans, if they are kept.
    pub(super) log: Option<Box<CpuLog>>,
}

impl CpuTimes {
    pub(super) fn new(at: u64, plan: Option<CellPlan>) -> Self {
        CpuTimes {
            current: None,
            since: at,
            is_doubted: false,
            seen: at,
            busy: 0,
            busy_cells: plan.map(Cells::new),
            idle: 0,
            unknown: 0,
            idle_while_waited: 0,
            waited_before: 0,
            switches: 0,
            wakeups: 0,
            waiting: 0,
            waiting_since: at,
            lengths: Vec::new(),
            log: None,
        }
    }

    /// Keeps what it runs as intervals, if there is something to keep them.
    pub(super) fn logging(self, log: Option<Box<CpuLog>>) -> Self {
        CpuTimes { log, ..self }
    }

    /// From `at` on `task` runs; `waited` is the time so far in which any task waited. (Where events were lost, `at` may lie
    /// before what it covers.)
    pub(super) fn run(&mut self, task: Option<Pid>, at: u64, waited: u64) {
        let lasted = at.saturating_sub(self.since);
        let current = self.current.filter(|_| !std::mem::take(&mut self.is_doubted));
        if let Some(log) = &mut self.log {
            log.end(current, self.since, at);
        }
        let time = match current {
            None => &mut self.unknown,
            Some(Pid(0)) => {
                self.idle_while_waited += waited.saturating_sub(self.waited_before).min(lasted);
                &mut self.idle
            }
            Some(_) => {
                if let Some(cells) = &mut self.busy_cells {
                    cells.spread(self.since, at);
                }
                &mut self.busy
            }
        };
        *time = time.saturating_add(lasted);
        self.since = self.since.max(at);
        self.waited_before = waited;
        self.current = task;
    }

    /// The task that seems to run on it does not: the time from the switch to it to the next switch is unknown.
    pub(super) fn doubt(&mut self) {
        self.is_doubted = true;
    }

    /// From `at` on `change` tasks more wait for it, or fewer.
    pub(super) fn wait(&mut self, change: isize, at: u64) {
        if self.lengths.len() <= self.waiting {
            self.lengths.resize(self.waiting + 1, 0);
        }
        self.lengths[self.waiting] += at.saturating_sub(self.waiting_since);
        self.waiting_since = self.waiting_since.max(at);
        self.waiting = self.waiting.saturating_add_signed(change);
    }
}
