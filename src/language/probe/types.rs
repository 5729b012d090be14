//! Arguments held against the types of the probed function (`CONFIG_PROBE_EVENTS_BTF_ARGS`, since Linux 6.4).

use super::{Fetch, Probe, ProbeArg, ProbeKind};
use crate::base::syntax::{Diagnostic, Span, did_you_mean};
use crate::kernel::btf::{Function, Type, TypeKind};

impl Probe {
    /// The function whose arguments it records by name or number, where it is at the start or the return of one.
    pub fn function(&self) -> Option<&str> {
        match &self.kind {
            ProbeKind::Kprobe(at) | ProbeKind::Kretprobe { at, .. } => {
                (at.offset == 0 && at.module.is_none()).then_some(at.symbol.as_str())
            }
            ProbeKind::Function { symbol, .. } => Some(symbol),
            _ => None,
        }
    }

    /// Checks names, numbers and members of the arguments against `function`, which is [`Probe::function`]; `text` is the
    /// line that the probe was parsed from.
    ///
    /// # Errors
    /// The kernel's objections, at their place in `text`.
    pub fn check_types(&self, text: &str, function: Function<'_>) -> Result<(), Diagnostic> {
        self.args.iter().try_for_each(|arg| check(arg, text, function))
    }
}

/// An objection: the words that it is about, what is wrong with them, and perhaps the way out.
struct Objection<'a>(&'a str, String, Option<String>);

fn check(arg: &ProbeArg, text: &str, function: Function<'_>) -> Result<(), Diagnostic> {
    objection(arg, function).map_or(Ok(()), |Objection(words, message, hint)| {
        let argument = arg.to_string();
        let at = text.find(&argument).unwrap_or(0);
        let at = text.get(at..).and_then(|rest| rest.find(words)).map_or(at, |after| at.saturating_add(after));
        let span = Span::new(at, at.saturating_add(words.len()));
        Err(Diagnostic::new("probe", text, span, message).hint_opt(hint))
    })
}

fn objection<'a>(arg: &'a ProbeArg, function: Function<'_>) -> Option<Objection<'a>> {
    match value(&arg.fetch, function) {
        Err(objection) => Some(objection),
        Ok(Some((of, words))) => {
            let is_string = arg.kind.as_deref() == Some("string");
            (is_string && !is_text(of) && matches!(arg.fetch, Fetch::Variable(_) | Fetch::Member { .. })).then(|| {
                let message = format!("`{words}` is `{}`, no text", of);
                Objection(words, message, Some("a string is read through `char *` or `char []`".to_owned()))
            })
        }
        Ok(None) => None,
    }
}

/// The type of a value that BTF knows, and the words for it; `None` of what it does not.
fn value<'a, 'f>(fetch: &'a Fetch, function: Function<'f>) -> Result<Option<(Type<'f>, &'a str)>, Objection<'a>> {
    match fetch {
        Fetch::Deref { address, .. } => value(address, function).map(|_| None),
        Fetch::ReturnValue if function.returns().resolved().kind() == TypeKind::Void => {
            Err(Objection("$retval", format!("{} returns nothing", function.name()), None))
        }
        Fetch::ReturnValue => Ok(Some((function.returns(), "$retval"))),
        Fetch::Argument(number) => {
            let known = function.parameters().nth((*number as usize).saturating_sub(1)).filter(|p| !p.is_rest());
            match known {
                Some(parameter) => Ok(Some((parameter.of(), "$arg"))),
                None => Err(Objection("$arg", counted(function), Some(format!("it is `{function}`")))),
            }
        }
        Fetch::Variable(path) => {
            let Some((name, rest)) = head(path) else { return Ok(None) };
            let Some(parameter) = function.parameters().find(|parameter| parameter.name() == name) else {
                let names: Vec<_> = function.parameters().map(|p| p.name()).filter(|name| !name.is_empty()).collect();
                let near = did_you_mean(name, names.iter().copied());
                let hint = near.unwrap_or_else(|| format!("it is `{function}`"));
                return Err(Objection(name, format!("{} has no parameter `{name}`", function.name()), Some(hint)));
            };
            members(parameter.of(), name, rest).map(|of| of.map(|of| (of, path.as_str())))
        }
        Fetch::Member { of, path } => {
            let Some((of, words)) = value(of, function)? else { return Ok(None) };
            let Some((name, rest)) = head(path) else { return Ok(None) };
            match member(of, words, true, name)? {
                Some(of) => members(of, name, rest).map(|of| of.map(|of| (of, path.as_str()))),
                None => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

fn counted(function: Function<'_>) -> String {
    match function.parameters().filter(|parameter| !parameter.is_rest()).count() {
        1 => format!("{} has 1 parameter", function.name()),
        count => format!("{} has {count} parameters", function.name()),
    }
}

/// A path's first name and what follows it; `None` if there is more than names in it.
fn head(path: &str) -> Option<(&str, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = path.find(|c| !is_name(c)).unwrap_or(path.len());
    let (name, rest) = path.split_at_checked(end)?;
    (!name.is_empty() && (rest.is_empty() || rest.starts_with("->") || rest.starts_with('.'))).then_some((name, rest))
}

/// The type at the end of `rest`, which follows a value of type `of` called `words`.
fn members<'a, 'f>(of: Type<'f>, words: &'a str, rest: &'a str) -> Result<Option<Type<'f>>, Objection<'a>> {
    let (mut of, mut words, mut rest) = (of, words, rest);
    while !rest.is_empty() {
        let (path, through) = match rest.strip_prefix("->") {
            Some(path) => (path, true),
            None => (rest.get(1..).unwrap_or(""), false),
        };
        let Some((name, after)) = head(path) else { return Ok(None) };
        let Some(next) = member(of, words, through, name)? else { return Ok(None) };
        (of, words, rest) = (next, name, after);
    }
    Ok(Some(of))
}

/// The member `name` of a structure, or, `through` a pointer, of what it points at; `None` where that is not known.
fn member<'a, 'f>(
    of: Type<'f>,
    words: &'a str,
    through: bool,
    name: &'a str,
) -> Result<Option<Type<'f>>, Objection<'a>> {
    let declared = of;
    let of = of.resolved();
    let whole = match (through, of.kind()) {
        (true, TypeKind::Pointer) => of.target().resolved(),
        (true, _) => return Err(Objection(words, format!("`{}` is no pointer to a structure", declared), None)),
        (false, _) => of,
    };
    match whole.kind() {
        TypeKind::Struct | TypeKind::Union => whole.member(name).map(Some).ok_or_else(|| {
            let near = did_you_mean(name, whole.member_names().iter().copied());
            Objection(name, format!("`{}` has no member `{name}`", whole), near)
        }),
        TypeKind::Forward { .. } => Ok(None),
        _ => Err(Objection(words, format!("`{}` is no pointer to a structure", declared), None)),
    }
}

/// True if the kernel reads a string through it.
fn is_text(of: Type<'_>) -> bool {
    let of = of.resolved();
    let is_char = |of: Type<'_>| matches!(of.resolved().kind(), TypeKind::Int(int) if int.bits == 8);
    matches!(of.kind(), TypeKind::Pointer | TypeKind::Array(_)) && is_char(of.target())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::btf::Btf;

    fn checked(line: &str) -> Result<(), (String, String)> {
        let btf = Btf::parse(include_bytes!("../../../tests/data/btf/functions.btf").to_vec()).unwrap();
        let probe: Probe = line.parse().unwrap();
        let function = btf.function_named(probe.function().unwrap()).unwrap();
        probe.check_types(line, function).map_err(|e| (line[e.span.start..e.span.end].to_owned(), e.message.clone()))
    }

    #[test]
    fn names_numbers_and_returns() {
        for line in ["p vfs_read count", "p vfs_read $arg4 +8($arg1)", "r vfs_read $retval", "f vfs_read buf:string"] {
            assert_eq!(checked(line), Ok(()), "{line}");
        }
        let refused = |line: &str| checked(line).unwrap_err();
        assert_eq!(refused("p vfs_read n=hoge"), ("hoge".to_owned(), "vfs_read has no parameter `hoge`".to_owned()));
        assert_eq!(refused("p vfs_read $arg5").1, "vfs_read has 4 parameters");
        assert_eq!(refused("p nothing $arg1").1, "nothing has 0 parameters");
        assert_eq!(refused("r nothing $retval"), ("$retval".to_owned(), "nothing returns nothing".to_owned()));
        assert_eq!(refused("f vfs_read%return $retval->foo").1, "`long int` is no pointer to a structure");
        assert_eq!(refused("f vfs_read file:string").1, "`file` is `struct file *`, no text");
        assert_eq!(refused("f vfs_read file->fe"), ("fe".to_owned(), "`struct file` has no member `fe`".to_owned()));
        assert_eq!(checked("f vfs_read file->fd"), Ok(()));
        assert_eq!(refused("f vfs_read count->x").0, "count");
    }

    #[test]
    fn what_lies_within_a_function_is_not_known() {
        let probe: Probe = "p vfs_read+4 count".parse().unwrap();
        assert_eq!(probe.function(), None);
    }
}
