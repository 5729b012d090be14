//! An unfinished recording made of what another file says of it, for events that come from elsewhere.

use super::from_file::{facts, loaded, systems};
use super::sections::FileLock;
use super::{SectionWriter, WriteError};
use crate::file::trace_dat::file::option_checks::is_thread_groups;
use crate::file::trace_dat::file::options::chosen_clock;
use crate::file::trace_dat::{Codec, OptionId, SectionId, Trace};
use std::fs::File;

impl SectionWriter {
    /// Starts `file`, which is empty, with all that `from` says about its recording, but for its buffers.
    ///
    /// # Errors
    /// [`WriteError::Write`]; [`WriteError::Busy`] if another writer has the file.
    pub fn copy_facts(file: File, from: &Trace, codec: Codec) -> Result<SectionWriter, WriteError> {
        // The rest is in the byte order of the recording, for others cannot read two in one file.
        let lock = FileLock::take(&file)?;
        let mut writer = SectionWriter::create_locked(file, lock, from.prefix.abi, from.prefix.page_size, codec)?;
        writer.header_info(&from.header_texts.0, &from.header_texts.1)?;
        let ftrace: Vec<String> = from.ftrace_formats.iter().map(ToString::to_string).collect();
        writer.ftrace_formats(&ftrace)?;
        writer.event_formats(&systems(from))?;
        writer.kallsyms(loaded("kallsyms", &from.kallsyms)?)?;
        writer.printk_formats(&from.printk_formats)?;
        let btf = loaded("BTF", &from.btf)?;
        if !btf.is_empty() {
            writer.btf(btf)?;
        }
        if !from.modules.is_empty() {
            writer.section(SectionId::MODULES_FILE, &from.modules)?;
        }
        writer.saved_cmdlines(&from.saved_cmdlines)?;
        facts(from).for_each(|(id, data)| writer.option(id, data));
        if from.option(OptionId::CPUCOUNT).is_none_or(is_thread_groups) {
            writer.option_u32(OptionId::CPUCOUNT, from.cpu_count);
        }
        Ok(writer)
    }
}

impl Trace {
    /// The clock of the top buffer; empty if the file does not say.
    pub fn clock(&self) -> String {
        match self.buffers.first() {
            Some(buffer) if !buffer.clock.is_empty() => buffer.clock.clone(),
            _ => self.option(OptionId::TRACECLOCK).map(|o| chosen_clock(&o.text())).unwrap_or_default(),
        }
    }
}
