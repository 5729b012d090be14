# The kernel's own tests of ftrace, each write made by a verb of rtrace: where a test says `echo X > knob`, `knob` below is
# called with the same words. The tests' own assertions decide. /case/ftrace.tar has them, /case/selected the folders.
# `results` gets a line "RESULT<tab>TEST<tab>REASON" for each, `log/` what one that did not pass said.
T=/sys/kernel/tracing
ifconfig lo up # some tests ping themselves
rm /bin/sh; cp /bin/busybox /bin/sh # one looks for the shell among its own mapped files
# Nor readelf, of which one asks for the entry point of a program and its segments.
cat > /bin/readelf <<'READELF'
#!/bin/sh
number() { echo "0x$(od -An -tx$2 -j$1 -N$2 $file | tr -d ' ')"; }
options=$1 file=$2
case $options in
  -h*) echo "  Entry point address:               $(number 24 8)" ;;
  -l*)
    start=$(number 32 8) i=0
    while [ $i -lt $(($(number 56 2))) ]; do
      at=$((start + i * 56)) i=$((i + 1))
      [ $(($(number $at 4))) != 1 ] || echo "  LOAD $(number $((at + 8)) 8) $(number $((at + 16)) 8) $(number $((at + 24)) 8) $(number $((at + 32)) 8)"
    done ;;
esac
READELF
chmod +x /bin/readelf
for program in chrt nice; do [ ! -e /case/$program ] || cp /case/$program /bin/$program; done # busybox has none
mount -t debugfs debugfs /sys/kernel/debug 2> /dev/null
mkdir log tests
tar -xf /case/ftrace.tar -C tests
cat > knob.sh <<'KNOB'
# knob MODE FILE WORD...: writes the words to the file as `echo` would, with a verb of rtrace where there is one.
knob() {
  mode=$1 knob_file=$2; shift 2
  text=$*
  case $(readlink -f "$knob_file") in
    $T/instances/*/*) path=$(readlink -f "$knob_file"); path=${path#$T/instances/}; B="-B ${path%%/*}"; path=${path#*/} ;;
    $T/*) path=$(readlink -f "$knob_file"); path=${path#$T/}; B= ;;
    *) path=; B= ;;
  esac
  event=$(echo "${path#events/}" | sed 's|/[a-z_]*$||; s|/|:|'); [ "$event" = "${path##*/}" ] && event=all
  case $mode$path in
    '>'dynamic_events | '>'kprobe_events | '>'uprobe_events | '>'synthetic_events)
      case $path in
        synthetic_events) cleared='synth' ;;
        dynamic_events) cleared='probe synth' ;;
        *) cleared='probe' ;;
      esac
      for language in $cleared; do [ -z "$(rtrace $language list)" ] || by_rtrace $language remove --all || return; done
      [ -z "$text" ] && return ;;
  esac
  case $path in
    dynamic_events | kprobe_events | uprobe_events)
      case $text in
        -:synthetic/* | '!s:'*) by_rtrace synth remove "$(echo "$text" | sed 's|.*synthetic/||; s|^!s:||; s| .*||')" ;;
        -:* | !*) by_rtrace probe remove "$text" ;;
        *) by_rtrace probe add "$text" ;;
      esac ;;
    synthetic_events)
      case $text in
        !*) by_rtrace synth remove "$(echo "$text" | sed 's|^!||; s|[ 	].*||')" ;;
        *) by_rtrace synth define "${text%% *}" "${text#* }" ;;
      esac ;;
    events/*/trigger)
      case $text in
        !*) by_rtrace trigger remove $B "$event" "${text#!}" ;;
        *) by_rtrace trigger add $B "$event" "$text" ;;
      esac ;;
    events/*/filter) by_rtrace filter set $B "$event" "$text" ;;
    events/enable | events/*/enable)
      case $text in
        1) by_rtrace set $B -e "$event" ;;
        0) by_rtrace set $B -v -e "$event" ;;
        *) echo "$@" > "$knob_file" ;;
      esac ;;
    tracing_on) case $text in 1) by_rtrace restart $B ;; 0) by_rtrace stop $B ;; esac ;;
    current_tracer) by_rtrace set $B -p "$text" ;;
    trace_clock) by_rtrace set $B -C "$text" ;;
    options/*) case $text in 1) by_rtrace set $B -O "${path#options/}" ;; 0) by_rtrace set $B -O "no${path#options/}" ;; esac ;;
    set_ftrace_filter)
      case $text in
        !*:*) text=${text#!}; by_rtrace trigger remove $B --function "${text%%:*}" "${text#*:}" ;;
        *:mod:*) plain "$@" ;;
        # Opening the file to write it anew clears the functions, whatever is written.
        *:*) [ "$mode" = '>>' ] || by_rtrace set $B -l '' || return; by_rtrace trigger add $B --function "${text%%:*}" "${text#*:}" ;;
        *' '* | !*) plain "$@" ;;
        *) if [ "$mode" = '>' ]; then by_rtrace set $B -l "$text"; else plain "$@"; fi ;;
      esac ;;
    set_ftrace_notrace) if [ "$mode" = '>' ]; then by_rtrace set $B -n "$text"; else plain "$@"; fi ;;
    trace) by_rtrace clear $B ;;
    remotes/*/trace) by_rtrace remote clear "$(remote)" ;;
    remotes/*/tracing_on) case $text in 1) by_rtrace remote start "$(remote)" ;; 0) by_rtrace remote stop "$(remote)" ;; esac ;;
    *) plain "$@" ;;
  esac
}
remote() { echo "$path" | cut -d/ -f2; }
plain() { echo plain >> $counted; if [ "$mode" = '>' ]; then echo "$@" > "$knob_file"; else echo "$@" >> "$knob_file"; fi; }
by_rtrace() { echo rtrace >> $counted; echo "+ rtrace $*" >&2; command rtrace "$@"; }
# By its path: busybox would take its own, which is executed as /proc/self/exe and not as a task of that name.
ping() { /bin/ping "$@"; }
exit_pass() { exit 0; }
exit_fail() { exit 1; }
exit_unresolved() { exit 72; }
exit_untested() { exit 73; }
exit_unsupported() { exit 74; }
exit_xfail() { exit 75; }
TEST_DIR=$tests/test.d TRACING_DIR=$T
. $tests/test.d/functions
# Input that the kernel is to refuse, rtrace refuses: a usage error, by itself or in the kernel's words.
ftrace_errlog_check() {
  refused=$(printf '%s' "$2" | tr -d '^')
  echo "Test command: $refused"
  status=0; knob '>>' "$3" "$refused" || status=$?
  [ $status = 2 ]
}
KNOB
tests=$PWD/tests counted=$PWD/counted
export T tests counted
: > results; : > counted
# Why a test cannot run here, whatever rtrace does.
not_applicable() {
  case $1 in
    00basic/mount_options.tc | 00basic/test_ownership.tc) echo 'it mounts tracefs with other options, for which there is no verb' ;;
    kprobe/kprobe_opt_types.tc) [ -e /sys/kernel/debug/kprobes/list ] || echo 'this kernel has no list of optimised kprobes in debugfs' ;;
    00basic/trace_marker_raw.tc) echo | awk '{strtonum("0x1")}' 2> /dev/null || echo 'no awk that has strtonum (busybox)' ;;
    */add_remove_*_module.tc | event/event-mod.tc) modinfo trace-events-sample > /dev/null 2>&1 || echo 'no module of samples' ;;
    trigger/trigger-hist-poll.tc) echo 'it waits with poll(2), in a program of its own that is to be compiled' ;;
    dynevent/add_remove_fprobe_repeat.tc | kprobe/kprobe_insn_boundary.tc | kprobe/multiple_kprobes.tc) echo 'hundreds of probes one after the other: minutes in an emulated guest' ;;
    trigger/inter-event/trigger-onchange-action-hist.tc | trigger/inter-event/trigger-snapshot-action-hist.tc)
      which nice > /dev/null || echo 'no program nice' ;;
  esac
}
knobs='kprobe_events\|uprobe_events\|dynamic_events\|synthetic_events\|trigger\|filter\|enable\|tracing_on\|current_tracer\|trace_clock\|set_ftrace_filter\|set_ftrace_notrace\|trace\|EVENT_ENABLE\|TRIGGER1\|TRIGGER2'
for folder in $(cat /case/selected); do
  for test in tests/test.d/$folder; do
    [ -e "$test" ] || continue
    name=${test#tests/test.d/}
    reason=$(not_applicable $name)
    [ -z "$reason" ] || { printf 'not applicable\t%s\t%s\n' "$name" "$reason" >> results; continue; }
    sed "s/\\becho *\\([^|;&>]*[^|;&> ]\\)\\{0,1\\} *\\(>>*\\) *\\([\"\$A-Za-z0-9_\\/{}.]*\\($knobs\\)\"*\\)\\( \\|;\\|)\\|\$\\)/knob '\\2' \\3 \\1\\5/" "$test" > test.sh
    started=$(date +%s)
    log=log/$(echo "$name" | tr / _)
    # A write that may fail, as its output says, is to fail here too.
    sed -i 's|^\(knob .*\) > /dev/null$|\1 > /dev/null \|\| true|' test.sh
    timeout 300 sh -c '
      cd $T; . $0/knob.sh; set -x
      rtrace reset; rtrace reset -a -d
      # As their runner does: a trace that is read meanwhile has no end.
      [ ! -e options/pause-on-trace ] || rtrace set -O pause-on-trace
      read PID _ < /proc/self/stat; set -e
      requires=$(sed -n "s/^#[ \t]*requires://p" $0/test.sh)
      eval check_requires $requires
      export TMPDIR=$(mktemp -d)
      . $0/test.sh' "$PWD" > $log 2>&1
    status=$?
    case $status in
      0) result=pass; rm $log ;;
      72) result=unresolved ;;
      73) result=untested ;;
      74) result=unsupported ;;
      75) result=xfail ;;
      *) result=FAIL; echo "$name: $status"; tail -n 12 $log ;;
    esac
    echo "$result $name, $(($(date +%s) - started)) s" > /dev/console
    # A test's last words before it gives up are the last line that is no command.
    reason="$(($(date +%s) - started)) s"
    case $result in un*) reason=$(grep -v '^+' $log | tail -n 1) ;; esac
    printf '%s\t%s\t%s\n' "$result" "$name" "$reason" >> results
  done
done
rtrace reset; rtrace reset -a -d
status=0
