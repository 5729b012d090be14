//! Saves while a recording goes on: who asks for them, and when they are made.
//!
//! SIGUSR2 asks for one at once, another process at the recorder's [door](SaveDoor), and a find of a sentry (`--stop-if` with
//! `--keep-going`) for one a while later. Finds that come until then belong to that save, so that there is one at a time.
//! A [rotation](Rotation) asks for one after the other.

use super::limits::{Rotate, SavedUntil};
use super::plan::SavePlan;
use super::save_door::SaveDoor;
use super::saver::{BufferNow, Save, SaveFrom, SaveJob, SaveTo, SavedFor, Saver, SavesMade};
use super::stop::Arrived;
use crate::file::trace_dat::OptionId;
use crossbeam_channel::{Receiver, Sender, unbounded};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::Signal;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The saves that a summary lists; their number goes on.
const LISTED: usize = 1024;

/// All that asks for saves, and the thread that makes them.
pub(super) struct Saves<'scope> {
    plan: SavePlan,
    jobs: Option<Sender<SaveJob>>,
    done: Receiver<(SavedFor, Save)>,
    finds: Receiver<Find>,
    to_find: Sender<Find>,
    /// Readable when a save is done or a sentry has found something.
    news: Arc<EventFd>,
    door: Option<SaveDoor>,
    /// Causes of the next save, and when it is to be made.
    due: Option<DueSave>,
    signalled: bool,
    rotation: Option<Rotation>,
    /// Saves of finds that are being made.
    running: usize,
    thread: Option<ScopedJoinHandle<'scope, Duration>>,
    made: SavesMade,
    /// The last file of a rotation failed: its part is in the recording alone.
    rotation_failed: bool,
}

/// A sentry's find in words, and how many more there were with it.
type Find = (String, u64);

struct DueSave {
    at: Instant,
    cause: String,
    more: u64,
}

/// The recording at the moment when a save is asked for.
pub(super) struct RecordingNow {
    /// Options about it.
    pub(super) options: Vec<(OptionId, Vec<u8>)>,
    /// The buffers, in the order of the file.
    pub(super) buffers: Vec<BufferNow>,
}

/// The end of a sentry that goes on.
#[derive(Clone)]
pub(super) struct Finds {
    to: Sender<Find>,
    news: Arc<EventFd>,
}

impl Finds {
    /// Tells of one, and how many came with it.
    pub(super) fn tell(&self, find: String, more: u64) {
        let _ = self.to.send((find, more));
        let _ = self.news.write(1);
    }
}

impl<'scope> Saves<'scope> {
    /// Starts the thread. Without a door nobody but signals and sentries can ask. `saved` learns what a rotation has put
    /// into files.
    ///
    /// # Errors
    /// If the kernel has no descriptor or thread left.
    pub(super) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        saver: Saver,
        plan: SavePlan,
        saved: &Arc<SavedUntil>,
    ) -> io::Result<Self> {
        let (jobs, to_make) = unbounded::<SaveJob>();
        let (made, done) = unbounded();
        let (to_find, finds) = unbounded();
        let news = Arc::new(EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?);
        let tell = Arc::clone(&news);
        let thread = Builder::new().name("rtrace/save".to_owned());
        let thread = thread.spawn_scoped(scope, move || {
            saver.run(to_make, |by, save| {
                let _ = made.send((by, save));
                let _ = tell.write(1);
            })
        })?;
        Ok(Saves {
            plan,
            jobs: Some(jobs),
            done,
            finds,
            to_find,
            news,
            door: SaveDoor::open().ok(),
            due: None,
            signalled: false,
            rotation: plan.rotate.map(|each| Rotation::new(each, Arc::clone(saved))),
            running: 0,
            thread: Some(thread),
            made: SavesMade::default(),
            rotation_failed: false,
        })
    }

    /// Recording begins at `since`, which the times of a rotation count from.
    pub(super) fn begin_at(&mut self, since: Instant) {
        if let Some(rotation) = &mut self.rotation {
            rotation.begin_at(since);
        }
    }

    /// For a sentry that is to go on; `None` if its first find ends the recording.
    pub(super) fn finds(&self) -> Option<Finds> {
        self.plan.keep_going.then(|| Finds { to: self.to_find.clone(), news: Arc::clone(&self.news) })
    }

    /// True if the signal asks for a save.
    pub(super) fn takes(&mut self, arrived: &Arrived) -> bool {
        let is_ours = arrived.number == Signal::SIGUSR2 as i32;
        self.signalled |= is_ours;
        is_ours
    }

    /// Readable when there is something to [look](Saves::look) at.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [Some(self.news.as_fd()), self.door.as_ref().map(AsFd::as_fd)].into_iter().flatten()
    }

    /// When the next save is to be made.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let of_rotation = self.rotation.as_ref().and_then(Rotation::deadline);
        [self.due_at(), of_rotation].into_iter().flatten().min()
    }

    fn due_at(&self) -> Option<Instant> {
        self.due.as_ref().filter(|_| self.running == 0).map(|due| due.at)
    }

    /// Begins the saves that are asked for; `now` gives the recording, of which `written` bytes are in the spools. Hands
    /// those that are done to `done`.
    pub(super) fn look(&mut self, written: u64, mut now: impl FnMut() -> RecordingNow, done: impl FnMut(&Save)) {
        let _ = self.news.read();
        self.take_done(done);
        while let Ok((find, more)) = self.finds.try_recv() {
            match &mut self.due {
                Some(due) => due.more += 1 + more,
                None => self.due = Some(DueSave { at: Instant::now() + self.plan.after, cause: find, more }),
            }
        }
        if std::mem::take(&mut self.signalled) {
            self.begin(SaveTo::Beside, SavedFor::Signal, self.last(), ("SIGUSR2".to_owned(), 0), now());
        }
        while let Some(request) = self.door.as_ref().and_then(SaveDoor::request) {
            let cause = format!("process {}", request.pid);
            let from = request.last.map_or(SaveFrom::All, SaveFrom::Last);
            self.begin(SaveTo::Open(request.file, request.answer), SavedFor::Asker, from, (cause, 0), now());
        }
        if self.due_at().is_some_and(|at| at <= Instant::now()) {
            self.begin_due(now());
        }
        if self.rotation.as_ref().is_some_and(|rotation| rotation.is_due(written)) {
            self.rotate(written, now);
        }
    }

    fn begin_due(&mut self, now: RecordingNow) {
        if let Some(DueSave { cause, more, .. }) = self.due.take() {
            self.running += 1;
            self.begin(SaveTo::Beside, SavedFor::Find, self.last(), (cause, more), now);
        }
    }

    fn last(&self) -> SaveFrom {
        self.plan.last.map_or(SaveFrom::All, SaveFrom::Last)
    }

    fn rotate(&mut self, written: u64, mut now: impl FnMut() -> RecordingNow) {
        let (asked, now) = (Instant::now(), now());
        let ends = now.buffers.iter().map(|buffer| buffer.time.unwrap_or(0)).collect();
        let from = self.rotation.as_mut().map(|rotation| rotation.begin(asked, written, ends));
        if let Some(from) = from {
            self.begin(SaveTo::Beside, SavedFor::Rotation, from, ("--rotate".to_owned(), 0), now);
        }
    }

    fn begin(&self, to: SaveTo, by: SavedFor, from: SaveFrom, (cause, more): (String, u64), now: RecordingNow) {
        let RecordingNow { options, buffers } = now;
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(SaveJob { to, by, from, cause, more, options, buffers });
        }
    }

    fn take_done(&mut self, mut done: impl FnMut(&Save)) {
        while let Ok((by, save)) = self.done.try_recv() {
            self.note(by, save, &mut done);
        }
    }

    fn note(&mut self, by: SavedFor, save: Save, done: &mut dyn FnMut(&Save)) {
        match (by, &mut self.rotation) {
            (SavedFor::Find, _) => self.running = self.running.saturating_sub(1),
            (SavedFor::Rotation, Some(rotation)) => {
                rotation.end(save.error.is_none());
                self.rotation_failed = save.error.is_some();
            }
            _ => {}
        }
        done(&save);
        let made = &mut self.made;
        made.all += 1;
        if save.error.is_some() {
            made.failed += 1;
            made.untold += u64::from(matches!(by, SavedFor::Signal | SavedFor::Find));
        }
        if made.latest.len() == LISTED {
            made.latest.remove(0);
        }
        made.latest.push(save);
    }

    /// Makes what is due or asked for and a rotation's last file, and waits for them: the last things while the draining
    /// threads can be asked. Gives the saves and the thread's CPU time.
    pub(super) fn finish(
        mut self,
        written: u64,
        mut now: impl FnMut() -> RecordingNow,
        mut done: impl FnMut(&Save),
    ) -> (SavesMade, Duration) {
        self.look(written, &mut now, &mut done);
        if self.due.is_some() {
            self.begin_due(now());
        }
        while self.rotation.as_ref().is_some_and(Rotation::is_making)
            && let Ok((by, save)) = self.done.recv()
        {
            self.note(by, save, &mut done);
        }
        self.rotate(written, &mut now);
        self.jobs = None;
        let time =
            self.thread.take().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        self.take_done(done);
        self.made.untold += u64::from(self.rotation_failed);
        (self.made, time.unwrap_or_default())
    }
}

// `--rotate`: files that follow each other without a gap, while one recording goes on.
//
// Each is a save that begins where the one before it ended. A save that fails leaves its part to the next one.

/// Time between two looks at how much was recorded.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Time before a save was asked for to which everything is in it for certain.
const MARGIN: Duration = Duration::from_millis(10);

/// The files so far.
#[derive(Debug)]
struct Rotation {
    each: Rotate,
    since: Instant,
    /// Bytes that had been written to the spools when the last file was begun.
    written: u64,
    /// The end of the last one in each buffer.
    from: Vec<u64>,
    making: Option<Making>,
    saved: Arc<SavedUntil>,
}

#[derive(Debug)]
struct Making {
    asked: Instant,
    ends: Vec<u64>,
}

impl Rotation {
    /// Before the first; `saved` learns what is in files.
    pub(super) fn new(each: Rotate, saved: Arc<SavedUntil>) -> Self {
        Rotation { each, since: Instant::now(), written: 0, from: Vec::new(), making: None, saved }
    }

    /// The first file begins at `since`.
    fn begin_at(&mut self, since: Instant) {
        self.since = since;
    }

    /// The next look at whether a file is due.
    fn deadline(&self) -> Option<Instant> {
        match self.each {
            _ if self.making.is_some() => None,
            Rotate::Every(time) => Some(self.since + time),
            Rotate::Size(_) => Some(Instant::now() + LOOK_EVERY),
        }
    }

    /// True while a file is being made.
    fn is_making(&self) -> bool {
        self.making.is_some()
    }

    /// True if a file is due when `written` bytes have been given to the spools.
    fn is_due(&self, written: u64) -> bool {
        self.making.is_none()
            && match self.each {
                Rotate::Every(time) => self.since.elapsed() >= time,
                Rotate::Size(size) => written.saturating_sub(self.written) >= size.0,
            }
    }

    /// Begins a file that ends at `ends` of the buffers' clocks, which were read after `asked`.
    fn begin(&mut self, asked: Instant, written: u64, ends: Vec<u64>) -> SaveFrom {
        // On the grid of the times, whatever a save takes.
        self.since = match self.each {
            Rotate::Every(time) if self.since + 2 * time > asked => self.since + time,
            _ => asked,
        };
        self.written = written;
        self.making = Some(Making { asked, ends });
        SaveFrom::Times(self.from.clone())
    }

    /// The file that was begun is made, or failed.
    pub(super) fn end(&mut self, made: bool) {
        if let Some(Making { asked, ends }) = self.making.take()
            && made
        {
            self.from = ends;
            self.saved.set(asked.checked_sub(MARGIN).unwrap_or(asked));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::ByteSize;

    #[test]
    fn a_file_begins_where_the_last_one_that_was_made_ends() {
        let saved = Arc::new(SavedUntil::default());
        let mut files = Rotation::new(Rotate::Size(ByteSize(100)), Arc::clone(&saved));
        assert!(!files.is_due(99) && files.is_due(100));
        let asked = Instant::now() + Duration::from_secs(1);
        assert_eq!(files.begin(asked, 100, vec![7, 8]), SaveFrom::Times(vec![]));
        assert!(!files.is_due(1000), "one at a time");
        files.end(true);
        assert!(saved.reaches(asked - MARGIN) && !saved.reaches(asked));
        assert!(!files.is_due(199) && files.is_due(200));
        assert_eq!(files.begin(asked, 200, vec![9, 9]), SaveFrom::Times(vec![7, 8]));
        files.end(false);
        assert_eq!(files.begin(asked, 300, vec![10, 10]), SaveFrom::Times(vec![7, 8]), "that one failed");
    }
}
