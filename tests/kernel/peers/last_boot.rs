//! Events of a boot that is over: the symbols of the file are of the kernel that came after it.

use super::guests::{open, with_option};
use super::same_lines;
use crate::common::environment::TestEnvironment;
use rtrace::internal::trace_dat::OptionId;

/// Lines that name a function. How far the address lies after its start trace-cmd reckons from where it lies now.
fn named(report: &str) -> String {
    let offset = regex::Regex::new("/0x[0-9a-f]+").expect("a pattern");
    let lines = report.lines().filter(|line| line.contains(" function=") && !line.contains(" flags="));
    lines.map(|line| offset.replace(line, "").into_owned() + "\n").collect()
}

#[test]
fn functions_are_named_as_they_lay_then() {
    let Some(trace_cmd) = crate::common::trace_cmd::fetched() else { return };
    let env = TestEnvironment::new();
    let mut trace = open("host/small-zlib.dat");
    // the file has the symbols that its events need; where the kernel begins is not among them
    let start = b"ffffffff81000000 T _text\n";
    assert!(trace.kallsyms.get().unwrap().starts_with(&start[..19]), "the kernel lies elsewhere");
    trace.kallsyms = [&start[..], trace.kallsyms.get().unwrap()].concat().into();
    let mut all = Vec::new();
    for then in ["ffffffff81000000", "ffffffff81100000", "ffffffff80f00000"] {
        let text = format!(":{then}\t[kernel]\n\0").into_bytes();
        with_option(&mut trace, OptionId::LAST_BOOT_INFO, text, &env.path().join("trace.dat"));
        let ours = env.rtrace(&["report"]);
        let ours = named(&ours.exits(0).complains("").stdout());
        same_lines(&named(&env.run(&trace_cmd, &["report"]).stdout()), &ours);
        assert!(ours.lines().count() > 3, "{ours}");
        all.push(ours);
    }
    all.dedup();
    assert_eq!(all.len(), 3, "the names do not depend on where the kernel lay");
}
