//! Options that ask for facts of a file.

use regex::Regex;
use rtrace::format::EventFormat;

/// The output instead of the events.
#[derive(clap::Args, Clone)]
pub(crate) struct ReportFactsArgs {
    /// The buffers' statistics when recording ended, and where the data lies
    #[arg(long)]
    pub(super) stat: bool,
    /// The recorded machine and kernel, and the recorder's version
    #[arg(long)]
    pub(super) uname: bool,
    /// The version of the program that recorded
    #[arg(long)]
    pub(super) version: bool,
    /// The CPUs that have data
    #[arg(long)]
    pub(super) cpus: bool,
    /// The names of the events whose formats the file holds
    #[arg(short = 'E', long)]
    pub(super) event_names: bool,
    /// The formats of the events
    #[arg(long)]
    pub(super) events: bool,
    /// The formats of the events that match this expression, as in sched:.*switch
    #[arg(long, value_name = "EVENTS", value_parser = event_pattern)]
    pub(super) event: Option<Regex>,
    /// Print the time of the first event of each CPU
    #[arg(long)]
    pub(super) first_event: bool,
    /// Print the time of the last event of each CPU
    #[arg(long)]
    pub(super) last_event: bool,
    /// Check that all events' formats are understood; 1 if not
    #[arg(long)]
    pub(super) check_events: bool,
    /// The byte order of the file and of this machine
    #[arg(short = 'e', long)]
    pub(super) endian: bool,
    /// The page size of the file and of this machine
    #[arg(short = 'p', long)]
    pub(super) page_size: bool,
    /// The functions whose addresses the file holds
    #[arg(short = 'f', long)]
    pub(super) functions: bool,
    /// The constant strings of trace_printk() that the file holds
    #[arg(short = 'P', long)]
    pub(super) printk: bool,
}

/// An expression for the whole of `system:event`, or of either.
fn event_pattern(text: &str) -> Result<Regex, String> {
    Regex::new(&format!("(?i)^(?:{text})$")).map_err(|e| e.to_string())
}

impl ReportFactsArgs {
    pub(super) fn any(&self) -> bool {
        let of_cpus = self.cpus || self.first_event || self.last_event;
        let of_file = self.stat || self.uname || self.version || self.endian || self.page_size;
        of_cpus || self.of_formats() || of_file || self.functions || self.printk
    }

    /// True if this format is to be printed.
    pub(super) fn wants_format(&self, format: &EventFormat) -> bool {
        match &self.event {
            None => self.events,
            Some(event) => {
                event.is_match(&format!("{}:{}", format.system, format.name))
                    || event.is_match(&format.name)
                    || event.is_match(&format.system)
            }
        }
    }

    pub(super) fn of_formats(&self) -> bool {
        self.event_names || self.events || self.event.is_some()
    }
}
