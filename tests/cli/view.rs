//! `rtrace view` on a terminal.

use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::common::on_screen::{OnScreen, OwnPty};
use crate::files::recording;
use crate::hostile::attack;
use std::io::Read;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_recording_is_looked_at() {
    let env = TestEnvironment::new();
    let file = recording("host/small-zlib.dat");
    let mut view = OnScreen::start(&env, &["view", &file.to_string_lossy()], (80, 24));
    view.shows("56 in view");
    view.shows("q quit");
    view.resize(120, 36);
    view.shows("sched_switch: ld-linux-x86-64:1525 [120] R ==> migration/1:21 [0]");
    view.press("/sched_switch\r");
    view.shows("6 of 56 in view");
    view.press("\t\x1b[Bp");
    view.shows("preempted");
    view.press("y");
    view.shows("--filter sched_switch");
    view.resize(20, 6);
    view.press("+");
    view.resize(80, 24);
    view.press("q"); // a key that comes with a new size waits for no other one
    let (status, left) = view.ends();
    assert_eq!(status, Some(0));
    assert!(left.contains("rtrace report -i ") && left.contains("--filter sched_switch"), "{left}");
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let env = TestEnvironment::new();
    let file = recording("host/small-zlib.dat");
    let mut view = OnScreen::start(&env, &["view", &file.to_string_lossy()], (80, 24));
    view.shows("q quit");
    view.press("\x1b["); // half a key holds nothing up
    thread::sleep(Duration::from_millis(300));
    let children = format!("/proc/{0}/task/{0}/children", view.child.id());
    let own = std::fs::read_to_string(children).expect("its children");
    let pid = own.split_whitespace().next().map_or(view.child.id() as i32, |pid| pid.parse().expect("a pid"));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGTERM).expect("to end it");
    let (status, _) = view.ends();
    assert_ne!(status, Some(0));
}

/// Also where the signal of a hang-up is ignored, as below nohup, and nothing can be said any more.
#[test]
fn a_terminal_that_hangs_up_ends_it() {
    let env = TestEnvironment::new();
    let file = recording("host/small-zlib.dat");
    let pty = OwnPty::open((80, 24));
    let mut command = env.command("sh");
    let line = r#"trap '' HUP; exec setsid --ctty "$0" view "$1""#;
    command.args(["-c", line, env!("CARGO_BIN_EXE_rtrace"), &*file.to_string_lossy()]).env("TERM", "xterm");
    let mut child = pty.spawn(&mut command);
    let OwnPty { mut master, slave } = pty;
    drop(slave);
    let mut some = [0; 4096];
    assert!(master.read(&mut some).expect("a screen") > 0);
    drop(master);
    let begin = Instant::now();
    while child.try_wait().expect("its state").is_none() {
        if begin.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            panic!("it goes on without a terminal");
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(child.wait().expect("its state").code(), Some(1));
}

#[test]
fn without_a_terminal_there_is_a_word_about_it() {
    let env = TestEnvironment::new();
    let file = recording("host/small-zlib.dat");
    env.rtrace(&["view", &file.to_string_lossy()])
        .exits(2)
        .prints("")
        .complains_with("standard output is not a terminal");
    let mut view = OnScreen::start(&env, &["view", "missing.dat"], (80, 24));
    view.child.wait().expect("to end");
    view.shows("failed to read missing.dat");
}

#[test]
fn hostile_recordings_send_no_commands() {
    let env = TestEnvironment::new();
    for file in attack::recordings(&env) {
        let mut view = OnScreen::start(&env, &["view", &file], (120, 40));
        view.shows("in view");
        for keys in ["\t\x1b[B", "p", "y", "+", "/sched*\r", "/\r"] {
            view.press(keys);
            thread::sleep(Duration::from_millis(100)); // `\x1b` and the next key are not one
        }
        for key in random_keys(60) {
            view.press(key);
        }
        thread::sleep(Duration::from_millis(100));
        view.press("\r");
        thread::sleep(Duration::from_millis(100));
        view.press("\x1b");
        thread::sleep(Duration::from_millis(100));
        view.press("?");
        view.shows("these keys");
        view.press("q");
        let sent = Arc::clone(&view.sent);
        let (status, _) = view.ends();
        assert!(matches!(status, Some(0 | 4)), "{status:?}: what was damaged was named");
        let sent = sent.lock().expect("all bytes").clone();
        let text = String::from_utf8(sent).expect("UTF-8 alone");
        assert!(!text.contains(['\u{9b}', '\u{202e}', '\u{7}', '\u{7f}', '\u{8}']), "{}", text.escape_debug());
        // Attacks are these two; the screen's own sequences begin otherwise.
        assert!(!text.contains("\u{1b}c") && !text.contains("\u{1b}P"), "{}", text.escape_debug());
    }
}

/// Keys that write no file and open none, in an order that is the same each time.
fn random_keys(count: usize) -> impl Iterator<Item = &'static str> {
    let keys = [
        "+", "-", "[", "]", "n", "N", "p", "w", "W", "o", "O", "f", "s", "m", "'", "y", "0", "\t", "\r", "\x1b[A",
        "\x1b[B",
    ];
    let mut seed = 46u64;
    (0..count).map(move |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        keys[(seed >> 33) as usize % keys.len()]
    })
}

#[test]
fn two_recordings_fit_a_small_terminal() {
    let env = TestEnvironment::new();
    let (one, other) = (recording("host/small-zlib.dat"), recording("vm-6.1/trig.dat"));
    let args = ["view", &*one.to_string_lossy(), &*other.to_string_lossy(), "--align", "end"];
    let mut view = OnScreen::start(&env, &args, (80, 24));
    view.shows("trig.dat  by end (D)");
    view.press("Dstart\r");
    view.shows("trig.dat  by start (D)");
    view.press("Dsched:nosuch\r");
    view.shows("has no event sched:nosuch");
    view.shows("trig.dat  by start (D)");
    view.press("d\r");
    let begin = Instant::now();
    while view.text().contains("trig.dat") {
        assert!(begin.elapsed() < Duration::from_secs(60), "{}", view.text());
        thread::sleep(Duration::from_millis(10));
    }
    view.press("dmissing.dat\r");
    view.shows("failed to read missing.dat");
    view.press("Ppage.html\r");
    view.shows("wrote all events of this window to page.html");
    view.press("q");
    assert_eq!(view.ends().0, Some(0));
    assert!(
        std::fs::read_to_string(env.path().join("page.html")).expect("the page").contains("<h1>small-zlib.dat</h1>")
    );
    let missing = OnScreen::start(&env, &["view", &one.to_string_lossy(), "missing.dat"], (80, 24));
    missing.shows("failed to read missing.dat");
    assert_eq!(missing.ends().0, Some(1));
}

/// Call stacks are a tree.
#[test]
fn a_flame_is_shown_as_text() {
    let Some(corpus) = crate::common::corpus::corpus() else {
        return not_run("a flame in view: there is no corpus");
    };
    let env = TestEnvironment::new();
    let recording = corpus.join("vm-6.12/graph-depth.dat");
    let mut view = OnScreen::start(&env, &["view", &recording.to_string_lossy()], (100, 30));
    view.shows("q quit");
    view.press("f");
    view.shows("flame: time in functions");
    view.shows("do_idle");
    view.press("q");
    assert_eq!(view.ends().0, Some(0));
}

/// The server of tmux at a socket, which ends with the test.
struct Tmux(PathBuf);

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.0).arg("kill-server").output();
    }
}

/// Within tmux, which has a terminal of its own ideas.
#[test]
fn it_works_within_tmux() {
    if !Command::new("tmux").arg("-V").output().is_ok_and(|done| done.status.success()) {
        return not_run("view within tmux: there is no tmux");
    }
    let env = TestEnvironment::new();
    let server = Tmux(env.path().join("tmux"));
    let tmux = |args: &[&str]| {
        let mut command = env.command("tmux");
        let done = command.arg("-S").arg(&server.0).args(["-f", "/dev/null"]).args(args).output().expect("tmux");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let file = recording("host/small-zlib.dat");
    let line = format!("'{}' view '{}'; sleep 60", env!("CARGO_BIN_EXE_rtrace"), file.display());
    tmux(&["-u", "new-session", "-d", "-x", "80", "-y", "24", &line]);
    let until = |words: &str, is_it: &dyn Fn(&str) -> bool| {
        let begin = Instant::now();
        loop {
            let text = tmux(&["capture-pane", "-p"]);
            if is_it(&text) {
                return text;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "no `{words}`:\n{text}");
            thread::sleep(Duration::from_millis(50));
        }
    };
    let shows = |words: &str| until(words, &|text| text.contains(words));
    shows("56 in view");
    tmux(&["send-keys", "/sched_switch", "Enter"]);
    shows("6 of 56 in view");
    tmux(&["resize-window", "-x", "120", "-y", "36"]);
    shows("migration/1:21 [0]");
    tmux(&["send-keys", "?"]);
    shows("move the cursor by a column");
    tmux(&["send-keys", "y"]);
    tmux(&["send-keys", "q"]);
    // The screen shows the line as well, until it is given back.
    until("rtrace report -i on the screen given back", &|text| {
        text.contains("rtrace report -i ") && !text.contains("q quit")
    });
}

#[test]
fn a_recording_that_is_not_there_is_said_where_there_is_no_terminal() {
    TestEnvironment::new().rtrace(&["view", "nosuch.dat"]).exits(1).complains_with("nosuch.dat: No such file");
}
