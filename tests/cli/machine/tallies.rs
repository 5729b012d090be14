//! The numbers are those of the events.

use super::files::{events, json, recordings, report};
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn counts_and_summaries() {
    for file in recordings() {
        let lines = json(&file, &[]);
        let all = events(&lines);
        let by = |key: &str| {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for event in &all {
                *counts.entry(event[key].to_string().trim_matches('"').to_owned()).or_default() += 1;
            }
            counts
        };
        let count: Value = serde_json::from_str(&report(&file, &["--count", "--json"])).unwrap();
        assert_eq!(count["total"], all.len() as u64, "{}", file.display());
        let counted: BTreeMap<String, u64> =
            count["events"].as_object().unwrap().iter().map(|(k, v)| (k.clone(), v.as_u64().unwrap())).collect();
        assert_eq!(counted, by("event"), "{}", file.display());
        let text = report(&file, &["--count"]);
        for (name, n) in &counted {
            assert!(text.lines().any(|l| l.split_whitespace().eq([n.to_string().as_str(), name])), "{name} in {text}");
        }

        let summary: Value =
            serde_json::from_str(&report(&file, &["--summary", "--json", "--top-tasks", "100000"])).unwrap();
        let numbers = |list: &str, key: &str, value: &str| {
            let mut found: BTreeMap<String, u64> = BTreeMap::new();
            for item in summary[list].as_array().unwrap() {
                *found.entry(item[key].to_string().trim_matches('"').to_owned()).or_default() +=
                    item[value].as_u64().unwrap();
            }
            found
        };
        assert_eq!(numbers("events", "event", "count"), by("event"), "{}", file.display());
        assert_eq!(numbers("cpus", "cpu", "events"), by("cpu"), "{}", file.display());
        assert_eq!(numbers("tasks", "pid", "events"), by("pid"), "{}", file.display());
        let lost =
            |key: &str| lines.iter().filter(|l| l["type"] == "lost").filter_map(|l| l[key].as_u64()).sum::<u64>();
        assert_eq!(numbers("cpus", "cpu", "lost").values().sum::<u64>(), lost("count"), "{}", file.display());
        let first = summary["cpus"].as_array().unwrap().iter().map(|c| c["first"].as_u64()).min().unwrap();
        assert_eq!(first, all[0]["ts"].as_u64());
        let tasks: Vec<u64> =
            summary["tasks"].as_array().unwrap().iter().map(|t| t["events"].as_u64().unwrap()).collect();
        assert!(tasks.is_sorted_by(|a, b| a >= b), "the busiest first");
        let text = report(&file, &["--summary", "--top-tasks", "1"]);
        assert!(text.contains("TASK") && text.contains("PER SECOND"), "{text}");
        if tasks.len() > 1 {
            assert!(text.contains(&format!("{} more tasks", tasks.len() - 1)), "{text}");
        }
    }
}
