use super::sql::{Lowered, SqlQuery, lower};
use super::*;
use crate::kernel::format::EventFormat;
use crate::language::hist::spec::{CheckContext, Features, HistSpec, KeyModifier, SpecErrorKind};
use proptest::prelude::*;

fn format(system: &str, event: &str) -> Option<EventFormat> {
    let text = match (system, event) {
        ("sched", "sched_switch") => include_str!("../../../tests/data/hist/vm-6.12/events/sched/sched_switch/format"),
        ("sched", "sched_waking") => include_str!("../../../tests/data/hist/vm-6.12/events/sched/sched_waking/format"),
        ("raw_syscalls", "sys_enter") => {
            include_str!("../../../tests/data/hist/vm-6.12/events/raw_syscalls/sys_enter/format")
        }
        ("kmem", "kmalloc") => include_str!("../../../tests/data/hist/vm-6.12/events/kmem/kmalloc/format"),
        _ => return None,
    };
    Some(EventFormat::parse(system, text).unwrap())
}

fn find(system: Option<&str>, event: &str) -> Option<EventFormat> {
    match system {
        Some(system) => format(system, event),
        None => ["sched", "raw_syscalls", "kmem"].iter().find_map(|system| format(system, event)),
    }
}

fn waking() -> EventFormat {
    format("sched", "sched_waking").unwrap()
}

fn switch() -> EventFormat {
    format("sched", "sched_switch").unwrap()
}

#[test]
fn definitions() {
    for (text, shown) in [
        (
            "wakeup_latency u64 lat; pid_t pid; int prio; char comm[16]",
            "wakeup_latency u64 lat; pid_t pid; int prio; char[16] comm",
        ),
        ("s:synthetic/opn\tchar[] file; int dfd; s64 ret", "opn char[] file; int dfd; s64 ret"),
        (
            "s:block_lat pid_t pid; u64 delta; unsigned long[] stack",
            "block_lat pid_t pid; u64 delta; unsigned long[] stack",
        ),
        ("ok u64 a; char b[16]; unsigned int c;", "ok u64 a; char[16] b; unsigned int c"),
        (
            "old u64 lat pid_t pid char comm[16] unsigned int x long long y",
            "old u64 lat; pid_t pid; char[16] comm; unsigned int x; long long y",
        ),
    ] {
        let def = SynthDef::parse(text).unwrap();
        assert_eq!(def.to_string(), shown);
        assert_eq!(SynthDef::parse(shown).unwrap(), def);
    }
}

#[test]
fn what_kernels_printed_for_what_was_written() {
    let echo = include_str!("../../../tests/data/hist/vm-6.12/synth-onmatch.synthetic_events");
    let command = include_str!("../../../tests/data/hist/vm-6.12/synth-onmatch.cmd");
    let written = command.lines().next().unwrap().split('\'').nth(1).unwrap();
    assert_eq!(SynthDef::parse(echo.trim_end()).unwrap(), SynthDef::parse(written).unwrap());
    let echo = include_str!("../../../tests/data/hist/vm-6.12/synth-onmatch.dynamic_events");
    assert_eq!(SynthDef::parse(echo.trim_end()).unwrap(), SynthDef::parse(written).unwrap());
}

#[test]
fn definitions_that_kernels_refused() {
    for kernel in [
        include_str!("../../../tests/data/hist/vm-6.1/errors.txt"),
        include_str!("../../../tests/data/hist/vm-6.12/errors.txt"),
    ] {
        let mut count = 0;
        for entry in kernel.split("=== file: ").filter(|e| e.starts_with("synthetic_events")) {
            let data = entry.lines().find_map(|l| l.strip_prefix("=== data: ")).unwrap();
            let taken = entry.lines().find_map(|l| l.strip_prefix("=== rc: ")).unwrap().starts_with('0');
            if data.is_empty() || data.starts_with('!') {
                continue; // nothing, or a removal
            }
            let stricter = data == "x u64 a; u64 a"; // two fields of one name
            assert_eq!(SynthDef::parse(data).is_ok(), taken && !stricter, "{data}");
            count += 1;
        }
        assert!(count >= 11, "{count}");
    }
}

#[test]
fn definition_errors_have_carets() {
    let error = SynthDef::parse("x u64 a; u46 b").unwrap_err();
    assert_eq!(error.to_string(), "unknown type `u46`\n  synth: x u64 a; u46 b\n                  ^~~~~");
    assert_eq!(error.hints()[0], "did you mean `u16` or `u64`?");
    for bad in [
        "",
        "1x u64 a",
        "x",
        "x u64",
        "x char[300] a",
        "x char[] a[]",
        "x u64[4] a",
        "x u64 1a",
        "x u64 a-b",
        "x u64 a b",
        "x u64 a u46 b",
    ] {
        assert!(SynthDef::parse(bad).is_err(), "{bad}");
    }
    let many: Vec<_> = (0..65).map(|n| format!("u8 f{n}")).collect();
    assert!(SynthDef::parse(&format!("x {}", many.join(";"))).is_err());
}

/// The example of libtracefs' manual.
#[test]
fn the_manuals_example() {
    let mut b = Builder::new("wakeup_lat", waking(), switch(), "pid", "next_pid", Some("pid")).unwrap();
    b.start_field("prio", None).unwrap();
    b.end_field("next_comm", Some("comm")).unwrap();
    b.end_field("prev_prio", None).unwrap();
    b.compare(TIMESTAMP_USECS, TIMESTAMP_USECS, Arithmetic::DeltaEnd, "delta").unwrap();
    b.start_filter("prio < 100").unwrap();
    b.end_filter("next_prio < 50 || !(prev_prio >= 100)").unwrap();
    assert!(b.end_filter("nextpid == 1").unwrap_err().to_string().contains("nextpid"));
    assert!(b.end_filter("next_pid ==").is_err());
    let plan = b.plan().unwrap();
    assert_eq!(plan.definition.to_string(), "wakeup_lat pid_t pid; s32 prio; char[16] comm; s32 prev_prio; u64 delta");
    assert_eq!(
        plan.start.1.to_string(),
        "hist:keys=pid:__wakeup_lat_start_prio=prio,__wakeup_lat_start_delta=common_timestamp.usecs if prio < 100"
    );
    assert_eq!(
        plan.end.1.to_string(),
        "hist:keys=next_pid:__wakeup_lat_pid=next_pid,__wakeup_lat_prio=$__wakeup_lat_start_prio,\
         __wakeup_lat_comm=next_comm,__wakeup_lat_prev_prio=prev_prio,\
         __wakeup_lat_delta=common_timestamp.usecs-$__wakeup_lat_start_delta:onmatch(sched.sched_waking).\
         trace(wakeup_lat,$__wakeup_lat_pid,$__wakeup_lat_prio,$__wakeup_lat_comm,$__wakeup_lat_prev_prio,\
         $__wakeup_lat_delta) if next_prio < 50 || !(prev_prio >= 100)"
    );
    let undo: Vec<_> = plan.writes().into_iter().rev().map(|w| w.undo).collect();
    assert!(undo[0].starts_with("!hist:keys=next_pid") && undo[1].starts_with("!hist:keys=pid"));
    assert_eq!(undo[2], "!wakeup_lat");
    let shell = plan.shell("/sys/kernel/tracing", Some("foo"));
    assert!(shell[0].ends_with("' >> /sys/kernel/tracing/synthetic_events"));
    assert!(shell[2].ends_with("' >> /sys/kernel/tracing/instances/foo/events/sched/sched_switch/trigger"));
    for (_, spec) in [&plan.start, &plan.end] {
        assert_eq!(HistSpec::parse(&spec.to_string()).unwrap(), *spec);
    }
}

#[test]
fn libtracefs_refusals() {
    let new = |start: &str, end: &str| Builder::new("x", waking(), switch(), start, end, None).map(drop);
    assert!(matches!(new("nopid", "next_pid"), Err(SynthError::NoField { .. })));
    assert!(matches!(new("pid", "next_comm"), Err(SynthError::Types { what: "matched", .. })));
    assert!(matches!(new("pid", "prev_state"), Err(SynthError::Types { .. })));
    assert!(matches!(Builder::new("a-b", waking(), switch(), "pid", "next_pid", None), Err(SynthError::Name(_))));
    let mut b = Builder::new("x", waking(), switch(), "pid", "next_pid", None).unwrap();
    assert_eq!(b.plan(), Err(SynthError::NoFields));
    assert!(matches!(b.compare(TIMESTAMP, TIMESTAMP_USECS, Arithmetic::DeltaEnd, "d"), Err(SynthError::Timestamp)));
    assert!(matches!(b.compare(TIMESTAMP, "prev_pid", Arithmetic::DeltaEnd, "d"), Err(SynthError::Timestamp)));
    assert!(matches!(
        b.compare("comm", "next_comm", Arithmetic::Add, "d"),
        Err(SynthError::Types { what: "added", .. })
    ));
    assert!(matches!(b.start_field("bogus", None), Err(SynthError::NoField { .. })));
    b.start_field("prio", None).unwrap();
    assert!(matches!(b.end_field("next_prio", Some("prio")), Err(SynthError::Duplicate(_))));
    assert!(matches!(b.track(Tracking::Max, "prio", TrackAction::Trace), Err(SynthError::Tracked(_))));
    let mut sys =
        Builder::new("x", format("raw_syscalls", "sys_enter").unwrap(), switch(), "common_pid", "prev_pid", None)
            .unwrap();
    assert!(matches!(sys.start_field("args", None), Err(SynthError::Unsupported { .. })));
}

#[test]
fn handlers() {
    let mut b = Builder::new("lat", waking(), switch(), "pid", "next_pid", None).unwrap();
    b.compare(TIMESTAMP, TIMESTAMP, Arithmetic::DeltaEnd, "d").unwrap();
    b.track(Tracking::Max, "d", TrackAction::Save(vec!["next_comm".into(), "prev_pid".into()])).unwrap();
    b.track(Tracking::Max, "d", TrackAction::Trace).unwrap();
    b.track(Tracking::Max, "d", TrackAction::Snapshot).unwrap();
    let text = b.plan().unwrap().end.1.to_string();
    assert!(
        text.ends_with(
            ":onmax($__lat_d).save(next_comm,prev_pid):onmax($__lat_d).trace(lat,$__lat_d):onmax($__lat_d).snapshot()"
        ),
        "{text}"
    );
}

/// trace() takes no argument of one letter, and so no event of such a name; an action may be called so.
#[test]
fn names_of_one_letter() {
    let mut b = Builder::new("q", waking(), switch(), "pid", "next_pid", None).unwrap();
    b.compare(TIMESTAMP, TIMESTAMP, Arithmetic::DeltaEnd, "d").unwrap();
    let end = b.plan().unwrap().end.1;
    assert!(end.to_string().ends_with(":onmatch(sched.sched_waking).q($__q_d)"), "{end}");
    let text = end.to_string().replace(".q(", ".trace(q,");
    let (format, spec) = (switch(), HistSpec::parse(&text).unwrap());
    let around = CheckContext { event: &format, features: Features::ALL, neighbours: None, lookup: None };
    assert_eq!(spec.check(&around).unwrap_err()[0].kind, SpecErrorKind::ShortArgument("q".to_owned()));
}

#[test]
fn variables_tell_whose_they_are() {
    let def = SynthDef::parse("wk pid_t pid; u64 lat").unwrap();
    assert!(def.has_variable("__wk_pid") && def.has_variable("__wk_start_lat"));
    assert!(!def.has_variable("__wk_prio") && !def.has_variable("__wks_pid") && !def.has_variable("lat"));
}

fn chain(events: &[EventFormat]) -> EventChain {
    EventChain::new("l", Unit::Usecs, events.to_vec(), true).unwrap()
}

#[test]
fn a_chain_of_two_is_start_and_end() {
    let mut two = chain(&[waking(), switch()]);
    two.match_fields(&["pid", "next_pid"]).unwrap();
    two.split(1, "next_comm", None).unwrap().split(0, "prio", Some(KeyModifier::Hex)).unwrap();
    two.filter(0, "prio < 100").unwrap().size(Some(4096));
    let plan = two.plan(KeyModifier::Log2).unwrap();
    assert_eq!(
        plan.shell("T", Some("i")),
        [
            "echo 'l u64 usecs; char[16] next_comm; s32 prio' >> T/synthetic_events",
            "echo 'hist:keys=next_comm,prio.hex,usecs.log2:vals=usecs:sort=next_comm,usecs:size=4096' >> \
             T/instances/i/events/synthetic/l/trigger",
            "echo 'hist:keys=pid:__l_0_ts=common_timestamp.usecs,__l_0_prio=prio:size=4096 if prio < 100' >> \
             T/instances/i/events/sched/sched_waking/trigger",
            "echo 'hist:keys=next_pid:__l_1_usecs=common_timestamp.usecs-$__l_0_ts,__l_1_prio=$__l_0_prio,\
             __l_1_next_comm=next_comm:size=4096:onmatch(sched.sched_waking).\
             trace(l,$__l_1_usecs,$__l_1_next_comm,$__l_1_prio)' >> T/instances/i/events/sched/sched_switch/trigger",
            "echo 'hist:keys=common_cpu:__l_1_seen=common_cpu' >> T/instances/i/events/sched/sched_switch/trigger",
        ]
    );
    assert!(plan.legs.is_empty());
    for (_, spec) in plan.triggers() {
        assert_eq!(HistSpec::parse(&spec.to_string()).unwrap(), *spec);
    }
}

#[test]
fn legs_of_a_chain_are_handed_on() {
    let mut four = chain(&[waking(), switch(), switch(), waking()]);
    four.match_fields(&["pid", "next_pid", "prev_pid", "pid"]).unwrap();
    let plan = four.plan(KeyModifier::Buckets(10)).unwrap();
    assert_eq!(plan.definition.to_string(), "l u64 usecs; u64 leg1; u64 leg2; u64 leg3");
    let specs: Vec<String> = plan.stages.iter().map(|stage| stage.spec.to_string()).collect();
    assert_eq!(
        specs[2],
        "hist:keys=prev_pid:__l_2_ts=common_timestamp.usecs,__l_2_first=$__l_1_first,__l_2_leg1=$__l_1_leg1,\
         __l_2_leg2=common_timestamp.usecs-$__l_1_ts"
    );
    assert!(specs[1].contains("__l_1_first=$__l_0_ts,__l_1_leg1=common_timestamp.usecs-$__l_0_ts"), "{}", specs[1]);
    assert!(
        specs[3].contains("__l_3_usecs=common_timestamp.usecs-$__l_2_first,__l_3_leg1=$__l_2_leg1,"),
        "{}",
        specs[3]
    );
    assert!(
        specs[3].ends_with("onmatch(sched.sched_switch).trace(l,$__l_3_usecs,$__l_3_leg1,$__l_3_leg2,$__l_3_leg3)")
    );
    let legs: Vec<_> =
        plan.legs.iter().map(|leg| (leg.from.1.as_str(), leg.to.1.as_str(), leg.table.to_string())).collect();
    assert_eq!(legs[1], ("sched_switch", "sched_switch", "hist:keys=leg2.buckets=10:vals=leg2:sort=leg2".to_owned()));
    assert_eq!((legs.len(), plan.times().collect::<Vec<_>>()), (3, vec!["usecs", "leg1", "leg2", "leg3"]));
}

#[test]
fn what_a_chain_cannot_hold() {
    let events = [waking(), switch(), waking()];
    let mut chain = chain(&events);
    assert!(matches!(chain.match_fields(&["pid", "nextpid", "pid"]), Err(SynthError::NoField { .. })));
    assert!(matches!(chain.match_fields(&["pid", "next_comm", "pid"]), Err(SynthError::Types { .. })));
    assert!(chain.match_fields(&["common_cpu", "cpu", "target_cpu"]).is_ok(), "a CPU is a CPU, and has 32 bits");
    assert!(matches!(chain.match_fields(&["common_cpu", "next_comm", "pid"]), Err(SynthError::Types { .. })));
    assert_eq!(chain.split(0, "comm", None).unwrap_err(), SynthError::NotKept("comm".to_owned()));
    assert_eq!(chain.split(0, "STACKTRACE", None).unwrap_err(), SynthError::NotKept("STACKTRACE".to_owned()));
    chain.split(2, "STACKTRACE", None).unwrap().split(0, "common_cpu", None).unwrap();
    assert!(matches!(chain.split(2, "stacktrace", None), Err(SynthError::Duplicate(_))));
    chain.split(2, "prio", None).unwrap();
    assert_eq!(chain.plan(KeyModifier::Log2), Err(SynthError::TooManySplits("prio".to_owned())));
    let old = EventChain::new("l", Unit::Ns, events.to_vec(), false).unwrap().split(2, "STACKTRACE", None).map(drop);
    assert_eq!(old, Err(SynthError::StackUnsupported));
    for _ in 0..2 {
        chain.match_fields(&["pid", "next_pid", "pid"]).unwrap();
    }
    assert!(matches!(chain.match_fields(&["pid", "next_pid", "pid"]), Err(SynthError::TooManyMatches(_))));
}

#[test]
fn the_cpu_is_a_field_to_match() {
    let mut b = Builder::new("x", waking(), switch(), "pid", "next_pid", None).unwrap();
    b.match_fields("target_cpu", "common_cpu", Some("cpu")).unwrap();
    let plan = b.plan().unwrap();
    assert_eq!(plan.definition.to_string(), "x u32 cpu");
    assert!(plan.end.1.to_string().starts_with("hist:keys=next_pid,common_cpu:__x_cpu=common_cpu:"), "{}", plan.end.1);
    assert!(matches!(b.match_fields("comm", "cpu", None), Err(SynthError::Types { .. })));
}

fn lowered(text: &str) -> Result<String, String> {
    lower(text, None, &find).map_err(|e| format!("{e} {:?}", e.hints())).map(|l| match l {
        Lowered::Hist((system, event), spec) => format!("{system}.{event} {spec}"),
        Lowered::Rows(_) => "rows".to_owned(),
        Lowered::Synth(builder) => builder.plan().unwrap().shell("", None).join("\n"),
    })
}

#[test]
fn sql_without_join_is_a_histogram() {
    for (sql, hist) in [
        ("select pid, prio from sched_waking", "sched.sched_waking hist:keys=pid,prio"),
        (
            "SELECT CAST(call_site AS SYM-OFFSET), CAST(bytes_req as _COUNTER_) FROM kmem.kmalloc AS k WHERE k.bytes_req > 0x10 && (k.bytes_alloc = 1 || bytes_alloc = 2)",
            "kmem.kmalloc hist:keys=call_site.sym-offset:vals=bytes_req if bytes_req > 0x10 && (bytes_alloc == 1 || bytes_alloc == 2)",
        ),
        (
            "select cast(id as syscall), cast(common_pid as comm) from sys_enter where !(id = 1), id != 2",
            "raw_syscalls.sys_enter hist:keys=id.syscall,common_pid.execname if !(id == 1) && id != 2",
        ),
        (
            "select cast(bytes_req as log2) from kmalloc where bytes_req & 3 || bytes_req < 9",
            "kmem.kmalloc hist:keys=bytes_req.log2 if (bytes_req & 3 || bytes_req < 9)",
        ),
        (
            "select next_comm from sched_switch where next_comm ~ \"k*\"",
            "sched.sched_switch hist:keys=next_comm if next_comm ~ \"k*\"",
        ),
    ] {
        assert_eq!(lowered(sql).as_deref(), Ok(hist), "{sql}");
    }
}

#[test]
fn groups_order_and_counts_are_keys_sort_and_sums() {
    for (sql, hist) in [
        (
            "select next_comm, count(*) as n from sched_switch group by next_comm order by n desc",
            "sched.sched_switch hist:keys=next_comm:sort=hitcount.descending",
        ),
        ("select count(*), sum(bytes_req) from kmalloc where bytes_req > 1 group by call_site order by sum desc", ""),
        (
            "SELECT sum(bytes_req) AS total FROM kmalloc k GROUP BY k.call_site ORDER BY total DESC, COUNT(*)",
            "kmem.kmalloc hist:keys=call_site:vals=bytes_req:sort=bytes_req.descending,hitcount",
        ),
        ("select pid from sched_waking order by pid asc", "sched.sched_waking hist:keys=pid:sort=pid"),
        (
            "select cast(bytes_req as log2) as size from kmalloc group by size order by size",
            "kmem.kmalloc hist:keys=bytes_req.log2:sort=bytes_req",
        ),
    ] {
        match hist {
            "" => assert!(lowered(sql).unwrap_err().contains("cannot sort by `sum`, which is not selected"), "{sql}"),
            hist => assert_eq!(lowered(sql).as_deref(), Ok(hist), "{sql}"),
        }
    }
    for (sql, message) in [
        ("select pid, prio from sched_waking group by pid", "`prio` is selected, but not grouped by"),
        ("select pid from sched_waking group by pif", "has no field `pif`"),
        ("select pid from sched_waking order by prio", "cannot sort by `prio`"),
        ("select pid from sched_waking limit 10", "the kernel keeps all entries of a table"),
        ("select avg(prio) from sched_waking", "the kernel has no avg() of values"),
        ("select pid, sum(prio + 1) from sched_waking", "the kernel has sums of fields alone"),
        ("select pid, percentile(prio, 99.9) from sched_waking", "`rtrace synth sql -i FILE` can answer it"),
        ("select pid, percentile(prio, 100.1) from sched_waking", "expected a percentage from 0 to 100"),
        ("select pid, percentile(prio, 99.12345) from sched_waking", "expected a percentage from 0 to 100"),
        ("select pid from sched_waking order by max(prio)", "the kernel sorts by fields and by count(*)"),
        ("select median(prio) from sched_waking", "functions are count, sum, min, max, avg and percentile"),
        ("select count(*) from sched_waking", "at least one selected field must be a key"),
        ("select count(pid) from sched_waking", "the kernel has no count() of values"),
        (
            "select s.pid from sched_waking s join sched_switch e on s.pid = e.next_pid group by pid",
            "no groups and no order",
        ),
        ("select count(*) from sched_waking s join sched_switch e on s.pid = e.next_pid", "counts nothing"),
    ] {
        let error = lowered(sql).expect_err(sql);
        assert!(error.contains(message) && error.contains("\n  sql: "), "{sql}: {error}");
    }
    // The words are no keywords: fields are called so.
    let query = "SELECT order AS by, count AS group FROM limit AS sum GROUP BY order ORDER BY desc DESC";
    assert_eq!(SqlQuery::parse(query).unwrap().to_string(), query);
}

#[test]
fn sql_with_join_is_a_synthetic_event() {
    let sql = "select start.pid, end.next_comm as comm, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) as lat \
               from sched_waking as start join sched_switch as end on start.pid = end.next_pid \
               where start.prio < 100, (end.prev_prio >= 100 || end.prev_prio = 7)";
    let text = lowered(sql).unwrap();
    assert_eq!(
        text,
        "echo 'Anonymous pid_t pid; char[16] comm; u64 lat' >> /synthetic_events\n\
         echo 'hist:keys=pid:__Anonymous_start_lat=common_timestamp.usecs if prio < 100' >> /events/sched/sched_waking/trigger\n\
         echo 'hist:keys=next_pid:__Anonymous_pid=next_pid,__Anonymous_comm=next_comm,\
         __Anonymous_lat=common_timestamp.usecs-$__Anonymous_start_lat:onmatch(sched.sched_waking).\
         trace(Anonymous,$__Anonymous_pid,$__Anonymous_comm,$__Anonymous_lat) \
         if prev_prio >= 100 || prev_prio == 7' >> /events/sched/sched_switch/trigger"
    );
    let delta =
        lowered("select TIMESTAMP_DELTA_USECS as lat from sched_waking join sched_switch on next_pid == pid").unwrap();
    assert!(delta.contains("Anonymous u64 lat'") && delta.contains("keys=pid:") && delta.contains("keys=next_pid:"));
    let sum = "select start.prio + end.next_prio as both, start.prio - end.prev_prio as less from sched_waking as start join sched_switch as end on start.pid = end.next_pid";
    let sum = lowered(sum).unwrap();
    assert!(sum.contains("__Anonymous_both=next_prio+$__Anonymous_start_both"), "{sum}");
    assert!(sum.contains("__Anonymous_less=$__Anonymous_start_less-prev_prio"), "{sum}");
}

#[test]
fn sql_errors_have_carets() {
    for (sql, message) in [
        ("select", "expected a field"),
        ("selekt pid from x", "expected SELECT"),
        ("select pid sched_waking x", "expected FROM"),
        ("select pid from nothing", "no event `nothing`"),
        ("select pif from sched_waking", "has no field `pif`"),
        ("select pid from sched_waking where pid = 1 and prio = 2", "expected the end of the statement"),
        ("select pid from sched_waking where pid = -1", "expected a number"),
        ("select pid from sched_waking where pid ~ 5", "expected a text"),
        ("select pid from sched_waking where comm = 'x'", "unexpected character"),
        ("select pid from sched:sched_waking", "unexpected character"),
        ("select pid from sched_waking where comm = \"x", "missing closing quote"),
        ("select pid from sched_waking where comm = \"x\ny\"", "missing closing quote"),
        ("select pid from sched_waking where comm = \"x\0y\"", "missing closing quote"),
        ("select pid from sched_waking where pid = 10ab", "not an integer"),
        ("select cast(comm as hex) from sched_waking", "`comm` is text"),
        ("select cast(pid as execname) from sched_waking", "only common_pid"),
        ("select cast(pid as hax) from sched_waking", "unknown type `hax`"),
        ("select cast(pid as _COUNTER_) from sched_waking", "at least one selected field must be a key"),
        ("select pid - prio as x from sched_waking", "adds and subtracts two fields"),
        ("select pid from sched_waking join sched_switch on pid = prio", "one field of each event"),
        ("select common_pid from sched_waking join sched_switch on pid = next_pid", "both events have `common_pid`"),
        ("select bogus from sched_waking join sched_switch on pid = next_pid", "neither event has `bogus`"),
        (
            "select s.TIMESTAMP - e.TIMESTAMP from sched_waking s join sched_switch e on s.pid = e.next_pid",
            "needs a name",
        ),
        ("select pid from sched_waking s join sched_switch e on s.pid = e.next_comm", "cannot be matched"),
        (
            "select pid from sched_waking join sched_switch on pid = next_pid where (prio = 1 || next_prio = 2)",
            "mixes fields",
        ),
        ("select cast(pid as hex) from sched_waking join sched_switch on pid = next_pid", "casts no field"),
        ("select \\", "a name must follow"),
    ] {
        let error = lowered(sql).expect_err(sql);
        assert!(error.contains(message) && error.contains("\n  sql: "), "{sql}: {error}");
    }
    let error = SqlQuery::parse("select pid from").unwrap_err();
    assert_eq!(error.to_string(), "expected an event\n  sql: select pid from\n                      ^");
    let deep = format!("select pid from x where {}pid = 1", "!".repeat(1000));
    assert!(SqlQuery::parse(&deep).unwrap_err().to_string().starts_with("too many levels"));
    assert!(SqlQuery::parse("select \\from from x").is_ok());
}

proptest! {
    #[test]
    fn any_statement_ends_in_an_answer(sql in "(select )?(pid|start\\.pid|from|FROM|join|on|where|as|cast|\\(|\\)|=|&&|,|[0-9a-z\".!|~\\\\ -]|\\PC| ){0,30}") {
        if let Err(error) = lower(&sql, None, &find) {
            let _ = error.to_string();
        }
    }

    #[test]
    fn any_definition_ends_in_an_answer(text in "(s:)?[a-z0-9_]{0,5}[ \t](u64|char|\\[|\\]|;|[a-z0-9 ]|\\PC){0,20}") {
        if let Ok(def) = SynthDef::parse(&text) {
            prop_assert_eq!(SynthDef::parse(&def.to_string()), Ok(def));
        }
    }
}
