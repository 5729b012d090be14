//! Mistakes at each command, provoked once: the message begins with the program's name, says what is wrong and where, and
//! ends with what to type next.

use crate::common::environment::TestEnvironment;

/// Arguments; exit code; what the message must say.
const MISTAKES: &[(&str, i32, &[&str])] = &[
    ("trigger remove !sched:sched_switch stacktrace", 2, &["`rtrace trigger remove sched:sched_switch stacktrace`"]),
    ("split FILE 0.2 0.5 -o part.dat", 1, &[" +0.2 +0.5` counts from the first event"]),
    ("stream -e sched_switch -o out.txt", 2, &["`rtrace stream ... > FILE`"]),
    ("split FILE -n 4", 2, &["`-s SECONDS`", "none says their number"]),
    ("view FILE --cpu 0", 2, &["`rtrace convert FILE PART.dat OPTION ...`"]),
    ("doctor --for syscalls", 2, &["`rtrace record --for ANALYSIS --dry-run`"]),
    ("synth create wakeup;u64", 2, &["`rtrace synth define "]),
    ("dump --validate FILE FILE", 2, &["one file at a time"]),
    ("compact FILE", 1, &["is a recording", "--compression zstd"]),
    ("compact nosuch", 1, &["No such file or directory"]),
    ("hist tracepoint:sched:sched_switch{@[comm]=count();}", 2, &["programs are bpftrace's"]),
    ("report FILE -F sched_switch:prev_state==S", 2, &["`S` is 1 there: `prev_state == 1`"]),
    ("report FILE -e sched:sched_switch", 2, &["`-F sched/sched_switch` selects events"]),
    ("report FILE -F syscalls:sys_enter_nosuch", 2, &["it was not recorded"]),
    ("why * FILE --worst 3", 2, &["`--intervals 3`"]),
    ("convert FILE a.xlsx", 2, &["`.csv` is what spreadsheets read"]),
    ("snapshot -t", 2, &["`rtrace snapshot take`"]),
    ("snapshot -B nosuch take", 2, &["options stand after the command: `rtrace snapshot take ...`"]),
    ("trigger add vfs_read:traceoff", 2, &["`rtrace trigger add --function vfs_read 'traceoff'`"]),
    (
        "latency -i FILE latency(sched_waking,sched_switch,pid=next_pid)",
        2,
        &["as words: `sched_waking sched_switch --by pid=next_pid`"],
    ),
    ("stream {@[comm]=count();}", 2, &["`rtrace hist EVENT --key common_pid.execname -- CMD`"]),
    ("list -k vfs_*", 2, &["`rtrace list -f PATTERN`"]),
    ("split FILE 0 0.5 -o part.dat", 1, &[" +0 +0.5` counts from the first event"]),
    ("convert FILE a.folded", 1, &["hold no call stacks", "`rtrace record -e EVENT -R stacktrace`"]),
    ("check FILE -a p99(wakeup_latency)<1ms", 2, &["`wait()` is from each wakeup to the CPU"]),
    ("check FILE -a errors(openat)==0", 2, &["one of syscall(), io() is expected", "`syscall(openat)`"]),
    ("compact FILE FILE", 2, &["it joins tables of a directory"]),
    ("doctor FILE", 2, &["it looks at this machine; `rtrace dump --validate "]),
    ("convert FILE a.pftrace --counter power:nosuch.state", 2, &["no recording has an event power:nosuch"]),
    ("convert FILE a.pftrace --counter sched:sched_switch.state", 2, &["no number called `state`", "prev_state"]),
    ("convert FILE a.svg", 2, &["`rtrace flame ", "with `--off-cpu`"]),
    ("analyze requests FILE --from sched_waking", 2, &["did you mean `--begin`?"]),
    ("why * FILE --at 50ms", 1, &["`--at +TIME` counts from the first event"]),
    ("schema chek.json", 2, &["did you mean `check`?"]),
    ("report FILE -F sched_switch:prev_pid==find", 2, &["`prev_pid` is a number; texts are in prev_comm, next_comm"]),
    (
        "report FILE -F sched_switch:prev_pid==\"find\"",
        2,
        &["`prev_pid` is a number", "texts of sched_switch are in prev_comm"],
    ),
    ("trigger remove sched:sched_switch", 2, &["`rtrace trigger clear sched:sched_switch`"]),
    ("list sched_switch format", 2, &["`rtrace list -F sched_switch`"]),
    ("flame -i FILE", 2, &["`rtrace flame FILE`"]),
    ("view FILE --at 0.5", 2, &["`--around +0.5`"]),
    ("instance create -B web", 2, &["`rtrace instance create NAME`"]),
    ("filter check sched:sched_switch prev_state&TASK_UNINTERRUPTIBLE", 2, &["`TASK_UNINTERRUPTIBLE` is 2 there"]),
    ("record --duration 500 ms -e sched", 2, &["one word: `500ms`"]),
    (
        "hist -i FILE hist:keys=next_comm sched:sched_switch",
        2,
        &["is a trigger", "sched:sched_switch 'hist:keys=next_comm'"],
    ),
    ("hist -i FILE sched:sched_switch -k prev_comm -v prev_prio", 2, &["`--val prev_prio` sums it"]),
    ("filter set prev_pid!=0", 2, &["the event stands first: `rtrace filter set EVENT 'prev_pid!=0'`"]),
    ("report FILE --filter comm==\"sort\"", 2, &["`--comm sort` selects what tasks of that name did"]),
    ("why sort FILE --worst sleep", 2, &["`--worst off-cpu`"]),
    ("attach -p 1234", 2, &["it joins recordings of a guest and its host", "`rtrace stream -P PID`"]),
    ("record -i eth0", 2, &["`-i` takes no value: `eth0` is CMD"]),
    ("stream -e sched_switch -c 10", 2, &["`rtrace stream ... | head -n 10`"]),
    ("baseline compare mybase FILE", 1, &["No such file", "`rtrace baseline save RUN... -o mybase`"]),
    ("trigger show", 2, &["`rtrace trigger list` shows triggers"]),
    ("set -B nosuch tracing_on=0", 2, &["`rtrace restart -B nosuch` and `rtrace stop -B nosuch`"]),
    ("attach FILE FILE -o x.dat", 2, &["written anew in their places"]),
    ("record -b 9000000G -e sched", 2, &["are more than the ", "`-b SIZE` is the size for each CPU"]),
    ("filter set sched:sched_switch next_prio -lt 100", 2, &["`-lt` of the shell is written `<`"]),
    ("trigger -B web sched_switch stacktrace", 2, &["it stands after the command: `rtrace trigger add ... -B`"]),
    ("record -e read", 2, &["did you mean `sys_enter_read` or `sys_exit_read`?"]),
    ("report -e nosuch.dat", 1, &["failed to read nosuch.dat: No such file"]),
    ("report -e sched_switch --comm ls FILE", 2, &["prints the byte order", "`-F sched_switch` selects events"]),
    ("report -i FILE -t 0.2", 1, &["it is taken for a file; `--since +0.2` begins"]),
    ("check -i FILE count(sched:sched_switch)>10", 2, &["`--assert 'count(sched:sched_switch)>10'` asserts that"]),
    ("check FILE -a .waits.p95<5ms", 2, &["not a number", "paths are for `jq`"]),
    (
        "hist hist:keys=id:vals=hitcount raw_syscalls:sys_enter",
        2,
        &["the event stands first: `rtrace hist EVENT 'hist:"],
    ),
    ("filter check sched_switch next_comm=~\"bash.*\"", 2, &["no regular expressions; as a glob, `~ \"bash*\"`"]),
    ("filter check sched_switch prev_comm>3", 2, &["illegal operation for `prev_comm`: it is text"]),
    ("record -M 0-7999 -e sched", 2, &["this machine's last CPU is ", "all are `-1`"]),
    ("split FILE +0.3 +0.2", 2, &["END lies before START", "the earlier time first"]),
    ("report --from 0.2 FILE", 2, &["did you mean `--since`?", "`--until` is the other end"]),
    ("report --delta FILE", 2, &["did you mean `--ts-diff`?"]),
    ("list -e sched --operators", 2, &["`rtrace help filter` has the operators"]),
    ("stat --per-cpu", 2, &["`rtrace show per_cpu/cpu0/stats` prints the counters"]),
    ("analyze syscalls FILE -e trace=openat", 2, &["`rtrace analyze syscalls FILE --call NAME`"]),
    ("convert FILE out.trace", 2, &["stands for no format", "those in `rtrace convert --help`"]),
    ("watch", 2, &["unknown command `watch`", "`rtrace stream` prints events"]),
    ("compare FILE FILE", 2, &["unknown command `compare`", "`rtrace diff BASE NEW` compares"]),
    ("assert FILE", 2, &["unknown command `assert`", "`rtrace check FILE --assert 'lost == 0'`"]),
    ("grep sleep FILE", 2, &["unknown command `grep`", "`rtrace report FILE --filter"]),
    ("kprobe vfs_read", 2, &["unknown command `kprobe`", "`rtrace probe add kprobe FUNCTION`"]),
    ("strace ls", 2, &["unknown command `strace`", "`rtrace stream --for syscalls -- CMD`"]),
    ("perf script", 2, &["unknown command `perf`", "a command of rtrace comes first"]),
    ("dumpfile FILE", 2, &["unknown command `dumpfile`", "did you mean `dump`?"]),
    ("analyze runqlat FILE", 2, &["unknown command `runqlat`", "did you mean `sched`?"]),
    ("analyze page-faults FILE", 2, &["unknown command `page-faults`", "did you mean `faults`?"]),
    ("trigger set sched_switch stacktrace", 2, &["`rtrace trigger add sched_switch stacktrace` sets"]),
    ("filter add sched_switch prev_pid==0", 2, &["`rtrace filter set sched_switch prev_pid==0` sets"]),
    ("instance exec foo", 2, &["unknown command `exec`", "`rtrace instance` has"]),
    ("restart -b 3", 2, &["unknown option `-b`", "`rtrace record`", "have `-b, --buffer-size`"]),
    ("show -b", 2, &["unknown option `-b`", "did you mean `--buffer-size`?"]),
    ("report -o x.json FILE", 2, &["unknown option `-o`", "`> FILE`"]),
    ("report --first -1 FILE", 2, &["unknown option `-1`", "`--first` takes a number from 0 on"]),
    ("report --cpus 0 FILE", 1, &["`--cpus` takes no value", "`--cpu 0` are the events of a CPU"]),
    ("report FILE --date", 2, &["unknown option `--date`", "did you mean `--wall`?"]),
    ("--color never report FILE", 2, &["options stand after the command: `rtrace report ... --color`"]),
    ("record -e sched --sleep 1ms", 2, &["a number is wanted", "`--sleep`: "]),
    ("record -e sched --file x.dat", 2, &["unknown option `--file`", "did you mean `--output`?"]),
    ("record -e sched --stop-on x", 2, &["unknown option `--stop-on`", "did you mean `--stop-if`?"]),
    ("record -f prev_pid==0 -e sched_switch", 2, &["belongs to the -e before it", "`-e EVENT -f FILTER`"]),
    ("record -e sched -B a/b", 2, &["cannot be the name of an instance", "without `/`"]),
    ("record -e sched/sched_switch/prev_pid==0", 2, &["`-e sched:sched_switch -f 'prev_pid==0'` filters it"]),
    ("record -e sched_switch:stacktrace", 2, &["`-e sched_switch -R stacktrace`"]),
    ("record -e sys_openat", 2, &["a system call has two events", "`-e syscalls:sys_enter_openat"]),
    ("record -e trace=openat", 2, &["of strace", "`--for syscalls`"]),
    ("record -F -P 1 -e sched_switch", 2, &["there is no command", "`-P PID` without -F"]),
    ("record -e sched -- cd /tmp", 127, &["command not found", "`-- sh -c 'cd ...; CMD'`"]),
    ("record -e sched -- A=1 sleep 0", 127, &["command not found", "`-- env A=1 CMD`"]),
    ("record -e sched_switch -f not", 2, &["invalid operator"]),
    ("list -e sched_switch --fields", 2, &["unknown option `--fields`", "`-F EVENT` prints an event's fields"]),
    ("clear nosuch", 2, &["unexpected argument `nosuch`", "`-B nosuch` names an instance"]),
    ("set options/stacktraces=0", 2, &["nothing to set", "`-O nostacktraces`"]),
    (
        "set events/sched/sched_switch/filter x",
        2,
        &["nothing to set", "`rtrace filter set sched:sched_switch 'FILTER'`"],
    ),
    ("set tracing_onn 0", 2, &["nothing to set", "`rtrace restart` and `rtrace stop`"]),
    ("stat -i foo", 2, &["unknown option `-i`", "an instance is `-B foo`"]),
    ("record -e sched -o out ./nosuch.sh", 127, &["failed to run `./nosuch.sh`: command not found\n"]),
    ("record --duration=5 -e sched nosuch", 127, &["failed to run `nosuch`: command not found\n"]),
    ("report run_1", 1, &["failed to read run_1: No such file"]),
    ("list clocks", 2, &["taken for a pattern of events", "`rtrace list --clocks`"]),
    ("record -e sched -o sleep 1", 127, &["`-o` took `sleep` for its file", "`-o FILE -- sleep 1`"]),
    ("record -F 99 -a sleep 1", 2, &["nothing is sampled", "`99` is CMD"]),
    ("analyze --format jsn FILE", 2, &["`rtrace analyze ANALYSIS FILE --json`"]),
    ("convert --format junit FILE", 2, &["`rtrace check FILE --assert ASSERTION --junit OUT`"]),
    ("convert -f perfeto FILE", 2, &["did you mean `--to perfetto`?"]),
    ("check FILE -e p99(wait())<1ms", 2, &["`--assert 'p99(wait())<1ms'` asserts that"]),
    ("filter check sched_switch prev_comm /root ls*", 2, &["quote the filter"]),
    ("record -c 1000 -e sched", 2, &["nothing to record", "`-c` takes no value, so that `1000` is the command"]),
    ("list -e sched_switch format", 2, &["two patterns", "`rtrace list -e sched_switch -F` prints its fields"]),
    ("check FILE --fail-on lost>0", 2, &["unknown option `--fail-on`", "what must hold is asserted"]),
    ("check FILE --spec FILE", 2, &["is a recording, and --spec takes a file of assertions"]),
    ("cat trace", 2, &["unknown command `cat`", "`rtrace show` what the kernel's buffer holds"]),
    ("stats FILE", 2, &["unknown command `stats`", "`rtrace report --summary FILE`"]),
    ("enable sched_switch", 2, &["unknown command `enable`", "`rtrace set -e EVENT`"]),
    ("merge FILE FILE", 2, &["unknown command `merge`", "`rtrace report A.dat B.dat`"]),
    ("mkdir instances/foo", 2, &["unknown command `mkdir`", "`rtrace instance create NAME`"]),
    ("analyze top FILE", 2, &["unknown command `top`", "`rtrace analyze sched --sort run`"]),
    ("filter check prev_pid==1", 2, &["is missing", "`rtrace filter check EVENT 'prev_pid==1'`"]),
    ("report -g FILE", 2, &["unknown option `-g`", "`rtrace flame FILE` draws call stacks"]),
    ("why -p 1 FILE", 2, &["unknown option `-p`", "`rtrace why TASK FILE`"]),
    ("probe -x /bin/bash readline", 2, &["unknown option `-x`", "`rtrace probe add uprobe PROGRAM:FUNCTION`"]),
    ("report FILE sched_switch", 1, &["No such file", "`rtrace report FILE -F sched_switch`"]),
    ("report --around 4323.4 5ms", 1, &["No such file", "`--around 'TIME+-5ms'`"]),
    (
        "latency sched_waking --by pid",
        2,
        &["needs 2 values", "`rtrace latency run.dat sched_waking sched_switch --by pid=next_pid`"],
    ),
    ("record -e sched -C monotonic -- true", 2, &["did you mean `mono`?"]),
    ("list available_tracers", 2, &["taken for a pattern of events", "`rtrace list --tracers`"]),
    ("record FILE", 2, &["nothing to record", "is a recording: `rtrace report"]),
    ("record sched_switch", 2, &["nothing to record", "an event is `-e sched_switch`"]),
    ("record --cpu 1 -e sched -- true", 2, &["unknown option `--cpu`", "`-M 2` is CPU 1"]),
    ("record -e sched -o x.dat ./nosuch.sh", 127, &["failed to run `./nosuch.sh`: command not found\n"]),
    ("extract out.dat", 2, &["unexpected argument `out.dat`", "`-o out.dat` names the file"]),
    ("check FILE -a max(latency)<5ms", 2, &["`(` is expected here", "latency(sched:sched_waking"]),
    ("check FILE -a sched_switch.count<1000", 2, &["no such quantity", "`count(sched_switch) > 0`"]),
    ("check FILE -f rules.toml", 2, &["unknown option `-f`", "did you mean `--spec`?"]),
    ("filter check sched_switch prev_prio", 2, &["invalid operator", "the filter ends here"]),
    ("dump --events sched FILE", 2, &["`--events` takes no value: `sched` stands alone"]),
    ("check FILE -a lost==0 --json out.json", 2, &["`--json` takes no value", "`> out.json`"]),
    ("check FILE -a lost==0 --csv", 2, &["unknown option `--csv`", "did you mean `--json`?"]),
    ("check FILE -a lost==0 --timeout 5", 2, &["unknown option `--timeout`", "`rtrace check` has --input"]),
    ("check FILE -a lost==0 --warmup 5s", 2, &["unknown option `--warmup`", "did you mean `--since`?"]),
    (
        "check -e sched -a lost==0 -- sleep 0",
        2,
        &["unknown option `-e`", "`rtrace record -e EVENT --assert 'ASSERTION' -- CMD`"],
    ),
    ("check -- sleep 1", 2, &["it reads a recording", "`rtrace record -e EVENT --assert 'ASSERTION' -- CMD`"]),
    ("check FILE -a busy<50", 2, &["`busy` is a share between 0 and 1", "`busy < 80%`"]),
    ("check FILE -a max(wait())<5msec", 2, &["`msec` is no unit", "did you mean `5ms`?"]),
    ("check FILE -a quantile(wait())<5ms", 2, &["no such quantity", "did you mean `p99`?"]),
    ("check FILE -a events>0", 2, &["no such quantity", "`count(EVENT)`"]),
    ("check FILE -a max(latency())<5ms", 2, &["an event is expected here", "As in `latency(sched:sched_waking,"]),
    ("check FILE -a max(a->b)<5ms", 2, &["between two events: `latency(START, END, KEY)`"]),
    ("check FILE -a count(sched_switch,x==0)<1", 2, &["`)` is expected here", "a filter follows after `if`"]),
    ("check FILE -a max(wait(comm=ls))<5ms", 2, &["a name or a pid is expected", "it stands without `comm=`: `(ls)`"]),
    ("check FILE -a 1ms<max(wait())<5ms", 2, &["nothing more is expected", "an assertion has one comparison"]),
    ("check FILE -a busy(0)<50%", 2, &["`)` is expected here", "`busy` is of the whole recording"]),
    ("diff FILE FILE --metric max(wait())<5ms", 2, &["nothing more is expected", "a metric has no limit"]),
    ("diff FILE FILE --events sched", 2, &["comparisons are of all events", "a metric names its events"]),
    ("hist sched_switch keys=next_pid", 2, &["`--key` is missing", "`--key next_pid`"]),
    ("hist sched_switch lhist(next_pid,0,9,1)", 2, &["`--key` is missing", "`--key FIELD.buckets=N`"]),
    ("report FILE --around +-1ms", 2, &["a time comes first"]),
    ("report FILE --around 5,1ms", 2, &["invalid time `5,1ms`", "`5+-1ms`"]),
    ("flame FILE out.svg", 1, &["failed to read out.svg", "`-o out.svg` writes it"]),
    ("probe add vfs_read", 2, &["no kind of probe", "`rtrace probe add kprobe vfs_read`"]),
    ("probe add tracepoint sched_switch", 2, &["no kind of probe", "did you mean `tprobe`?"]),
    ("show -c 99", 2, &["this machine has no CPU 99"]),
    ("help sched_switch", 2, &["`rtrace list -F sched_switch` shows an event"]),
    ("stopp", 2, &["unknown command `stopp`", "`rtrace --help` shows all"]),
    ("timeline FILE", 2, &["unknown command `timeline`", "`rtrace view FILE`", "OUT.pftrace"]),
    ("instance delete x", 2, &["unknown command `delete`", "did you mean `remove`?"]),
    ("help nosuch", 2, &["`nosuch`", "`rtrace help` lists the commands and topics"]),
    ("analyze offcpu FILE", 2, &["unknown command `offcpu`", "`rtrace flame --off-cpu` where"]),
    ("report --task python3 FILE", 2, &["unknown option `--task`", "did you mean `--comm`?"]),
    ("report --filter sched:sched_switch:prev_state==D FILE", 2, &["its value cannot be text", "`D` is 2 there"]),
    ("synth FILE", 2, &["unknown command", "`rtrace synth sql -i ", "asks a recording"]),
    ("baseline FILE", 2, &["unknown command", "`rtrace baseline save "]),
    ("FILE", 2, &["unknown command", "it is a recording: `rtrace report ", "`rtrace analyze all "]),
    ("analyze cpu FILE", 2, &["unknown command `cpu`", "`rtrace analyze sched --sort run`"]),
    ("baseline create FILE", 2, &["unknown command `create`", "`rtrace baseline` has save, compare."]),
    (
        "trigger sched_switch stacktrace",
        2,
        &["unknown command `sched_switch`", "`rtrace trigger add sched_switch stacktrace` sets"],
    ),
    ("filter sched_switch prev_pid==1", 2, &["unknown command", "`rtrace filter set sched_switch prev_pid==1` sets"]),
    ("filter sched_switch", 2, &["`rtrace filter set sched_switch 'FILTER'`", "`rtrace filter show`"]),
    ("synth add x", 2, &["unknown command `add`", "`rtrace synth sql -n NAME 'SELECT ...'`"]),
    ("instance foo", 2, &["unknown command `foo`", "`rtrace instance create foo`"]),
    ("check FILE --assert lost=>0", 2, &["a comparison is expected", "`=>` is written `>=`"]),
    ("check FILE --assert max(run(sleep))<1ms", 2, &["`run(TASK)` is one number"]),
    ("check FILE FILE --assert lost==0", 2, &["unexpected argument", "one recording at a time"]),
    ("record -e sched --ring 5s", 2, &["invalid value `5s`", "`--ring-time 5s` keeps the last 5s"]),
    ("record -e sched --ring-time 64M", 2, &["invalid value `64M`", "`--ring 64M`"]),
    ("record -e sched --force", 2, &["unknown option `--force`", "becomes `FILE.old`"]),
    ("latency FILE a:b c:d --unit us", 2, &["unknown option `--unit`", "times stand with their unit"]),
    ("save nosuch.dat -o x.dat", 1, &["the recorder of nosuch.dat", "`rtrace save PID` names a recording that runs"]),
    ("convert FILE --compression zstd:9", 2, &["expected zstd, zlib, none or any", "a copy has no level"]),
    ("record -e sched --time 5s", 2, &["unknown option `--time`", "did you mean `--duration`?"]),
    ("record -e sched -P nginx", 2, &["a process id is wanted", "`$(pidof -s nginx)`"]),
    ("report FILE --pid nginx", 2, &["a process id is wanted", "`--comm nginx` takes tasks by name"]),
    ("report FILE --head 5", 2, &["unknown option `--head`", "did you mean `--first`?"]),
    ("report FILE --limit 5", 2, &["`--profile` is missing", "`--first N` prints the first N events"]),
    ("report FILE --output x.txt", 2, &["unknown option `--output`", "`> FILE`"]),
    (
        "report FILE --since yesterday",
        2,
        &["invalid time `yesterday`", "a time of day: 12:03, 2026-11-26 12:03, today"],
    ),
    (
        "report FILE -F sched_switch:prev_comm==nginx",
        2,
        &["field `nginx` not found", "a text is in quotes: `\"nginx\"`"],
    ),
    ("convert FILE --format json out.json", 2, &["unknown option `--format`", "did you mean `--to`?"]),
    ("check FILE max(wait())<1ms", 2, &["unexpected argument", "`--assert 'max(wait())<1ms'` asserts that"]),
    ("baseline compare FILE", 2, &["`<NEW>...` is missing", "`rtrace diff BASE NEW` compares recordings"]),
    ("check p99(wait())<5ms FILE", 2, &["unexpected argument", "an assertion follows `--assert`"]),
    ("report FILE --since 2129 --until 2128", 2, &["the window ends before it begins", "--until the later"]),
    ("start -e sched_switch -o x.dat", 2, &["unknown option `-o`", "`rtrace record -o FILE` writes a recording"]),
    ("probe add uprobe:/bin/sh:main", 2, &["no kind of probe", "`rtrace probe add uprobe /bin/sh:main`"]),
    ("set buffer_size_kb=4096", 2, &["nothing to set", "`-b KIB` sets the size"]),
    ("report FILE --filter sched:sched_switch:prev_pid==$$", 2, &["in double quotes only"]),
    ("report FILE --filter sched:sched_switch:prev_pid==next_pid", 2, &["`next_pid` is a field", "with values"]),
    ("check FILE wakeup<10ms", 2, &["as one it is wrong at `wakeup`", "did you mean `wait()`"]),
    ("check FILE --assert max(wakeup())<1ms", 2, &["did you mean `wait`?"]),
    ("check FILE --assert lost<8MB", 2, &["`MB` is no unit", "KiB, MiB"]),
    ("split FILE 0.1s 0.2s", 2, &["`0.1s` is no time", "`+0.1s` counts from the first event"]),
    ("split FILE +0.1 0.2s", 2, &["`0.2s` is no time", "`+0.2s` counts from the first event"]),
    ("split FILE 1s-2s", 2, &["`1s-2s` is no time", "`+1s +2s` counts from the first event"]),
    (
        "report FILE -F sched_switch:next_comm~\"*echo*\"",
        2,
        &["`=~ \"echo\"`", "globs are of the kernel's language, in `--filter`"],
    ),
    ("report FILE -F softirq_(entry|exit)", 2, &["a basic regular expression: `softirq_\\(entry\\|exit\\)`"]),
    ("latency FILE sched_wakeup sched_switch", 2, &["`--by` is missing", "`--by pid=next_pid` matches sched_wakeup"]),
    ("latency FILE my_begin my_end", 2, &["`--by` is missing", "START=END are fields"]),
    ("stat sleep 0.3", 2, &["unexpected argument `sleep`", "`rtrace profile -- CMD` count what a command does"]),
    ("record -a -g -F 99 sleep 0.3", 2, &["`--graph-function` needs a value", "Nothing is sampled at a rate"]),
    ("top -n 3 -d 1s", 2, &["unknown option `-n`", "`--interval 1s --duration 3s` is three tables"]),
    ("analyze wakeups FILE", 2, &["unknown command `wakeups`", "did you mean `wakers`?"]),
    ("analyze sched FILE --cgroup x", 2, &["unknown option `--cgroup`", "`rtrace analyze cgroups FILE`"]),
    (
        "record -o m.dat sleep 0.2 -e sched_switch",
        2,
        &["nothing to record", "`-e sched_switch` stands after the command"],
    ),
    ("stream sleep 0.2 -e sched_switch", 2, &["nothing to record", "`-e sched_switch` stands after the command"]),
    ("stream -e sched /pid==1/ --duration 1", 127, &["command not found", "`-f 'common_pid == 1'`", "`-P 1`"]),
    ("latency -i FILE sched_switch sched_switch --by pid", 2, &["invalid --by: "]),
    ("check FILE --assert avg(wait())<1ms", 2, &["no such quantity", "did you mean `mean`?"]),
    ("check FILE --assert p99<1ms", 2, &["`(` is expected here", "as in `p99(wait())`"]),
    ("diff FILE FILE --threshold 5%", 2, &["unknown option `--threshold`", "did you mean `--min-effect`?"]),
    ("hist -i FILE sched_switch -k next_comm --sort hits", 2, &["cannot sort by `hits`", "did you mean `hitcount`?"]),
    ("list events sched", 2, &["unexpected argument `sched`", "`-e PATTERN` lists events"]),
    ("stat FILE", 2, &["it is a recording: `rtrace report --summary "]),
    ("check-events FILE", 2, &["unexpected argument", "`rtrace report --check-events FILE`"]),
    ("listen 12345", 2, &["unexpected argument `12345`", "`--port 12345`"]),
    ("why us* --worst syscall FILE", 1, &["holds no system calls"]),
    ("why rcu_preemp FILE", 1, &["has no event of a task named rcu_preemp", "did you mean `rcu_preempt`?"]),
    ("why kworker FILE", 1, &["no event of a task named kworker", "`'kworker*'` means all tasks whose names begin so"]),
    (
        "latency -i FILE sched:sched_waking sched:sched_switch --by pid=next_pid",
        2,
        &["no event `sched:sched_waking`: it was not recorded", "`rtrace record -e sched:sched_waking` records it"],
    ),
    ("hist -i FILE sched_wakin -k pid", 2, &["has no event `sched_wakin`"]),
    ("timerlat --bogus", 2, &["unknown option `--bogus`"]),
    ("osnoise --bogus 3", 2, &["unknown option `--bogus`"]),
    ("check -a lost==0", 1, &["failed to read trace.dat", "rtrace record -e sched -- CMD"]),
    ("save FILE -o x.dat", 2, &["no process records", "it is complete", "`rtrace convert"]),
    ("why 1 FILE", 1, &["has no event of task 1", "`rtrace analyze sched FILE` lists the tasks"]),
    ("split FILE 0 1", 1, &["no events between START and END", " +0 +1` counts from the first event"]),
    ("record -e sched max(wait())<1s", 127, &["command not found", "`--assert 'max(wait())<1s'`"]),
    ("profile FILE -o FILE", 2, &["exists already", "`--force` overwrites it"]),
    (
        "report FILE -F sched:sched_switch",
        2,
        &["field `sched_switch` not found", "`sched/sched_switch` names the event"],
    ),
    ("check FILE --assert lost==0&&duration<1s", 2, &["nothing more is expected here", "may be given several times"]),
    ("record -e sched -o", 2, &["`--output` needs a value: `--output <FILE>`"]),
    ("-e openat ls", 2, &["unknown option `-e`", "a command comes first", "`rtrace stream --for syscalls -- CMD`"]),
    ("record -g -e sched ls", 2, &["`--graph-function` needs a value", "`-R stacktrace`"]),
    ("record -e sched -g vfs_read true", 2, &["are about a tracer", "`-R stacktrace` after `-e EVENT`"]),
    ("stream -e sched:sched_switch -n 3", 2, &["are about a tracer", "head -n 3"]),
    ("stream -e sched --first 3", 2, &["unknown option `--first`", "head -n N"]),
    ("record -e sched -M 0,1 true", 2, &["invalid CPU mask `0,1`", "`3`"]),
    ("record -e sched --output-format json", 2, &["unknown option `--output-format`", "`rtrace convert FILE OUT`"]),
    ("record -e sched -F 99 true", 127, &["command not found", "`-F` takes no value (it is --follow"]),
    ("record -e sched --duration 1 sec", 127, &["command not found", "`1s`"]),
    ("record -e sched -R stacktrace if prev_pid == 1", 127, &["command not found", "'stacktrace if FIELD == VALUE'"]),
    ("record -e cycles true", 2, &["no event matches", "a counter of perf"]),
    (
        "record -e sched:sched_switch:sched_waking true",
        2,
        &["a comma is between two: `-e sched:sched_switch,sched_waking`"],
    ),
    ("record -e kmem:kmalloc:bytes_req>100 true", 2, &["`-e kmem:kmalloc -f 'bytes_req>100'` filters it"]),
    ("record -e tracepoint:sched:sched_switch true", 2, &["no event matches", "`-e sched:sched_switch`"]),
    ("top -p 1", 2, &["unknown option `-p`", "`rtrace stream --for sched -P PID`"]),
    ("top -n 1", 2, &["unknown option `-n`", "`rtrace top --json --duration 1`"]),
    ("stat -e cycles", 2, &["unknown option `-e`", "`rtrace report --count FILE`"]),
    ("extract -e sched", 2, &["unknown option `-e`", "`rtrace record -e EVENT` does both"]),
    ("split FILE --by 200ms", 2, &["unknown option `--by`", "`--seconds`"]),
    ("split FILE -n 100", 2, &["unknown option `-n`", "`-e EVENTS`"]),
    ("split FILE --since 1", 2, &["unknown option `--since`", "`rtrace split FILE START END`"]),
    ("stop FILE", 2, &["`rtrace record --stop "]),
    ("set buffer_size_kb 4096", 2, &["nothing to set", "`-b KIB`"]),
    ("check FILE --assert lost == 0", 2, &["unexpected argument `==`", "`--assert 'lost == 0'`"]),
    ("latency a,b --by pid", 2, &["needs 2 values", "`a b`"]),
    ("convert FILE out.txt", 2, &["stands for no format", "`rtrace report ", "> FILE.txt`"]),
    ("convert FILE out.svg", 2, &["stands for no format", "`rtrace flame ", "-o FILE.svg`"]),
    ("convert FILE out.perfeto", 2, &["stands for no format", "did you mean `.perfetto`?"]),
    ("convert FILE perfetto", 2, &["`perfetto` is a format", "`--to perfetto -o OUT`"]),
    ("report FILE 1234", 1, &["No such file", "`--pid 1234`"]),
    ("report FILE --wall 12:03", 1, &["No such file", "`--since 12:03`"]),
    ("report FILE --filter sched_switch: next_pid == 1", 1, &["quotes make one word"]),
    (
        "trigger add stacktrace sched:sched_switch",
        2,
        &["`stacktrace` is a trigger", "`rtrace trigger add 'sched:sched_switch' 'stacktrace'`"],
    ),
    ("list -e sched irq", 2, &["two patterns", "`-e 'sched,irq'`"]),
    ("recrod", 2, &["unknown command `recrod`", "did you mean `record`?"]),
    ("--versoin", 2, &["unknown option `--versoin`", "did you mean `--version`?"]),
    ("record --durtion 3 -e sched", 2, &["unknown option `--durtion`", "did you mean `--duration`?"]),
    ("record -b 3q -e sched", 2, &["invalid size `3q`", "K, M, G or T"]),
    ("record --ring-time 3q -e sched", 2, &["invalid value `3q` for `--ring-time`", "ns, us, ms, s, m or h"]),
    ("record", 2, &["nothing to record", "rtrace record -e sched -- CMD"]),
    ("record -o - --json -e sched", 2, &["cannot both go to standard output", "`-o FILE`"]),
    ("record -e sched --ring 1M --max-size 1M", 2, &["`--ring` cannot be used with `--max-size`"]),
    ("record --stop nosuch.dat", 1, &["failed to look for the recorder of nosuch.dat"]),
    ("record --stop 1", 2, &["process 1 is no recording rtrace", "rtrace record --stop FILE"]),
    ("report", 1, &["failed to read trace.dat", "rtrace record -e sched -- CMD"]),
    ("report nosuch.dat", 1, &["failed to read nosuch.dat: No such file or directory"]),
    ("report -E sched_switch nosuch.dat", 1, &["`-F EVENT` selects events"]),
    ("report -e sched_switch nosuch.dat", 2, &["`-F sched_switch` selects events"]),
    ("report --jsn", 2, &["unknown option `--jsn`", "did you mean `--json`?"]),
    ("report --format jsn", 2, &["invalid value `jsn` for `--format`", "did you mean `json`?"]),
    ("report --first 1 --last 1", 2, &["`--first` cannot be used with `--last`"]),
    ("report --since soon", 2, &["invalid value `soon` for `--since`", "invalid time"]),
    ("report --cpu x", 2, &["invalid value `x` for `--cpu`", "0-3,8"]),
    ("report --top-tasks 3 FILE", 2, &["`--summary` is missing"]),
    ("report --summary --format csv FILE", 2, &["`--format` has no effect"]),
    ("report --json --format csv FILE", 2, &["`--json` contradicts `--format`"]),
    ("report --fields ts FILE", 2, &["`--fields` has no effect", "names the columns of `--format csv`"]),
    ("report --by-comm FILE", 2, &["`--by-comm` has no effect", "about `--profile`"]),
    ("report -F sched_swich FILE", 2, &["did you mean `sched_switch`?"]),
    (
        "report --filter next_prio<100 FILE",
        2,
        &["a filter names its event first", "`sched:sched_switch: next_prio<100`"],
    ),
    ("report --format csv --fields next_pd FILE", 2, &["no event has a field `next_pd`", "did you mean"]),
    ("stream", 2, &["nothing to record", "rtrace stream -e sched"]),
    ("report -F comm,pid FILE", 2, &["no event of this file matches `comm`", "--fields NAME,...` chooses columns"]),
    ("hist -i FILE sched:sched_switch next_comm", 2, &["starts with `hist:`", "`--key FIELD`"]),
    ("report --last 5s FILE", 2, &["a number is wanted", "`--since -5s` is the last 5s."]),
    ("report --csv FILE", 2, &["unknown option `--csv`", "did you mean `--format csv`?"]),
    ("report --sort comm FILE", 2, &["unknown option `--sort`", "the order of their times"]),
    ("report --stdio FILE", 2, &["unknown option `--stdio`", "what is printed is text"]),
    ("report -F sched_switch:next_pid=>3 FILE", 2, &["did you mean `>=`?"]),
    ("report -F next_pid==3 FILE", 2, &["a filter names its event first"]),
    ("report -F sched_switch:next_comm==a* FILE", 2, &["a regular expression is matched by `=~`"]),
    ("sched latency", 2, &["unknown command `sched`", "`rtrace analyze sched FILE`"]),
    ("lock report", 2, &["unknown command `lock`", "`rtrace analyze locks FILE`"]),
    ("trace ls", 2, &["unknown command `trace`", "`rtrace stream -e EVENT -- CMD`"]),
    ("check FILE --assert p99.wait<5ms", 2, &["a quantile is between", "`p99(wait())`"]),
    ("check FILE --assert count(sched:*)<10k", 2, &["`k` is no unit", "numbers are written out"]),
    ("report --last-events 5 FILE", 2, &["unknown option `--last-events`", "did you mean `--last`?"]),
    ("convert FILE --to csv -e sched -o x", 2, &["unknown option `-e`", "did you mean `-F, --select`?"]),
    ("convert FILE --to csv --fields time -o x", 2, &["no event has a field `time`", "did you mean `ts`?"]),
    ("analyze sched -p 1 FILE", 2, &["unknown option `-p`", "--pid`"]),
    ("check FILE --buffer x -a lost==0", 2, &["has no buffer `x`", "it has the top buffer alone."]),
    ("convert FILE", 2, &["no file to write is named", "-o FILE"]),
    ("convert FILE -o - --json", 2, &["cannot both go to standard output"]),
    ("convert FILE --to json", 2, &["--to json -o FILE` names it; `-o -` is standard output"]),
    ("convert FILE x.xyz", 2, &["x.xyz ends in `.xyz`, which stands for no format", "`--to trace.dat`"]),
    ("convert FILE --to jsn -o x", 2, &["invalid value `jsn` for `--to`", "did you mean `json`?"]),
    ("dump nosuch.dat", 1, &["failed to read nosuch.dat"]),
    ("split --parts 3 FILE", 2, &["unknown option `--parts`"]),
    ("recover nosuch.dat", 1, &["nosuch.dat"]),
    ("recover --journal-dir none", 1, &["there is no trace.dat here", "`rtrace recover FILE` finishes another"]),
    ("mem nosuch.dat", 1, &["failed to read nosuch.dat"]),
    ("profile -P notapid", 2, &["a process id is wanted, a number"]),
    ("record --stop-if latency>1ms true", 2, &["`(` is expected here", "As in `latency(sched:sched_waking"]),
    ("why x FILE --at 5", 1, &["no event of a task named x"]),
    ("why FILE x", 2, &["TASK comes before FILE", "`rtrace why 'x' "]),
    ("profile --layout tabel --input FILE", 2, &["invalid value `tabel` for `--layout`", "did you mean `table`?"]),
    ("profile --input FILE --json --limit 3", 2, &["cannot be used with"]),
    ("analyze shced FILE", 2, &["unknown command `shced`", "did you mean `sched`?"]),
    ("analyze sched nosuch.dat", 1, &["failed to read nosuch.dat"]),
    ("check FILE", 2, &["--assert"]),
    ("check FILE --assert lots==0", 2, &["lots"]),
    ("diff FILE", 2, &["NEW is missing", "`rtrace diff BASE NEW` compares two files"]),
    ("baseline save", 2, &["`--output` and `<FILE>...` are missing"]),
    ("options --jsn", 2, &["did you mean `--json`?"]),
    ("hist", 2, &["`--key` and `<EVENT>` are missing"]),
    ("hist -i nosuch.dat sched_switch -k next_pid", 1, &["failed to read nosuch.dat"]),
    ("hist -i FILE sched:sched_switch", 2, &["--key is missing", "as in `--key next_comm`"]),
    (
        "latency -i FILE sched_switch sched_switch --by pid",
        2,
        &["has no field `pid`", "one field of each event, as `next_pid=prev_pid`"],
    ),
    ("hist FILE sched:sched_switch", 2, &["--key is missing", "as in `--key next_comm`"]),
    (
        "latency FILE sched_switch sched_switch --by pid",
        2,
        &["has no field `pid`", "one field of each event, as `next_pid=prev_pid`"],
    ),
    ("latency a", 2, &["needs 2 values, not 1"]),
    ("latency -i nosuch.dat a:b c:d --by e", 1, &["failed to read nosuch.dat"]),
    ("synth sql", 2, &["is missing"]),
    ("filter set", 2, &["is missing"]),
    ("trigger add", 2, &["is missing"]),
    ("probe add", 2, &["is missing"]),
    ("instance create", 2, &["is missing"]),
    ("completions tcsh", 2, &["invalid value `tcsh`", "bash, zsh or fish"]),
    ("help exit-code", 2, &["did you mean `exit-codes`?"]),
    ("list -x", 2, &["unknown option `-x`"]),
    ("show --cpu x", 2, &["invalid value `x` for `--cpu`"]),
    ("split FILE --start 1", 2, &["it is an argument without an option", "`rtrace split ...`"]),
    ("mem FILE --sort bytes", 2, &["unknown option `--sort`", "`--json` prints them"]),
    ("why x FILE --longest", 2, &["did you mean `--worst`? The longest"]),
    ("check FILE --rules x.toml", 2, &["did you mean `--spec`?"]),
    ("check FILE --output x.xml", 2, &["`> FILE`", "`--junit FILE` writes JUnit XML"]),
    ("analyze syscalls FILE --top-n 5", 2, &["did you mean `--top`?"]),
    ("synth create x --from a --to b", 2, &["did you mean `--start`?"]),
    (
        "hist FILE sched_switch --key next_comm --top ten",
        2,
        &["`ten` is taken as `[TRIGGER]`", "`--limit` takes a value"],
    ),
    ("record -e sched --for 10s", 2, &["`--duration 10s` is how long to trace"]),
    ("report FILE -F sched/sched_switch:prev_pid=0", 2, &["`equals` is written `==`"]),
    ("check FILE --assert lost=0", 2, &["a comparison is expected here", "`equals` is written `==`"]),
    ("check FILE --assert p99(latency(ls))<1ms", 2, &["`,` is expected here", "as in `p99(latency("]),
    ("why x FILE --max-depth 3", 2, &["did you mean `--depth`?"]),
    ("check FILE --assert-file x.toml", 2, &["options that take a file are", "`--spec`"]),
    ("record -e sched --keep-old", 2, &["becomes `FILE.old`"]),
    ("record -p function --notrace vfs_read", 2, &["did you mean `--no-function`?"]),
    ("show --buffer web", 2, &["`--instance NAME` is a buffer of its own"]),
    ("check FILE --assert max(wait())<5\u{a0}ms", 2, &["nothing more is expected here"]),
    ("analyze sched FILE --top all", 2, &["`--top 0` stands for all"]),
    ("trigger add sched_switch", 2, &["as in `rtrace trigger add "]),
    ("snapshot --take", 2, &["did you mean `rtrace snapshot take`?"]),
    ("record --events sched", 2, &["did you mean `--event`?"]),
    ("report FILE --no-color", 2, &["did you mean `--color never`?"]),
    ("record -p function_graph --tracer-depth 3", 2, &["did you mean `--max-graph-depth`"]),
    ("latency FILE --from a --to b --by pid", 2, &["unknown option `--from`", "events are arguments"]),
    ("baseline save FILE -o /nosuch/b.json", 1, &["`mkdir -p /nosuch`"]),
    ("mem FILE --unheard-of", 2, &["`rtrace mem` has --input, --since"]),
    ("record -e sched --exclude-pid 1", 2, &["did you mean `--not-pid`?"]),
    ("flame FILE --on-cpu", 2, &["`rtrace flame` has --output, --force"]),
    ("check FILE --format junit", 2, &["did you mean `--junit`?"]),
    ("start -e sched --output x.dat", 2, &["`rtrace extract -o FILE`"]),
    ("latency FILE a b --percentile 99", 2, &["any percentile is measured as in"]),
    ("record -e sched -T stack", 127, &["`-T` takes no value, so that `stack` is the command"]),
    ("report FILE --pid all", 2, &["without it, tasks of any id"]),
    ("show FILE", 2, &["is a recording, not a file of tracefs", "`rtrace report "]),
    ("reset all", 2, &["unexpected argument `all`", "did you mean `--all`?"]),
    ("snapshot tak", 2, &["unknown command `tak`", "did you mean `take`?"]),
    ("doctor --jsn", 2, &["did you mean `--json`?"]),
];

#[test]
fn every_mistake_is_named_with_what_to_type_next() {
    let env = TestEnvironment::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat");
    let mut wrong = Vec::new();
    for (line, status, words) in MISTAKES {
        let args: Vec<&str> = line.split(' ').map(|word| if word == "FILE" { file } else { word }).collect();
        let printed = env.rtrace(&args);
        let text = printed.stderr();
        let first = text.lines().next().unwrap_or_default();
        let mut faults = Vec::new();
        if printed.status() != Some(*status) {
            faults.push(format!("status {:?}, not {status}", printed.status()));
        }
        if !first.starts_with("rtrace: ")
            || first.ends_with('.')
            || text.contains("error: ")
            || text.contains("(os error")
        {
            faults.push("is not worded as the others are".to_owned());
        }
        faults.extend(words.iter().filter(|word| !text.contains(**word)).map(|word| format!("does not say {word}")));
        if *status == 2 && !text.contains("Hint: ") && !text.contains("rtrace ") {
            faults.push("does not say what to type".to_owned());
        }
        if !faults.is_empty() {
            wrong.push(format!("rtrace {line}: {}\n{text}", faults.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A recording as the first word is the input, as after -i.
#[test]
fn a_recording_is_the_input_of_each_command() {
    let env = TestEnvironment::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat");
    for (given, meant) in [
        ("hist FILE sched:sched_switch -k next_comm", "hist -i FILE sched:sched_switch -k next_comm"),
        (
            "latency FILE sched_switch sched_switch --by next_pid=prev_pid",
            "latency -i FILE sched_switch sched_switch --by next_pid=prev_pid",
        ),
        ("profile FILE --limit 3", "profile --input FILE --limit 3"),
        ("analyze FILE --top 3", "analyze all FILE --top 3"),
        ("hist -q FILE sched:sched_switch -k next_comm", "hist -i FILE sched:sched_switch -k next_comm"),
        ("analyze -q FILE --top 3", "analyze all FILE --top 3"),
    ] {
        let print = |line: &str| {
            let args: Vec<&str> = line.split(' ').map(|word| if word == "FILE" { file } else { word }).collect();
            let printed = env.rtrace(&args);
            (printed.status(), printed.stdout())
        };
        let (status, text) = print(meant);
        assert!(status == Some(0) && text.lines().count() > 2, "{meant}: {status:?} {text}");
        assert_eq!(print(given), (status, text), "{given}");
    }
}

/// A query without a result says what there is.
#[test]
fn nothing_found_is_said_with_what_there_is() {
    let env = TestEnvironment::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat");
    for (args, words) in [
        (&["--comm", "nosuch"][..], "no task is called `nosuch`"),
        (&["--cpu", "99"], "none of these CPUs was recorded, but 0-1"),
        (&["--since", "99999999"], "the events lie between "),
        (&["--pid", "999999"], "no task with the pid 999999 is known"),
        (&["--filter", "sched:sched_switch: next_pid == 999999"], "no event matches\n  Hint: `rtrace report --summary"),
    ] {
        for format in [&["--format", "text"][..], &["--json"], &["--format", "csv"], &["--count"]] {
            env.rtrace(&[&["report", file][..], args, format].concat()).exits(0).complains_with(words);
        }
    }
    env.rtrace(&["report", file, "--first", "0"]).exits(0).complains("");
}

/// `-` is standard input, of a file as of a pipe.
#[test]
fn a_recording_comes_through_a_pipe() {
    let env = TestEnvironment::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat");
    let whole = env.rtrace(&["report", file]).exits(0).stdout();
    for how in ["cat \"$0\" | \"$1\" report -", "\"$1\" report - < \"$0\"", "\"$1\" report <(cat \"$0\")"] {
        let piped = env.run("bash", &["-c", how, file, env!("CARGO_BIN_EXE_rtrace")]);
        assert_eq!(piped.exits(0).complains("").stdout(), whole, "{how}");
    }
    let dumped = "cat \"$0\" | \"$1\" dump - --validate";
    env.run("bash", &["-c", dumped, file, env!("CARGO_BIN_EXE_rtrace")]).exits(0);
}

#[test]
fn a_mistake_far_to_the_right_is_shown_with_some_characters_around_it() {
    let env = TestEnvironment::new();
    let file = crate::common::corpus::own().join("s390x/inst.dat").display().to_string();
    let far = " ".repeat(70_000);
    std::fs::write(env.path().join("far.toml"), format!("[assert]\nx = 'lost == 0{far} ?'\n")).expect("a file");
    let (assertion, filter) = (format!("lost == 0{far} ?"), format!("sched:sched_switch: pid{far} ?"));
    let (sql, trigger) = (format!("select{far} ?"), format!("hist:keys=pid{far} ?"));
    for words in [
        &["check", &file, "--spec", "far.toml"][..],
        &["check", &file, "--assert", &assertion],
        &["report", &file, "--filter", &filter],
        &["synth", "sql", "--buffer", "", "-i", &file, &sql],
        &["hist", "-i", &file, "sched_switch", &trigger],
    ] {
        let done = env.rtrace(words);
        let (status, said) = (done.status(), done.stderr());
        let caret = said.lines().find(|line| line.trim_start().starts_with('^'));
        assert!(
            status == Some(2) && caret.is_some_and(|line| line.len() < 500),
            "{}: {status:?} {said:.500}",
            words[0]
        );
    }
}
