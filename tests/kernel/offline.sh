# CPUs that are switched off: quiet ones, not lost ones. Of three CPUs the kernel has started two (maxcpus=2).
set -eu
say() { echo "offline: $*"; }
fail() { echo "FAILED: $*"; exit 1; }
cpu() { echo "$2" > "/sys/devices/system/cpu/cpu$1/online"; }
# 7 CMD...: the command of rtrace ends as CMD does, without a complaint.
is() { local want=$1 got=0; shift; "$@" > printed 2> complaint || got=$?; [ "$got" = "$want" ] || { cat printed complaint; fail "$got, not $want: $*"; }; }
[ "$(cat /sys/devices/system/cpu/online)" = 0-1 ] || fail "online: $(cat /sys/devices/system/cpu/online)"
# Until COMMAND succeeds, but not for ever: a guest may be slow.
until_true() { tries=600; until "$@"; do [ $((tries -= 1)) -gt 0 ] || fail "never: $*"; usleep 100000; done; }
ifconfig lo up
R=rtrace
E='-e sched:sched_switch -e sched:sched_process_exit'

modes() {
  is 7 $R record -o a.dat $E -- sh -c 'exit 7'
  grep -q "cpus\? $1 w[ae][sr]e\? offline" complaint || { cat complaint; fail "the summary does not name $1"; }
  is 0 $R report --summary a.dat; grep -q "cpus\? $1 w[ae][sr]e\? offline" printed || fail "--summary does not name $1"
  is 0 $R dump --options a.dat; grep -q RTRACE_OFFLINE printed || fail "dump"
  is 0 $R dump --validate a.dat
  is 0 $R check a.dat --assert 'lost == 0' --assert 'count(sched:sched_process_exit) > 0'
  is 7 $R record --json -o a.dat $E -- sh -c 'exit 7'; grep -q "\"offline\": \"$1\"" printed || { cat printed; fail "--json"; }
  for mode in '-M 1' '-M 7' '-B foo' '--top' '--ring 4M' '--ring-time 5s' '-m 1000' '-r 10' '--nosplice' '--poll' '--file-version 6'; do
    is 7 $R record -q -o b.dat $mode $E -- sh -c 'exit 7'
    ! grep -q trace_pipe_raw complaint || { cat complaint; fail "$mode complains"; }
    is 0 $R report b.dat; [ -s printed ] || fail "$mode: no events"
  done
  sleep 1 & is 0 $R record -q -o b.dat $E -P $! ; is 0 $R report b.dat
  if grep -qw function /sys/kernel/tracing/available_tracers; then
    is 7 $R record -q -o b.dat -p function -l ksys_read -- sh -c 'read x < /proc/version; exit 7'
    is 0 $R report b.dat; [ -s printed ] || fail "function: no events"
  fi
  is 3 $R stream $E -- sh -c 'usleep 50000; exit 3'; grep -q sched_switch printed || fail "stream is empty"
  is 3 $R stream --json $E -- sh -c 'usleep 50000; exit 3'; grep -q sched_switch printed || fail "stream --json is empty"
  is 0 $R profile -- usleep 50000; [ -s printed ] || fail "profile is empty"
  is 0 $R hist --in-user --key next_pid sched:sched_switch -- usleep 50000; grep -q next_pid printed || fail "hist is empty"
  is 0 $R start $E; usleep 20000; is 0 $R stop; is 0 $R extract -o x.dat; is 0 $R reset
  is 0 $R report --summary x.dat; grep -q "cpus\? $1 w[ae][sr]e\? offline" printed || fail "extract does not name $1"
  network "$1"
  is 0 $R doctor; grep -q "cpus\? $1 \(is\|are\) offline" printed || { cat printed; fail "doctor does not name $1"; }
}

# A listener and an agent, over loopback: what a CPU that is offline does not send is not missing there either.
network() {
  $R listen -p 5551 -d . -o received.dat > listening 2>&1 & local listener=$!
  until_true grep -q listening listening; rm -f received.dat*
  is 7 $R record -q -N 127.0.0.1:5551 $E -- sh -c 'exit 7'
  until_true grep -q complete listening; kill -INT $listener; wait $listener || { cat listening; fail "listen: $?"; }
  is 0 $R report --summary received.dat*; grep -q "cpus\? $1 w[ae][sr]e\? offline" printed || { cat printed; fail "what was received does not name $1"; }
  rm -f received.dat*
  $R agent -N 127.0.0.1 -p 5552 > serving 2>&1 & local agent=$!
  until_true grep -q 5552 serving
  is 7 $R record -q -o host.dat $E -A 127.0.0.1:5552 $E -- sh -c 'usleep 100000; exit 7'
  kill -INT $agent; wait $agent || true
  for file in host.dat host-*.dat; do is 0 $R report --summary $file; grep -q "cpus\? $1 w[ae][sr]e\? offline" printed || { cat printed; fail "$file does not name $1"; }; done
  rm -f host*.dat
}

modes 2
say "as started with fewer"
cpu 1 0
modes 1-2
say "of two"
cpu 2 1
modes 1
say "a gap in the numbers"

# Off at the begin, on meanwhile: what happens there from then on is recorded.
is 0 $R record -q -o on.dat $E -- sh -c 'usleep 300000; echo 1 > /sys/devices/system/cpu/cpu1/online; usleep 400000; for i in 1 2 3 4 5; do taskset 2 usleep 20000; done'
is 0 $R report on.dat; grep -q '\[001\]' printed || fail "nothing of the CPU that came on"; grep -q '\[000\]' printed || fail "nothing of the first"
is 0 $R report --summary on.dat; ! grep -q offline printed || fail "it was online at the end"
say "came on"
is 0 $R record -q -o off.dat $E -- sh -c 'for i in 1 2 3 4 5; do taskset 2 usleep 20000; done; echo 0 > /sys/devices/system/cpu/cpu1/online; usleep 300000'
is 0 $R report off.dat; grep -q '\[001\]' printed || fail "nothing of the CPU that went off"
is 0 $R report --summary off.dat; ! grep -q offline printed || fail "it was online at the begin"
say "went off"
is 0 $R record -q -o both.dat $E -- sh -c 'echo 1 > /sys/devices/system/cpu/cpu1/online; for i in 1 2 3 4 5; do taskset 2 usleep 20000; done; echo 0 > /sys/devices/system/cpu/cpu1/online; usleep 300000; echo 1 > /sys/devices/system/cpu/cpu1/online; taskset 2 usleep 20000'
is 0 $R report both.dat; grep -q '\[001\]' printed || fail "nothing of the CPU that came, went and came"
cpu 1 0
is 0 $R stream $E -- sh -c 'usleep 100000; echo 1 > /sys/devices/system/cpu/cpu1/online; for i in 1 2 3 4 5; do taskset 2 usleep 20000; done'
grep -q '\[001\]' printed || fail "stream: nothing of the CPU that came on"
say "live"
