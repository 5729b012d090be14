//! A line of text as an event: `rtapp_loop: event=start thread_loop=1 phase=0`.

/// Limit of the fields of a line.
const MOST_FIELDS: usize = 64;

/// An event's name, and its fields in the order of the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MarkerLine<'t> {
    pub(super) name: &'t str,
    pub(super) fields: Vec<(&'t str, &'t str)>,
}

impl<'t> MarkerLine<'t> {
    /// Parses `NAME: KEY=VALUE ...`. A value ends before the next ` KEY=`, so it may hold blanks; a comma that ends it is no
    /// part of it. `None` if the line has another form, names a key twice, or a field that all events have.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (name, rest) = text.trim().split_once(": ")?;
        let rest = rest.trim_start();
        if !is_name(name) || rest.bytes().any(|byte| byte < b' ') {
            return None;
        }
        // Each key begins the text or follows a blank.
        let mut starts = Vec::new();
        let mut at = 0;
        for word in rest.split(' ') {
            if let Some((key, _)) = word.split_once('=').filter(|(key, _)| is_name(key)) {
                starts.push((at, key));
            }
            at += word.len() + 1;
        }
        if starts.first().is_none_or(|(at, _)| *at != 0) || starts.len() > MOST_FIELDS {
            return None;
        }
        let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([rest.len()]);
        let field = |((start, key), end): (&(usize, &'t str), usize)| {
            let value = rest.get(start + key.len() + 1..end)?.trim_end();
            Some((*key, value.strip_suffix(',').unwrap_or(value)))
        };
        let fields: Vec<_> = starts.iter().zip(ends).map(field).collect::<Option<_>>()?;
        let repeats = |at: usize| fields[..at].iter().any(|(key, _)| *key == fields[at].0);
        let is_sound = (0..fields.len()).all(|at| !repeats(at) && !fields[at].0.starts_with("common_"));
        is_sound.then_some(MarkerLine { name, fields })
    }
}

/// True of a word that can be the name of an event and of a field.
fn is_name(text: &str) -> bool {
    let start = text.bytes().next();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    start.is_some_and(|byte| !byte.is_ascii_digit()) && is_plain && text.len() <= 64
}

#[cfg(test)]
mod tests {
    use super::MarkerLine;

    #[test]
    fn lines_are_events() {
        for (text, name, fields) in [
            (
                "rtapp_loop: event=start thread_loop=1 phase=0\n",
                "rtapp_loop",
                &[("event", "start"), ("thread_loop", "1"), ("phase", "0")][..],
            ),
            ("a: x=1, y=-2", "a", &[("x", "1"), ("y", "-2")]),
            ("a: comm=Web Content pid=4", "a", &[("comm", "Web Content"), ("pid", "4")]),
            ("a: x= y=a=b", "a", &[("x", ""), ("y", "a=b")]),
            ("a: t=0.25", "a", &[("t", "0.25")]),
        ] {
            let line = MarkerLine::parse(text).expect(text);
            assert_eq!((line.name, &line.fields[..]), (name, fields));
        }
        for text in [
            "",
            "a",
            "a:",
            "a: ",
            "a: b",
            "a: b c=1",
            "2a: b=1",
            "a b: c=1",
            "B|12|draw",
            "a: b=1 b=2",
            "a: common_pid=1",
            "a: b=1\n c=2",
        ] {
            assert_eq!(MarkerLine::parse(text), None, "{text}");
        }
    }
}
