//! Commands whose standard output and standard error are terminals, each its own.

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};

/// The output on the two terminals, byte for byte, and the command's end.
pub(crate) struct OnTerminals {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) status: ExitStatus,
}

/// Runs `command` to its end with a terminal for each output stream.
pub(crate) fn on_terminals(command: Command) -> OnTerminals {
    on_terminals_of(command, None)
}

/// The same with terminals of so many columns.
pub(crate) fn on_terminals_of(mut command: Command, columns: Option<u16>) -> OnTerminals {
    let size = columns.map(|ws_col| Winsize { ws_row: 24, ws_col, ws_xpixel: 0, ws_ypixel: 0 });
    let (stdout, from_stdout) = terminal(size.as_ref());
    let (stderr, from_stderr) = terminal(size.as_ref());
    let mut child = command.stdout(stdout).stderr(stderr).spawn().expect("to start");
    drop(command); // and with it our side of the terminals
    let status = child.wait().expect("to end");
    OnTerminals { stdout: from_stdout.join().expect("stdout"), stderr: from_stderr.join().expect("stderr"), status }
}

/// A terminal to read from, on which nothing is typed; it lasts as long as its other side, which comes with it.
pub(crate) fn silent_terminal() -> (Stdio, File) {
    let pty = openpty(None, None).expect("a pty");
    (Stdio::from(pty.slave), File::from(pty.master))
}

/// A terminal that changes nothing, and all that is written to it until no process holds it any more.
fn terminal(size: Option<&Winsize>) -> (Stdio, JoinHandle<Vec<u8>>) {
    let pty = openpty(size, None).expect("a pty");
    let mut settings = tcgetattr(&pty.slave).expect("its settings");
    cfmakeraw(&mut settings);
    tcsetattr(&pty.slave, SetArg::TCSANOW, &settings).expect("to set it");
    // Another test's program that has it, too, would keep it open.
    for end in [&pty.master, &pty.slave] {
        fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).expect("to close it for others");
    }
    let master = File::from(pty.master);
    let reader = thread::spawn(move || {
        let mut all = Vec::new();
        while let some @ [_, ..] = some_of(&master).as_slice() {
            all.extend_from_slice(some);
        }
        all
    });
    (Stdio::from(pty.slave), reader)
}

/// Some of what is written to a terminal; nothing at its end.
///
/// A terminal ends with EIO. The kernel looks for text, and then whether the other side is closed: what comes and is
/// the last between the two is there when it is read once more.
fn some_of(mut master: &File) -> Vec<u8> {
    let mut some = vec![0; 4096];
    let count = master.read(&mut some).or_else(|_| master.read(&mut some)).unwrap_or(0);
    some.truncate(count);
    some
}
