# The first boot writes into a persistent instance; the second finds a copy of that, which is read-only.
set -u
T=/sys/kernel/tracing/instances/boot_map
COPY=/sys/kernel/tracing/instances/copy
mkdir -p /mnt && mount -t ext4 /dev/vdb /mnt || exit 1
if [ ! -e /mnt/written ]; then
  echo 1 >$T/events/sched/sched_switch/enable
  for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done
  echo 0 >$T/tracing_on
  cat $T/trace >/mnt/written
  umount /mnt; sync
  reboot -f
  sleep 600
fi
grep -v '^#' $COPY/trace >survived
rtrace instance list >list || exit 2
rtrace instance show copy >shown || exit 3
rtrace show -B copy >text || exit 4
for line in 'set -B copy -e sched' 'set -B copy -C mono' 'start -B copy -e sched:sched_switch' 'stop -B copy' \
  'record -B copy -e sched:sched_switch -o x.dat' 'filter set sched:sched_switch prev_pid==1 -B copy' \
  'trigger add sched:sched_switch traceoff -B copy' 'instance set copy -C mono'; do
  rtrace $line >said 2>&1; echo "$? $line: $(cat said)"
done >refused
# The instance that it was copied from records meanwhile, which is what the copy is for.
rtrace record -q -B boot_map -e sched:sched_switch -o now.dat -- true || exit 5
rtrace extract -B copy -o copy.dat 2>said || { cat said; exit 6; }
n=0; while [ -e $COPY ] && [ $n -lt 50 ]; do usleep 100000; n=$((n + 1)); done
ls /sys/kernel/tracing/instances >left
rtrace report copy.dat >report || exit 7
rtrace report --stat copy.dat >stats || exit 8
rtrace extract -B copy -o again.dat 2>again && exit 9
exit 0
