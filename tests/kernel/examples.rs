//! Every example that people read is done by the program on real kernels: those of the kernel's own documentation,
//! and those of our reference pages and of `--help`.

use crate::common::echoes;
use crate::common::examples::{Example, examples};
use crate::common::help_examples::commands;
use crate::guest_machine::{Guest, Kernel, on_kernels};
use std::process::Command;

const DOCUMENTED: &str = r#"
T=/sys/kernel/tracing
fail() { echo "FAILED: $*"; }
echo 1408 > $T/buffer_size_kb
knobs > before
: > echoes; : > skipped
has() { [ -e $T/events/$1 ] || { echo "$1" >> skipped; return 1; }; }
shown() { grep -v '^#' $T/events/$1/trigger; }
do_filter() {
  has $1 || return
  rtrace filter set $(echo $1 | tr / :) "$2" 2> err || fail "filter $1 $2: $(cat err)"
  case $2$1 in 0*) [ "$(cat $T/events/$1/filter)" = none ] || fail 'filter 0';;
    *sched) [ $(cat $T/events/sched/*/filter | grep -cvx none) -ge 1 ] || fail "filter of $1";;
    *) printf 'filter\t%s\t%s\n' "$2" "$(cat $T/events/$1/filter)" >> echoes;; esac
  rtrace filter clear $(echo $1 | tr / :) || fail 'filter clear'
}
do_refused() {
  rtrace filter set $(echo $1 | tr / :) "$2" 2> err; [ $? = 2 ] && grep -q 'not found' err || fail "$2 is not refused: $(cat err)"
  [ "$(cat $T/events/$1/filter)" = none ] || fail "$2 was written"
}
do_pids() {
  rtrace filter set --pid $(echo $2 | tr ' ' ,) || fail "pids $2"
  [ "$(cat $T/set_event_pid | tr '\n' ' ')" = "$(echo $2 | tr ' ' '\n' | sort -n | tr '\n' ' ')" ] || fail "pids $2 became $(cat $T/set_event_pid)"
  rtrace filter clear
}
# What the documents set up before: a histogram to be paused, cleared, enabled or that shares the name.
basis() {
  case $2 in
    *:pause|*:cont|*:clear) rtrace trigger add $1 "${2%:*}" 2> err || fail "basis of $1 $2: $(cat err)";;
    *able_hist:*) rtrace trigger add net:netif_receive_skb hist:keys=len 2> err || fail "basis of $1 $2: $(cat err)";;
  esac
}
# Of an event and of that which shares its histogram; of all is much slower in a guest.
unbasis() {
  for e in $1 net:netif_receive_skb; do rtrace trigger clear $e 2> err || fail "trigger clear: $(cat err)"; done
}
do_trigger() {
  has $1 || return
  e=$(echo $1 | tr / :)
  basis $e "$2"
  rtrace trigger add $e "$2" 2> err || fail "trigger add $e $2: $(cat err)"
  case $2 in
    *:pause) shown $1 | grep -q '\[paused\]' || fail "$2 does not pause: $(shown $1)";;
    *:cont) shown $1 | grep -q '\[active\]' || fail "$2 does not go on: $(shown $1)";;
    *:clear) grep -q 'Hits: 0' $T/events/$1/hist || fail "$2 does not clear";;
    *) # It counts down with each event from the start.
      n=$(echo "${2%% if *}" | sed -n 's/.*:\([0-9][0-9]*\)$/\1/p')
      printf 'trigger\t%s\t%s\n' "$2" "$(shown $1 | sed "s/:count=[0-9]*/:count=${n:-0}/")" >> echoes;;
  esac
  unbasis $e
}
do_remove() {
  has $1 || return
  e=$(echo $1 | tr / :)
  rtrace trigger add $e "$2" 2> err || fail "trigger add $e $2: $(cat err)"
  rtrace trigger remove $e "$2" 2> err || fail "trigger remove $e $2: $(cat err)"
  [ -z "$(shown $1)" ] || fail "$e still has $(shown $1)"
}
do_function() { functions "$2"; }
do_function_remove() { functions "$2"; }
functions() {
  [ -e $T/set_ftrace_filter ] || return
  name=${1%%:*}; action=${1#*:}
  if ! grep -q "^$name\( \|\$\)" $T/available_filter_functions; then
    rtrace trigger add --function $name "$action" 2> err && fail "a trigger of $name, which does not exist"
    grep -q "$name" err || fail "no word about $name: $(cat err)"
    echo "$name" >> skipped; name=schedule_timeout
  fi
  rtrace trigger add --function $name "$(echo $action | sed 's/:0$/:7/')" 2> err || fail "function $1: $(cat err)"
  grep -q "^$name:" $T/set_ftrace_filter || fail "function $1 is not there"
  rtrace trigger remove --function $name "$action" 2> err || fail "function $1 is not removed: $(cat err)"
  grep -q "^$name:" $T/set_ftrace_filter && fail "function $1 is still there"
}
"#;

on_kernels!(long the_kernels_documentation: V6_1, AllTracers; suites V6_12 => |kernel| {
    let mut script = DOCUMENTED.to_owned();
    for Example { kind, event, text } in examples() {
        let kind = kind.replace('-', "_");
        let text = if text == "$$" { "1" } else { text };
        script.push_str(&format!("do_{kind} {event} '{}'\n", text.replace('\'', "'\\''")));
    }
    // An event that an enable_event trigger has enabled stays so when the trigger goes.
    script.push_str("rtrace snapshot free; echo 1 > $T/tracing_on; echo 0 > $T/events/enable\nknobs > after; diff before after\nexit 0\n");
    let Some(guest) = Guest::run(kernel, &script, &[]) else { return };
    assert_eq!(guest.text("stdout"), "", "{kernel:?}: {}", guest.text("stderr"));
    let seen = echoes::compare(&guest.text("echoes"));
    assert!(seen[0] >= 2 && seen[1] >= 20, "{seen:?}; skipped: {}", guest.text("skipped"));
});

/// The verbs that trace or read what the kernel has, and what their examples find there.
const DAILY: [(&str, &str); 18] = [
    ("record", ""),
    ("stream", ""),
    // One recorder that was killed, and what trace-cmd leaves when it is.
    (
        "recover",
        "for file in trace run; do\n\
           rtrace record -q -e sched -o $file.dat & pid=$!\n\
           until_true eval 'grep -qs \"entries: [1-9]\\|read events: [1-9]\" $T/instances/rtrace-$pid/per_cpu/cpu*/stats' || echo FAILED: no recording\n\
           kill -9 $pid; wait $pid 2> /dev/null\n\
         done\n\
         rtrace reset --stale > /dev/null\n\
         rtrace start -e sched\n\
         for cpu in 0 1; do\n\
           taskset $((cpu + 1)) ls / > /dev/null; dd if=$T/per_cpu/cpu$cpu/trace_pipe_raw of=trace.dat.cpu$cpu bs=4096 count=1 2> /dev/null\n\
         done\n",
    ),
    (
        "extract",
        "mkdir $T/instances/boot_map; echo 1 | tee $T/instances/boot_map/events/sched/enable > $T/events/sched/enable; ls / > /dev/null; rtrace snapshot take\n",
    ),
    ("profile", "rtrace record -q --profile -F -c -- ls / > /dev/null\n"),
    ("profile functions", ""),
    ("stack", ""),
    ("list", ""),
    ("mem", "rtrace record -q -e kmem -o kmem.dat -- ls / > /dev/null\n"),
    ("check-events", ""),
    ("start", "mkdir $T/instances/web\n"),
    ("set", "mkdir $T/instances/web\n"),
    ("stop", "mkdir $T/instances/web\n"),
    ("restart", ""),
    ("clear", "mkdir $T/instances/web\n"),
    ("reset", "mkdir $T/instances/web\n"),
    ("show", "mkdir $T/instances/web; rtrace start -e sched\n"),
    ("stat", ""),
];

/// Adds the examples in the help of the daily verbs. Those of verbs that read files are done in `tests/cli/examples.rs`.
fn daily_verbs(script: &mut String) {
    script.push_str(
        "until_true() { n=0; until \"$@\"; do n=$((n + 1)); [ $n -lt 3000 ] || return 1; usleep 100000; done; }\n\
         jq() { cat; }\n\
         settings() { knobs | grep -v '^./trace_stat/\\|^./stack_max_size\\|^./saved_cmdlines:'; }\n\
         rtrace reset -b 1410 > /dev/null\n\
         settings > before\n",
    );
    for (verb, before) in DAILY {
        let words: Vec<&str> = verb.split(' ').chain(["--help"]).collect();
        let output = Command::new(env!("CARGO_BIN_EXE_rtrace")).args(words).output().expect("rtrace starts");
        let commands = commands(&String::from_utf8(output.stdout).unwrap());
        assert!(!commands.is_empty(), "{verb} has no examples");
        script.push_str("rm -rf /tmp/in; mkdir /tmp/in; cd /tmp/in\n");
        script.push_str(before);
        for command in commands {
            let mut command = command
                .replace("--duration 10s", "--duration 300ms")
                .replace("--duration 10 ", "--duration 300ms ")
                .replace("--duration 5s", "--duration 300ms")
                .replace("-- make -j8", "-- ls /")
                .replace("-- make", "-- ls /")
                .replace("./server --once", "ls /")
                .replace("./server", "ls /")
                .replace("./client", "ls /")
                .replace("/etc/hostname", "/etc/passwd")
                .replace("/tmp/x.tar /etc", "/tmp/x.tar /etc/passwd")
                .replace("-P 1234", "-P 1")
                .replace("rtrace restore", "rm -f run.dat; rtrace restore")
                .replace("show -p", "show -p | head -n 1");
            // Commands that go on until they are interrupted.
            let ends = ["--duration", " -- ", "--input", "functions"].iter().any(|word| command.contains(word));
            if matches!(verb, "stream" | "profile") && !ends {
                command = command.replace(&format!("rtrace {verb}"), &format!("rtrace {verb} --duration 300ms"));
            }
            script.push_str(&format!("try '{}'\n", command.replace('\'', "'\\''")));
        }
        script.push_str("rtrace stack --stop; rtrace reset > /dev/null; clean\n");
    }
    script.push_str("cd /out; rtrace reset -b 1410\nsettings > after; diff before after\n");
}

on_kernels!(long our_own_pages: V6_1, AllTracers; suites V6_12 => |kernel| {
    let mut script = String::from(
        "T=/sys/kernel/tracing\nknobs > before\n\
         rtrace record -q -e sched -T -- ls / > /dev/null || exit\n\
         rtrace record -q -e sched -e irq -e raw_syscalls -e kmem:kmalloc -o run.dat -- ls / > /dev/null || exit\n\
         # One that does not end by itself is named, not waited for.\n\
         try() { (eval \"$1\") > out 2> err & p=$!; n=0\n\
           while kill -0 $p 2> /dev/null && [ $n -lt 1200 ]; do usleep 50000; n=$((n + 1)); done\n\
           [ $n -lt 1200 ] || { echo \"GOES ON: $1\"; killall -9 rtrace; }\n\
           wait $p; rc=$?; [ $rc = 0 ] && return\n\
           case \"$1\" in *'profile functions'*) grep -q CONFIG_FUNCTION_PROFILER err && return;; esac\n\
           case \"$1\" in *io.dat*) grep -q 'holds no whole requests' err && return;; esac\n\
           case \"$1\" in *STACKTRACE*) grep -q 'Linux 6.3 and later' err && return;; esac\n\
           case \"$1\" in *fprobe*|*tprobe*) [ $rc = 5 ] && return; uname -r | grep -q cloud && return;; esac\n\
           echo \"FAILED ($rc): $1\"; cat err; }\n\
         clean() { rtrace filter clear; rtrace trigger clear; rtrace hist stop 2>/dev/null; rtrace synth remove --all --force\n\
           rtrace probe remove --all; rtrace snapshot free; for i in $(ls $T/instances); do rtrace instance remove --force $i; done\n\
           echo 0 > $T/options/event-fork; echo 1 > $T/tracing_on; }\n",
    );
    let mut run = 0;
    for topic in ["recipes", "filter", "trigger", "hist", "synth", "probe", "latency", "snapshot", "instance", "sqlhist"] {
        let mut pages: Vec<String> = Vec::new();
        for args in [&["help", topic][..], &[topic, "--help"][..]] {
            let only_a_topic = topic == "recipes";
            let only_a_verb = matches!(topic, "sqlhist" | "latency" | "snapshot" | "instance");
            if args[0] == "help" && only_a_verb || args[0] != "help" && only_a_topic {
                continue;
            }
            let output = Command::new(env!("CARGO_BIN_EXE_rtrace")).args(args).output().expect("rtrace starts");
            pages.push(String::from_utf8(output.stdout).unwrap());
        }
        if topic == "recipes" {
            script.push_str(
                "here=$PWD; mkdir /tmp/in; cd /tmp/in; mkdir $T/instances/boot_map\n\
                 mkdir -p /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; mkdir /sys/fs/cgroup/web\n\
                 (while sleep 0.1; do ls / > /dev/null; done) & echo $! > /sys/fs/cgroup/web/cgroup.procs\n\
                 echo 1 | tee $T/instances/boot_map/events/sched/enable > $T/events/sched/enable; ls / > /dev/null\n",
            );
        }
        for page in &pages {
            let commands = commands(page);
            assert!(!commands.is_empty(), "no example in {page}");
            for command in commands {
                let command = command
                    .replace("| flamegraph.pl", "")
                    .replace("5s", "300ms")
                    .replace("10s", "300ms")
                    .replace("wait()) < 300ms", "wait()) < 10s")
                    .replace("./server", "ls /")
                    .replace("make -j8", "ls /")
                    .replace("-- make", "-- ls /")
                    .replace("1234", "1")
                    .replace("bash:readline", "rtrace:main");
                run += 1;
                script.push_str(&format!("try '{}'\n", command.replace('\'', "'\\''")));
            }
            script.push_str("clean\n");
        }
        if topic == "recipes" {
            script.push_str("echo 0 > $T/events/enable; cd $here\n");
        }
    }
    assert!(run > 50, "{run}");
    if kernel == Kernel::V6_12 {
        daily_verbs(&mut script);
    }
    script.push_str("exit 0\n");
    let Some(guest) = Guest::run(kernel, &script, &[]) else { return };
    assert_eq!(guest.text("stdout"), "", "{kernel:?}: {}", guest.text("stderr"));
});
