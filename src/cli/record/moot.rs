//! Options of `record` that cannot have an effect. `-s` without `--poll` is taken, with a sentence: trace-cmd's users type it.

use super::RecordArgs;
use crate::cli::given::Moot;
use crate::cli::helper_programs;
use crate::cli::terminal::note;

impl RecordArgs {
    /// The first option that nothing on the command line is for.
    pub(super) fn moot(&self) -> Option<Moot<'static>> {
        let given = |id| self.traced.given().has(id);
        let moot = |option, reason, hint| Some(Moot { option, reason, hint });
        if given("only_named") && !given("profile") {
            return moot(
                "only_named",
                "without `--profile`: the events and tracers that are named are all that is recorded",
                "leave it out.",
            );
        }
        if given("name") {
            return moot(
                "name",
                "without a `-A` before it, whose machine it names",
                "as in `rtrace record -e sched -A HOST --name guest -e sched`.",
            );
        }
        if given("tsync_interval") {
            return moot(
                "tsync_interval",
                "without a `-A` before it, with whose machine the clocks are compared",
                "as in `rtrace record -e sched -A HOST --tsync-interval 500 -e sched`.",
            );
        }
        if given("no_fifos") && !given("agents") {
            return moot(
                "no_fifos",
                "without a `-A`, whose data it is about",
                "as in `rtrace record -e sched -A HOST -e sched --no-fifos`.",
            );
        }
        if given("pid_file") && !given("daemonize") {
            return moot("pid_file", "without `--daemonize`", "`--daemonize` records in the background.");
        }
        if given("sleep") && !given("poll") && !self.quiet && helper_programs::name() != "trace-cmd" {
            note!("rtrace: `-s` has no effect without `--poll`: readers sleep until the kernel wakes them");
        }
        self.traced.moot()
    }
}
