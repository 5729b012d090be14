//! Other programs, each with a time limit: a test never waits in silence for a program that hangs.

use std::io;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// The longest that another program may take: 2 minutes.
const LIMIT: Duration = Duration::from_secs(120);

/// Output of `command`, which reads nothing. Panics, naming the command, if it takes longer than [`LIMIT`].
#[track_caller]
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    output_within(command, LIMIT)
}

/// The same with another limit.
#[track_caller]
pub(crate) fn output_within(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let pid = child.id();
    let (ended, over) = mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        let late = over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        if late {
            kill_tree(pid);
        }
        late
    });
    let output = child.wait_with_output();
    drop(ended);
    if watchdog.join().expect("the watchdog ends") {
        let said = output.map(|o| [o.stdout, o.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()));
        let [stdout, stderr] = said.unwrap_or_default();
        panic!("killed after {limit:?}: {}\n--- stdout\n{stdout}\n--- stderr\n{stderr}", line(command));
    }
    output
}

/// The command line, as far as it is text.
pub(crate) fn line(command: &Command) -> String {
    let args = command.get_args().map(|arg| format!(" {:?}", arg.to_string_lossy()));
    format!("{}{}", command.get_program().to_string_lossy(), args.collect::<String>())
}

/// Kills `pid` and all that descend from it, the youngest first.
fn kill_tree(pid: u32) {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    for child in children.split_whitespace().filter_map(|pid| pid.parse().ok()) {
        kill_tree(child);
    }
    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
}
