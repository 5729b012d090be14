# Every verb, each with the options that meet the kernel in another way: a line "STATUS<tab>COMMAND<tab>WORDS" for each in
# `rows`, where WORDS is the CONFIG that was named. Everything is as it was afterwards.
set -u
T=/sys/kernel/tracing
echo 1410 > $T/buffer_size_kb
echo 'nobody:x:65534:65534:nobody:/nowhere:/bin/sh' >> /etc/passwd
settings() { knobs | tr -d '\0' | grep -v '^./trace_stat/\|^./stack_max_size\|^./saved_cmdlines:\|^./buffer_size_kb\|^./tracing_max_latency'; }
settings > before
: > rows
cat > work.sh <<'W'
ls / > /dev/null; cat /proc/version > /dev/null; usleep 300
W
# The register of a function's first argument, and a program that uses the C library of which there is a file.
DYNAMIC='trace-cmd list -t'
case $(uname -m) in
  x86_64) FIRST=%di DYNAMIC='rtrace help hist' ;;
  aarch64) FIRST=%x0 ;;
  riscv64) FIRST=%a0 ;;
  *) FIRST='+4(%sp)' ;;
esac
export FIRST DYNAMIC
while read -r command; do
  case $command in '' | '#'*) continue ;; esac
  echo "$command at $(cut -d' ' -f1 /proc/uptime) s" > /dev/console
  timeout 120 sh -c "$command" > said 2>&1 < /dev/null; status=$?
  printf '%s\t%s\t%s\n' $status "$command" "$(grep -o 'CONFIG_[A-Z0-9_]*' said | head -n 1)" >> rows
  [ $status = 0 ] || { echo "-- $command: $status"; head -n 4 said; } >> refusals
done < /case/commands.txt
settings > after
diff before after > changed
exit 0
