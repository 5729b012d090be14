//! Settings of the recorded buffers that others change meanwhile.
//!
//! inotify(7) tells of every write to their files, so that nothing is asked while nobody writes. Changes that the kernel makes by
//! itself, as by a `traceoff` trigger of somebody else's, are found at the end.

use super::setup::SetUpBuffer;
use crate::control::tracefs::{EventName, Instance};
use crate::file::trace_dat::SettingChange;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::collections::BTreeSet;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};

/// Of more events than this only the files of whole systems are watched: a watch holds an inode.
const MOST_EVENTS: usize = 64;

/// The content of a file when tracing was switched on, and the first other one since.
#[derive(Debug)]
struct WatchedSetting {
    file: String,
    value: String,
    changed: Option<String>,
    /// A list of tasks that the kernel or the recorder itself adds tasks to, and that loses those that end.
    follows: bool,
}

impl WatchedSetting {
    fn is_as_before(&self, now: &str) -> bool {
        if !self.follows {
            return self.value == now;
        }
        let listed: BTreeSet<&str> = now.split(' ').collect();
        self.value.split(' ').all(|task| listed.contains(task) || !runs(task))
    }
}

/// True if the task with this id has not begun to end. The kernel takes it off its lists after that, and before it is gone.
fn runs(task: &str) -> bool {
    const PF_EXITING: u32 = 4; // include/linux/sched.h
    let flags = || {
        let stat = fs::read_to_string(format!("/proc/{task}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(6)?.parse::<u32>().ok()
    };
    !task.is_empty() && flags().is_some_and(|flags| flags & PF_EXITING == 0)
}

/// Settings of one buffer.
#[derive(Debug)]
struct BufferSettings {
    settings: Vec<WatchedSetting>,
    /// Events that are enabled, as far as no trigger of the plan switches them.
    enabled: Vec<EventName>,
    /// Those that were found disabled.
    disabled: BTreeSet<EventName>,
}

/// The settings of all buffers of a recording.
#[derive(Debug)]
pub(super) struct SettingsWatch {
    buffers: Vec<BufferSettings>,
    /// Readable when one of the files was written; `None` if the system has no more watches.
    writes: Option<Inotify>,
}

impl SettingsWatch {
    /// Settings as they are now: to be called when tracing is on.
    pub(super) fn of(buffers: &[SetUpBuffer]) -> Self {
        let writes = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok();
        let settings = |buffer: &SetUpBuffer| {
            if let Some(writes) = &writes {
                for file in watched(buffer) {
                    // One without a watch is compared when another is written, and at the end.
                    let _ = writes.add_watch(&buffer.instance.path(&file), AddWatchFlags::IN_MODIFY);
                }
            }
            BufferSettings::of(buffer)
        };
        SettingsWatch { buffers: buffers.iter().map(settings).collect(), writes }
    }

    /// Readable when a file was written.
    pub(super) fn writes(&self) -> Option<BorrowedFd<'_>> {
        self.writes.as_ref().map(AsFd::as_fd)
    }

    /// Compares what is there with what was, if a file was written since the last look.
    pub(super) fn look(&mut self, buffers: &[SetUpBuffer]) {
        if self.writes.as_ref().is_some_and(|writes| writes.read_events().is_ok()) {
            self.compare(buffers);
        }
    }

    /// Compares what is there with what was: for the last time before tracing is switched off.
    pub(super) fn compare(&mut self, buffers: &[SetUpBuffer]) {
        let all = buffers.iter().zip(&mut self.buffers);
        all.for_each(|(buffer, settings)| settings.compare(&buffer.instance));
    }

    /// The changes of each buffer.
    pub(super) fn changes(&self) -> Vec<Vec<SettingChange>> {
        self.buffers.iter().map(BufferSettings::changes).collect()
    }
}

impl BufferSettings {
    fn of(buffer: &SetUpBuffer) -> Self {
        let instance = &buffer.instance;
        let set = |file: String, follows: bool| {
            Some(WatchedSetting { value: instance.setting(&file).ok()?, file, changed: None, follows })
        };
        let follows = buffer.coverage.follows_forks() || buffer.is_told_of_threads;
        let lists = instance.task_lists().into_iter().filter_map(|file| set(file, follows));
        let others = instance.settings(buffer.switches).into_iter().filter_map(|file| set(file, false));
        let mut settings: Vec<WatchedSetting> = others.chain(lists).collect();
        settings.extend(buffer.wanted.iter().filter_map(|event| {
            let file = event.file("filter");
            let value = buffer.filter_of(event).or_else(|| instance.setting(&file).ok())?;
            Some(WatchedSetting { file, value, changed: None, follows: false })
        }));
        let there = if buffer.switches { Vec::new() } else { instance.enabled_events().unwrap_or_default() };
        let enabled = buffer.wanted.iter().filter(|event| there.binary_search(event).is_ok()).cloned().collect();
        BufferSettings { settings, enabled, disabled: BTreeSet::new() }
    }

    fn compare(&mut self, instance: &Instance) {
        for setting in self.settings.iter_mut().filter(|setting| setting.changed.is_none()) {
            setting.changed = instance.setting(&setting.file).ok().filter(|now| !setting.is_as_before(now));
        }
        if let (false, Ok(now)) = (self.enabled.is_empty(), instance.enabled_events()) {
            let gone = self.enabled.iter().filter(|event| now.binary_search(event).is_err());
            self.disabled.extend(gone.cloned());
        }
    }

    fn changes(&self) -> Vec<SettingChange> {
        let change = |setting: &WatchedSetting| {
            let (file, from, to) = (setting.file.clone(), setting.value.clone(), setting.changed.clone()?);
            Some(SettingChange { file, from, to })
        };
        let disabled = |event: &EventName| {
            let [from, to] = ["1", "0"].map(str::to_owned);
            SettingChange { file: event.file("enable"), from, to }
        };
        self.settings.iter().filter_map(change).chain(self.disabled.iter().map(disabled)).collect()
    }
}

fn of_instance(buffer: &SetUpBuffer) -> Vec<String> {
    [buffer.instance.settings(buffer.switches), buffer.instance.task_lists()].concat()
}

/// The files to watch.
fn watched(buffer: &SetUpBuffer) -> Vec<String> {
    let few = if buffer.wanted.len() <= MOST_EVENTS { buffer.wanted.as_slice() } else { &[] };
    let of_events = few.iter().flat_map(|event| ["enable", "filter"].map(|file| event.file(file)));
    of_instance(buffer).into_iter().chain(buffer.instance.settings_of_many(&buffer.wanted)).chain(of_events).collect()
}
