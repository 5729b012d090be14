//! One entry, read with the trigger's knowledge of what its columns are.
//! Steps through the bytes of a `hist` file.

use super::{ColumnValue, HistEntry, HistKey, KeyValue, Saved, Tracked, ValueColumn};
use crate::language::hist::spec::{ActionArg, Do, HistExpr, HistSpec, KeyModifier};

/// The columns of a table's entries.
pub(super) struct EntryColumns {
    /// Name and modifier of each key.
    keys: Vec<(String, Option<KeyModifier>)>,
    /// Name and modifier of each printed value but hitcount.
    values: Vec<(String, Option<KeyModifier>)>,
    hitcount: bool,
    /// Fields that save() keeps.
    saved: Vec<String>,
}

impl EntryColumns {
    pub(super) fn of(spec: &HistSpec) -> EntryColumns {
        let named = |expr: &HistExpr| match expr {
            HistExpr::Field { name, modifier } => (name.clone(), *modifier),
            other => (other.to_string(), None),
        };
        // Variables and expressions are counted but not printed.
        let values = spec.vals.iter().map(|v| &v.value).filter(|v| **v != HistExpr::field("hitcount"));
        let values = values.filter(|v| matches!(v, HistExpr::Field { .. }));
        let saved = spec.actions.iter().filter_map(|a| match &a.value.what {
            Do::Save(args) => Some(args),
            _ => None,
        });
        let saved = saved.flatten().map(|arg| match &arg.value {
            ActionArg::Var(var) => var.name.clone(),
            ActionArg::Field(name) | ActionArg::Other { field: name, .. } => name.clone(),
        });
        EntryColumns {
            keys: spec.keys.iter().map(|k| named(&k.value)).collect(),
            values: values.map(named).collect(),
            hitcount: !spec.no_hitcount,
            saved: saved.collect(),
        }
    }

    pub(super) fn entry(&self, cursor: &mut TextCursor<'_>) -> Result<HistEntry, TableError> {
        let mut entry = HistEntry { keys: self.keys(cursor)?, ..HistEntry::default() };
        if self.hitcount {
            cursor.expect(" hitcount: ")?;
            entry.hitcount = Some(cursor.number(10)?);
        }
        for (name, modifier) in &self.values {
            let value = value(cursor, name, *modifier)?;
            entry.values.push(ValueColumn { name: name.clone(), value });
        }
        while cursor.rest().starts_with(b"\n\t") {
            entry.tracked.push(self.tracked(cursor)?);
        }
        cursor.expect("\n")?;
        Ok(entry)
    }

    /// `{ K, K }`
    pub(super) fn keys(&self, cursor: &mut TextCursor<'_>) -> Result<Vec<HistKey>, TableError> {
        cursor.expect("{ ")?;
        let mut keys = Vec::with_capacity(self.keys.len());
        for (at, (name, modifier)) in self.keys.iter().enumerate() {
            if at > 0 {
                cursor.expect(", ")?;
            }
            keys.push(self.key(cursor, at, name, *modifier)?);
        }
        let multiline = keys.iter().any(|k| matches!(k.value, KeyValue::Stack { .. }));
        cursor.expect(if multiline { "}" } else { " }" })?;
        Ok(keys)
    }

    fn key(
        &self,
        cursor: &mut TextCursor<'_>,
        at: usize,
        name: &str,
        modifier: Option<KeyModifier>,
    ) -> Result<HistKey, TableError> {
        if is_stack(name, modifier) {
            return stack(cursor, name);
        }
        // The old spelling of common_cpu is shown as it was given.
        let spellings: &[&str] = if name == "common_cpu" { &["common_cpu", "cpu", "CPU"] } else { &[name] };
        let eaten = spellings.iter().find(|name| cursor.eat(format!("{name}: ").as_bytes()));
        let name = eaten.ok_or_else(|| cursor.error(format!("key `{name}`")))?;
        let value = match modifier {
            Some(KeyModifier::Hex) => match self.plain_text(cursor, at) {
                Some(text) => KeyValue::Text(text), // .hex on a text is without effect
                None => KeyValue::Hex(cursor.number(16)?),
            },
            Some(KeyModifier::Sym | KeyModifier::SymOffset) => {
                cursor.expect("[")?;
                let address = cursor.number(16)?;
                cursor.expect("] ")?;
                let offset = modifier == Some(KeyModifier::SymOffset);
                let name = self.text(cursor, at, if offset { 55 } else { 45 })?;
                KeyValue::Symbol { address, name, offset }
            }
            Some(KeyModifier::Execname) => {
                let (comm, pid) = bracketed(cursor, 16, 10)?;
                KeyValue::Execname { comm, pid }
            }
            Some(KeyModifier::Syscall) => {
                let (name, id) = bracketed(cursor, 30, 3)?;
                KeyValue::Syscall { name, id }
            }
            Some(KeyModifier::Log2) if cursor.eat(b"~ 2^") => {
                let exponent = cursor.number(10)?;
                let exponent = u32::try_from(exponent).ok().filter(|n| *n <= 64);
                let exponent = exponent.ok_or_else(|| cursor.error("a power up to 64"))?;
                if exponent < 10 {
                    cursor.expect(" ")?;
                }
                KeyValue::Log2(exponent)
            }
            Some(KeyModifier::Buckets(_)) if cursor.eat(b"~ ") => {
                let low = cursor.number(10)?;
                cursor.expect("-")?;
                KeyValue::Bucket { low, high: cursor.number(10)? }
            }
            _ => match self.plain_number(cursor, at) {
                Some(number) => KeyValue::Number(number),
                None => KeyValue::Text(self.text(cursor, at, 50)?),
            },
        };
        Ok(HistKey { name: (*name).to_owned(), value })
    }

    /// A number of at least ten columns, directly after which the key ends.
    fn plain_number(&self, cursor: &mut TextCursor<'_>, at: usize) -> Option<u64> {
        let mut ahead = cursor.clone();
        let number = ahead.number(10).ok()?;
        let width = ahead.len_since(cursor);
        let ended = self.ends(at).iter().any(|end| ahead.rest().starts_with(end));
        (width >= 10 && ended).then(|| {
            *cursor = ahead;
            number
        })
    }

    /// A text, where a hexadecimal number would have ended at once.
    fn plain_text(&self, cursor: &mut TextCursor<'_>, at: usize) -> Option<String> {
        let mut ahead = cursor.clone();
        let number = ahead.number(16).is_ok() && self.ends(at).iter().any(|end| ahead.rest().starts_with(end));
        if number { None } else { self.text(cursor, at, 50).ok() }
    }

    /// A left-justified text of at least `width` bytes.
    fn text(&self, cursor: &mut TextCursor<'_>, at: usize, width: usize) -> Result<String, TableError> {
        let end = cursor.find(width, &self.ends(at)).ok_or_else(|| cursor.error("the end of the key"))?;
        let text = cursor.take(end).unwrap_or_default();
        Ok(String::from_utf8_lossy(trim_end(text, width)).into_owned())
    }

    /// Texts that may follow key number `at`.
    fn ends(&self, at: usize) -> Vec<Vec<u8>> {
        let stack_before = self.keys.iter().any(|(name, modifier)| is_stack(name, *modifier));
        match self.keys.get(at.saturating_add(1)) {
            Some((name, modifier)) if is_stack(name, *modifier) => {
                [", common_stacktrace:\n", ", stacktrace:\n", &format!(", {name}.stacktrace")].map(|s| s.into()).into()
            }
            Some((name, _)) if name == "common_cpu" => {
                [", common_cpu: ", ", cpu: ", ", CPU: "].map(|s| s.into()).into()
            }
            Some((name, _)) => vec![format!(", {name}: ").into_bytes()],
            None => {
                let close = if stack_before { "}" } else { " }" };
                let follow = match (self.hitcount, self.values.first()) {
                    (true, _) => " hitcount: ".to_owned(),
                    (false, Some((name, _))) => format!("  {name}"),
                    (false, None) => "\n".to_owned(),
                };
                // In the line about a snapshot nothing follows.
                vec![format!("{close}{follow}").into_bytes(), format!("{close}\n").into_bytes()]
            }
        }
    }

    /// `\n\tmax:        102  next_comm: usleep    ...`
    fn tracked(&self, cursor: &mut TextCursor<'_>) -> Result<Tracked, TableError> {
        cursor.expect("\n\t")?;
        let change = cursor.eat(b"changed: ");
        if !change {
            cursor.expect("max: ")?;
        }
        let value = cursor.number(10)?;
        let mut saved = Vec::new();
        for (at, name) in self.saved.iter().enumerate() {
            if !cursor.eat(format!("  {name}: ").as_bytes()) {
                return Err(cursor.error(format!("saved field `{name}`")));
            }
            let ends = match self.saved.get(at.saturating_add(1)) {
                Some(next) => vec![format!("  {next}: ").into_bytes()],
                None => ["\n{ ", "\n\n", "\n\t"].map(|s| s.into()).into(),
            };
            let mut ahead = cursor.clone();
            let number = ahead.number(10).ok().filter(|_| ahead.len_since(cursor) >= 10);
            let number = number.filter(|_| ends.iter().any(|end| ahead.rest().starts_with(end)));
            let value = if let Some(number) = number {
                *cursor = ahead;
                Saved::Number(number)
            } else {
                let end = cursor.find(32, &ends).ok_or_else(|| cursor.error("the end of the saved field"))?;
                let text = cursor.take(end).unwrap_or_default();
                Saved::Text(String::from_utf8_lossy(trim_end(text, 32)).into_owned())
            };
            saved.push((name.clone(), value));
        }
        Ok(Tracked { change, value, saved })
    }
}

fn is_stack(name: &str, modifier: Option<KeyModifier>) -> bool {
    name == "common_stacktrace" || modifier == Some(KeyModifier::Stacktrace)
}

/// The frames of a stack, each on a line of its own.
fn stack(cursor: &mut TextCursor<'_>, name: &str) -> Result<HistKey, TableError> {
    const INDENT: &[u8] = b"         ";
    let (name, field) = if cursor.eat(b"common_stacktrace:\n") {
        ("common_stacktrace", false)
    } else if cursor.eat(b"stacktrace:\n") {
        ("stacktrace", false) // before Linux 6.3
    } else if cursor.eat(format!("{name}.stacktrace").as_bytes()) {
        (name, true)
    } else {
        return Err(cursor.error("a stack"));
    };
    let mut frames = Vec::new();
    while cursor.eat(INDENT) {
        frames.push(String::from_utf8_lossy(cursor.line()?).into_owned());
    }
    Ok(HistKey { name: name.to_owned(), value: KeyValue::Stack { frames, field } })
}

/// `sh              [       154]`: a text of at least `width` bytes, then a number of at least `digits`.
fn bracketed(cursor: &mut TextCursor<'_>, width: usize, digits: usize) -> Result<(String, u64), TableError> {
    let end = cursor.find(width, &[b"[".to_vec()]).ok_or_else(|| cursor.error("`[`"))?;
    let text = cursor.take(end).unwrap_or_default();
    cursor.expect("[")?;
    let before = cursor.clone();
    let number = cursor.number(10)?;
    if cursor.len_since(&before) < digits {
        return Err(cursor.error("a wider number"));
    }
    cursor.expect("]")?;
    Ok((String::from_utf8_lossy(trim_end(text, width)).into_owned(), number))
}

/// Without the blanks that fill up to `width`; a longer text keeps what it ends with.
fn trim_end(text: &[u8], width: usize) -> &[u8] {
    if text.len() > width {
        return text;
    }
    let end = text.iter().rposition(|&b| b != b' ').map_or(0, |last| last.saturating_add(1));
    text.get(..end).unwrap_or(text)
}

fn value(cursor: &mut TextCursor<'_>, name: &str, modifier: Option<KeyModifier>) -> Result<ColumnValue, TableError> {
    let percent = modifier == Some(KeyModifier::Percent);
    let label = if percent { format!("  {name} (%):") } else { format!("  {name}: ") };
    if !cursor.eat(label.as_bytes()) {
        return Err(cursor.error(format!("value `{name}`")));
    }
    Ok(match modifier {
        Some(KeyModifier::Percent) if cursor.eat(b"[ERROR]") => ColumnValue::Percent(None),
        Some(KeyModifier::Percent) => {
            let whole = cursor.number(10)?;
            cursor.expect(".")?;
            let fraction = cursor.take(2).and_then(|d| std::str::from_utf8(d).ok()).and_then(|d| d.parse::<u32>().ok());
            let fraction = fraction.ok_or_else(|| cursor.error("two digits"))?;
            let whole = u32::try_from(whole).ok().and_then(|w| w.checked_mul(100)?.checked_add(fraction));
            ColumnValue::Percent(Some(whole.ok_or_else(|| cursor.error("a percentage"))?))
        }
        Some(KeyModifier::Graph) => {
            let bar = cursor.take(20).ok_or_else(|| cursor.error("a bar of 20 characters"))?;
            let length = bar.iter().take_while(|&&b| b == b'#').count();
            if bar.iter().skip(length).any(|&b| b != b' ') {
                return Err(cursor.error("a bar of 20 characters"));
            }
            ColumnValue::Bar(length as u8)
        }
        Some(KeyModifier::Hex) => ColumnValue::Hex(cursor.number(16)?),
        _ => ColumnValue::Number(cursor.number(10)?),
    })
}

#[derive(Clone, Debug)]
pub(super) struct TextCursor<'a> {
    data: &'a [u8],
    pos: usize,
}

impl<'a> TextCursor<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        TextCursor { data, pos: 0 }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.data.get(self.pos..).unwrap_or_default()
    }

    fn advance(&mut self, len: usize) {
        self.pos = self.pos.saturating_add(len);
    }

    /// Number of bytes between the position of `before` and this one.
    fn len_since(&self, before: &TextCursor<'_>) -> usize {
        self.pos.saturating_sub(before.pos)
    }

    pub(super) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.advance(text.len());
        }
        found
    }

    pub(super) fn expect(&mut self, text: &'static str) -> Result<(), TableError> {
        if self.eat(text.as_bytes()) { Ok(()) } else { Err(self.error(text.trim_end_matches('\n'))) }
    }

    /// The bytes up to the next newline, which is consumed.
    pub(super) fn line(&mut self) -> Result<&'a [u8], TableError> {
        let rest = self.rest();
        let line = memchr::memchr(b'\n', rest).and_then(|end| rest.get(..end));
        let line = line.ok_or_else(|| self.error("the end of the line"))?;
        self.advance(line.len().saturating_add(1));
        Ok(line)
    }

    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.rest().get(..len)?;
        self.advance(len);
        Some(taken)
    }

    fn skip_blanks(&mut self) {
        let blanks = self.rest().iter().take_while(|&&b| b == b' ').count();
        self.advance(blanks);
    }

    /// A number with blanks before it.
    pub(super) fn number(&mut self, radix: u32) -> Result<u64, TableError> {
        self.skip_blanks();
        let digits = self.rest().split(|&b| !char::from(b).is_digit(radix)).next().unwrap_or_default();
        let text = std::str::from_utf8(digits).unwrap_or_default();
        let value = u64::from_str_radix(text, radix).map_err(|_| self.error("a number"))?;
        self.advance(digits.len());
        Ok(value)
    }

    /// Position of the first of `ends`, which all begin with the same byte, at or after byte `from` of the rest. It
    /// looks no further than that: an end that never comes must not cost the rest of the file for each entry.
    pub(super) fn find(&self, from: usize, ends: &[Vec<u8>]) -> Option<usize> {
        let tail = self.rest().get(from..)?;
        let first = *ends.first()?.first()?;
        let begins = |at: &usize| tail.get(*at..).is_some_and(|rest| ends.iter().any(|end| rest.starts_with(end)));
        memchr::memchr_iter(first, tail).find(begins).map(|at| at.saturating_add(from))
    }

    pub(super) fn error(&self, expected: impl Into<String>) -> TableError {
        let before = self.data.get(..self.pos).unwrap_or(self.data);
        let line = memchr::memchr_iter(b'\n', before).count().saturating_add(1);
        let found = self.rest().split(|&b| b == b'\n').next().unwrap_or_default();
        let found: String = String::from_utf8_lossy(found).chars().take(80).collect();
        TableError { line, expected: expected.into(), found }
    }
}

/// A `hist` file that is not what a kernel prints.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found `{found}`")]
pub struct TableError {
    /// Line within the text, from 1.
    pub line: usize,
    /// The text that was expected.
    pub expected: String,
    /// The text that was found, cut to 80 characters.
    pub found: String,
}
