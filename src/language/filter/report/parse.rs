//! Text of `-F` to a tree.
//! The syntax tree of `-F`.

use super::posix;
use crate::base::syntax::{Diagnostic, NumberError, Scanner, Span, Spanned, did_you_mean, parse_int};
use crate::kernel::format::EventFormat;
use crate::language::filter::check::number_called;
use crate::language::filter::parse::with_unit;
use crate::language::filter::test::Calc;
use crate::language::filter::{CompareOp, Filter};

const MAX_DEPTH: usize = 128;

fn parse(text: &str) -> Result<ReportFilter, Diagnostic> {
    let mut p = ReportFilterParser { s: Scanner::new(text), depth: 0 };
    let (events, rest) = text.split_once(':').map_or((text, None), |(events, rest)| (events, Some(rest)));
    let mut names = Vec::new();
    for part in events.split(',') {
        names.push(p.events(part, p.s.pos())?);
        p.s.take_while(|c| !",:".contains(c));
        p.s.bump();
    }
    let expr = match rest {
        Some(rest) if !rest.trim().is_empty() => Some(p.whole()?),
        _ => None,
    };
    Ok(ReportFilter { text: text.to_owned(), events: names, expr })
}

struct ReportFilterParser<'a> {
    s: Scanner<'a>,
    depth: usize,
}

impl ReportFilterParser<'_> {
    fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new("filter", self.s.text(), span, message)
    }

    fn error_here(&self, message: impl Into<String>) -> Diagnostic {
        self.error(self.s.next_word(), message)
    }

    /// One of the comma-separated event names, which starts at `at`.
    fn events(&self, part: &str, at: usize) -> Result<Spanned<FilteredEvents>, Diagnostic> {
        let start = at + (part.len() - part.trim_start().len());
        let span = Span::new(start, start + part.trim().len());
        let regex = |word: &str| {
            // To trace-cmd a literal star, which no name has; here all names, as in globs.
            let word = if word == "*" { ".*" } else { word };
            let pattern = format!("^(?:{})$", posix::basic_to_regex(word).map_err(|e| self.error(span, e))?);
            regex::RegexBuilder::new(&pattern)
                .case_insensitive(true)
                .build()
                .map_err(|_| self.error(span, "not a regular expression"))
        };
        let part = part.trim();
        let (system, event) = match part.split_once('/') {
            Some((system, event)) => (Some(system.trim()), event.trim()),
            None => (None, part),
        };
        if event.is_empty() || system.is_some_and(str::is_empty) {
            return Err(self
                .error(span, "expected the name of an event")
                .hint("as in `sched/sched_switch: prev_pid == 1`"));
        }
        Ok(Spanned::new(FilteredEvents { system: system.map(regex).transpose()?, event: regex(event)? }, span))
    }

    fn whole(&mut self) -> Result<ReportExpr, Diagnostic> {
        let expr = self.logic()?;
        match self.s.peek() {
            None => Ok(expr),
            Some(')') => Err(self.error_here("too many `)`")),
            Some(':') => Err(self
                .error_here("expected `&&`, `||` or the end of the filter")
                .hint("the event is named with a slash: `sched/sched_switch: prev_pid == 1`")),
            Some('=') if !self.s.rest().starts_with("==") => {
                let meant = match self.s.rest().get(..2) {
                    Some("=>") => "did you mean `>=`?",
                    Some("=<") => "did you mean `<=`?",
                    _ => "`equals` is written `==`",
                };
                Err(self.error_here("expected `&&`, `||` or the end of the filter").hint(meant))
            }
            Some('~') => {
                let glob = self.s.rest().strip_prefix('~').unwrap_or_default().trim_start();
                let quoted = glob.strip_prefix(['"', '\'']).and_then(|rest| rest.split(['"', '\'']).next());
                let text = quoted.unwrap_or(glob);
                let begin = if text.starts_with('*') { "" } else { "^" };
                let end = if text.ends_with('*') { "" } else { "$" };
                let text = format!("{begin}{}{end}", text.trim_matches('*'));
                let hint = format!(
                    "a regular expression is matched by `=~`: `=~ \"{text}\"`; globs are of the kernel's language, in `--filter`"
                );
                Err(self.error_here("expected `&&`, `||` or the end of the filter").hint(hint))
            }
            Some(_) => Err(self.error_here("expected `&&`, `||` or the end of the filter")),
        }
    }

    /// `a && b || c`, from the left.
    fn logic(&mut self) -> Result<ReportExpr, Diagnostic> {
        let mut left = self.unary()?;
        loop {
            self.s.skip_space();
            let and = self.s.eat("&&");
            if !and && !self.s.eat("||") {
                return Ok(left);
            }
            let (a, b) = (Box::new(left), Box::new(self.unary()?));
            left = if and { ReportExpr::And(a, b) } else { ReportExpr::Or(a, b) };
        }
    }

    fn unary(&mut self) -> Result<ReportExpr, Diagnostic> {
        self.s.skip_space();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error_here(format!("nested deeper than {MAX_DEPTH} levels")));
        }
        let start = self.s.clone();
        let expr = if self.s.eat("!") {
            ReportExpr::Not(Box::new(self.unary()?))
        } else if self.s.eat("(") {
            match self.parenthesis()? {
                Some(inner) => inner,
                // `(prev_state & 1) == 1`: the parenthesis is a number
                None => {
                    self.s = start;
                    self.comparison()?
                }
            }
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(expr)
    }

    /// The rest of `(expr)`; `None` if an operator follows, so that it was a number in parentheses.
    fn parenthesis(&mut self) -> Result<Option<ReportExpr>, Diagnostic> {
        let open = Span::new(self.s.pos() - 1, self.s.pos());
        let inner = self.logic()?;
        if !self.s.eat(")") {
            let missing = self.error(open, "missing `)`");
            return Err(if self.s.at_end() { missing } else { self.error_here("expected `&&`, `||` or `)`") });
        }
        let mut ahead = self.s.clone();
        ahead.skip_space();
        let rest = ahead.rest();
        let boolean = rest.is_empty() || rest.starts_with(')') || rest.starts_with("&&") || rest.starts_with("||");
        Ok((boolean || !matches!(inner, ReportExpr::NonZero(_))).then_some(inner))
    }

    fn comparison(&mut self) -> Result<ReportExpr, Diagnostic> {
        let left = self.calc(0)?;
        self.s.skip_space();
        let start = self.s.pos();
        let Some(op) = self.compare_op() else {
            return match left {
                ReportOperand::Text(text) => Err(self.error(text.span, "text alone is neither true nor false")),
                _ => Ok(ReportExpr::NonZero(left)),
            };
        };
        let op = Spanned::new(op, self.s.span_from(start));
        let right = self.calc(0)?;
        Ok(ReportExpr::Compare { left, op, right })
    }

    fn compare_op(&mut self) -> Option<ReportOperator> {
        const OPS: [(&str, ReportOperator); 8] = [
            ("=~", ReportOperator::Regex { positive: true }),
            ("!~", ReportOperator::Regex { positive: false }),
            ("==", ReportOperator::Number(CompareOp::Equal)),
            ("!=", ReportOperator::Number(CompareOp::NotEqual)),
            ("<=", ReportOperator::Number(CompareOp::LessEqual)),
            (">=", ReportOperator::Number(CompareOp::GreaterEqual)),
            ("<", ReportOperator::Number(CompareOp::Less)),
            (">", ReportOperator::Number(CompareOp::Greater)),
        ];
        OPS.into_iter().find(|(text, _)| self.s.eat(text)).map(|(_, op)| op)
    }

    /// Arithmetic with C's precedence; `level` 0 binds least.
    fn calc(&mut self, level: usize) -> Result<ReportOperand, Diagnostic> {
        const LEVELS: [&[(&str, Calc)]; 6] = [
            &[("|", Calc::Or)],
            &[("^", Calc::Xor)],
            &[("&", Calc::And)],
            &[("<<", Calc::Shl), (">>", Calc::Shr)],
            &[("+", Calc::Add), ("-", Calc::Sub)],
            &[("*", Calc::Mul), ("/", Calc::Div), ("%", Calc::Mod)],
        ];
        let Some(ops) = LEVELS.get(level) else { return self.item() };
        let mut left = self.calc(level + 1)?;
        loop {
            self.s.skip_space();
            let rest = self.s.rest();
            if rest.starts_with("&&") || rest.starts_with("||") {
                return Ok(left);
            }
            let start = self.s.pos();
            let Some((_, op)) = ops.iter().find(|(text, _)| self.s.eat(text)) else { return Ok(left) };
            let span = self.s.span_from(start);
            let right = self.calc(level + 1)?;
            if [&left, &right].iter().any(|side| matches!(side, ReportOperand::Text(_))) {
                return Err(self.error(span, "text cannot be calculated with"));
            }
            left = ReportOperand::Calc(Box::new((left, *op, right)));
        }
    }

    fn item(&mut self) -> Result<ReportOperand, Diagnostic> {
        self.s.skip_space();
        let start = self.s.pos();
        match self.s.peek() {
            None => {
                let is_glob = self.s.text().trim_end().ends_with('*');
                let glob = is_glob.then(|| "a regular expression is matched by `=~`: `comm =~ \"^dd\"`".to_owned());
                Err(self.error_here("expected a field or a value, found the end of the filter").hint_opt(glob))
            }
            Some(quote @ ('"' | '\'')) => {
                self.s.bump();
                let text = self.s.take_while(|c| c != quote);
                if self.s.bump().is_none() {
                    return Err(self.error(Span::new(start, start + 1), "missing the matching quote"));
                }
                let span = self.s.span_from(start);
                let mut chars = text.chars();
                Ok(match (quote, chars.next(), chars.next()) {
                    ('\'', Some(c), None) if c.is_ascii() => ReportOperand::Char(Spanned::new(c, span)),
                    _ => ReportOperand::Text(Spanned::new(text.to_owned(), span)),
                })
            }
            Some('-') => Err(self
                .error_here("there are no negative numbers here")
                .hint("everything is compared as unsigned 64 bits: -1 is 0xffffffffffffffff")),
            Some('(') => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(self.error_here(format!("nested deeper than {MAX_DEPTH} levels")));
                }
                self.s.bump();
                let inner = self.calc(0)?;
                self.depth -= 1;
                self.s.skip_space();
                if !self.s.eat(")") {
                    return Err(self.error(Span::new(start, start + 1), "missing `)`"));
                }
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() => {
                self.s.take_while(|c| c.is_ascii_alphanumeric());
                let span = self.s.span_from(start);
                let word = span.of(self.s.text());
                let value = parse_int(word)
                    .map_err(|e: NumberError| self.error(span, e.to_string()).hint_opt(with_unit(word)))?;
                Ok(ReportOperand::Number(Spanned::new(value as u64, span)))
            }
            Some(_) => {
                let name = self.s.identifier().to_owned();
                if name.is_empty() {
                    return Err(self.error_here("expected a field or a value"));
                }
                Ok(ReportOperand::Field(Spanned::new(name, self.s.span_from(start))))
            }
        }
    }
}

/// One `-F` (or `-v -F`): the events it is for, and what must hold of them.
#[derive(Clone, Debug)]
pub struct ReportFilter {
    pub(super) text: String,
    pub(super) events: Vec<Spanned<FilteredEvents>>,
    /// `None`: the events are chosen whatever they hold.
    pub(super) expr: Option<ReportExpr>,
}

impl ReportFilter {
    /// Parses `EVENTS[: EXPR]`.
    ///
    /// # Errors
    /// A [`Diagnostic`] labelled `filter` with the place of the error.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        parse(text)
    }

    /// The first field that it compares and none of the events of `formats` has that it names, as an error with the place
    /// in the text; `None` if it names no event. Such a comparison is false ([`ReportFilters`](super::ReportFilters)).
    pub fn unknown_field<'f>(&self, formats: impl IntoIterator<Item = &'f EventFormat>) -> Option<Diagnostic> {
        let fits = |f: &&EventFormat| self.events.iter().any(|events| events.value.fits(&f.system, &f.name));
        let formats: Vec<&EventFormat> = formats.into_iter().filter(fits).collect();
        let first = formats.first()?;
        let mut fields = Vec::new();
        self.expr.iter().for_each(|expr| expr.fields(&mut fields));
        let is_known = |name: &str| matches!(name, "CPU" | "COMM") || formats.iter().any(|f| f.field(name).is_some());
        let unknown = fields.into_iter().find(|field| !is_known(&field.value))?;
        let place = match formats.as_slice() {
            [one] => format!("in {}:{}", one.system, one.name),
            many => format!("in any of the {} events that the filter names", many.len()),
        };
        let message = format!("field `{}` not found {place}", unknown.value);
        let names =
            formats.iter().flat_map(|f| f.fields.iter().chain(f.common.iter())).map(|field| field.name.as_str());
        let own: Vec<&str> = first.fields.iter().map(|field| field.name.as_str()).collect();
        let before = self.text.get(..unknown.span.start).unwrap_or_default().trim_end();
        let is_value = ["==", "!=", "~"].iter().any(|operator| before.ends_with(operator));
        let compared = before.trim_end_matches(['=', '!', '~']).trim_end();
        let compared = compared.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let is_number = formats.iter().filter_map(|format| format.field(compared)).any(|field| !field.is_string());
        let texts = || first.fields.iter().filter(|field| field.is_string());
        let number = || formats.iter().find_map(|format| number_called(format, compared, &unknown.value));
        let number = is_value.then(number).flatten().filter(|_| is_number);
        let number = number.map(|number| format!("`{}` is {number} there: `{compared} == {number}`", unknown.value));
        let near = is_value.then(|| match (is_number, texts().next()) {
            (true, Some(text)) => {
                let texts: Vec<&str> = texts().map(|field| field.name.as_str()).collect();
                let (texts, text, value) = (texts.join(", "), &text.name, &unknown.value);
                format!("`{compared}` is a number; texts are in {texts}: `{text} == \"{value}\"`")
            }
            (true, None) => format!("`{compared}` is a number"),
            (false, _) => format!("a text is in quotes: `\"{}\"`", unknown.value),
        });
        let near = number.or(near);
        // Elsewhere SYSTEM:EVENT is an event; here a colon begins the expression.
        let event = formats.iter().find(|format| format.name == unknown.value);
        let near = near
            .or_else(|| event.map(|format| format!("`{}/{}` names the event", format.system, format.name)))
            .or_else(|| did_you_mean(&unknown.value, names))
            .or_else(|| (formats.len() == 1).then(|| format!("its fields are {}", own.join(", "))));
        Some(Diagnostic::new("filter", &self.text, unknown.span, message).hint_opt(near))
    }

    /// The error that a number is compared with a text in each of the events of `formats` that the filter names.
    pub fn wrong_type<'f>(&self, formats: impl IntoIterator<Item = &'f EventFormat>) -> Option<Diagnostic> {
        let fits = |f: &&EventFormat| self.events.iter().any(|events| events.value.fits(&f.system, &f.name));
        let (_, expr) = self.text.split_once(':')?;
        let filter = Filter::parse(expr).ok()?;
        let mut formats = formats.into_iter().filter(fits).peekable();
        let error = filter.check(formats.peek()?).err().filter(|error| error.message.ends_with("cannot be text"))?;
        formats.all(|format| filter.check(format).is_err()).then_some(error)
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The events that are meant; regular expressions, each for the whole name.
#[derive(Clone, Debug)]
pub(super) struct FilteredEvents {
    /// Before the slash; `None`: the one word may be a system or an event.
    system: Option<regex::Regex>,
    event: regex::Regex,
}

impl FilteredEvents {
    pub(super) fn fits(&self, system: &str, event: &str) -> bool {
        match &self.system {
            Some(wanted) => wanted.is_match(system) && self.event.is_match(event),
            None => self.event.is_match(system) || self.event.is_match(event),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum ReportExpr {
    And(Box<ReportExpr>, Box<ReportExpr>),
    Or(Box<ReportExpr>, Box<ReportExpr>),
    Not(Box<ReportExpr>),
    Compare { left: ReportOperand, op: Spanned<ReportOperator>, right: ReportOperand },
    NonZero(ReportOperand),
}

impl ReportExpr {
    /// Adds the fields that it looks at, in the order of the text.
    fn fields<'e>(&'e self, found: &mut Vec<&'e Spanned<String>>) {
        match self {
            ReportExpr::And(a, b) | ReportExpr::Or(a, b) => {
                a.fields(found);
                b.fields(found);
            }
            ReportExpr::Not(inner) => inner.fields(found),
            ReportExpr::Compare { left, right, .. } => {
                left.fields(found);
                right.fields(found);
            }
            ReportExpr::NonZero(num) => num.fields(found),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum ReportOperator {
    Number(CompareOp),
    /// `=~`, or `!~` if not `positive`.
    Regex {
        positive: bool,
    },
}

#[derive(Clone, Debug)]
pub(super) enum ReportOperand {
    Number(Spanned<u64>),
    /// In `"`, or in `'` and not one character.
    Text(Spanned<String>),
    /// One character in `'`: a number, but text for a regular expression.
    Char(Spanned<char>),
    Field(Spanned<String>),
    Calc(Box<(ReportOperand, Calc, ReportOperand)>),
}

impl ReportOperand {
    fn fields<'e>(&'e self, found: &mut Vec<&'e Spanned<String>>) {
        match self {
            ReportOperand::Field(name) => found.push(name),
            ReportOperand::Calc(calc) => {
                calc.0.fields(found);
                calc.2.fields(found);
            }
            ReportOperand::Number(_) | ReportOperand::Text(_) | ReportOperand::Char(_) => {}
        }
    }
}
