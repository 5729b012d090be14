//! Bytes that are read when they are first asked for: megabytes of symbols and types that most reports do without.

use super::FileError;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

type Read = Box<dyn FnOnce() -> Result<Vec<u8>, FileError> + Send>;

/// Bytes that are there, or that are read at first use, from whichever thread. Empty if they cannot be read, which
/// [`Late::error`] tells. A copy shares them.
#[derive(Clone, Default)]
pub struct Late(Arc<Inner>);

#[derive(Default)]
struct Inner {
    got: OnceLock<Result<Vec<u8>, FileError>>,
    read: Mutex<Option<Read>>,
    asked: AtomicBool,
}

impl Late {
    /// What `read` gives, at first use.
    pub(super) fn new(read: impl FnOnce() -> Result<Vec<u8>, FileError> + Send + 'static) -> Self {
        Late(Arc::new(Inner { read: Mutex::new(Some(Box::new(read))), ..Inner::default() }))
    }

    fn got(&self) -> &Result<Vec<u8>, FileError> {
        self.0.got.get_or_init(|| {
            let read = self.0.read.lock().unwrap_or_else(PoisonError::into_inner).take();
            read.map_or_else(|| Ok(Vec::new()), |read| read())
        })
    }

    /// Has them read on a thread of its own meanwhile, if there can be one more.
    pub fn begin(&self) {
        let late = self.clone();
        let _ = thread::Builder::new().spawn(move || late.got().is_ok());
    }

    /// Why they could not be read, if they were asked for: [`Late::begin`] asks for nothing.
    pub fn error(&self) -> Option<&FileError> {
        let asked = self.0.asked.load(Ordering::Relaxed);
        self.0.got.get().filter(|_| asked)?.as_ref().err()
    }

    /// Has them read now.
    ///
    /// # Errors
    /// What is wrong with them; they are empty from then on, and [`Late::error`] has nothing to tell.
    pub(super) fn now(&mut self) -> Result<(), FileError> {
        if self.got().is_ok() {
            return Ok(());
        }
        let failed = std::mem::take(&mut self.0);
        let got = Arc::into_inner(failed).and_then(|inner| inner.got.into_inner());
        got.map_or(Ok(()), |got| got.map(drop))
    }
}

impl Deref for Late {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        if !self.0.asked.load(Ordering::Relaxed) {
            self.0.asked.store(true, Ordering::Relaxed); // once only: threads share what it lies beside
        }
        self.got().as_deref().unwrap_or_default()
    }
}

impl From<Vec<u8>> for Late {
    fn from(bytes: Vec<u8>) -> Self {
        Late(Arc::new(Inner { got: OnceLock::from(Ok(bytes)), ..Inner::default() }))
    }
}

impl fmt::Debug for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.got.get() {
            None => f.write_str("Late(not read yet)"),
            Some(Ok(bytes)) => write!(f, "Late({} bytes)", bytes.len()),
            Some(Err(error)) => write!(f, "Late({error})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace_dat::Place;

    #[test]
    fn read_once_when_asked_for() {
        let counted = Arc::new(Mutex::new(0));
        let count = counted.clone();
        let late = Late::new(move || {
            *count.lock().unwrap() += 1;
            Ok(vec![1, 2])
        });
        let copy = late.clone();
        assert_eq!(*counted.lock().unwrap(), 0);
        late.begin();
        assert_eq!((&*late, &*copy), (&[1, 2][..], &[1, 2][..]));
        assert_eq!(*counted.lock().unwrap(), 1);
        assert!(late.error().is_none());
    }

    #[test]
    fn what_fails_is_empty_and_told_once() {
        let failing = || {
            Late::new(|| {
                Err(FileError::Short { place: Place::Prefix, offset: 1, unpacked: false, wanted: 2, remain: 1 })
            })
        };
        let late = failing();
        late.begin();
        while late.0.got.get().is_none() {
            thread::yield_now();
        }
        assert!(late.error().is_none(), "nobody has asked yet");
        assert!(late.is_empty());
        assert!(late.error().is_some());
        let mut late = failing();
        assert!(late.now().is_err());
        assert!(late.is_empty() && late.error().is_none());
    }
}
