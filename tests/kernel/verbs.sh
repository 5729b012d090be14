# The daily verbs on a real kernel: each does its work, and all is as it was; trace-cmd reads the files outside.
set -u
bad=0
fail() { echo "FAIL: $*"; bad=1; }
# Where the guest is and since when, for who watches its console.
at() { echo "$1 at $(cut -d' ' -f1 /proc/uptime) s" > /dev/console; }
# Until COMMAND succeeds, but not for ever: a guest may be slow.
until_true() { tries=3000; until "$@"; do [ $((tries -= 1)) -gt 0 ] || return 1; usleep 100000; done; }
T=/sys/kernel/tracing
echo 'nobody:x:65534:65534:nobody:/nowhere:/bin/sh' >> /etc/passwd
echo 1410 > $T/buffer_size_kb
# The profiler's tables and the deepest stack are content, not settings.
settings() { knobs | grep -v '^./trace_stat/\|^./stack_max_size\|^./saved_cmdlines:'; }

# Functions are listed and profiled.
if [ -e $T/available_filter_functions ]; then
  rtrace list -f 'vfs_*' > listed || fail "list -f"
  grep -qx vfs_read listed || fail "no vfs_read among $(wc -l < listed) functions"
  [ "$(rtrace list -f | wc -l)" = "$(wc -l < $T/available_filter_functions)" ] || fail "list -f: not all"
  rtrace list -f vfs_raed 2> err && fail "a wrong name passes"
  grep -q 'did you mean .*vfs_read' err || fail "no similar name: $(cat err)"
fi
if [ -e /sys/kernel/btf/vmlinux ]; then
  rtrace list -f '^vfs_read$' --proto > listed || fail "list --proto"
  [ "$(cat listed)" = 'ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)' ] || fail "list --proto: $(cat listed)"
  rtrace list -f '^vfs_read$' --proto --json | grep -q '"type": "loff_t \*"' || fail "list --proto --json"
  if [ -e /sys/kernel/btf/virtio_blk ]; then
    rtrace list -f 'virtblk_*' --proto > listed || fail "list --proto of a module"
    grep -q '^int virtblk_probe(struct virtio_device \*vdev) \[virtio_blk\]$' listed || fail "list --proto of a module: $(cat listed)"
  fi
  echo "proto: $(rtrace list --proto | grep -c '(') of $(wc -l < $T/available_filter_functions) functions, $(ls /sys/kernel/btf | wc -l) files"
else
  rtrace list --proto 2> err; [ $? = 5 ] || fail "no BTF, but"
  grep -q CONFIG_DEBUG_INFO_BTF err || fail "$(cat err)"
  echo "proto: missing"
fi
settings > before

# The doctor finds recording possible, the machine emulated, and who reads and traces.
rtrace doctor > doctor || fail "doctor: $(cat doctor)"
grep -q '^Recording works' doctor || fail "doctor: $(cat doctor)"
grep -q 'warning  the CPU is emulated' doctor || fail "doctor, emulation: $(cat doctor)"
grep -q 'the top level: nothing set' doctor || fail "doctor, top level: $(cat doctor)"
offers() { if $1; then echo "ok       $2: $3"; else echo "note     $2: this kernel has no $3"; fi; }
for want in "$(offers "grep -q hist:keys= $T/README" hist 'hist triggers')" "$(offers "[ -e $T/snapshot ]" snapshot 'snapshot buffer')"; do
  grep -q "^  $want\(: .*\)\{0,1\}\$" doctor || fail "doctor: not '$want': $(cat doctor)"
done
rtrace doctor --json | grep -q '"works": true' || fail "doctor --json"
echo 1 > $T/events/sched/sched_process_exit/enable
sleep 1000 < $T/trace_pipe & reader=$!
reads() { rtrace doctor > doctor; grep -q "process $reader .* reads $T/trace_pipe" doctor; }
until_true reads || fail "doctor, reader: $(cat doctor)"
grep -q 'note     the top level: 1 event$' doctor || fail "doctor, events: $(cat doctor)"
kill $reader; wait $reader 2> err
echo 0 > $T/events/sched/sched_process_exit/enable
if [ -e $T/function_profile_enabled ]; then
  rtrace profile functions -l 'vfs_*' -- sh -c 'for i in 1 2 3 4 5; do cat /proc/version; done > /dev/null' > profile || fail "profile"
  grep -q ' vfs_open$' profile || fail "no vfs_open: $(cat profile)"
  hits=$(awk '$NF == "vfs_open" {print $1}' profile)
  [ "$hits" -ge 5 ] || fail "vfs_open was called $hits times"
  rtrace profile functions --limit 3 --json --duration 500ms | grep -q rtrace.profile.functions || fail "profile --json"
  echo "profile: $hits hits of vfs_open"
else
  rtrace profile functions --duration 1s 2> err; [ $? = 5 ] || fail "no profiler, but"
  grep -q CONFIG_FUNCTION_PROFILER err || fail "$(cat err)"
  echo "profile: missing"
fi
if [ -e $T/stack_trace ]; then
  rtrace stack --start || fail "stack --start"
  ls -lR /proc/1 > /dev/null 2>&1
  rtrace stack > stack || fail "stack"
  grep -q 'Depth.*Size.*Location' stack || fail "no table: $(cat stack)"
  rtrace stack --json | grep -q '"on": true' || fail "stack --json"
  rtrace stack --filter vfs_read --filter vfs_open && rtrace stack --filter '!vfs_read' && [ "$(cat $T/stack_trace_filter)" = vfs_open ] || fail "stack --filter: $(cat $T/stack_trace_filter)"
  rtrace stack --filter '' || fail "stack --filter ''"
  rtrace stack --stop --reset || fail "stack --stop"
  rtrace stack | grep -q 'is off' || fail "it is still on"
  echo "stack: $(wc -l < stack) lines"
else
  rtrace stack 2> err; [ $? = 5 ] || fail "no stack tracer, but"
  grep -q CONFIG_STACK_TRACER err || fail "$(cat err)"
  echo "stack: missing"
fi
settings > after
diff before after || fail "knobs"

# Filters and triggers that are set are listed.
at "Filters and triggers that are set are listed"
echo 'prev_pid > 0' > $T/events/sched/sched_switch/filter
echo traceoff:0 > $T/events/sched/sched_process_exit/trigger 2> /dev/null || echo stacktrace > $T/events/sched/sched_process_exit/trigger
rtrace list -e sched -l > listed || fail "list -l"
grep -qx 'sched:sched_switch prev_pid > 0' listed || fail "list -l: $(cat listed)"
rtrace list -R > listed || fail "list -R"
grep -q '^sched:sched_process_exit ' listed || fail "list -R: $(cat listed)"
rtrace trigger add 'sched:sched_s*' stacktrace --if 'prev_pid == 0' 2> others || fail "trigger add GLOB: $(cat others)"
grep -q 'cannot have this trigger.*sched:sched_stat' others || fail "trigger add GLOB: $(cat others)"
[ "$(grep -l '^stacktrace' $T/events/sched/*/trigger | grep -c sched_s)" = 1 ] || fail "trigger add GLOB: $(grep '^stack' $T/events/sched/*/trigger)"
rtrace trigger add 'sched:sched_s*' stacktrace --if 'no_such == 0' 2> others && fail "a trigger that no event can have"
rtrace reset || fail "reset"

# Each change of start and set is shown by the others and undone by a reset.
at "Whatever start and set change"
counted() { grep -vc '^#' $1/trace; } # counted INSTANCE: its lines
settings > before
rtrace stat | sed '/^The kernel refused/,$d' > stat.before
rtrace start -e sched:sched_switch -f 'prev_pid >= 0' -R stacktrace:3 -e irq -C mono -b 600 -O sym-offset -M 3 --cmdlines-size 256 \
  -B one -e 'timer:timer_s*' -f 'flags >= 0' -C global -b 300 || fail "start"
ls / > /dev/null
rtrace stat > printed || fail "stat"
for word in 'sched:sched_switch$' '^  irq$' 'sched:sched_switch "prev_pid >= 0"' 'sched:sched_switch "stacktrace' 'KiB per CPU' 'Clock: mono' '^  sym-offset' 'Tracing is on'; do
  grep -q "$word" printed || fail "stat does not say $word: $(cat printed)"
done
grep -q 'timer' printed && fail "stat of the top level tells of an instance: $(cat printed)"
rtrace stat -B one --json > printed || fail "stat -B one --json"
for word in '"instance": "one"' '"timer:timer_start"' '"flags >= 0"' '"clock": "global"' '"on": true'; do
  grep -q "$word" printed || fail "stat -B one --json does not say $word: $(cat printed)"
done
[ "$(rtrace show --tracing-on --buffer-size trace_clock | grep -c '^1$\|^60[0-9]$\|\[mono\]')" = 3 ] || fail "show: $(rtrace show --tracing-on --buffer-size trace_clock)"
rtrace show -B one --json trace_clock | grep -q '\[global\]' || fail "show -B one --json"
rtrace show --filter sched:sched_switch | grep -qx 'prev_pid >= 0' || fail "show --filter"
rtrace show --trigger sched_switch | grep -q '^stacktrace' || fail "show --trigger"
rtrace show -p | grep -m 1 ': sched_switch: ' > piped || fail "show -p: no sched_switch"
rtrace stop || fail "stop"
[ "$(cat $T/tracing_on $T/instances/one/tracing_on | tr -d '\n')" = 01 ] || fail "stop stops the top level"
n=$(counted $T); ls / > /dev/null; [ "$(counted $T)" = $n ] || fail "stop: it goes on"
rtrace show > shown && [ "$(grep -vc '^#' shown)" = $n ] || fail "show: not the $n lines that trace has"
last=$(tail -n 1 $T/trace)
rtrace restart || fail "restart"
until_true eval '[ "$(tail -n 1 $T/trace)" != "$last" ]' || fail "restart: it does not go on"
until_true eval '[ "$(counted $T/instances/one)" -gt 0 ]' || fail "nothing in the instance"
rtrace stop -a -t || fail "stop -a -t"
[ "$(cat $T/tracing_on $T/instances/one/tracing_on | tr -d '\n')" = 00 ] || fail "stop -a -t: not all"
rtrace clear || fail "clear"
[ "$(counted $T)" = 0 ] && [ "$(counted $T/instances/one)" -gt 0 ] || fail "clear: $(counted $T) and $(counted $T/instances/one)"
rtrace clear -B one && [ "$(counted $T/instances/one)" = 0 ] || fail "clear -B one"
rtrace restart -a && [ "$(cat $T/tracing_on $T/instances/one/tracing_on | tr -d '\n')" = 01 ] || fail "restart -a"
# One CPU's buffer has a size of its own, and is emptied alone.
rtrace set -b 1=300 && [ "$(cat $T/buffer_size_kb) $(($(cat $T/per_cpu/cpu1/buffer_size_kb) / 10))" = 'X 30' ] || fail "-b CPU=SIZE: $(cat $T/per_cpu/cpu*/buffer_size_kb)"
rtrace set -b 99=300 2> err; [ $? = 2 ] && grep -q 'no CPU 99' err || fail "-b 99=SIZE: $(cat err)"
of_cpu() { rtrace show -c $1 | grep -vc '^#'; }
rtrace restart; taskset 1 ls / > /dev/null; taskset 2 ls / > /dev/null; rtrace stop
other=$(of_cpu 0); [ "$(of_cpu 1)" -gt 0 ] || fail "nothing on CPU 1"
rtrace clear -c 1 && [ "$(of_cpu 0) $(of_cpu 1)" = "$other 0" ] || fail "clear -c 1: $(of_cpu 0) $(of_cpu 1), not $other 0"
rtrace set -v -e irq -b 900 -O nosym-offset || fail "set"
[ "$(cat $T/events/irq/enable $T/options/sym-offset $T/tracing_on | tr -d '\n')" = 000 ] && [ "$(cat $T/buffer_size_kb)" -ge 900 ] || fail "set: $(rtrace stat)"
if grep -qw function_graph $T/available_tracers; then
  rtrace set -p function_graph -g vfs_open -n vfs_read --max-graph-depth 2 -O funcgraph-proc --threshold 1 || fail "set -p function_graph"
  [ "$(rtrace show --current-tracer --graph-function | tr '\n' ' ')" = 'function_graph vfs_open ' ] || fail "set -p function_graph: $(rtrace stat)"
  rtrace stat > printed; grep -q 'Tracer: function_graph' printed && grep -q vfs_open printed && grep -q 'funcgraph-proc' printed || fail "stat of function_graph: $(cat printed)"
  rtrace set -p function -l 'vfs_open' -n vfs_read --func-stack && rtrace set -l vfs_open:traceoff:3 -l vfs_open:stacktrace || fail "set -p function"
  rtrace show --ftrace-filter | grep -q 'vfs_open:traceoff' || fail "set -l: $(rtrace show --ftrace-filter)"
fi
rtrace options > printed && grep -q ftrace printed || fail "options: $(cat printed)"
rtrace reset -d -B one || fail "reset -d -B one"
rtrace reset -b 1410 || fail "reset after start and set"
settings > after
diff before after || fail "start and set are not taken back"
rtrace stat | sed '/^The kernel refused/,$d' | diff stat.before - || fail "stat after reset"

# Order is meaning: -b and -d belong to the -B before them. The clock is again that of the boot.
at "Resets"
settings > before
clock=$(cat $T/trace_clock)
rtrace set -C mono -B one -e sched -B two -e irq || fail "set of three buffers"
rtrace reset -B one -b 2000 -B two -d || fail "reset -B one -b 2000 -B two -d"
[ -e $T/instances/one ] && [ ! -e $T/instances/two ] || fail "reset -B one -B two -d: there are $(ls $T/instances)"
[ "$(cat $T/instances/one/buffer_size_kb)" -ge 2000 ] && [ "$(cat $T/instances/one/events/sched/enable)" = 0 ] || fail "reset -B one -b 2000: $(rtrace stat -B one)"
grep -qF '[mono]' $T/trace_clock || fail "reset -B touches the top level: $(cat $T/trace_clock)"
rtrace reset -t -a -d && [ -z "$(ls $T/instances)" ] || fail "reset -t -a -d: there are $(ls $T/instances)"
[ "$(cat $T/trace_clock)" = "$clock" ] || fail "reset: the clock is $(cat $T/trace_clock), after boot it was $clock"
settings > after
diff before after || fail "resets leave something"

# A snapshot becomes a file as well, and the ring buffer beside it stays.
at "A snapshot becomes a file as well"
if [ -e $T/snapshot ]; then
  rtrace start -e sched:sched_switch && ls / > /dev/null && rtrace snapshot take && rtrace stop || fail "take a snapshot"
  inside=$(grep -vc '^#' $T/snapshot); beside=$(counted $T)
  rtrace extract -q -s -o snapshot.dat || fail "extract -s"
  ours=$(rtrace report snapshot.dat | grep -c ' \[00')
  [ "$ours" -ge "$inside" ] && [ "$inside" -gt 0 ] || fail "extract -s: $inside in it, $ours here"
  [ "$(grep -vc '^#' $T/snapshot)" = 0 ] && [ "$(counted $T)" = "$beside" ] || fail "extract -s: $beside beside it were, $(counted $T) are"
  rtrace reset -b 1410 && rtrace snapshot free || fail "reset after a snapshot"
else
  rtrace extract -s -o none.dat 2> err; [ $? = 5 ] && grep -q CONFIG_TRACER_SNAPSHOT err || fail "no snapshots, but: $(cat err)"
fi

# Stopped buffers become files: one, or several with their names; what is taken out is gone, all else as it was.
at "Stopped buffers become files"
rtrace start -e sched:sched_switch -B one -e sched:sched_wakeup && ls / > /dev/null && rtrace stop -a -t || fail "start, stop"
inside=$(cat $T/trace $T/instances/one/trace | grep -vc '^#')
settings > before
# A kernel whose clocks are not steady gives the top level another one.
date=; [ "$(cat $T/trace_clock)" = "$(cat $T/instances/one/trace_clock)" ] && date=--date
rtrace extract -q -a -t $date -o extracted.dat || fail "extract"
settings > after
diff before after || fail "extract leaves something"
rtrace report extracted.dat > printed || fail "report of what was extracted"
ours=$(grep -c ' \[00' printed)
[ "$ours" -ge "$inside" ] || fail "extract: $inside in the rings, $ours here"
for event in sched_switch sched_wakeup; do grep -q " $event: " printed || fail "extract: no $event"; done
grep -q '^ *one: ' printed || fail "extract -a: no event of instance one"
grep ' sched_switch: ' printed | grep -q 'one:' && fail "extract -a: a top event of instance one"
now=$(date +%s); then=$(sed -n 's/.*\] [^ ]* *\([0-9]*\)\.[0-9]*: .*/\1/p' printed | head -n 1)
if [ -n "$date" ]; then
  [ -n "$then" ] && [ $((now - then)) -ge 0 ] && [ $((now - then)) -lt 3600 ] || fail "extract --date: $then, and it is $now"
fi
[ "$(cat $T/trace $T/instances/one/trace | grep -vc '^#')" = 0 ] || fail "extract leaves events"
echo "extract: $ours events of $inside"
rtrace reset -d -B one && rtrace reset || fail "reset"

# Files of a killed trace-cmd: both make a recording of it, with a header of ours and without.
at "What trace-cmd leaves when it is killed"
trace-cmd record -q -o killed.dat -b 64 -e sched sleep 1000 > /dev/null 2>&1 & pid=$!
until_true test -s killed.dat.cpu0 -o -s killed.dat.cpu1 || fail "trace-cmd records nothing"
# Until it is that, the command looks like one more reader.
until_true pidof sleep > /dev/null || fail "trace-cmd does not start its command"
readers=$(ps -o pid,args | awk '/trace-cmd record -q -o killed/ && !/awk/ {print $1}' | grep -vx $pid)
kill -9 $pid; wait $pid 2> /dev/null
gone() { for reader in $readers; do [ ! -e /proc/$reader ] || grep -q 'State:.Z' /proc/$reader/status || return 1; done; }
for reader in $readers; do kill -USR1 $reader; done
until_true gone || fail "trace-cmd's readers do not end"
rtrace restore -c -o header.dat > /dev/null || fail "restore -c"
rtrace restore -o restored.dat killed.dat.cpu0 killed.dat.cpu1 > printed || fail "restore"
rtrace restore -i header.dat -o headed.dat killed.dat.cpu0 killed.dat.cpu1 > printed || fail "restore -i"
trace-cmd restore -i header.dat -o theirs.dat killed.dat.cpu0 killed.dat.cpu1 > /dev/null 2> err || fail "trace-cmd restore: $(cat err)"
restored=$(rtrace report restored.dat | grep -c ' \[00')
[ $restored -gt 0 ] || fail "restore: nothing"
for file in headed theirs; do
  n=$(rtrace report $file.dat | grep -c ' \[00')
  [ $n = $restored ] || fail "$file.dat: $n events, not $restored"
done
rtrace dump --validate restored.dat > printed || fail "restore: $(cat printed)"
echo "restore: $restored events"
for reader in $(pidof sleep); do grep -q 1000 /proc/$reader/cmdline && kill $reader; done
rtrace reset -b 1410 || fail "reset"
rm -f header.dat killed.dat killed.dat.cpu*

# A command beside start and set: traced, its status, its user; in the background it goes on.
at "A command beside start and set"
rtrace start -F -c -e sched:sched_process_exec -- sh -c 'sh -c "exit 9"; exit 7'; [ $? = 7 ] || fail "start: not the command's status"
sh -c true; rtrace stop
[ "$(grep -c ': sched_process_exec: ' $T/trace)" = 2 ] || fail "start -F -c: $(grep -v '^#' $T/trace)"
rtrace start --user nobody -e sched:sched_process_exec -- sh -c 'id -u > /tmp/who' || fail "start --user"
[ "$(cat /tmp/who)" = 65534 ] || fail "start --user: $(cat /tmp/who)"
mkfifo gate
rtrace set --fork -b 512 -- sh -c 'read x < gate; echo went on > forked' || fail "set --fork"
[ ! -e forked ] && echo > gate && until_true [ -s forked ] || fail "set --fork: the command did not go on"
rtrace set -b 256 -- no-such-command 2> err; [ $? = 127 ] || fail "set: no command: $(cat err)"
[ "$(cat $T/buffer_size_kb)" -ge 512 ] || fail "set: a command that is not there changes something"
rtrace start -F -e sched 2> err; [ $? = 2 ] || fail "start -F without a command"
rtrace start -e sched:no_such -- sh -c 'echo ran > ran' 2> err; [ $? = 2 ] && [ ! -e ran ] || fail "start of nothing: $(cat err)"
rtrace reset -b 1410 || rtrace reset

# Further work on these is done outside, where it is quicker (verbs_files.sh).
at "What is done with these is done outside"
work='for i in 1 2 3 4 5 6 7 8; do ls / > /dev/null; done'
rtrace record -q -o load.dat -e sched -e irq -- sh -c "$work" || fail record
rtrace record -q -o kmem.dat -e kmem -e sched -T -- sh -c "$work" || fail "record -e kmem"

# Live, in the order of time, and nothing is left of it.
at "Live"
settings > before
rtrace stream -q -e sched:sched_switch -e sched:sched_wakeup -- sh -c "$work" > live 2> err || fail "stream: $(cat err)"
[ "$(grep -c ' sched_switch: ' live)" -ge 8 ] || fail "stream: $(cat live)"
sed 's/^.*] [^ ]* *\([0-9]*\.[0-9]*\): .*/\1/' live > times
sort -n times | diff times - > err || fail "stream: not in the order of time: $(head -n 3 err)"
rtrace stream -q --json -F -c -e sched -- sh -c "$work" > live.json || fail "stream --json"
head -n 1 live.json | grep -q '"schema":"rtrace.events"' || fail "stream --json: $(head -n 1 live.json)"
grep -q '"event":"sched:sched_process_exec"' live.json || fail "stream --json: no exec"
rtrace stream -q -e sched > live2 & pid=$!
until_true [ -s live2 ] || fail "stream: nothing within a minute"
kill -INT $pid; wait $pid || fail "stream: Ctrl-C gives $?"
rtrace stream -q -e sched -- sh -c 'exit 7' > /dev/null; [ $? = 7 ] || fail "stream: not the command's status"
rtrace stream -q -e sched:sched_process_exit --user nobody -- sh -c 'id -u > /tmp/who' > /dev/null || fail "stream --user"
[ "$(cat /tmp/who)" = 65534 ] || fail "stream --user: $(cat /tmp/who)"
if grep -qw function_graph $T/available_tracers; then
  rtrace stream -q -F -p function_graph --max-graph-depth 2 -- ls / > live 2> err || fail "stream -p: $(cat err)"
  grep -q 'funcgraph_entry: .*();' live || fail "stream -p function_graph: no leaf in $(wc -l < live) lines"
fi
if grep -qw wakeup $T/available_tracers; then
  rtrace stream -q -p wakeup -- true > /dev/null 2> err && fail "stream of a latency tracer"
  grep -q 'nothing to stream' err || fail "stream -p wakeup: $(cat err)"
fi
settings > after
diff before after || fail "knobs after stream"
[ -z "$(ls $T/instances)" ] || fail "instances after stream: $(ls $T/instances)"
echo "stream: $(wc -l < times) lines in order"
rm -f live* none.dat
exit $bad
