#!/bin/sh
# Whole trace files of this machine: whole_host.sh WHOLE DIR LOAD
#
# All events are on while the load runs, but for a few systems that would leave no room for the others; those have a
# case of their own.
whole=$1 dir=$2 load=$3
tracing=/sys/kernel/tracing
work=$dir/work
export WHOLE_DRAIN="$load --drain"
mkdir -p "$work"
all=$(cd $tracing/events && ls -d */ | tr -d / | grep -vxE 'ftrace|kmem|page_isolation|rcu|lock|irq_vectors|msr|raw_syscalls|preemptirq|cma|kvm|kvmmmu|xen' | sed 's/$/:*/')
set -f
WHOLE_KB=65536 $whole "$dir/load" nop "$load $work 1" $all || exit
WHOLE_KB=16384 $whole "$dir/dense" nop "find /etc /usr/share/doc -name '*.conf' | sort | tail -n 1; dd if=/dev/zero of=$work/f bs=4k count=100 conv=fsync" 'kmem:*' 'raw_syscalls:*' 'rcu:*' 'irq_vectors:*' 'msr:*' || exit
WHOLE_KB=16 $whole "$dir/overwritten" nop 'ls -lR /etc | tail -n 1; true' 'sched:*' 'syscalls:*' 'irq:*' || exit
for clock in $(tr -d '[]' <$tracing/trace_clock); do
  case $clock in ppc-tb | x86-tsc | counter | local | global | uptime | perf | mono* | boot | tai) ;; *) continue ;; esac
  WHOLE_CLOCK=$clock $whole "$dir/clock-$clock" nop 'ls /' 'sched:*' 'syscalls:*' || exit
done
WHOLE_KB=4096 WHOLE_OPTIONS=fields $whole "$dir/option-fields" nop 'ls -lR /etc | sort | tail -n 1' 'sched:*' 'irq:*' 'signal:*' 'kmem:*' 'timer:*' 'workqueue:*' \
  'exceptions:*' 'ext4:*' 'block:*' 'writeback:*' 'syscalls:*' 'task:*' 'skb:*' 'rcu:*' || exit
for option in noirq-info nocontext-info verbose stacktrace 'stacktrace sym-offset sym-addr' userstacktrace noannotate; do
  WHOLE_OPTIONS=$option $whole "$dir/option-$(echo "$option" | tr ' ' -)" nop 'ls -l / | sort' 'sched:*' 'syscalls:*' 'irq:*' 'signal:*' || exit
done
$whole "$dir/marker" nop 'echo hello >$instance/trace_marker; printf "two\nlines" >$instance/trace_marker
  printf "\001\000\000\000abcdefg" >$instance/trace_marker_raw; printf "\002\000\000\000abcdefghijklmnop" >$instance/trace_marker_raw' 'sched:sched_switch' || exit
if [ -e $tracing/buffer_subbuf_size_kb ]; then
  for size in 8 16 32 64; do
    WHOLE_SUBBUF_KB=$size $whole "$dir/sub-buffers-$size" nop 'ls -lR /etc | sort | tail -n 1' 'sched:*' 'syscalls:*' 'irq:*' || exit
  done
fi
# Requests for no idle states are made here; each of its three actions once.
if [ -w /dev/cpu_dma_latency ]; then
  $whole "$dir/latency" nop 'exec 3>/dev/cpu_dma_latency; printf 0x7fffffff >&3; exec 3>&-' power:pm_qos_add_request power:pm_qos_update_request power:pm_qos_remove_request power:pm_qos_update_target || exit
fi
WHOLE_OPTIONS=printk-msg-only $whole "$dir/message" nop 'echo hello >$instance/trace_marker' 'sched:sched_switch' || exit
[ ! -e /sys/kernel/btf/vmlinux ] || cat /sys/kernel/btf/vmlinux >"$dir/btf"
rm -rf "$work"
exit 0
