//! The command lines: the names of their manual pages, and the words after `rtrace`.
//!
//! In front of the words: `!` if raw attacks are to reach a pipe, `?` if they may, nothing if they must not.
//! FILE is the hostile recording, FILES each of them, CUT one that is damaged, ATTACK the name of the first.

use super::attack::attack;
use crate::walk::Tree;

type Lines = [(&'static str, &'static str)];

/// All lines.
pub(super) fn all() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    OF_FILES.iter().chain(OF_TRACEFS)
}

pub(super) const OF_FILES: &Lines = &[
    ("report", "!report FILES"),
    ("report", "!report -t -R FILES"),
    ("report", "!report -l -w --ts-diff --boundary FILES"),
    ("report", "!report --threads 1 FILE"),
    ("report", "?report --threads 3 FILE"),
    ("report", "?report --color always --first 5 FILES"),
    ("report", "!report --format kernel FILES"),
    ("report", "!report --format raw FILES"),
    ("report", "!report --format csv FILES"),
    ("report", "report --format json FILES"),
    ("report", "report --json-schema FILE"),
    ("report", "!report --summary FILES"),
    ("report", "report --summary --json FILE"),
    ("report", "!report --count FILE"),
    ("report", "report --count --json FILE"),
    ("report", "!report --profile FILE"),
    ("report", "report --profile --json FILE"),
    ("report", "?report --events FILES"),
    ("report", "?report --check-events FILE"),
    ("report", "?report --event sched FILE"),
    ("report", "?report -E FILE"),
    ("report", "?report -e FILE"),
    ("report", "?report -f FILE"),
    ("report", "?report -p FILES"),
    ("report", "?report -P FILES"),
    ("report", "?report --cpus FILE"),
    ("report", "!report --uname FILE"),
    ("report", "!report --version FILE"),
    ("report", "!report --stat FILE"),
    ("report", "?report --first-event --last-event FILE"),
    ("report", "!report --ts-check FILE CUT"),
    ("report", "!report CUT"),
    ("report", "?report -F ATTACK FILE"),
    ("report", "?report -T -F ATTACK FILE"),
    ("report", "report --filter ATTACK FILE"),
    ("report", "report --comm ATTACK FILE"),
    ("report", "!report --symbols user FILE"),
    ("report", "report --fields ATTACK --format csv FILE"),
    ("report", "report noATTACK ATTACKno"),
    ("completions", "completions bash"),
    ("completions", "complete zsh rtrace report ATTACK"),
    ("dump", "?dump FILES"),
    ("dump", "!dump --all FILE"),
    ("dump", "?dump --validate FILE"),
    ("dump", "!dump --validate CUT"),
    ("dump", "?dump --json FILE"),
    ("dump", "?dump --sections FILE"),
    ("dump", "?dump --options FILES"),
    ("dump", "?dump --buffers FILE"),
    ("dump", "?dump --head-page FILE"),
    ("dump", "?dump --ftrace-events FILE"),
    ("dump", "?dump --systems FILE"),
    ("dump", "!dump --events FILES"),
    ("dump", "?dump --kallsyms FILES"),
    ("dump", "?dump --printk FILES"),
    ("dump", "!dump --cmd-lines FILE"),
    ("dump", "!dump --clock FILE"),
    ("dump", "?dump --strings FILE"),
    ("hist", "?hist -i FILES"),
    ("hist", "?hist -i CUT"),
    ("hist", "?hist -i FILES sched:sched_switch --key next_comm"),
    ("hist", "?hist -i CUT sched:sched_switch --key ATTACK"),
    ("hist", "?hist -i FILES sched:sched_switch --key next_comm --json"),
    ("latency", "?latency -i FILES sched:sched_waking sched:sched_switch --by pid=next_pid --split next_comm"),
    ("trigger-simulate", "?trigger simulate -i FILES sched:sched_switch traceoff"),
    ("synth-sql", "?synth sql -i FILES select next_comm from sched_switch"),
    ("synth-sql-rows", "?synth sql -i FILES select next_comm, max(next_prio) from sched_switch"),
    ("mem", "mem FILE"),
    ("analyze", "analyze"),
    ("analyze-all", "?analyze all FILE"),
    ("analyze-all", "analyze all --json --top 3 FILE"),
    ("analyze-all", "analyze all CUT"),
    ("analyze-faults", "?analyze faults FILE"),
    ("analyze-faults", "analyze faults --json FILE"),
    ("analyze-faults", "analyze faults --csv FILE"),
    ("analyze-faults", "analyze faults CUT"),
    ("analyze-osnoise", "?analyze osnoise FILE"),
    ("analyze-osnoise", "analyze osnoise --json FILE"),
    ("analyze-osnoise", "analyze osnoise --csv FILE"),
    ("analyze-osnoise", "analyze osnoise CUT"),
    ("analyze-timerlat", "?analyze timerlat FILE"),
    ("analyze-timerlat", "analyze timerlat --json FILE"),
    ("analyze-timerlat", "analyze timerlat --csv FILE"),
    ("analyze-timerlat", "analyze timerlat CUT"),
    ("analyze-functions", "?analyze functions FILE"),
    ("analyze-functions", "analyze functions --json FILE"),
    ("analyze-functions", "analyze functions --csv --function ATTACK FILE"),
    ("analyze-functions", "analyze functions CUT"),
    ("analyze-locks", "?analyze locks FILE"),
    ("analyze-locks", "analyze locks --json FILE"),
    ("analyze-locks", "analyze locks --csv --comm ATTACK FILE"),
    ("analyze-locks", "analyze locks CUT"),
    ("analyze-memory", "?analyze memory FILE"),
    ("analyze-memory", "analyze memory --json FILE"),
    ("analyze-memory", "analyze memory --csv --sort live FILE"),
    ("analyze-memory", "analyze memory CUT"),
    ("analyze-io", "?analyze io FILE"),
    ("analyze-io", "analyze io --json FILE"),
    ("analyze-io", "analyze io --csv FILE"),
    ("analyze-io", "analyze io CUT"),
    ("analyze-irq", "?analyze irq FILE"),
    ("analyze-irq", "analyze irq --json FILE"),
    ("analyze-irq", "analyze irq --csv --top 3 FILE"),
    ("analyze-irq", "analyze irq CUT"),
    ("analyze-sched", "?analyze sched FILE"),
    ("analyze-sched", "?analyze sched --csv --top 0 FILE"),
    ("analyze-sched", "analyze sched --json FILE"),
    ("analyze-sched", "analyze sched CUT"),
    ("analyze-sched", "analyze sched --comm ATTACK FILE"),
    ("analyze-syscalls", "?analyze syscalls FILE"),
    ("analyze-syscalls", "analyze syscalls --json FILE"),
    ("analyze-syscalls", "analyze syscalls --csv --comm ATTACK --call ATTACK FILE"),
    ("analyze-syscalls", "analyze syscalls CUT"),
    ("why", "?why * --worst wakeup FILE"),
    ("why", "?why * --worst wakeup --top 0 FILE"),
    ("why", "why * --worst wakeup --json FILE"),
    ("why", "why * --worst pair --pair ATTACK FILE"),
    ("why", "why ATTACK --at 1 FILE"),
    ("why", "why * --worst wakeup CUT"),
    ("check", "?check --assert lost==0 FILE"),
    ("check", "?check --assert max(wait())<1ns FILE"),
    ("check", "?check --json --assert max(wait())<1ns --assert count(sched:*)==0 FILE"),
    ("check", "?check --github --junit out.xml --assert count(sched:*)==0 FILE"),
    ("check", "check --assert count(ATTACK)==0 FILE"),
    ("check", "check --assert lost==0 CUT"),
    ("check", "check --spec ATTACK FILE"),
    ("diff", "?diff FILE -- FILE"),
    ("diff", "?diff --markdown FILE -- FILE"),
    ("diff", "diff --json --metric mean(wait()) FILE -- CUT"),
    ("diff", "?diff --metric mean(wait(ATTACK)) FILE -- FILE"),
    ("diff", "diff --metric ATTACK FILE -- FILE"),
    ("baseline", "baseline"),
    ("baseline-save", "baseline save FILE -o saved.json"),
    ("baseline-compare", "baseline compare ATTACK FILE"),
    ("profile", "!profile --input FILE"),
    ("profile", "profile --stderr --input FILE"),
    ("split", "?split -i FILE -o part.dat"),
    ("split", "?split -i CUT -o part.dat"),
    ("convert", "?convert -i FILE -o new.dat"),
    ("convert", "?convert -i CUT -o new.dat"),
    ("convert", "?convert --force FILE -o out --to perfetto"),
    ("convert", "?convert --force FILES -o out --to folded"),
    ("convert", "?convert --force FILES -o out --to speedscope"),
    ("convert", "?convert --force FILES -o out --to chrome"),
    ("convert", "?convert --force FILES -o out --to firefox"),
    ("convert", "?convert --force FILES -o part.json --split 1M"),
    ("convert", "?convert FILES -o out.ctf"),
    ("convert", "?convert FILE -o ATTACK.parquet"),
    ("convert", "?convert --force FILES -o out.arrows"),
    ("convert", "?convert CUT -o - --to csv"),
    ("flame", "?flame --force FILES -o out.svg --title ATTACK"),
    ("flame", "?flame --force --off-cpu FILES -o out.folded"),
    ("flame", "?flame CUT --off-cpu -o ATTACK.svg"),
    ("sql", "?sql FILE ATTACK"),
    ("convert", "?convert FILE ATTACK"),
    ("recover", "?recover FILE"),
    ("recover", "?recover CUT"),
    ("recover", "?restore -i FILE -o new.dat ATTACK"),
    ("options", "options"),
    ("help", "help"),
    ("help", "help filter"),
    ("help", "help report"),
    ("filter-check", "?filter check ATTACK --input FILE"),
    ("record", "record --help"),
];

pub(super) const OF_TRACEFS: &Lines = &[
    ("start", "start --journal-dir j -e ATTACK"),
    ("start", "start --journal-dir j -p ATTACK"),
    ("set", "set --journal-dir j -C ATTACK"),
    ("set", "set --journal-dir j -v -b 64"),
    ("stop", "stop -B ATTACK"),
    ("restart", "restart -B ATTACK"),
    ("clear", "clear -B ATTACK"),
    ("reset", "?reset -B ATTACK"),
    ("show", "!show"),
    ("snapshot-show", "!snapshot show"),
    ("show", "!show --path trace saved_cmdlines"),
    ("show", "show --json trace"),
    ("show", "!show --hist sched:sched_switch"),
    ("show", "!show --trigger sched:sched_switch"),
    ("show", "!show --filter sched:sched_switch"),
    ("stat", "?stat"),
    ("stat", "?stat -a"),
    ("stat", "?stat --json"),
    ("doctor", "?doctor --machine other"),
    ("doctor", "?doctor --json --machine other"),
    ("list", "!list"),
    ("list", "?list -e"),
    ("list", "?list -e sched:sched_switch --full"),
    ("list", "?list -t -o -C -P -B"),
    ("list", "?list --json"),
    ("check-events", "?check-events"),
    ("listen", "listen -p 0 -d ATTACK"),
    ("stream", "stream --journal-dir j -e ATTACK"),
    ("record", "record --journal-dir j -e ATTACK"),
    ("record", "?record --dry-run -B ATTACK -e sched:sched_switch -- ATTACK"),
    ("extract", "extract -B ATTACK"),
    ("extract", "?extract -a -o ATTACK"),
    ("profile", "profile --journal-dir j -e ATTACK"),
    ("profile-functions", "?profile functions"),
    ("snapshot", "?snapshot -s"),
    ("snapshot-status", "?snapshot status"),
    ("snapshot-take", "?snapshot take"),
    ("snapshot-save", "?snapshot save ATTACK"),
    ("snapshot-clear", "?snapshot clear"),
    ("snapshot-free", "?snapshot free"),
    ("stack", "?stack"),
    ("instance", "instance --help"),
    ("instance-list", "!instance list"),
    ("instance-list", "instance list --json"),
    ("instance-show", "?instance show ATTACK"),
    ("instance-create", "?instance create ATTACK"),
    ("instance-set", "?instance set ATTACK -C ATTACK"),
    ("instance-save", "?instance save ATTACK x.dat"),
    ("instance-remove", "?instance remove noATTACK"),
    ("trigger", "trigger --help"),
    ("trigger-list", "!trigger list"),
    ("trigger-list", "trigger list --json"),
    ("trigger-add", "?trigger add ATTACK stacktrace"),
    ("trigger-add", "?trigger add sched:sched_switch ATTACK"),
    ("trigger-remove", "?trigger remove ATTACK stacktrace"),
    ("trigger-clear", "?trigger clear ATTACK"),
    ("filter", "filter --help"),
    ("filter-show", "!filter show"),
    ("filter-show", "filter show --json"),
    ("filter-set", "?filter set sched:sched_switch ATTACK"),
    ("filter-check", "?filter check sched:sched_switch ATTACK"),
    ("filter-clear", "?filter clear ATTACK"),
    ("probe", "probe --help"),
    ("probe-list", "!probe list"),
    ("probe-list", "probe list --json"),
    ("probe-add", "?probe add ATTACK"),
    ("probe-remove", "?probe remove ATTACK"),
    ("synth", "synth --help"),
    ("synth-define", "synth define ATTACK 'u64 lat'"),
    ("synth-list", "?synth list"),
    ("synth-show", "?synth show ATTACK"),
    ("synth-create", "?synth create ATTACK --start sched:sched_switch --end sched:sched_switch --match pid=pid"),
    ("synth-sql", "?synth sql ATTACK"),
    ("synth-remove", "?synth remove ATTACK"),
    ("hist", "?hist sched:sched_switch --key ATTACK"),
    ("hist-show", "!hist show"),
    ("hist-show", "!hist show --raw"),
    ("hist-show", "!hist show --csv"),
    ("hist-show", "hist show --json"),
    ("hist-start", "?hist start ATTACK --key x"),
    ("hist-stop", "?hist stop ATTACK"),
    ("hist-pause", "?hist pause ATTACK"),
    ("hist-continue", "?hist continue ATTACK"),
    ("hist-clear", "?hist clear ATTACK"),
    ("latency", "?latency ATTACK sched:sched_switch --by pid=next_pid"),
];

/// Makes everything in a tracing directory hostile that a task, a file or another user has a say in.
pub(super) fn fill(tree: &Tree) {
    let raw = attack(1, 12);
    let with = |before: &str, after: &str| [before.as_bytes(), &raw, after.as_bytes()].concat();
    let comm = "\u{1b}[2J\u{9b}2J";
    for place in ["", "instances/one/", &format!("instances/{comm}/")] {
        let put = |file: &str, text: &[u8]| tree.put(&format!("{place}{file}"), text);
        put("trace", &with("# tracer: nop\n          ", "-1  [000] .....  1.5: sched_switch: x\n"));
        put("snapshot", &with("# tracer: nop\n#\n# * Snapshot is allocated *\n ", "-1 [000] 1.5: x: y\n"));
        put("tracing_on", b"1\n");
        put("buffer_size_kb", b"1408\n");
        put("current_tracer", b"nop\n");
        put("trace_clock", format!("[local] {comm}\n").as_bytes());
        put("available_tracers", format!("{comm} nop\n").as_bytes());
        put("set_event", format!("sched:{comm}\nsched:sched_switch\n").as_bytes());
        put("events/enable", b"0\n");
        put("events/sched/sched_switch/enable", b"0\n");
        put("events/sched/sched_switch/filter", format!("prev_comm == \"{comm}\"\n").as_bytes());
        put("events/sched/sched_switch/trigger", triggers(comm).as_bytes());
        put("events/sched/sched_switch/hist", hist(comm).as_bytes());
        put(&format!("options/{comm}"), b"1\n");
    }
    for (file, text) in [
        ("saved_cmdlines", with("1 ", "\n")),
        ("README", b"tracing mini-HOWTO\n      Format: hist:keys=<field1>\n".to_vec()),
        ("printk_formats", with("0xffff : \"", "\"\n")),
        ("error_log", with("[ 1.5] trace_kprobe: error: ", "\n  Command: x\n           ^\n")),
        ("stack_trace", with("        Depth    Size   Location    (1 entries)\n  0)     1   1   ", "+0x1/0x2\n")),
        ("stack_max_size", b"1\n".to_vec()),
        ("dynamic_events", format!("p:kprobes/{comm} vfs_read\np:u/x /bin/{comm}:0x10\n").into_bytes()),
        ("kprobe_events", format!("p:kprobes/{comm} vfs_read\n").into_bytes()),
        ("uprobe_events", b"".to_vec()),
        ("synthetic_events", format!("{comm}\tu64 lat\n").into_bytes()),
    ] {
        tree.put(file, &text);
    }
}

/// Triggers, as the kernel prints them.
fn triggers(comm: &str) -> String {
    format!(
        "hist:keys=next_comm:vals=hitcount:sort=hitcount:size=2048 [active]\n\
         stacktrace:unlimited if prev_comm == \"{comm}\"\n"
    )
}

/// A table of which a key attacks, as the kernel prints it.
fn hist(comm: &str) -> String {
    format!(
        "# event histogram\n#\n# trigger info: hist:keys=next_comm:vals=hitcount:sort=hitcount:size=2048 [active]\n#\n\n\
         {{ next_comm: {comm:<50} }} hitcount:          4\n\nTotals:\n    Hits: 4\n    Entries: 1\n    Dropped: 0\n"
    )
}
