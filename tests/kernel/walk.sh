# Walks the rows of `walk.txt`: a line "W<tab>NAME" (P, M) for each in `results`, and in `said` what those that are not W said.
set -u
T=/sys/kernel/tracing
[ -e /case/chrt ] && cp /case/chrt /bin/chrt
content() { grep -v '^#' $T/$1; }
# is FILE VALUE: all that it says, without comments and surrounding blanks.
is() { [ "$(content "$1" | sed 's/^ *//; s/ *$//')" = "$2" ] || { echo "$1 says $(content "$1" | head -n 3), not $2"; false; }; }
says() { grep -qF -- "$2" $T/$1 || { echo "$1 does not say $2"; false; }; }
lines() { [ "$(content "$1" | grep -c .)" = "$2" ] || { echo "$1 has $(content "$1" | grep -c .) lines, not $2"; false; }; }
# triggers EVENT TEXT: of the top level or any instance.
triggers() { cat $T/events/$1/trigger $T/instances/*/events/$1/trigger 2> /dev/null | grep -qF -- "$2" || { echo "no trigger of $1 says $2"; false; }; }
none_set() { lines events/$1/trigger 0; }
: > results; : > said
while IFS= read -r row; do
  case $row in '' | '#'*) continue ;; esac
  name=${row%% :: *}; rest=${row#* :: }; commands=${rest%% :: *}; check=${rest#* :: }
  echo "$name at $(cut -d' ' -f1 /proc/uptime) s" > /dev/console
  rm -f x.dat s.dat e.dat text list table err plan
  letter=M
  if (eval "$commands") > output 2>&1 < /dev/null; then
    letter=P
    (eval "$check") >> output 2>&1 < /dev/null && letter=W
  fi
  printf '%s\t%s\n' $letter "$name" >> results
  echo "$letter" > /dev/console
  [ $letter = W ] || { echo "-- $letter $name"; head -n 6 output; [ ! -s err ] || head -n 3 err; } >> said
  rtrace reset -a -t -d > output 2>&1 || { echo "-- reset after $name"; cat output; } >> said
done < /case/walk.txt
cut -f1 results | sort | uniq -c
exit 0
