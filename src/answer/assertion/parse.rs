//! Assertions from text.

use super::ast::{
    Assertion, DurationSource, EventsExpr, HistogramQuantity, LABEL, Latency, Operation, Quantity, QuantityExpr,
    Reducer,
};
use super::interval::{Compare, Dimension, Interval};
use super::words::{named_argument, no_comparison, other_name, other_source, other_unit, what_follows};
use crate::base::syntax::{Diagnostic, Scanner, Span, Spanned, did_you_mean};
use crate::language::filter::Filter;

/// Parentheses within parentheses.
const DEEPEST: usize = 50;
/// Numbers and quantities of one assertion: its tree is as deep.
const MOST_OPERANDS: usize = 200;

/// Functions of durations: what happened many times.
pub const DURATIONS: [&str; 10] =
    ["latency", "wait", "preempted", "syscall", "irq", "io", "function", "lock", "life", "hist"];

/// Those of them that can fail.
const WITH_ERRORS: [&str; 2] = ["syscall", "io"];
/// Functions of quantities, and those of durations that are taken for one.
pub const QUANTITIES: [&str; 22] = [
    "lost", "duration", "count", "rate", "min", "max", "mean", "trimmed", "sum", "p50", "p90", "p99", "p99.9",
    "errors", "busy", "run", "latency", "wait", "syscall", "faults", "live", "hist",
];

impl Assertion {
    /// Parses `text`.
    ///
    /// # Errors
    /// A [`Diagnostic`] labelled `assert` with the place of the error.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let mut parser = AssertionParser::new(LABEL, text);
        let left = parser.sum()?;
        let op = parser.comparison()?;
        let right = parser.sum()?;
        parser.end()?;
        let assertion = Assertion { text: text.to_owned(), left, op, right };
        if assertion.left.dimension() != assertion.right.dimension() {
            let (left, right) = (word(assertion.left.dimension()), word(assertion.right.dimension()));
            let error = assertion.error(Span::new(0, text.len()), format!("{left} is compared with {right}"));
            if assertion.left.dimension() == Dimension::Time && text.trim_end().ends_with('%') {
                let (quantity, limit) = text.split_at(text.find(['<', '>', '=', '!']).unwrap_or_default());
                return Err(error.hint(format!("A share of the time: `{} / duration {limit}`.", quantity.trim())));
            }
            let in_ms =
                text.trim_end().ends_with(|c: char| c.is_ascii_digit()) && left == "a time" && right == "a number";
            let line = if in_ms { format!(": `{}ms`", text.trim_end()) } else { String::new() };
            return Err(error.hint(format!("Times have a unit (500us, 2ms, 1s), rates end with /s (100/s){line}.")));
        }
        let is_busy = |side: &QuantityExpr| matches!(side, QuantityExpr::Quantity(quantity) if matches!(quantity.value, Quantity::Busy));
        let is_beyond = |side: &QuantityExpr| matches!(side, QuantityExpr::Number(number) if number.least > 1.0);
        let (left, right) = (&assertion.left, &assertion.right);
        if (is_busy(left) && is_beyond(right)) || (is_busy(right) && is_beyond(left)) {
            let error = assertion.error(Span::new(0, text.len()), "`busy` is a share between 0 and 1");
            return Err(error.hint("As in `busy < 80%`."));
        }
        if assertion.left.quantities().is_empty() && assertion.right.quantities().is_empty() {
            return Err(assertion.error(Span::new(0, text.len()), "it says nothing about the recording"));
        }
        Ok(assertion)
    }

    /// Parses a quantity, or several combined, as an assertion that says nothing of it: the value is what is wanted.
    ///
    /// # Errors
    /// As [`Assertion::parse`].
    pub fn of_quantity(text: &str) -> Result<Self, Diagnostic> {
        let mut parser = AssertionParser::new("quantity", text);
        let left = parser.sum()?;
        if parser.scanner.rest().trim_start().starts_with(['<', '>', '=', '!']) {
            return Err(parser
                .here("a quantity is not compared with anything")
                .hint("`--value QUANTITY` prints the number, `--assert COMPARISON` holds a limit."));
        }
        parser.end()?;
        let right = QuantityExpr::Number(Interval::exactly(0.0, left.dimension()));
        let assertion = Assertion { text: text.to_owned(), left, op: Compare::GreaterOrEqual, right };
        if assertion.left.quantities().is_empty() {
            return Err(assertion.error(Span::new(0, text.len()), "it says nothing about the recording"));
        }
        Ok(assertion)
    }
}

fn word(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Number => "a number",
        Dimension::Time => "a time",
        Dimension::Rate => "a rate",
    }
}

pub(super) struct AssertionParser<'a> {
    /// The name of the text in errors.
    label: &'static str,
    scanner: Scanner<'a>,
    depth: usize,
    operands: usize,
}

impl<'a> AssertionParser<'a> {
    pub(super) fn new(label: &'static str, text: &'a str) -> Self {
        AssertionParser { label, scanner: Scanner::new(text), depth: 0, operands: 0 }
    }

    /// Nothing but space may follow.
    pub(super) fn end(&mut self) -> Result<(), Diagnostic> {
        self.scanner.skip_space();
        if self.scanner.at_end() {
            return Ok(());
        }
        let before = Span::new(0, self.scanner.pos()).of(self.scanner.text());
        let hint = what_follows(self.label, before, self.scanner.rest());
        Err(self.here("nothing more is expected here").hint_opt(hint))
    }

    fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.label, self.scanner.text(), span, message)
    }

    pub(super) fn here(&self, message: impl Into<String>) -> Diagnostic {
        self.error(self.scanner.next_word(), message)
    }

    fn expect(&mut self, token: &str) -> Result<(), Diagnostic> {
        self.scanner.skip_space();
        if self.scanner.eat(token) { Ok(()) } else { Err(self.here(format!("`{token}` is expected here"))) }
    }

    pub(super) fn comparison(&mut self) -> Result<Compare, Diagnostic> {
        self.scanner.skip_space();
        let all = [
            ("<=", Compare::LessOrEqual),
            (">=", Compare::GreaterOrEqual),
            ("==", Compare::Equal),
            ("!=", Compare::NotEqual),
            ("<", Compare::Less),
            (">", Compare::Greater),
        ];
        match all.into_iter().find(|(token, _)| self.scanner.eat(token)) {
            Some((_, op)) => Ok(op),
            None => {
                let hint = no_comparison(self.scanner.rest());
                Err(self.here("a comparison is expected here: < <= > >= == !=").hint_opt(hint))
            }
        }
    }

    pub(super) fn sum(&mut self) -> Result<QuantityExpr, Diagnostic> {
        let mut left = self.product()?;
        loop {
            self.scanner.skip_space();
            let start = self.scanner.pos();
            let operation = match (self.scanner.eat("+"), self.scanner.eat("-")) {
                (true, _) => Operation::Plus,
                (_, true) => Operation::Minus,
                _ => return Ok(left),
            };
            let right = self.product()?;
            let dimension = left.dimension();
            if dimension != right.dimension() {
                let message = format!("{} and {} have no sum", word(dimension), word(right.dimension()));
                return Err(self.error(Span::new(start, start.saturating_add(1)), message));
            }
            left = QuantityExpr::Combined(Box::new(left), operation, Box::new(right), dimension);
        }
    }

    fn product(&mut self) -> Result<QuantityExpr, Diagnostic> {
        let mut left = self.operand()?;
        loop {
            self.scanner.skip_space();
            let start = self.scanner.pos();
            let operation = match (self.scanner.eat("*"), self.scanner.eat("/")) {
                (true, _) => Operation::Times,
                (_, true) => Operation::Over,
                _ => return Ok(left),
            };
            let right = self.operand()?;
            use Dimension::{Number, Rate, Time};
            let dimension = match (left.dimension(), operation, right.dimension()) {
                (one, Operation::Times, Number) | (Number, Operation::Times, one) | (one, Operation::Over, Number) => {
                    one
                }
                (Rate, Operation::Times, Time) | (Time, Operation::Times, Rate) => Number,
                (Number, Operation::Over, Time) => Rate,
                (a, Operation::Over, b) if a == b => Number,
                (a, _, b) => {
                    let message = format!("{} and {} cannot be combined so", word(a), word(b));
                    return Err(self.error(Span::new(start, start.saturating_add(1)), message));
                }
            };
            left = QuantityExpr::Combined(Box::new(left), operation, Box::new(right), dimension);
        }
    }

    fn operand(&mut self) -> Result<QuantityExpr, Diagnostic> {
        self.scanner.skip_space();
        self.operands = self.operands.saturating_add(1);
        if self.operands > MOST_OPERANDS {
            return Err(self.here(format!("an assertion has {MOST_OPERANDS} numbers and quantities at most")));
        }
        match self.scanner.peek() {
            Some('(') => {
                if self.depth >= DEEPEST {
                    return Err(self.here("parentheses are too deep"));
                }
                self.depth = self.depth.saturating_add(1);
                self.scanner.bump();
                let inner = self.sum()?;
                self.expect(")")?;
                self.depth = self.depth.saturating_sub(1);
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => {
                let start = self.scanner.pos();
                let quantity = self.quantity()?;
                Ok(QuantityExpr::Quantity(Box::new(Spanned::new(quantity, self.scanner.span_from(start)))))
            }
            Some('"' | '\'') => {
                Err(self.here("a number or a quantity is expected here").hint("numbers stand without quotes: `5ms`"))
            }
            _ => Err(self
                .here("a number or a quantity is expected here")
                .hint("as in `max(wait()) < 5ms`, `lost == 0`, `count(sched:sched_switch) > 0`")),
        }
    }

    fn number(&mut self) -> Result<QuantityExpr, Diagnostic> {
        let start = self.scanner.pos();
        let digits = self.scanner.take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '_')).replace('_', "");
        let Ok(number) = digits.parse::<f64>() else {
            let is_path = digits == "." && self.scanner.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '[');
            let hint = is_path.then(|| {
                "paths are for `jq`, behind `rtrace analyze ... --json`; here as in `p95(wait()) < 5ms`".to_owned()
            });
            return Err(self.error(self.scanner.span_from(start), "not a number").hint_opt(hint));
        };
        let unit = self.unit();
        let (factor, dimension) = match unit {
            "" => (1.0, Dimension::Number),
            "%" => (0.01, Dimension::Number),
            "ns" => (1.0, Dimension::Time),
            "us" => (1e3, Dimension::Time),
            "ms" => (1e6, Dimension::Time),
            "s" => (1e9, Dimension::Time),
            "m" | "min" => (60e9, Dimension::Time),
            "h" => (3600e9, Dimension::Time),
            "K" | "KiB" => (1024.0, Dimension::Number),
            "M" | "MiB" => (1_048_576.0, Dimension::Number),
            "G" | "GiB" => (1_073_741_824.0, Dimension::Number),
            "T" | "TiB" => (1_099_511_627_776.0, Dimension::Number),
            _ => {
                let error = self.error(self.scanner.span_from(start), format!("`{unit}` is no unit"));
                return Err(error
                    .hint_opt(other_unit(unit).map(|own| format!("did you mean `{digits}{own}`?")))
                    .hint("Units are ns, us, ms, s, min, h, %, KiB, MiB, GiB, and /s of rates; numbers are written out, as 10000."));
            }
        };
        let rest = self.scanner.rest();
        let is_rate = unit.is_empty()
            && rest
                .strip_prefix("/s")
                .is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
        if is_rate {
            self.scanner.eat("/s");
            return Ok(QuantityExpr::Number(Interval::exactly(number, Dimension::Rate)));
        }
        Ok(QuantityExpr::Number(Interval::exactly(number * factor, dimension)))
    }

    /// The text behind a number: a unit may stand after blanks.
    fn unit(&mut self) -> &'a str {
        let is_of_unit = |c: char| c.is_ascii_alphabetic() || c == '%';
        let mut ahead = self.scanner.clone();
        ahead.skip_space();
        let is_unit =
            ["%", "ns", "us", "ms", "s", "min", "h", "KiB", "MiB", "GiB"].contains(&ahead.take_while(is_of_unit));
        if is_unit {
            self.scanner.skip_space();
        }
        self.scanner.take_while(is_of_unit)
    }

    /// A quantity, or a source by itself, which is any one of its durations.
    pub(super) fn one_of_many(&mut self) -> Result<Spanned<Quantity>, Diagnostic> {
        self.scanner.skip_space();
        let start = self.scanner.pos();
        let quantity = match DURATIONS.contains(&self.scanner.clone().identifier()) {
            true => Quantity::Reduced(Reducer::Max, self.source()?),
            false => self.quantity()?,
        };
        Ok(Spanned::new(quantity, self.scanner.span_from(start)))
    }

    /// A name as functions have it; quantiles may have decimals.
    fn name(&mut self) -> &'a str {
        let mut ahead = self.scanner.clone();
        let name = ahead.identifier();
        if is_quantile(name) && ahead.rest().starts_with('.') {
            return self.scanner.take_while(|c| c.is_ascii_alphanumeric() || c == '.');
        }
        self.scanner.identifier()
    }

    fn quantity(&mut self) -> Result<Quantity, Diagnostic> {
        let start = self.scanner.pos();
        let name = self.name();
        let span = self.scanner.span_from(start);
        let reducer = match name {
            "lost" | "duration" | "busy" => {
                self.scanner.skip_space();
                if self.scanner.eat("(") {
                    self.expect(")").map_err(|error| error.hint(format!("`{name}` is of the whole recording")))?;
                }
                return Ok(match name {
                    "lost" => Quantity::Lost,
                    "busy" => Quantity::Busy,
                    _ => Quantity::Duration,
                });
            }
            "run" => return self.pattern().map(Quantity::Run),
            "faults" => return self.pattern().map(Quantity::Faults),
            "live" => return self.pattern().map(Quantity::Live),
            "rate" => return self.in_parentheses(Self::events_alone).map(Quantity::Rate),
            "errors" => {
                if !self.arguments_follow() {
                    let example = "as in `errors(syscall())`, `errors(io())`";
                    return Err(self.here("`(` is expected here").hint(example));
                }
                let source = self.in_parentheses(|parser| parser.source_of(&WITH_ERRORS))?;
                return match source {
                    _ if matches!(source.parts().0, DurationSource::Syscall(_) | DurationSource::Io(_)) => {
                        Ok(Quantity::Errors(source))
                    }
                    _ => Err(self.error(span, "only syscall() and io() have errors")),
                };
            }
            "count" if !self.source_follows() => return self.in_parentheses(Self::events_alone).map(Quantity::Count),
            "count" => Reducer::Count,
            "min" => Reducer::Min,
            "max" => Reducer::Max,
            "mean" => Reducer::Mean,
            "trimmed" => Reducer::Trimmed,
            "sum" => Reducer::Sum,
            quantile if is_quantile(quantile) => {
                let percent = quantile.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok());
                match percent.filter(|percent| *percent > 0.0 && *percent < 100.0) {
                    Some(percent) => Reducer::Quantile(percent),
                    None => {
                        let error = self.error(span, "a quantile is between p0 and p100, as p50, p99.9");
                        return Err(error.hint("Its durations stand in parentheses: `p99(wait())`."));
                    }
                }
            }
            source if DURATIONS.contains(&source) => {
                let error = self.error(span, format!("{source}() is many times: which of them is compared?"));
                return Err(error.hint(format!("As in `max({source}())`, `p99({source}())`, `count({source}())`.")));
            }
            _ => {
                let error = self.error(span, "no such quantity");
                return Err(error
                    .hint_opt(other_name(name).or_else(|| did_you_mean(name, QUANTITIES)))
                    .hint("`rtrace help assertions` lists them."));
            }
        };
        if !self.arguments_follow() {
            let example = format!("as in `{name}(wait())`, `{name}(syscall(read))`");
            return Err(self.here("`(` is expected here").hint(example));
        }
        Ok(Quantity::Reduced(reducer, self.in_parentheses(Self::source)?))
    }

    /// True if `(`, the name of a source and `(` are next.
    fn source_follows(&self) -> bool {
        let mut ahead = self.scanner.clone();
        ahead.skip_space();
        ahead.eat("(");
        ahead.skip_space();
        let name = ahead.identifier();
        ahead.skip_space();
        DURATIONS.contains(&name) && ahead.eat("(")
    }

    fn in_parentheses<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
        self.expect("(")?;
        let inner = inner(self)?;
        self.expect(")")?;
        Ok(inner)
    }

    pub(super) fn source(&mut self) -> Result<DurationSource, Diagnostic> {
        self.source_of(&DURATIONS)
    }

    /// `names` are those that have a sense there.
    fn source_of(&mut self, names: &[&str]) -> Result<DurationSource, Diagnostic> {
        self.scanner.skip_space();
        let start = self.scanner.pos();
        let name = self.scanner.identifier();
        match name {
            "latency" if !self.scanner.rest().trim_start().starts_with('(') => {
                let example = "As in `latency(sched:sched_waking, sched:sched_switch, pid=next_pid)`; `wait()` is of waits for a CPU.";
                Err(self.here("`(` is expected here").hint(example))
            }
            "latency" => self.in_parentheses(Self::latency).map(|latency| DurationSource::Latency(Box::new(latency))),
            "wait" => self.pattern().map(DurationSource::Wait),
            "preempted" => self.pattern().map(DurationSource::Preempted),
            "syscall" => self.of_task(DurationSource::Syscall),
            "irq" => self.of_task(DurationSource::Irq),
            "io" => self.of_task(DurationSource::Io),
            "function" => self.pattern().map(DurationSource::Function),
            "lock" => self.of_task(DurationSource::Lock),
            "life" => self.pattern().map(DurationSource::Life),
            "hist" => self.in_parentheses(Self::hist).map(|hist| DurationSource::Hist(Box::new(hist))),
            _ => {
                let error = self
                    .error(self.scanner.span_from(start), format!("one of {}() is expected here", names.join("(), ")));
                let other = other_source(name).map(|own| format!("did you mean `{own}`?"));
                let number = match name {
                    "run" => Some("`run(TASK)` is one number: `run(TASK) < 10ms`."),
                    "busy" | "lost" | "duration" => {
                        Some("it is one number: `busy < 80%`, `lost == 0`, `duration < 1s`.")
                    }
                    _ => None,
                };
                let number = || number.map(str::to_owned);
                let is_of_waits =
                    ["wakeup", "sched", "latency", "runq", "delay"].iter().any(|part| name.contains(part));
                let call = || match () {
                    () if !names.contains(&"wait") => format!("if `{name}` is a system call: `syscall({name})`"),
                    () if is_of_waits => {
                        "`wait()` is from each wakeup to the CPU, `wait(TASK)` those of one task.".to_owned()
                    }
                    () => format!("if `{name}` is a system call: `syscall({name})`; if it is a task: `wait({name})`"),
                };
                let near = || did_you_mean(name, names.iter().copied());
                let arrow = self.scanner.rest().trim_start().starts_with(['-', ':', ',']);
                let other = other.or_else(|| {
                    arrow.then(|| "between two events: `latency(START, END, KEY)`, as in `max(latency(sched:sched_waking, sched:sched_switch, pid=next_pid))`".to_owned())
                });
                let call = || (!name.is_empty()).then(call);
                Err(error.hint_opt(other.or_else(number).or_else(near).or_else(call)))
            }
        }
    }

    fn latency(&mut self) -> Result<Latency, Diagnostic> {
        let from = self.events()?;
        self.expect(",").map_err(|error| {
            error.hint("as in `p99(latency(sched:sched_waking, sched:sched_switch, pid=next_pid))`; `wait(TASK)` is of one task")
        })?;
        let to = self.events()?;
        let mut keys = Vec::new();
        loop {
            self.scanner.skip_space();
            if !self.scanner.eat(",") {
                break;
            }
            let key = self.field()?;
            self.scanner.skip_space();
            let other = if self.scanner.eat("=") { self.field()? } else { key.clone() };
            keys.push((key, other));
        }
        if keys.is_empty() {
            let error = self.here("a key is expected here: which events belong together?");
            return Err(error.hint(
                "A field of both (`, pid`), one of each (`, pid=next_pid`), or `, common_pid`, `, common_cpu`.",
            ));
        }
        Ok(Latency { from, to, keys })
    }

    /// `EVENTS, key=FIELD[, key=FIELD...][, val=FIELD]`; `val=hitcount` is the number of events, as it is without `val`.
    fn hist(&mut self) -> Result<HistogramQuantity, Diagnostic> {
        let mut hist = HistogramQuantity { events: self.events()?, keys: Vec::new(), value: None };
        loop {
            self.scanner.skip_space();
            if !self.scanner.eat(",") {
                break;
            }
            let word = self.field()?;
            self.expect("=")?;
            let field = self.field()?;
            match word.value.as_str() {
                "key" => hist.keys.push(field),
                "val" if hist.value.is_some() => return Err(self.error(word.span, "there is one value only")),
                "val" => hist.value = Some(field),
                _ => return Err(self.error(word.span, "`key=FIELD` or `val=FIELD` is expected here")),
            }
        }
        hist.value = hist.value.filter(|field| field.value != "hitcount");
        if hist.keys.is_empty() {
            let error = self.here("a key is expected here: what is counted apart?");
            return Err(error.hint("As in hist(sched:sched_switch, key=next_comm)."));
        }
        Ok(hist)
    }

    fn field(&mut self) -> Result<Spanned<String>, Diagnostic> {
        self.scanner.skip_space();
        let start = self.scanner.pos();
        match self.scanner.identifier() {
            "" => Err(self.here("a field is expected here")),
            name => Ok(Spanned::new(name.to_owned(), self.scanner.span_from(start))),
        }
    }

    /// True if arguments follow; a name without parentheses is that of all, as with empty ones.
    fn arguments_follow(&self) -> bool {
        self.scanner.rest().trim_start().starts_with('(')
    }

    /// `(PATTERN)`, `()` or nothing.
    fn pattern(&mut self) -> Result<String, Diagnostic> {
        if !self.arguments_follow() {
            return Ok(String::new());
        }
        self.in_parentheses(|parser| {
            let raw = parser.raw(false)?;
            match named_argument(raw.value) {
                Some(hint) => Err(parser.error(raw.span, "a name or a pid is expected here").hint(hint)),
                None => Ok(unquoted(raw.value)),
            }
        })
    }

    /// `(PATTERN)`, `(PATTERN, task=TASK)` or `(task=TASK)`: a name, of events that belong to a task. A name that is none of a closed
    /// vocabulary is refused.
    fn of_task(&mut self, source: fn(String) -> DurationSource) -> Result<DurationSource, Diagnostic> {
        if !self.arguments_follow() {
            return Ok(source(String::new()));
        }
        self.in_parentheses(|parser| {
            parser.scanner.skip_space();
            let before = parser.scanner.clone();
            let first = parser.raw(true)?;
            let (name, follows) = match first.value.strip_prefix("task=") {
                None => (first.with(first.value), parser.scanner.eat(",")),
                Some(_) => {
                    parser.scanner = before;
                    (Spanned::new("", Span::new(first.span.start, first.span.start)), true)
                }
            };
            let source = source(unquoted(name.value));
            if let Some(stranger) = source.stranger() {
                return Err(stranger.error(parser.label, parser.scanner.text(), name.span));
            }
            if !follows {
                return Ok(source);
            }
            parser.expect("task=")?;
            let task = parser.raw(false)?;
            match unquoted(task.value) {
                task if task.is_empty() => Err(parser.here("a task is expected here: a name or a pid")),
                task => Ok(DurationSource::OfTask(Box::new(source), task)),
            }
        })
    }

    /// Events, and nothing behind them.
    fn events_alone(&mut self) -> Result<EventsExpr, Diagnostic> {
        let events = self.events()?;
        match self.scanner.rest().starts_with(',') {
            true => Err(self
                .here("`)` is expected here")
                .hint("a filter follows after `if`: `count(sched:sched_switch if prev_pid == 0)`; several events are `count(A) + count(B)`")),
            false => Ok(events),
        }
    }

    fn events(&mut self) -> Result<EventsExpr, Diagnostic> {
        let raw = self.raw(true)?;
        let (names, filter) = match raw.value.split_once(" if ") {
            Some((names, filter)) => (names.trim_end(), Some(filter)),
            None => (raw.value, None),
        };
        let names = Spanned::new(names, Span::new(raw.span.start, raw.span.start.saturating_add(names.len())));
        if names.value.is_empty() || names.value.contains(char::is_whitespace) {
            let error = self.error(raw.span, "an event is expected here, as sched:sched_switch");
            let is_pair = raw.value.is_empty() || raw.value.contains("->");
            return Err(error.hint(match is_pair {
                true => "As in `latency(sched:sched_waking, sched:sched_switch, pid=next_pid)`, `count(sched:sched_switch)`.",
                false => "A filter follows after `if`, as in `sched:sched_switch if prev_prio < 100`.",
            }));
        }
        let filter = filter.map(|filter| {
            let start = raw.span.end.saturating_sub(filter.len());
            let parsed = Filter::parse(filter).map_err(|error| error.within(self.label, self.scanner.text(), start))?;
            Ok(Spanned::new(parsed, Span::new(start, raw.span.end)))
        });
        Ok(EventsExpr { names: names.with(names.value.to_owned()), filter: filter.transpose()? })
    }

    /// The text up to the parenthesis that closes, or the comma where one may stand; both may stand within quotes and
    /// parentheses.
    fn raw(&mut self, to_comma: bool) -> Result<Spanned<&'a str>, Diagnostic> {
        self.scanner.skip_space();
        let start = self.scanner.pos();
        let (mut depth, mut quote) = (0usize, None);
        while let Some(c) = self.scanner.peek() {
            match (quote, c) {
                (Some(open), _) if c == open => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '(') => depth = depth.saturating_add(1),
                (None, ')') if depth == 0 => break,
                (None, ')') => depth = depth.saturating_sub(1),
                (None, ',') if depth == 0 && to_comma => break,
                _ => {}
            }
            self.scanner.bump();
        }
        if quote.is_some() {
            return Err(self.error(self.scanner.span_from(start), "a quote is not closed"));
        }
        let value = self.scanner.span_from(start).of(self.scanner.text()).trim_end();
        Ok(Spanned::new(value, Span::new(start, start.saturating_add(value.len()))))
    }
}

/// The text without the quotes around it.
fn unquoted(text: &str) -> String {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text).to_owned()
}

/// `p` and a digit.
fn is_quantile(name: &str) -> bool {
    name.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions() {
        let parsed = Assertion::parse(
            "p99.9(latency(sched:sched_waking if prio < 100, sched:sched_switch, pid=next_pid)) < 500us",
        )
        .unwrap();
        let QuantityExpr::Quantity(quantity) = &parsed.left else { panic!() };
        let Quantity::Reduced(Reducer::Quantile(99.9), DurationSource::Latency(latency)) = &quantity.value else {
            panic!()
        };
        assert_eq!(latency.from.names.value, "sched:sched_waking");
        assert_eq!(latency.from.filter.as_ref().unwrap().text(), "prio < 100");
        assert_eq!(latency.keys[0].1.value, "next_pid");
        assert_eq!((parsed.op, parsed.most_allowed()), (Compare::Less, Some(499_999)));
        for good in [
            "lost == 0",
            "lost() == 0",
            "rate(sched:sched_migrate_task) < 100/s",
            "count(sched:*) >= 1",
            "count(wait(ls)) > 0",
            "count(wait) > 0", // an event of that name
            "max(wait) < 1ms",
            "p99( preempted ) < 1ms",
            "errors(syscall) + faults + live == 0",
            "sum(io) / duration < run / duration",
            "p50(irq(softirq:NET_RX)) <= 1.5ms",
            "count(a:b if x == \"),\" && (y == 1 || z ~ \"*(\")) / count(a:c) < 5%",
            "sum(wait()) / duration < 0.1",
            "count(a:b) / duration <= 2*(10/s)",
            "run(\"my prog\") + run(123) < duration",
            "10ms > max(syscall(openat))",
            "errors(syscall()) == 0",
            "busy < 80%",
            "max(latency(a:b, a:c, common_pid, cpu)) < 1s",
            "max(hist(a:b if x == 1, key=y)) < 100",
            "sum(hist(a:b, key=y, key=common_cpu, val=bytes_req)) / count(hist(a:b, key=y)) < 1",
            "max(function(vfs_*)) < 1ms",
            "p99(lock(mutex)) < 1ms",
            "max(life(kmem_*)) < 1s",
            "faults(ls) + live(vfs_read) == 0",
            "errors(syscall(openat, task=my prog)) == 0",
            "p99(io(task=123)) < 1ms",
            "count(irq(softirq:NET_RX, task=\"a(b\")) < 5",
            "sum(lock(mutex, task=nginx*)) / duration < 1%",
            "sum(hist(a:b, key=y, val=bytes)) <= 8MiB",
            "live(vfs_read) < 64K",
        ] {
            assert!(Assertion::parse(good).is_ok(), "{good}: {}", Assertion::parse(good).unwrap_err());
        }
    }

    #[test]
    fn what_is_wrong_is_shown() {
        for (text, message, place) in [
            ("lost", "a comparison is expected here", ""),
            ("lost = 0", "a comparison is expected here", "="),
            ("p99(wait()) < 500", "a time is compared with a number", "p99(wait()) < 500"),
            ("rate(a:b) < 100", "a rate is compared with a number", "rate(a:b) < 100"),
            ("lots == 0", "no such quantity", "lots"),
            ("wait(ls) < 1ms", "many times", "wait"),
            ("p100(wait()) < 1ms", "a quantile is between", "p100"),
            ("max(weit()) < 1ms", "is expected here", "weit"),
            ("max(latency(a:b, a:c)) < 1ms", "a key is expected", "))"),
            ("max(latency(a:b)) < 1ms", "`,` is expected", "))"),
            ("count(a:b if x === 1) < 1", "", "=== 1"),
            ("count() < 1", "an event is expected", ""),
            ("count(a b) < 1", "an event is expected", "a b"),
            ("max(hist(a:b)) < 1", "a key is expected", "))"),
            ("max(hist(a:b, kay=x)) < 1", "`key=FIELD` or", "kay"),
            ("max(hist(a:b, key=x)) < 1ms", "a number is compared with a time", "max(hist(a:b, key=x)) < 1ms"),
            ("hist(a:b, key=x) < 1", "many", "hist"),
            ("lost + duration < 1", "have no sum", "+"),
            ("duration * duration < 1", "cannot be combined", "*"),
            ("lost == 0 0", "nothing more", "0"),
            ("max(wait()) < 1lightyear", "no unit", "1lightyear"),
            ("max(syscall(read, comm=x)) < 1s", "`task=` is expected", "comm=x))"),
            ("max(syscall(read, task=)) < 1s", "a task is expected", "))"),
            ("max(io(readd, task=x)) < 1s", "no operation", "readd"),
            ("errors(irq(irq, task=x)) == 0", "only syscall() and io()", "errors"),
            ("errors(wait()) == 0", "only syscall() and io()", "errors"),
            ("1 < 2", "nothing about the recording", "1 < 2"),
            ("(lost == 0", "`)` is expected", "=="),
            ("count(a:b if c == \"x) < 1", "a quote is not closed", "a:b if c == \"x) < 1"),
            ("", "a number or a quantity", ""),
        ] {
            let error = Assertion::parse(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {error}");
            if !message.is_empty() {
                assert_eq!(error.span.of(text), place, "{text}: {error}");
            }
        }
    }

    #[test]
    fn long_texts_end() {
        for long in ["lost+".repeat(100_000), "1/".repeat(100_000), "(".repeat(100_000), "lost+(".repeat(100)] {
            assert!(Assertion::parse(&format!("{long}lost == 0")).is_err());
        }
        assert!(Assertion::parse(&format!("{}lost == 0", "lost+".repeat(150))).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_a_panic(text in "[a-z0-9:*()<>=!+/., \"%'é-]{0,40}") {
            let _ = Assertion::parse(&text);
        }
    }
}
