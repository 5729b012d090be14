//! `rtrace view` on a terminal, whose output another program's terminal reads.

use crate::common::environment::TestEnvironment;
use crate::files::recording;
use crate::hostile::attack;
use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A program on a terminal of its own.
struct OnScreen {
    child: Child,
    keys: File,
    slave: File,
    screen: Arc<Mutex<vt100::Parser>>,
    /// All bytes that were sent to it.
    sent: Arc<Mutex<Vec<u8>>>,
}

impl OnScreen {
    fn start(env: &TestEnvironment, args: &[&str], (columns, rows): (u16, u16)) -> OnScreen {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).expect("a pty");
        let (mut master, slave) = (File::from(pty.master), File::from(pty.slave));
        let mut command = env.command("setsid");
        command.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_rtrace")]).args(args).env("TERM", "xterm");
        let end = || Stdio::from(slave.try_clone().expect("the terminal"));
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("to start");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(lines(rows), lines(columns), 0)));
        let (keys, shown) = (master.try_clone().expect("its keys"), Arc::clone(&screen));
        let sent = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&sent);
        thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(count @ 1..) = master.read(&mut some) {
                all.lock().expect("all bytes").extend_from_slice(&some[..count]);
                shown.lock().expect("the screen").process(&some[..count]);
            }
        });
        OnScreen { child, keys, slave, screen, sent }
    }

    fn text(&self) -> String {
        self.screen.lock().expect("the screen").screen().contents()
    }

    /// Waits until the screen shows this.
    fn shows(&self, words: &str) {
        let begin = Instant::now();
        while !self.text().contains(words) {
            assert!(begin.elapsed() < Duration::from_secs(60), "no `{words}` on the screen:\n{}", self.text());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("to press keys");
    }

    fn resize(&self, columns: u16, rows: u16) {
        self.screen.lock().expect("the screen").screen_mut().set_size(lines(rows), lines(columns));
        let mut stty = Command::new("stty");
        stty.args(["rows", &rows.to_string(), "cols", &columns.to_string()]);
        assert!(stty.stdin(self.slave.try_clone().expect("it")).status().expect("stty").success());
    }

    /// The exit code, and what the terminal shows in the end.
    fn ends(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("to end");
        thread::sleep(Duration::from_millis(100));
        let screen = self.screen.lock().expect("the screen");
        assert!(!screen.screen().alternate_screen() && !screen.screen().hide_cursor(), "the terminal is as before");
        (status.code(), screen.screen().contents())
    }
}

/// Rows or columns of a terminal.
fn lines(count: u16) -> NonZero<u16> {
    NonZero::new(count).expect("a terminal of some size")
}

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
    view.press("q");
    let (status, left) = view.ends();
    assert_eq!(status, Some(0));
    assert!(left.contains("rtrace report -i ") && left.contains("--filter sched_switch"), "{left}");
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let env = TestEnvironment::new();
    let file = recording("host/small-zlib.dat");
    let view = OnScreen::start(&env, &["view", &file.to_string_lossy()], (80, 24));
    view.shows("q quit");
    let children = format!("/proc/{0}/task/{0}/children", view.child.id());
    let own = std::fs::read_to_string(children).expect("its children");
    let pid = own.split_whitespace().next().map_or(view.child.id() as i32, |pid| pid.parse().expect("a pid"));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGTERM).expect("to end it");
    let (status, _) = view.ends();
    assert_ne!(status, Some(0));
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
        for keys in ["\t\x1b[B", "p", "y", "+", "/sched*\r", "/\x1b", "?"] {
            view.press(keys);
            thread::sleep(Duration::from_millis(100)); // `\x1b` and the next key are not one
        }
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
