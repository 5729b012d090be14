//! `rtrace top` on a terminal, of this machine's kernel.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::common::on_screen::OnScreen;
use crate::host::kernel;

#[test]
fn a_live_table_leaves_nothing_behind() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let before = Knobs::read(tracefs.root());
    let args = ["top", "--journal-dir", "journal", "--interval", "200ms"];
    let mut top = OnScreen::start(&env, &args, (100, 30));
    top.shows("events/s");
    top.shows("sched:sched_switch");
    top.shows("cpu0 ");
    top.press("s");
    top.shows("wait ms*");
    top.resize(60, 12);
    top.shows("q quit");
    top.press("q");
    assert_eq!(top.ends().0, Some(0));
    let after = Knobs::read(tracefs.root());
    assert_eq!(before.differences(&after), Vec::<String>::new());
}

#[test]
fn it_ends_by_itself() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let args = ["top", "--journal-dir", "journal", "--interval", "100ms", "--duration", "1"];
    let top = OnScreen::start(&env, &args, (80, 24));
    top.shows("events/s");
    assert_eq!(top.ends().0, Some(0));
}
