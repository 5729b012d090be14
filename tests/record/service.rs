//! `record --config`: a recorder under a supervisor that speaks sd_notify(3).

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::host::kernel;
use crate::saves::{FIRST, numbers_in};
use crate::state::{PATIENCE, Running};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

/// The supervisor's socket.
struct Supervisor(UnixDatagram);

impl Supervisor {
    fn new(env: &TestEnvironment) -> Self {
        let socket = UnixDatagram::bind(env.path().join("notify")).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        Supervisor(socket)
    }

    /// Waits for the next message, which has this line.
    fn hears(&self, line: &str) {
        let mut text = [0; 512];
        let len = self.0.recv(&mut text).unwrap_or_else(|error| panic!("no {line}: {error}"));
        let text = String::from_utf8_lossy(&text[..len]);
        assert!(text.lines().any(|said| said == line), "{line}: {text}");
    }

    fn starts(env: &TestEnvironment) -> Running {
        let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
        command.args(["record", "--config", "web.toml"]).env("NOTIFY_SOCKET", env.path().join("notify"));
        Running::start(command)
    }
}

fn configure(env: &TestEnvironment, more: &str) {
    let text = format!(
        "# One recorder.\njournal-dir = \"journal\"\nring = \"8M\"\nmetrics = \"rtrace.prom\"\nkeep-saves = 3\n\
         [[in-order]]\nevent = \"syscalls:sys_enter_kill\"\nfilter = \"sig == 0 && pid >= {FIRST} && pid <= {}\"\n\
         [[in-order]]\n{more}\n",
        i32::MAX
    );
    fs::write(env.path().join("web.toml"), text).unwrap();
}

fn call(number: i32) {
    let _ = kill(Pid::from_raw(FIRST + number), None);
}

#[test]
fn a_service_starts_reloads_crashes_and_ends() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let env = TestEnvironment::new();
    let supervisor = Supervisor::new(&env);
    configure(&env, "output = \"one.dat\"");
    env.rtrace(&["record", "--config", "web.toml", "--check"]).exits(0).prints_with("a sound configuration");
    let mut recorder = Supervisor::starts(&env);
    supervisor.hears("READY=1");
    call(1);
    let metrics = || fs::read_to_string(env.path().join("rtrace.prom")).unwrap();
    assert!(metrics().contains("# TYPE rtrace_events_total counter"), "{}", metrics());
    // A save is in the metrics at once.
    env.rtrace(&["save", "one.dat", "-o", "save.dat"]).exits(0);
    let says = |text: &str| {
        let until = Instant::now() + PATIENCE;
        while !metrics().contains(text) {
            assert!(Instant::now() < until, "{text}: {}", metrics());
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    says("rtrace_saves_total 1\n");
    // Every ten seconds what the kernel says is in it, too.
    let kib = std::fs::read_to_string(
        tracefs.root().join("instances").join(format!("rtrace-{}", recorder.pid())).join("buffer_total_size_kb"),
    );
    says(&format!("rtrace_ring_buffer_size_bytes {}\n", kib.unwrap().trim().parse::<u64>().unwrap() * 1024));
    // A wrong file changes nothing.
    configure(&env, "output = \"two.dat\"\nrign = \"1M\"");
    let said = "web.toml:11: there is no option `rign` of record";
    env.rtrace(&["record", "--config", "web.toml", "--check"]).exits(2).complains_with(said).complains_with("^~~~");
    kill(recorder.pid(), Signal::SIGHUP).unwrap();
    supervisor.hears("STATUS=recording; the new configuration is wrong");
    call(2);
    // A right one begins the next recording in the same process.
    configure(&env, "output = \"two.dat\"");
    kill(recorder.pid(), Signal::SIGHUP).unwrap();
    supervisor.hears("RELOADING=1");
    supervisor.hears("READY=1");
    assert!(!recorder.has_ended());
    assert!(metrics().contains("\nrtrace_restarts_total 1\n"), "{}", metrics());
    call(3);
    let calls = |file: &str, exit: i32| {
        let out = env.rtrace(&["report", file]);
        out.exits(exit);
        numbers_in(&out.stdout()).remove(&1).unwrap_or_default()
    };
    assert_eq!(calls("one.dat", 0), [1, 2]);
    // After a crash the next one recovers first.
    kill(recorder.pid(), Signal::SIGKILL).unwrap();
    recorder.wait();
    let mut recorder = Supervisor::starts(&env);
    supervisor.hears("READY=1");
    assert_eq!(calls("two.dat.old", 0), [3]);
    assert!(metrics().contains("\nrtrace_restarts_total 2\n"), "{}", metrics());
    call(4);
    kill(recorder.pid(), Signal::SIGTERM).unwrap();
    supervisor.hears("STOPPING=1");
    assert_eq!(recorder.wait().code(), Some(0));
    assert_eq!(calls("two.dat", 0), [4]);
    assert!(!env.path().join("rtrace.prom").exists());
    before.assert_unchanged(&Knobs::read(tracefs.root()));
}
