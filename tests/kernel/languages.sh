# The text that rtrace writes and the one that the kernel then shows, for every language: lines "KIND<tab>WRITTEN<tab>SHOWN" in `echoes`.
T=/sys/kernel/tracing
fail() { echo "FAILED: $*"; status=1; }
# until_true CONDITION: waits for it, five minutes at most.
until_true() { tries=3000; until eval "$1"; do [ $((tries -= 1)) -gt 0 ] || return 1; usleep 100000; done; }
status=0
# The first use of a buffer expands it, for good.
echo 1408 > $T/buffer_size_kb
knobs > before
: > echoes

filter() { # SYSTEM EVENT FILTER
  rtrace filter set "$1:$2" "$3" || { fail "filter set $3"; return; }
  printf 'filter\t%s\t%s\n' "$(rtrace filter check "$1:$2" "$3" 2>/dev/null)" "$(cat $T/events/$1/$2/filter)" >> echoes
  rtrace filter clear "$1:$2" || fail "filter clear $3"
  [ "$(cat $T/events/$1/$2/filter)" = none ] || fail "filter of $1:$2 is still set"
}
filter sched sched_switch 'common_preempt_count > 4'
filter signal signal_generate '((sig >= 10 && sig < 15) || sig == 17) && comm != bash'
filter sched sched_switch 'prev_state & 3 && !(next_comm ~ "swapper*")'
filter sched sched_switch "prev_comm == 'a\"b' || next_prio <= -1 || prev_pid != 0x10"
filter syscalls sys_enter_openat 'filename.ustring ~ "*passwd*"'
filter kmem kmalloc 'bytes_req >= 4096 || gfp_flags & 0x10'
filter sched sched_process_exec 'filename ~ "/bin/*" && COMM != "x" && CPU >= 0'
case $(uname -r) in
  6.1.*) ;;
  *) filter kmem kmalloc '(call_site.function == vfs_read || bytes_req > 1) && call_site.function != schedule'
     filter sched sched_switch 'CPU & CPUS{0-1} && prev_pid != CPUS{1}' ;;
esac
rtrace filter set sched 'common_pid == 0' && [ "$(cat $T/events/sched/*/filter | sort -u)" = 'common_pid == 0' ] || fail 'filter of a system'
rtrace filter set sched 'prev_pid == 0' 2> others; grep -q 'cannot have this filter' others || fail 'no word about the others'
rtrace filter set --pid 1 --not-pid 2 --fork && [ "$(cat $T/set_event_pid) $(cat $T/set_event_notrace_pid)" = '1 2' ] || fail pids
rtrace filter clear
[ "$(cat $T/options/event-fork)" = 0 ] || fail 'event-fork is left'
# They do what they say: one child of a process that is on the list, one of a process that is not.
mkfifo go
execs() { # OPTION...: how often a program was executed, in `execs` (a subshell would be none of the list)
  (read -r _ < go; rtrace help filter > /dev/null; true) & other=$!
  rtrace filter set "$@" $$ --fork || fail "filter set $*"
  echo > $T/trace; echo 1 > $T/events/sched/sched_process_exec/enable
  sh -c 'rtrace help filter > /dev/null; true'
  echo > go; wait $other
  echo 0 > $T/events/sched/sched_process_exec/enable
  grep 'filename=/bin/rtrace' $T/trace > execs
  rtrace filter clear
}
execs --pid; [ $(wc -l < execs) = 1 ] || fail "--pid --fork: $(cat execs)"
execs --not-pid; [ $(wc -l < execs) = 1 ] || fail "--not-pid --fork: $(cat execs)"
echo > $T/trace
rtrace filter set sched:sched_switch 'nextpid == 1' 2> refused; [ $? = 2 ] && grep -q '\^~~~~~~' refused && grep -q next_pid refused || fail 'a wrong field'

trigger() { # EVENT TRIGGER [OPTION...]
  ev=$1 tr=$2; shift 2
  rtrace trigger add "$ev" "$tr" "$@" || { fail "trigger add $ev $tr $*"; return; }
  file=$T/events/$(echo $ev | tr : /)/trigger
  options=$(echo "$*" | sed 's/^--count /:/; s/ *--if / if /')
  printf 'trigger\t%s%s\t%s\n' "$tr" "$options" "$(grep -v '^#' $file)" >> echoes
  rtrace trigger add "$ev" "$tr" "$@" 2> twice && fail "$tr was added twice"
  rtrace trigger remove "$ev" "$tr" || fail "trigger remove $ev $tr"
  grep -v '^#' $file && fail "$ev still has a trigger"
}
trigger sched:sched_pi_setprio stacktrace --count 3 --if 'pid == 2'
trigger sched:sched_pi_setprio stacktrace:5
trigger sched:sched_pi_setprio traceon
trigger sched:sched_pi_setprio traceoff --if 'comm ~ "x*"'
trigger sched:sched_pi_setprio snapshot --count 1 --if 'pid > 1'
trigger sched:sched_pi_setprio enable_event:kmem:kmalloc:1
trigger sched:sched_pi_setprio disable_event:kmem:kmalloc
trigger sched:sched_pi_setprio hist:keys=pid:vals=hitcount
trigger sched:sched_pi_setprio hist:keys=comm:size=256 --if 'pid > 1'
rtrace trigger add sched:sched_process_fork hist:keys=child_pid:pause || fail 'hist'
trigger sched:sched_pi_setprio enable_hist:sched:sched_process_fork
trigger sched:sched_pi_setprio disable_hist:sched:sched_process_fork:2
# A histogram goes by its own text, by the kernel's echo, and by its kind. `cpu` is shown as `common_cpu` and is another key.
pi=$T/events/sched/sched_pi_setprio/trigger
by_cpu='hist:keys=pid,cpu:size=1000 if comm==bash'
for how in "$by_cpu" echo hist '!hist'; do
  rtrace trigger add sched:sched_pi_setprio "$by_cpu" || fail "trigger add $by_cpu"
  [ "$how" = echo ] && how=$(grep -v '^#' $pi)
  rtrace trigger remove sched:sched_pi_setprio "$how" || fail "trigger remove $how"
  grep -v '^#' $pi && fail "$by_cpu is still there after $how"
done
rtrace trigger add sched:sched_pi_setprio "$by_cpu" && rtrace reset || fail 'reset with a histogram by cpu'
# Variables, names and clocks are looked up in what is set before the kernel refuses them.
rtrace trigger add sched:sched_pi_setprio 'hist:keys=pid:lat=common_timestamp-$nosuch' 2> refused; [ $? = 2 ] && grep -q 'no variable `$nosuch`' refused || fail "an unknown variable: $(cat refused)"
rtrace trigger add sched:sched_pi_setprio 'hist:keys=pid:ts=common_timestamp:clock=monoo' 2> refused; [ $? = 2 ] && grep -q 'did you mean `mono`' refused || fail "an unknown clock: $(cat refused)"
rtrace trigger add sched:sched_pi_setprio 'hist:name=shared:keys=pid' || fail 'a histogram with a name'
rtrace trigger add sched:sched_process_exit 'hist:name=shared:keys=comm' 2> refused; [ $? = 2 ] && grep -q '`shared` of sched:sched_pi_setprio has' refused || fail "a histogram of that name: $(cat refused)"
rtrace trigger clear
# An event with a trigger is listed as enabled before it is (`0*`).
rtrace trigger add sched:sched_pi_setprio enable_event:sched:sched_stat_runtime && rtrace set -e sched:sched_pi_setprio -e sched:sched_stat_runtime || fail 'set -e beside triggers'
[ "$(cat $T/events/sched/sched_pi_setprio/enable $T/events/sched/sched_stat_runtime/enable | tr -d '\n')" = '1*1*' ] || fail 'set -e beside triggers enables nothing'
rtrace reset || fail 'reset of events with triggers'
rtrace trigger add sched:sched_pi_setprio traceoff && rtrace trigger clear || fail 'trigger clear'
[ -z "$(rtrace trigger list)" ] || fail 'triggers are left'
if [ -e $T/set_ftrace_filter ]; then
  rtrace trigger add --function vfs_rmdir traceoff --count 1 && rtrace trigger list | grep -q vfs_rmdir:traceoff:count=1 || fail 'function trigger'
  rtrace trigger add --function vfs_rmdir traceoff:2 2> twice && fail 'two function triggers'
  grep -q 'there is `vfs_rmdir:traceoff:1` already' twice || fail "function trigger twice: $(cat twice)"
  rtrace trigger add sched:sched_pi_setprio traceoff && rtrace trigger add sched:sched_pi_setprio traceon 2> refused
  grep -q '`rtrace trigger remove sched:sched_pi_setprio traceoff`' refused || fail "the hint: $(cat refused)"
  rtrace trigger remove sched:sched_pi_setprio traceon || fail 'traceon takes out traceoff'
  rtrace trigger remove --function vfs_rmdir traceon 2> refused && fail 'a function trigger that is not there was removed'
  grep -q 'Hint: there is vfs_rmdir:traceoff' refused || fail "function trigger that is not there: $(cat refused)"
  mkdir gone; rmdir gone; echo 1 > $T/tracing_on
  rtrace trigger list | grep -q vfs_rmdir:traceoff:count=0 || fail 'the count is not used up'
  rtrace trigger remove --function 'vfs_rmd*' traceoff || fail 'function trigger remove'
  rtrace trigger list | grep vfs_rmdir && fail 'the function trigger is still there'
fi

probe() { # NAME ARG...: the name it is expected to get
  name=$1; shift
  written=$(rtrace probe add --dry-run "$@") || { fail "probe add --dry-run $*"; return; }
  got=$(rtrace probe add "$@") || { fail "probe add $*"; return; }
  [ "$got" = "$name" ] || fail "$* is called $got"
  printf 'probe\t%s\t%s\n' "$written" "$(cat $T/dynamic_events)" >> echoes
  [ -e $T/events/$(echo $name | tr : /)/format ] || fail "$name has no format"
  rtrace probe remove "$name" || fail "probe remove $name"
  [ -z "$(cat $T/dynamic_events)" ] || fail "$name is still there"
}
if [ -e $T/user_events_data ]; then
  probe user_events:mine user mine 'u32 number' 'char[20] name'
  probe user_events:plain user plain
  D='mine u32 number; char[20] name'
  rtrace probe add user mine 'u32 number' 'char[20] name' > /dev/null || fail 'a user event'
  if [ -e /case/helper ]; then
    rtrace record -e user_events:mine -f 'number > 10' -o user.dat -- /case/helper user "$D" 5 > wrote 2> said
    [ "$(cat wrote)" = 5 ] || fail "the program wrote $(cat wrote said)"
    rtrace report -i user.dat > user.txt || fail 'report of a user event'
    [ "$(grep -o 'mine: *number=.*' user.txt | tr -s ' ' | cut -d' ' -f2-)" = "$(printf 'number=%s name=helper\n' 14 21 28)" ] ||
      fail "recorded user events: $(cat user.txt)"
    rtrace hist user_events:mine --key number --csv -- /case/helper user "$D" 2 > user.csv
    [ "$(grep -c '^[07],1' user.csv)" = 2 ] || fail "counted user events: $(cat user.csv)"
    # It is a user of the event only when it has registered it, not yet when it has the file open.
    /case/helper user "$D" 1 > /dev/null 2> registered & holder=$!
    until_true 'grep -q registered registered' || fail "the event is not registered: $(cat registered)"
    rtrace probe remove mine 2> refused && fail 'removed while a program has it'
    grep -q "process $holder (helper) has .*user_events_data open" refused || fail "who has it: $(cat refused)"
    kill $holder; wait $holder 2>/dev/null
  fi
  rtrace probe remove mine || fail 'probe remove mine'
  # Our verdict is the kernel's.
  for d in 'u32 a' 'u32 a; char[20] b;' 'unsigned int a; unsigned char[4] b' 'struct mine a 20' '__data_loc char[] a' \
      'u32 a; u99 b' 'long a' 'a' 'u32 a b' 'char[0] a' 'u32[4] a' 'struct x y' 'short a; s8 b' 'char[2000] a' '__rel_loc char[] a'; do
    rtrace probe add --dry-run user tried "$d;" > /dev/null 2>&1; ours=$?
    (echo "u:tried $d;" >> $T/dynamic_events) 2> /dev/null; kernels=$?
    [ $kernels = 0 ] && { rtrace probe remove tried || fail "user event $d: probe remove"; }
    [ $((ours != 0)) = $((kernels != 0)) ] || fail "user event $d: we say $ours, the kernel $kernels"
  done
else
  rtrace probe add user mine 'u32 number' 2> refused; [ $? = 5 ] && grep -q CONFIG_USER_EVENTS refused || fail 'user events'
fi
# Several probes of an event; those of a group; the kernel's names; what it logs about a refusal is the cause.
rtrace probe add p:ev vfs_read && rtrace probe add 'p:ev vfs_write' && rtrace probe add 'p:two/other vfs_open' > /dev/null || fail 'two probes'
rtrace probe add 'p:ev vfs_read' 2> refused; [ $? = 2 ] && grep -q 'this very probe' refused || fail "twice: $(cat refused)"
rtrace probe add 'p:ev vfs_open %di' 2> refused; [ $? = 2 ] && grep -q 'other arguments' refused || fail "other arguments: $(cat refused)"
rtrace probe remove 'p:ev vfs_read' && [ "$(grep -c :kprobes/ev $T/dynamic_events)" = 1 ] || fail 'one of two probes'
rtrace probe add 'p:ev vfs_read' > /dev/null && rtrace probe remove ev && rtrace probe remove two/ || fail 'probes and a group'
[ "$(rtrace probe add 'p vfs_read')" = kprobes:p_vfs_read_0 ] && rtrace probe remove 'p vfs_read' || fail "the kernel's name"
[ -z "$(cat $T/dynamic_events)" ] || fail 'probes are left'
rtrace probe add kprobe vfs_read nosucharg 2> refused; [ $? = 2 ] && grep -q 'vfs_read has no parameter .nosucharg\|kernel: p:' refused || fail "an argument that is not there: $(cat refused)"
rtrace probe add 'e:x sched.nosuch' 2> refused; [ $? = 2 ] && grep -q '             ^~~~~~~~~~~~$' refused || fail "an event that is not there: $(cat refused)"
rtrace probe add 'r vfs_read+10' 2> refused; [ $? = 2 ] || fail "a return within a function: $(cat refused)"
rtrace synth define mine 'u64 lat; pid_t pid; char comm[]' > /dev/null && grep -q 'u64 lat; pid_t pid; char\[\] comm' $T/synthetic_events || fail 'synth define'
rtrace synth define mine 'u64 a' 2> refused; [ $? = 2 ] || fail 'a synthetic event twice'
rtrace synth remove mine && rtrace probe add 's:mine u64 a' > /dev/null && rtrace synth remove mine || fail 's: of probe add'
if [ -e $T/set_ftrace_filter ]; then
  rtrace start -p function -l 'vfs_*' && rtrace set -l vfs_read -n vfs_write || fail 'set -l while a tracer runs'
  [ "$(cat $T/set_ftrace_filter) $(cat $T/set_ftrace_notrace)" = 'vfs_read vfs_write' ] || fail "set -l: $(cat $T/set_ftrace_filter)"
  rtrace set -l '' -n '' && grep -q 'all functions enabled' $T/set_ftrace_filter || fail "set -l '': $(cat $T/set_ftrace_filter)"
  rtrace reset
  rtrace record -e sched:sched_switch -l do_sys_openat2:stacktrace:2 -o two.dat -- sh -c 'for i in 1 2 3; do cat /proc/uptime > /dev/null; done' 2> said
  [ "$(rtrace report two.dat | grep -c kernel_stack)" = 2 ] || fail "two stacks: $(cat said; rtrace report two.dat)"
fi
if grep -qw function $T/available_tracers; then
  rtrace trigger add ftrace:function stacktrace 2> refused; [ $? = 5 ] && grep -q 'ftrace:function has no triggers' refused && grep -q -- --function refused || fail "trigger of ftrace:function: $(cat refused)"
  rtrace hist ftrace:function --key ip --duration 1ms 2> refused; [ $? = 5 ] && grep -q 'has no triggers' refused || fail "hist of ftrace:function: $(cat refused)"
fi
rtrace filter set ftrace:print 'ip == 1' 2> refused; [ $? = 5 ] && grep -q 'no filters' refused || fail "filter of ftrace:print: $(cat refused)"

probe uprobes:malloc uprobe libc:malloc 'size=%di:u64'
probe uprobes:malloc__return uretprobe libc:malloc '$retval:x64'
probe kprobes:vfs_read kprobe vfs_read 'count=%dx:u64'
probe kprobes:vfs_read__return kretprobe vfs_read 'ret=$retval:s64'
probe kprobes:do_sys_openat2 kprobe do_sys_openat2 'file=+u0(%si):ustring' 'flags=+0(%dx):x64' '$comm' '$stack2' 'a=$arg1'
probe mine:here kprobe vfs_read+0 --name mine:here '@jiffies:u64' 'b=%di:b4@0/32' 'c=+0(%si):x8[4]' '\5:u8'
probe mygroup:myread 'p:mygroup/myread vfs_read n=$arg3'
probe uprobes:main uprobe /bin/rtrace:main 'a=%di:u64'
probe uprobes:main__return uretprobe /bin/rtrace:main '$retval'
probe eprobes:sched_switch eprobe sched:sched_switch 'pid=$next_pid:s32' '$prev_prio'
case $(uname -r) in
  6.1.*) rtrace probe add fprobe vfs_read 2> refused; [ $? = 5 ] && grep -q CONFIG_FPROBE refused || fail 'fprobe on 6.1' ;;
esac
if grep -q '           f\[:' $T/README && [ "$(uname -r | grep -c cloud)" = 0 ]; then
  probe fprobes:vfs_read fprobe vfs_read 'n=$arg3'
  probe fprobes:vfs_read__return fretprobe vfs_read 'r=$retval'
  probe tracepoints:sched_switch tprobe sched_switch 'p=$arg1:u8'
fi
rtrace probe add kprobe vfs_read --name 'a b' 2> refused; [ $? = 2 ] && grep -q 'cannot be the name' refused || fail 'a wrong name'
rtrace probe add kprobe vfs_raed 2> refused; [ $? = 2 ] && grep -q 'did you mean .*vfs_read' refused || fail 'a wrong symbol'
rtrace probe add kprobe vfs_read > /dev/null && rtrace probe add kprobe vfs_write --name second > /dev/null || fail 'two probes'
rtrace probe remove --all || fail 'probe remove --all'
if [ -e /case/helper ]; then
  rtrace probe add kprobe vfs_read > /dev/null || fail 'a probe for perf'
  /case/helper perf $(cat $T/events/kprobes/vfs_read/id) & holder=$!
  until_true "ls -l /proc/$holder/fd | grep -q perf_event" || fail 'no perf session'
  rtrace probe remove vfs_read 2> refused && fail 'removed while perf has it'
  grep -q "process $holder (helper) has a perf session" refused || fail "perf is not named: $(cat refused)"
  kill $holder; wait $holder 2>/dev/null
  rtrace probe remove vfs_read || fail 'probe remove after perf'
fi

# A creation that fails half-way leaves nothing, a removal that fails leaves everything, and both say why.
C='--start sched:sched_waking --end sched:sched_switch --match pid=next_pid --delta usecs:lat'
S=$T/instances/rtrace-synth/events/sched
set_up() { cat $T/synthetic_events; grep -hv '^#' $S/sched_waking/trigger $S/sched_switch/trigger; }
rtrace synth create first $C --max lat --snapshot || fail 'synth create'
set_up > one
rtrace synth create other $C --max lat --snapshot 2> refused && fail 'two snapshot() actions'
grep -q 'can have one snapshot() action; sched:sched_switch has it' refused || fail "no word about the snapshot: $(cat refused)"
set_up | diff one - || fail 'a half-made synthetic event is left'
echo 'hist:keys=next_pid:late=common_timestamp.usecs-$__first_start_lat' >> $S/sched_switch/trigger
set_up > two
rtrace synth remove first 2> refused && fail 'removed while a variable is used'
grep -q 'its variables are used by sched:sched_switch' refused || fail "who uses the variable: $(cat refused)"
[ "$(set_up | sort)" = "$(sort two)" ] || { fail 'a failed removal removed something'; set_up; }
echo '!hist:keys=next_pid:late=common_timestamp.usecs-$__first_start_lat' >> $S/sched_switch/trigger
rtrace synth remove first || fail 'synth remove'
rtrace synth create q $C && rtrace synth show q | grep -q '\.q(' || fail 'a name of one letter'
rtrace hist synthetic:q --key lat --duration 1ms > table 2> said; grep -q 'no trigger fires' said && fail "what a trigger fires: $(cat said)"
rtrace synth remove q || fail 'synth remove q'
[ -e $T/instances/rtrace-synth ] && fail 'the instance of synthetic events is left'

# Events of kernel code reach the top level alone: where they are looked for elsewhere, that is said.
rtrace synth define quiet 'u64 a' > /dev/null
unfired='no trigger fires synthetic:quiet, and what kernel code fires reaches the top level alone'
rtrace hist synthetic:quiet --key a --duration 1ms > table 2> said && grep -q "$unfired.*--top. counts it" said || fail "hist of an event that nothing fires: $(cat said)"
rtrace hist start synthetic:quiet --key a > table && rtrace hist show 2> said > table && grep -q "$unfired.*not instance rtrace-hist" said || fail "hist show: $(cat said)"
rtrace hist stop || fail 'hist stop'
rtrace hist synthetic:quiet --top --key a --duration 1ms > table 2> said; grep -q 'no trigger fires' said && fail 'a hint to what was done'
rtrace hist ftrace:print --key common_pid --duration 1ms > table 2> said && grep -q 'written to trace_marker reaches the top level alone.*--top' said || fail "hist of markers: $(cat said)"
for event in synthetic:quiet quiet 'synthetic -e sched:sched_switch'; do
  rtrace record -o q.dat -e $event -- true 2> said && grep -q "$unfired.*--top. records" said || fail "record -e $event: $(cat said)"
done
rtrace record --top -o q.dat -e synthetic:quiet -- true 2> said; grep -q 'no trigger fires' said && fail 'record --top'
rtrace record -o q.dat -e ftrace:print -- true 2> said; [ $? = 2 ] && grep -q 'recorded without .-e' said || fail "record -e ftrace:print: $(cat said)"
rm -f q.dat*
# An event that is held is kept, and the holder named.
rtrace probe add 'e:eprobes/onquiet synthetic.quiet b=$a' > /dev/null || fail 'an event probe'
for force in '' --force; do
  rtrace synth remove quiet $force 2> refused; [ $? = 1 ] && grep -q 'event probe eprobes:onquiet is on synthetic:quiet' refused || fail "synth remove $force: $(cat refused)"
done
rtrace probe remove eprobes:onquiet && rtrace synth remove quiet || fail 'synth remove after its event probe'

# The output of --dry-run does the same in a shell.
same_in_shell() { # FILES REMOVE COMMAND...
  files=$1 remove=$2; shift 2
  "$@" --dry-run > dry.sh && sh -e dry.sh || fail "dry run of $*"
  cat $files > dry.state; $remove || fail "$remove"
  "$@" > /dev/null || fail "$*"
  cat $files | diff dry.state - || fail "$* does something else than it says"
  $remove || fail "$remove"
}
same_in_shell $T/instances/rtrace-hist/events/sched/sched_switch/trigger 'rtrace hist stop' \
  rtrace hist start sched:sched_switch --key next_comm,next_pid --val prev_prio --if "next_comm != 'it'" --size 512
same_in_shell "$T/synthetic_events $S/sched_waking/trigger $S/sched_switch/trigger $T/instances/rtrace-synth/trace_clock" 'rtrace synth remove wk' \
  rtrace synth create wk $C --field start.prio,end.next_comm=comm --if-end "next_comm != 'it'" --change lat --save next_pid --trace
# `latency` removes all at its end: its command looks meanwhile. That rtrace's own times are left out has its pid, which a
# dry run does not know.
cat > look.sh <<END
{ cat $T/synthetic_events; grep -hv '^#' $T/instances/rtrace*/events/sched/sched_*/trigger $T/instances/rtrace*/events/synthetic/*/trigger; } |
  sed -e 's/rtrace_latency_[0-9]*/NAME/g' -e 's/ if pid != [0-9]* / /' -e 's/ if (\(.*\)) && (next_pid != [0-9]*) / if \1 /' > looked
END
latency() { rtrace latency sched:sched_waking sched:sched_switch --by pid=next_pid --split next_comm --if-end "next_comm != 'it'" "$@"; }
latency -- sh look.sh > distribution || fail 'latency'
mv looked looked.meanwhile; grep -q onmatch looked.meanwhile || fail "latency sets up: $(cat looked.meanwhile)"
latency --dry-run > dry.sh && sh -e dry.sh || fail "dry run of latency: $(cat dry.sh)"
sh look.sh; diff looked.meanwhile looked || fail 'latency does something else than it says'
rtrace instance remove --force rtrace || fail 'the instance of a dry run'
echo > $T/synthetic_events
rtrace sqlhist -s 'select pid from sched_waking' 2> refused; [ $? = 2 ] && grep -q JOIN refused || fail 'actions without an event'
rtrace hist show --top sched:sched_waking 2> refused; [ $? = 1 ] && grep -q 'has none' refused || fail 'a histogram that is not there'
rtrace hist sched:sched_swich --key next_pid --duration 1s 2> refused; [ $? = 2 ] || fail 'an event that is not there'
rtrace hist sched:sched_switch --key common_comm -- true > printed 2>&1 || grep -q 'Hint: .*common_pid.execname' printed || fail "common_comm: $(cat printed)"
rtrace hist sched:sched_switch --key next_pid --val next_comm --duration 10ms 2> printed > /dev/null; grep -q 'is text: a sum' printed || fail 'a sum of texts'

rtrace instance create foo --buffer-size 512K --clock mono -e sched -O stacktrace --cpumask 1 || fail 'instance create'
rtrace instance show foo > shown; grep -q 'clock *mono' shown || fail 'instance show'
[ "$(cat $T/instances/foo/events/sched/enable) $(cat $T/instances/foo/options/stacktrace)" = '1 1' ] || fail 'instance settings'
rtrace instance set foo -O nostacktrace || fail 'instance set'
rtrace trigger add -B foo sched:sched_switch hist:keys=next_pid:ts=common_timestamp || fail 'hist in an instance'
rtrace instance remove foo 2> refused && fail 'removed with a trigger'
sleep 100 < $T/instances/foo/per_cpu/cpu0/trace_pipe_raw & holder=$!
until_true "[ \"\$(cat /proc/$holder/comm)\" = sleep ]" || fail 'no process holds the instance'
rtrace instance remove foo --force 2> refused && fail 'removed while it was held'
grep -q "process $holder (sleep)" refused || fail 'the holder is not named'
kill $holder; wait $holder 2>/dev/null
rtrace instance remove foo --force || fail 'instance remove'
[ -d $T/instances/foo ] && fail 'foo is still there'

state() { rtrace snapshot status | head -1 | cut -d' ' -f1,2; }
table() { [ "$(state)" = "$2" ] || fail "after $1 the snapshot is $(state)"; }
echo 1 > $T/events/sched/enable
until_true "grep -q sched_switch $T/trace" || fail 'no events for a snapshot'
rtrace snapshot free
table nothing 'free: no'
rtrace snapshot clear || fail clear; table 'clear of none' 'free: no'
rtrace snapshot take || fail take
rtrace snapshot show > taken; grep -q sched_switch taken || fail 'the snapshot has no events'
rtrace snapshot save taken.dat 2> said || fail "snapshot save: $(cat said)"
rtrace report -i taken.dat > taken.txt || fail 'the saved snapshot does not decode'
[ $(grep -vc '^#' taken) = $(grep -c ': sched_' taken.txt) ] || fail "a snapshot of $(grep -vc '^#' taken) lines is saved as $(grep -c ': sched_' taken.txt)"
trace-cmd report -i taken.dat 2>/dev/null > taken.peer && [ $(grep -c ': sched_' taken.peer) = $(grep -c ': sched_' taken.txt) ] || fail 'trace-cmd reads another snapshot'
table save 'allocated, empty'
rtrace snapshot save none.dat 2> said && grep -q 'is empty: none.dat has no events' said || fail "an empty snapshot: $(cat said)"
[ "$(rtrace report -i none.dat | grep -c ' \[00')" = 0 ] || fail 'an empty snapshot has events'
rtrace snapshot take || fail 'take again'
rtrace snapshot take -c 1 2> refused || grep -q CONFIG_RING_BUFFER_ALLOW_SWAP refused || fail "take -c 1: $(cat refused)"
rtrace snapshot show -c 1 > one && ! grep -q '\[000\]' one || fail 'the snapshot of one CPU shows another'
rtrace snapshot free -c 1 2> refused && fail 'one CPU of a snapshot was freed'
grep -q 'is not freed but with all' refused || fail "free -c 1: $(cat refused)"
rtrace snapshot clear || fail clear; table clear 'allocated, empty'
rtrace snapshot free || fail free; table free 'free: no'
rtrace snapshot -s && rtrace snapshot -r && table '-r' 'allocated, empty'; rtrace snapshot -f; table '-f' 'free: no'
rtrace snapshot take --on sched:sched_process_fork --count 1 --if 'child_pid > 1' || fail 'take --on'
(true); rtrace snapshot | grep -q . || fail 'no snapshot was triggered'
rtrace trigger clear; rtrace snapshot free
echo 0 > $T/events/sched/enable
if grep -qw wakeup $T/available_tracers; then
  echo wakeup > $T/current_tracer
  rtrace snapshot take 2> refused && fail 'taken beside a latency tracer'
  grep -q 'tracer `wakeup` uses the spare buffer' refused || fail 'the latency tracer is not named'
  rtrace snapshot status | grep -q '^in use: tracer `wakeup`' || fail 'the status does not name the latency tracer'
  echo nop > $T/current_tracer
  echo 0 > $T/tracing_max_latency
fi

knobs > after
diff before after > changed || { fail 'knobs differ'; head -n 40 changed; }
exit $status
