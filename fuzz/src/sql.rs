//! Any text as a statement of sqlhist's SQL: an error, or a statement that reads back as itself from what it prints;
//! what it means can be printed, and a histogram reads back as itself.

use rtrace::format::EventFormat;
use rtrace::hist::spec::HistSpec;
use rtrace::synth::sql::{Lowered, SqlQuery, lower, lower_recorded};

const FIELDS: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:u64 len;\toffset:32;\tsize:8;\tsigned:0;
\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;
\tfield:__data_loc unsigned long[] stack;\toffset:44;\tsize:4;\tsigned:0;

print fmt: \"\"
";

fn event(system: Option<&str>, name: &str) -> Option<EventFormat> {
    let known = ["a", "b"].contains(&name) && system.is_none_or(|system| system == "s");
    let text = || format!("name: {name}\nID: 5\nformat:\n{FIELDS}");
    known.then(|| EventFormat::parse("s", &text()).expect("a format"))
}

pub(crate) fn run(text: &str) {
    let Ok(query) = SqlQuery::parse(text) else { return };
    let printed = query.to_string();
    assert_eq!(SqlQuery::parse(&printed).as_ref(), Ok(&query), "{printed}");
    match lower(text, Some("name"), &event) {
        Ok(Lowered::Hist(_, spec)) => {
            let printed = spec.to_string();
            assert_eq!(HistSpec::parse(&printed), Ok(spec), "{printed}");
        }
        Ok(Lowered::Synth(builder)) => {
            for write in builder.plan().iter().flat_map(|plan| plan.writes()) {
                assert!(!write.text.contains(['\n', '\0']), "more than one line: {}", write.text);
            }
        }
        Ok(Lowered::Rows(_)) => panic!("a kernel makes no rows: {text}"),
        Err(_) => {}
    }
    if let Ok(Lowered::Rows(rows)) = lower_recorded(text, Some("name"), true, &event) {
        assert!(rows.shown <= rows.columns.len() && rows.order.iter().all(|(at, _)| *at < rows.columns.len()), "{rows:?}");
    }
}
