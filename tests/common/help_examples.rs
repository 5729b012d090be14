//! The examples that a page of help has.

/// The commands of a page: lines that begin with `rtrace`, continued by a backslash or an open quote, without what
/// explains them. Those that hold a placeholder are none.
pub(crate) fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let mut command = line.trim().to_owned();
        if !command.starts_with("rtrace ") {
            continue;
        }
        without_explanation(&mut command);
        while command.ends_with('\\') || command.matches('\'').count() % 2 == 1 {
            let Some(more) = lines.next() else { break };
            command = format!("{} {}", command.trim_end_matches('\\').trim_end(), more.trim());
        }
        without_explanation(&mut command);
        let placeholder = ["...", "EVENT", "KIND", "NAME", "KEY", "rtrace help", "<COMMAND>"];
        if placeholder.iter().all(|word| !command.contains(word)) {
            found.push(command.trim_end().to_owned());
        }
    }
    found
}

/// An explanation stands two blanks after the command, or more.
fn without_explanation(command: &mut String) {
    let end = command.find("  ").unwrap_or(command.len());
    command.truncate(end);
}
