//! Tokens to syntax tree: C's expression grammar, without assignments.

use super::ast::{Ast, CExpr, CType, of_words};
use super::lex::{PrintFmtToken, TokenKind, tokens};
use super::{PrintFmtError, ast};

/// Limit of nested expressions (the deepest seen in a kernel is about 30).
const MAX_DEPTH: usize = 160;

/// Parses the text after `print fmt: `.
pub(super) fn parse(text: &str, long_size: u8) -> Result<Ast, PrintFmtError> {
    let tokens = tokens(text)?;
    let mut p = PrintParser { tokens, pos: 0, depth: 0, long_size };
    let TokenKind::Text(format) = p.peek().clone() else { return Err(p.unexpected("a format string")) };
    p.skip(1);
    let mut args = Vec::new();
    while p.eat(",") {
        if *p.peek() == TokenKind::End {
            break;
        }
        args.push(p.expr()?.0);
    }
    match p.peek() {
        TokenKind::End => Ok(Ast { format, args }),
        _ => Err(p.unexpected("`,`")),
    }
}

/// An expression and how deep its tree is.
type Deep = (CExpr, usize);

struct PrintParser {
    tokens: Vec<PrintFmtToken>,
    pos: usize,
    depth: usize,
    long_size: u8,
}

impl PrintParser {
    fn peek(&self) -> &TokenKind {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &TokenKind {
        self.tokens.get(self.pos.saturating_add(ahead)).map_or(&TokenKind::End, |t| &t.kind)
    }

    fn skip(&mut self, tokens: usize) {
        self.pos = self.pos.saturating_add(tokens);
    }

    fn offset(&self) -> usize {
        self.tokens.get(self.pos).or(self.tokens.last()).map_or(0, |t| t.offset)
    }

    fn is(&self, op: &str) -> bool {
        matches!(self.peek(), TokenKind::Op(o) if *o == op)
    }

    fn is_at(&self, ahead: usize, op: &str) -> bool {
        matches!(self.peek_at(ahead), TokenKind::Op(o) if *o == op)
    }

    fn eat(&mut self, op: &str) -> bool {
        let hit = self.is(op);
        self.skip(usize::from(hit));
        hit
    }

    fn want(&mut self, op: &'static str) -> Result<(), PrintFmtError> {
        if self.eat(op) { Ok(()) } else { Err(self.unexpected(op)) }
    }

    fn unexpected(&self, expected: &'static str) -> PrintFmtError {
        let found = match self.peek() {
            TokenKind::Word(w) => w.clone(),
            TokenKind::Number { value, .. } => value.to_string(),
            TokenKind::Text(t) => format!("\"{}\"", String::from_utf8_lossy(t)),
            TokenKind::Op(op) => (*op).to_owned(),
            TokenKind::End => String::new(),
        };
        PrintFmtError::Syntax { offset: self.offset(), expected, found }
    }

    /// One level deeper than its deepest part.
    fn node(&self, expr: CExpr, parts: &[usize]) -> Result<Deep, PrintFmtError> {
        let depth = parts.iter().max().map_or(1, |d| d.saturating_add(1));
        if depth > MAX_DEPTH { Err(PrintFmtError::TooDeep { offset: self.offset() }) } else { Ok((expr, depth)) }
    }

    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T, PrintFmtError>) -> Result<T, PrintFmtError> {
        if self.depth >= MAX_DEPTH {
            return Err(PrintFmtError::TooDeep { offset: self.offset() });
        }
        let depth = self.depth;
        self.depth = depth.saturating_add(1);
        let result = f(self);
        self.depth = depth;
        result
    }

    fn expr(&mut self) -> Result<Deep, PrintFmtError> {
        self.nested(|p| {
            let (cond, depth) = p.binary(1)?;
            if !p.eat("?") {
                return Ok((cond, depth));
            }
            if p.eat(":") {
                // `a ?: b`: a is named, not copied, so that nesting stays linear
                let (no, no_depth) = p.expr()?;
                let name = || Box::new(CExpr::Name("?:".to_owned()));
                let choice = CExpr::Choice(name(), name(), no.into());
                return p.node(
                    CExpr::Block(vec![("?:".to_owned(), None, cond)], choice.into()),
                    &[depth, no_depth.saturating_add(1)],
                );
            }
            let (yes, yes_depth) = p.expr()?;
            p.want(":")?;
            let (no, no_depth) = p.expr()?;
            p.node(CExpr::Choice(cond.into(), yes.into(), no.into()), &[depth, yes_depth, no_depth])
        })
    }

    /// Operators that bind at least as tightly as `min` (C11 6.5.5 to 6.5.14), left to right.
    fn binary(&mut self, min: u8) -> Result<Deep, PrintFmtError> {
        let mut left = self.unary()?;
        loop {
            let TokenKind::Op(op) = *self.peek() else { return Ok(left) };
            // how tightly it binds, and its right operand
            let (binds, after) = match op {
                "||" => (1, 2),
                "&&" => (2, 3),
                "|" => (3, 4),
                "^" => (4, 5),
                "&" => (5, 6),
                "==" | "!=" => (6, 7),
                "<" | ">" | "<=" | ">=" => (7, 8),
                "<<" | ">>" => (8, 9),
                "+" | "-" => (9, 10),
                "*" | "/" | "%" => (10, 11),
                _ => return Ok(left),
            };
            if binds < min {
                return Ok(left);
            }
            self.skip(1);
            let right = self.nested(|p| p.binary(after))?;
            left = self.node(CExpr::Binary(op, left.0.into(), right.0.into()), &[left.1, right.1])?;
        }
    }

    fn unary(&mut self) -> Result<Deep, PrintFmtError> {
        self.nested(|p| {
            for (op, unary) in [("!", '!'), ("~", '~'), ("-", '-'), ("+", '+')] {
                if p.eat(op) {
                    let (inner, depth) = p.unary()?;
                    return p.node(CExpr::Unary(unary, inner.into()), &[depth]);
                }
            }
            if p.eat("*") {
                let (inner, depth) = p.unary()?;
                let zero = CExpr::Number(0, CType::INT);
                return p.node(CExpr::Index(inner.into(), zero.into()), &[depth]);
            }
            if p.eat("&") {
                let (inner, depth) = p.unary()?;
                return p.node(CExpr::Address(inner.into()), &[depth]);
            }
            if p.is("(")
                && let Some(ctype) = p.cast()
            {
                let (inner, depth) = p.unary()?;
                return p.node(CExpr::Cast(ctype, inner.into()), &[depth]);
            }
            p.postfix()
        })
    }

    /// `(type)` in front of an operand, consumed; `None` (nothing consumed) if the parenthesis is no cast.
    fn cast(&mut self) -> Option<Option<CType>> {
        let start = self.pos;
        self.skip(1);
        let ctype = self.type_name();
        let sure = matches!(self.tokens.get(start.saturating_add(1)).map(|t| &t.kind), Some(TokenKind::Word(w)) if ast::starts_type(w));
        if let Some(ctype) = ctype
            && self.eat(")")
        {
            let operand = match self.peek() {
                TokenKind::Word(_) | TokenKind::Number { .. } | TokenKind::Text(_) | TokenKind::Op("(") => true,
                TokenKind::Op("-" | "+" | "~" | "!" | "*" | "&") => sure,
                _ => false,
            };
            if operand {
                return Some(ctype);
            }
        }
        self.pos = start;
        None
    }

    /// Words and stars that spell a type. The outer `None` means there is no type here.
    fn type_name(&mut self) -> Option<Option<CType>> {
        let mut words: Vec<String> = Vec::new();
        while let TokenKind::Word(w) = self.peek() {
            if w == "REC" {
                return None;
            }
            words.push(w.clone());
            self.skip(1);
        }
        if words.is_empty() || self.is("->") {
            return None;
        }
        let mut stars = 0usize;
        while self.is("*") || matches!(self.peek(), TokenKind::Word(w) if w == "const") {
            stars = stars.saturating_add(self.is("*").into());
            self.skip(1);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Some(of_words(&words, stars, self.long_size))
    }

    fn postfix(&mut self) -> Result<Deep, PrintFmtError> {
        let mut left = self.primary()?;
        loop {
            if self.eat("[") {
                let index = self.expr()?;
                self.want("]")?;
                left = self.node(CExpr::Index(left.0.into(), index.0.into()), &[left.1, index.1])?;
            } else {
                return Ok(left);
            }
        }
    }

    fn primary(&mut self) -> Result<Deep, PrintFmtError> {
        if self.is("(")
            && self.is_at(2, ")")
            && self.is_at(3, "->")
            && matches!(self.peek_at(1), TokenKind::Word(w) if w == "REC")
        {
            self.skip(3); // `(REC)->field`
            return self.field();
        }
        match self.peek().clone() {
            TokenKind::Number { value, unsigned, long } => {
                self.skip(1);
                self.node(CExpr::Number(value, self.constant_type(value, unsigned, long)), &[])
            }
            TokenKind::Text(text) => {
                self.skip(1);
                self.node(CExpr::Text(text), &[])
            }
            TokenKind::Op("(") if self.is_at(1, "{") => self.block(),
            TokenKind::Op("(") => {
                self.skip(1);
                let inner = self.expr()?;
                self.want(")")?;
                Ok(inner)
            }
            TokenKind::Op("{") => {
                self.skip(1);
                let (items, depth) = self.list("}")?;
                self.node(CExpr::Braces(items), &[depth])
            }
            TokenKind::Word(word) => self.word(word),
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// C's type of an integer constant without regard to its base (decimal ones never become unsigned by themselves,
    /// but no kernel writes one that large).
    fn constant_type(&self, value: u64, unsigned: bool, long: bool) -> CType {
        let fits_int = i32::try_from(value).is_ok() || (unsigned && u32::try_from(value).is_ok());
        let size = if long || !fits_int && u32::try_from(value).is_err() { 8 } else { 4 };
        let size = if long && self.long_size == 4 && u32::try_from(value).is_ok() { 4 } else { size };
        let signed = !unsigned && if size == 4 { fits_int } else { i64::try_from(value).is_ok() };
        CType::number(size, signed)
    }

    /// `->name`, after `REC`.
    fn field(&mut self) -> Result<Deep, PrintFmtError> {
        self.want("->")?;
        let TokenKind::Word(field) = self.peek().clone() else { return Err(self.unexpected("a field name")) };
        self.skip(1);
        if field == "ent" && self.eat(".") {
            // `REC->ent.pid`, since Linux 7.0: the head of every record, whose fields formats call `common_pid`
            let TokenKind::Word(member) = self.peek().clone() else { return Err(self.unexpected("a field name")) };
            self.skip(1);
            return self.node(CExpr::Field(format!("common_{member}")), &[]);
        }
        self.node(CExpr::Field(field), &[])
    }

    fn word(&mut self, word: String) -> Result<Deep, PrintFmtError> {
        self.skip(1);
        if word == "REC" {
            return self.field();
        }
        if self.is(".")
            && let TokenKind::Word(member) = self.peek_at(1).clone()
        {
            // `kernel_map.page_offset` of riscv64: a member of a variable of the kernel's, which is known as little as the variable
            self.skip(2);
            return self.node(CExpr::Name(format!("{word}.{member}")), &[]);
        }
        if !self.is("(") {
            return self.node(CExpr::Name(word), &[]);
        }
        self.skip(1);
        if word == "sizeof" {
            return self.sizeof();
        }
        let (args, depth) = self.list(")")?;
        self.node(CExpr::Call(word, args), &[depth])
    }

    /// Comma-separated expressions up to and with `close`; a trailing comma is allowed.
    fn list(&mut self, close: &'static str) -> Result<(Vec<CExpr>, usize), PrintFmtError> {
        let mut items = Vec::new();
        let mut depth = 0;
        loop {
            if self.eat(close) {
                return Ok((items, depth));
            }
            // `__get_dynamic_array(name)` and `__print_flags(x, , {..})`: an empty argument is an empty text
            let item = if self.is(",") { (CExpr::Text(Vec::new()), 1) } else { self.expr()? };
            depth = depth.max(item.1);
            items.push(item.0);
            if !self.eat(",") {
                self.want(close)?;
                return Ok((items, depth));
            }
        }
    }

    fn sizeof(&mut self) -> Result<Deep, PrintFmtError> {
        let start = self.pos;
        if self.assertion() {
            return self.node(CExpr::Number(0, CType::number(self.long_size, false)), &[]);
        }
        let structure = matches!(self.peek(), TokenKind::Word(w) if w == "struct");
        if let Some(ctype) = self.type_name().filter(|t| t.is_some() || structure)
            && self.eat(")")
        {
            if let Some(ctype) = ctype {
                return self.node(CExpr::Number(ctype.size.into(), CType::number(self.long_size, false)), &[]);
            }
            let words = self.tokens.get(start..self.pos).unwrap_or_default().iter().filter_map(|t| match &t.kind {
                TokenKind::Word(word) => Some(word.as_str()),
                _ => None,
            });
            let name = CExpr::Name(words.collect::<Vec<_>>().join(" "));
            return self.node(CExpr::Call("sizeof".to_owned(), vec![name]), &[]);
        }
        self.pos = start;
        let (inner, depth) = self.expr()?;
        self.want(")")?;
        self.node(CExpr::Call("sizeof".to_owned(), vec![inner]), &[depth])
    }

    /// `struct { _Static_assert(...); })` after `sizeof(`, consumed: a structure of no size, with which ARRAY_SIZE() checks
    /// at compile time that it was given an array (include/linux/compiler.h, `__BUILD_BUG_ON_ZERO_MSG()`).
    fn assertion(&mut self) -> bool {
        let start = self.pos;
        let begins = matches!(self.peek(), TokenKind::Word(w) if w == "struct")
            && self.is_at(1, "{")
            && matches!(self.peek_at(2), TokenKind::Word(w) if w == "_Static_assert");
        while begins && *self.peek() != TokenKind::End {
            self.skip(1);
            if self.is(";") && self.is_at(1, "}") && self.is_at(2, ")") {
                self.skip(3);
                return true;
            }
        }
        self.pos = start;
        false
    }

    /// `({ type name = value; ... result; })`: what min() and max() leave in a print format; a value may be a table.
    fn block(&mut self) -> Result<Deep, PrintFmtError> {
        self.skip(2);
        let mut bound = Vec::new();
        let mut depth = 0;
        loop {
            let start = self.pos;
            if let Some((name, ctype)) = self.declaration() {
                let value = self.expr().map_err(|_| PrintFmtError::Statements)?;
                depth = depth.max(value.1);
                self.want(";").map_err(|_| PrintFmtError::Statements)?;
                bound.push((name, ctype, value.0));
                continue;
            }
            self.pos = start;
            let result = self.expr().map_err(|_| PrintFmtError::Statements)?;
            if !(self.eat(";") && self.eat("}") && self.eat(")")) {
                return Err(PrintFmtError::Statements);
            }
            return self.node(CExpr::Block(bound, result.0.into()), &[depth, result.1]);
        }
    }

    /// `type name =`, `type name[] =`.
    fn declaration(&mut self) -> Option<(String, Option<CType>)> {
        let mut words = Vec::new();
        while let TokenKind::Word(w) = self.peek() {
            words.push(w.clone());
            self.skip(1);
        }
        let name = words.pop()?;
        if self.is("[") && self.is_at(1, "]") && self.is_at(2, "=") {
            self.skip(2);
        }
        if words.is_empty() || !self.eat("=") {
            return None;
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ctype = if words.contains(&"__auto_type") { None } else { of_words(&words, 0, self.long_size) };
        Some((name, ctype))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arg(text: &str) -> CExpr {
        parse(&format!("\"\", {text}"), 8).unwrap().args.remove(0)
    }

    #[test]
    fn precedence_and_associativity_are_c_s() {
        assert_eq!(arg("1 - 2 - 3"), arg("((1 - 2) - 3)"));
        assert_eq!(arg("1 | 2 & 3 == 4 << 5 + 6 * 7"), arg("1 | (2 & (3 == (4 << (5 + (6 * 7)))))"));
        assert_eq!(arg("1 ? 2 : 3 ? 4 : 5"), arg("1 ? 2 : (3 ? 4 : 5)"));
        assert_ne!(arg("(1 - 2) - 3"), arg("1 - (2 - 3)"));
    }

    #[test]
    fn casts_are_distinguished_from_parentheses() {
        assert!(matches!(arg("(unsigned long)REC->a"), CExpr::Cast(Some(_), _)));
        assert!(matches!(arg("(struct page *)x + 1"), CExpr::Binary("+", ..)));
        assert!(matches!(arg("(xfs_ino_t) REC->a"), CExpr::Cast(None, _)));
        assert!(matches!(arg("(x) - 1"), CExpr::Binary("-", ..)));
        assert!(matches!(arg("(int)-1"), CExpr::Cast(Some(_), _)));
    }

    #[test]
    fn nesting_is_bounded() {
        for (open, close) in [("(", ")"), ("!", ""), ("(int)", ""), ("f(", ")"), ("1?", ":1"), ("1+(", ")")] {
            let text = format!("\"\", {}1{}", open.repeat(100_000), close.repeat(100_000));
            assert!(matches!(parse(&text, 8), Err(PrintFmtError::TooDeep { .. })), "{open}");
        }
        let chain = format!("\"\", 1{}", "+1".repeat(100_000));
        assert!(matches!(parse(&chain, 8), Err(PrintFmtError::TooDeep { .. })));
    }
}
