//! Number of requests at a device, over time.

use super::report::DepthTimes;
use std::collections::VecDeque;

/// Changes that wait for the end of a request before them. Where there are more the oldest request counts as one without an end.
const MOST_CHANGES: usize = 1 << 16;

/// Number of requests at a device, over time: of all, and of those alone that were seen to leave it.
#[derive(Clone, Debug)]
pub(super) struct QueueDepth {
    all: DepthLine,
    ended: DepthLine,
    /// What happened since the issue of the oldest request that is at the device.
    changes: VecDeque<DepthChange>,
    /// Number of changes that were taken from the front.
    taken: u64,
    /// Requests that were not seen to leave, but for the oldest of too many.
    endless: u64,
}

/// Time with each number of requests.
#[derive(Clone, Debug)]
struct DepthLine {
    now: usize,
    since: u64,
    times: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct DepthChange {
    at: u64,
    kind: DepthStep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DepthStep {
    /// A request was issued; it is at the device.
    Issued,
    /// One was issued that has left meanwhile.
    Came,
    /// One was issued of which the end is missing.
    Endless,
    /// One of those that came left.
    Left,
}

/// A request at a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtDevice {
    /// When it was issued.
    pub(super) since: u64,
    /// Number of the change.
    change: u64,
}

impl DepthLine {
    fn change(&mut self, by: isize, at: u64) {
        if self.times.len() <= self.now {
            self.times.resize(self.now + 1, 0);
        }
        if let Some(time) = self.times.get_mut(self.now) {
            *time = time.saturating_add(at.saturating_sub(self.since));
        }
        (self.now, self.since) = (self.now.saturating_add_signed(by), at);
    }
}

impl QueueDepth {
    /// Of a device whose first event is `at` this time.
    pub(super) fn new(at: u64) -> Self {
        let none = DepthLine { now: 0, since: at, times: Vec::new() };
        QueueDepth { all: none.clone(), ended: none, changes: VecDeque::new(), taken: 0, endless: 0 }
    }

    /// A request comes to the device.
    pub(super) fn issue(&mut self, at: u64) -> AtDevice {
        self.all.change(1, at);
        let change = self.taken + self.changes.len() as u64;
        self.changes.push_back(DepthChange { at, kind: DepthStep::Issued });
        if self.changes.len() > MOST_CHANGES {
            self.decide(self.taken, DepthStep::Endless);
        }
        AtDevice { since: at, change }
    }

    /// It leaves the device.
    pub(super) fn leave(&mut self, request: AtDevice, at: u64) {
        self.all.change(-1, at);
        if request.change >= self.taken {
            self.changes.push_back(DepthChange { at, kind: DepthStep::Left });
            self.decide(request.change, DepthStep::Came);
        }
    }

    /// It is no longer there, and nothing says since when.
    pub(super) fn give_up(&mut self, request: AtDevice, at: u64) {
        self.all.change(-1, at);
        self.endless += 1;
        if request.change >= self.taken {
            self.decide(request.change, DepthStep::Endless);
        }
    }

    fn decide(&mut self, change: u64, kind: DepthStep) {
        if let Some(change) = self.changes.get_mut((change - self.taken) as usize) {
            change.kind = kind;
        }
        while let Some(DepthChange { at, kind }) =
            self.changes.front().copied().filter(|one| one.kind != DepthStep::Issued)
        {
            match kind {
                DepthStep::Came => self.ended.change(1, at),
                DepthStep::Left => self.ended.change(-1, at),
                DepthStep::Issued | DepthStep::Endless => {}
            }
            self.changes.pop_front();
            self.taken += 1;
        }
    }

    /// Time with each number of requests up to `end`: of those that were seen to leave, and of all. All requests have left, or were
    /// given up.
    pub(super) fn until(mut self, end: u64) -> (DepthTimes, DepthTimes) {
        self.all.change(0, end);
        self.ended.change(0, end);
        let [all, ended] = [self.all, self.ended].map(|line| DepthTimes::new(line.times));
        if self.endless == 0 { (all.clone(), all) } else { (ended, all) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_without_an_end_are_in_one_of_two_depths() {
        let mut depth = QueueDepth::new(0);
        let lost = depth.issue(10);
        let first = depth.issue(20);
        let second = depth.issue(25);
        depth.leave(first, 30);
        depth.leave(second, 50);
        depth.give_up(lost, 100);
        let (ended, all) = depth.until(100);
        assert_eq!(ended.times(), [70, 25, 5]);
        assert_eq!(all.times(), [10, 60, 25, 5]);
    }

    #[test]
    fn with_an_end_of_each_there_is_one_depth() {
        let mut depth = QueueDepth::new(0);
        let oldest = depth.issue(10);
        for at in 0..MOST_CHANGES as u64 {
            let one = depth.issue(20 + 2 * at);
            depth.leave(one, 21 + 2 * at);
        }
        assert!(depth.changes.len() < 10);
        let end = 20 + 2 * MOST_CHANGES as u64;
        depth.leave(oldest, end);
        let (ended, all) = depth.until(end + 5);
        assert_eq!(ended, all);
        assert_eq!(all.times(), [15, 10 + MOST_CHANGES as u64, MOST_CHANGES as u64]);
    }
}
