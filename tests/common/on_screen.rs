//! A program on a terminal of its own, whose output a terminal emulator reads.

use super::environment::TestEnvironment;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Both ends of a terminal that no other program has.
pub(crate) struct OwnPty {
    pub(crate) master: File,
    pub(crate) slave: File,
}

impl OwnPty {
    pub(crate) fn open((columns, rows): (u16, u16)) -> OwnPty {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).expect("a pty");
        // A program that has the other end, too, would never see the terminal hang up.
        for end in [&pty.master, &pty.slave] {
            fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).expect("to close it for others");
        }
        OwnPty { master: File::from(pty.master), slave: File::from(pty.slave) }
    }

    /// Starts a program with this terminal as its input, output and messages.
    pub(crate) fn spawn(&self, command: &mut Command) -> Child {
        let end = || Stdio::from(self.slave.try_clone().expect("the terminal"));
        command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("to start")
    }
}

/// A program on a terminal of its own.
pub(crate) struct OnScreen {
    pub(crate) child: Child,
    keys: File,
    slave: File,
    screen: Arc<Mutex<vt100::Parser>>,
    /// All bytes that were sent to it.
    pub(crate) sent: Arc<Mutex<Vec<u8>>>,
}

impl OnScreen {
    pub(crate) fn start(env: &TestEnvironment, args: &[&str], (columns, rows): (u16, u16)) -> OnScreen {
        let pty = OwnPty::open((columns, rows));
        let mut command = env.command("setsid");
        command.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_rtrace")]).args(args).env("TERM", "xterm");
        let child = pty.spawn(&mut command);
        let OwnPty { mut master, slave } = pty;
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

    pub(crate) fn text(&self) -> String {
        self.screen.lock().expect("the screen").screen().contents()
    }

    /// Waits until the screen shows this.
    pub(crate) fn shows(&self, words: &str) {
        let begin = Instant::now();
        while !self.text().contains(words) {
            assert!(begin.elapsed() < Duration::from_secs(60), "no `{words}` on the screen:\n{}", self.text());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("to press keys");
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.screen.lock().expect("the screen").screen_mut().set_size(lines(rows), lines(columns));
        let mut stty = Command::new("stty");
        stty.args(["rows", &rows.to_string(), "cols", &columns.to_string()]);
        assert!(stty.stdin(self.slave.try_clone().expect("it")).status().expect("stty").success());
    }

    /// The exit code, and what the terminal shows in the end.
    pub(crate) fn ends(mut self) -> (Option<i32>, String) {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("its state") {
                break status;
            }
            if begin.elapsed() > Duration::from_secs(60) {
                let _ = self.child.kill();
                panic!("it does not end:\n{}", self.text());
            }
            thread::sleep(Duration::from_millis(10));
        };
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
