# Tracers recorded, reported by us and by trace-cmd, and put back. What a kernel lacks must end with 5 and its CONFIG.
set -u
bad=0
fail() { echo "FAIL: $*"; bad=1; }
T=/sys/kernel/tracing
# A buffer that was never used says another size than one of the same size that was.
echo 1410 > $T/buffer_size_kb
has() { grep -qw "$1" $T/available_tracers; }
events_of() { trace-cmd report -i "$1" 2>/dev/null | grep -c ' \[00'; }

check() { # check NAME ARGS...: records, both read it, the knobs are as before
  name=$1; shift
  knobs > before
  rtrace record -q -o $name.dat "$@" 2> $name.err || fail "$name: $(cat $name.err)"
  knobs > after
  diff before after > $name.diff || fail "$name leaves: $(cat $name.diff)"
  rtrace report $name.dat > $name.ours 2> $name.report.err || fail "report of $name: $(cat $name.report.err)"
  trace-cmd report -i $name.dat > $name.theirs 2>> $name.report.err || fail "trace-cmd report of $name: $(cat $name.report.err)"
  ours=$(grep -c ' \[00' $name.ours); theirs=$(grep -c ' \[00' $name.theirs)
  echo "$name: $ours lines, trace-cmd $theirs"
  # Debian's trace-cmd 3.1 joins some calls of a graph in another way; 3.4 has our lines.
  case $name in graph*) [ $ours -le $((theirs + 5)) ] && [ $theirs -le $((ours + 5)) ] ;; *) [ "$ours" = "$theirs" ] ;; esac ||
    fail "$name: $ours lines here, $theirs in trace-cmd"
}

# More than 64 names and expressions go to the kernel as numbers.
if has function; then
  check index -p function -l '^(vfs|ksys|do)_.*' -F -- sh -c 'read x < /proc/version'
  grep -q 'vfs_open' index.ours || fail "no vfs_open by its number"
  grep ': ' index.ours | grep -qv ' \(vfs\|ksys\|do\)_\|^cpus=\|function: *\(vfs\|ksys\|do\)_' && fail "more than asked for: $(grep -v '_' index.ours | head -n 3)"
fi

# What a function does to tracing: set, at work, gone.
commands() { # commands FUNCTION COMMAND: what set_ftrace_filter says while -l FUNCTION:COMMAND is set
  knobs > before
  rtrace record -q --top -o cmd.dat -e sched:sched_switch -l "$1:$2" -- grep -h "$1:" $T/set_ftrace_filter > set 2> cmd.err
  status=$?
  knobs > after
  diff before after > cmd.diff || fail "$1:$2 leaves: $(cat cmd.diff)"
  [ $status = 0 ] || fail "$1:$2: $status $(cat cmd.err)"
  echo "command $2: $(cat set)"
}
if has function; then
  commands vfs_open traceoff:5
  commands vfs_open traceon:3
  commands vfs_open stacktrace:2
  # A function that nobody calls: these two print all there is on the console.
  commands kernel_power_off dump
  commands kernel_power_off cpudump
  commands vfs_open enable_event:irq:softirq_entry
  commands vfs_open disable_event:sched:sched_switch:1
  [ ! -e $T/snapshot ] || commands vfs_open snapshot:1
  rtrace record -q --top -o cmd.dat -p nop -l vfs_open:stacktrace:3 -- sh -c 'read x < /proc/version; read x < /proc/version' || fail "stacktrace"
  rtrace report cmd.dat | grep -q 'kernel_stack\|stack trace' || fail "vfs_open:stacktrace left no stack"
  rtrace record -q -o cmd.dat -e sched:sched_switch -l vfs_open:tracoff -- true 2> cmd.err; [ $? = 2 ] || fail "a wrong command: $(cat cmd.err)"
  grep -q tracoff cmd.err || fail "a wrong command is not explained: $(cat cmd.err)"
fi

lacks() { # lacks TRACER CONFIG
  rtrace record -q -o none.dat -p $1 -- true 2> lacks.err; status=$?
  [ $status = 125 ] || fail "$1 is missing, status $status: $(cat lacks.err)"
  rtrace start -p $1 2> lacks.err; status=$?
  [ $status = 5 ] || fail "$1 is missing, start ends with $status"
  grep -q "$2" lacks.err || fail "$1: no $2 in $(cat lacks.err)"
  echo "$1: missing"
}

if has function; then
  check function -p function -l 'vfs_*' -n vfs_write -F -- sh -c 'read x < /proc/version'
  grep -q vfs_open function.ours || fail "no vfs_open"
  grep -q vfs_write function.ours && fail "vfs_write is left out"
  check expression -p function -l 'vfs_(read|open)' -- sh -c 'read x < /proc/version'
  grep -qv 'cpus=\|vfs_read\|vfs_open' expression.ours && fail "more than asked for: $(grep -v 'vfs_read\|vfs_open' expression.ours | head -n 3)"
  check funcstack -p function -l vfs_open --func-stack -- sh -c 'read x < /proc/version'
  grep -q 'kernel_stack\|stack trace' funcstack.ours || fail "no stack"
  check command -e sched:sched_switch -p nop -- sh -c "grep -c . $T/set_ftrace_filter > /dev/null"
  check traceoff --top -p function -l vfs_open -l vfs_open:traceoff -- sh -c 'read x < /proc/version'
  [ "$(grep -c vfs_open traceoff.ours)" -lt 20 ] || fail "traceoff did not stop it"
  rtrace record -q -o none.dat -p function -l vfs_raed -- true 2> typo.err && fail "a wrong name passes"
  grep -q 'similar names are.*vfs_read' typo.err || fail "no similar name: $(cat typo.err)"
else lacks function CONFIG_FUNCTION_TRACER; fi

if has function_graph; then
  check graph -p function_graph -g vfs_open --max-graph-depth 2 -F -- sh -c 'read x < /proc/version'
  grep -q 'vfs_open' graph.ours || fail "no vfs_open in the graph"
  if [ -e $T/options/funcgraph-retval ]; then
    check graphret -p function_graph -g vfs_open -O funcgraph-retval --max-graph-depth 1 -F -- sh -c 'read x < /proc/version'
  fi
  check graphall -p function_graph -O nofuncgraph-irqs -n 'vfs_read' --max-graph-depth 1 -F -- sh -c 'read x < /proc/version'
else lacks function_graph CONFIG_FUNCTION_GRAPH_TRACER; fi

# Only tasks that push others aside count for wakeup*.
[ -e /case/chrt ] && cp /case/chrt /bin/chrt
work() { # work TRACER: a command that makes latencies which this tracer sees
  case $1 in
    wakeup_dl) echo 'for i in 1 2 3; do chrt -d --sched-runtime 1000000 --sched-deadline 5000000 --sched-period 10000000 0 sleep 0.03; done' ;;
    wakeup*) echo 'for i in 1 2 3 4 5; do chrt -f 50 sleep 0.02; done' ;;
    *) echo 'ls / > /dev/null' ;;
  esac
}

for tracer in irqsoff preemptoff preemptirqsoff wakeup wakeup_rt wakeup_dl; do
  config=CONFIG_IRQSOFF_TRACER
  case $tracer in preempt*) config=CONFIG_PREEMPT_TRACER ;; wakeup*) config=CONFIG_SCHED_TRACER ;; esac
  if has $tracer; then
    knobs > before
    rtrace record -q -o $tracer.dat -p $tracer -d -- sh -c "$(work $tracer)" 2> $tracer.err || fail "$tracer: $(cat $tracer.err)"
    knobs > after
    diff before after > $tracer.diff || fail "$tracer leaves: $(head $tracer.diff)"
    rtrace report $tracer.dat > $tracer.ours || fail "report of $tracer"
    trace-cmd report -i $tracer.dat > $tracer.theirs || fail "trace-cmd report of $tracer"
    grep -q "# tracer: $tracer" $tracer.ours || fail "$tracer: no text: $(head -n 3 $tracer.ours)"
    grep -q "# tracer: $tracer" $tracer.theirs || fail "$tracer: trace-cmd sees no text: $(head -n 3 $tracer.theirs)"
    echo "$tracer: $(wc -l < $tracer.ours) lines, trace-cmd $(wc -l < $tracer.theirs)"
  else lacks $tracer $config; fi
done

for tracer in hwlat osnoise timerlat; do
  config=CONFIG_$(echo $tracer | tr a-z A-Z)_TRACER
  if has $tracer; then
    check $tracer -p $tracer --duration 2 -- sleep 3
  else lacks $tracer $config; fi
done
if has blk; then
  echo 3 > /proc/sys/vm/drop_caches
  check blk -p blk --device vdb -- sh -c 'cat /sys/block/vd?/trace/enable > devices; dd if=/dev/vdb of=/dev/null bs=4k count=64 2> /dev/null'
  [ "$(tr -d '\n' < devices)" = 01 ] || fail "devices of blk: $(cat devices)"
  rtrace record -q -o none.dat -p blk -- sh -c 'cat /sys/block/vd?/trace/enable > devices'
  [ "$(tr -d '\n' < devices)" = 11 ] || fail "all disks: $(cat devices)"
  [ "$(cat /sys/block/vdb/trace/enable)" = 0 ] || fail "blk leaves vdb traced"
  rtrace record -q -o none.dat -p blk --device vdx -- true 2> blk.err && fail "there is no vdx"
  grep -q 'similar\|mean\|vd' blk.err || fail "no device is named: $(cat blk.err)"
else lacks blk CONFIG_BLK_DEV_IO_TRACE; fi
if has mmiotrace; then
  # It sees what is mapped from now on, and switches all CPUs off but one.
  D=/sys/bus/pci/drivers/virtio-pci
  check mmiotrace -p mmiotrace -- sh -c "echo 0000:00:03.0 > $D/unbind; echo 0000:00:03.0 > $D/bind; sleep 1"
  [ "$(cat /sys/devices/system/cpu/online)" = 0-1 ] || fail "a CPU is still off"
else lacks mmiotrace CONFIG_MMIOTRACE; fi

# Other options of record.
check options -e sched:sched_switch -b 512 -M 1 --cmdlines-size 256 --nosplice -s 500 -T -C mono -- taskset 1 ls /
grep -q '\[001\]' options.ours && fail "CPU 1 is masked"
grep -q 'kernel_stack\|stack trace' options.ours || fail "no stack trace with -T"
check instances -e sched -B one -e irq -b 256 -C global -B two -p nop -e timer -M 1 -- ls /
check offset -e sched --ts-offset 1000 -- ls /
echo 'nobody:x:65534:65534:nobody:/nowhere:/bin/sh' >> /etc/passwd
check user -e sched:sched_process_exit --user nobody -- sh -c 'id -u > who; [ -w /out ] || id -u > /tmp/who; grep Groups: /proc/self/status > /tmp/groups; echo $HOME > /tmp/home'
[ "$(cat /tmp/who)" = 65534 ] || fail "who: $(cat who /tmp/who)"
[ "$(cat /tmp/home)" = /nowhere ] || fail "home: $(cat /tmp/home)"
if [ -e $T/buffer_subbuf_size_kb ]; then
  check subbuf -e sched --subbuf-size 16 -- ls /
else
  rtrace record -q -o none.dat -e sched --subbuf-size 16 -- true 2> subbuf.err; [ $? = 125 ] || fail "sub-buffers"
fi

# Debian's trace-cmd 3.1 has no zlib.
rtrace record -q -o zlib.dat -e sched:sched_switch --compression zlib -- ls / > /dev/null && [ "$(rtrace report zlib.dat | grep -c ' \[00')" -gt 0 ] || fail "zlib"
rtrace record -o none.dat -e sched:sched_switch -b 512 -B one -e irq -b 64 -- true 2>&1 | grep -q 'through 51[0-9.]* KiB, 6[0-9.]* KiB (one) per CPU' || fail "sizes are not told"
check version6 -e sched --file-version 6 -B one -e irq -- ls /
rtrace dump version6.dat | grep -q 'version *6' || fail "not version 6: $(rtrace dump version6.dat | head -n 3)"
check poll -e sched --poll -s 500 -- ls /
check procmap -e sched:sched_process_exit -F --proc-map -- ls /
strings procmap.dat | grep -q '^[0-9a-f]* [0-9a-f]* /bin/busybox' || fail "no map of busybox"
check percpu -e sched -e syscalls -m 64 --compression none -- sh -c 'for i in 1 2 3; do ls -lR /proc/self > /dev/null; done'
if grep -q x86-tsc $T/trace_clock && rtrace record -q -o tsc.dat -C tsc2nsec -e sched -- ls / > /dev/null 2> tsc.err; then
  check tsc -C tsc2nsec -e sched -- ls /
  stamps() { sed -n 's/.*\] [^:]* \([0-9.]*\): .*/\1/p' $1; }
  [ -n "$(stamps tsc.ours)" ] && [ "$(stamps tsc.ours)" = "$(stamps tsc.theirs)" ] || fail "times: $(head -n 3 tsc.ours tsc.theirs)"
else grep -q 'no time stamp counter\|no trace clock' tsc.err || fail "tsc2nsec: $(cat tsc.err)"; fi

# In the background.
knobs > before
rtrace record -q --daemonize -e sched:sched_switch -o daemon.dat || fail "--daemonize"
pid=$(cat /run/trace-cmd-record.pid) || fail "no pid"
ls $T/instances | grep -q "rtrace-$pid" || fail "it does not record"
sleep 0.2
kill -INT $pid
while [ -e /proc/$pid ] && ! grep -q 'State:.Z' /proc/$pid/status; do sleep 0.1; done
[ -e /run/trace-cmd-record.pid ] && fail "the pid is still told"
knobs > after
diff before after || fail "--daemonize leaves something"
[ "$(events_of daemon.dat)" -gt 0 ] || fail "nothing recorded in the background"
rtrace record -q --daemonize -e sched:no_such_event -o none.dat 2> daemon.err && fail "--daemonize hides a failure"
grep -q no_such_event daemon.err || fail "--daemonize hides why: $(cat daemon.err)"

# What a dry run prints does, when a shell does it, what the recorder does.
plan() { rtrace record "$@" -e sched:sched_switch -f 'prev_pid > 0' -R traceoff:1000 -b 512 -C mono -O irq-info -M 3 --cmdlines-size 256 -B one -e irq -b 64 -- sh mid.sh; }
echo "knobs | sed 's/rtrace-[0-9]*/rtrace-PID/; s/set_event_notrace_pid:.*//' > mid" > mid.sh
plan -q -o none.dat || fail "the recording to compare with"
mv mid mid.recorded
knobs > before
plan --dry-run > dry || fail "dry run: $(cat dry)"
sed 's/^# .*/(cd \/out; sh mid.sh)/' dry > dry.sh
PID_OF_CMD=1 PIDS_OF_RTRACE=$$ sh dry.sh || fail "what a dry run prints fails"
knobs > after
diff before after || fail "what a dry run prints leaves something"
diff mid.recorded mid || fail "what a dry run prints sets something else"

# A dry run writes nothing, and says what the real one writes.
knobs > before
rtrace record --dry-run -e sched:sched_switch -f 'prev_pid > 0' -b 512 -- ls / > dry || fail "dry run: $(cat dry)"
knobs > after
diff before after || fail "a dry run writes"
rtrace record --verbose -q -o dry.dat -e sched:sched_switch -f 'prev_pid > 0' -b 512 -- ls / 2> wet > /dev/null || fail "wet"
normal() { grep '^echo\|^mkdir\|^rmdir\|^printf' "$1" | sed 's/rtrace-[0-9]*/rtrace-PID/g; s/^echo .* >> \(.*notrace_pid\)/\1/'; }
normal dry > dry.n; normal wet > wet.n
diff dry.n wet.n || fail "the dry run tells another story"

# -k leaves it set up.
rtrace record -q -k -o keep.dat -e sched:sched_switch -- ls / > /dev/null || fail "-k"
[ "$(cat $T/events/sched/sched_switch/enable)" = 1 ] || fail "-k: not kept"
[ "$(cat $T/tracing_on)" = 0 ] || fail "-k: still on"
rtrace reset || fail reset
rm -f *.dat *.ours *.theirs before after *.diff
exit $bad
