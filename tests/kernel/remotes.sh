# The kernel's remote for tests, whose events are written through a file. Each part says `ok: NAME`.
set -u
T=/sys/kernel/tracing
R=$T/remotes/test
fail() { echo "FAIL: $*"; exit 1; }
say() { echo "ok: $*"; echo "$* at $(cut -d' ' -f1 /proc/uptime) s" >/dev/console; }
settings() { knobs | grep -v '^./trace_stat/\|^./saved_cmdlines\|^./buffer_\(size\|total_size\)_kb'; }
# The ring is made with the first use of any.
echo 1410 >$T/buffer_size_kb
settings >before

rtrace remote list >list || fail "list"
grep -q '^test  off  7.0 KiB per CPU  0 of 1 event enabled  no ring buffer yet$' list || fail "list: $(cat list)"
rtrace remote list --json | grep -q '"event": "test:selftest"' || fail "list --json: $(rtrace remote list --json)"
say "list"

rtrace remote start test || fail "start"
grep -q '^7 (loaded)' $R/buffer_size_kb || fail "size: $(cat $R/buffer_size_kb)"
for i in 1 2 3; do echo $i >$R/write_event; done
rtrace remote show test >shown || fail "show"
[ "$(grep -c ' selftest id=' shown)" = 3 ] || fail "show: $(cat shown)"
cmp -s shown $R/trace || fail "not the kernel's: $(cat shown $R/trace)"
taskset 2 sh -c "echo 4 >$R/write_event"
rtrace remote show -c 1 test | grep -q 'id=4' || fail "show -c 1: $(rtrace remote show -c 1 test)"
rtrace remote start test -b 128K 2>err; [ $? = 2 ] || fail "another size: $(cat err)"
grep -q 'rtrace remote clear test' err || fail "another size: $(cat err)"
say "start and show"

rtrace remote stream test >streamed & pid=$!
for i in 5 6; do echo $i >$R/write_event; done
sleep 1
kill $pid; wait $pid
[ "$(grep -c ' selftest id=' streamed)" = 6 ] || fail "stream: $(cat streamed)"
rtrace remote show test | grep -q 'id=' && fail "not consumed: $(rtrace remote show test)"
say "stream"

rtrace remote stop test && rtrace remote clear test && rtrace remote start test -b 64K || fail "start -b"
# (7.2 itself shows nothing of a ring of this size without consuming it.)
grep -q '^64 (loaded)' $R/buffer_size_kb || fail "size: $(cat $R/buffer_size_kb)"
rtrace remote stop test && rtrace remote clear test && rtrace remote start test -b 7 || fail "start -b"
echo 7 >$R/write_event
rtrace remote stop test || fail "stop"
[ "$(cat $R/tracing_on)" = 0 ] || fail "on"
rtrace remote start test || fail "go on"
echo 8 >$R/write_event
[ "$(rtrace remote show test | grep -c 'id=[78]')" = 2 ] || fail "go on: $(rtrace remote show test)"
rtrace remote stop test && rtrace remote clear test || fail "clear"
rtrace remote show test | grep -q 'id=' && fail "not cleared"
grep -q '(unloaded)' $R/buffer_size_kb || fail "loaded: $(cat $R/buffer_size_kb)"
say "stop and clear"

rtrace remote show tests 2>err; [ $? = 2 ] || fail "tests: $(cat err)"
grep -q 'there are test' err || fail "tests: $(cat err)"
rtrace remote start test -e nothing 2>err; [ $? = 2 ] || fail "nothing: $(cat err)"
echo 0 >$R/events/enable
settings >after
diff before after || fail "settings"
say "wrong names"
