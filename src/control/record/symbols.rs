//! The thread that reads the kernel's symbols while everything else is set up, and writes them while events are recorded.

use super::error::RecordError;
use super::output::SymbolsWriter;
use super::worker::thread_time;
use crate::base::sys::{self, Scheduling};
use crate::control::tracefs::Tracefs;
use crate::file::trace_dat::SectionWriter;
use crossbeam_channel::{Sender, bounded};
use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The running thread. Dropped, it is waited for.
pub(super) struct SymbolThread {
    /// Takes the file as soon as it has all that comes before the symbols.
    file: Option<Sender<SymbolsWriter>>,
    thread: Option<JoinHandle<Option<SymbolizedFile>>>,
    /// The thread's scheduling before it was lowered, so as not to delay traced tasks.
    before: Option<Scheduling>,
    written: Option<SymbolizedFile>,
}

/// A trace file with its symbols.
pub(super) struct SymbolizedFile {
    pub(super) writer: SectionWriter,
    /// Why it has none. The recording is one without them.
    pub(super) error: Option<RecordError>,
    /// User and system time of the thread.
    pub(super) time: Duration,
}

impl SymbolThread {
    /// Starts reading.
    ///
    /// # Errors
    /// If the kernel refuses a thread.
    pub(super) fn start(tracefs: &Tracefs) -> io::Result<Self> {
        let (sender, file) = bounded::<SymbolsWriter>(1);
        let tracefs = tracefs.clone();
        let thread = Builder::new().name("rtrace/symbols".to_owned()).spawn(move || {
            let kallsyms = tracefs.kallsyms();
            let (writer, error) = file.recv().ok()?.write(kallsyms);
            Some(SymbolizedFile { writer, error, time: thread_time() })
        })?;
        Ok(SymbolThread { file: Some(sender), thread: Some(thread), before: None, written: None })
    }

    /// Gives it the file to write to.
    pub(super) fn write_to(&mut self, symbols: SymbolsWriter) {
        if let Some(file) = self.file.take() {
            // If the thread is gone, `written` says why.
            let _ = file.send(symbols);
        }
    }

    /// From now on it runs only where a CPU has nothing else to do, as what is traced must not wait for it.
    pub(super) fn make_way(&mut self) {
        // Where that is refused, or the thread is done, nothing is lost.
        self.before = self.thread.as_ref().and_then(|thread| sys::make_idle(thread).ok());
    }

    /// Waits for the symbols, and gives the bytes that the file has with them.
    pub(super) fn file_size(&mut self) -> u64 {
        self.wait();
        self.written.as_ref().map_or(0, |written| written.writer.position())
    }

    /// Waits for the symbols, and takes what went wrong with them.
    pub(super) fn error(&mut self) -> Option<RecordError> {
        self.wait();
        self.written.as_mut().and_then(|written| written.error.take())
    }

    /// Waits for the file; `None` if it was given none.
    pub(super) fn written(mut self) -> Option<SymbolizedFile> {
        self.wait();
        self.written.take()
    }

    /// The thread, to be waited for: nothing more comes for it, and it need not make way any more.
    fn thread(&mut self) -> Option<JoinHandle<Option<SymbolizedFile>>> {
        self.file = None;
        let thread = self.thread.take()?;
        if let Some(before) = self.before.take() {
            let _ = sys::schedule(&thread, before);
        }
        Some(thread)
    }

    fn wait(&mut self) {
        if let Some(thread) = self.thread() {
            self.written = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    }
}

impl Drop for SymbolThread {
    fn drop(&mut self) {
        if let Some(thread) = self.thread() {
            let _ = thread.join();
        }
    }
}
