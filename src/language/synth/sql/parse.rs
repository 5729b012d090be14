//! Tokens to the tree.

use super::lex::{SqlToken, lex};
use super::{
    Aggregate, Calculation, Condition, Item, Join, Order, SelectColumn, SelectExpr, SqlQuery, Test, TestValue,
    ValueExpr,
};
use crate::base::syntax::{Diagnostic, Span, Spanned};

/// Parentheses and `!` may be nested so deep.
const MAX_DEPTH: usize = 64;
/// Calculations may be nested so deep, which print with as many parentheses.
const MAX_TREE: usize = 32;

impl SqlQuery {
    /// Parses a statement.
    ///
    /// # Errors
    /// A [`Diagnostic`] with the place in `text`.
    pub fn parse(text: &str) -> Result<SqlQuery> {
        let mut parser = Parser { text, tokens: lex(text)?, next: 0, depth: 0 };
        let query = parser.query()?;
        match parser.peek() {
            None => Ok(query),
            Some(_) => Err(parser.expected("the end of the statement")),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Spanned<SqlToken>>,
    next: usize,
    depth: usize,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl Parser<'_> {
    fn query(&mut self) -> Result<SqlQuery> {
        self.word("SELECT")?;
        let select = self.list(Self::selection)?;
        self.word("FROM")?;
        let from = self.item()?;
        let join = if self.eat_word("JOIN") {
            let item = self.item()?;
            self.word("ON")?;
            Some(Join { item, on: self.list(Self::equal_pair)? })
        } else {
            None
        };
        let mut conditions = Vec::new();
        if self.eat_word("WHERE") {
            loop {
                conditions.push(self.either()?);
                if !self.eat_sign(",") && !self.eat_sign("&&") {
                    break;
                }
            }
        }
        let mut group = Vec::new();
        if self.eat_clause("GROUP") {
            group = self.list(Self::value)?;
        }
        let mut order = Vec::new();
        if self.eat_clause("ORDER") {
            order = self.list(Self::order)?;
        }
        let mut limit = None;
        if self.is_limit() {
            limit = self.tokens.get(self.next + 1).and_then(|token| match &token.value {
                SqlToken::Number(number) => Some(token.with(number.clone())),
                _ => None,
            });
            self.next += 2;
        }
        Ok(SqlQuery { select, from, join, conditions, group, order, limit })
    }

    /// True at `WORD BY`. These words are names as well: fields are called `order`, and the language does not reserve them.
    fn is_clause(&self, word: &str) -> bool {
        let is = |at: usize, word: &str| {
            let token = self.tokens.get(at).map(|t| &t.value);
            matches!(token, Some(SqlToken::Name(name)) if name.eq_ignore_ascii_case(word))
        };
        is(self.next, word) && is(self.next + 1, "BY")
    }

    fn eat_clause(&mut self, word: &str) -> bool {
        let found = self.is_clause(word);
        self.next += if found { 2 } else { 0 };
        found
    }

    /// True at `LIMIT 10`, which is no name either.
    fn is_limit(&self) -> bool {
        let number = matches!(self.tokens.get(self.next + 1).map(|t| &t.value), Some(SqlToken::Number(_)));
        number && matches!(self.peek(), Some(SqlToken::Name(name)) if name.eq_ignore_ascii_case("LIMIT"))
    }

    fn order(&mut self) -> Result<Spanned<Order>> {
        let start = self.here();
        let by = self.expression()?;
        let mut descending = false;
        if let Some(SqlToken::Name(word)) = self.peek() {
            descending = word.eq_ignore_ascii_case("DESC");
            self.next += usize::from(descending || word.eq_ignore_ascii_case("ASC"));
        }
        Ok(Spanned::new(Order { by, descending }, start.to(self.before())))
    }

    /// The name of a function at `NAME(`.
    fn function(&self) -> Option<String> {
        let open = self.tokens.get(self.next + 1).is_some_and(|t| t.value == SqlToken::Sign("("));
        match self.peek() {
            Some(SqlToken::Name(name)) if open => Some(name.to_ascii_lowercase()),
            _ => None,
        }
    }

    /// Consumes `count(*)`.
    fn eat_count(&mut self) -> Result<bool> {
        let star = self.tokens.get(self.next + 2).is_some_and(|t| t.value == SqlToken::Sign("*"));
        let found = star && self.function().is_some_and(|name| name == "count");
        if found {
            self.next += 3;
            self.sign(")")?;
        }
        Ok(found)
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![one(self)?];
        while self.eat_sign(",") {
            items.push(one(self)?);
        }
        Ok(items)
    }

    fn item(&mut self) -> Result<Item> {
        let name = self.name("an event")?;
        Ok(Item { name, label: self.label()? })
    }

    fn equal_pair(&mut self) -> Result<(Spanned<String>, Spanned<String>)> {
        let left = self.name("a field")?;
        if !self.eat_sign("=") && !self.eat_sign("==") {
            return Err(self.expected("`=`"));
        }
        Ok((left, self.name("a field")?))
    }

    fn label(&mut self) -> Result<Option<Spanned<String>>> {
        if self.eat_word("AS") {
            return self.name("a name").map(Some);
        }
        match self.peek() {
            _ if self.is_clause("GROUP") || self.is_clause("ORDER") || self.is_limit() => Ok(None),
            Some(SqlToken::Name(_)) => self.name("a name").map(Some),
            _ => Ok(None),
        }
    }

    fn selection(&mut self) -> Result<Spanned<SelectColumn>> {
        let start = self.here();
        let expr = self.expression()?;
        let label = self.label()?;
        Ok(Spanned::new(SelectColumn { expr, label }, start.to(self.before())))
    }

    /// A value, or a function of many.
    fn expression(&mut self) -> Result<SelectExpr> {
        if self.eat_count()? {
            return Ok(SelectExpr::Count);
        }
        let Some(name) = self.function() else { return self.value().map(SelectExpr::Value) };
        let aggregate = Aggregate::NAMED.iter().find(|(known, _)| *known == name).map(|(_, aggregate)| *aggregate);
        if aggregate.is_none() && name != "percentile" {
            return Err(self.expected("a field"));
        }
        self.next += 2;
        let value = self.value()?;
        let aggregate = match aggregate {
            Some(aggregate) => aggregate,
            None => {
                self.sign(",")?;
                Aggregate::Percentile(self.percentage()?)
            }
        };
        self.sign(")")?;
        Ok(SelectExpr::Of(aggregate, value))
    }

    /// A number from 0 to 100 with up to four decimals, in millionths of all.
    fn percentage(&mut self) -> Result<u32> {
        let text = match self.peek() {
            Some(SqlToken::Number(text) | SqlToken::Decimal(text)) => text.as_str(),
            _ => "",
        };
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        let ten_thousandths = format!("{rest:0<4}").parse::<u32>().ok().filter(|_| rest.len() <= 4);
        let millionths = whole.parse::<u32>().ok().zip(ten_thousandths);
        let millionths = millionths
            .filter(|(whole, rest)| *whole < 100 || (*whole, *rest) == (100, 0))
            .map(|(whole, rest)| whole * 10_000 + rest);
        let Some(millionths) = millionths else {
            return Err(self.expected("a percentage from 0 to 100 with up to four decimals"));
        };
        self.next += 1;
        Ok(millionths)
    }

    /// A calculation: `*` and `/` before `+` and `-`.
    fn value(&mut self) -> Result<ValueExpr> {
        self.chain([("+", Calculation::Plus), ("-", Calculation::Minus)], |parser| {
            parser.chain([("*", Calculation::Times), ("/", Calculation::Over)], Self::operand)
        })
    }

    /// Operands between operators, from left to right.
    fn chain(
        &mut self,
        operators: [(&str, Calculation); 2],
        operand: impl Fn(&mut Self) -> Result<ValueExpr>,
    ) -> Result<ValueExpr> {
        let mut left = operand(self)?;
        while let Some((_, calculation)) = operators.iter().find(|(sign, _)| self.eat_sign(sign)) {
            left = ValueExpr::Binary(*calculation, Box::new((left, operand(self)?)));
            if left.depth() > MAX_TREE {
                return Err(Diagnostic::new("sql", self.text, left.span(), "too many operators"));
            }
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<ValueExpr> {
        let start = self.here();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::new("sql", self.text, start, "too many levels of parentheses"));
        }
        let value = if self.eat_word("CAST") {
            self.sign("(")?;
            let value = self.value()?;
            self.word("AS")?;
            let ty = match self.peek() {
                Some(SqlToken::Word("SYM-OFFSET")) => {
                    let span = self.here();
                    self.next += 1;
                    Spanned::new("sym-offset".to_owned(), span)
                }
                _ => self.name("a type")?,
            };
            self.sign(")")?;
            ValueExpr::Cast(Box::new(value), ty)
        } else if self.eat_sign("(") {
            let value = self.value()?;
            self.sign(")")?;
            value
        } else if let Some(SqlToken::Number(number)) = self.peek() {
            let number = Spanned::new(number.clone(), start);
            self.next += 1;
            ValueExpr::Number(number)
        } else {
            if self.function().is_some() {
                return Err(self.expected("a field"));
            }
            ValueExpr::Field(self.name("a field")?)
        };
        self.depth -= 1;
        Ok(value)
    }

    /// `a || b`; at the top `&&` and `,` separate, so `||` binds tighter there.
    fn either(&mut self) -> Result<Spanned<Condition>> {
        let mut left = self.simple()?;
        while self.eat_sign("||") {
            let right = self.simple()?;
            let span = left.span.to(right.span);
            left = Spanned::new(Condition::Or(Box::new(left), Box::new(right)), span);
        }
        Ok(left)
    }

    /// A test, a group or a negation of one.
    fn simple(&mut self) -> Result<Spanned<Condition>> {
        let start = self.here();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::new("sql", self.text, start, "too many levels of parentheses"));
        }
        let condition = if self.eat_sign("!") {
            let inner = self.simple()?;
            Condition::Not(Box::new(inner))
        } else if self.eat_sign("(") {
            let inner = self.group()?;
            self.sign(")")?;
            inner.value
        } else {
            Condition::Test(self.test()?)
        };
        self.depth -= 1;
        Ok(Spanned::new(condition, start.to(self.before())))
    }

    /// A condition in parentheses: `&&` before `||`.
    fn group(&mut self) -> Result<Spanned<Condition>> {
        let mut left = self.both()?;
        while self.eat_sign("||") {
            let right = self.both()?;
            let span = left.span.to(right.span);
            left = Spanned::new(Condition::Or(Box::new(left), Box::new(right)), span);
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Spanned<Condition>> {
        let mut left = self.simple()?;
        while self.eat_sign("&&") {
            let right = self.simple()?;
            let span = left.span.to(right.span);
            left = Spanned::new(Condition::And(Box::new(left), Box::new(right)), span);
        }
        Ok(left)
    }

    fn test(&mut self) -> Result<Test> {
        let field = self.name("a field")?;
        let op = match self.peek() {
            Some(SqlToken::Sign("=" | "==")) => "==",
            Some(SqlToken::Sign(sign @ ("!=" | "<" | "<=" | ">" | ">=" | "&" | "~"))) => *sign,
            _ => return Err(self.expected("a comparison (= != < <= > >= & ~)")),
        };
        self.next += 1;
        let value = match self.peek() {
            Some(SqlToken::Number(n)) if op != "~" => TestValue::Number(n.clone()),
            Some(SqlToken::Text(text)) => TestValue::Text(text.clone()),
            Some(SqlToken::Sign("-")) => {
                return Err(self.expected("a number").hint("there are no negative numbers in this language"));
            }
            _ if op == "~" => return Err(self.expected("a text in double quotes")),
            _ => return Err(self.expected("a number or a text in double quotes")),
        };
        self.next += 1;
        Ok(Test { field, op, value })
    }

    fn peek(&self) -> Option<&SqlToken> {
        self.tokens.get(self.next).map(|t| &t.value)
    }

    /// Place of the next token.
    fn here(&self) -> Span {
        self.tokens.get(self.next).map_or(Span::at(self.text.len()), |t| t.span)
    }

    /// Place of the last token.
    fn before(&self) -> Span {
        self.next.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(Span::default(), |t| t.span)
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let error = Diagnostic::new("sql", self.text, self.here(), format!("expected {what}"));
        match self.peek() {
            Some(SqlToken::Word(word)) if what == "ON" && word.eq_ignore_ascii_case("WHERE") => {
                error.hint("what two events have in common stands after ON: `... JOIN EVENT AS B ON A.FIELD = B.FIELD`")
            }
            Some(SqlToken::Word(word)) => error.hint(format!("`\\{}` is the name `{0}`", word.to_lowercase())),
            Some(SqlToken::Name(name)) => match name.to_ascii_uppercase().as_str() {
                "AND" => error.hint("write `&&`, or a comma"),
                "OR" => error.hint("write `||`"),
                "NOT" => error.hint("write `!`"),
                "GROUP" | "ORDER" | "LIMIT" | "HAVING" | "INNER" | "LEFT" => {
                    error.hint("SELECT, FROM, JOIN, ON, WHERE, GROUP BY, ORDER BY and LIMIT are known, in this order")
                }
                _ if self.function().is_some() => {
                    error.hint("functions are count, sum, min, max, avg and percentile, each of rows' values")
                }
                _ => error,
            },
            Some(SqlToken::Sign("/")) => error.hint("events are written `system.event` here"),
            _ => error,
        }
    }

    fn name(&mut self, what: &str) -> Result<Spanned<String>> {
        match self.tokens.get(self.next) {
            Some(Spanned { value: SqlToken::Name(name), span }) => {
                self.next += 1;
                Ok(Spanned::new(name.clone(), *span))
            }
            _ => Err(self.expected(what)),
        }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(SqlToken::Word(w)) if *w == word);
        self.next += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(word)) }
    }

    fn eat_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(SqlToken::Sign(s)) if *s == sign);
        self.next += usize::from(found);
        found
    }

    fn sign(&mut self, sign: &str) -> Result<()> {
        if self.eat_sign(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }
}
