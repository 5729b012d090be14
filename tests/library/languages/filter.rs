//! The kernel's filter language offline: refusals, the documentation's examples, printing and parsing.

use super::captured::{format, writes};
use proptest::prelude::*;
use rtrace::abi::{Abi, Endian};
use rtrace::filter::{CompareOp, CpuList, Filter, ReportFilter, ReportFilters, Sign, Subject};
use rtrace::format::EventFormat;
use rtrace::syntax::Diagnostic;
use rtrace::units::CpuId;

const LE: Abi = Abi { endian: Endian::Little, long_size: 8 };

fn check(text: &str, format: &EventFormat) -> Result<(Filter, Vec<Diagnostic>), Diagnostic> {
    let filter = Filter::parse(text)?;
    let warnings = filter.check(format)?;
    Ok((filter, warnings))
}

/// Our verdict on every filter that was written to a 6.1 and a 6.12 kernel.
#[test]
fn the_kernels_verdicts_are_ours() {
    // Accepted by us on purpose: a bare word is printed with quotes; and what depends on the kernel's symbols.
    let ours = ["prev_comm == ls", "call_site.function == nosuchfunc"];
    for kernel in ["6.1", "6.12"] {
        let mut seen = 0;
        for write in writes(kernel) {
            let parts: Vec<&str> = write.file.split('/').collect();
            let ["events", system, event, "filter"] = parts[..] else { continue };
            if event == "print" {
                continue; // it has no filter at all
            }
            seen += 1;
            let verdict = check(&write.data, &format(system, event));
            // `.function` came with 6.3
            let newer = kernel == "6.1" && write.data.contains(".function");
            if ours.contains(&write.data.as_str()) || newer {
                assert!(verdict.is_ok() && !write.accepted, "{write:?} {verdict:?}");
                continue;
            }
            assert_eq!(verdict.is_ok(), write.accepted, "{kernel}: {} {verdict:?}\n{}", write.data, write.log);
            if let Ok((filter, _)) = verdict {
                assert_eq!(Filter::parse(&filter.to_string()).unwrap(), filter);
            }
        }
        assert!(seen >= 20, "{seen}");
    }
}

#[test]
fn errors_point_at_their_place() {
    let format = format("sched", "sched_switch");
    for (text, place, message) in [
        ("nextpid == 1", "nextpid", "field `nextpid` not found in sched:sched_switch"),
        ("prev_pid = 1", "=", "invalid operator"),
        ("prev_pid =~ 1", "=~", "invalid operator"),
        ("prev_pid == ", "", "expected a value, found the end of the filter"),
        ("((prev_pid == 1)", "(", "missing `)`"),
        ("prev_pid == 1 &&", "", "expected a field, found the end of the filter"),
        ("prev_comm > \"a\"", ">", "illegal operation for `prev_comm`: it is text"),
        ("prev_pid == abc", "abc", "`prev_pid` is a number, its value cannot be text"),
        ("prev_comm == 5", "5", "`prev_comm` is text, its value needs quotes"),
        ("prev_pid == 1 and next_pid == 2", "and", "expected `&&`, `||` or the end of the filter"),
        ("prev_pid == 1)", ")", "too many `)`"),
        ("prev_comm == \"open", "\"", "missing the matching quote"),
        ("prev_pid == 12x", "12x", "illegal integer value"),
        ("common_flags == -1", "-1", "illegal integer value: `common_flags` is unsigned"),
        ("prev_pid ~ 1", "~", "illegal operation for `prev_pid`: it is a number"),
        ("prev_pid.sym == 1", ".sym", "unknown field modifier"),
        ("prev_comm.function == x", ".function", "`.function` needs an address, and `prev_comm` is none"),
        ("prev_comm == CPUS{1}", "CPUS{1}", "`prev_comm` is text, not a CPU or a set of CPUs"),
        ("CPU == CPUS{1-}", "1-", "invalid list of CPUs: expected numbers and ranges as in `0-3,8`, no mask"),
        ("CPU == CPUS{1", "CPUS{", "missing `}`"),
        ("CPU < CPUS{1}", "<", "a list of CPUs is compared with ==, != or & only"),
        ("", "", "expected a field, found the end of the filter"),
        ("!", "", "expected a field, found the end of the filter"),
        ("prev_pid == 1 ()", "()", "expected `&&`, `||` or the end of the filter"),
    ] {
        let error = check(text, &format).map(|_| ()).expect_err(text);
        assert_eq!((error.span.of(text), error.message.as_str()), (place, message), "{text}");
    }
    let error = check("nextpid == 1", &format).unwrap_err();
    assert_eq!(error.hints(), ["did you mean `next_pid`?"]);
    let deep = "(".repeat(5000);
    assert!(Filter::parse(&deep).unwrap_err().message.contains("4095"));
    assert!(Filter::parse(&deep[..1000]).unwrap_err().message.contains("deeper"));
}

/// The filters of Documentation/trace/events.rst, the bare word of its second example included.
#[test]
fn the_documentations_examples() {
    for (system, event, text, printed) in [
        ("sched", "sched_waking", "common_preempt_count > 4", "common_preempt_count > 4"),
        (
            "signal",
            "signal_generate",
            "((sig >= 10 && sig < 15) || sig == 17) && comm != bash",
            "((sig >= 10 && sig < 15) || sig == 17) && comm != \"bash\"",
        ),
        ("sched", "sched_switch", "common_pid == 0", "common_pid == 0"),
        ("sched", "sched_switch", "prev_pid == 0", "prev_pid == 0"),
        ("sched", "sched_switch", "prev_comm ~ '*sh*'", "prev_comm ~ \"*sh*\""),
        ("syscalls", "sys_enter_openat", "filename.ustring ~ \"password\"", "filename.ustring ~ \"password\""),
        (
            "kmem",
            "kmalloc",
            "call_site.function == security_prepare_creds",
            "call_site.function == security_prepare_creds",
        ),
        ("ipi", "ipi_send_cpumask", "cpumask & CPUS{17-42}", "cpumask & CPUS{17-42}"),
        ("sched", "sched_waking", "target_cpu == CPUS{0}&&COMM!='a\"b'", "target_cpu == CPUS{0} && COMM != 'a\"b'"),
        (
            "kmem",
            "kmalloc",
            "!(call_site.function == schedule || bytes_req&0x10)",
            "!(call_site.function == schedule || bytes_req & 0x10)",
        ),
        ("kmem", "kmalloc", "!(call_site.function != schedule )", "!(call_site.function != schedule )"),
    ] {
        let (filter, warnings) = check(text, &format(system, event)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(filter.to_string(), printed);
        assert!(warnings.is_empty(), "{warnings:?}");
    }
    let signal = format("signal", "signal_generate");
    let error = check("((sig >= 10 && sig < 15) || dsig == 17) && comm != bash", &signal).unwrap_err();
    assert_eq!(error.span.start, 28);
}

#[test]
fn what_the_kernel_takes_and_does_not_mean() {
    for (system, event, text, place) in [
        ("sched", "sched_switch", "prev_comm ~ \"*sh\"", "\"*sh\""),
        ("sched", "sched_switch", "prev_comm ~ \"9*\"", "\"9*\""),
        ("sched", "sched_switch", "CPU & 1", "&"),
        ("raw_syscalls", "sys_enter", "args == 1", "args"),
        ("syscalls", "sys_enter_openat", "filename == \"x\"", "filename"),
        ("ipi", "ipi_send_cpumask", "cpumask == 1", "1"),
        ("sched", "sched_switch", "CPU == CPUS{0-1}", "=="),
    ] {
        let (_, warnings) = check(text, &format(system, event)).unwrap();
        assert_eq!(warnings.iter().map(|w| w.span.of(text)).collect::<Vec<_>>(), [place], "{text}");
    }
}

#[test]
fn explanations() {
    let words = |text| Filter::parse(text).unwrap().explain();
    assert_eq!(
        words("(prev_pid == 1 || COMM ~ \"k*\") && !(CPU & CPUS{0-3})"),
        "(prev_pid is 1 or the task's name matches the glob \"k*\") and not: the CPU is, or holds, one of the CPUs 0-3"
    );
    assert_eq!(words("f.function != schedule"), "the address f lies outside function schedule");
}

/// A record of sched_switch (6.12).
fn switch(prev_comm: &str, prev_pid: i32, prev_prio: i32, prev_state: i64) -> Vec<u8> {
    let format = format("sched", "sched_switch");
    let mut data = vec![0; 64];
    let mut put = |name: &str, bytes: &[u8]| {
        let at = format.field(name).unwrap().offset;
        data[at..at + bytes.len()].copy_from_slice(bytes);
    };
    put("common_type", &format.id.0.to_le_bytes());
    put("prev_comm", prev_comm.as_bytes());
    put("prev_pid", &prev_pid.to_le_bytes());
    put("prev_prio", &prev_prio.to_le_bytes());
    put("prev_state", &prev_state.to_le_bytes());
    put("next_comm", b"swapper/0");
    data
}

#[test]
fn evaluation() {
    let format = format("sched", "sched_switch");
    let data = switch("bash", 42, -5, 2);
    let subject = Subject { data: &data, cpu: CpuId(3), comm: b"bash", names: &() };
    for (text, holds) in [
        ("prev_pid == 42", true),
        ("prev_prio < 0", true),
        ("prev_prio == 4294967291", true),
        ("prev_prio > 4294967290", true),
        ("prev_comm == \"bash\" && prev_pid != 42", false),
        ("prev_comm == 'bash' && (prev_pid == 1 || next_comm ~ 'swapper*')", true),
        ("!(prev_comm == 'bash' && (prev_pid == 1 || next_comm ~ 'swapper*'))", false),
        ("!prev_pid == 1 && !!prev_pid == 42", true),
        ("prev_pid == 1 || prev_pid == 42 && CPU == 3", true),
        ("CPU == CPUS{3} && CPU & CPUS{1-3} && CPU != CPUS{1-3}", true),
        ("CPU & 3", false),
        ("COMM ~ 'b?sh' && comm != 'sh'", true),
        ("prev_state & 6 && prev_state == 0x2", true),
    ] {
        let program = Filter::parse(text).unwrap().compile(&format, LE, &()).unwrap();
        assert_eq!(program.matches(&subject), holds, "{text}");
        let short = Subject { data: &data[..10], ..subject };
        let _ = program.matches(&short); // a cut record is not a panic
    }
    let exec = self::format("syscalls", "sys_enter_openat");
    assert!(Filter::parse("filename.ustring ~ 'x'").unwrap().compile(&exec, LE, &()).is_err());
}

#[test]
fn cpu_masks() {
    let format = format("ipi", "ipi_send_cpumask");
    let mut data = vec![0u8; 40];
    data[8..12].copy_from_slice(&(32u32 | 8 << 16).to_le_bytes());
    data[32..40].copy_from_slice(&0b1010u64.to_le_bytes());
    let subject = Subject { data: &data, cpu: CpuId(0), comm: b"", names: &() };
    for (text, holds) in [
        ("cpumask & CPUS{3}", true),
        ("cpumask & CPUS{0,2,4-63}", false),
        ("cpumask == CPUS{1,3}", true),
        ("cpumask == CPUS{1,3,100}", false),
        ("cpumask != CPUS{1}", true),
    ] {
        let program = Filter::parse(text).unwrap().compile(&format, LE, &()).unwrap();
        assert_eq!(program.matches(&subject), holds, "{text}");
    }
}

fn report(options: &[(&str, Sign)], data: &[u8], cpu: u32) -> Result<bool, Diagnostic> {
    let format = format("sched", "sched_switch");
    let options: Vec<_> = options
        .iter()
        .map(|(text, sign)| Ok((ReportFilter::parse(text)?, *sign)))
        .collect::<Result<_, Diagnostic>>()?;
    let filters = ReportFilters::compile(&options, [&format], LE)?;
    Ok(filters.matches(format.id, &Subject { data, cpu: CpuId(cpu), comm: b"bash", names: &() }))
}

#[test]
fn trace_cmds_filters() {
    let data = switch("bash", 42, -5, 2);
    for (text, shown) in [
        ("sched", true),
        ("sched/sched_switch", true),
        ("SCHED/sched_.*", true),
        ("sched_switch: prev_pid == 42", true),
        ("sched_switch, sched: prev_pid == 41", false),
        ("sched/sched_switch: prev_prio < 0", false),
        ("sched/sched_switch: prev_prio > 0x7fffffffffffffff", true),
        ("sched/sched_switch: nosuch == 1", false),
        ("sched/sched_switch: nosuch != 'xx'", false),
        ("sched/sched_switch: !(nosuch == 1)", true),
        ("sched/sched_switch: prev_comm =~ \"^BA\"", true),
        ("sched/sched_switch: prev_comm !~ \"as\\+h\"", false),
        ("sched/sched_switch: prev_comm == \"bas\"", false),
        ("sched/sched_switch: COMM == \"bash\" && CPU == 3", true),
        ("sched/sched_switch: prev_pid == 42 || prev_pid == 1 && prev_pid == 1", false),
        ("sched/sched_switch: prev_state & 2", true),
        ("sched/sched_switch: (prev_state & 6) == 2 && prev_pid + 1 == 43", true),
        ("sched/sched_switch: prev_pid == '*'", true),
        ("sched/sched_switch: prev_state == \"0x2\"", true),
        ("sched/sched_switch: prev_pid / 0", false),
        ("sched/sched_switch: ((prev_pid == 42))", true),
    ] {
        assert_eq!(report(&[(text, Sign::Keep)], &data, 3).unwrap_or_else(|e| panic!("{e}")), shown, "{text}");
    }
    let (a, b) = ("sched_switch: prev_pid == 1", "sched_switch: prev_prio != 0");
    assert!(report(&[(a, Sign::Keep), (b, Sign::Keep)], &data, 0).unwrap());
    assert!(!report(&[(b, Sign::Keep), (b, Sign::Remove)], &data, 0).unwrap());
    assert!(report(&[(a, Sign::Remove)], &data, 0).unwrap());
    for (text, place) in [
        ("nosuch: prev_pid == 1", "nosuch"),
        ("sched:sched_switch: prev_pid == 1", ":"),
        ("sched_switch: prev_pid ==", ""),
        ("sched_switch: prev_pid == -1", "-1"),
        ("sched_switch: prev_comm < \"x\"", "<"),
        ("sched_switch: prev_comm =~ \"[\"", "\"[\""),
        ("sched_switch: prev_comm =~ prev_pid", "=~"),
        ("sched_switch: (prev_pid == 1", "("),
        ("sched_switch: prev_comm == 1", "prev_comm"),
        ("", ""),
    ] {
        let error = report(&[(text, Sign::Keep)], &data, 0).expect_err(text);
        assert_eq!(error.span.of(text), place, "{error}");
    }
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| format!("{n:#x}")),
        "[ -!#-~]{0,20}".prop_map(|text| format!("\"{text}\"")),
        "[ -&(-~]{0,20}".prop_map(|text| format!("'{text}'")),
        proptest::collection::btree_set(0u32..300, 1..6).prop_map(|cpus| format!("CPUS{{{}}}", CpuList::new(cpus))),
        "[a-zA-Z_/*][a-zA-Z0-9_./*?:-]{0,8}",
    ]
}

fn expr() -> impl Strategy<Value = String> {
    let op = prop::sample::select(CompareOp::ALL.map(CompareOp::text).to_vec());
    let plain = ("[a-z_][a-z0-9_]{0,8}", prop::sample::select(vec!["", ".ustring"]), op, value())
        .prop_map(|(field, modifier, op, value)| format!("{field}{modifier} {op} {value}"));
    let function = ("[a-z]{1,4}", "[a-z_][a-z0-9_.]{0,8}").prop_map(|(f, name)| format!("{f}.function == {name} "));
    prop_oneof![8 => plain, 1 => function].prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|e| format!("!({e})")),
            inner.clone().prop_map(|e| format!("( {e})")),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|all| all.join("&&")),
            prop::collection::vec(inner, 2..4).prop_map(|all| all.join(" || ")),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(text in expr()) {
        prop_assume!(text.len() < 4000);
        let filter = Filter::parse(&text).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let printed = filter.to_string();
        let again = Filter::parse(&printed).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(&again, &filter, "{}", printed);
        prop_assert_eq!(again.to_string(), printed);
    }

    #[test]
    fn no_text_is_a_panic(text in "[a-z_0-9 ()!&|=<>~.,:\"'{}*\\[\\]\\\\é-]{0,60}") {
        let format = format("sched", "sched_switch");
        if let Ok(filter) = Filter::parse(&text) {
            let _ = filter.compile(&format, LE, &());
        }
        if let Err(error) = ReportFilter::parse(&text) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
