//! Expressions: `common_timestamp.usecs-$ts0`, `-(a*2+b)`.
//! A part of the text that knows where it stands in the whole.

use super::{BinaryOp, HistExpr, KeyModifier, SpecError, SpecErrorKind as Kind, VarRef};
use crate::base::syntax::{NumberError, Span, Spanned, did_you_mean, parse_int};

const MODIFIERS: [&str; 11] =
    ["hex", "sym", "sym-offset", "syscall", "execname", "log2", "buckets", "usecs", "stacktrace", "percent", "graph"];

type Result<T> = std::result::Result<T, SpecError>;

impl HistExpr {
    /// Parses a key, a value, or what a variable is set to: `id.syscall`.
    ///
    /// # Errors
    /// [`SpecError`] with the place in `text`.
    pub fn parse(text: &str) -> Result<HistExpr> {
        if let Some(at) = text.find([',', ':', ' ', '\n', '\0']) {
            return Err(SpecError::new(Kind::BadName(text.to_owned()), Span::new(at, at + 1)));
        }
        expr(SpecPiece::new(text)).map(|parsed| parsed.value)
    }
}

/// A whole expression.
pub(super) fn expr(piece: SpecPiece<'_>) -> Result<Spanned<HistExpr>> {
    if let Some(inner) = piece.strip_prefix("-") {
        // The kernel takes a sign only as `-(...)` around everything.
        let inner = inner.strip_prefix("(").filter(|p| p.text.ends_with(')'));
        let inner = inner.ok_or_else(|| SpecError::new(Kind::Parentheses, piece.span()))?;
        let inner = SpecPiece { text: &inner.text[..inner.text.len() - 1], ..inner };
        return Ok(Spanned::new(HistExpr::Neg(Box::new(sum(inner)?)), piece.span()));
    }
    sum(piece)
}

/// `+` and `-`, left to right; operands are products.
fn sum(piece: SpecPiece<'_>) -> Result<Spanned<HistExpr>> {
    if let Some(at) = piece.text.find(['(', ')']) {
        return Err(SpecError::new(Kind::Parentheses, piece.slice(at, at + 1).span()));
    }
    let operators = operators(piece.text, ['+', '-']);
    chain(piece, &operators, |p| chain(p, &self::operators(p.text, ['*', '/']), atom))
}

/// Positions of `wanted` as operators: the `-` of `.sym-offset` is not one.
fn operators(text: &str, wanted: [char; 2]) -> Vec<usize> {
    let found = text.match_indices(wanted).map(|(at, _)| at);
    found.filter(|&at| !(text[..at].ends_with(".sym") && text[at..].starts_with("-offset"))).collect()
}

fn chain(
    piece: SpecPiece<'_>,
    operators: &[usize],
    operand: impl Fn(SpecPiece<'_>) -> Result<Spanned<HistExpr>>,
) -> Result<Spanned<HistExpr>> {
    let mut left: Option<(Spanned<HistExpr>, BinaryOp)> = None;
    let mut start = 0;
    for &at in operators.iter().chain([&piece.text.len()]) {
        let part = piece.slice(start, at);
        if part.text.is_empty() {
            let place = piece.slice(start.saturating_sub(1), at);
            let kind = if operators.is_empty() { Kind::Empty("field") } else { Kind::MissingOperand };
            return Err(SpecError::new(kind, place.span()));
        }
        let right = operand(part)?;
        let node = match left.take() {
            None => right,
            Some((left, op)) => {
                let span = left.span.to(right.span);
                Spanned::new(HistExpr::Binary { op, left: Box::new(left), right: Box::new(right) }, span)
            }
        };
        let op = match piece.text.as_bytes().get(at) {
            Some(b'+') => BinaryOp::Add,
            Some(b'-') => BinaryOp::Sub,
            Some(b'*') => BinaryOp::Mul,
            Some(b'/') => BinaryOp::Div,
            _ => return Ok(node),
        };
        left = Some((node, op));
        start = at + 1;
    }
    Err(SpecError::new(Kind::MissingOperand, piece.span()))
}

/// A number, a variable or a field.
fn atom(piece: SpecPiece<'_>) -> Result<Spanned<HistExpr>> {
    let text = piece.text;
    let node = if text.starts_with(|c: char| c.is_ascii_digit()) {
        HistExpr::Number(number(piece)?)
    } else if text.contains('$') {
        HistExpr::Var(variable(piece)?)
    } else {
        let (name, modifier) = match piece.split_once('.') {
            Some((name, rest)) => (name, Some(self::modifier(rest)?)),
            None => (piece, None),
        };
        HistExpr::Field { name: self::name(name)?, modifier }
    };
    Ok(Spanned::new(node, piece.span()))
}

/// An unsigned number as `kstrtoull` with base 0 reads it.
pub(super) fn number(piece: SpecPiece<'_>) -> Result<u64> {
    let bad = || SpecError::new(Kind::BadNumber(piece.text.to_owned()), piece.span());
    match parse_int(piece.text) {
        Ok(n) if !piece.text.starts_with(['+', '-']) => u64::try_from(n).map_err(|_| bad()),
        Ok(_) | Err(NumberError::Malformed) => Err(bad()),
        Err(NumberError::Range) => Err(bad().hint("numbers have 64 bits")),
    }
}

/// `$ts0` or `sched.sched_waking.$ts0`
pub(super) fn variable(piece: SpecPiece<'_>) -> Result<VarRef> {
    let at = piece.text.find('$').unwrap_or(0);
    // Linux 6.1 shows what it reads as `system.event.$name` as `$system.event.name`.
    if at == 0 && piece.text.matches('.').count() == 2 {
        let mut parts = piece.text[1..].split('.');
        if let (Some(system), Some(event), Some(name)) = (parts.next(), parts.next(), parts.next())
            && [system, event, name].into_iter().all(is_name)
        {
            return Ok(VarRef { event: Some((system.to_owned(), event.to_owned())), name: name.to_owned() });
        }
    }
    let name = self::name(piece.from(at + 1))?;
    if at == 0 {
        return Ok(VarRef { event: None, name });
    }
    let event = piece.slice(0, at).text.strip_suffix('.').and_then(|e| e.split_once('.'));
    match event {
        Some((system, event)) if is_name(system) && is_name(event) => {
            Ok(VarRef { event: Some((system.to_owned(), event.to_owned())), name })
        }
        _ => Err(SpecError::new(Kind::BadName(piece.text.to_owned()), piece.span())
            .hint("a variable is `$name` or `system.event.$name`")),
    }
}

/// The name of a field, a variable, an event.
pub(super) fn name(piece: SpecPiece<'_>) -> Result<String> {
    if piece.text.is_empty() {
        return Err(SpecError::new(Kind::Empty("name"), Span::at(piece.start)));
    }
    if !is_name(piece.text) {
        return Err(SpecError::new(Kind::BadName(piece.text.to_owned()), piece.span()));
    }
    Ok(piece.text.to_owned())
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The modifier after the dot.
pub(super) fn modifier(piece: SpecPiece<'_>) -> Result<KeyModifier> {
    // Like the kernel, by its first letters; what it prints back is `buckets`.
    if piece.text.starts_with("bucket") {
        let bad = || SpecError::new(Kind::BadBuckets, piece.span());
        let (word, size) = piece.split_once('=').ok_or_else(bad)?;
        if !matches!(word.text, "bucket" | "buckets") {
            return Err(bad());
        }
        return match number(size)? {
            0 => Err(bad()),
            n => Ok(KeyModifier::Buckets(n)),
        };
    }
    Ok(match piece.text {
        "hex" => KeyModifier::Hex,
        "sym" => KeyModifier::Sym,
        "sym-offset" => KeyModifier::SymOffset,
        "syscall" => KeyModifier::Syscall,
        "execname" => KeyModifier::Execname,
        "log2" => KeyModifier::Log2,
        "usecs" => KeyModifier::Usecs,
        "stacktrace" => KeyModifier::Stacktrace,
        "percent" => KeyModifier::Percent,
        "graph" => KeyModifier::Graph,
        "" => return Err(SpecError::new(Kind::Empty("modifier"), Span::at(piece.start))),
        other => {
            let error = SpecError::new(Kind::UnknownModifier(other.to_owned()), piece.span());
            let by_name = ["comm", "name", "task"].contains(&other);
            let by_name = by_name.then(|| {
                "`common_pid.execname` is the task that the event is of; names of others are fields, as `next_comm`"
                    .to_owned()
            });
            return Err(match by_name.or_else(|| did_you_mean(other, MODIFIERS)) {
                Some(hint) => error.hint(hint),
                None => error.hint(format!("modifiers are {}", MODIFIERS.join(", "))),
            });
        }
    })
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SpecPiece<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl<'a> SpecPiece<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        SpecPiece { text, start: 0 }
    }

    pub(super) fn span(&self) -> Span {
        Span::new(self.start, self.start + self.text.len())
    }

    /// The part from byte `from` to byte `to`, which must be boundaries of characters within the text.
    pub(super) fn slice(&self, from: usize, to: usize) -> SpecPiece<'a> {
        SpecPiece { text: &self.text[from..to], start: self.start + from }
    }

    pub(super) fn from(&self, from: usize) -> SpecPiece<'a> {
        self.slice(from, self.text.len())
    }

    /// The text before and after the first `separator`.
    pub(super) fn split_once(&self, separator: char) -> Option<(SpecPiece<'a>, SpecPiece<'a>)> {
        let at = self.text.find(separator)?;
        Some((self.slice(0, at), self.from(at + separator.len_utf8())))
    }

    /// Like `str::split`.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = SpecPiece<'a>> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let piece = rest?;
            match piece.split_once(separator) {
                Some((head, tail)) => {
                    rest = Some(tail);
                    Some(head)
                }
                None => rest.take(),
            }
        })
    }

    pub(super) fn strip_prefix(&self, prefix: &str) -> Option<SpecPiece<'a>> {
        self.text.starts_with(prefix).then(|| self.from(prefix.len()))
    }

    pub(super) fn trim(&self) -> SpecPiece<'a> {
        let head = self.text.len() - self.text.trim_start().len();
        self.slice(head, head + self.text.trim().len())
    }

    pub(super) fn owned(&self) -> Spanned<String> {
        Spanned::new(self.text.to_owned(), self.span())
    }
}
