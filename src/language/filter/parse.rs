//! Text of the kernel's filter language to a tree.

use super::{CompareOp, FieldModifier, FilterExpr, FilterValue, Predicate};
use crate::base::syntax::{Diagnostic, NumberError, Scanner, Span, Spanned, parse_int};
use crate::base::units::ByteSize;
use std::str::FromStr;

/// Parentheses and `!` may be nested this deep: the tree is walked recursively.
const MAX_DEPTH: usize = 128;
/// The kernel refuses strings of this many bytes (`MAX_FILTER_STR_VAL`).
const MAX_TEXT: usize = 256;
/// The kernel refuses what does not fit a page.
const MAX_FILTER: usize = 4096;

impl FromStr for FilterExpr {
    type Err = Diagnostic;

    /// Parses a filter. Whether its fields exist and fit is another question: [`Filter::check`](super::Filter::check).
    ///
    /// # Errors
    /// A [`Diagnostic`] labelled `filter` with the place of the error.
    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        let mut parser = FilterParser { s: Scanner::new(text), depth: 0 };
        if text.len() >= MAX_FILTER {
            return Err(parser.error(Span::new(MAX_FILTER - 1, text.len()), "the kernel takes at most 4095 bytes"));
        }
        if let Some(at) = text.find('\0') {
            return Err(parser.error(Span::new(at, at + 1), "a NUL would end the filter for the kernel"));
        }
        let expr = parser.or()?;
        match parser.s.peek() {
            None => Ok(expr),
            Some(')') => Err(parser.error_here("too many `)`")),
            Some(_) => Err(parser.unexpected()),
        }
    }
}

struct FilterParser<'a> {
    s: Scanner<'a>,
    depth: usize,
}

impl FilterParser<'_> {
    fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new("filter", self.s.text(), span, message)
    }

    fn error_here(&self, message: impl Into<String>) -> Diagnostic {
        self.error(self.s.next_word(), message)
    }

    /// Something stands where `&&`, `||` or the end should be.
    fn unexpected(&self) -> Diagnostic {
        let error = self.error_here("expected `&&`, `||` or the end of the filter");
        match self.s.next_word().of(self.s.text()).to_ascii_lowercase().as_str() {
            "and" | "&" => error.hint("`and` is written `&&`"),
            "or" | "|" => error.hint("`or` is written `||`"),
            _ if self.s.rest().starts_with('=') && !self.s.rest().starts_with("==") => {
                error.hint("`equals` is written `==`")
            }
            _ => {
                let before = self.s.text().get(..self.s.pos()).unwrap_or_default();
                error.hint_opt(
                    super::number_forms::at(before, self.s.rest()).or_else(|| no_number(before, self.s.rest())),
                )
            }
        }
    }

    fn or(&mut self) -> Result<FilterExpr, Diagnostic> {
        let first = self.and()?;
        self.chain(first, "||", Self::and, FilterExpr::Or)
    }

    fn and(&mut self) -> Result<FilterExpr, Diagnostic> {
        let first = self.unary()?;
        self.chain(first, "&&", Self::unary, FilterExpr::And)
    }

    fn chain(
        &mut self,
        first: FilterExpr,
        op: &str,
        next: fn(&mut Self) -> Result<FilterExpr, Diagnostic>,
        many: fn(Vec<FilterExpr>) -> FilterExpr,
    ) -> Result<FilterExpr, Diagnostic> {
        let mut parts = vec![first];
        self.s.skip_space();
        while self.s.eat(op) {
            parts.push(next(self)?);
            self.s.skip_space();
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => many(parts),
        })
    }

    fn unary(&mut self) -> Result<FilterExpr, Diagnostic> {
        self.s.skip_space();
        let start = self.s.pos();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error_here(format!("nested deeper than {MAX_DEPTH} levels")));
        }
        let expr = if self.s.eat("!") {
            FilterExpr::Not(Box::new(self.unary()?))
        } else if self.s.eat("(") {
            let inner = self.or()?;
            if !self.s.eat(")") {
                let open = Span::new(start, start + 1);
                return Err(if self.s.at_end() { self.error(open, "missing `)`") } else { self.unexpected() });
            }
            inner
        } else {
            FilterExpr::Predicate(self.predicate()?)
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn predicate(&mut self) -> Result<Predicate, Diagnostic> {
        let start = self.s.pos();
        // As the kernel: digits may lead, such fields do not exist, but the message is then about the field.
        let name = self.s.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() {
            return Err(if self.s.at_end() {
                self.error_here("expected a field, found the end of the filter")
            } else {
                self.error_here("expected a field")
            });
        }
        let field = Spanned::new(name.to_owned(), self.s.span_from(start));
        let modifier = self.modifier()?;
        self.s.skip_space();
        let op = self.op()?;
        self.s.skip_space();
        let value = if matches!(modifier, Some(Spanned { value: FieldModifier::Function, .. })) {
            self.function()?
        } else {
            self.value()?
        };
        Ok(Predicate { field, modifier, op, value, span: self.s.span_from(start) })
    }

    fn modifier(&mut self) -> Result<Option<Spanned<FieldModifier>>, Diagnostic> {
        let start = self.s.pos();
        if !self.s.eat(".") {
            return Ok(None);
        }
        let word = self.s.identifier();
        let span = self.s.span_from(start);
        let modifier = match word {
            "ustring" => FieldModifier::UserString,
            "function" => FieldModifier::Function,
            _ => {
                return Err(self
                    .error(span, "unknown field modifier")
                    .hint("filters know `.ustring` (text in user space) and `.function` (an address within one)"));
            }
        };
        Ok(Some(Spanned::new(modifier, span)))
    }

    fn op(&mut self) -> Result<Spanned<CompareOp>, Diagnostic> {
        let start = self.s.pos();
        let rest = self.s.rest();
        if !rest.starts_with("&&")
            && let Some(op) = CompareOp::ALL.into_iter().find(|op| self.s.eat(op.text()))
        {
            let span = self.s.span_from(start);
            // `prev_pid & = 1`, `=~`: what is left of another language's operator
            if self.s.peek() == Some('=') || (op == CompareOp::Glob && self.s.peek() == Some('~')) {
                return Err(self.bad_op(Span::new(start, span.end + 1)));
            }
            return Ok(Spanned::new(op, span));
        }
        let taken = self.s.clone().take_while(|c| "=!<>~&|+-*/%^".contains(c)).len().max(1);
        Err(self.bad_op(Span::new(start, (start + taken).min(self.s.text().len()))))
    }

    fn bad_op(&self, span: Span) -> Diagnostic {
        let error = self.error(span, "invalid operator");
        let found = span.of(self.s.text());
        match found {
            "=" | "===" => error.hint("`equals` is written `==`"),
            "=~" | "~=" | "~~" => error.hint(regex_as_glob(Span::new(span.end, self.s.text().len()).of(self.s.text()))),
            "!~" => error.hint("not matching is written `!(field ~ \"glob\")`"),
            _ if word_before(self.s.text(), span.start) == Some("not") => {
                error.hint("`not` is written `!`: `!(a == 1)`")
            }
            _ if word_before(self.s.text(), span.start) == Some("if") => error.hint("it stands without `if`"),
            "" => {
                error.hint("the filter ends here: quotes keep the shell from taking a `<` or `>`, `'prev_prio > 100'`")
            }
            _ if self.s.rest().starts_with("/root ") || self.s.rest().starts_with("/home/") => {
                error.hint("the shell made a directory of `~`: quote the filter, `'comm ~ \"ls*\"'`")
            }
            _ if self.s.rest().starts_with("in ") => error.hint("one of several is written `a == 1 || a == 2`"),
            _ if self.s.rest().starts_with("is ") => error.hint("`is` is written `==`"),
            _ => error.hint("operators are == != < <= > >= & and, for text, ~ (a glob)"),
        }
    }

    fn value(&mut self) -> Result<Spanned<FilterValue>, Diagnostic> {
        let start = self.s.pos();
        let value = match self.s.peek() {
            None => return Err(self.error_here("expected a value, found the end of the filter")),
            Some(quote @ ('"' | '\'')) => self.text(quote)?,
            Some(c) if c.is_ascii_digit() || c == '-' => self.number()?,
            Some('C') if self.s.rest().starts_with("CPUS{") => self.cpus()?,
            Some(_) => {
                let bare = |c: char| c.is_ascii_alphanumeric() || "_./*?:@+-".contains(c);
                let word = self.s.take_while(bare);
                if word.is_empty() {
                    let error = self.error_here("invalid value (text goes in quotes)");
                    let of_shell = "a variable of the shell is replaced in double quotes only: \"next_pid == $$\".";
                    return Err(error.hint_opt(self.s.rest().starts_with('$').then(|| of_shell.to_owned())));
                }
                FilterValue::Text(word.to_owned())
            }
        };
        Ok(Spanned::new(value, self.s.span_from(start)))
    }

    fn text(&mut self, quote: char) -> Result<FilterValue, Diagnostic> {
        let start = self.s.pos();
        self.s.bump();
        let text = self.s.take_while(|c| c != quote).to_owned();
        if self.s.bump().is_none() {
            return Err(self.error(Span::new(start, start + 1), "missing the matching quote"));
        }
        if text.len() >= MAX_TEXT {
            return Err(self.error(self.s.span_from(start), "the kernel takes at most 255 bytes of text"));
        }
        Ok(FilterValue::Text(text))
    }

    fn number(&mut self) -> Result<FilterValue, Diagnostic> {
        let start = self.s.pos();
        self.s.eat("-");
        self.s.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let span = self.s.span_from(start);
        let word = span.of(self.s.text());
        let value = parse_int(word).map_err(|e| match e {
            NumberError::Malformed => {
                self.error(span, "illegal integer value").hint(with_unit(word).unwrap_or_else(|| {
                    "numbers are decimal, 0x hex or, with a leading 0, octal; text goes in quotes".to_owned()
                }))
            }
            NumberError::Range => self.error(span, "illegal integer value: it does not fit 64 bits"),
        })?;
        let hex = word.trim_start_matches('-').to_ascii_lowercase().starts_with("0x");
        Ok(FilterValue::Number { value, hex })
    }

    fn cpus(&mut self) -> Result<FilterValue, Diagnostic> {
        let start = self.s.pos();
        self.s.eat("CPUS{");
        let inner = self.s.pos();
        let list = self.s.take_while(|c| c != '}');
        let span = self.s.span_from(inner);
        if !self.s.eat("}") {
            return Err(self.error(Span::new(start, inner), "missing `}`"));
        }
        let list = list.parse().map_err(|e: super::CpuListError| self.error(span, e.to_string()))?;
        Ok(FilterValue::Cpus(list))
    }

    /// A function's name or an address inside it. Quotes, which the kernel would take for part of the name, are cut.
    fn function(&mut self) -> Result<Spanned<FilterValue>, Diagnostic> {
        let start = self.s.pos();
        let quote = self.s.peek().filter(|c| "\"'".contains(*c));
        if quote.is_some() {
            self.s.bump();
        }
        let name = self.s.take_while(|c| c.is_ascii_alphanumeric() || "_.$:".contains(c)).to_owned();
        if name.is_empty() || (quote.is_some() && self.s.bump() != quote) {
            return Err(self.error_here("expected the name of a function"));
        }
        Ok(Spanned::new(FilterValue::Function(name), self.s.span_from(start)))
    }
}

/// The hint on a calculation or an address, of which the filter before its first number is `before`.
fn no_number(before: &str, rest: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let first = before.get(before.trim_end_matches(is_digit).len()..).filter(|digits| !digits.is_empty())?;
    let operator = rest.chars().next()?;
    let second = rest.get(operator.len_utf8()..)?.trim_start();
    let second = second.get(..second.find(|c| !is_digit(c)).unwrap_or(second.len()))?;
    let (a, b): (u64, u64) = (first.parse().ok()?, second.parse().ok()?);
    let value = match operator {
        '*' => a.checked_mul(b),
        '+' => a.checked_add(b),
        '-' => a.checked_sub(b),
        '/' => a.checked_div(b),
        '.' => {
            return Some(
                "a number has no dot; addresses are bytes, which filters do not compare, ports are numbers".to_owned(),
            );
        }
        _ => None,
    };
    Some(format!("filters do not calculate: `{first}{operator}{second}` is {}", value?))
}

/// The hint on a number with a unit of bytes, as `32K`.
pub(super) fn with_unit(word: &str) -> Option<String> {
    let ByteSize(bytes) = ByteSize::parse_with_unit(word, 1).ok()?;
    Some(format!("numbers have no unit: `{word}` is {bytes}"))
}

/// The hint on a comparison with a regular expression, which is what `rest` begins with: the glob that it may stand for.
fn regex_as_glob(rest: &str) -> String {
    let rest = rest.trim_start();
    let pattern = rest.split(['"', '\'']).nth(1).filter(|_| rest.starts_with(['"', '\'']));
    let Some(pattern) = pattern.filter(|text| text.contains(['^', '$', '+']) || text.contains(".*")) else {
        return "a glob is matched with `~`".to_owned();
    };
    let inner = pattern.trim_start_matches('^').trim_end_matches('$').replace(".*", "*").replace(".+", "?*");
    format!("there are no regular expressions; as a glob, `~ \"{inner}\"`")
}

/// The word that ends before `at`.
fn word_before(text: &str, at: usize) -> Option<&str> {
    text.get(..at)?.split_whitespace().next_back()
}
