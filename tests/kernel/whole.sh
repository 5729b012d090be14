# Whole trace files of a guest, one folder each in /out: run by boot(1). Parts for which a kernel has no tracer, option or event
# system for are passed over.
tracing=/sys/kernel/tracing
export WHOLE_KB=4096 WHOLE_DRAIN='/case/load --drain'
# With hash-ptr off, 6.1 prints the first string of each line empty: it formats into the buffer that holds the format.
case $(uname -r) in 6.1.*) export WHOLE_HASH_PTR=1 ;; esac
has() { grep -qw -- "$1" $tracing/available_tracers; }
option() { [ -e "$tracing/options/$1" ]; }
# Where the guest is, for who watches its console.
whole() {
  timeout 900 whole "$@" >/run/case
  status=$?
  cat /run/case
  echo "$(cat /run/case), $(cut -d' ' -f1 /proc/uptime) s" >/dev/console
  return $status
}
# Before the formats and symbols are read.
[ -e /case/rtrace_forms.ko ] && { insmod /case/rtrace_forms.ko || exit; }
# Shared by all cases: reading them takes long here.
(cd $tracing/events && ls -d */*/format | xargs grep -H '') >/out/formats
cat /proc/kallsyms >/out/kallsyms
# Names of function arguments, and values of names in formats.
[ ! -e /sys/kernel/btf/vmlinux ] || cat /sys/kernel/btf/vmlinux >/out/btf
few='ls / >/dev/null; dd if=/dev/zero of=/tmp/f bs=4k count=20; rm /tmp/f; sleep 0.05; kill -0 1; exit 0'
ifconfig lo up
mount /dev/vdb /tmp || exit

# all events but those of a few systems that would leave no room for the others; those have a case of their own
all=$(ls -d $tracing/events/*/ | sed 's#.*/events/##; s#/$##' |
  grep -vxE 'ftrace|kmem|page_isolation|rcu|lock|irq_vectors|msr|raw_syscalls|preemptirq|cma|initcall|benchmark|percpu|mmap_lock|maple_tree|exceptions|filemap|tlb|csd|ipi' | sed 's/$/:*/')
cat >/out/work <<'END'
/case/load /tmp 1 12
ip link add d0 type dummy
ip link add v0 type veth peer name v1
ifconfig d0 10.9.0.1 up
ifconfig v0 10.9.1.1 up; ifconfig v1 up
brctl addbr b0; brctl addif b0 v1; ifconfig b0 10.9.2.1 up
ping -c 1 -W 1 10.9.1.2; ping -c 1 127.0.0.1; ping -6 -c 1 ::1
ip link set d0 down; ip route add 10.8.0.0/16 dev v0; ip link del v0
[ -b /dev/sda ] && { mke2fs /dev/sda; mkdir -p /run/s; mount /dev/sda /run/s; cp /bin/busybox /run/s; sync; umount /run/s; blkdiscard /dev/sda; }
dd if=/dev/zero of=/tmp/image bs=1M count=8; losetup /dev/loop0 /tmp/image && { mke2fs /dev/loop0; losetup -d /dev/loop0; }; rm -f /tmp/image
echo 0 >/sys/devices/system/cpu/cpu1/online; echo 1 >/sys/devices/system/cpu/cpu1/online
echo 1 >/proc/sys/vm/drop_caches
exit 0
END
set -f
[ -e /case/rtrace_forms.ko ] && { WHOLE_TOP=1 whole /out/forms nop 'echo 1 >/sys/module/rtrace_forms/parameters/say' 'rtrace_forms:*' || exit; }
WHOLE_KB=5120 whole /out/load nop 'sh /out/work' $all || exit
WHOLE_KB=4096 whole /out/dense nop 'ls -lR /bin | sort | tail -n 1; dd if=/dev/zero of=/tmp/f bs=4k count=30; rm /tmp/f; exit 0' \
  $(for system in kmem raw_syscalls rcu irq_vectors msr preemptirq benchmark percpu mmap_lock maple_tree exceptions filemap tlb csd ipi; do [ -d $tracing/events/$system ] && echo "$system:*"; done) || exit
WHOLE_KB=16 whole /out/overwritten nop "$few" 'sched:*' 'irq:*' 'syscalls:*' || exit
WHOLE_TOP=1 WHOLE_OPTIONS=record-tgid whole /out/tgid nop "$few" 'sched:*' || exit
WHOLE_OPTIONS='stacktrace userstacktrace' whole /out/stacks nop "$few" 'sched:sched_switch' || exit
WHOLE_OPTIONS='stacktrace sym-offset sym-addr' whole /out/offsets nop "$few" 'sched:sched_switch' || exit
option fields && { WHOLE_OPTIONS=fields whole /out/fields nop "$few" 'sched:*' 'irq:*' 'syscalls:*' 'timer:*' || exit; }
WHOLE_OPTIONS=noirq-info whole /out/noirq nop ls 'sched:*' || exit
WHOLE_OPTIONS=nocontext-info whole /out/nocontext nop ls 'sched:*' || exit
WHOLE_OPTIONS=verbose whole /out/verbose nop ls 'sched:*' 'syscalls:*' || exit
for clock in $(tr -d '[]' <$tracing/trace_clock); do
  case $clock in local | perf | mono_raw | boot) continue ;; esac # laid out as others are
  WHOLE_CLOCK=$clock whole /out/clock-$clock nop ls 'sched:*' || exit
done
whole /out/marker nop 'echo hello >$instance/trace_marker; printf "two\nlines" >$instance/trace_marker
  printf "\001\000\000\000abcdefg" >$instance/trace_marker_raw; printf "\002\000\000\000abcdefghijklmnop" >$instance/trace_marker_raw' 'sched:sched_switch' || exit
[ -e $tracing/buffer_subbuf_size_kb ] && { WHOLE_SUBBUF_KB=64 whole /out/sub-buffers nop "$few" 'sched:*' 'irq:*' 'syscalls:*' || exit; }
set +f

# The filter is there before the tracer is: a stack of every function would take for ever.
functions() {
  echo 'vfs_* ksys_*' >$tracing/set_ftrace_filter
  WHOLE_TOP=1 WHOLE_AFTER='echo >$tracing/set_ftrace_filter' whole "$@"
}
if has function; then
  set -f
  functions /out/function function "$few" 'sched:*' || exit
  set +f
  WHOLE_OPTIONS='noprint-parent sym-offset sym-addr' functions /out/function-offsets function ls || exit
  option func-args && { WHOLE_OPTIONS=func-args functions /out/function-args function "$few" || exit; }
  WHOLE_OPTIONS=func-no-repeats functions /out/function-repeats function 'ls -l /bin' || exit
fi

graph() { # graph NAME OPTIONS LOAD EVENT...
  name=$1 options=$2 load=$3
  shift 3
  # All functions would do, but the guest is slow with them.
  echo 'ksys_* vfs_* *read* *write* *copy* *lock' >$tracing/set_ftrace_filter
  echo ksys_read vfs_write >$tracing/set_graph_function
  WHOLE_TOP=1 WHOLE_OPTIONS=$options WHOLE_AFTER='echo >$tracing/set_graph_function; echo >$tracing/set_ftrace_filter' whole "/out/graph-$name" function_graph "$load" "$@"
}
if has function_graph; then
  calls='head -c 4000 /proc/kallsyms >/dev/null; dd if=/dev/zero of=/tmp/z bs=4k count=2; sleep 0.02'
  graph plain '' "$calls" || exit
  # Of the options only what the columns are like together: each tracer set anew costs seconds here.
  for some in 'funcgraph-abstime funcgraph-proc funcgraph-tail' 'nofuncgraph-overhead nofuncgraph-irqs' 'nofuncgraph-duration funcgraph-overrun' \
    'nofuncgraph-cpu nocontext-info'; do
    graph "$(echo "$some" | tr ' ' -)" "$some" 'head -c 10 /proc/version' || exit
  done
  set -f
  graph events '' "echo hello >\$instance/trace_marker; $calls" 'sched:*' 'irq:*' 'timer:*' || exit
  set +f
  WHOLE_KB=64 graph overwritten '' "$calls" || exit
  echo function_graph >$tracing/current_tracer
  for one in funcgraph-retval 'funcgraph-retval funcgraph-retval-hex' funcgraph-args funcgraph-retaddr; do
    option ${one##* } && wanted="$wanted:$one"
  done
  echo nop >$tracing/current_tracer
  IFS=:
  for one in ${wanted#:}; do
    unset IFS
    graph "${one##* }" "$one" "$calls" || exit
  done
  unset IFS
fi

# the tracers that wait for something
for tracer in hwlat osnoise timerlat; do
  has $tracer && { WHOLE_TOP=1 whole /out/$tracer $tracer 'sleep 1.5' || exit; }
done
if has blk && [ -e /sys/block/vdb/trace/enable ]; then
  disk=/sys/block/vdb/trace
  for classic in blk_classic noblk_classic; do
    WHOLE_TOP=1 WHOLE_BEFORE="echo 1 >$disk/enable" WHOLE_AFTER="echo 0 >$disk/enable" WHOLE_OPTIONS=$classic \
      whole /out/$classic blk 'dd if=/dev/zero of=/tmp/b bs=4k count=30; sync; rm /tmp/b; sync' || exit
  done
fi

# probes and synthetic events, in files of their own
mv /out/formats /out/shared
while read -r line; do echo "$line" >>$tracing/dynamic_events || echo "refused: $line" >>/out/refused; done 2>/dev/null <<'END'
p:kp/open do_sys_openat2 dfd=%di:s32 name=+0(%si):ustring a3=%dx:x64
r:kp/open_ret do_sys_openat2 ret=$retval:s64
p:kp/types ksys_write u8=%dx:u8 s16=%si:s16 x32=%di:x32 st=$stack0 comm=$comm arr=+0(%sp):x64[3] bf=%dx:b4@2/8 sym=+0(%sp):symbol nul=+0(%dx):string
p:kp/char ksys_write ch=%dx:char
p:kp/symstr ksys_write sst=+0(%sp):symstr
e:ep/sw sched.sched_switch prev=$prev_pid nc=$next_comm:string
s:wake u64 lat; pid_t pid; char name[16]; char dyn[]; s8 small; gfp_t gf
f:fp/rd ksys_read fd=$arg1
f:fp/rdx ksys_read%return ret=$retval
t:tp/sw sched_switch preempt
END
echo 'hist:keys=pid:ts0=common_timestamp.usecs' >$tracing/events/sched/sched_waking/trigger
echo 'hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).trace(wake,$lat,next_pid,next_comm,next_comm,next_prio,next_pid)' \
  >$tracing/events/sched/sched_switch/trigger
set -f
events=$(for system in kp ep synthetic fp tp; do [ -d $tracing/events/$system ] && echo "$system:*"; done)
[ -n "$events" ] && { WHOLE_TOP=1 whole /out/dynamic nop "$few" $events || exit; }
mv /out/shared /out/formats
