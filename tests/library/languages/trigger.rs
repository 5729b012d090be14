//! The trigger language offline: what kernels showed and refused, printing and parsing.

use super::captured::{format, writes};
use proptest::prelude::*;
use rtrace::trigger::{FunctionTrigger, Trigger};

#[test]
fn the_kernels_verdicts_are_ours() {
    // The kernel takes any trailing `key=..`s and unknown clocks; what stands here depends on the running system.
    let events = ["no:such"];
    let mut seen = 0;
    for kernel in ["6.1", "6.12"] {
        for write in writes(kernel) {
            let text = write.data.as_str();
            match write.file.as_str() {
                "events/sched/sched_switch/trigger" if !text.contains("hist") => {
                    seen += 1;
                    let verdict = text.parse::<Trigger>();
                    let known = verdict.as_ref().is_ok_and(|t| {
                        t.action.target().is_none_or(|target| !events.contains(&target.to_string().as_str()))
                    });
                    assert_eq!(known, write.accepted, "{kernel}: {text} {verdict:?}");
                }
                "set_ftrace_filter" if text.contains(':') => {
                    seen += 1;
                    assert_eq!(text.parse::<FunctionTrigger>().is_ok(), write.accepted, "{kernel}: {text}");
                }
                _ => {}
            }
        }
    }
    assert!(seen >= 14, "{seen}");
}

#[test]
fn what_the_kernel_shows_is_what_was_meant() {
    let text = std::fs::read_to_string(super::captured::data("echoes-6.12.txt")).unwrap();
    assert_eq!(crate::common::echoes::compare(&text), [9, 11, 8]);
}

/// The triggers of Documentation/trace/events.rst and ftrace.rst.
#[test]
fn the_documentations_examples() {
    let kmalloc = format("kmem", "kmalloc");
    let events = ["kmem:kmalloc".to_owned(), "sched:sched_switch".to_owned()];
    for (text, removal) in [
        ("enable_event:kmem:kmalloc:1", "!enable_event:kmem:kmalloc"),
        ("disable_event:kmem:kmalloc", "!disable_event:kmem:kmalloc"),
        ("stacktrace", "!stacktrace"),
        ("stacktrace:5", "!stacktrace"),
        ("stacktrace:5 if bytes_req >= 65536", "!stacktrace"),
        ("snapshot if bytes_req > 1", "!snapshot"),
        ("snapshot:1 if bytes_req > 1", "!snapshot"),
        ("traceoff:1 if bytes_req > 1", "!traceoff"),
        ("traceoff if bytes_req > 1", "!traceoff"),
        ("enable_hist:sched:sched_switch:2", "!enable_hist:sched:sched_switch"),
    ] {
        let trigger: Trigger = text.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((trigger.to_string().as_str(), trigger.removal().as_str()), (text, removal));
        assert_eq!(trigger.check(text, &kmalloc, &events).unwrap(), []);
    }
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(
        action in prop::sample::select(vec![
            "traceon", "traceoff", "snapshot", "stacktrace", "enable_event:a:b_1", "disable_event:sched:x",
            "enable_hist:a:b", "disable_hist:a:b",
        ]),
        count in prop_oneof![Just(String::new()), Just(":unlimited".to_owned()), any::<u64>().prop_map(|n| format!(":{n}")), any::<u32>().prop_map(|n| format!(":count={n}"))],
        filter in prop_oneof![Just(String::new()), "[a-e]{1,5} == [1-9][0-9]{0,2}".prop_map(|f| format!(" if {f}")), Just("\tif  comm ~ \"a if b\" ".to_owned())],
    ) {
        let text = format!("{action}{count}{filter}");
        let trigger: Trigger = text.parse().map_err(|e: rtrace::syntax::Diagnostic| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(trigger.to_string().parse(), Ok(trigger));
    }

    #[test]
    fn no_text_is_a_panic(text in "[a-z_0-9 :!if=é\"]{0,40}") {
        let _ = text.parse::<Trigger>();
        let _ = text.parse::<FunctionTrigger>();
    }
}
