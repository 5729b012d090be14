//! Lines in full, where the command below `filter`, `trigger`, `synth`, `probe` or `instance` was left out.

/// The line in full where `-B NAME` stands before the command below `words`.
pub(super) fn with_instance(words: &str, name: &str) -> Option<String> {
    let verb = words.strip_prefix("rtrace ")?;
    let after = std::env::args().skip_while(|word| word != "-B").skip(2).collect::<Vec<_>>();
    let (first, rest) = after.split_first().filter(|(first, _)| !first.starts_with('-'))?;
    let line = [rest, &["-B".to_owned(), name.to_owned()]].concat();
    in_full(first, &line, verb)
}

/// The command in full of which the one below `name` was left out: what `word` and the `words` after it were meant for.
pub(super) fn in_full(word: &str, words: &[String], name: &str) -> Option<String> {
    let quoted = |word: &str| match word.chars().all(|c| c.is_ascii_alphanumeric() || "_-:=.,*/".contains(c)) {
        true => word.to_owned(),
        false => format!("'{word}'"),
    };
    let rest: String = words.iter().map(|word| format!(" {}", quoted(word))).collect();
    let first = words.first().map_or("", String::as_str);
    const SETS: [&str; 5] = ["set", "add", "new", "create", "make"];
    Some(match (name, word.split_once(' ')) {
        ("trigger", None) if SETS.contains(&word) => {
            let trigger = if rest.is_empty() { " EVENT TRIGGER" } else { &rest };
            format!("`rtrace trigger add{trigger}` sets a trigger, `rtrace trigger list` shows them.")
        }
        ("filter", None) if SETS.contains(&word) => {
            let filter = if rest.is_empty() { " EVENT 'FILTER'" } else { &rest };
            format!("`rtrace filter set{filter}` sets a filter, `rtrace filter show` shows them.")
        }
        ("trigger", None) if ["show", "ls", "print", "get", "dump"].contains(&word) => {
            "`rtrace trigger list` shows triggers.".to_owned()
        }
        ("trigger", _) if first.starts_with('!') => format!("`rtrace trigger remove {word}{rest}` takes it away."),
        ("filter", _) if first == "0" => {
            format!("`rtrace filter clear {word}{}` takes it away.", rest.trim_start_matches(" 0"))
        }
        ("probe", _) if word.get(1..2) == Some(":") || word.starts_with("-:") => {
            format!("`rtrace probe add '{word}'` makes that event.")
        }
        ("instance", None) if ["mkdir", "make", "new", "add"].contains(&word) => {
            format!("`rtrace instance create{rest}` makes it.")
        }
        ("trigger", _) => {
            let trigger = if rest.is_empty() { " TRIGGER" } else { &rest };
            format!("`rtrace trigger add {word}{trigger}` sets a trigger, `rtrace trigger list` shows them.")
        }
        ("filter", _) if word.contains([' ', '=', '<', '>', '~', '&']) && !first.is_empty() => {
            format!("the event stands first: `rtrace filter set {first} {}`.", quoted(word))
        }
        ("filter", _) => {
            let filter = if rest.is_empty() { " 'FILTER'" } else { &rest };
            format!("`rtrace filter set {word}{filter}` sets a filter, `rtrace filter show` shows them.")
        }
        ("synth", Some((event, _))) if words.len() > 1 && words.iter().take(2).all(|word| !word.starts_with('-')) => {
            let second = words.get(1).map_or("", String::as_str);
            format!("`rtrace synth create {event} --start {first} --end {second} --match FIELD=FIELD` makes one of two events.")
        }
        ("synth", Some((event, fields))) if !event.eq_ignore_ascii_case("select") => {
            format!("`rtrace synth define {event} '{fields}'` makes a synthetic event.")
        }
        ("synth", None) if first.contains([' ', ';']) && !word.eq_ignore_ascii_case("select") => {
            format!("`rtrace synth define {word}{rest}` makes a synthetic event.")
        }
        ("synth", _) if matches!(word, "add" | "new" | "make") || word.get(..6).is_some_and(|w| w.eq_ignore_ascii_case("select")) => {
            "`rtrace synth sql -n NAME 'SELECT ...'` makes a synthetic event of two others, `rtrace synth define NAME 'FIELDS'` an empty one.".to_owned()
        }
        ("instance", None) if rest.is_empty() => {
            format!("`rtrace instance create {word}` makes that one, `rtrace instance list` shows those that are there.")
        }
        _ => return None,
    })
}
