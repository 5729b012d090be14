# Linux 7: what system calls are given, and the settings of all events in one file. Each part says `ok: NAME`.
set -u
T=/sys/kernel/tracing
fail() { echo "FAIL: $*"; exit 1; }
say() { echo "ok: $*"; echo "$* at $(cut -d' ' -f1 /proc/uptime) s" >/dev/console; }
open=syscalls:sys_enter_openat
long=/tmp/a-file-with-a-name-that-is-much-longer-than-twenty-bytes
echo content >$long

# Texts of system calls: as many bytes as asked for, of this recording only, and put back in a buffer of others.
knob=$T/syscall_user_buf_size
default=$(cat $knob)
rtrace record -q -o whole.dat -e $open -e syscalls:sys_exit_openat -- cat $long >/dev/null || fail "record"
rtrace record -q -o short.dat --syscall-bytes 20 -e $open -- cat $long >/dev/null || fail "record --syscall-bytes"
rtrace record -q -o none.dat --syscall-bytes 0 -e $open -- cat $long >/dev/null || fail "record --syscall-bytes 0"
[ "$(cat $knob)" = "$default" ] || fail "an instance of its own changed the top level: $(cat $knob)"
rtrace record -q --top -o top.dat --syscall-bytes 100 -e $open -- cat $knob >during || fail "record --top"
[ "$(cat during) $(cat $knob)" = "100 $default" ] || fail "during: $(cat during), then: $(cat $knob)"
rtrace report whole.dat | grep -q "sys_enter_openat.*\"$long\"" || fail "no whole name: $(rtrace report whole.dat)"
rtrace report short.dat | grep -q "sys_enter_openat.*\"/tmp/a-file-with-a" || fail "no short name: $(rtrace report short.dat)"
rtrace report short.dat | grep -q "$long" && fail "more than 20 bytes"
rtrace report none.dat | grep -q "/tmp/a-file" && fail "a name though none was asked for"
rtrace record -q -o x.dat --syscall-bytes 4096 -e $open -- true 2>err; [ $? = 2 ] || fail "4096: $(cat err)"
grep -q 'reads at most [0-9]* bytes' err || fail "4096 is not explained: $(cat err)"
[ "$(cat $knob)" = "$default" ] || fail "4096 left $(cat $knob)"
rtrace set --syscall-bytes 30 || fail "set"
rtrace stat | grep -q '30 bytes each' || fail "stat: $(rtrace stat)"
rtrace reset || fail "reset"
[ "$(cat $knob)" = "$default" ] || fail "after reset: $(cat $knob)"
say "bytes of texts"

# The names elsewhere: in words, in filters, in tables, in analyses.
rtrace report --syscalls whole.dat | grep -q "openat(.*\"$long\"" || fail "--syscalls: $(rtrace report --syscalls whole.dat)"
filter='__filename_val ~ "*much-longer*"'
rtrace report whole.dat --filter "sys_enter_openat: $filter" >filtered || fail "--filter"
[ "$(grep -c "sys_enter.*$long" filtered) $(grep -c sys_enter filtered)" = '1 1' ] || fail "--filter: $(cat filtered)"
rtrace hist $open "hist:keys=__filename_val" -i whole.dat >table || fail "hist -i"
grep -q "$long" table || fail "hist -i: $(cat table)"
rtrace hist $open "hist:keys=__filename_val" -- cat $long >live || fail "hist"
grep -q "a-file-with" live || fail "hist: $(cat live)"
rtrace report --json whole.dat | grep -q "__filename_val.*$long" || fail "json"
rtrace analyze syscalls whole.dat | grep -q openat || fail "analyze"
say "names of files"

# One read for the settings of all events, which says what two files per event say.
rtrace filter set sched:sched_switch 'prev_pid == 1' || fail "filter set"
rtrace filter set 'irq:*' 'irq == 3' 2>/dev/null
rtrace trigger add sched:sched_switch 'traceoff:5 if prev_pid == 1' || fail "trigger add"
rtrace trigger add sched:sched_switch stacktrace || fail "trigger add"
rtrace trigger add sched:sched_waking 'hist:keys=pid' || fail "trigger add hist"
echo 'xx == 1' >$T/events/sched/sched_wakeup/filter 2>/dev/null
# One of the kernel's own events, which that file leaves out.
rtrace trigger add ftrace:print 'traceoff:5 if buf == "x"' || fail "trigger add ftrace:print"
(cd $T/events; grep -H '' */*/trigger | grep -v ':#' | sed 's#/#:#; s#/trigger:# #' | sort) >each
rtrace trigger list | tr -s ' ' | sort >listed || fail "trigger list"
diff each listed >different || fail "triggers: $(cat different)"
(cd $T/events; grep -H '' */*/filter | grep -v ':none$' | sed 's#/#:#; s#/filter:# #' | sort) >each
rtrace filter show | grep -q 'sched:sched_switch *prev_pid == 1' || fail "filter show: $(rtrace filter show)"
rtrace stat --json >stat.json || fail "stat"
[ "$(grep -c '"event": ' stat.json)" = 5 ] || [ "$(grep -c 'prev_pid == 1' stat.json)" -ge 2 ] || fail "stat: $(cat stat.json)"
rtrace reset || fail "reset"
grep -q '^[^#]' $T/events/ftrace/print/trigger && fail "reset left $(cat $T/events/ftrace/print/trigger)"
[ -z "$(cat $T/show_event_filters $T/show_event_triggers)" ] || fail "reset left $(cat $T/show_event_filters $T/show_event_triggers)"
say "settings of all events"

# Stacks of tables are as long as the kernel's: writing an ext4 file back is more than 16 frames deep.
I=$T/instances/deep
mkdir $I /mnt
echo 1 >$I/options/stacktrace
rtrace trigger add -B deep block:block_bio_queue 'hist:keys=common_stacktrace' || fail "trigger add"
echo 1 >$I/events/block/block_bio_queue/enable
mount -t ext4 /dev/vdb /mnt || fail "mount"
for i in 1 2 3 4; do dd if=/dev/urandom of=/mnt/$i bs=4k count=20 2>/dev/null; sync; done
umount /mnt
echo 0 >$I/tracing_on
kernels() { awk '/^\{/ {stack = ""; next} /^\}/ {print $NF, stack; next} /^ / {sub(/\+.*/, "", $1); stack = stack " " $1}'; }
ours() { awk '/^ +[0-9]+ +[0-9.]+ +[0-9.]+/ {if (n) print n, stack; n = $1; stack = ""; next} /^ / {sub(/\+.*/, "", $1); stack = stack " " $1} END {print n, stack}'; }
kernels <$I/events/block/block_bio_queue/hist | sort >kernels
rtrace extract -q -B deep -o deep.dat || fail "extract"
rtrace hist -i deep.dat block:block_bio_queue 'hist:keys=common_stacktrace' >table || fail "hist -i"
ours <table | sort >ours
[ "$(awk '{print NF}' kernels | sort -n | tail -n 1)" -gt 18 ] || fail "no stack is deep: $(cat kernels)"
diff kernels ours >different || fail "stacks: $(cat different)"
rtrace trigger clear -B deep
say "stacks of tables"

# Bitmasks as lists, as the instance's option says.
I=$T/instances/masks
mkdir $I
echo 1 >$I/options/bitmask-list
echo 1 >$I/events/ipi/ipi_send_cpumask/enable
# The kernel's code is changed for these, on all CPUs.
for i in 1 2 3 4; do echo $((i % 2)) >$T/events/sched/enable; done
echo 0 >$I/tracing_on
grep -v '^#' $I/trace >kernels
rtrace extract -q -B masks -o masks.dat || fail "extract of masks"
rtrace report --format kernel masks.dat | grep -v '^#' >ours || fail "report of masks"
grep -q 'cpumask=[0-9]-[0-9]\|cpumask=[0-9],[0-9]' kernels || fail "no mask is a list: $(cat kernels)"
diff kernels ours >different || fail "masks: $(cat different)"
say "masks as lists"

# Addresses in fields of events are followed into the kernel's structures.
rtrace probe add --name slab eprobe kmem:kmem_cache_free 'next=(list_head)ptr->next' || fail "probe eprobe"
rtrace probe add --name reader kprobe vfs_read 'pid=(task_struct)$current->pid:s32' 'mode=(file)$arg1->f_mode' || fail "probe kprobe"
rtrace record -q -o probes.dat -e eprobes:slab -e kprobes:reader -- sh -c 'read x </proc/version' || fail "record of probes"
rtrace report probes.dat >probes || fail "report of probes"
grep -q 'slab: .*next=' probes || fail "no slab: $(cat probes)"
awk '/ reader: / {split($1, name, "-"); pid = name[2]; if ($0 !~ "pid=" pid "( |$)") bad = 1; seen = 1} END {exit bad || !seen}' probes ||
  fail "the running task: $(grep reader: probes)"
rtrace probe list | grep -q '(list_head)ptr->next' || fail "probe list: $(rtrace probe list)"
rtrace probe remove --all || fail "probe remove"
say "casts of probes"
