//! A page of `docs/reference` as a page of the manual. Its Markdown is that of [`help`](crate::cli::help): headings,
//! paragraphs, lists, terms with their meanings, and indented lines, which keep their shape.

use super::roff::{ManualPage, bold};
use crate::cli::help::{Topic, gap};

/// The page `name` of the section `section` of the manual.
pub(super) fn page(topic: &Topic, name: &str, section: &str) -> String {
    let mut page = ManualPage::new(name, section, &topic.about.replacen("The ", "the ", 1));
    page.section("DESCRIPTION");
    body(topic.text, &mut page);
    page.section("SEE ALSO");
    let verb = name.strip_prefix("rtrace-").map(|_| format!("{}(1), ", bold(name))).unwrap_or_default();
    page.written_paragraph(&format!("{}(1), {verb}{}(5)", bold("rtrace"), bold("rtrace.dat")));
    page.into_text()
}

/// A page's text below its first heading.
pub(super) fn body(text: &str, page: &mut ManualPage) {
    let text = match text.strip_prefix("# ").and_then(|rest| rest.split_once('\n')) {
        Some((_, rest)) => rest,
        None => text,
    };
    paragraphs(text, page);
}

/// Paragraphs, lists and lines that keep their shape.
pub(super) fn paragraphs(text: &str, page: &mut ManualPage) {
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        if let Some(heading) = line.strip_prefix('#') {
            page.section(&heading.trim_start_matches('#').trim().to_uppercase());
        } else if line.starts_with("  ") {
            let mut shaped = vec![line];
            // Blank lines between two such lines are part of them.
            loop {
                match lines.peek() {
                    Some(next) if next.starts_with("  ") => shaped.extend(lines.next()),
                    Some(next) if next.trim().is_empty() => {
                        let mut ahead = lines.clone();
                        ahead.next();
                        if !ahead.peek().is_some_and(|after| after.starts_with("  ")) {
                            break;
                        }
                        shaped.extend(lines.next());
                    }
                    _ => break,
                }
            }
            page.verbatim(shaped);
        } else {
            let term = gap(line).filter(|_| !line.starts_with("- "));
            let is_point = line.starts_with("- ");
            let goes_on = |next: &str| match term.is_some() || is_point {
                true => next.starts_with("  "),
                false => {
                    !next.starts_with("  ") && !next.starts_with('#') && !next.starts_with("- ") && gap(next).is_none()
                }
            };
            let mut whole = line.trim_end().to_owned();
            while let Some(next) = lines.next_if(|next| !next.trim().is_empty() && goes_on(next)) {
                whole.push(' ');
                whole.push_str(next.trim());
            }
            match (is_point, line.find("  ").filter(|_| term.is_some())) {
                (true, _) => page.point(whole.trim_start_matches("- ")),
                (false, Some(at)) => page.term(&bold(whole[..at].trim()), whole[at..].trim()),
                (false, None) => page.paragraph(&whole),
            }
        }
    }
}

/// Pages of `docs/reference` that are pages of the manual: topic, name of the page and its section.
pub(super) const PAGES: &[(&str, &str, &str)] = &[
    ("filter", "rtrace-filter", "7"),
    ("hist", "rtrace-hist", "7"),
    ("synth", "rtrace-synth", "7"),
    ("trigger", "rtrace-trigger", "7"),
    ("probe", "rtrace-probe", "7"),
    ("file-format", "rtrace.dat", "5"),
];
