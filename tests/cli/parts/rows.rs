//! Rows of `analyze sched --timehist`, and of profiles.

use super::answers::Compared;
use super::making::PartKind;
use crate::common::environment::TestEnvironment;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

fn answer(env: &TestEnvironment, words: &[&str]) -> Value {
    serde_json::from_str(&env.rtrace(words).stdout()).unwrap_or_default()
}

/// Each stay of a task on a CPU is one of the whole's in the same time, and so are its times, if they are known.
pub(super) fn compare_stays(
    env: &TestEnvironment,
    whole: &Path,
    part: &Path,
    (kind, window): (PartKind, &[String; 2]),
) -> Compared {
    let rows = |file: &Path| {
        let [since, until] = window.each_ref().map(String::as_str);
        let file = file.to_string_lossy();
        let found =
            answer(env, &["analyze", "sched", "--timehist", "--json", "--since", since, "--until", until, &file]);
        let mut all = HashMap::new();
        for buffer in found["buffers"].as_array().into_iter().flatten() {
            for row in buffer["rows"].as_array().into_iter().flatten() {
                let key = format!("{} {} {} {}", buffer["buffer"], row["time"], row["cpu"], row["tid"]);
                all.insert(key, row.clone());
            }
        }
        all
    };
    let (ours, theirs) = (rows(part), rows(whole));
    let mut compared = Compared::default();
    for (key, row) in &ours {
        let Some(other) = theirs.get(key) else {
            compared.wrong.push(format!("{}: timehist has no {row}", whole.display()));
            continue;
        };
        for name in ["wait", "delay", "run", "preempted"] {
            match (&row[name], &other[name]) {
                (Value::Null, Value::Null) => {}
                (Value::Null, _) => compared.unknown += 1,
                (one, other) if one == other => compared.equal += 1,
                (one, other) => {
                    compared.wrong.push(format!("{} {kind:?}: {name} of {key} is {other}, not {one}", whole.display()));
                }
            }
        }
    }
    compared
}

/// Each stay of a known task in a map lies within stays of that task, on that CPU, in the whole's map.
pub(super) fn compare_maps(
    env: &TestEnvironment,
    whole: &Path,
    part: &Path,
    (kind, window): (PartKind, &[String; 2]),
) -> Compared {
    let rows = |file: &Path| {
        let [since, until] = window.each_ref().map(String::as_str);
        let file = file.to_string_lossy();
        let words = ["analyze", "map", "--json", "--top", "0", "--since", since, "--until", until, &file];
        let found = answer(env, &words);
        let mut all: HashMap<String, Vec<(u64, u64, Value)>> = HashMap::new();
        for buffer in found["buffers"].as_array().into_iter().flatten() {
            for row in buffer["stays"].as_array().into_iter().flatten() {
                let (at, time) = (row["at"].as_u64().expect("a time"), row["time"].as_u64().expect("a time"));
                let stay = (at, at + time, row["pid"].clone());
                all.entry(format!("{} CPU {}", buffer["buffer"], row["cpu"])).or_default().push(stay);
            }
        }
        all
    };
    let (ours, theirs) = (rows(part), rows(whole));
    let mut compared = Compared::default();
    for (place, stays) in &ours {
        let others = theirs.get(place).map_or(&[][..], Vec::as_slice);
        for (begin, end, pid) in stays {
            let within: Vec<_> = others.iter().filter(|(from, to, _)| from < end && to > begin).collect();
            let known = within.iter().any(|(.., other)| !other.is_null());
            match (pid.is_null(), within.iter().all(|(.., other)| other == pid)) {
                (true, _) => compared.unknown += u64::from(known),
                (false, true) if !within.is_empty() => compared.equal += 1,
                (false, _) => compared.wrong.push(format!(
                    "{} {kind:?}: {place} ran {pid} from {begin} to {end}, and not {within:?}",
                    whole.display()
                )),
            }
        }
    }
    compared
}

/// What a profile counts and times is no more than in the whole.
pub(super) fn compare_profiles(env: &TestEnvironment, whole: &Path, part: &Path, kind: PartKind) -> Compared {
    let rows = |file: &Path| {
        let found = answer(env, &["profile", &file.to_string_lossy(), "--json"]);
        let mut all = HashMap::new();
        for buffer in found["buffers"].as_array().into_iter().flatten() {
            for task in buffer["tasks"].as_array().into_iter().flatten() {
                for event in task["events"].as_array().into_iter().flatten() {
                    let key = format!(
                        "{} {} {} {} {} {}",
                        buffer["buffer"], task["kind"], task["pid"], task["cpu"], event["event"], event["value"]
                    );
                    all.insert(key, event["times"].clone());
                }
            }
        }
        all
    };
    let (ours, theirs) = (rows(part), rows(whole));
    let mut compared = Compared::default();
    compared.unknown += theirs.keys().filter(|key| !ours.contains_key(*key)).count() as u64;
    for (key, times) in &ours {
        let other = theirs.get(key).unwrap_or(&Value::Null);
        for name in ["count", "total", "max"] {
            match (times[name].as_u64(), other[name].as_u64().unwrap_or(0)) {
                (None, _) if times[name].is_null() => compared.unknown += 1,
                (Some(one), other) if one == other => compared.equal += 1,
                (Some(one), other) if one < other => compared.at_least += 1,
                (one, other) => compared
                    .wrong
                    .push(format!("{} {kind:?}: profile: {name} of {key} is {other}, not {one:?}", whole.display())),
            }
        }
    }
    compared
}
