//! Any text as a filter: an error, or a filter that reads back as itself from what it prints. Both languages.

use rtrace::filter::{Filter, ReportFilter};

pub(crate) fn run(text: &str) {
    if let Ok(filter) = Filter::parse(text) {
        let printed = filter.to_string();
        assert!(!printed.contains('\0'), "{printed:?}");
        let again = Filter::parse(&printed).expect("what a filter prints can be read");
        assert_eq!(again, filter);
        let _ = filter.explain();
    }
    let _ = ReportFilter::parse(text);
}
