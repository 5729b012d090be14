//! The pages of the manual: one for each command, one for each page of `docs/reference`.

use super::roff::{ManualPage, bold, escape, italic};
use crate::cli::help;
use crate::cli::help::{Topic, gap};
use clap::{Arg, ArgAction, Command};

/// The page of `command`; the root's has the exit codes.
pub(super) fn command_page(command: &Command, is_root: bool) -> String {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = ManualPage::new(name, "1", &lower(&about));
    page.section("SYNOPSIS");
    page.written_paragraph(&synopsis(command));
    page.section("DESCRIPTION");
    description(command, &mut page);
    options(command, &mut page);
    commands(command, &mut page);
    if let Some((acts_on, leaves)) = help::effects(&name_of_verb(command)) {
        page.section("BUFFER");
        page.term(&bold("Acts on"), acts_on);
        page.term(&bold("Leaves"), leaves);
    }
    if let Some(text) = command.get_after_long_help().or(command.get_after_help()) {
        after_help(&text.to_string(), &mut page);
    }
    page.section("EXIT STATUS");
    match help::TOPICS.iter().find(|topic| topic.name == "exit-codes").filter(|_| is_root) {
        Some(topic) => topic_body(topic.text, &mut page),
        None => page.paragraph("See rtrace(1), or `rtrace help exit-codes`."),
    }
    if !is_root {
        page.section("SEE ALSO");
        page.written_paragraph(&see_also(name));
    }
    page.into_text()
}

/// The first letter small, unless the word is a name (`JSON`).
fn lower(about: &str) -> String {
    let mut letters = about.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => format!("{}{}", first.to_lowercase(), letters.as_str()),
        _ => about.to_owned(),
    }
}

/// `hist` of `rtrace-hist` and `rtrace-hist-start`; of a verb with a hyphen all of it.
fn name_of_verb(command: &Command) -> String {
    let shown = command.get_bin_name().unwrap_or_else(|| command.get_name());
    shown.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// The command's line with the values of its options.
fn synopsis(command: &Command) -> String {
    let mut line = bold(command.get_bin_name().unwrap_or_else(|| command.get_name()));
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_positional()) {
        let names = match (arg.get_short(), arg.get_long()) {
            (Some(short), Some(long)) => format!("{}|{}", bold(&format!("-{short}")), bold(&format!("--{long}"))),
            (Some(short), None) => bold(&format!("-{short}")),
            (None, Some(long)) => bold(&format!("--{long}")),
            (None, None) => continue,
        };
        let whole = format!("{names}{}", value(arg));
        line.push_str(&if arg.is_required_set() { format!(" {whole}") } else { format!(" [{whole}]") });
    }
    for arg in command.get_positionals().filter(|arg| !arg.is_hide_set()) {
        line.push(' ');
        line.push_str(&positional(arg));
    }
    if command.has_subcommands() {
        line.push_str(&format!(" {}", italic("COMMAND")));
    }
    line
}

/// ` VALUE`, `[=VALUE]`, or nothing for a switch.
fn value(arg: &Arg) -> String {
    let range = arg.get_num_args().unwrap_or_default();
    if !range.takes_values() || !matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) {
        return String::new();
    }
    let names: Vec<String> = match arg.get_value_names() {
        Some(names) => names.iter().map(|name| italic(name)).collect(),
        None => vec![italic(&arg.get_id().as_str().to_uppercase())],
    };
    let names = names.join(" ");
    let sign = if arg.is_require_equals_set() { "=" } else { " " };
    if range.min_values() == 0 { format!("[{sign}{names}]") } else { format!("{sign}{names}") }
}

fn positional(arg: &Arg) -> String {
    let name = arg.get_value_names().map_or_else(|| arg.get_id().as_str().to_uppercase(), |names| names.join(" "));
    let many = arg.get_num_args().is_some_and(|range| range.max_values() > 1);
    let many = if many || matches!(arg.get_action(), ArgAction::Append) { "..." } else { "" };
    let shown = format!("{}{many}", italic(&name));
    if arg.is_required_set() { shown } else { format!("[{shown}]") }
}

fn description(command: &Command, page: &mut ManualPage) {
    let text = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    topic_paragraphs(&text, page);
}

/// Options under their headings, positional arguments first.
fn options(command: &Command, page: &mut ManualPage) {
    let shown: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    if shown.is_empty() {
        return;
    }
    page.section("OPTIONS");
    for arg in shown.iter().filter(|arg| arg.is_positional()) {
        option(&positional(arg), arg, page);
    }
    let mut headings: Vec<Option<&str>> = shown.iter().map(|arg| arg.get_help_heading()).collect();
    headings.dedup();
    let mut seen: Vec<Option<&str>> = Vec::new();
    for heading in headings {
        if seen.contains(&heading) {
            continue;
        }
        seen.push(heading);
        let of_heading: Vec<&&Arg> =
            shown.iter().filter(|arg| !arg.is_positional() && arg.get_help_heading() == heading).collect();
        if of_heading.is_empty() {
            continue;
        }
        if let Some(heading) = heading {
            page.subsection(heading);
        }
        for arg in of_heading {
            let names =
                [arg.get_short().map(|short| format!("-{short}")), arg.get_long().map(|long| format!("--{long}"))];
            let names: Vec<String> = names.iter().flatten().map(|name| bold(name)).collect();
            option(&format!("{}{}", names.join(", "), value(arg)), arg, page);
        }
    }
}

fn option(term: &str, arg: &Arg, page: &mut ManualPage) {
    let text = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    let mut first = paragraphs.next().unwrap_or_default();
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if !defaults.is_empty() && !arg.is_hide_default_value_set() && arg.get_action().takes_values() {
        first.push_str(&format!(" [default: {}]", defaults.join(", ")));
    }
    page.term(term, &first);
    for paragraph in paragraphs {
        page.more_of_term(&paragraph);
    }
    let values = arg.get_possible_values();
    if arg.is_hide_possible_values_set() || !arg.get_action().takes_values() || values.is_empty() {
        return;
    }
    for value in values.iter().filter(|value| !value.is_hide_set()) {
        let help = value.get_help().map(|help| format!(": {help}")).unwrap_or_default();
        page.more_of_term(&format!("`{}`{help}", value.get_name()));
    }
}

fn commands(command: &Command, page: &mut ManualPage) {
    let subs: Vec<&Command> = command.get_subcommands().filter(|sub| !sub.is_hide_set()).collect();
    if subs.is_empty() {
        return;
    }
    page.section("COMMANDS");
    for sub in subs {
        let name = sub.get_display_name().unwrap_or_else(|| sub.get_name());
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        page.term(&format!("{}(1)", bold(name)), &about);
    }
}

/// The text below the options: `EXAMPLES:` and the like are sections.
fn after_help(text: &str, page: &mut ManualPage) {
    let mut lines = text.trim_end().lines().peekable();
    let heading = |line: &str| line.ends_with(':') && !line.starts_with(' ') && !line.contains(". ");
    let mut title = "NOTES".to_owned();
    while let Some(line) = lines.peek() {
        if line.trim().is_empty() {
            lines.next();
            continue;
        }
        if heading(line) {
            title = line.trim_end_matches(':').to_uppercase();
            lines.next();
        }
        let mut body = Vec::new();
        while let Some(line) = lines.next_if(|line| !heading(line)) {
            body.push(line);
        }
        while body.last().is_some_and(|line| line.trim().is_empty()) {
            body.pop();
        }
        page.section(&title);
        if body.iter().any(|line| line.starts_with("  ")) {
            page.verbatim(body);
        } else {
            page.paragraph(&body.join(" "));
        }
    }
}

/// The command above, the page of the language with the same name, and the root's.
fn see_also(name: &str) -> String {
    let mut pages = vec![format!("{}(1)", bold("rtrace"))];
    if let Some((above, _)) = name.rsplit_once('-').filter(|(above, _)| above.contains('-')) {
        pages.push(format!("{}(1)", bold(above)));
    }
    for (_, page, section) in PAGES {
        let same = name == *page || name.strip_prefix(page).is_some_and(|rest| rest.starts_with('-'));
        let files =
            *section == "5" && matches!(name, "rtrace-record" | "rtrace-report" | "rtrace-dump" | "rtrace-recover");
        if same || files {
            pages.push(format!("{}({section})", bold(page)));
        }
    }
    pages.push(escape("trace-cmd(1)"));
    pages.join(", ")
}

/// The page `name` of the section `section` of the manual.
pub(super) fn topic_page(topic: &Topic, name: &str, section: &str) -> String {
    let mut page = ManualPage::new(name, section, &topic.about.replacen("The ", "the ", 1));
    page.section("DESCRIPTION");
    topic_body(topic.text, &mut page);
    page.section("SEE ALSO");
    let verb = name.strip_prefix("rtrace-").map(|_| format!("{}(1), ", bold(name))).unwrap_or_default();
    page.written_paragraph(&format!("{}(1), {verb}{}(5)", bold("rtrace"), bold("rtrace.dat")));
    page.into_text()
}

/// A page's text below its first heading.
fn topic_body(text: &str, page: &mut ManualPage) {
    let text = match text.strip_prefix("# ").and_then(|rest| rest.split_once('\n')) {
        Some((_, rest)) => rest,
        None => text,
    };
    topic_paragraphs(text, page);
}

/// Paragraphs, lists and lines that keep their shape.
fn topic_paragraphs(text: &str, page: &mut ManualPage) {
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
