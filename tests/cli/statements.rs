//! `synth sql -i` with functions, groups, an order or a limit.

use crate::common::account::{agree, has_python};
use crate::common::corpus::is_small;
use crate::common::environment::TestEnvironment;
use crate::common::synthetic::{Synthetic, fork_storm};
use crate::common::trace_files::trace_files;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use serde_json::Value;
use std::path::PathBuf;

/// Random statements about the events that each recording has, losses among them.
#[test]
fn rows_are_those_of_the_definitions() {
    let env = TestEnvironment::new();
    if !has_python(&env) {
        return;
    }
    let files = trace_files();
    let of_file = |path: &&PathBuf| {
        let file = path.to_string_lossy();
        // Of those that are damaged there is nothing to compare.
        let whole = env.rtrace(&["report", "--count", &file]).status() == Some(0);
        whole && agree(&env, "sql", &file, &[]).is_some_and(|events| events > 0)
    };
    // One of the last tests, which would leave a core idle for half a minute.
    let of_half = |first: usize| {
        let small = |path: &&PathBuf| is_small(path, 1 << 17);
        files.iter().skip(first).step_by(2).filter(small).filter(of_file).count()
    };
    let compared = std::thread::scope(|scope| {
        let other = scope.spawn(|| of_half(1));
        of_half(0) + other.join().expect("the other half")
    });
    assert!(compared >= 5, "{compared}");
}

fn sql<'w>(words: &[&'w str], statement: &'w str) -> Vec<&'w str> {
    [&["synth", "sql", "-i", "trace.dat"], words, &[statement]].concat()
}

#[test]
fn rows_are_the_same_on_any_number_of_threads() {
    let env = TestEnvironment::new();
    fork_storm(6, 30_000, 300, 11).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let _ = agree(&env, "sql", "trace.dat", &[]);
    let statements = [
        "select next_comm, count(*), sum(next_pid * 3), avg(next_pid), percentile(TIMESTAMP, 99.9) from sched_switch \
         group by next_comm order by sum(next_pid) desc limit 9",
        "select e.next_comm as comm, max(TIMESTAMP_DELTA) from sched_switch s join sched_switch e \
         on s.prev_pid = e.next_pid group by comm",
        "select e.next_pid, TIMESTAMP_DELTA as lat from sched_switch s join sched_switch e on s.prev_pid = e.next_pid \
         order by lat desc limit 30",
    ];
    for statement in statements {
        for layout in [&[][..], &["--json"], &["--csv"]] {
            let answer = |threads: &str| {
                env.rtrace(&sql(&[layout, &["--threads", threads]].concat(), statement)).exits(0).stdout()
            };
            let expected = answer("1");
            assert!(expected.lines().count() > 8, "{expected}");
            for threads in ["2", "3", "8"] {
                assert_eq!(answer(threads), expected, "{statement}: {layout:?}: {threads} threads");
            }
        }
    }
}

/// Two tasks that wait, one with a number that floating point numbers do not hold.
fn small(env: &TestEnvironment) {
    let mut made = Synthetic::new(1, "7 worker\n8 worker\n");
    for (number, (pid, state)) in [(7i32, i64::MAX), (8, i64::MAX - 2), (7, -3), (7, 5)].into_iter().enumerate() {
        let fields: [(&str, &[u8]); 3] =
            [("prev_pid", &pid.to_le_bytes()), ("prev_state", &state.to_le_bytes()), ("next_comm", b"a,\"b\"")];
        made.event(0, 1_000_000 + 1_000 * number as u64, "sched_switch", pid, &fields);
    }
    made.write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
}

#[test]
fn sums_are_exact_and_no_value_is_null() {
    let env = TestEnvironment::new();
    small(&env);
    let json = |statement: &str| -> Value {
        let stdout = env.rtrace(&sql(&["--json"], statement)).exits(0).stdout();
        serde_json::from_str(&stdout).expect("JSON")
    };
    let sums =
        json("select prev_pid, sum(prev_state) as s, avg(prev_state) as a, min(prev_state) as m from sched_switch");
    assert_eq!(
        sums["rows"],
        serde_json::json!([
            {"prev_pid": 7, "s": "9223372036854775809", "a": "3074457345618258603", "m": -3},
            {"prev_pid": 8, "s": "9223372036854775805", "a": "9223372036854775805", "m": "9223372036854775805"},
        ])
    );
    // Neither a division by 0 nor what has no 64 bits is a value; functions pass over it.
    let null = json(
        "select count(*) as n, count(prev_pid / next_pid) as q, max(prev_pid / next_pid) as m, \
         count(prev_state * prev_state) as c from sched_switch",
    );
    assert_eq!(null["rows"], serde_json::json!([{"n": 4, "q": 0, "m": null, "c": 2}]));
    assert_eq!((&null["undefined"], &null["of"]), (&serde_json::json!(6), &serde_json::json!(4)));
    let text = "select max(prev_pid / next_pid) as m from sched_switch where prev_pid = 7";
    let outcome = env.rtrace(&sql(&[], text));
    outcome
        .exits(0)
        .prints("   m\nNULL\nsched:sched_switch: 3 events\n")
        .complains_with("3 calculations have no result");
    let csv =
        "select next_comm, percentile(prev_pid, 50) as p, max(1 / next_pid) as m from sched_switch group by next_comm";
    env.rtrace(&sql(&["--csv"], csv)).exits(0).prints("next_comm,p,m\r\n\"a,\"\"b\"\"\",7,\r\n");
    // Of no events functions have a value, and groups there are none.
    let none = "from sched_switch where prev_pid > 100";
    let counted = json(&format!("select count(*) as n, sum(prev_pid) as s {none}"));
    assert_eq!(counted["rows"], serde_json::json!([{"n": 0, "s": null}]));
    assert_eq!(
        json(&format!("select prev_pid, max(prev_prio) {none} group by prev_pid"))["rows"],
        serde_json::json!([])
    );
    // A start that another one takes the place of, and one that nothing follows.
    let pairs = json(
        "select count(*) as n, max(TIMESTAMP_DELTA) as t from sched_switch s join sched_switch e on s.prev_pid = e.prev_prio",
    );
    assert_eq!(pairs["rows"], serde_json::json!([{"n": 0, "t": null}]));
    assert_eq!((&pairs["stages"][0]["unfollowed"], &pairs["stages"][1]["unmatched"]), (&4.into(), &4.into()));
    // As ever without functions: keys, and how many events each has.
    let plain = "select prev_pid from sched_switch order by count(*) desc limit 1";
    env.rtrace(&sql(&[], plain))
        .exits(0)
        .prints("prev_pid  count(*)\n       7         3\n1 of 2 rows\nsched:sched_switch: 4 events\n");
}

#[test]
fn a_kernel_has_no_rows() {
    let env = TestEnvironment::new();
    small(&env);
    for (statement, complaint) in [
        ("select max(prev_pid) from sched_switch", "has no max() of values"),
        ("select prev_pid from sched_switch limit 5", "keeps all entries"),
        ("select prev_pid, sum(prev_pid * 2) from sched_switch", "has sums of fields alone"),
    ] {
        // On any kernel: none has it.
        let outcome = env.rtrace(&["synth", "sql", "--tracefs", "/nowhere", statement]);
        outcome.exits(2).complains_with(complaint).complains_with("`rtrace synth sql -i FILE`");
    }
    for (statement, complaint) in [
        ("select prev_pid, max(prev_prio) from sched_switch group by next_pid", "selected, but not grouped by"),
        ("select max(next_comm) from sched_switch", "max() is of numbers"),
        ("select next_comm + 1 from sched_switch", "which cannot be cast or calculated with"),
        ("select max(prev_pid) as a, min(prev_pid) as a from sched_switch", "two columns are called `a`"),
        ("select max(prevpid) from sched_switch", "did you mean `prev_pid`?"),
        ("select percentile(prev_pid, 101) from sched_switch", "a percentage from 0 to 100"),
    ] {
        env.rtrace(&sql(&[], statement)).exits(2).prints("").complains_with(complaint);
    }
    let file = ["-o", "made.dat"];
    env.rtrace(&sql(&file, "select max(prev_pid) from sched_switch")).exits(2).complains_with("a statement with JOIN");
}
