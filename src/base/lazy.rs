//! Lazily loaded bytes: megabytes of symbols and types, unused by most reports.

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

/// Bytes that could not be loaded: the error of the part that loads them.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct LoadError(Box<dyn Error + Send + Sync>);

type Load = Box<dyn FnOnce() -> Result<Vec<u8>, LoadError> + Send>;

/// Lazily loaded section data (kallsyms, BTF): loaded once, at first use, on the thread that asks. Clones share the
/// bytes.
#[derive(Clone, Default)]
pub struct LazyBytes(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// False if there was nothing to load from the start.
    is_there: bool,
    loaded: OnceLock<Result<Vec<u8>, LoadError>>,
    load: Mutex<Option<Load>>,
    asked: AtomicBool,
}

impl LazyBytes {
    /// Bytes that `load` returns at first use.
    pub fn new<E: Error + Send + Sync + 'static>(load: impl FnOnce() -> Result<Vec<u8>, E> + Send + 'static) -> Self {
        let load: Load = Box::new(|| load().map_err(|error| LoadError(error.into())));
        LazyBytes(Arc::new(Inner { is_there: true, load: Mutex::new(Some(load)), ..Inner::default() }))
    }

    fn load(&self) -> Result<&[u8], &LoadError> {
        let loaded = self.0.loaded.get_or_init(|| {
            let load = self.0.load.lock().unwrap_or_else(PoisonError::into_inner).take();
            load.map_or_else(|| Ok(Vec::new()), |load| load())
        });
        loaded.as_deref()
    }

    /// The bytes, loaded if they are not yet.
    ///
    /// # Errors
    /// The error of loading them, each time.
    #[inline]
    pub fn get(&self) -> Result<&[u8], &LoadError> {
        if !self.0.asked.load(Ordering::Relaxed) {
            self.0.asked.store(true, Ordering::Relaxed); // once only: threads share its cache line
        }
        self.load()
    }

    /// The error of loading them, if somebody called [`LazyBytes::get`]; prefetching does not count. For callers that
    /// take unreadable bytes for empty ones and report the error once, at the end.
    pub fn error(&self) -> Option<&LoadError> {
        let asked = self.0.asked.load(Ordering::Relaxed);
        self.0.loaded.get().filter(|_| asked)?.as_ref().err()
    }

    /// True if there is something to load, or to show: a section, however empty.
    pub fn is_there(&self) -> bool {
        self.0.is_there
    }

    /// Loads them now.
    ///
    /// # Errors
    /// The error of loading them. They are empty from then on.
    pub fn force(&mut self) -> Result<(), LoadError> {
        if self.load().is_ok() {
            return Ok(());
        }
        let failed = std::mem::take(&mut self.0);
        let loaded = Arc::into_inner(failed).and_then(|inner| inner.loaded.into_inner());
        loaded.map_or(Ok(()), |loaded| loaded.map(drop))
    }

    /// Starts loading on a background thread; a no-op if none can be spawned.
    pub fn prefetch(&self) {
        let bytes = self.clone();
        let _ = thread::Builder::new().spawn(move || bytes.load().is_ok());
    }
}

impl From<Vec<u8>> for LazyBytes {
    fn from(bytes: Vec<u8>) -> Self {
        LazyBytes(Arc::new(Inner { is_there: true, loaded: OnceLock::from(Ok(bytes)), ..Inner::default() }))
    }
}

impl fmt::Debug for LazyBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.loaded.get() {
            None => f.write_str("LazyBytes(not loaded)"),
            Some(Ok(bytes)) => write!(f, "LazyBytes({} bytes)", bytes.len()),
            Some(Err(error)) => write!(f, "LazyBytes({error})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaded_once_at_first_use() {
        let counted = Arc::new(Mutex::new(0));
        let count = counted.clone();
        let lazy = LazyBytes::new(move || {
            *count.lock().unwrap() += 1;
            Ok::<_, fmt::Error>(vec![1, 2])
        });
        let copy = lazy.clone();
        assert_eq!(*counted.lock().unwrap(), 0);
        lazy.prefetch();
        assert_eq!((lazy.get().unwrap(), copy.get().unwrap()), (&[1, 2][..], &[1, 2][..]));
        assert_eq!(*counted.lock().unwrap(), 1);
        assert!(lazy.error().is_none());
        assert!(lazy.is_there() && !LazyBytes::default().is_there());
    }

    #[test]
    fn errors_are_kept_for_who_asks() {
        let failing = || LazyBytes::new(|| Err(fmt::Error));
        let lazy = failing();
        lazy.prefetch();
        while lazy.0.loaded.get().is_none() {
            thread::yield_now();
        }
        assert!(lazy.error().is_none(), "not asked yet");
        assert!(lazy.get().is_err() && lazy.get().is_err());
        assert!(lazy.error().is_some());
        let mut lazy = failing();
        assert!(lazy.force().is_err());
        assert!(lazy.get().unwrap().is_empty() && lazy.error().is_none());
    }
}
