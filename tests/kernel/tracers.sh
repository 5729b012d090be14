# Tracers recorded, reported and put back. A tracer that a kernel lacks must end with 5 and its CONFIG.
set -u
bad=0
fail() { echo "FAIL: $*"; bad=1; }
T=/sys/kernel/tracing
# A buffer that was never used says another size than one of the same size that was.
echo 1410 > $T/buffer_size_kb
# Until COMMAND succeeds, but not for ever: a guest may be slow.
until_true() { n=0; until "$@"; do n=$((n + 1)); [ $n -lt 3000 ] || return 1; usleep 100000; done; }
# Where the guest is and since when, for who watches its console.
at() { echo "$1 at $(cut -d' ' -f1 /proc/uptime) s" > /dev/console; }
has() { grep -qw "$1" $T/available_tracers; }

# The settings are many and slow to read, so they are compared after several recordings.
knobs > base
settled() { # settled WHAT: all is as it was before the recordings of WHAT
  at "$1 done"
  knobs > after
  diff base after > settled.diff || { fail "$1 leave: $(head -n 20 settled.diff)"; mv after base; }
}

check() { # check NAME ARGS...: records, and reads it; what trace-cmd reads is seen outside, where that is quicker
  name=$1; shift
  at $name
  rtrace record -q -o $name.dat "$@" 2> $name.err || fail "$name: $(cat $name.err)"
  rtrace report $name.dat > $name.ours 2> $name.report.err || fail "report of $name: $(cat $name.report.err)"
}

# More than 64 names and expressions go to the kernel as numbers.
if has function; then
  check index -p function -l '^(vfs|ksys|do)_.*' -F -- sh -c 'read x < /proc/version'
  grep -q 'vfs_open' index.ours || fail "no vfs_open by its number"
  grep ': ' index.ours | grep -qv ' \(vfs\|ksys\|do\)_\|^cpus=\|function: *\(vfs\|ksys\|do\)_' && fail "more than asked for: $(grep -v '_' index.ours | head -n 3)"
fi

# Function commands that change tracing: set, at work, gone.
if has function; then
  # Nothing calls kernel_power_off: dump and cpudump print all there is on the console, and snapshot swaps the buffers.
  set -- vfs_open:traceoff:5 vfs_open:traceon:3 vfs_open:stacktrace:2 vfs_open:enable_event:irq:softirq_entry \
    vfs_open:disable_event:sched:sched_switch:1 kernel_power_off:dump kernel_power_off:cpudump
  [ ! -e $T/snapshot ] || set -- "$@" kernel_power_off:snapshot:1
  wanted=$#
  for command; do set -- "$@" -l "$command"; done
  shift $wanted
  rtrace record -q --top -o cmd.dat -e sched:sched_switch "$@" -- grep -h ':.*:' $T/set_ftrace_filter > set 2> cmd.err ||
    fail "commands: $(cat cmd.err)"
  [ "$(wc -l < set)" = $wanted ] || fail "commands: $wanted were set, and there are: $(cat set)"
  rtrace record -q --top -o cmd.dat -p nop -l vfs_open:stacktrace:3 -- sh -c 'read x < /proc/version; read x < /proc/version' || fail "stacktrace"
  rtrace report cmd.dat | grep -q 'kernel_stack\|stack trace' || fail "vfs_open:stacktrace left no stack"
  rtrace record -q -o cmd.dat -e sched:sched_switch -l vfs_open:tracoff -- true 2> cmd.err; [ $? = 2 ] || fail "a wrong command: $(cat cmd.err)"
  grep -q tracoff cmd.err || fail "a wrong command is not explained: $(cat cmd.err)"
  settled "commands on functions"
fi

# What stands after a `!` is taken out of a list, or off it as a command; the rest stays.
if has function; then
  filter() { grep -v '^#' $T/set_ftrace_filter | sort | tr '\n' ' '; }
  rtrace set -l vfs_read -l vfs_write -l vfs_open && rtrace set -l '!vfs_write' && [ "$(filter)" = 'vfs_open vfs_read ' ] || fail "-l '!f': $(filter)"
  rtrace set -l '!vfs_o(pen|ther)' && [ "$(filter)" = 'vfs_read ' ] || fail "-l '!REGEX': $(filter)"
  rtrace set -l '!vfs_open' 2> out.err; [ $? = 2 ] && [ "$(filter)" = 'vfs_read ' ] || fail "what is not in it: $(filter)"
  rtrace set -l '!vfs_read' 2> out.err && grep -q 'empty now: all functions are traced' out.err || fail "the last one: $(cat out.err)"
  rtrace set -n vfs_read -n vfs_open && rtrace set -n '!vfs_read' && [ "$(cat $T/set_ftrace_notrace)" = vfs_open ] || fail "-n '!f'"
  rtrace set -l vfs_read:traceoff:5 -l vfs_open:stacktrace && rtrace set -l '!vfs_read:traceoff:0' -l '!vfs_open:stacktrace' || fail "-l '!f:COMMAND'"
  [ -z "$(filter)" ] || fail "commands stay: $(filter)"
  rtrace record -q -o none.dat -p function -l '!vfs_read' -- true 2> out.err; [ $? = 2 ] || fail "nothing to take it out of: $(cat out.err)"
  # Of a module, where one is loaded that has functions.
  listed() { grep -vc '^#' $T/set_ftrace_filter; }
  modular=$(sed -n 's/ \[virtio_blk\]$//p' $T/available_filter_functions | head -n 1)
  if [ -n "$modular" ]; then
    rtrace set -l '*:mod:virtio_blk' && n=$(listed) && [ $n -gt 5 ] || fail "-l '*:mod:virtio_blk': $(listed)"
    rtrace set -l "!$modular:mod:virtio_blk" && [ $(listed) = $((n - 1)) ] || fail "-l '!f:mod:virtio_blk': $(listed) of $n are left"
    grep -qw "$modular" $T/set_ftrace_filter && fail "$modular stays"
    rtrace set -l '' || fail "-l '' after a module"
  fi
  rtrace trigger add --function vfs_open stacktrace && rtrace trigger remove --function vfs_open '!stacktrace' || fail "--function '!stacktrace'"
  rtrace set --not-pid 1 2> out.err && grep -q 'come later are not left out' out.err && [ "$(cat $T/set_event_notrace_pid $T/set_ftrace_notrace_pid | tr '\n' ' ')" = '1 1 ' ] || fail --not-pid
  if has function_graph; then
    rtrace set -p function_graph -g 'vfs_(read|open)' && rtrace set -g '!vfs_open' && [ "$(cat $T/set_graph_function)" = vfs_read ] || fail "-g: $(cat $T/set_graph_function)"
  fi
  rtrace reset || fail "reset of lists"
  settled lists

  # Tracing of functions that is off for the machine is seen, said, and switched on again.
  rtrace set -D && [ "$(cat /proc/sys/kernel/ftrace_enabled)" = 0 ] || fail "-D"
  rtrace stat | grep -q 'kernel.ftrace_enabled: 0 (1 after boot)' || fail "stat of -D: $(rtrace stat)"
  rtrace record -q -o none.dat -p function -l vfs_open -- true 2> out.err && grep -q ftrace_enabled out.err || fail "off, and not said: $(cat out.err)"
  rtrace record -q -o none.dat --ftrace -p function -l vfs_open -- sh -c 'read x < /proc/version' && rtrace report --count none.dat | grep -q function || fail --ftrace
  [ "$(cat /proc/sys/kernel/ftrace_enabled)" = 0 ] || fail "--ftrace stays"
  rtrace set --ftrace && [ "$(cat /proc/sys/kernel/ftrace_enabled)" = 1 ] || fail "set --ftrace"
  rtrace set --max-latency 77 && [ "$(cat $T/tracing_max_latency)" = 77 ] || fail "set --max-latency: $(cat $T/tracing_max_latency)"
  rtrace set -D --cmdlines-size 20000 && echo vfs_read > $T/stack_trace_filter
  for knob in hwlat_detector/width:1000 osnoise/runtime_us:500 osnoise/period_us:600 osnoise/stop_tracing_us:7 osnoise/cpus:1; do
    [ ! -e $T/${knob%:*} ] || echo ${knob#*:} > $T/${knob%:*} || fail "$knob"
  done
  rtrace reset 2> out.err || fail "reset: $(cat out.err)"
  rtrace stat > stat.out; grep -q 'Whole machine\|stack_trace_filter' stat.out && fail "not reset: $(cat stat.out)"
  settled "the machine's settings"
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
  grep -q 'did you mean.*vfs_read' typo.err || fail "no similar name: $(cat typo.err)"
  settled functions
else lacks function CONFIG_FUNCTION_TRACER; fi

if has function_graph; then
  check graph -p function_graph -g vfs_open --max-graph-depth 2 -F -- sh -c 'read x < /proc/version'
  grep -q 'vfs_open' graph.ours || fail "no vfs_open in the graph"
  if [ -e $T/options/funcgraph-retval ]; then
    check graphret -p function_graph -g vfs_open -O funcgraph-retval --max-graph-depth 1 -F -- sh -c 'read x < /proc/version'
  fi
  check graphall -p function_graph -O nofuncgraph-irqs -n 'vfs_read' --max-graph-depth 1 -F -- sh -c 'read x < /proc/version'
  settled graphs
else lacks function_graph CONFIG_FUNCTION_GRAPH_TRACER; fi

# The events of a profile: above all the system calls and interrupts as function_graph has them.
# Its command sleeps, so that a switch of tasks is certain.
rtrace record -q --profile -F -c -o profile.dat -- sh -c 'read x < /proc/version; usleep 50000; true' 2> profile.err || fail "record --profile: $(cat profile.err)"
rtrace report --profile profile.dat > profile.ours || fail "report --profile"
rtrace profile -q -F -c --layout trace-cmd -o profile.live -- sh -c 'read x < /proc/version; usleep 50000; true' 2> profile.err || fail "profile: $(cat profile.err)"
grep -q '^ *Event: sched_switch' profile.ours && grep -q '^ *Event: sched_switch' profile.live || fail "no sched_switch in a profile: $(head -n 20 profile.live)"
if has function_graph; then
  grep -q 'Event: func: [a-z0-9_]*sys' profile.ours && grep -q 'Event: func: [a-z0-9_]*sys' profile.live || fail "no function in a profile: $(head -n 20 profile.live)"
fi
settled profiles

# Only tasks that push others aside count for wakeup*.
[ -e /case/chrt ] && cp /case/chrt /bin/chrt
work() { # work TRACER: a command that makes latencies which this tracer sees
  case $1 in
    wakeup_dl) echo 'for i in 1 2; do chrt -d --sched-runtime 1000000 --sched-deadline 5000000 --sched-period 10000000 0 sleep 0.03; done' ;;
    wakeup*) echo 'for i in 1 2; do chrt -f 50 sleep 0.02; done' ;;
    *) echo 'ls / > /dev/null' ;;
  esac
}

for tracer in irqsoff preemptoff preemptirqsoff wakeup wakeup_rt wakeup_dl; do
  config=CONFIG_IRQSOFF_TRACER
  case $tracer in preempt*) config=CONFIG_PREEMPT_TRACER ;; wakeup*) config=CONFIG_SCHED_TRACER ;; esac
  if has $tracer; then
    rtrace record -o $tracer.dat --summary-json $tracer.json -p $tracer -d -- sh -c "$(work $tracer)" 2> $tracer.err || fail "$tracer: $(cat $tracer.err)"
    rtrace report $tracer.dat > $tracer.ours || fail "report of $tracer"
    grep -q "# tracer: $tracer" $tracer.ours || fail "$tracer: no text: $(head -n 3 $tracer.ours)"
    [ $(wc -l < $tracer.ours) -gt 3 ] || fail "$tracer: $(cat $tracer.ours)"
    # The longest latency in the kernel's own text is the result, wherever one is printed.
    longest=$(sed -n 's/^# latency: \([0-9]*\) us.*/\1/p' $tracer.ours)
    grep -q "^$tracer.dat: $tracer: longest latency .* us on CPU .*, [0-9]* lines*; in " $tracer.err || fail "$tracer: no result: $(cat $tracer.err)"
    grep -q "0 events" $tracer.err && fail "$tracer: counts events: $(cat $tracer.err)"
    grep -q "\"latency_us\": $longest," $tracer.json || fail "$tracer: not $longest us: $(cat $tracer.json)"
    rtrace report --summary $tracer.dat | tr -d , | grep -q "^$tracer: longest latency $longest us" || fail "$tracer: no summary"
    rtrace convert $tracer.dat none.csv --force > said; grep -q "left out: the text of tracer $tracer" said || fail "$tracer: $(cat said)"
    rtrace record -q -o none.dat -p $tracer --max-latency 99999999 -- sh -c "cat $T/tracing_max_latency $T/instances/*/tracing_max_latency > floor 2> /dev/null; true" || fail "$tracer --max-latency"
    grep -qx 99999999 floor || fail "$tracer --max-latency: $(cat floor)"
  else lacks $tracer $config; fi
done

# A command that ends when something was traced.
cat > some_events <<'END'
n=0
until grep -q 'entries: [1-9]\|read events: [1-9]' /sys/kernel/tracing/per_cpu/cpu*/stats /sys/kernel/tracing/instances/*/per_cpu/cpu*/stats 2> /dev/null; do
  n=$((n + 1)); [ $n -lt 3000 ] || exit 1; usleep 100000
done
END
for tracer in hwlat osnoise timerlat; do
  config=CONFIG_$(echo $tracer | tr a-z A-Z)_TRACER
  if has $tracer; then
    check $tracer -p $tracer -- sh some_events
  else lacks $tracer $config; fi
done

# Settings of hwlat, osnoise and timerlat: as asked while it records, as before afterwards, also after a SIGKILL at any moment.
of_tracers() { for f in $T/hwlat_detector/* $T/osnoise/*; do [ -d $f ] || echo "$f $(cat $f)"; done; }
if has hwlat && has timerlat; then
  of_tracers > tracers.before
  set -- --hwlat-width 50ms --hwlat-window 100ms --hwlat-mode per-cpu -p hwlat -- sh -c "cat $T/hwlat_detector/*"
  rtrace record -q -o none.dat "$@" > said || fail "settings of hwlat"
  [ "$(tr '\n' ' ' < said)" = 'none round-robin [per-cpu] 50000 100000 ' ] || fail "hwlat was set to $(cat said)"
  set -- -p osnoise --osnoise-period 3s --osnoise-runtime 2s --osnoise-cpus 1 --osnoise-option OSNOISE_IRQ_DISABLE --stop-tracing 7s
  rtrace record -q -o none.dat "$@" -- sh -c "cd $T/osnoise; cat period_us runtime_us cpus stop_tracing_us; grep -o '[^ ]*IRQ_DISABLE' options" > said || fail "settings of osnoise"
  [ "$(tr '\n' ' ' < said)" = '3000000 2000000 1 7000000 OSNOISE_IRQ_DISABLE ' ] || fail "osnoise was set to $(cat said)"
  of_tracers | diff tracers.before - > tracers.diff || fail "settings of tracers stay: $(cat tracers.diff)"
  set -- -p timerlat --osnoise-cpus 0 --timerlat-period 20ms --stop-tracing-total 3s --print-stack 2s --osnoise-option PANIC_ON_STOP --osnoise-option NO_PANIC_ON_STOP
  n=0
  while [ $n -lt ${KILLS:-6} ]; do
    n=$((n + 1))
    rtrace record -q -o killed.dat "$@" --hwlat-width 1ms -p hwlat -B k -p timerlat -- sleep 2 2> /dev/null &
    usleep $((RANDOM * 16)); kill -9 $!; wait $! 2> /dev/null
    case $((n % 2)) in 0) rtrace recover killed.dat > killed.log 2>&1 ;; esac
    rtrace reset --stale > killed.log 2>&1 || fail "reset --stale: $(cat killed.log)"
    of_tracers | diff tracers.before - > tracers.diff || fail "settings of tracers after kill $n: $(cat tracers.diff)"
    rm -f killed.dat*
  done
  # Live: a task of a higher priority than timerlat's thread (FIFO 95) delays it, and is named; the file ends with that sample.
  if [ -e /bin/chrt ]; then
    at timerlat-live
    echo 'usleep 1500000; taskset 2 chrt -f 99 sh /out/hog.sh; sleep 5' > hogs.sh
    echo 'hundredths() { read t idle < /proc/uptime; t=${t%.*}${t#*.}; }; hundredths; end=$((t + 60)); while [ $t -lt $end ]; do hundredths; done' > hog.sh
    rtrace timerlat --period 10ms --stop 300ms --save late.dat --run 'echo $((1 + $(cat acted 2> /dev/null || echo 0))) > acted' --json -- sh hogs.sh > live.json 2> live.err
    [ $? = 3 ] || fail "timerlat: no threshold hit: $(cat live.err live.json)"
    [ "$(cat acted)" = 1 ] || fail "timerlat: --run acted $(cat acted)"
    tr -d ' \n' < live.json > live.flat
    grep -q '"hits":\[{"at":[0-9]*,"cpu":1,"ns":[3-9][0-9]*,"what":"threadlatency"}\]' live.flat || fail "timerlat: hits: $(cat live.flat)"
    grep -q '"blocking":"sh\[' live.flat || fail "timerlat: the hog is not named: $(cat live.flat)"
    # The samples of the file, which the kernel wrote into another ring: on a moment later, so a few less.
    rtrace report -R late.dat | grep ' timerlat:' > samples
    awk '/"thread": [{]/ { t = 1 } /"last":/ && t { last = $2 + 0 } /"count":/ && t { n = $2 + 0; t = 0 } /"cpu":/ && n { print $2 + 0, n, last; n = 0 }' live.json > live
    for cpu in 0 1; do
      in_file=$(grep -c "\[00$cpu\].* context=1 " samples)
      last=$(grep "\[00$cpu\].* context=1 " samples | tail -n 1 | sed 's/.*timer_latency=\([0-9]*\).*/\1/')
      set -- $(grep "^$cpu " live)
      [ $in_file -gt 20 ] && [ $# = 3 ] && [ $(($2 - in_file)) -ge 0 ] && [ $(($2 - in_file)) -le 5 ] && [ $3 = $last ] ||
        fail "timerlat: CPU $cpu has $in_file samples in the file, the last $last, and live: $*"
    done
    of_tracers | diff tracers.before - > tracers.diff || fail "timerlat changes: $(cat tracers.diff)"
  fi
  # On a terminal a table takes the place of the one before, and Ctrl-C ends it with the whole.
  if [ -e /case/helper ]; then
    mkdir -p /dev/pts; mount -t devpts devpts /dev/pts
    for tool in 'timerlat --period 10ms' 'osnoise --period 300ms --runtime 200ms'; do
      /case/helper pty 3 rtrace $tool --interval 300ms > live.terminal || fail "$tool on a terminal: $(cat live.terminal)"
      [ $(tr '\033' '^' < live.terminal | grep -c '\^\[H') -ge 3 ] && grep -q 'Window: ' live.terminal || fail "$tool has no live table: $(cat live.terminal)"
    done
    of_tracers | diff tracers.before - > tracers.diff || fail "live tables change: $(cat tracers.diff)"
  fi
  for wrong in '--hwlat-width 2s' '--timerlat-period 50us' '--osnoise-cpus 77' '--osnoise-option NONE' '--osnoise-runtime 2s'; do
    rtrace set $wrong 2> wrong.err; [ $? = 2 ] && grep -q 'invalid value for' wrong.err || fail "$wrong: $(cat wrong.err)"
  done
  of_tracers | diff tracers.before - > tracers.diff || fail "a wrong setting changes: $(cat tracers.diff)"
else
  rtrace set --hwlat-width 1ms 2> wrong.err; [ $? = 5 ] && grep -q CONFIG_HWLAT_TRACER wrong.err || fail "no hwlat: $(cat wrong.err)"
fi
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
  check mmiotrace -p mmiotrace -- sh -c "echo 0000:00:03.0 > $D/unbind; echo 0000:00:03.0 > $D/bind"
  [ "$(cat /sys/devices/system/cpu/online)" = 0-1 ] || fail "a CPU is still off"
else lacks mmiotrace CONFIG_MMIOTRACE; fi
settled tracers

# Other options of record.
check options -e sched:sched_switch -b 512 -M 1 --cmdlines-size 256 --nosplice -s 500 -T -C mono -- taskset 1 ls / > /dev/null
grep -q '\[001\]' options.ours && fail "CPU 1 is masked"
grep -q 'kernel_stack\|stack trace' options.ours || fail "no stack trace with -T"
check instances -e sched -B one -e irq -b 256 -C global -B two -p nop -e 'timer:hrtimer_*' -M 1 -- ls / > /dev/null
check offset -e sched --ts-offset 1000 -- ls / > /dev/null
echo 'nobody:x:65534:65534:nobody:/nowhere:/bin/sh' >> /etc/passwd
check user -e sched:sched_process_exit --user nobody -- sh -c 'id -u > who; [ -w /out ] || id -u > /tmp/who; grep Groups: /proc/self/status > /tmp/groups; echo $HOME > /tmp/home'
[ "$(cat /tmp/who)" = 65534 ] || fail "who: $(cat who /tmp/who)"
[ "$(cat /tmp/home)" = /nowhere ] || fail "home: $(cat /tmp/home)"
if [ -e $T/buffer_subbuf_size_kb ]; then
  check subbuf -e sched --subbuf-size 16 -- ls / > /dev/null
else
  rtrace record -q -o none.dat -e sched --subbuf-size 16 -- true 2> subbuf.err; [ $? = 125 ] || fail "sub-buffers"
fi

# Debian's trace-cmd 3.1 has no zlib.
rtrace record -q -o zlib.dat -e sched:sched_switch --compression zlib -- ls / > /dev/null && [ "$(rtrace report zlib.dat | grep -c ' \[00')" -gt 0 ] || fail "zlib"
# The granted size is a whole number of sub-buffers, and some to spare on newer kernels.
rtrace record -o none.dat -e sched:sched_switch -b 512 -B one -e irq -b 64 -- true > sizes 2>&1
grep -q 'through 5[0-9.]* KiB, [67][0-9.]* KiB (one) per CPU' sizes || fail "sizes are not reported: $(cat sizes)"
check version6 -e sched --file-version 6 -B one -e irq -- ls / > /dev/null
rtrace dump version6.dat | grep -q 'version *6' || fail "not version 6: $(rtrace dump version6.dat | head -n 3)"
check poll -e sched --poll -s 500 -- ls / > /dev/null
check procmap -e sched:sched_process_exit -F --proc-map -- ls / > /dev/null
strings procmap.dat | grep -q '^[0-9a-f]* [0-9a-f]* /bin/busybox' || fail "no map of busybox"
check percpu -e sched -m 64 --compression none -- ls -l /proc > /dev/null
if grep -q x86-tsc $T/trace_clock && rtrace record -q -o tsc.dat -C tsc2nsec -e sched -- ls / > /dev/null 2> tsc.err; then
  check tsc -C tsc2nsec -e sched -- ls / > /dev/null
  # With functions and how long they took, in nanoseconds.
  if has function_graph; then
    check graph-tsc -C tsc2nsec -p function_graph -g vfs_open --max-graph-depth 2 -F -- sh -c 'read x < /proc/version'
  fi
else grep -q 'no time stamp counter\|no trace clock' tsc.err || fail "tsc2nsec: $(cat tsc.err)"; fi

# In the background.
rtrace record -q --daemonize -e sched:sched_switch -o daemon.dat || fail "--daemonize"
pid=$(cat /run/trace-cmd-record.pid) || fail "no pid"
ls $T/instances | grep -q "rtrace-$pid" || fail "it does not record"
until_true grep -q 'entries: [1-9]\|read events: [1-9]' $T/instances/rtrace-$pid/per_cpu/cpu*/stats || fail "it records nothing"
kill -INT $pid
gone() { [ ! -e /proc/$pid ] || grep -q 'State:.Z' /proc/$pid/status; }
until_true gone || fail "it does not end"
[ -e /run/trace-cmd-record.pid ] && fail "the pid is still written"
settled "recordings with other options"
[ "$(rtrace report daemon.dat | grep -c ' \[00')" -gt 0 ] || fail "nothing recorded in the background"
rtrace record -q --daemonize -e sched:no_such_event -o none.dat 2> daemon.err && fail "--daemonize hides a failure"
grep -q no_such_event daemon.err || fail "--daemonize hides why: $(cat daemon.err)"

# The output of a dry run does in a shell what the recorder does. Only whom it leaves out differs, and how often a
# trigger has fired by then.
plan() { rtrace record "$@" -e sched:sched_switch -f 'prev_pid > 0' -R traceoff:1000 -b 512 -C mono -O irq-info -M 3 --cmdlines-size 256 -B one -e irq -b 64 -- sh mid.sh; }
echo "knobs | sed 's/rtrace-[0-9]*/rtrace-PID/; s/:count=[0-9]*\$//; /set_event_notrace_pid:/d; /filter:(common_pid !=/d' > mid" > mid.sh
plan -q -o none.dat || fail "the recording to compare with"
mv mid mid.recorded
plan --dry-run > dry || fail "dry run: $(cat dry)"
[ ! -e mid ] || fail "a dry run runs the command"
sed 's/^# .*/(cd \/out; sh mid.sh)/' dry > dry.sh
PID_OF_CMD=1 PIDS_OF_RTRACE=$$ sh dry.sh || fail "what a dry run prints fails"
diff mid.recorded mid || fail "what a dry run prints sets something else"

# It writes nothing, and says what the real one writes.
set -- -e sched:sched_switch -f 'prev_pid > 0' -b 512 -- true
rtrace record --dry-run "$@" > dry || fail "dry run: $(cat dry)"
rtrace record --verbose -q -o dry.dat "$@" 2> wet || fail "wet: $(cat wet)"
normal() { grep '^echo\|^mkdir\|^rmdir\|^printf' "$1" | sed 's/rtrace-[0-9]*/rtrace-PID/g; s/^echo .* >> \(.*notrace_pid\)/\1/'; }
normal dry > dry.n; normal wet > wet.n
diff dry.n wet.n || fail "the dry run tells another story"
settled "dry runs"

# -k leaves it set up.
rtrace record -q -k -o keep.dat -e sched:sched_switch -- ls / > /dev/null || fail "-k"
[ "$(cat $T/events/sched/sched_switch/enable)" = 1 ] || fail "-k: not kept"
[ "$(cat $T/tracing_on)" = 0 ] || fail "-k: still on"
rtrace reset || fail reset
rm -f none.csv none.dat cmd.dat dry.dat keep.dat *.ours base after before *.diff
exit $bad
