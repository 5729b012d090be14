//! One filter of `-F` held against one event: fields to places in the record.
//! All `-F` of one report, compiled for the events of one file.

use super::parse::{ReportExpr, ReportFilter, ReportOperand, ReportOperator};
use super::posix;
use crate::base::abi::Abi;
use crate::base::syntax::{Diagnostic, Span, did_you_mean};
use crate::base::units::EventId;
use crate::kernel::format::{ById, EventFormat, Field, Shape};
use crate::language::filter::test::{
    FilterProgram, NumberAt, ProgramTest, ProgramTree, Subject, TextAt, With, WordsAt,
};
use crate::language::filter::{CompareOp, test};

fn resolve(filter: &ReportFilter, expr: &ReportExpr, format: &EventFormat) -> Result<ProgramTree, Diagnostic> {
    Resolver { filter, format }.tree(expr)
}

struct Resolver<'a> {
    filter: &'a ReportFilter,
    format: &'a EventFormat,
}

impl Resolver<'_> {
    fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new("filter", &self.filter.text, span, message)
    }

    fn tree(&self, expr: &ReportExpr) -> Result<ProgramTree, Diagnostic> {
        Ok(match expr {
            ReportExpr::And(a, b) => ProgramTree::And(vec![self.tree(a)?, self.tree(b)?]),
            ReportExpr::Or(a, b) => ProgramTree::Or(vec![self.tree(a)?, self.tree(b)?]),
            ReportExpr::Not(inner) => ProgramTree::Not(Box::new(self.tree(inner)?)),
            ReportExpr::NonZero(num) => {
                self.num(num)?.map_or(ProgramTree::Const(false), |num| ProgramTree::Test(ProgramTest::NonZero(num)))
            }
            ReportExpr::Compare { left, op, right } => match (&op.value, right) {
                (ReportOperator::Regex { positive }, ReportOperand::Text(text)) => {
                    self.words(left, &text.value, text.span, *positive, true)?
                }
                (ReportOperator::Regex { positive }, ReportOperand::Char(c)) => {
                    self.words(left, &c.value.to_string(), c.span, *positive, true)?
                }
                (ReportOperator::Regex { .. }, _) => {
                    return Err(self.error(op.span, "a regular expression is text, in quotes"));
                }
                (ReportOperator::Number(CompareOp::Equal), ReportOperand::Text(text)) => {
                    self.words(left, &text.value, text.span, true, false)?
                }
                (ReportOperator::Number(CompareOp::NotEqual), ReportOperand::Text(text)) => {
                    self.words(left, &text.value, text.span, false, false)?
                }
                (ReportOperator::Number(_), ReportOperand::Text(_)) => {
                    return Err(self.error(op.span, "illegal comparison for text").hint("text knows == != =~ and !~"));
                }
                (ReportOperator::Number(op), right) => match (self.num(left)?, self.num(right)?) {
                    (Some(left), Some(right)) => ProgramTree::Test(ProgramTest::Compare { left, op: *op, right }),
                    _ => ProgramTree::Const(false),
                },
            },
        })
    }

    /// `None` if a field is missing: whatever is compared with it is false.
    fn num(&self, num: &ReportOperand) -> Result<Option<test::ProgramNumber>, Diagnostic> {
        Ok(match num {
            ReportOperand::Number(value) => Some(test::ProgramNumber::Const(value.value)),
            ReportOperand::Char(c) => Some(test::ProgramNumber::Const(u32::from(c.value).into())),
            ReportOperand::Text(text) => {
                return Err(self.error(text.span, "text stands to the right of == != =~ or !~ only"));
            }
            ReportOperand::Calc(calc) => {
                let (left, op, right) = &**calc;
                match (self.num(left)?, self.num(right)?) {
                    (Some(left), Some(right)) => Some(test::ProgramNumber::Calc(Box::new((left, *op, right)))),
                    _ => None,
                }
            }
            ReportOperand::Field(name) => match (self.format.field(&name.value), name.value.as_str()) {
                (Some(field), _) if is_text(field) => {
                    return Err(self
                        .error(name.span, format!("`{}` is text, and compared with a number here", name.value))
                        .hint("the value goes in double quotes"));
                }
                (Some(field), _) => Some(test::ProgramNumber::Field(number_at(field))),
                (None, "CPU") => Some(test::ProgramNumber::Cpu),
                (None, "COMM") => return Err(self.error(name.span, "`COMM` is text, its value goes in double quotes")),
                (None, _) => None,
            },
        })
    }

    fn words(
        &self,
        left: &ReportOperand,
        text: &str,
        span: Span,
        positive: bool,
        regex: bool,
    ) -> Result<ProgramTree, Diagnostic> {
        let ReportOperand::Field(name) = left else {
            return Err(self.error(span, "text can only be compared with a field"));
        };
        let with = if regex {
            let pattern = posix::basic_to_regex(text).map_err(|e| self.error(span, e))?;
            let built = regex::bytes::RegexBuilder::new(&pattern).case_insensitive(true).unicode(false).build();
            With::Regex(built.map_err(|_| self.error(span, "not a regular expression"))?)
        } else {
            With::Equal(text.as_bytes().to_vec())
        };
        let at = match (self.format.field(&name.value), name.value.as_str()) {
            (Some(field), _) => text_at(field).map(WordsAt::Text).unwrap_or_else(|| WordsAt::Number {
                at: number_at(field),
                named: field.is_pointer() || field.is_long(),
            }),
            (None, "COMM") => WordsAt::Comm,
            // The comparison is false as a whole, `!=` and `!~` too.
            (None, _) => return Ok(ProgramTree::Const(false)),
        };
        let test = ProgramTree::Test(ProgramTest::Words { at, with });
        Ok(if positive { test } else { ProgramTree::Not(Box::new(test)) })
    }
}

fn is_text(field: &Field) -> bool {
    text_at(field).is_some()
}

fn text_at(field: &Field) -> Option<TextAt> {
    if !field.is_string() {
        return None;
    }
    match field.shape {
        Shape::Scalar => None,
        Shape::Array { .. } => Some(TextAt::Fixed { offset: field.offset, size: field.size }),
        Shape::DataLoc { .. } => Some(TextAt::DataLoc { offset: field.offset }),
        Shape::RelLoc { .. } => Some(TextAt::RelLoc { offset: field.offset }),
    }
}

fn number_at(field: &Field) -> NumberAt {
    NumberAt { offset: field.offset, size: field.size, signed: field.is_signed() }
}

/// The meaning of a filter's match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `-F`: the event is shown. Several are or-ed.
    Keep,
    /// `-v -F`: the event is not shown, whatever the others say.
    Remove,
}

/// Decides, per event, whether a report shows it.
///
/// With at least one [`Sign::Keep`] filter, an event that none of them names is not shown.
#[derive(Debug)]
pub struct ReportFilters {
    /// By event id; ids beyond the end, and `None`, take `otherwise`.
    by_id: ById<FilterProgram>,
    otherwise: bool,
    needs_comm: bool,
}

/// The hint on a filter of fields alone, where `formats` are the events: the first one with the field, and globs in the language
/// that has them.
fn names_its_event(filter: &str, formats: &[&EventFormat]) -> String {
    let name = filter.split([' ', '=', '<', '>', '~', '!']).next().unwrap_or_default();
    let has_it = formats.iter().find(|format| format.fields.iter().any(|field| field.name == name));
    match has_it {
        Some(format) if filter.contains(" ~ ") => {
            format!("a filter names its event first, globs are the kernel's: `--filter '{}: {filter}'`", format.name)
        }
        Some(format) => format!("a filter names its event first: `{}: {filter}`", format.name),
        None => "a filter names its event first: `sched_switch: prev_pid == 1`".to_owned(),
    }
}

impl ReportFilters {
    /// Holds `filters` against `formats`, all the events of a file recorded on a machine with `abi`.
    ///
    /// # Errors
    /// A [`Diagnostic`] if a filter names no event of the file, or does not fit one it names.
    pub fn compile<'f>(
        filters: &[(ReportFilter, Sign)],
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
    ) -> Result<Self, Diagnostic> {
        let formats: Vec<&EventFormat> = formats.into_iter().collect();
        for (filter, _) in filters {
            for events in &filter.events {
                if !formats.iter().any(|f| events.value.fits(&f.system, &f.name)) {
                    let named = events.span.of(&filter.text);
                    let name = named.rsplit('/').next().unwrap_or(named);
                    let near = did_you_mean(name, formats.iter().flat_map(|f| [f.system.as_str(), f.name.as_str()]));
                    let message = format!("no event of this file matches `{named}`");
                    let of_field = named.contains(['=', '<', '>', '~', '!']);
                    let event = of_field.then(|| names_its_event(named, &formats));
                    let error = Diagnostic::new("filter", &filter.text, events.span, message);
                    let is_column = is_column_name(named);
                    let is_name = named.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:/".contains(&byte));
                    let has_raw = formats.iter().any(|format| format.system == "raw_syscalls");
                    let of_event = ["sys_enter_", "sys_exit_"].iter().find_map(|begin| name.strip_prefix(begin));
                    let is_format =
                        ["json", "csv", "text", "ftrace", "perfetto", "svg", "html", "pdf"].contains(&named);
                    let is_word = !named.contains([':', '/'])
                        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
                    let maybe = (is_word && !is_format && has_raw && near.is_none() && of_event.is_none())
                        .then(|| format!("of the system call, if it is one, `rtrace analyze syscalls FILE --call {name}` has the times"));
                    let call = of_event;
                    let call = call.filter(|_| has_raw).map(|call| {
                        format!("system calls are `raw_syscalls/sys_enter` there, by number; `rtrace analyze syscalls FILE --call {call}` has its times")
                    });
                    let absent = (is_name && !is_format && call.is_none() && !is_column_name(named) && near.is_none())
                        .then(|| format!("if the kernel has it (`rtrace list -e '*{name}*'`), it was not recorded"));
                    let format = is_format.then(|| {
                        "events are selected here, by name or filter; `--json` and `--format csv` print in other forms, `rtrace convert` writes more"
                            .to_owned()
                    });
                    let columns = is_column.then(|| "`--format csv --fields NAME,...` chooses columns.".to_owned());
                    let escaped = |text: &str| {
                        let escape = |c: char| if "()|{}+?".contains(c) { format!("\\{c}") } else { c.to_string() };
                        text.chars().map(escape).collect::<String>()
                    };
                    let is_extended = named.contains(['(', '|', '+', '?']) && !named.contains('\\') && !of_field;
                    let basic = is_extended
                        .then(|| format!("it is a basic regular expression: `{}`, or several `-F`", escaped(named)));
                    let near = near.filter(|_| !is_column && !is_extended);
                    return Err(error
                        .hint_opt(near)
                        .hint_opt(event)
                        .hint_opt(format)
                        .hint_opt(columns)
                        .hint_opt(basic)
                        .hint_opt(call)
                        .hint_opt(maybe)
                        .hint_opt(absent));
                }
            }
        }
        let otherwise = !filters.iter().any(|(_, sign)| *sign == Sign::Keep);
        let mut by_id = ById::default();
        for format in formats {
            let (mut keep, mut remove) = (Vec::new(), Vec::new());
            let named = |f: &ReportFilter| f.events.iter().any(|e| e.value.fits(&format.system, &format.name));
            for (filter, sign) in filters.iter().filter(|(filter, _)| named(filter)) {
                let tree = match &filter.expr {
                    Some(expr) => resolve(filter, expr, format)?,
                    None => ProgramTree::Const(true),
                };
                match sign {
                    Sign::Keep => keep.push(tree),
                    Sign::Remove => remove.push(tree),
                }
            }
            if keep.is_empty() && remove.is_empty() {
                continue;
            }
            let kept = if otherwise { ProgramTree::Const(true) } else { ProgramTree::Or(keep) };
            let tree = ProgramTree::And(vec![kept, ProgramTree::Not(Box::new(ProgramTree::Or(remove)))]);
            by_id.insert(format.id, FilterProgram::new(tree, abi));
        }
        let needs_comm = by_id.values().any(FilterProgram::needs_comm);
        Ok(ReportFilters { by_id, otherwise, needs_comm })
    }

    /// True if the event `id`, which is `subject`, is shown.
    #[inline]
    pub fn matches(&self, id: EventId, subject: &Subject<'_>) -> bool {
        match self.by_id.get(id.0) {
            Some(program) => program.matches(subject),
            _ => self.otherwise,
        }
    }

    /// True if any filter looks at [`Subject::comm`]; if not, it may be left empty.
    pub fn needs_comm(&self) -> bool {
        self.needs_comm
    }
}
/// True of a column's name, which other programs choose by the same letter.
fn is_column_name(word: &str) -> bool {
    matches!(word, "comm" | "pid" | "tid" | "cpu" | "time" | "event" | "ip" | "sym")
}
