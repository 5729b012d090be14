#!/bin/sh
# host.sh NAME [hog]: two seconds of a host called NAME (a UTS namespace of its own, so that the kernel says so), on which a
# service wakes every five milliseconds on CPU 1; with "hog" a task of a real-time class takes that CPU for half a second.
hostname "$1"
mount --bind /dev/null /proc/kallsyms # a megabyte of names that are not needed here
taskset -c 1 python3 -c 'import time
open("/proc/self/comm", "w").write("service")
end = time.time() + 3
while time.time() < end: time.sleep(.005)' &
if [ "$2" = hog ]; then
  (sleep 1; exec chrt -f 10 taskset -c 1 python3 -c 'import time
open("/proc/self/comm", "w").write("batch-job")
end = time.time() + .5
while time.time() < end: pass') &
fi
${RTRACE:-rtrace} record -q --date --duration 2 -e sched:sched_switch -e sched:sched_waking -o "$1.dat"
wait
