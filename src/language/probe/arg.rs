//! A probe's arguments: `[NAME=]FETCH[:TYPE]`.

use crate::base::syntax::{Diagnostic, Span, did_you_mean, parse_int};
use std::fmt;

/// One argument. `Display` prints it as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeArg {
    /// Its field's name; `None` leaves it to the kernel.
    pub name: Option<String>,
    /// The source of the value.
    pub fetch: Fetch,
    /// The type it is recorded as: `u8` to `x64`, `char`, `string`, `ustring`, `symbol`, `symstr`, `b2@5/32`, with
    /// `[N]`.
    pub kind: Option<String>,
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// `%di`
    Register(String),
    /// `@0xffffffff81000000`, `@jiffies+8`, `@+0x10` (an offset in the probed file)
    Memory(String),
    /// `$stack3`
    StackEntry(u32),
    /// `$stack`: the stack pointer.
    Stack,
    /// `$arg1`
    Argument(u32),
    /// `$arg*`: all arguments (BTF).
    Arguments,
    /// `$retval`
    ReturnValue,
    /// `$comm`
    Comm,
    /// `$field`: a field of the event (event probes).
    EventField(String),
    /// `+8(%di)`, `-4($stack)`; `+u8(..)` reads user space.
    Deref {
        /// True if the memory is user space's.
        user: bool,
        /// Added to the address.
        offset: i64,
        /// The address.
        address: Box<Fetch>,
    },
    /// `\5`
    Immediate(String),
    /// `\"text"`
    Text(String),
    /// `count`, `file->f_inode.i_ino`: by name (BTF).
    Variable(String),
    /// `$retval->name`, `$arg1->f_inode.i_ino`: a member of the structure that a value points at (BTF).
    Member {
        /// The value.
        of: Box<Fetch>,
        /// The members after the first `->`.
        path: String,
    },
    /// `$current`: the task that runs, as an address (Linux 7).
    Current,
    /// `(kmem_cache)$ptr->size`, `(dentry)(+8(%di))->d_flags`, `(sk_buff,next)next->len`: a member of the structure that an
    /// address points at (BTF, Linux 7).
    Cast {
        /// The structure's name.
        structure: String,
        /// Its member that the address points at, where that is not its beginning.
        member: Option<String>,
        /// The address; of an event probe also a field without its `$`.
        of: Box<Fetch>,
        /// True if the address stands in parentheses.
        nested: bool,
        /// The members after the `->`.
        path: String,
    },
}

/// The sort of place that a probe is attached to, which decides what there is to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// Any place in the kernel: kprobes.
    Kernel,
    /// A program: uprobes.
    User,
    /// A function's or a tracepoint's arguments only: fprobes, tprobes.
    Function,
    /// An event's fields only: eprobes.
    Event,
}

/// Most bytes of an argument's name (`MAX_ARG_NAME_LEN`).
const MAX_NAME: usize = 32;
/// Most bytes of an argument after its name, with its type (`MAX_ARGSTR_LEN`).
const MAX_VALUE: usize = 63;
/// Most steps from a register to a value (`FETCH_INSN_MAX` less one for the store): one for each dereference, two for
/// memory that is named.
const MAX_STEPS: usize = 15;

/// The types of arguments, without arrays and bit fields.
const TYPES: [&str; 20] = [
    "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "x8", "x16", "x32", "x64", "char", "string", "ustring",
    "symbol", "symstr", "%pd", "%pD", "unsigned",
];

impl Fetch {
    fn returns_value(&self) -> bool {
        match self {
            Fetch::ReturnValue => true,
            Fetch::Deref { address: inner, .. } | Fetch::Member { of: inner, .. } | Fetch::Cast { of: inner, .. } => {
                inner.returns_value()
            }
            _ => false,
        }
    }

    fn steps(&self) -> usize {
        match self {
            Fetch::Deref { address, .. } => address.steps().saturating_add(1),
            Fetch::Memory(_) => 2,
            _ => 1,
        }
    }

    /// True if `string` can be read through it: it must name memory.
    fn is_memory(&self) -> bool {
        matches!(self, Fetch::Memory(_) | Fetch::Deref { .. } | Fetch::Comm | Fetch::Text(_))
    }
}

/// Reads arguments out of a longer text, for whose places the errors are.
pub(super) struct ArgParser<'a> {
    pub(super) text: &'a str,
    pub(super) site: Site,
    /// True if `$retval` exists.
    pub(super) returns: bool,
}

impl ArgParser<'_> {
    fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new("probe", self.text, span, message)
    }

    /// The argument `word`, which starts at byte `at` of the text.
    pub(super) fn arg(&self, word: &str, at: usize) -> Result<ProbeArg, Diagnostic> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, value, value_at) = match word.split_once('=') {
            Some((name, value)) if !name.contains(['"', '(', '@', '$', '%', '\\']) => {
                let span = Span::new(at, at + name.len());
                if name.is_empty() {
                    return Err(self.error(Span::at(at), "the argument's name is missing before `=`"));
                }
                if !name.chars().all(plain) || name.starts_with(|c: char| c.is_ascii_digit()) {
                    return Err(self.error(span, "an argument's name is letters, digits and `_`, no digit first"));
                }
                if name.len() > MAX_NAME {
                    return Err(self.error(span, format!("an argument's name has at most {MAX_NAME} bytes")));
                }
                (Some(name.to_owned()), value, at + name.len() + 1)
            }
            _ => (None, word, at),
        };
        if value.len() > MAX_VALUE {
            let span = Span::new(value_at, value_at + value.len());
            return Err(self.error(span, format!("an argument has at most {MAX_VALUE} bytes, its type included")));
        }
        let (fetch_text, kind) = split_type(value);
        let fetch = self.fetch(fetch_text, value_at, 0)?;
        let fetch_span = Span::new(value_at, value_at + fetch_text.len());
        if fetch == Fetch::Arguments && name.is_some() {
            return Err(self.error(fetch_span, "`$arg*` stands for several arguments, which have names of their own"));
        }
        if fetch.steps() > MAX_STEPS {
            return Err(self.error(fetch_span, "more dereferences than the kernel takes"));
        }
        if let Some(kind) = kind {
            self.check_type(kind, value_at + fetch_text.len() + 1, &fetch)?;
        }
        if fetch.returns_value() && !self.returns {
            let error = self.error(fetch_span, "`$retval` is only there when the function returns");
            return Err(error.hint("a kretprobe, uretprobe or fretprobe has it"));
        }
        Ok(ProbeArg { name, fetch, kind: kind.map(str::to_owned) })
    }

    fn fetch(&self, text: &str, at: usize, depth: usize) -> Result<Fetch, Diagnostic> {
        let span = Span::new(at, at + text.len());
        let err = |message: &str| self.error(span, message);
        if depth > 16 {
            return Err(err("nested deeper than 16 levels"));
        }
        let mut chars = text.chars();
        let number = |digits: &str| digits.parse::<u32>().ok();
        match chars.next() {
            Some('%') => {
                let register = chars.as_str();
                let known = !register.is_empty() && register.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if !known || (cfg!(target_arch = "x86_64") && !X86.contains(&register)) {
                    return Err(err("invalid register name").hint_opt(did_you_mean(register, X86)));
                }
                if !matches!(self.site, Site::Kernel | Site::User) {
                    return Err(err("registers are for kprobes and uprobes"));
                }
                Ok(Fetch::Register(register.to_owned()))
            }
            Some('@') => match self.memory(chars.as_str()) {
                Ok(()) => Ok(Fetch::Memory(chars.as_str().to_owned())),
                Err(message) => Err(err(message)),
            },
            Some('\\') => match chars.as_str().strip_prefix('"') {
                Some(rest) => match rest.strip_suffix('"') {
                    Some(inner) => Ok(Fetch::Text(inner.to_owned())),
                    None => Err(err("the text is not closed with `\"`")
                        .hint("the kernel splits a probe at blanks, also within a text")),
                },
                None => match parse_int(chars.as_str()) {
                    Ok(_) => Ok(Fetch::Immediate(chars.as_str().to_owned())),
                    Err(_) => Err(err("invalid immediate value")),
                },
            },
            Some('$') => {
                let word = chars.as_str();
                if let Some((value, path)) = word.split_once("->").filter(|_| self.site != Site::Event) {
                    let value = &text[..value.len() + 1];
                    let of = Box::new(self.fetch(value, at, depth + 1)?);
                    if !matches!(*of, Fetch::ReturnValue | Fetch::Argument(_)) {
                        return Err(self.error(Span::new(at, at + value.len()), "only $retval and $argN have members"));
                    }
                    if !is_path(path) || !path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                        return Err(err("invalid member").hint("as in `$retval->name` or `$arg1->f_inode.i_ino`"));
                    }
                    return Ok(Fetch::Member { of, path: path.to_owned() });
                }
                Ok(match word {
                    _ if self.site == Site::Event && word != "comm" && word != "COMM" => {
                        Fetch::EventField(word.to_owned())
                    }
                    "stack" => Fetch::Stack,
                    "retval" => Fetch::ReturnValue,
                    "comm" | "COMM" => Fetch::Comm,
                    "current" if self.site != Site::User => Fetch::Current,
                    "arg*" => Fetch::Arguments,
                    _ => match (word.strip_prefix("stack").and_then(number), word.strip_prefix("arg").and_then(number))
                    {
                        (Some(n), _) if n < 4096 => Fetch::StackEntry(n),
                        (Some(_), _) => return Err(err("invalid stack number")),
                        (_, Some(n)) if (1..=128).contains(&n) => Fetch::Argument(n),
                        _ => {
                            let known = ["stack", "retval", "comm", "arg1", "stack0"];
                            let near = did_you_mean(word, known).unwrap_or_else(|| {
                                "there are $argN (from 1), $arg*, $retval, $comm, $stack and $stackN".to_owned()
                            });
                            return Err(err("invalid $-variable").hint(near));
                        }
                    },
                })
            }
            Some(sign @ ('+' | '-')) => {
                let rest = chars.as_str();
                let (user, rest) = rest.strip_prefix('u').map_or((false, rest), |rest| (true, rest));
                let open = rest.find('(').ok_or_else(|| err("expected `(` after the offset: `+8(%di)`"))?;
                let magnitude = parse_int(&rest[..open]).ok().and_then(|n| i64::try_from(n).ok());
                let offset = magnitude.filter(|n| *n >= 0).ok_or_else(|| err("invalid offset of a dereference"))?;
                let inner =
                    rest[open + 1..].strip_suffix(')').ok_or_else(|| err("the dereference is not closed with `)`"))?;
                let inner_at = at + text.len() - rest.len() + open + 1;
                let address = Box::new(self.fetch(inner, inner_at, depth + 1)?);
                if matches!(*address, Fetch::Comm | Fetch::Text(_) | Fetch::Arguments) {
                    let span = Span::new(inner_at, inner_at + inner.len());
                    return Err(self.error(span, format!("`{inner}` is no address")));
                }
                Ok(Fetch::Deref { user, offset: if sign == '-' { -offset } else { offset }, address })
            }
            Some('(') => self.cast(text, at, depth),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => match self.site {
                Site::Event => Err(err("invalid argument").hint(format!("a field of the event is `${text}`"))),
                Site::User => Err(err("invalid argument").hint("a program's arguments have no names here")),
                _ if is_path(text) => Ok(Fetch::Variable(text.to_owned())),
                _ => Err(err("invalid argument")),
            },
            None => {
                Err(err("nothing is fetched: a shell puts nothing in the place of `$retval` outside of single quotes")
                    .hint("as in `'ret=$retval'`, `'comm=$comm'`, `'x=$arg1'`"))
            }
            _ => Err(err("invalid argument").hint("as in `%di`, `$arg1`, `$retval`, `$comm`, `+8(%si)`, `@jiffies`")),
        }
    }

    /// `(STRUCT[,MEMBER])ADDRESS->MEMBERS`, where ADDRESS is a name, a `$` word, or anything in parentheses.
    fn cast(&self, text: &str, at: usize, depth: usize) -> Result<Fetch, Diagnostic> {
        let err = |message: &str| {
            let error = self.error(Span::new(at, at + text.len()), message);
            error.hint("as in `(task_struct)$current->pid` or `(dentry)(+8(%di))->d_flags`")
        };
        if self.site == Site::User {
            return Err(err("a program is not probed for the kernel's structures"));
        }
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let (structure, rest) = text[1..].split_once(')').ok_or_else(|| err("the structure is not closed with `)`"))?;
        let (structure, member) = structure.split_once(',').map_or((structure, None), |(of, at)| (of, Some(at)));
        if !is_name(structure) || !member.is_none_or(is_path) {
            return Err(err("expected the name of a structure between the parentheses"));
        }
        let (nested, end) = match rest.strip_prefix('(') {
            Some(_) => (true, closing(rest).ok_or_else(|| err("the address is not closed with `)`"))?),
            None => (false, rest.find("->").unwrap_or(rest.len())),
        };
        let (address, path) = match nested {
            true => (&rest[1..end], &rest[end + 1..]),
            false => rest.split_at(end),
        };
        let starts_as_name = |path: &&str| path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let path = path.strip_prefix("->").filter(starts_as_name).filter(|path| is_path(path));
        let path = path.ok_or_else(|| err("a structure is named for one of its members"))?.to_owned();
        let address_at = at + text.len() - rest.len() + usize::from(nested);
        let of = match is_name(address) && starts_as_name(&address) {
            true => Fetch::Variable(address.to_owned()),
            false => self.fetch(address, address_at, depth + 1)?,
        };
        let (structure, member) = (structure.to_owned(), member.map(str::to_owned));
        Ok(Fetch::Cast { structure, member, of: Box::new(of), nested, path })
    }

    /// The memory after `@`: an address, a symbol, or for programs an offset in the file.
    fn memory(&self, place: &str) -> Result<(), &'static str> {
        let is_user = self.site == Site::User;
        match place.chars().next() {
            None => Err("the address is missing after `@`"),
            Some('+') if !is_user => Err("an offset in a file is for uprobes"),
            Some('+') if parse_int(&place[1..]).is_err() => Err("invalid offset in the file"),
            Some('+') => Ok(()),
            Some(c) if c.is_ascii_digit() => parse_int(place).map(drop).map_err(|_| "invalid address"),
            Some(_) if is_user => Err("a program is not probed for the kernel's symbols"),
            Some(_) => {
                let (symbol, offset) = place.find(['+', '-']).map_or((place, None), |sign| {
                    let (symbol, offset) = place.split_at(sign);
                    (symbol, Some(&offset[1..]))
                });
                let is_symbol = symbol.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'));
                let is_number = offset.is_none_or(|offset| parse_int(offset).is_ok());
                if is_symbol && is_number { Ok(()) } else { Err("expected a symbol, as in `@jiffies` or `@jiffies+8`") }
            }
        }
    }

    fn check_type(&self, kind: &str, at: usize, fetch: &Fetch) -> Result<(), Diagnostic> {
        let span = Span::new(at, at + kind.len());
        let (base, array) = match kind.split_once('[') {
            Some((base, rest)) => (base, Some(rest)),
            None => (kind, None),
        };
        if let Some(rest) = array {
            let len = rest.strip_suffix(']').and_then(|n| n.parse::<u32>().ok());
            if !len.is_some_and(|len| (1..=64).contains(&len)) {
                return Err(self.error(span, "invalid array size: 1 to 64"));
            }
        }
        if let Some(bits) = base.strip_prefix('b').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            let valid = (|| {
                let (width, rest) = bits.split_once('@')?;
                let (offset, container) = rest.split_once('/')?;
                let [width, offset, container] = [width, offset, container].map(|n| n.parse::<u32>().ok());
                let (width, offset, container) = (width?, offset?, container?);
                Some(width > 0 && width.checked_add(offset)? <= container && matches!(container, 8 | 16 | 32 | 64))
            })();
            if valid != Some(true) {
                return Err(self
                    .error(span, "invalid bit field")
                    .hint("as in `b4@0/32`: width, offset, size of the whole"));
            }
            return Ok(());
        }
        if !TYPES.contains(&base) {
            let near = did_you_mean(base, TYPES);
            let all = "types are u8 to u64, s8 to s64, x8 to x64, char, string, ustring, symbol, symstr, bW@O/S, each with [N]";
            let text = ["str", "text", "s", "char*"].contains(&base);
            let text = text.then(|| {
                "did you mean `string`? It is read from memory: `+0($retval):string`, `+0($arg1):string`.".to_owned()
            });
            return Err(self.error(span, "unknown type").hint(text.or(near).unwrap_or_else(|| all.to_owned())));
        }
        if base == "symstr" && self.site == Site::User {
            return Err(self.error(span, "a program is not probed for the kernel's symbols"));
        }
        let is_text = matches!(fetch, Fetch::Comm | Fetch::Text(_)) && self.site != Site::Event;
        if is_text && kind != "string" {
            return Err(self.error(span, "this is a text: its type is `string`, without an array"));
        }
        let by_address = |fetch: &Fetch| matches!(fetch, Fetch::Register(_) | Fetch::Stack | Fetch::StackEntry(_));
        if base == "string" && by_address(fetch) && !fetch.is_memory() {
            return Err(self
                .error(span, "a string is read from memory, not from a register")
                .hint("`+0(%di):string` reads the text that the register points at"));
        }
        Ok(())
    }
}

/// The place of the `)` that closes the `(` at the start.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0usize;
    text.char_indices().find_map(|(at, c)| {
        open = match c {
            '(' => open.saturating_add(1),
            ')' => open.saturating_sub(1),
            _ => open,
        };
        (open == 0).then_some(at)
    })
}

/// True if a text can name a parameter and its members: `file->f_inode.i_ino`.
fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_->.[](),".contains(c);
    let mut hyphens = text.match_indices('-').map(|(at, _)| &text[at + 1..]);
    text.chars().all(plain) && hyphens.all(|rest| rest.starts_with('>'))
}

/// `FETCH:TYPE`; colons inside quotes do not count.
fn split_type(value: &str) -> (&str, Option<&str>) {
    let from = value.rfind('"').unwrap_or(0);
    match value[from..].rfind(':') {
        Some(colon) => (&value[..from + colon], Some(&value[from + colon + 1..])),
        None => (value, None),
    }
}

/// The names of registers as the kernel's `regs_query_register_offset` has them on x86-64.
const X86: [&str; 22] = [
    "r15", "r14", "r13", "r12", "r11", "r10", "r9", "r8", "bx", "bp", "ax", "cx", "dx", "si", "di", "orig_ax", "ip",
    "cs", "flags", "sp", "ss", "fp",
];

impl fmt::Display for ProbeArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}=")?;
        }
        self.fetch.fmt(f)?;
        match &self.kind {
            Some(kind) => write!(f, ":{kind}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fetch::Register(name) => write!(f, "%{name}"),
            Fetch::Memory(place) => write!(f, "@{place}"),
            Fetch::StackEntry(n) => write!(f, "$stack{n}"),
            Fetch::Stack => f.write_str("$stack"),
            Fetch::Argument(n) => write!(f, "$arg{n}"),
            Fetch::Arguments => f.write_str("$arg*"),
            Fetch::ReturnValue => f.write_str("$retval"),
            Fetch::Comm => f.write_str("$comm"),
            Fetch::EventField(name) => write!(f, "${name}"),
            Fetch::Deref { user, offset, address } => {
                let sign = if *offset < 0 { '-' } else { '+' };
                write!(f, "{sign}{}{}({address})", if *user { "u" } else { "" }, offset.unsigned_abs())
            }
            Fetch::Immediate(number) => write!(f, "\\{number}"),
            Fetch::Text(text) => write!(f, "\\\"{text}\""),
            Fetch::Variable(path) => f.write_str(path),
            Fetch::Member { of, path } => write!(f, "{of}->{path}"),
            Fetch::Current => f.write_str("$current"),
            Fetch::Cast { structure, member, of, nested, path } => {
                let (comma, member) = member.as_deref().map_or(("", ""), |member| (",", member));
                let (open, close) = if *nested { ("(", ")") } else { ("", "") };
                write!(f, "({structure}{comma}{member}){open}{of}{close}->{path}")
            }
        }
    }
}
