//! Text of `-F` to a tree.

use super::ast::{FilteredEvents, ReportExpr, ReportFilter, ReportOperand, ReportOperator};
use super::posix;
use crate::base::syntax::{Diagnostic, NumberError, Scanner, Span, Spanned, parse_int};
use crate::language::filter::CompareOp;
use crate::language::filter::test::Calc;

const MAX_DEPTH: usize = 128;

pub(super) fn parse(text: &str) -> Result<ReportFilter, Diagnostic> {
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
            None => Err(self.error_here("expected a field or a value, found the end of the filter")),
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
                let value =
                    parse_int(span.of(self.s.text())).map_err(|e: NumberError| self.error(span, e.to_string()))?;
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
