//! A file to report: opened, its spools beside it if it is unfinished.

use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::note;
use crate::cli::trace_file;
use anyhow::{Context, anyhow};
use rtrace::event::{DecodeOptions, EventTypes};
use rtrace::filter::AddressNames;
use rtrace::format::EventFormat;
use rtrace::symbols::{Comms, Kallsyms, LastBoot, PrintkFormats, Symbols};
use rtrace::trace_dat::{OptionId, Trace};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// One file.
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) trace: Trace,
    pub(super) symbols: Symbols,
    /// Files younger than this one that names were taken from.
    pub(super) newer: Arc<Mutex<Vec<String>>>,
}

impl Input {
    /// Opens the file; `kallsyms` stands in for the symbols it holds. With `ahead`, symbols are read
    /// while formats are parsed.
    pub(super) fn open(path: &Path, kallsyms: Option<&Path>, ahead: bool) -> Result<Self, Failure> {
        let failed = || format!("failed to read {}", path.display());
        let file = File::open(path).with_context(failed)?;
        if file.metadata().is_ok_and(|m| m.is_dir()) {
            return Err(anyhow!("failed to read {}: it is a directory", path.display()).into());
        }
        let mut trace = Trace::open_lazily(file.try_clone().with_context(failed)?, ahead).map_err(|error| {
            let exit = if error.is_foreign() { Exit::Failed } else { Exit::Incomplete };
            Failure::new(exit, anyhow::Error::new(error).context(failed()))
        })?;
        if trace_file::attach_spools(&mut trace, path, &file)? {
            note!("rtrace: {}: an unfinished recording; showing what is there", path.display());
        }
        if let Some(path) = kallsyms {
            let text = std::fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
            trace.kallsyms = text.into();
        }
        as_of_last_boot(&mut trace, path);
        let enumerators = trace_file::enumerators(&trace);
        let symbols = Symbols {
            enumerators,
            kallsyms: Kallsyms::new(trace.kallsyms.clone()),
            printk: PrintkFormats::parse(&trace.printk_formats),
            comms: Comms::parse(&trace.saved_cmdlines),
            user: None,
            functions: rtrace::symbols::Functions::new(trace.btf.clone()),
        };
        Ok(Input { path: path.to_owned(), trace, symbols, newer: Arc::default() })
    }

    /// All event types.
    pub(super) fn types(&self, options: &DecodeOptions) -> EventTypes<'_> {
        EventTypes::new(self.formats(), self.trace.abi, &self.symbols, options)
    }

    /// All formats.
    pub(super) fn formats(&self) -> impl Iterator<Item = &EventFormat> {
        self.trace.ftrace_formats.iter().chain(&self.trace.event_formats)
    }

    /// What labels its lines.
    pub(super) fn label(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Moves the symbols to where they lay when the events were recorded, if that was in the boot before the one that the
/// symbols are of.
fn as_of_last_boot(trace: &mut Trace, path: &Path) {
    let texts: Vec<String> = trace.options(OptionId::LAST_BOOT_INFO).map(|option| option.text()).collect();
    let boots = texts.iter().filter_map(|text| text.split_once(':'));
    let boots: Vec<(&str, LastBoot)> =
        boots.filter_map(|(buffer, text)| Some((buffer, LastBoot::parse(text)?))).collect();
    let Some((_, boot)) = boots.first() else { return };
    let with_data = || trace.buffers.iter().filter(|buffer| !buffer.cpus.is_empty());
    let of_now = with_data().find(|buffer| boots.iter().all(|(name, of)| buffer.name != *name || of != boot));
    if let Some(buffer) = of_now {
        let buffer = if buffer.name.is_empty() { "the top buffer" } else { &buffer.name };
        let path = path.display();
        note!("rtrace: {path}: functions are named as of {buffer}: other buffers hold events of another boot");
    } else if let Some(moved) =
        boot.apply(trace.kallsyms.get().unwrap_or_default(), &trace.printk_formats, &trace.modules)
    {
        (trace.kallsyms, trace.printk_formats) = (moved.kallsyms.into(), moved.printk_formats);
    }
}

/// Names of functions, for filters.
pub(super) struct Functions<'a>(pub(super) &'a Kallsyms);

impl AddressNames for Functions<'_> {
    fn function(&self, address: u64) -> Option<&str> {
        std::str::from_utf8(self.0.lookup(address)?.name).ok()
    }
}
