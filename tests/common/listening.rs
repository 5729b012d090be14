//! A running `rtrace listen` or `rtrace agent`, on a port of this machine's loopback that was free.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The longest that a listener may take to say something that a test waits for.
const LIMIT: Duration = Duration::from_secs(60);

/// A listener or agent, which is killed if the test ends before it.
pub(crate) struct Listening {
    child: Child,
    pub(crate) port: u16,
    said: Receiver<String>,
    all: Vec<String>,
}

impl Listening {
    /// Starts `rtrace listen` with `args` more, writing to the folder `dir`.
    pub(crate) fn start(dir: &Path, args: &[&str]) -> Listening {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtrace"));
        command.args(["listen", "-d"]).arg(dir).args(args);
        if !args.contains(&"-p") {
            command.args(["-p", "0"]);
        }
        Self::spawn(command, "listening on 127.0.0.1:")
    }

    /// Starts `rtrace agent` with `args` more, for controllers of this machine.
    pub(crate) fn agent(args: &[&str]) -> Listening {
        Self::agent_for("127.0.0.1", args)
    }

    /// The same, for controllers at the address `controller`.
    pub(crate) fn agent_for(controller: &str, args: &[&str]) -> Listening {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtrace"));
        command.args(["agent", "-p", "0", "-N", controller]).args(args);
        Self::spawn(command, "agent on 127.0.0.1:")
    }

    fn spawn(mut command: Command, says: &str) -> Listening {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("rtrace starts");
        let (tell, said) = channel();
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let mut listening = Listening { child, port: 0, said, all: Vec::new() };
        let line = listening.says(says);
        let port = line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split(';').next());
        listening.port = port.and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("no port in {line}"));
        listening
    }

    /// Waits until it says something with `word` in it; gives that line.
    pub(crate) fn says(&mut self, word: &str) -> String {
        loop {
            match self.said.recv_timeout(LIMIT) {
                Ok(line) => {
                    self.all.push(line.clone());
                    if line.contains(word) {
                        return line;
                    }
                }
                Err(why) => panic!("the listener does not say `{word}` ({why}); it said\n{}", self.all.join("\n")),
            }
        }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.child.id() as i32)
    }

    /// Ends it by SIGINT; gives its exit code and all that it said.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        nix::sys::signal::kill(self.pid(), nix::sys::signal::Signal::SIGINT).expect("it runs");
        let status: ExitStatus = self.child.wait().expect("it ends");
        loop {
            match self.said.recv_timeout(LIMIT) {
                Ok(line) => self.all.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("its standard error stays open"),
            }
        }
        (status.code(), self.all.join("\n"))
    }

    /// Kills it without warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
