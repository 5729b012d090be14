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
  check graphall -p function_graph -O nofuncgraph-irqs -n 'vfs_read' --max-graph-depth 1 -F -- sh -c 'read x < /proc/version'
else lacks function_graph CONFIG_FUNCTION_GRAPH_TRACER; fi

for tracer in irqsoff preemptoff preemptirqsoff wakeup wakeup_rt wakeup_dl; do
  config=CONFIG_IRQSOFF_TRACER
  case $tracer in preempt*) config=CONFIG_PREEMPT_TRACER ;; wakeup*) config=CONFIG_SCHED_TRACER ;; esac
  if has $tracer; then
    knobs > before
    rtrace record -q -o $tracer.dat -p $tracer -d -- sh -c 'for i in 1 2 3 4 5; do ls / > /dev/null; done' 2> $tracer.err || fail "$tracer: $(cat $tracer.err)"
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
for tracer in blk mmiotrace; do
  case $tracer in blk) config=CONFIG_BLK_DEV_IO_TRACE ;; *) config=CONFIG_MMIOTRACE ;; esac
  if has $tracer; then
    check $tracer -p $tracer -- sh -c 'dd if=/dev/vdb of=/dev/null bs=4k count=64 2> /dev/null'
  else lacks $tracer $config; fi
done

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

# A dry run writes nothing, and says what the real one writes.
knobs > before
rtrace record --dry-run -e sched:sched_switch -f 'prev_pid > 0' -b 512 -- ls / > dry || fail "dry run: $(cat dry)"
knobs > after
diff before after || fail "a dry run writes"
rtrace record --verbose -q -o dry.dat -e sched:sched_switch -f 'prev_pid > 0' -b 512 -- ls / 2> wet > /dev/null || fail "wet"
normal() { grep '^echo\|^mkdir\|^rmdir\|^printf' "$1" | sed 's/rtrace-[0-9]*/rtrace-PID/g' | grep -v notrace_pid; }
normal dry > dry.n; normal wet > wet.n
diff dry.n wet.n || fail "the dry run tells another story"

# -k leaves it set up.
rtrace record -q -k -o keep.dat -e sched:sched_switch -- ls / > /dev/null || fail "-k"
[ "$(cat $T/events/sched/sched_switch/enable)" = 1 ] || fail "-k: not kept"
[ "$(cat $T/tracing_on)" = 0 ] || fail "-k: still on"
rtrace reset || fail reset
rm -f *.dat *.ours *.theirs before after *.diff
exit $bad
