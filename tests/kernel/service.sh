# A recorder as a service of a booted systemd: started, reloaded, killed, with a full disk, with files moved aside, stopped. Where
# `minutes` is beside this script, it records so long meanwhile, with a save a minute, and what it uses is written to `soak`.
unit=rtrace-record@web dir=/var/lib/rtrace
fail() { echo "failed: $*"; systemctl status --no-pager --full "$unit"; exit 1; }
property() { systemctl show -p "$1" --value "$unit"; }
metric() { sed -n "s/^rtrace_$1 //p" $dir/web.prom; }
# until_true SECONDS COMMAND...
until_true() {
  left=$1; shift
  until "$@"; do left=$((left - 1)); [ $left -gt 0 ] || return 1; sleep 1; done
}
configure() {
  printf '%s\n' "output = \"$dir/$1\"" 'ring = "4M"' 'min-free = "4M"' 'keep-saves = 3' "metrics = \"$dir/web.prom\"" \
    'event = ["sched:sched_switch", "syscalls:sys_enter_kill"]' "$2" >/etc/rtrace/record.d/web.toml
}
calls() { rtrace report "$1" | grep -c 'sys_enter_kill:.*sig: 0'; }
call() { i=0; while [ $i -lt "$1" ]; do kill -0 $$; i=$((i + 1)); done; }

[ "$(cat /proc/1/comm)" = systemd ] || { echo "process 1 is $(cat /proc/1/comm)"; exit 1; }
before=$(ls /sys/kernel/tracing/instances)
mkdir -p $dir /etc/rtrace/record.d /etc/systemd/system/$unit.service.d
mount /dev/vdb $dir
printf '[Service]\nRestartSec=1\n' >/etc/systemd/system/$unit.service.d/soon.conf
systemctl daemon-reload

configure web.dat ''
systemctl start $unit || fail "start"
[ "$(property ActiveState)" = active ] || fail "it is not active once systemctl start ends"
[ "$(property Type)" = notify ] || fail "the unit does not wait for it"
call 100
rtrace save $dir/web.dat -o $dir/one.dat || fail "save"
[ "$(calls $dir/one.dat)" -ge 100 ] || fail "the save has $(calls $dir/one.dat) of 100 calls"
echo "started; saved"

# A wrong configuration is refused, and the right one goes on.
pid=$(property MainPID)
configure web.dat 'rign = "1M"'
systemctl reload $unit && fail "a wrong configuration was taken"
[ "$(property MainPID)" = "$pid" ] && [ "$(property ActiveState)" = active ] || fail "it did not go on"
journalctl --no-pager -u $unit | grep 'there is no option `rign`' >/dev/null || fail "the journal does not say what is wrong"
configure two.dat ''
systemctl reload $unit || fail "reload"
until_true 60 test -e $dir/two.dat || fail "the next recording did not begin"
until_true 60 test "$(property MainPID)" = "$pid" || fail "another process"
until_true 60 sh -c "rtrace check $dir/web.dat --assert 'lost == 0' >/dev/null" || fail "the first recording is not whole"
echo "reloaded"

# Killed, it is started again, and recovers first.
call 50
kill -KILL "$pid"
again() { [ "$(property MainPID)" != "$pid" ] && [ "$(property ActiveState)" = active ]; }
until_true 120 again || fail "it was not started again"
[ "$(property NRestarts)" = 1 ] || fail "$(property NRestarts) restarts"
[ "$(calls $dir/two.dat.old)" -ge 50 ] || fail "$(calls $dir/two.dat.old) of 50 calls were recovered"
[ "$(metric restarts_total)" = 2 ] || fail "the metrics count $(metric restarts_total) beginnings"
echo "killed and recovered"

# Files of it are moved aside meanwhile, as logrotate does.
mkdir -p $dir/old
printf '%s {\n  rotate 2\n  olddir %s\n  missingok\n  su root root\n}\n' "$dir/one.dat" $dir/old >/etc/logrotate.d/rtrace
logrotate -f /etc/logrotate.d/rtrace || fail "logrotate"
[ -e $dir/old/one.dat.1 ] && [ ! -e $dir/one.dat ] || fail "nothing was rotated"
[ "$(calls $dir/old/one.dat.1)" -ge 100 ] || fail "the rotated save is not whole"
journalctl --rotate && journalctl --vacuum-time=1s >/dev/null 2>&1
again || fail "it ended with the rotation of the journal"
echo "rotated"

# A full disk ends it with 4, not the machine; with room again it goes on.
pid=$(property MainPID) restarts=$(property NRestarts)
dd if=/dev/zero of=$dir/ballast bs=64k 2>/dev/null
load() { while :; do call 2000; ls -R /etc | sort | tail -n 1 >/dev/null; done; }
load & load=$!
failing() { [ "$(property NRestarts)" -gt "$restarts" ] || [ "$(property ActiveState)" != active ]; }
until_true 120 failing || fail "a full disk is not noticed"
kill $load
rm $dir/ballast
recovers() { systemctl reset-failed $unit; systemctl start $unit; [ "$(property ActiveState)" = active ] && [ "$(property SubState)" = running ]; }
until_true 60 recovers || fail "it does not record with room again"
call 70
rtrace save $dir/two.dat -o $dir/after.dat || fail "save after the full disk"
[ "$(calls $dir/after.dat)" -ge 70 ] || fail "the save has $(calls $dir/after.dat) of 70 calls"
journalctl --no-pager -u $unit | grep 'Main process exited, code=exited, status=4' >/dev/null || fail "it did not end with 4"
echo "full disk: ended with 4, began again"

if [ -e /case/minutes ]; then
  load & load=$!
  pid=$(property MainPID) minute=0
  while [ $minute -lt "$(cat /case/minutes)" ]; do
    sleep 60
    rtrace save $dir/two.dat -o $dir/each.dat --last 5s || fail "save of minute $minute"
    rtrace check $dir/each.dat --assert 'lost == 0' >/dev/null || echo "minute $minute: $(rtrace report --summary $dir/each.dat | grep -i lost)"
    rm $dir/each.dat
    echo "$minute $(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p; s/^Threads:[^0-9]*//p' /proc/$pid/status | tr '\n' ' ')$(ls /proc/$pid/fd | wc -l) $(du -sk $dir | cut -f 1) $(metric events_total) $(sed -n 's/^rtrace_lost[^ ]* //p' $dir/web.prom | tr '\n' ' ')" >>/out/soak
    minute=$((minute + 1))
  done
  kill $load
  [ "$(property MainPID)" = "$pid" ] || fail "it was started again meanwhile"
fi

systemctl stop $unit || fail "stop"
[ "$(property Result)" = success ] || fail "it ended with $(property Result)"
rtrace check $dir/two.dat --assert 'lost == 0' >/dev/null || fail "the last recording"
[ -z "$(find $dir -name '*.spool')" ] || fail "spools are left"
[ "$(ls /sys/kernel/tracing/instances)" = "$before" ] || fail "instances are left"
echo "stopped"
