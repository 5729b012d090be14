# The daily verbs on a real kernel: each does its work, its file is read by trace-cmd, and all is as it was.
set -u
fail() { echo "FAIL: $*"; exit 1; }
# Until COMMAND succeeds, but not for ever: a guest may be slow.
until_true() { n=0; until "$@"; do n=$((n + 1)); [ $n -lt 600 ] || return 1; usleep 100000; done; }
T=/sys/kernel/tracing
echo 1410 > $T/buffer_size_kb
# The profiler's tables and the deepest stack are content, not settings.
settings() { knobs | grep -v '^./trace_stat/\|^./stack_max_size\|^./saved_cmdlines:'; }

# Functions are listed and profiled.
if [ -e $T/available_filter_functions ]; then
  rtrace list -f 'vfs_*' > listed || fail "list -f"
  grep -qx vfs_read listed || fail "no vfs_read among $(wc -l < listed) functions"
  [ "$(rtrace list -f | wc -l)" = "$(wc -l < $T/available_filter_functions)" ] || fail "list -f: not all"
  rtrace list -f vfs_raed 2> err && fail "a wrong name passes"
  grep -q 'similar names are .*vfs_read' err || fail "no similar name: $(cat err)"
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

# Stopped buffers become a file, with their names; what is taken out is gone.
rtrace start -e sched:sched_switch -B one -e sched:sched_wakeup && ls / > /dev/null && rtrace stop -a -t || fail "start, stop"
inside=$(cat $T/trace $T/instances/one/trace | grep -vc '^#')
# A kernel whose clocks are not steady gives the top level another one.
date=; [ "$(cat $T/trace_clock)" = "$(cat $T/instances/one/trace_clock)" ] && date=--date
rtrace extract -q -a -t $date -o extracted.dat || fail "extract"
[ "$(cat $T/tracing_on $T/events/sched/sched_switch/enable $T/instances/one/events/sched/sched_wakeup/enable | tr -d '\n')" = 011 ] ||
  fail "extract: events are disabled, or tracing is on"
rtrace report extracted.dat > told || fail "report of what was extracted"
ours=$(grep -c ' \[00' told); theirs=$(trace-cmd report -i extracted.dat 2> err | grep -c ' \[00')
[ "$ours" = "$theirs" ] && [ "$ours" -ge "$inside" ] && [ ! -s err ] || fail "extract: $inside in the rings, $ours here, $theirs in trace-cmd: $(cat err)"
for event in sched_switch sched_wakeup; do grep -q " $event: " told || fail "extract: no $event"; done
grep -q '^ *one: ' told || fail "extract -a: no event of instance one"
grep ' sched_switch: ' told | grep -q 'one:' && fail "extract -a: a top event of instance one"
now=$(date +%s); then=$(sed -n 's/.*\] [^ ]* *\([0-9]*\)\.[0-9]*: .*/\1/p' told | head -n 1)
if [ -n "$date" ]; then
  [ -n "$then" ] && [ $((now - then)) -ge 0 ] && [ $((now - then)) -lt 3600 ] || fail "extract --date: $then, and it is $now"
fi
[ "$(cat $T/trace $T/instances/one/trace | grep -vc '^#')" = 0 ] || fail "extract leaves events"
echo "extract: $ours events of $inside"
rtrace reset -d -B one && rtrace reset || fail "reset"

# What trace-cmd leaves when it is killed: both make a recording of it, trace-cmd with a header of ours.
trace-cmd record -q -o killed.dat -b 64 -e sched sleep 1000 > /dev/null 2>&1 & pid=$!
until_true test -s killed.dat.cpu0 -o -s killed.dat.cpu1 || fail "trace-cmd records nothing"
readers=$(ps -o pid,args | awk '/trace-cmd record -q -o killed/ && !/awk/ {print $1}' | grep -vx $pid)
kill -9 $pid; wait $pid 2> /dev/null
gone() { for reader in $readers; do [ ! -e /proc/$reader ] || grep -q 'State:.Z' /proc/$reader/status || return 1; done; }
for reader in $readers; do kill -USR1 $reader; done
until_true gone || fail "trace-cmd's readers do not end"
rtrace restore -c -o header.dat > /dev/null || fail "restore -c"
rtrace restore -o restored.dat killed.dat.cpu0 killed.dat.cpu1 > told || fail "restore"
trace-cmd restore -i header.dat -o theirs.dat killed.dat.cpu0 killed.dat.cpu1 > /dev/null 2> err || fail "trace-cmd restore: $(cat err)"
restored=$(rtrace report restored.dat | grep -c ' \[00')
[ "$(trace-cmd report -i restored.dat 2> err | grep -c ' \[00')" = $restored ] && [ $restored -gt 0 ] && [ ! -s err ] ||
  fail "restore: not $restored events in trace-cmd: $(cat err)"
n=$(rtrace report theirs.dat | grep -c ' \[00')
[ "$n" = $restored ] || fail "trace-cmd restores $n events, not $restored"
rtrace dump --validate restored.dat > told || fail "restore: $(cat told)"
echo "restore: $restored events"
for reader in $(pidof sleep); do grep -q 1000 /proc/$reader/cmdline && kill $reader; done
rtrace reset -b 1410 || fail "reset"
rm -f *.dat killed.dat.cpu*

# Conversions and parts are read by trace-cmd.
rtrace record -q -o load.dat -e sched -e irq -- sh -c 'for i in 1 2 3 4 5 6 7 8; do ls / > /dev/null; done' || fail record
whole=$(trace-cmd report -i load.dat | grep -c ' \[00')
for how in "--file-version 6" "--compression none" "--compression zstd"; do
  rtrace convert -i load.dat $how converted.dat || fail "convert $how"
  [ "$(trace-cmd report -i converted.dat 2> err | grep -c ' \[00')" = "$whole" ] || fail "convert $how: $(cat err)"
done
rtrace dump --strings load.dat > told || fail "dump --strings"
rtrace split -i load.dat -o part -e 100 -r > told || fail "split"
sum=0; n=0
for part in part.*; do
  count=$(trace-cmd report -i $part 2> err | grep -c ' \[00') || fail "trace-cmd: $part: $(cat err)"
  [ "$count" -le 100 ] || fail "$part has $count events"
  sum=$((sum + count)); n=$((n + 1))
done
[ $sum = $whole ] || fail "$sum events in parts, $whole in all"
rtrace dump --validate load.dat | grep -q "$whole events in .* no defects" || fail "dump: $(rtrace dump --validate load.dat)"
echo "split: $whole events in $n parts"
rm -f *.dat part.*

# Live, in the order of time, and nothing is left of it.
settings > before
work='for i in 1 2 3 4 5 6 7 8; do ls / > /dev/null; done'
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
echo 'nobody:x:65534:65534:nobody:/nowhere:/bin/sh' >> /etc/passwd
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

# What a recording says of memory, call chains and wakeups, as trace-cmd has it.
rtrace record -q -o kmem.dat -e kmem -e sched -T -- sh -c "$work" || fail "record -e kmem"
rtrace mem kmem.dat | tail -n +3 | sort > ours || fail "mem"
trace-cmd mem -i kmem.dat 2> /dev/null | tail -n +3 | sort > theirs && { diff theirs ours > err || fail "mem: $(head -n 4 err)"; }
rtrace hist -P -i kmem.dat > ours || fail "hist -i"
trace-cmd hist -P -i kmem.dat > theirs || fail "trace-cmd hist"
cmp theirs ours || fail "hist: $(diff theirs ours | head -n 4)"
rtrace report -w kmem.dat | grep 'Latency' > ours
trace-cmd report -w -i kmem.dat | grep 'Latency' | sed 's/ W ==>/ I ==>/' > theirs
[ "$(grep -c usecs ours)" = "$(grep -c usecs theirs)" ] && [ -s ours ] || fail "report -w: $(wc -l < ours), not $(wc -l < theirs)"
tail -n 2 ours > a; tail -n 2 theirs | diff a - || fail "report -w"
for what in "--boundary" "-I" "-S" "-I -S"; do
  ours=$(rtrace report $what kmem.dat | wc -l); theirs=$(trace-cmd report $what -i kmem.dat | wc -l)
  [ $ours = $theirs ] || fail "report $what: $ours lines, not $theirs"
done
echo "chains: $(wc -l < theirs) wakeups"
rm -f *.dat live* ours theirs
