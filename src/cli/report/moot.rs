//! Options of `report` that can do nothing beside another option, or without one.

use super::args::ReportArgs;
use super::outputs::Outputs;
use crate::cli::given::Moot;
use crate::cli::profile::layout::ProfileLayout;
use rtrace::filter::Sign;

impl ReportArgs {
    /// The first option that has no effect in this combination, if the outputs are `wanted`.
    pub(super) fn moot(&self, wanted: Outputs) -> Option<Moot<'static>> {
        let given = |id| self.given.has(id);
        let any = |ids: &[&'static str]| self.given.first_of(ids);
        let moot = |option, reason, hint| Some(Moot { option, reason, hint });
        if given("show_filters") && self.events.report_filters().is_empty() {
            return moot(
                "show_filters",
                "without `-F`: there is no filter to show",
                "`rtrace help filter` shows the language.",
            );
        }
        if given("invert") && !self.events.report_filters().iter().any(|(_, sign)| *sign == Sign::Remove) {
            return moot(
                "invert",
                "without a `-F` after it",
                "as in `rtrace report -v -F sched_switch`, all but sched_switch.",
            );
        }
        if given("align") && self.files.len() + self.input.len() < 2 {
            return moot(
                "align",
                "on one file: it shifts the others' times",
                "as in `rtrace report --align start a.dat b.dat`.",
            );
        }
        let window = any(&["since", "until", "around"]).is_some();
        let times = any(&["raw_ts", "nodate", "ts_offset", "ts2secs", "align", "align_ts"]);
        if let Some(option) = times.filter(|_| wanted == Outputs::COUNT && !window) {
            return moot(option, "on `--count`: numbers of events have no time", "`--summary` shows times, too.");
        }
        let texts = any(&["raw_events", "no_handler", "no_plugins", "options"]);
        if let Some(option) = texts.filter(|_| self.layout.raw) {
            return moot(option, "beside `-R`, which shows all events by their fields", "leave out one of the two.");
        }
        if given("limit") && self.profile.layout() == ProfileLayout::TraceCmd {
            return moot("limit", "on trace-cmd's layout, which shows all", "`--layout table` has rows.");
        }
        None
    }
}
