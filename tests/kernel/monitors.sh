# Monitors of runtime verification: their errors end a recording with the status of an assertion. Each part says `ok: NAME`.
set -u
T=/sys/kernel/tracing
fail() { echo "FAIL: $*"; exit 1; }
say() { echo "ok: $*"; echo "$* at $(cut -d' ' -f1 /proc/uptime) s" >/dev/console; }
gate="--for rv --assert count(rv:error_*)==0"
cat >load <<'END'
i=0; while [ $i -lt 30 ]; do ls / >/dev/null; cat /proc/version | head -c 3 >/dev/null; usleep 1000; i=$((i + 1)); done
END
enabled() { tr '\n' ' ' <$T/rv/enabled_monitors; }
settings() { knobs | tr -d '\0' | grep -v '^./trace_stat/\|^./saved_cmdlines\|^./buffer_\(size\|total_size\)_kb'; }
# The ring is made with the first use of any.
echo 1410 >$T/buffer_size_kb
settings >before

rtrace record -q -o held.dat $gate --monitor sco -- sh -c 'cat /sys/kernel/tracing/rv/enabled_monitors >during; sh load' || fail "sco: $?"
[ "$(tr '\n' ' ' <during)" = "sched:sco " ] || fail "during: $(cat during)"
[ -z "$(enabled)" ] || fail "left: $(enabled)"
say "a model that holds"

rtrace record -q -o broken.dat $gate --monitor wip -- sh load 2>err
status=$?
[ $status = 3 ] || fail "wip: status $status, $(cat err)"
rtrace report broken.dat >text || fail "report"
grep -q 'error_wip: *event .* not expected in the state' text || fail "no error: $(head -n 20 text)"
rtrace report --format kernel broken.dat >/dev/null || fail "report --format kernel"
rtrace check broken.dat --assert 'count(rv:error_*) == 0' >checked && fail "check: $(cat checked)"
rtrace check broken.dat --assert 'count(rv:error_sco) == 0' >checked || fail "check of sco: $(cat checked)"
say "a model that is broken"

echo wip >$T/rv/enabled_monitors
echo 0 >$T/rv/monitoring_on
rtrace record -q -o x.dat --for rv --monitor 'wi*,sched:sco' -- cat $T/rv/monitoring_on >during || fail "record"
[ "$(cat during) $(cat $T/rv/monitoring_on) $(enabled)" = "1 0 wip " ] || fail "$(cat during), then $(cat $T/rv/monitoring_on) $(enabled)"
rtrace set --monitor sched:sts || fail "set"
rtrace stat >stat || fail "stat"
grep -q 'rv/enabled_monitors.*wip' stat || fail "stat: $(cat stat)"
rtrace reset && echo 1410 >$T/buffer_size_kb || fail "reset"
[ "$(cat $T/rv/monitoring_on) $(enabled)" = "1 " ] || fail "reset left $(cat $T/rv/monitoring_on) $(enabled)"
say "what was enabled before"

rtrace record -q -o x.dat --for rv,sched -- sh -c 'cat /sys/kernel/tracing/rv/enabled_monitors >during; sh load' 2>err || fail "all: $(cat err)"
grep -q wip during && grep -q sched:sco during && grep -q rtapp:sleep during || fail "all: $(cat during err)"
grep -q wwnr during && fail "a wrong model: $(cat during)"
rtrace record --dry-run --for rv --monitor wip | grep -q "echo wip >> rv/enabled_monitors" || fail "$(rtrace record --dry-run --for rv --monitor wip)"
[ -z "$(enabled)" ] || fail "left: $(enabled)"
say "all of them"

rtrace record -q -o x.dat --for rv --monitor wippp -- true 2>err; [ $? = 2 ] || fail "wippp: $(cat err)"
grep -q 'this kernel has wip, ' err || fail "wippp: $(cat err)"
settings >after
diff before after || fail "settings"
say "wrong names"
