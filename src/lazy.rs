//! Lazily loaded bytes: megabytes of symbols and types, unused by most reports.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

type Load<E> = Box<dyn FnOnce() -> Result<Vec<u8>, E> + Send>;

/// Lazily loaded section data (kallsyms, BTF): loaded once, at first use, on the thread that asks. Clones share the
/// bytes.
pub struct LazyBytes<E>(Arc<Inner<E>>);

struct Inner<E> {
    /// False if there was nothing to load from the start.
    is_there: bool,
    loaded: OnceLock<Result<Vec<u8>, E>>,
    load: Mutex<Option<Load<E>>>,
    asked: AtomicBool,
}

impl<E> LazyBytes<E> {
    /// Bytes that `load` returns at first use.
    pub fn new(load: impl FnOnce() -> Result<Vec<u8>, E> + Send + 'static) -> Self {
        LazyBytes(Arc::new(Inner { is_there: true, load: Mutex::new(Some(Box::new(load))), ..Inner::default() }))
    }

    fn load(&self) -> Result<&[u8], &E> {
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
    pub fn get(&self) -> Result<&[u8], &E> {
        if !self.0.asked.load(Ordering::Relaxed) {
            self.0.asked.store(true, Ordering::Relaxed); // once only: threads share its cache line
        }
        self.load()
    }

    /// The error of loading them, if somebody called [`LazyBytes::get`]; prefetching does not count. For callers that
    /// take unreadable bytes for empty ones and report the error once, at the end.
    pub fn error(&self) -> Option<&E> {
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
    pub fn force(&mut self) -> Result<(), E> {
        if self.load().is_ok() {
            return Ok(());
        }
        let failed = std::mem::take(&mut self.0);
        let loaded = Arc::into_inner(failed).and_then(|inner| inner.loaded.into_inner());
        loaded.map_or(Ok(()), |loaded| loaded.map(drop))
    }
}

impl<E: Send + Sync + 'static> LazyBytes<E> {
    /// Starts loading on a background thread; a no-op if none can be spawned.
    pub fn prefetch(&self) {
        let bytes = self.clone();
        let _ = thread::Builder::new().spawn(move || bytes.load().is_ok());
    }
}

impl<E> Default for Inner<E> {
    fn default() -> Self {
        Inner { is_there: false, loaded: OnceLock::new(), load: Mutex::default(), asked: AtomicBool::new(false) }
    }
}

impl<E> Default for LazyBytes<E> {
    fn default() -> Self {
        LazyBytes(Arc::default())
    }
}

impl<E> Clone for LazyBytes<E> {
    fn clone(&self) -> Self {
        LazyBytes(self.0.clone())
    }
}

impl<E> From<Vec<u8>> for LazyBytes<E> {
    fn from(bytes: Vec<u8>) -> Self {
        LazyBytes(Arc::new(Inner { is_there: true, loaded: OnceLock::from(Ok(bytes)), ..Inner::default() }))
    }
}

impl<E: fmt::Display> fmt::Debug for LazyBytes<E> {
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
        let lazy: LazyBytes<String> = LazyBytes::new(move || {
            *count.lock().unwrap() += 1;
            Ok(vec![1, 2])
        });
        let copy = lazy.clone();
        assert_eq!(*counted.lock().unwrap(), 0);
        lazy.prefetch();
        assert_eq!((lazy.get().unwrap(), copy.get().unwrap()), (&[1, 2][..], &[1, 2][..]));
        assert_eq!(*counted.lock().unwrap(), 1);
        assert!(lazy.error().is_none());
        assert!(lazy.is_there() && !LazyBytes::<String>::default().is_there());
    }

    #[test]
    fn errors_are_kept_for_who_asks() {
        let failing = || LazyBytes::new(|| Err("damaged".to_owned()));
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
