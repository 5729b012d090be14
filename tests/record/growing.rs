//! `rtrace view` of a recording that is being made.

use crate::common::environment::TestEnvironment;
use crate::common::on_screen::OnScreen;
use crate::host::kernel;
use crate::state::Running;
use nix::sys::signal::{Signal, kill};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_recording_that_grows_is_followed() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let args = ["record", "--journal-dir", "journal", "-q", "-e", "sched", "-o", "run.dat"];
    // The starter of the tests may have ignored the signal that ends it.
    let mut command = env.command("env");
    command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_rtrace")]).args(args);
    let mut record = Running::start(command);
    let begin = Instant::now();
    // The file is there before its first events.
    while env.rtrace(&["report", "run.dat", "--first", "1"]).stdout().lines().count() < 2 {
        assert!(begin.elapsed() < Duration::from_secs(60), "no events");
        thread::sleep(Duration::from_millis(200));
    }
    let mut view = OnScreen::start(&env, &["view", "run.dat"], (100, 30));
    view.shows("growing, followed");
    let end = |view: &OnScreen| {
        let text = view.text();
        let bar = text.lines().nth(1).unwrap_or_default().to_owned();
        bar.split_whitespace().last().and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0)
    };
    let (first, begin) = (end(&view), Instant::now());
    assert!(first > 0.0, "{}", view.text());
    while end(&view) < first + 1.0 {
        assert!(begin.elapsed() < Duration::from_secs(60), "it stays:\n{}", view.text());
        thread::sleep(Duration::from_millis(50));
    }
    view.press("F");
    view.shows("growing (F follows)");
    kill(record.pid(), Signal::SIGINT).expect("to end it");
    assert!(record.wait().success());
    let begin = Instant::now();
    // The name of this test's thread may be among the events.
    while view.text().contains("growing (F") || view.text().contains("growing, f") {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never ends:\n{}", view.text());
        thread::sleep(Duration::from_millis(50));
    }
    view.press("q");
    assert_eq!(view.ends().0, Some(0));
}
