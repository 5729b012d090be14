//! The spools of an unfinished recording, attached to it.

use super::siblings::COUNT;
use crate::file::trace_dat::{Buffer, CpuData, DataLayout, FileError, LossCause, Siblings, Trace, UnsavedEvents};

impl Trace {
    /// Adds what lies beside an unfinished recording: the CPUs' data, and the names of tasks learnt while recording. What
    /// is missing or not the recording's own is [`Trace::damage`].
    pub fn attach_spools(&mut self, siblings: &Siblings) {
        let (layout, header) = match self.prefix.codec {
            crate::file::trace_dat::Codec::None => (DataLayout::Pages, 0),
            _ => (DataLayout::Spool, COUNT),
        };
        let Some(table) = self.spools.clone() else { return };
        for entry in &table.entries {
            if self.buffers.iter().all(|b| b.name != entry.buffer) {
                self.buffers.push(Buffer {
                    name: entry.buffer.clone(),
                    clock: entry.clock.clone(),
                    page_size: entry.page_size as usize,
                    cpus: Vec::new(),
                    text: None,
                });
            }
            let name = siblings.spool_name(&entry.buffer, entry.cpu);
            let opened = siblings.open_joined(&entry.buffer, entry.cpu, header);
            let (spool, size) = match opened.and_then(|spool| spool.map(|s| Ok((s.0.size()?, s))).transpose()) {
                Ok(Some((size, (spool, lacks_some)))) => {
                    if lacks_some || size < header {
                        let (buffer, cause) = (entry.buffer.clone(), LossCause::REMOVED);
                        self.damage.push(UnsavedEvents { buffer, cpu: entry.cpu, events: None, cause }.into());
                    }
                    (spool, size)
                }
                Ok(None) => {
                    let renamed = table.recorded_as().filter(|old| *old != siblings.name()).map(str::to_owned);
                    self.damage.push(FileError::NoSpool { name, renamed });
                    continue;
                }
                Err(source) => {
                    self.damage.push(FileError::Spool { name, source });
                    continue;
                }
            };
            let source = self.sources.len();
            self.sources.push(spool);
            for buffer in self.buffers.iter_mut().filter(|b| b.name == entry.buffer).take(1) {
                buffer.cpus.retain(|c| c.cpu != entry.cpu);
                buffer.cpus.push(CpuData { cpu: entry.cpu, source, offset: 0, size, layout });
                buffer.cpus.sort_by_key(|c| c.cpu);
            }
        }
        self.buffers.sort_by_key(|b| !b.name.is_empty());
        match siblings.comms() {
            Ok(learnt) => self.saved_cmdlines.extend_from_slice(&learnt),
            Err(source) => {
                self.damage.push(FileError::Spool { name: format!("{}.comms.spool", siblings.name()), source });
            }
        }
    }
}
