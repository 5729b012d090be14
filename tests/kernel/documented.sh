# rtrace in the place of trace-cmd: the lines of trace-cmd's manual pages (/case/lines, "PAGE<tab>LINE"), and what its own
# unit tests do one after the other. `results` gets "RESULT<tab>LINE", with the reason of those that do not apply.
T=/sys/kernel/tracing
mkdir as trial; ln -s /bin/rtrace as/trace-cmd
PATH=$PWD/as:$PATH
: > results
cd trial
result() { printf '%s\t%s\n' "$1" "$2" >> ../results; }
# line LINE: runs it; the waits of the manual are shorter here.
line() {
  short=$(echo "$1" | sed 's/sleep [0-9]*/sleep 0.2/')
  case $short in
    *cyclictest*) result 'no cyclictest' "$1"; return ;;
    *do_IRQ*) result 'this kernel has no do_IRQ' "$1"; return ;;
    *' -p function'* | *' -p '*'graph'*) [ -e $T/set_ftrace_filter ] || { result 'no function tracer' "$1"; return; } ;;
  esac
  sh -c "$short" > out 2> err; ended=$?
  [ $ended = 0 ] && result pass "$1" || { result FAIL "$1"; echo "$short: $ended"; tail -n 3 err; }
}
trace-cmd record -e sched sleep 0.1 > /dev/null 2>&1
mkdir $T/instances/instance-one $T/instances/instance-two # as the manual has them
while read -r page words; do
  case $words in
    *'convert --compression any'*)
      # trace-cmd reads trace.dat and writes the file that is named; here that is said in full (docs/trace-cmd.md).
      trace-cmd ${words#trace-cmd} > /dev/null 2> err; [ $? = 2 ] && grep -q Hint: err && result 'refused on purpose' "$words" || result FAIL "$words"
      continue ;;
    *'restore -i'*)
      # The sub-buffers that a killed recorder leaves.
      rtrace convert -i trace.dat -o flat.dat --file-version 6 --compression none > /dev/null 2>&1; rm trace.dat
      rtrace dump -i flat.dat --flyrecord | sed -n 's/^\t *\([0-9]*\) *\([0-9]*\)\t.*of cpu \([0-9]*\).*/\1 \2 \3/p' > places
      while read -r at size cpu; do
        tail -c +$((at + 1)) flat.dat | head -c "$size" > trace.dat.cpu$cpu
      done < places ;;
  esac
  line "$words"
done < /case/lines
trace-cmd reset; rm -f trace.dat*

# expect NAME COMMAND: it succeeds.
expect() { name=$1; shift; eval "$@" > out 2> err && result pass "utest: $name" || { result FAIL "utest: $name"; echo "$*"; tail -n 3 out err; }; }
expect 'record -m 5000' 'trace-cmd record -o u.dat -m 5000 -e sched ls && trace-cmd report -i u.dat > first'
for version in 6 7; do
  expect "convert to version $version" "trace-cmd convert --file-version $version -i u.dat -o u$version.dat"
  expect "dump of version $version" "trace-cmd dump -i u$version.dat | grep -q '[ 	]$version[ 	]*\\[Version\\]'"
  expect "report of version $version" "trace-cmd report -i u$version.dat | diff first -"
done
expect 'convert back' 'trace-cmd convert --file-version 7 -i u6.dat -o again.dat && trace-cmd report -i again.dat | diff first -'
expect 'start' 'trace-cmd start -e sched:sched_switch && grep -q 1 $T/events/sched/sched_switch/enable'
expect 'show' 'sleep 0.1; trace-cmd show | grep -q sched_switch:'
expect 'stat' 'trace-cmd stat | grep -q sched:sched_switch'
expect 'stop' 'trace-cmd stop && grep -q 0 $T/tracing_on'
expect 'reset' 'trace-cmd reset && grep -q 0 $T/events/sched/sched_switch/enable && grep -q 1 $T/tracing_on'
# An unstable time stamp counter (`tsc=unstable`, with which this kernel was booted) makes the clock global.
booted=$(dmesg | grep -q 'Unstable clock detected' && echo global || echo local)
expect "reset to the clock after boot ($booted)" 'trace-cmd set -C mono && trace-cmd stat | grep -q "Clock: mono" && trace-cmd reset && grep -qF "[$booted]" $T/trace_clock && ! trace-cmd stat | grep -q Clock:'
expect 'instances' 'trace-cmd start -B one -e sched -B two -e irq && trace-cmd reset -B one -b 4096 -B two -d && [ -e $T/instances/one ] && [ ! -e $T/instances/two ]'
expect 'reset -t -a -d' 'trace-cmd reset -t -a -d && [ -z "$(ls $T/instances)" ]'
if [ -e $T/synthetic_events ]; then
  sql='select start.pid, end.TIMESTAMP_USECS - start.TIMESTAMP_USECS as lat from sched_waking as start join sched_switch as end on start.pid = end.next_pid'
  expect 'sqlhist prints' 'trace-cmd sqlhist -n wake "$sql" | grep -q synthetic_events && ! grep -q wake $T/synthetic_events'
  expect 'sqlhist -e makes' 'trace-cmd sqlhist -e -n wake "$sql" && grep -q ^wake $T/synthetic_events'
  rtrace synth remove --all 2> /dev/null
  for kept in kprobe kretprobe uprobe uretprobe eprobe synth; do
    for made in 'p:k vfs_read' 'r:kr vfs_read' 'p:u /bin/rtrace:0x1000' 'r:ur /bin/rtrace:0x1000' 'e:e sched.sched_switch' 's:s u64 a'; do
      rtrace probe add "$made" > /dev/null || result FAIL "probe add $made"
    done
    case $kept in kprobe) name=kprobes/k ;; kretprobe) name=kprobes/kr ;; uprobe) name=uprobes/u ;; uretprobe) name=uprobes/ur ;; eprobe) name=eprobes/e ;; synth) name=synthetic/s ;; esac
    expect "reset -k $kept" "trace-cmd reset -k $kept && [ \"\$(cut -d' ' -f1 $T/dynamic_events | cut -f1 | sed 's/^[^:]*://')\" = $name ]"
    trace-cmd reset
  done
else
  result 'no synthetic events' 'utest: sqlhist, reset -k'
fi
cd ..
status=0
