//! `-f` and `-R` are checked before anything is set, and their events' formats are in the file.

use crate::common::environment::TestEnvironment;
use crate::host::{kernel, record, report};
use rtrace::tracefs::Journal;

const SWITCH: [&str; 2] = ["-e", "sched:sched_switch"];

#[test]
fn a_wrong_filter_or_trigger_is_refused_with_its_place() {
    let Some(_kernel) = kernel() else { return };
    for (option, text, why, hint) in [
        ("-f", "prevpid == 1", "field `prevpid` not found", "did you mean `prev_pid`?"),
        ("-f", "prev_pid > 1 &&", "invalid filter: ", "^"),
        ("-f", "prev_comm > 1", "invalid filter for sched:sched_switch: ", "^"),
        ("-R", "stacktrac", "invalid trigger: ", "did you mean `stacktrace`?"),
        ("-R", "enable_event:irq:x", "invalid trigger for sched:sched_switch: ", "no event `irq:x`"),
        ("-R", "traceoff if prevpid == 1", "field `prevpid` not found", "did you mean `prev_pid`?"),
    ] {
        let env = TestEnvironment::new();
        let out = record(&env, &[&SWITCH[..], &[option, text, "--", "touch", "ran"]].concat());
        out.exits(2).complains_with(why).complains_with(hint);
        assert!(!env.path().join("ran").exists() && !env.path().join("trace.dat").exists(), "{text}");
    }
}

#[test]
fn bare_words_are_quoted() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let filters = ["-f", "next_comm == a_bare_word || prev_comm == a_bare_word", "-f", "prev_pid >= 0"];
    let load = "printf a_bare_word > /proc/self/comm; sleep 0.01; :";
    record(&env, &[&SWITCH[..], &filters, &["--", "bash", "-c", load]].concat()).exits(0);
    let lines = report(&env);
    assert!(!lines.is_empty() && lines.iter().all(|line| line.contains("a_bare_word")), "{lines:#?}");
}

/// Of a system, the events that lack a field are recorded unfiltered, as the kernel does it.
#[test]
fn a_filter_for_a_system_is_for_the_events_that_can_have_it() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    record(&env, &["-e", "sched", "-f", "prev_pid < 0", "--", "true"]).exits(0);
    let lines = report(&env);
    assert!(lines.iter().any(|line| line.contains("sched_process_exit")), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("sched_switch")), "{lines:#?}");
    let nearest = "did you mean `prev_pid`?";
    record(&env, &["-e", "sched", "-f", "prevpid == 1", "--", "true"]).exits(2).complains_with(nearest);
    record(&env, &["-e", "sched", "-f", "nosuch == 1", "--", "true"])
        .exits(2)
        .complains_with("field `nosuch` not found");
}

#[test]
fn an_event_that_a_trigger_switches_on_has_its_format_in_the_file() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let trigger = ["-R", "enable_event:syscalls:sys_enter_kill"];
    let load = "sleep 0.01; kill -0 $$";
    record(&env, &[&SWITCH[..], &trigger, &["--", "bash", "-c", load]].concat()).exits(0);
    let lines = report(&env);
    assert!(lines.iter().any(|line| line.contains("sys_enter_kill")), "{lines:#?}");
}

#[test]
fn a_command_beside_processes_is_how_long_they_are_recorded() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let mut other = env.command("bash").args(["-c", "while :; do kill -0 $$; sleep 0.01; done"]).spawn().unwrap();
    let pid = other.id().to_string();
    let event = ["-P", &pid, "-e", "syscalls:sys_enter_kill"];
    record(&env, &[&event[..], &["bash", "-c", "kill -0 $$; sleep 0.2; kill -0 $$"]].concat()).exits(0);
    other.kill().unwrap();
    other.wait().unwrap();
    let lines = report(&env);
    let of_it = format!("-{pid} ");
    assert!(lines.len() > 1 && lines.iter().all(|line| line.contains(&of_it)), "{lines:#?}");
}

/// They cannot be enabled, so no list of events has them.
#[test]
fn events_of_the_system_ftrace_take_triggers() {
    let Some((tracefs, _lock)) = kernel() else { return };
    let env = TestEnvironment::new();
    let name = format!("rtrace-test-print-{}", std::process::id());
    let mut journal = Journal::in_memory(&tracefs);
    let instance = journal.create_instance(&name).unwrap();
    let trigger = |verb: &str, rest: &[&str]| env.rtrace(&[&["trigger", verb, "-B", &name][..], rest].concat());
    trigger("add", &["ftrace:print", "stacktrace"]).exits(0);
    trigger("list", &[]).exits(0).prints_with("ftrace:print");
    std::fs::write(tracefs.root().join("instances").join(&name).join("trace_marker"), "here").unwrap();
    let text = instance.read("trace").unwrap();
    assert!(text.contains("here") && text.contains("<stack trace>"), "{text}");
    trigger("remove", &["ftrace:print", "stacktrace"]).exits(0);
    trigger("list", &[]).exits(0).prints("");
}
