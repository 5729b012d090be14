# The verbs for files on the recordings of verbs.sh, compared with trace-cmd.
set -u
fail() { echo "FAIL: $*"; exit 1; }

# Conversions and parts are read by trace-cmd.
whole=$(trace-cmd report -i load.dat | grep -c ' \[00')
for how in "--file-version 6" "--compression none" "--compression zstd"; do
  rtrace convert --force load.dat $how converted.dat || fail "convert $how"
  [ "$(trace-cmd report -i converted.dat 2> err | grep -c ' \[00')" = "$whole" ] || fail "convert $how: $(cat err)"
done
rtrace dump --strings load.dat > printed || fail "dump --strings"
rtrace split -i load.dat -o part -e 100 -r > printed || fail "split"
sum=0; n=0
for part in part.*; do
  count=$(trace-cmd report -i $part 2> err | grep -c ' \[00') || fail "trace-cmd: $part: $(cat err)"
  [ "$count" -le 100 ] || fail "$part has $count events"
  sum=$((sum + count)); n=$((n + 1))
done
[ $sum = $whole ] || fail "$sum events in parts, $whole in all"
rtrace dump --validate load.dat | tr -d , | grep -q "$whole events in .* no defects" || fail "dump: $(rtrace dump --validate load.dat)"
echo "split: $whole events in $n parts"
rm -f part.* converted.dat

# Memory, call chains and wakeups of a recording, as trace-cmd has them.
rtrace mem kmem.dat | tail -n +3 | sort > ours || fail "mem"
trace-cmd mem -i kmem.dat 2> /dev/null | tail -n +3 | sort > theirs && { diff theirs ours > err || fail "mem: $(head -n 4 err)"; }
rtrace hist -P -i kmem.dat > ours || fail "hist -i"
trace-cmd hist -P -i kmem.dat > theirs || fail "trace-cmd hist"
cmp theirs ours || fail "hist: $(diff theirs ours | head -n 4)"
rtrace report -w kmem.dat | grep 'Latency' > ours
trace-cmd report -w -i kmem.dat | grep 'Latency' | sed 's/ W ==>/ I ==>/' > theirs
[ "$(grep -c usecs ours)" = "$(grep -c usecs theirs)" ] && [ -s ours ] || fail "report -w: $(wc -l < ours), not $(wc -l < theirs)"
tail -n 2 ours > a; tail -n 2 theirs | diff a - || fail "report -w"
for what in "--boundary" "-I" "-S" "-I -S"; do
  ours=$(rtrace report $what kmem.dat | wc -l); theirs=$(trace-cmd report $what -i kmem.dat | wc -l)
  [ $ours = $theirs ] || fail "report $what: $ours lines, not $theirs"
done
echo "chains: $(wc -l < theirs) wakeups"
rm -f ours theirs
