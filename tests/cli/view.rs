//! `rtrace view` on a terminal.

use crate::common::environment::TestEnvironment;
use crate::common::on_screen::{OnScreen, OwnPty};
use crate::files::recording;
use crate::hostile::attack;
use std::io::Read;
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
