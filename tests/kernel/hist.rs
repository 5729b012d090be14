//! Histograms and synthetic events against kernels that have them.

use crate::guest_machine::{Guest, Kernel, on_kernels};
use rtrace::format::EventFormat;
use rtrace::hist::spec::{CheckContext, Echo, Features, HistSpec, Neighbour};
use rtrace::hist::table;
use std::fmt::Write as _;

const LOAD: &str =
    "i=0; while [ $i -lt 4 ]; do ls / >/dev/null; cat /proc/version >/dev/null; usleep 300; i=$((i+1)); done\n";

/// A paragraph of `hist_cases.txt`.
struct Group<'a> {
    synth: Option<&'a str>,
    triggers: Vec<(&'a str, &'a str)>,
}

fn groups() -> Vec<Group<'static>> {
    let text = include_str!("hist_cases.txt");
    let lines = |paragraph: &'static str| paragraph.lines().filter(|l| !l.starts_with('#'));
    let groups = text.split("\n\n").map(|paragraph| Group {
        synth: lines(paragraph).find_map(|l| l.strip_prefix("synth ")),
        triggers: lines(paragraph).filter(|l| !l.starts_with("synth ")).filter_map(|l| l.split_once(' ')).collect(),
    });
    groups.filter(|g| !g.triggers.is_empty()).collect()
}

/// Writes each trigger in our words, reads what the kernel makes of it, and removes it in our words.
/// `old`: before Linux 6.3, where `common_stacktrace` is called `stacktrace`.
fn script(groups: &[Group<'_>], old: bool) -> String {
    let mut script = String::from(
        "T=/sys/kernel/tracing\nC=$(sed 's/.*\\[\\(.*\\)\\].*/\\1/' $T/trace_clock)\nknobs > before\ncp $T/README readme\n\
         put() { if [ -e $T/events/$2/trigger ]; then cat $T/events/$2/format > $1.format\n\
           (printf '%s\\n' \"$3\" >> $T/events/$2/trigger) 2> $1.err; echo $? > $1.rc; else echo absent > $1.rc; fi; }\n\
         see() { [ $(cat $1.rc) = 0 ] || return; cat $T/events/$2/trigger > $1.trigger; cat $T/events/$2/hist > $1.hist; }\n\
         del() { [ $(cat $1.rc) = 0 ] || return; (printf '%s\\n' \"!$3\" >> $T/events/$2/trigger) 2>> $1.err\n\
           echo $? > $1.removed; cat $T/events/$2/trigger > $1.left; }\n",
    );
    let _ = writeln!(script, "load() {{ {LOAD} }}");
    for (g, group) in groups.iter().enumerate() {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        if let Some(synth) = group.synth {
            let _ = writeln!(script, "printf '%s\\n' {} >> $T/synthetic_events", quoted(synth));
        }
        let mut printed: Vec<_> = group.triggers.iter().map(|(_, t)| ours(t)).collect();
        if old {
            printed.iter_mut().for_each(|(_, normal)| *normal = normal.replace("common_stacktrace", "stacktrace"));
        }
        for (t, (event, _)) in group.triggers.iter().enumerate() {
            let _ = writeln!(script, "put {g}.{t} {event} {}", quoted(&printed[t].0));
        }
        script.push_str("load\n");
        for (t, (event, _)) in group.triggers.iter().enumerate() {
            let _ = writeln!(script, "see {g}.{t} {event}");
        }
        for (t, (event, _)) in group.triggers.iter().enumerate().rev() {
            let _ = writeln!(script, "del {g}.{t} {event} {}", quoted(&printed[t].1));
        }
        if let Some(name) = group.synth.and_then(|s| s.split_whitespace().next()) {
            let _ = writeln!(script, "echo '!{name}' >> $T/synthetic_events");
        }
    }
    script.push_str("echo $C > $T/trace_clock; knobs > after; diff before after > changed\nexit 0\n");
    script
}

/// Our text of a trigger, and of its removal: the same tree, and its normal form.
fn ours(text: &str) -> (String, String) {
    match HistSpec::parse(text) {
        Ok(spec) => (spec.to_string(), spec.normal().to_string()),
        Err(_) => (text.to_owned(), text.to_owned()),
    }
}

on_kernels!(long the_kernel_reads_us_and_we_read_the_kernel: V6_1, V6_12, AllTracers => |kernel| {
    let groups = groups();
    let Some(guest) = Guest::run(kernel, &script(&groups, kernel == Kernel::V6_1), &[]) else { return };
    let features = Features::from_readme(&guest.text("readme"));
    assert_eq!(features.no_hitcount, kernel != Kernel::V6_1);
    let (mut taken, mut refused, mut tables) = (0, 0, 0);
    let mut wrong = String::new();
    for (g, group) in groups.iter().enumerate() {
        let mut neighbours = Vec::new();
        for (t, (path, text)) in group.triggers.iter().enumerate() {
            let file = |suffix: &str| guest.text(&format!("{g}.{t}.{suffix}"));
            let rc = file("rc");
            if rc.trim() == "absent" {
                continue;
            }
            let (system, name) = path.split_once('/').unwrap();
            let format = EventFormat::parse(system, &file("format")).unwrap();
            let lookup = |system: &str, name: &str| {
                let at = groups.iter().enumerate().flat_map(|(g, group)| {
                    group.triggers.iter().enumerate().map(move |(t, (path, _))| (g, t, *path))
                });
                let path = format!("{system}/{name}");
                if system == "synthetic" {
                    return synthetic(group.synth.filter(|s| s.starts_with(name))?);
                }
                let (g, t, _) = at.into_iter().find(|(_, _, p)| *p == path)?;
                EventFormat::parse(system, &guest.text(&format!("{g}.{t}.format"))).ok()
            };
            let around = CheckContext { event: &format, features, neighbours: Some(&neighbours), lookup: Some(&lookup) };
            let verdict = HistSpec::parse(text).map_err(|e| vec![e]).and_then(|spec| spec.check(&around).map(|()| spec));
            if verdict.is_ok() != (rc.trim() == "0") {
                let _ = writeln!(wrong, "{text}: the kernel says {} ({}), the checker {verdict:?}", rc.trim(), file("err").trim());
            }
            if rc.trim() != "0" {
                refused += 1;
                continue;
            }
            let Ok(spec) = verdict else { continue };
            taken += 1;
            let echoes: Vec<Echo> = file("trigger")
                .lines()
                .filter(|l| l.starts_with("hist:"))
                .map(|line| Echo::parse(line).unwrap_or_else(|e| panic!("{}", e.diagnostic(line))))
                .collect();
            if !echoes.iter().any(|echo| echo.spec == spec.shown_on(&format)) {
                let _ = writeln!(wrong, "{text}: the kernel echoes {}", file("trigger"));
            }
            let bytes = std::fs::read(guest.file(&format!("{g}.{t}.hist"))).unwrap();
            match table::parse(&bytes) {
                Ok(parsed) => {
                    let written: Vec<_> = parsed.iter().map(ToString::to_string).collect();
                    if written.join("\n\n") != String::from_utf8_lossy(&bytes) {
                        let _ = writeln!(wrong, "{text}: the table is written differently:\n{}", String::from_utf8_lossy(&bytes));
                    }
                    tables += parsed.len();
                }
                Err(e) => {
                    let _ = writeln!(wrong, "{text}: {e}\n{}", String::from_utf8_lossy(&bytes));
                }
            }
            let left = file("left");
            if file("removed").trim() != "0" || left.lines().any(|l| Echo::parse(l).is_ok_and(|e| e.spec == spec.shown_on(&format))) {
                let _ = writeln!(wrong, "{text}: not removed by our words: {left}{}", file("err"));
            }
            neighbours.push(Neighbour { system: system.to_owned(), event: name.to_owned(), spec });
        }
    }
    println!("{kernel:?}: {taken} triggers taken, {refused} refused, {tables} tables");
    assert!(wrong.is_empty(), "{kernel:?}:\n{wrong}");
    assert!(taken >= 60 && refused >= 15 && tables >= taken, "{taken} taken, {refused} refused, {tables} tables");
    assert_eq!(guest.text("changed"), "", "{kernel:?}");
});

/// A format with as many fields as a definition has, for counting arguments.
fn synthetic(definition: &str) -> Option<EventFormat> {
    let def = rtrace::synth::SynthDef::parse(definition).ok()?;
    let mut text = format!(
        "name: {}\nID: 1\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n",
        def.name
    );
    for (n, field) in def.fields.iter().enumerate() {
        let _ = writeln!(text, "\tfield:u64 {};\toffset:{};\tsize:8;\tsigned:0;", field.name, 8 + 8 * n);
    }
    text.push_str("\nprint fmt: \"\"\n");
    EventFormat::parse("synthetic", &text).ok()
}

/// The percentiles of a table are what one gets by writing every event down, in order, and counting.
fn ranks_by_counting(table: &serde_json::Value, key: &str) {
    let end =
        |value: &serde_json::Value| value.as_u64().or_else(|| value["high"].as_u64()).expect("a number or a class");
    let mut all: Vec<u64> = Vec::new();
    for entry in table["entries"].as_array().unwrap() {
        let hits = usize::try_from(entry["hitcount"].as_u64().unwrap()).unwrap();
        all.resize(all.len() + hits, end(&entry["keys"][key]));
    }
    all.sort_unstable();
    for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)] {
        let rank = (all.len() as f64 * share).ceil() as usize;
        assert_eq!(end(&table["percentiles"][key][name]), all[rank - 1], "{name} of {table}");
    }
}

/// Chains of events: legs, losses, groups, stacks; and what of rtrace itself is not counted.
fn chains(guest: &Guest, kernel: Kernel) {
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_str(&guest.text(name)).unwrap_or_else(|e| panic!("{name}: {e}: {}", guest.text(name)))
    };
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("a number: {value}"));
    let chain = json("chain.out");
    let (legs, stages) = (chain["legs"].as_array().unwrap(), chain["stages"].as_array().unwrap());
    assert_eq!((legs.len(), stages.len()), (2, 3), "{chain}");
    let whole = &chain["tables"][0]["summary"];
    assert!(number(&whole["hitcount"]) > 10.0 && number(&whole["sum"]) > 0.0, "{chain}");
    assert!((legs.iter().map(|leg| number(&leg["share"])).sum::<f64>() - 1.0).abs() < 0.05, "{chain}");
    assert!(number(&legs[1]["times"]["mean"]) > 0.0, "{chain}");
    // The tables are read one after the other while events go on, so a later stage may have counted a few more.
    for stage in stages {
        assert!(number(&stage["matched"]) > 10.0, "{chain}");
        assert!(number(&stage["events"]) >= number(&stage["matched"]), "{chain}");
    }
    let text = guest.text("chaintext.out");
    assert!(text.contains("\nsched:sched_waking -> sched:sched_switch: ") && text.contains(" %, sum "), "{text}");
    assert!(text.contains("without the event before"), "{text}");
    let drops = json("drops.out");
    assert!(number(&drops["stages"][0]["dropped"]) > 0.0, "{drops}");
    assert!(guest.text("drops.err").contains("of kmem:kmem_cache_alloc; 0 allowed"), "{}", guest.text("drops.err"));
    assert!(guest.text("allowed.err").contains("found no room in their table"), "{}", guest.text("allowed.err"));
    for (name, keys) in
        [("ids.out", &["id"][..]), ("blocked.out", &["prev_state", "prev_comm"]), ("softirqs.out", &["vec", "cpu"])]
    {
        let groups = json(name)["tables"][0]["groups"].as_array().unwrap().clone();
        assert!(!groups.is_empty(), "{name}: no groups");
        for group in groups {
            assert!(keys.iter().all(|key| !group["keys"][key].is_null()), "{name}: {group}");
            let summary = &group["summary"];
            let mean = number(&summary["sum"]) / number(&summary["hitcount"]);
            assert!(
                (mean - number(&summary["mean"])).abs() < 0.001 && !summary["percentiles"]["p50"].is_null(),
                "{group}"
            );
        }
    }
    assert!(guest.text("ids.out").contains("\"sys_read\""), "{}", guest.text("ids.out"));
    if kernel == Kernel::V6_1 {
        assert!(guest.text("offcpu.err").contains("keeps no stack"), "{}", guest.text("offcpu.err"));
    } else {
        let weights = |name: &str| -> u64 {
            let text = guest.text(name);
            let line = |line: &str| line.rsplit_once(' ').and_then(|(_, n)| n.parse::<u64>().ok()).expect("a weight");
            text.lines().map(line).fold(0, u64::saturating_add)
        };
        assert!(
            guest.text("offcpu.out").lines().any(|l| l.contains("schedule;__schedule ")),
            "{}",
            guest.text("offcpu.out")
        );
        assert!(weights("offcpu.out") > weights("counted.out"), "microseconds are more than events");
    }
    assert!(
        guest.text("badby.err").contains("\n  --by: pid=nextpid\n            ^~~~~~~\n"),
        "{}",
        guest.text("badby.err")
    );
    assert!(
        guest.text("badsplit.err").contains("\n  --split: start.pid.hax\n                     ^~~\n"),
        "{}",
        guest.text("badsplit.err")
    );
    assert!(guest.text("manysplits.err").contains("one field too many"), "{}", guest.text("manysplits.err"));
    let own: u64 = guest.text("own.pid").trim().parse().unwrap();
    let own_out = json("own.out");
    let pids: Vec<u64> = own_out["tables"][0]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|e| e["keys"]["common_pid"].as_u64())
        .collect();
    assert!(pids.len() > 3 && !pids.contains(&own), "{own} among {pids:?}");
    assert!(guest.text("wide.err").contains("no trace clock `foo`"), "{}", guest.text("wide.err"));
    assert!(guest.text("other.err").contains("histograms of one name share a table"), "{}", guest.text("other.err"));
    let titles = guest.text("titles.out");
    assert!(titles.contains("hist:name=foo:keys=next_pid:") && titles.contains("\nhist:keys=prev_comm:"), "{titles}");
    assert!(guest.text("sqlshow.out").contains("keys=next_comm:vals=hitcount:sort=hitcount.descending"));
    assert!(guest.text("wllost.out").contains(" dropped (the table was full)"), "{}", guest.text("wllost.out"));
    let stamped = guest.text("stamped.out");
    assert!(stamped.starts_with("time,interval,next_comm,hitcount\r\n"), "{stamped}");
    let readings: std::collections::HashSet<&str> = stamped.lines().filter_map(|l| l.split(',').nth(1)).collect();
    assert!(readings.contains("1") && readings.contains("2") && readings.contains(""), "{readings:?}");
}

/// Each command of ours, with the knobs of the systems that the commands name before and after; those of all are compared
/// once, since a guest takes seconds to read them.
const COMMANDS: &str = r#"
named() { knobs /sys/kernel/tracing sched kmem raw_syscalls synthetic; }
same() { named > now; diff before now > diff.$1 || { echo "knobs differ after $1"; cat diff.$1; }; }
run() { n=$1; want=$2; shift 2; rtrace "$@" > $n.out 2> $n.err; rc=$?; [ $rc = $want ] || { echo "$n: $rc, not $want: $*"; cat $n.err; }; }
up() { tries=3000; until grep -q ^hist: /sys/kernel/tracing/instances/rtrace-*/events/sched/sched_switch/trigger 2>/dev/null || [ $((tries -= 1)) = 0 ]; do usleep 100000; done; }
run warm 0 latency sched:sched_waking sched:sched_switch --by pid=next_pid --duration 10ms
knobs > all; named > before
run hist 0 hist sched:sched_switch --key next_comm,next_pid --val next_prio --json -- sh load.sh; same hist
run top 0 hist sched:sched_switch --top --key common_timestamp.usecs --size 128 --duration 100ms; same top
run bucket 0 hist raw_syscalls:sys_exit --key ret.buckets=100 --if 'ret > 0' --csv -- sh load.sh; same bucket
run folded 0 hist sched:sched_switch --key stacktrace --folded -- sh load.sh; same folded
run status 3 hist sched:sched_switch --key next_pid -- sh -c 'exit 3'; same status
run none 127 hist sched:sched_switch --key next_pid -- nosuchcommand; same none
run lost 4 hist raw_syscalls:sys_enter --key common_timestamp,id,common_pid --size 128 --max-lost 0 -- sh load.sh; same lost
run bad 2 hist sched:sched_switch --key nextpid -- true; same bad
run action 0 hist sched:sched_switch --key next_pid --var st=prev_state --action 'onchange($st).save(prev_comm,next_comm)' --json -- sh load.sh; same action
run named 0 hist sched:sched_switch --key next_pid --name foo -B mine -- sh load.sh; same named
run start 0 hist start sched:sched_switch --key next_pid
run start2 0 hist start kmem:kmalloc --key bytes_req.log2
run show 0 hist show; run showraw 0 hist show sched:sched_switch --raw
run pause 0 hist pause; run paused 0 hist show --raw; run continue 0 hist continue; run clear 0 hist clear sched:sched_switch
run against 0 hist show sched:sched_switch --against showraw.out
run stop 0 hist stop; same stop
run latency 0 latency sched:sched_waking sched:sched_switch --by pid=next_pid --json -- sh load.sh; same latency
run split 0 latency sched:sched_waking sched:sched_switch --by pid=next_pid --split next_comm --buckets 100 --ns -- sh load.sh; same split
run chain 0 latency sched:sched_waking sched:sched_switch sched:sched_switch --by pid=next_pid=prev_pid --json -- sh load.sh
run chaintext 0 latency sched:sched_waking sched:sched_switch sched:sched_switch --by pid=next_pid=prev_pid --split end.prev_comm -- sh load.sh
run drops 4 latency kmem:kmem_cache_alloc kmem:kmem_cache_free --by ptr --size 128 --json -- find /proc/1 -name nosuch
run allowed 0 latency kmem:kmem_cache_alloc kmem:kmem_cache_free --by ptr --size 128 --max-lost 100000000 -- find /proc/1 -name nosuch
run ids 0 latency raw_syscalls:sys_enter raw_syscalls:sys_exit --by common_pid --split id.syscall --json -- sh load.sh
run blocked 0 latency sched:sched_switch sched:sched_switch --by prev_pid=next_pid --split start.prev_state,start.prev_comm --if-start 'prev_pid > 0' --json -- sh load.sh
run softirqs 0 latency irq:softirq_entry irq:softirq_exit --by vec,common_cpu --split vec,common_cpu --json -- sh load.sh
if grep -q "'common_stacktrace'" /sys/kernel/tracing/README; then want=0; else want=5; fi
offcpu() { run $1 $want latency sched:sched_switch sched:sched_switch --by prev_pid=next_pid --split start.STACKTRACE --if-start 'prev_pid > 0' --folded --weight $2 --size 16384 --duration 500ms; }
(while :; do sh load.sh; done) & loads=$!; offcpu offcpu time; offcpu counted count; kill $loads; wait $loads; same offcpu
run badby 2 latency sched:sched_waking sched:sched_switch --by pid=nextpid --duration 1s
run badsplit 2 latency sched:sched_waking sched:sched_switch --by pid=next_pid --split start.pid.hax --duration 1s
run manysplits 2 latency sched:sched_waking sched:sched_switch --by pid=next_pid --split prev_pid,prev_prio,prev_state --duration 1s
sh -c 'echo $$ > own.pid; exec rtrace hist raw_syscalls:sys_enter --key common_pid --json -- sh load.sh' > own.out || echo "own: $?"
run wide 2 hist sched:sched_switch 'hist:keys=common_timestamp:clock=foo' --duration 1s
run first 0 hist start sched:sched_switch --key next_pid --name foo -B named
run other 2 hist start sched:sched_waking --key pid --name foo
run second 0 hist start sched:sched_switch --key prev_comm -B named
run titles 0 hist show -B named
run unnamed 0 hist stop -B named; rtrace instance remove named
run sqlgroup 0 synth sql 'select next_comm, count(*) as n from sched_switch group by next_comm order by n desc'
run sqlshow 0 hist show --raw; run sqlstop 0 hist stop
chained() {
  run wl 0 synth create wl --start sched:sched_waking --end sched:sched_switch --match pid=next_pid:pid --delta usecs:lat --size 128
  run wlx 0 synth create wlx --start synthetic:wl --end sched:sched_switch --match pid=prev_pid:pid --delta usecs:ran --field start.lat
}
chained; run wllost 0 synth show wl; run wlinuse 1 synth remove wl; run chained 0 synth remove wl wlx
chained; run chainedall 0 synth remove --all; same chainedall
rtrace hist sched:sched_switch --key next_comm --follow=200ms --csv > stamped.out 2> stamped.err & stamped=$!
tries=3000; until grep -q '^[^,]*,2,' stamped.out || [ $((tries -= 1)) = 0 ]; do usleep 100000; done
kill -INT $stamped; wait $stamped || echo "stamped: $?"
run create 0 synth create wk --start sched:sched_waking --end sched:sched_switch --match pid=next_pid:pid --field start.prio,end.next_comm=comm --delta usecs:lat
run createagain 1 synth create wk --start sched:sched_waking --end sched:sched_switch --match pid=next_pid --delta usecs:lat
run list 0 synth list; run shows 0 synth show wk
run fired 0 hist synthetic:wk --key comm --val lat --json -- sh load.sh
mkdir /sys/kernel/tracing/instances/other; echo 'hist:keys=lat' > /sys/kernel/tracing/instances/other/events/synthetic/wk/trigger
run inuse 1 synth remove wk; run remove 0 synth remove wk --force; rmdir /sys/kernel/tracing/instances/other; same remove
run badfilter 2 hist sched:sched_switch --key next_pid --if 'nextpid == 1' --duration 1s; same badfilter
run bareword 0 hist sched:sched_switch --key next_comm --if 'next_comm != nosuch' --json -- sh load.sh; same bareword
run manual 0 synth create wakeup_lat --start sched:sched_waking --end sched:sched_switch --match pid=next_pid:pid --field start.prio,end.next_comm=comm,end.prev_prio --delta usecs:delta --if-start 'prio < 100' --if-end 'next_prio < 50 || !(prev_prio >= 100)'
run manualshow 0 synth show wakeup_lat; run manualremove 0 synth remove wakeup_lat; same manual
rtrace hist sched:sched_switch --key next_comm --follow=200ms --diff --json > follow.out 2> follow.err & follows=$!
tries=3000; until [ $(grep -c '^{"' follow.out) -ge 3 ] || [ $((tries -= 1)) = 0 ]; do usleep 100000; done
kill -INT $follows; wait $follows || echo "follow: $?"; same follow
if [ -e /case/helper ]; then
  mkdir -p /dev/pts; mount -t devpts devpts /dev/pts
  /case/helper pty 3 rtrace hist sched:sched_switch --key next_comm --follow=300ms > terminal.out; rc=$?
  [ $rc = 0 ] || echo "on a terminal: $rc"; same terminal
fi
run exact 0 hist kmem:kmalloc --key bytes_req --json -- sh load.sh; same exact
run max 0 synth create mx --start sched:sched_waking --end sched:sched_switch --match pid=next_pid --delta usecs:lat --max lat --trace --save next_comm,prev_pid
run maxremove 0 synth remove --all; same max
run sql 0 synth sql -n sq 'select end.next_pid as pid, TIMESTAMP_DELTA_USECS as lat from sched_waking as start join sched_switch as end on start.pid = end.next_pid where start.prio < 100, end.prev_prio >= 100'
run sqlfired 0 synth show sq
run sqlremove 0 synth remove sq; same sql
run sqlhist 0 sqlhist 'select cast(call_site as sym), cast(bytes_req as _COUNTER_) from kmalloc'; same sqlhist
run sqlbad 2 sqlhist 'select pid from'; same sqlbad
run dry 0 synth create wk --dry-run --start sched:sched_waking --end sched:sched_switch --match pid=next_pid --delta ns:lat; same dry
run nosynth 2 synth remove nosuch; same nosynth
for signal in INT TERM HUP; do
  rtrace hist sched:sched_switch --key next_pid > sig.out 2> sig.err & up; kill -$signal $!; wait $! || echo "after SIG$signal: $?"; same $signal
done
rtrace latency sched:sched_waking sched:sched_switch --by pid=next_pid > /dev/null 2>&1 & up; kill -9 $!; wait $!
rtrace reset --stale > stale.out 2>&1 || { echo "reset --stale: $?"; cat stale.out; }; same stale
knobs > after; diff all after > diff.all || { echo "knobs differ at the end"; cat diff.all; }
exit 0
"#;

on_kernels!(long commands_do_their_work_and_leave_nothing: V6_1, AllTracers; suites V6_12 => |kernel| {
    let script = format!("cat > load.sh <<'L'\n{LOAD}L\n{COMMANDS}");
    let helper = crate::load::program("helper");
    let files: Vec<_> = helper.iter().map(|helper| helper.path.as_path()).collect();
    let Some(guest) = Guest::run(kernel, &script, &files) else { return };
    assert_eq!(guest.text("stdout"), "", "{kernel:?}: {}", guest.text("stderr"));
    let json = |name: &str| -> serde_json::Value { serde_json::from_str(&guest.text(name)).unwrap_or_else(|e| panic!("{name}: {e}")) };
    let hist = json("hist.out");
    let entries = hist["tables"][0]["entries"].as_array().unwrap();
    let sum: u64 = entries.iter().map(|e| e["hitcount"].as_u64().unwrap()).sum();
    let hits = hist["tables"][0]["hits"].as_u64().unwrap();
    // The other CPU may stand between the table's count and the entry's when the table is paused (`__tracing_map_insert`,
    // `hist_trigger_elt_update`), and a guest's CPU stands still for long.
    assert!(sum == hits || sum + 1 == hits, "a paused table is read at rest: {sum} of {hits}");
    // The guest's shell may run its applets without an exec.
    assert!(entries.iter().any(|e| e["keys"]["next_comm"] == "ls" || e["keys"]["next_comm"] == "sh"), "{hist}");
    assert!(guest.text("bucket.out").starts_with("ret_low,ret_high,hitcount\r\n"));
    assert!(guest.text("folded.out").lines().any(|l| l.contains("schedule;__schedule ")), "{}", guest.text("folded.out"));
    assert!(guest.text("bad.err").contains("did you mean `next_pid`?"));
    assert!(guest.text("lost.err").contains("found no room in the table"));
    assert_eq!(json("action.out")["tables"][0]["entries"][0]["tracked"][0]["kind"], "changed");
    assert!(guest.text("paused.out").contains("[paused]"));
    assert!(guest.text("against.out").contains("before"));
    let latency = json("latency.out");
    assert!(latency["tables"][0]["hits"].as_u64().unwrap() > 10, "{latency}");
    assert!(latency["tables"][0]["percentiles"]["usecs"]["p50"]["high"].as_u64().unwrap() > 0);
    chains(&guest, kernel);
    assert_eq!(guest.text("list.out"), "wk pid_t pid; s32 prio; char[16] comm; u64 lat\n");
    assert!(guest.text("createagain.err").contains("failed to"), "{}", guest.text("createagain.err"));
    assert!(json("fired.out")["tables"][0]["hits"].as_u64().unwrap() > 10);
    assert!(guest.text("sqlbad.err").contains("sql: select pid from\n"));
    let inuse = guest.text("inuse.err");
    assert!(inuse.contains("has a trigger in instance other: hist:keys=lat") && inuse.contains("--force"), "{inuse}");
    assert!(guest.text("badfilter.err").contains("did you mean `next_pid`?"), "{}", guest.text("badfilter.err"));
    assert!(json("bareword.out")["tables"][0]["hits"].as_u64().unwrap() > 0);
    // libtracefs' manual has this event as its example.
    let manual = guest.text("manualshow.out");
    assert!(manual.starts_with("wakeup_lat pid_t pid; s32 prio; char[16] comm; s32 prev_prio; u64 delta\n"), "{manual}");
    assert!(manual.contains("if next_prio < 50 || !(prev_prio >= 100)") && manual.contains("if prio < 100"), "{manual}");
    let readings: Vec<serde_json::Value> =
        guest.text("follow.out").lines().filter(|l| l.starts_with("{\"")).map(|l| serde_json::from_str(l).unwrap()).collect();
    let hits = |reading: &serde_json::Value| reading["tables"][0]["hits"].as_u64().unwrap();
    let (whole, parts) = readings.split_last().expect("the last reading is the whole");
    if helper.is_some() {
        // One picture over the other until Ctrl-C, then the whole table.
        let screen = guest.text("terminal.out");
        assert!(screen.starts_with("\x1b[2J\x1b[H") && screen.matches("\x1b[2J").count() == 1, "{screen:?}");
        assert!(screen.matches("\x1b[H").count() >= 3, "{screen:?}");
        let (_, end) = screen.rsplit_once("\x1b[J").unwrap();
        assert!(end.contains("next_comm") && end.trim_end().ends_with(" hits"), "{screen:?}");
    }
    for (name, key) in [("exact.out", "bytes_req"), ("latency.out", "usecs")] {
        ranks_by_counting(&json(name)["tables"][0], key);
    }
    assert!(parts.len() >= 2 && parts.iter().map(hits).sum::<u64>() <= hits(whole), "{readings:?}");
});
