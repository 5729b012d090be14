//! `trigger simulate`, held against the kernel: one instance records all, another one beside it has the trigger.

use crate::common::environment::TestEnvironment;
use crate::host::{kernel, record};
use serde_json::Value;

/// One task that calls lseek with offsets from 0 to 9, and kill before every seventh.
const LOAD: &str = "import os
f = os.open('/dev/zero', os.O_RDONLY)
for n in range(700):
    if n % 7 == 0: os.kill(os.getpid(), 0)
    os.lseek(f, n % 10, 0)
";
const SEEK: &str = "syscalls:sys_enter_lseek";
const KILL: &str = "syscalls:sys_enter_kill";

/// The names and fields of a buffer's events, in their order; the task is one, so that both buffers have one order.
fn events(env: &TestEnvironment, file: &str, buffer: &str) -> Vec<String> {
    let lines = env.rtrace(&["report", "--format", "json", file]).exits(0).stdout();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let wanted = lines.filter(|line| line["type"] == "event" && line["buffer"] == buffer);
    wanted.map(|line| format!("{} {}", line["event"], line["fields"])).collect()
}

#[test]
fn a_simulated_trigger_holds_what_the_kernel_holds() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    if env.command("python3").arg("--version").output().is_err() {
        return crate::common::not_run::not_run("no python3 is installed, which makes the load");
    }
    // The events of the buffer with triggers, each with its triggers, and whether the trigger acts at all.
    type OnEvent<'t> = (&'t str, &'t [&'t str]);
    let setups: &[(&[OnEvent<'_>], u64)] = &[
        (&[(SEEK, &["traceoff if offset == 5"]), (KILL, &[])], 1),
        (&[(SEEK, &["traceoff"]), (KILL, &[])], 1),
        (&[(SEEK, &["traceoff if offset == 5"]), (KILL, &["traceon"])], 60),
        (&[(SEEK, &["traceoff if offset == 5"]), (KILL, &["traceon if sig == 0"])], 60),
        (&[(SEEK, &["traceoff:3 if offset > 7"]), (KILL, &["traceon"])], 3),
        (&[(SEEK, &["traceoff if offset > 7"]), (KILL, &["traceon:2"])], 3),
        (&[(SEEK, &["enable_event:syscalls:sys_enter_kill:1 if offset == 7"])], 1),
        (&[(SEEK, &["enable_event:syscalls:sys_enter_kill if offset == 7"])], 1),
        (&[(SEEK, &["disable_event:syscalls:sys_enter_kill:2 if offset == 7"]), (KILL, &[])], 1),
    ];
    for (setup, acts) in setups {
        let mut words: Vec<&str> = vec!["-F", "-B", "all", "-e", SEEK, "-e", KILL, "-B", "held"];
        for (event, triggers) in *setup {
            words.extend(["-e", event]);
            words.extend(triggers.iter().flat_map(|trigger| ["-R", trigger]));
        }
        words.extend(["-o", "both.dat", "--", "python3", "-c", LOAD]);
        record(&env, &words).exits(0);
        let all = events(&env, "both.dat", "all");
        let kills = all.iter().filter(|event| event.contains("sys_enter_kill")).count();
        assert!(kills == 100 && all.len() >= 800, "{kills} of {}", all.len());
        let held = events(&env, "both.dat", "held");

        let mut gates: Vec<(&str, &str)> =
            setup.iter().flat_map(|(event, triggers)| triggers.iter().map(|trigger| (*event, *trigger))).collect();
        let (event, trigger) = gates.remove(0);
        let with: Vec<String> = gates.iter().map(|(event, trigger)| format!("{event} {trigger}")).collect();
        let mut words =
            vec!["trigger", "simulate", "-i", "both.dat", "--buffer", "all", "--force", "-o", "held.dat", "--json"];
        words.extend(with.iter().flat_map(|with| ["--with", with]));
        words.extend([event, trigger]);
        let document: Value = serde_json::from_str(&env.rtrace(&words).exits(0).stdout()).expect("JSON");
        let simulated = events(&env, "held.dat", "all");
        assert_eq!(simulated, held, "{setup:?}: {document:#}");
        let gate = document["triggers"].as_array().expect("triggers").last().expect("the trigger");
        let acted = gate["acted"].as_u64().expect("a number");
        assert!(acted >= *acts && held.len() < all.len(), "{setup:?}: {} of {}: {document:#}", held.len(), all.len());
    }
}
