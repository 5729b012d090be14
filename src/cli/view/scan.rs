//! Work in the background: the pyramid of the recording, that of the filter, and the window if it is finer than both.

use super::chosen_events::ChosenEvents;
use super::model::Model;
use super::pyramid::Pyramid;
use super::source::ViewSource;
use crate::cli::exit::Failure;
use rtrace::analysis::StripScale;
use rtrace::units::Pid;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A window to be decoded.
#[derive(Clone)]
pub(super) struct WantedWindow {
    pub(super) scale: StripScale,
    pub(super) filter: Option<(String, ChosenEvents)>,
    pub(super) pins: Vec<Pid>,
}

impl PartialEq for WantedWindow {
    fn eq(&self, other: &Self) -> bool {
        let text = |of: &Self| of.filter.as_ref().map(|(text, _)| text.clone());
        (self.scale, &self.pins, text(self)) == (other.scale, &other.pins, text(other))
    }
}

/// Work that a thread does while the user looks, and what came of it.
pub(super) struct ViewScan {
    pub(super) whole: Pyramid,
    matches: Mutex<Option<Arc<Pyramid>>>,
    wanted: Mutex<Option<WantedWindow>>,
    found: Mutex<Option<(WantedWindow, Model)>>,
    near: AtomicU64,
    /// Rises with each result.
    version: AtomicU64,
    /// True once there is a first picture, which has the machine to itself.
    is_begun: AtomicBool,
    is_over: AtomicBool,
    error: Mutex<Option<String>>,
}

impl ViewScan {
    pub(super) fn new(source: &ViewSource<'_>) -> Self {
        ViewScan {
            whole: Pyramid::new(source, None),
            matches: Mutex::default(),
            wanted: Mutex::default(),
            found: Mutex::default(),
            near: AtomicU64::new(source.begin),
            version: AtomicU64::new(0),
            is_begun: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            error: Mutex::default(),
        }
    }

    /// Works until [`ViewScan::end`], or an error.
    pub(super) fn run(&self, source: &ViewSource<'_>) {
        while !self.is_over.load(Ordering::Relaxed) {
            if !self.is_begun.load(Ordering::Relaxed) {
                thread::park_timeout(Duration::from_millis(2));
                continue;
            }
            match self.work(source) {
                Ok(true) => {}
                Ok(false) => thread::park_timeout(Duration::from_millis(20)),
                Err(failure) => {
                    *lock(&self.error) = Some(failure.text());
                    self.version.fetch_add(1, Ordering::Release);
                    return;
                }
            }
        }
    }

    /// Does one piece of work; false if there is none.
    pub(super) fn work(&self, source: &ViewSource<'_>) -> Result<bool, Failure> {
        let near = self.near.load(Ordering::Relaxed);
        let wanted = lock(&self.wanted).take();
        let matches = lock(&self.matches).clone();
        let done = if let Some(wanted) = wanted {
            let mut model = Model::exact(source, wanted.scale)?;
            model.add_all(source, wanted.filter.as_ref().map(|(_, filter)| filter), &wanted.pins)?;
            *lock(&self.found) = Some((wanted, model));
            true
        } else if let Some(matches) = matches.filter(|matches| matches.percent() < 100) {
            matches.work(source, near)?
        } else {
            self.whole.work(source, near)?
        };
        if done {
            self.version.fetch_add(1, Ordering::Release);
        }
        Ok(done)
    }

    /// Has it work from now on.
    pub(super) fn begin(&self) {
        self.is_begun.store(true, Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The moment whose surroundings are decoded first.
    pub(super) fn look_at(&self, near: u64) {
        self.near.store(near, Ordering::Relaxed);
    }

    /// The pyramid of the filter that is looked for from now on.
    pub(super) fn search(&self, matches: Option<Arc<Pyramid>>) {
        *lock(&self.matches) = matches;
    }

    /// The window, if it is decoded; else it will be.
    pub(super) fn window(&self, wanted: &WantedWindow) -> Option<Model> {
        let mut found = lock(&self.found);
        if found.as_ref().is_some_and(|(of, _)| of == wanted) {
            return found.take().map(|(_, model)| model);
        }
        *lock(&self.wanted) = Some(wanted.clone());
        None
    }

    /// The error that ended the work.
    pub(super) fn error(&self) -> Option<String> {
        lock(&self.error).take()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
