//! The words of a line that is completed.

/// The words before the cursor, without quotes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CompletionLine {
    /// The whole words, the program's name first.
    pub(super) before: Vec<String>,
    /// The word that is completed, up to the cursor.
    pub(super) current: String,
    /// The bytes of it that the shell keeps: completions are printed without them.
    pub(super) cut: usize,
}

/// The characters after which bash takes a new word to begin, of its COMP_WORDBREAKS, within a word of a command line.
const BREAKS: [char; 2] = [':', '='];

impl CompletionLine {
    /// A line of bash, as typed up to the cursor.
    ///
    /// Bash replaces what follows an open quote, or else what follows the last `:` or `=`.
    pub(super) fn of_bash(text: &str) -> Self {
        let mut line = CompletionLine::default();
        let (mut quote, mut escaped, mut begun) = (None, false, false);
        for c in text.chars() {
            match (quote, c) {
                _ if escaped => {
                    line.current.push(c);
                    escaped = false;
                }
                (None | Some('"'), '\\') => escaped = true,
                (Some(open), _) if open == c => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(c);
                    line.cut = line.current.len();
                }
                (None, ' ' | '\t') => {
                    if begun {
                        line.before.push(std::mem::take(&mut line.current));
                    }
                    begun = false;
                    line.cut = 0;
                    continue;
                }
                _ => line.current.push(c),
            }
            begun = true;
            if quote.is_none() && BREAKS.contains(&c) {
                line.cut = line.current.len();
            }
        }
        line
    }

    /// The words as zsh and fish have split them, the last one perhaps with its open quote.
    pub(super) fn of_words(words: &[String]) -> Self {
        let unquoted = |word: &String| {
            let open = word.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let inner = open.map_or(word.as_str(), |open| word.trim_start_matches(open));
            open.map_or(inner, |open| inner.trim_end_matches(open)).to_owned()
        };
        match words.split_last() {
            Some((current, before)) => {
                CompletionLine { before: before.iter().map(unquoted).collect(), current: unquoted(current), cut: 0 }
            }
            None => CompletionLine::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_keeps_what_stands_before_a_break_or_a_quote() {
        let line = |text| {
            let line = CompletionLine::of_bash(text);
            (line.before.join("|"), line.current, line.cut)
        };
        assert_eq!(line("rtrace rec"), ("rtrace".into(), "rec".into(), 0));
        assert_eq!(line("rtrace record -e sched:sched_sw"), ("rtrace|record|-e".into(), "sched:sched_sw".into(), 6));
        assert_eq!(line("rtrace record -f 'a == 1 && ne"), ("rtrace|record|-f".into(), "a == 1 && ne".into(), 0));
        assert_eq!(line("rtrace record --event=sch"), ("rtrace|record".into(), "--event=sch".into(), 8));
        assert_eq!(line("rtrace report a\\ b '' "), ("rtrace|report|a b|".into(), String::new(), 0));
    }
}
