//! `rtrace top` on a terminal, of this machine's kernel.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::common::on_screen::OnScreen;
use crate::host::kernel;
use serde_json::Value;

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

#[test]
fn lines_need_no_terminal() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let args = ["top", "--json", "--journal-dir", "journal", "--interval", "200ms", "--duration", "1"];
    let text = env.rtrace(&args).exits(0).stdout();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!((3..=6).contains(&lines.len()), "{text}");
    let mut last = 0;
    for line in &lines {
        assert_eq!(line["schema"], "rtrace.top");
        let Some(begin) = line["window"]["begin"].as_u64() else { continue };
        assert!(begin >= last, "windows follow each other: {text}");
        last = line["window"]["end"].as_u64().expect("an end");
    }
    let switches = lines.iter().flat_map(|line| line["events"].as_array().expect("a list"));
    let switches = switches.filter(|event| event["event"] == "sched:sched_switch").map(|event| event["count"].as_u64());
    assert!(switches.map(|count| count.expect("a number")).sum::<u64>() > 0, "{text}");
}
