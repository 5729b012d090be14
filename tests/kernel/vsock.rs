//! vsock: a guest with `vsock_loopback` is its own host (CID 1), with trace-cmd at the other end of each connection in turn.

use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::guest_machine::{Guest, Kernel, on_kernels};

const SCRIPT: &str = r#"
[ -e /dev/vsock ] || { echo 'no vsock' > lacks; exit; }
fail() { echo "failed: $*" >&2; exit 3; }
wait_for() {
  i=0
  until grep -q "$1" "$2" 2>/dev/null; do i=$((i + 1)); [ $i -lt 300 ] || fail "no '$1' in $2: $(cat "$2")"; sleep 0.2; done
}
# reaches LOG COMMAND...: runs it, again while it finds no listener: trace-cmd's do not say when they listen.
reaches() {
  log=$1 i=0
  shift
  until "$@" 2> "$log"; do
    status=$?
    grep -q 'failed to connect' "$log" && [ $i -lt 120 ] || return $status
    i=$((i + 1)); sleep 0.5
  done
}
mkdir ours theirs
command -v trace-cmd > has-trace-cmd
rtrace listen -V -p 12345 -d ours --allow @1 2> listen.log & listener=$!
wait_for 'listening on vsock port 12345' listen.log
rtrace record -q -V 1:12345 -e sched -- sleep 1 || fail "record -V to listen -V: $?"
if [ -s has-trace-cmd ]; then trace-cmd record -V 1:12345 -e sched sleep 1 > tc-record.log 2>&1 || fail "trace-cmd record -V: $(cat tc-record.log)"; fi
kill -INT $listener; wait $listener || fail "listen -V: $?: $(cat listen.log)"
rtrace agent --allow @1 2> agent.log & agent=$!
wait_for 'agent on vsock port 823' agent.log
rtrace record -e sched -o own.dat -A vm@1 -e sched -- sleep 1 2> record.log || fail "record -A vm@1: $(cat record.log agent.log)"
if [ -s has-trace-cmd ]; then trace-cmd record -o tc.dat -e sched -A vm@1:823 -e sched sleep 1 > tc-control.log 2>&1 || fail "trace-cmd record -A: $(cat tc-control.log)"; fi
kill -INT $agent; wait $agent || fail "agent: $?: $(cat agent.log)"
rtrace agent -P 1 2> proxy.log & agent=$!
wait_for 'agent on vsock port 823' proxy.log
rtrace record -e sched -o guest.dat --proxy 1 -e sched -- sleep 1 2> to-host.log || fail "record --proxy: $(cat to-host.log proxy.log)"
rtrace report guest.dat guest-cid1.dat 2> merged.log | grep -c sched > merged
rtrace record -e sched -o refused.dat -A @1 -e sched -- sleep 1 2> no-guest.log; echo $? > no-guest
if [ -s has-trace-cmd ]; then
  # Its file has an offset if one was measured by its end.
  trace-cmd record -o tc-guest.dat -e sched --proxy 1:823 -e sched sleep 4 > tc-guest.log 2>&1 || fail "trace-cmd record --proxy: $(cat tc-guest.log proxy.log)"
  trace-cmd report -i tc-guest.dat -i tc-guest-1.dat 2> tc-merged.log | grep -c sched > tc-merged
fi
kill -INT $agent; wait $agent || fail "agent -P: $?: $(cat proxy.log)"
rtrace agent 2> strict.log & agent=$!
wait_for 'agent on vsock port 823' strict.log
rtrace record -e sched -o refused.dat -A @1 -e sched -- sleep 1 2> refused.log; echo $? > refused
kill -INT $agent; wait $agent
rtrace record -e sched -o none.dat -A @1:4711 -e sched -- sleep 1 2> nobody.log; echo $? > nobody
[ -s has-trace-cmd ] || exit 0
trace-cmd listen -V -p 12346 -d theirs -o t > tc-listen.log 2>&1 & listener=$!
reaches to-listen.log rtrace record -q -V 1:12346 -e sched -- sleep 1 || fail "record -V to trace-cmd: $? $(cat to-listen.log tc-listen.log)"
kill -TERM $listener; wait $listener
trace-cmd agent > tc-agent.log 2>&1 & agent=$!
reaches to-theirs.log rtrace record -e sched -o to-theirs.dat -A @1 -e sched -- sleep 1 || fail "record -A to trace-cmd's agent: $(cat to-theirs.log)"
kill -KILL $agent
trace-cmd agent -P 1 > tc-proxy.log 2>&1 & agent=$!
reaches of-theirs.log rtrace record -e sched -o of-theirs.dat --proxy 1 -e sched -- sleep 1 || fail "record --proxy to trace-cmd's agent: $(cat of-theirs.log)"
trace-cmd report -i of-theirs.dat -i of-theirs-cid1.dat 2> of-merged.log | grep -c sched > of-merged
kill -KILL $agent
"#;

/// Events of the files whose names begin and end so; there is one of them.
fn count(guest: &Guest, dir: &str, begin: &str) -> u64 {
    let files = std::fs::read_dir(guest.file(dir)).expect("the guest's files").map(|entry| entry.expect("one").path());
    let is_wanted = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with(begin) && name.ends_with(".dat")
    };
    files.filter(is_wanted).map(|path| of_file(&path)).sum()
}

fn of_file(path: &std::path::Path) -> u64 {
    let env = TestEnvironment::new();
    let path = path.to_str().expect("a plain path");
    env.rtrace(&["dump", "--validate", path]).exits(0);
    let all = env.rtrace(&["report", "--count", path]).exits(0).stdout();
    let total = all.lines().find_map(|line| line.trim().strip_suffix(" in all"));
    total.and_then(|total| total.replace(',', "").parse().ok()).unwrap_or_else(|| panic!("{path}: {all}"))
}

on_kernels!(long host_and_guest_over_vsock: V6_12 => |kernel| {
    let Some(guest) = Guest::run_with(&["-m", "vsock_loopback"], kernel, SCRIPT, &[]) else { return };
    if guest.file("lacks").exists() {
        not_run(format!("vsock on {kernel:?}: the kernel has no vsock_loopback"));
        return;
    }
    let events = |name: &str| of_file(&guest.file(name));
    let logged = guest.text("listen.log");
    let theirs = !guest.text("has-trace-cmd").is_empty();
    assert_eq!(logged.matches(", complete").count(), if theirs { 2 } else { 1 }, "{logged}");
    assert!(count(&guest, "ours", "trace.V1:") > 100, "{logged}");
    assert!(events("own.dat") > 20 && events("own-vm.dat") > 20);
    let said = guest.text("record.log");
    assert!(said.contains("own-vm.dat: guest vm:") && said.contains("times by the host's clock local, within"), "{said}");
    // Roles reversed: the host is the guest's guest.
    let both = |name: &str, of: [&str; 2]| {
        let lines: u64 = guest.text(name).trim().parse().expect("a number of lines");
        assert_eq!(lines, of.into_iter().map(events).sum::<u64>(), "{name}: {of:?}");
        assert!(of.into_iter().all(|name| events(name) > 20));
    };
    both("merged", ["guest.dat", "guest-cid1.dat"]);
    let said = guest.text("to-host.log");
    assert!(said.contains("guest-cid1.dat: guest cid1:") && said.contains("times by the host's clock local, within"), "{said}");
    assert!(guest.text("no-guest.log").contains("it serves guests (-P), by their `record --proxy`"));
    assert_eq!(guest.text("no-guest").trim(), "125");
    // Without --allow an agent serves its host alone.
    assert_eq!((guest.text("refused").trim(), guest.text("nobody").trim()), ("125", "125"));
    let said = guest.text("refused.log");
    assert!(said.contains("its address is not allowed"), "{said}");
    let said = guest.text("nobody.log");
    assert!(said.contains("failed to connect to the agent at @1:4711"), "{said}");
    if !theirs {
        not_run("vsock with trace-cmd at the other end: none is installed");
        return;
    }
    assert!(logged.contains("(V3) records to trace.V1:"), "{logged}");
    for name in ["tc.dat", "tc-vm.dat", "to-theirs.dat", "to-theirs-cid1.dat"] {
        assert!(events(name) > 20, "{name}");
    }
    assert!(count(&guest, "theirs", "t.V1:") > 20);
    both("tc-merged", ["tc-guest.dat", "tc-guest-1.dat"]);
    both("of-merged", ["of-theirs.dat", "of-theirs-cid1.dat"]);
    let said = guest.text("tc-guest.log");
    assert!(said.contains("Negotiated ptp time sync protocol with guest 1"), "{said}");
    // It takes 5 s without a message for the end, which comes later where the machine is that slow.
    if said.contains("reading client -110") {
        not_run("the offset in trace-cmd's own file, for which it waits 5 s: this machine was slower");
    } else {
        let file = guest.file("tc-guest.dat");
        let shift = TestEnvironment::new().rtrace(&["dump", "--options", file.to_str().expect("a path")]).stdout();
        let samples = shift.lines().find_map(|line| line.strip_suffix(" [samples count for CPU 0]")?.parse::<u32>().ok());
        assert!(shift.contains("[Option TimeShift") && samples.is_some_and(|samples| samples >= 2), "{said}{shift}");
    }
    let said = guest.text("tc-control.log");
    assert!(said.contains("Negotiated ptp time sync protocol with guest vm"), "{said}");
    println!("listen -V, record -V, agent, -A, agent -P and --proxy over vsock, with trace-cmd's at either end");
});
