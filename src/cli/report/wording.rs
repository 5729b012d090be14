//! Options for the texts of events: `-r`, `-n`, `-O`, `--kallsyms`.

use crate::cli::plugin_options;
use crate::cli::query::QueryInput;
use crate::cli::terminal::note;
use regex::Regex;
use rtrace::event::{DecodeOptions, EventTypes};
use std::path::PathBuf;

/// Options for the texts of events.
#[derive(clap::Args, Clone)]
pub(crate) struct WordingArgs {
    /// Fields by name for events or systems that match this expression
    #[arg(short = 'r', long, value_name = "EVENTS", value_parser = whole_name)]
    raw_events: Vec<Regex>,
    /// The kernel's print format for events or systems that match this expression
    #[arg(short = 'n', long, value_name = "EVENTS", value_parser = whole_name)]
    no_handler: Vec<Regex>,
    /// Option of a plugin, as in fgraph:tailprint or ftrace:indent=0 (`rtrace options` lists them)
    #[arg(short = 'O', long = "option", value_name = "[PLUGIN:]OPTION[=VALUE]", value_parser = plugin_options::parse)]
    options: Vec<plugin_options::Setting>,
    /// Symbols to use instead of those the file holds, as /proc/kallsyms has them
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) kallsyms: Option<PathBuf>,
    /// Show the filters of -F as they were understood, and no events
    #[arg(short = 'T', long = "filter-test")]
    pub(super) show_filters: bool,
}

/// trace-cmd's expressions are for the whole name, and case does not matter.
fn whole_name(text: &str) -> Result<Regex, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "an event's name is wanted; `--last {text}` prints the last {text} events, `--first {text}` the first"
        ));
    }
    Regex::new(&format!("(?i)^(?:{text})$")).map_err(|e| e.to_string())
}

impl WordingArgs {
    /// Options that hold for all events.
    pub(super) fn decode(&self, plugins: bool) -> DecodeOptions {
        let mut decode = DecodeOptions { plugins, ..DecodeOptions::default() };
        self.options.iter().for_each(|setting| setting.apply(&mut decode));
        decode
    }

    /// The types with what `-r` and `-n` say of some of them.
    pub(super) fn except<'a>(
        &self,
        mut types: EventTypes<'a>,
        input: &'a QueryInput,
        decode: &DecodeOptions,
    ) -> EventTypes<'a> {
        if self.raw_events.is_empty() && self.no_handler.is_empty() {
            return types;
        }
        for expression in self.raw_events.iter().chain(&self.no_handler) {
            let shown = expression.as_str().trim_start_matches("(?i)^(?:").trim_end_matches(")$");
            // A pattern may be meant for several files; a name that is nothing is mistyped.
            let is_name = shown.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-'));
            if is_name && !input.formats().any(|f| expression.is_match(&f.name) || expression.is_match(&f.system)) {
                note!("rtrace: {}: no event or system is called `{shown}` (-r, -n)", input.path.display());
            }
        }
        for format in input.formats() {
            let named = |list: &[Regex]| list.iter().any(|e| e.is_match(&format.name) || e.is_match(&format.system));
            let (raw, plain) = (named(&self.raw_events), named(&self.no_handler));
            if raw || plain {
                types = types.except(format.id, DecodeOptions { raw, plugins: decode.plugins && !plain, ..*decode });
            }
        }
        types
    }
}
