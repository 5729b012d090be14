//! The examples of the kernel's documentation are spoken. `tests/kernel` writes them to real kernels.

use crate::common::examples::{Example, examples};
use crate::common::not_run::not_run;
use rtrace::filter::Filter;
use rtrace::trigger::{FunctionTrigger, Trigger};
use std::path::Path;

#[test]
fn each_parses_to_what_is_printed() {
    for Example { kind, text, .. } in examples() {
        match kind {
            "filter" if text == "0" => {}
            "filter" | "refused" => {
                let filter = Filter::parse(text).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(Filter::parse(&filter.to_string()).unwrap(), filter);
            }
            "trigger" | "remove" => {
                let trigger: Trigger = text.parse().unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(trigger.to_string().parse(), Ok(trigger));
            }
            "function" | "function-remove" => {
                let trigger: FunctionTrigger = text.parse().unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(trigger.to_string().parse(), Ok(trigger));
            }
            "pids" => assert!(text == "$$" || text.split(' ').all(|pid| pid.parse::<u32>().is_ok())),
            kind => panic!("{kind}"),
        }
    }
}

/// The documents, if available: every write that they show to `filter`, `trigger`, `set_event_pid` and, with a command,
/// to `set_ftrace_filter` is a row of the table.
#[test]
fn none_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/seeds");
    let Ok(files) = std::fs::read_dir(&folder) else {
        not_run(format!("no documents in {}", folder.display()));
        return;
    };
    let continued = regex::Regex::new(r"\\\n\s*").unwrap();
    let echo =
        regex::Regex::new(r#"echo\s+(?:'([^'\n]*)'|"([^"\n]*)"|‘([^’\n]*)’|([^>'"‘\n]+?))\s*>>?\s*(\S+)"#).unwrap();
    let table = examples();
    let mut found = 0;
    for file in files {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let text = continued.replace_all(&String::from_utf8_lossy(&bytes), "").into_owned();
        for write in echo.captures_iter(&text) {
            let (what, path) = (write.iter().skip(1).take(4).flatten().next().unwrap().as_str(), &write[5]);
            let mut names = path.rsplit('/');
            let knob = names.next().unwrap();
            let event = names.take(2).collect::<Vec<_>>();
            let bare = what.trim().trim_start_matches('!');
            let wanted = match knob {
                "filter" | "set_event_pid" => true,
                "trigger" => !what.contains('[') && what != "xxx",
                "set_ftrace_filter" => bare.contains(':') && !bare.contains(":mod:"),
                _ => false,
            };
            if wanted {
                found += 1;
                let same = |row: &Example| {
                    row.text == bare
                        && (row.event == "-" || knob != "trigger" || row.event.rsplit('/').eq(event.iter().copied()))
                };
                assert!(table.iter().any(same), "{what} > {path} is not in the table");
            }
        }
    }
    assert!(found > 60, "only {found} examples were found in {}", folder.display());
}
