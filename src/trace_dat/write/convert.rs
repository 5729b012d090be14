//! A whole file in another version or compression.

use super::{NewFile, Version, WriteError};
use crate::trace_dat::{FileError, Trace};
use std::fs::File;

/// Writes what `from` holds to `file`, which is empty. Chunks that are compressed as the new file is are copied as they
/// are. What is damaged goes to `damaged` and is left out. Gives the new file's size in bytes.
///
/// # Errors
/// [`WriteError::Write`]; [`WriteError::Version6`].
pub fn convert(
    from: &Trace,
    file: File,
    version: Version,
    damaged: &mut dyn FnMut(FileError),
) -> Result<u64, WriteError> {
    let names: Vec<&str> = from.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    let mut new = NewFile::create(file, from, version, &names)?;
    let mut chunk = Vec::new();
    for buffer in &from.buffers {
        if let Some(text) = &buffer.text {
            new.text(&buffer.name, &buffer.clock, text)?;
            continue;
        }
        new.begin_buffer(&buffer.name, &buffer.clock, buffer.page_size)?;
        for (index, data) in buffer.cpus.iter().enumerate() {
            new.begin_cpu(data.cpu)?;
            let mut pages = from.raw_pages(buffer, index);
            loop {
                if pages.codec() == new.codec()
                    && let Some(packed) = pages.next_packed()
                {
                    new.packed(packed.bytes(), packed.size)?;
                    continue;
                }
                match pages.next(&mut chunk) {
                    Ok(true) => {
                        chunk.truncate(chunk.len() / buffer.page_size * buffer.page_size);
                        new.pages(&chunk)?;
                    }
                    Ok(false) => break,
                    Err(error) => damaged(error),
                }
            }
            new.end_cpu()?;
        }
        new.end_buffer()?;
    }
    new.finish()
}
