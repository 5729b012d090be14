//! A filter held against an event's format: what the kernel would say, and what it would not say but should.
//! A filter in words.
//! The meaning of a field name to the kernel's filter.

use super::pattern::TextPattern;
use super::{CompareOp, FieldModifier, Filter, FilterExpr, FilterValue, Predicate, pattern};
use crate::base::syntax::{Diagnostic, Span, did_you_mean, parse_int};
use crate::base::units::ByteSize;
use crate::kernel::format::{EventFormat, Field, Shape};

/// Errors stop; warnings are returned.
pub(super) fn check(filter: &Filter, format: &EventFormat) -> Result<Vec<Diagnostic>, Diagnostic> {
    let mut warnings = Vec::new();
    for predicate in filter.expr().predicates() {
        let target = resolve(filter, predicate, format)?;
        warnings.extend(warning(filter, predicate, target, format));
    }
    Ok(warnings)
}

/// The predicate's field, after everything about the predicate proved acceptable.
pub(super) fn resolve(filter: &Filter, p: &Predicate, format: &EventFormat) -> Result<NamedTarget, Diagnostic> {
    let error = |span: Span, message: String| Diagnostic::new("filter", filter.text(), span, message);
    let name = &p.field.value;
    let Some(target) = find(format, name) else {
        let of_exit = || {
            let call = format.name.strip_prefix("sys_enter").filter(|_| name == "ret")?;
            Some(format!("what a call returned is in its exit: `{}:sys_exit{call}`", format.system))
        };
        let near = of_exit().or_else(|| did_you_mean(name, names(format))).unwrap_or_else(|| {
            let own: Vec<&str> = format.fields.iter().map(|field| field.name.as_str()).collect();
            format!("fields of {}:{} are {}", format.system, format.name, own.join(", "))
        });
        return Err(
            error(p.field.span, format!("field `{name}` not found in {}:{}", format.system, format.name)).hint(near)
        );
    };
    let op = p.op.value;
    let illegal = |why: &str| {
        error(p.op.span, format!("illegal operation for `{name}`: {why}")).hint(match target.kind.is_text() {
            true => "text is compared with == != and ~ (a glob)",
            false => "numbers are compared with == != < <= > >= and & (have a bit in common)",
        })
    };
    match p.modifier.as_ref().map(|m| (m.value, m.span)) {
        Some((FieldModifier::UserString, span)) if !target.kind.is_text() => {
            Err(error(span, format!("`.ustring` needs a `char *` field, and `{name}` is none")))
        }
        Some((FieldModifier::Function, span)) if target.size != 8 && target.size != 4 || target.kind.is_text() => {
            Err(error(span, format!("`.function` needs an address, and `{name}` is none")))
        }
        _ => Ok(()),
    }?;
    match &p.value.value {
        FilterValue::Function(_) if !matches!(op, CompareOp::Equal | CompareOp::NotEqual) => {
            return Err(error(p.op.span, "a function is compared with == or != only".to_owned()));
        }
        FilterValue::Function(_) => {}
        FilterValue::Text(text) if !target.kind.is_text() => {
            let number = number_called(format, name, text)
                .map(|number| format!("`{text}` is {number} there: `{name} {} {number}`", op.text()));
            let number = number.or_else(|| super::number_forms::hint(format, name, text));
            let wrong = error(p.value.span, format!("`{name}` is a number, its value cannot be text"));
            let is_field = format.fields.iter().any(|field| field.name == *text);
            let field =
                is_field.then(|| format!("`{text}` is a field: fields are compared with values, not with each other"));
            let is_call = format.system == "raw_syscalls" && name == "id";
            let call = is_call.then(|| {
                format!("system calls have numbers there; `rtrace list -e 'syscalls:sys_*_{text}'` looks for events of one, and `rtrace analyze syscalls --call {text}` has its times")
            });
            let texts: Vec<&str> =
                format.fields.iter().filter(|field| kind(field).is_text()).map(|field| field.name.as_str()).collect();
            let texts = (!texts.is_empty()).then(|| format!("texts of {} are in {}", format.name, texts.join(", ")));
            let texts = texts.filter(|_| matches!(op, CompareOp::Equal | CompareOp::NotEqual | CompareOp::Glob));
            let port = name
                .ends_with("port")
                .then(|| format!("a port is a number: `grep -w {text} /etc/services` looks for that of {text}"));
            return Err(wrong.hint_opt(number.or(field).or(call).or(port).or(texts)));
        }
        FilterValue::Text(text) => {
            if !matches!(op, CompareOp::Equal | CompareOp::NotEqual | CompareOp::Glob) {
                return Err(illegal("it is text"));
            }
            if text.contains('"') && text.contains('\'') {
                return Err(error(p.value.span, "the kernel cannot take text with both kinds of quotes".to_owned()));
            }
        }
        FilterValue::Number { .. }
            if target.kind.is_text() && !matches!(op, CompareOp::Equal | CompareOp::NotEqual | CompareOp::Glob) =>
        {
            return Err(illegal("it is text"));
        }
        FilterValue::Number { .. } if target.kind.is_text() => {
            return Err(error(p.value.span, format!("`{name}` is text, its value needs quotes")));
        }
        FilterValue::Number { value, .. } => {
            if op == CompareOp::Glob {
                return Err(illegal("it is a number"));
            }
            let fits = if target.signed { i64::try_from(*value).is_ok() } else { u64::try_from(*value).is_ok() };
            if !fits {
                let what = if target.signed { "signed" } else { "unsigned" };
                return Err(error(p.value.span, format!("illegal integer value: `{name}` is {what}")));
            }
        }
        FilterValue::Cpus(_) if target.kind.is_text() => {
            return Err(error(p.value.span, format!("`{name}` is text, not a CPU or a set of CPUs")));
        }
        FilterValue::Cpus(_) if !matches!(op, CompareOp::Equal | CompareOp::NotEqual | CompareOp::BitAnd) => {
            return Err(error(p.op.span, "a list of CPUs is compared with ==, != or & only".to_owned()));
        }
        FilterValue::Cpus(list) if list.is_empty() => {
            return Err(error(p.value.span, "the list of CPUs is empty".to_owned()));
        }
        FilterValue::Cpus(_) => {}
    }
    Ok(target)
}

/// The number that the event's print format shows as `word`, in a table of its own for the field: `{ 0x0002, "D" }`.
pub(super) fn number_called(format: &EventFormat, field: &str, word: &str) -> Option<i128> {
    if field.ends_with("_state") && ["R", "TASK_RUNNING"].contains(&word) {
        return Some(0); // no bit is set, so that no table has it
    }
    // The kernel's own names of states, of which events show letters (include/linux/sched.h).
    let word = match word {
        "TASK_INTERRUPTIBLE" if field.ends_with("_state") => "S",
        "TASK_UNINTERRUPTIBLE" if field.ends_with("_state") => "D",
        word => word,
    };
    let of_field = format!("REC->{field}");
    let tables = format.print_fmt.split("__print_").skip(1);
    let table = tables.filter(|table| table.split('{').next().is_some_and(|value| value.contains(&of_field)));
    let entries = table.flat_map(|table| table.split('{').skip(1).filter_map(|entry| entry.split('}').next()));
    let named = entries.filter_map(|entry| entry.split_once(','));
    let quoted = format!("\"{word}\"");
    named.filter(|(_, text)| text.trim() == quoted).find_map(|(number, _)| parse_int(number.trim()).ok())
}

/// `text` with numbers in the place of states as scripts and `ps` write them, and of sizes: `prev_state == 2` for
/// `prev_state == D`, `bytes_req > 4096` for `bytes_req > 4K`.
pub fn with_numbers(text: &str) -> String {
    const STATES: [(&str, &str); 9] = [
        ("R", "0"),
        ("S", "1"),
        ("D", "2"),
        ("T", "4"),
        ("t", "8"),
        ("X", "16"),
        ("Z", "32"),
        ("P", "64"),
        ("I", "128"),
    ];
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for at in 2..words.len() {
        let [field, op, value] = [&words[at - 2], &words[at - 1], &words[at]];
        let is_state = field.ends_with("_state") && ["==", "!=", "&"].contains(&op.as_str());
        let state = STATES.iter().find(|(letter, _)| is_state && value.trim_matches(['"', '\'']) == *letter);
        let is_size =
            value.starts_with(|c: char| c.is_ascii_digit()) && value.ends_with(['k', 'K', 'm', 'M', 'g', 'G', 'B']);
        let size = value
            .parse::<ByteSize>()
            .ok()
            .filter(|_| is_size && ["<", "<=", ">", ">=", "==", "!="].contains(&op.as_str()));
        words[at] = match (state, size) {
            (Some((_, number)), _) => (*number).to_owned(),
            (_, Some(size)) => size.0.to_string(),
            _ => continue,
        };
    }
    words.join(" ")
}

/// Filters that the kernel takes although they cannot mean what they say.
fn warning(filter: &Filter, p: &Predicate, target: NamedTarget, format: &EventFormat) -> Option<Diagnostic> {
    let name = &p.field.value;
    let warning = |span: Span, message: String| Diagnostic::new("filter", filter.text(), span, message);
    let comparable = matches!(target.size, 1 | 2 | 4 | 8);
    match (&p.value.value, target.kind, p.op.value) {
        (FilterValue::Text(_), TargetKind::PointerText, _) if p.modifier.is_none() => {
            let hint =
                format!("if `{name}` points to user space (as system call arguments do), it is `{name}.ustring`");
            Some(warning(p.field.span, format!("`{name}` is taken for a pointer to kernel text")).hint(hint))
        }
        // Typed as the kernel's own word, in capitals, it is meant.
        (_, TargetKind::Comm, _) if name == "comm" && !of_tasks(format).is_empty() => {
            let event = format!("{}:{}", format.system, format.name);
            let fields = of_tasks(format);
            let names = fields.join(", ");
            let hint = match fields.first() {
                Some(&"prev_comm") => format!("of {event} that is the task of prev_comm; names are {names}"),
                _ => format!("names of tasks in {event} are {names}"),
            };
            Some(warning(p.field.span, "`comm` is the name of the task that runs at the event".to_owned()).hint(hint))
        }
        (FilterValue::Text(text), _, CompareOp::Equal) if name == "rwbs" && text.len() == 1 => {
            let more = format!("`{name}` may have more letters than `{text}`, as for S (synchronous) and M (metadata)");
            Some(warning(p.value.span, more).hint(format!("`{name} ~ \"*{text}*\"` is all with that letter")))
        }
        (FilterValue::Text(text), _, CompareOp::Equal | CompareOp::NotEqual) if text.contains('*') => Some(
            warning(p.op.span, format!("`{}` compares `*` as it stands", p.op.value.text()))
                .hint(format!("`{name} ~ \"{text}\"` takes it for any text")),
        ),
        (FilterValue::Text(text), _, CompareOp::Glob)
            if text.len() > 2 && text.starts_with('/') && text.ends_with('/') && !text.contains(['*', '?', '[']) =>
        {
            Some(
                warning(p.value.span, format!("`{text}` is a text with two slashes, no regular expression"))
                    .hint(format!("`{name} ~ \"*{}*\"` finds it anywhere", text.trim_matches('/'))),
            )
        }
        (FilterValue::Text(text), kind, CompareOp::Glob) => {
            let pattern = TextPattern::glob(text);
            let fixed = matches!(kind, TargetKind::FixedText | TargetKind::Comm);
            if fixed && pattern.kind() == pattern::PatternKind::End && text.trim_start_matches('!').len() > 1 {
                let say = format!("the kernel compares `{text}` with the last bytes of the {}-byte field", target.size);
                return Some(
                    warning(p.value.span, format!("{say}: it matches hardly anything"))
                        .hint(format!("`{}*` finds the text anywhere in the field", text)),
                );
            }
            let literal = pattern.kind() == pattern::PatternKind::Full && text.contains(['*', '?', '[']);
            literal.then(|| {
                warning(p.value.span, "the kernel takes a glob that begins with a digit literally".to_owned())
                    .hint(format!("`[{}]{}` means the same and is matched as a glob", &text[..1], &text[1..]))
            })
        }
        (FilterValue::Number { .. }, TargetKind::Cpu, CompareOp::BitAnd) => Some(
            warning(p.op.span, "the kernel does not know `&` for the CPU: it never matches".to_owned())
                .hint("`CPU & CPUS{0,2}` asks for one of several (Linux 6.6)"),
        ),
        (FilterValue::Number { .. }, TargetKind::CpuMask, _) => Some(
            warning(
                p.value.span,
                format!("`{name}` is a set of CPUs: the kernel compares the number with where it lies"),
            )
            .hint(format!("`{name} & CPUS{{0-3}}` asks whether it holds one of them (Linux 6.6)")),
        ),
        (FilterValue::Number { .. } | FilterValue::Cpus(_), TargetKind::Number, _) if !comparable => Some(warning(
            p.field.span,
            format!("`{name}` has {} bytes: the kernel cannot compare it, this never matches", target.size),
        )),
        (FilterValue::Number { value, .. }, TargetKind::Number, _) if cut(*value, target) != *value => Some(warning(
            p.value.span,
            format!("`{name}` has {} bits: the kernel compares it with {}", target.size * 8, cut(*value, target)),
        )),
        (FilterValue::Cpus(list), TargetKind::Number | TargetKind::Cpu, CompareOp::Equal) if list.len() > 1 => {
            Some(warning(p.op.span, "one CPU never equals several".to_owned()).hint("`&` asks for one of them"))
        }
        _ => None,
    }
}

/// The event's own fields with names of tasks, as `prev_comm`.
fn of_tasks(format: &EventFormat) -> Vec<&str> {
    let texts = format.fields.iter().filter(|field| kind(field).is_text());
    texts.map(|field| field.name.as_str()).filter(|name| name.ends_with("_comm")).collect()
}

/// `value` truncated to the target's width; a value that fits with the other sign keeps its bits.
fn cut(value: i128, target: NamedTarget) -> i128 {
    let bits = match target.size {
        1 | 2 | 4 => target.size as u32 * 8,
        _ => return value,
    };
    let span = 1i128 << bits;
    if (-span / 2..span).contains(&value) {
        return value;
    }
    let rest = value.rem_euclid(span);
    if target.signed && rest >= span / 2 { rest - span } else { rest }
}

pub(super) fn explain(expr: &FilterExpr) -> String {
    match expr {
        FilterExpr::And(parts) => join(parts, " and "),
        FilterExpr::Or(parts) => join(parts, " or "),
        FilterExpr::Not(inner) => match &**inner {
            FilterExpr::Predicate(p) => format!("not: {}", predicate(p)),
            _ => format!("none of this holds: ({})", explain(inner)),
        },
        FilterExpr::Predicate(p) => predicate(p),
    }
}

fn join(parts: &[FilterExpr], between: &str) -> String {
    let words = parts.iter().map(|part| match part {
        FilterExpr::And(_) | FilterExpr::Or(_) => format!("({})", explain(part)),
        _ => explain(part),
    });
    words.collect::<Vec<_>>().join(between)
}

fn predicate(p: &Predicate) -> String {
    let what = match (p.field.value.as_str(), p.modifier.as_ref().map(|m| m.value)) {
        ("CPU" | "cpu", None) => "the CPU".to_owned(),
        ("COMM" | "comm", None) => "the task's name".to_owned(),
        (field, None) => field.to_owned(),
        (field, Some(FieldModifier::UserString)) => format!("the user-space text at {field}"),
        (field, Some(FieldModifier::Function)) => format!("the address {field}"),
    };
    let value = &p.value.value;
    match (p.op.value, value) {
        (CompareOp::Equal, FilterValue::Function(name)) => format!("{what} lies in function {name}"),
        (CompareOp::NotEqual, FilterValue::Function(name)) => format!("{what} lies outside function {name}"),
        (CompareOp::BitAnd, FilterValue::Cpus(list)) => format!("{what} is, or holds, one of the CPUs {list}"),
        (CompareOp::Equal, FilterValue::Cpus(list)) => format!("{what} is exactly the CPUs {list}"),
        (CompareOp::NotEqual, FilterValue::Cpus(list)) => format!("{what} is not exactly the CPUs {list}"),
        (CompareOp::Glob, FilterValue::Text(text)) => match text.strip_prefix('!') {
            Some(rest) => format!("{what} does not match the glob \"{rest}\""),
            None => format!("{what} matches the glob \"{text}\""),
        },
        (CompareOp::Equal, _) => format!("{what} is {value}"),
        (CompareOp::NotEqual, _) => format!("{what} is not {value}"),
        (CompareOp::Less, _) => format!("{what} is below {value}"),
        (CompareOp::LessEqual, _) => format!("{what} is at most {value}"),
        (CompareOp::Greater, _) => format!("{what} is above {value}"),
        (CompareOp::GreaterEqual, _) => format!("{what} is at least {value}"),
        (CompareOp::BitAnd, _) => format!("{what} has a bit of {value} set"),
        (CompareOp::Glob, _) => format!("{what} matches {value}"),
    }
}

/// A field as `filter_assign_type` and `trace_find_event_field` (kernel) see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedTarget {
    pub(super) kind: TargetKind,
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) signed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// `char name[16]`
    FixedText,
    /// `__data_loc char[] name`
    DataLocText,
    /// `__rel_loc char[] name`
    RelLocText,
    /// `char *` or `const char *`: the record holds only the address.
    PointerText,
    /// `__data_loc cpumask_t name`
    CpuMask,
    /// The CPU the event happened on.
    Cpu,
    /// The name of the task it happened in.
    Comm,
    /// A number, if its size is 1, 2, 4 or 8 bytes; else nothing the kernel can compare.
    Number,
}

impl TargetKind {
    fn is_text(self) -> bool {
        matches!(
            self,
            TargetKind::FixedText
                | TargetKind::DataLocText
                | TargetKind::RelLocText
                | TargetKind::PointerText
                | TargetKind::Comm
        )
    }
}

/// The event's own fields go first, then the words every event understands, then the common fields.
fn find(format: &EventFormat, name: &str) -> Option<NamedTarget> {
    let of = |field: &Field| NamedTarget {
        kind: kind(field),
        offset: field.offset,
        size: field.size,
        signed: field.is_signed(),
    };
    if let Some(field) = format.fields.iter().find(|field| field.name == name) {
        return Some(of(field));
    }
    match name {
        "CPU" | "cpu" => Some(NamedTarget { kind: TargetKind::Cpu, offset: 0, size: 4, signed: true }),
        "COMM" | "comm" => Some(NamedTarget { kind: TargetKind::Comm, offset: 0, size: 16, signed: false }),
        _ => format.common.iter().find(|field| field.name == name).map(of),
    }
}

fn kind(field: &Field) -> TargetKind {
    let ty = field.type_name.as_str();
    let text = ty.contains("char");
    match field.shape {
        _ if ty.contains("cpumask_t") && field.is_dynamic() => TargetKind::CpuMask,
        Shape::DataLoc { .. } if text => TargetKind::DataLocText,
        Shape::RelLoc { .. } if text => TargetKind::RelLocText,
        Shape::Array { .. } if text => TargetKind::FixedText,
        Shape::Scalar if ty == "char *" || ty == "const char *" => TargetKind::PointerText,
        _ => TargetKind::Number,
    }
}

/// Every name a filter of this event may use.
fn names(format: &EventFormat) -> impl Iterator<Item = &str> {
    let own = format.fields.iter().chain(format.common.iter()).map(|field| field.name.as_str());
    own.chain(["CPU", "COMM"])
}
