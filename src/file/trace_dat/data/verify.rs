//! All data of a file, read once to see whether it can be.

use crate::file::trace_dat::{FileError, Trace};

impl Trace {
    /// Unpacks every chunk, which checks their checksums, and walks every sub-buffer, on `threads` threads. Each defect goes
    /// to `damaged`; the contents of records are not checked.
    pub fn verify_data(&self, threads: usize, damaged: &mut dyn FnMut(FileError)) {
        let mut chunk = Vec::new();
        for buffer in &self.buffers {
            for cpu in 0..buffer.cpus.len() {
                let mut pages = self.raw_pages(buffer, cpu).on_threads(threads);
                loop {
                    match pages.next(&mut chunk) {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(error) => damaged(error),
                    }
                }
            }
        }
    }
}
