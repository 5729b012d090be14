//! A line of `dynamic_events` to its tree.

use super::arg::{ArgParser, Site};
use super::ast::names;
use super::{Fetch, KernelPlace, Probe, ProbeArg, ProbeKind};
use crate::base::syntax::{Diagnostic, Span, one_line, parse_int};
use std::str::FromStr;

/// The kernel takes at most this many arguments (`MAX_TRACE_ARGS`).
const MAX_ARGS: usize = 128;
/// Names of events and systems have fewer bytes than this (`MAX_EVENT_NAME_LEN`).
const MAX_NAME: usize = 64;

impl FromStr for Probe {
    type Err = Diagnostic;

    /// Parses a probe as it is written or as the kernel shows it: `p:kprobes/read vfs_read count=%dx:u64`.
    ///
    /// # Errors
    /// A [`Diagnostic`] labelled `probe` with the place of the error.
    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        one_line("probe", text)?;
        ProbeParser { text: text.trim_end() }.probe()
    }
}

struct ProbeParser<'a> {
    text: &'a str,
}

impl<'a> ProbeParser<'a> {
    fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new("probe", self.text, span, message)
    }

    fn probe(&self) -> Result<Probe, Diagnostic> {
        let mut words = words(self.text);
        let (head, head_span) = words.next().unwrap_or(("", Span::at(0)));
        let (letter, name) = head.split_once(':').map_or((head, None), |(letter, name)| (letter, Some(name)));
        let kind = letter.chars().next().unwrap_or(' ');
        let number = letter.get(kind.len_utf8()..).unwrap_or("");
        let (mut group, mut event) = (None, None);
        if let Some(name) = name {
            let at = head_span.start + letter.len() + 1;
            (group, event) = self.name(name, at)?;
        }
        let max_active = match number {
            "" => None,
            _ => {
                let span = Span::new(head_span.start + 1, head_span.start + letter.len());
                let n: u32 = number.parse().map_err(|_| self.error(span, "invalid number of active returns"))?;
                if n == 0 || n > 4096 || !matches!(kind, 'r' | 'f') {
                    return Err(self.error(span, "the number of active returns is 1 to 4096, for return probes only"));
                }
                Some(n)
            }
        };
        if kind == 'u' {
            let fields = self.text[head_span.end..].trim().to_owned();
            if event.is_none() {
                return Err(self.error(head_span, "a user event needs a name: `u:NAME FIELDS`"));
            }
            super::user::check(self.text, head_span.end)?;
            return Ok(Probe { kind: ProbeKind::User { fields }, group: None, event, args: Vec::new(), filter: None });
        }
        if !matches!(kind, 'p' | 'r' | 'e' | 'f' | 't') {
            return Err(self.error(head_span, "unknown kind of probe").hint(
                "p (kprobe, uprobe), r (their returns), e (event), f (function), t (tracepoint), u (user event)",
            ));
        }
        let Some((place, span)) = words.next() else {
            return Err(self.error(Span::at(self.text.len()), "what to probe is missing").hint(format!(
                "`{}` is the probe's own name; what it is on follows, as in `p:NAME FUNCTION`",
                head_span.of(self.text)
            )));
        };
        let kind = self.place(kind, max_active, place, span)?;
        let returns = match &kind {
            ProbeKind::Kretprobe { .. } => true,
            ProbeKind::Uprobe { returns, .. } | ProbeKind::Function { returns, .. } => *returns,
            _ => false,
        };
        let of_event = matches!(kind, ProbeKind::Event { .. });
        let site = match &kind {
            ProbeKind::Kprobe(_) | ProbeKind::Kretprobe { .. } | ProbeKind::User { .. } => Site::Kernel,
            ProbeKind::Uprobe { .. } => Site::User,
            ProbeKind::Function { .. } | ProbeKind::Tracepoint { .. } => Site::Function,
            ProbeKind::Event { .. } => Site::Event,
        };
        let parser = ArgParser { text: self.text, site, returns };
        let (mut args, mut filter) = (Vec::new(), None);
        for (word, span) in words {
            if of_event && word == "if" {
                filter = Some(self.text[span.end..].trim().to_owned());
                break;
            }
            let arg = parser.arg(word, span.start)?;
            if arg.fetch == Fetch::Arguments && args.iter().any(|other: &ProbeArg| other.fetch == Fetch::Arguments) {
                return Err(self.error(span, "`$arg*` stands there twice"));
            }
            if args.len() == MAX_ARGS {
                return Err(self.error(span, "the kernel takes at most 128 arguments"));
            }
            args.push(arg);
            let mut others: Vec<Option<String>> = names(&args).collect();
            let name = others.pop().flatten();
            if name.is_some() && others.contains(&name) {
                return Err(self.error(span, "this argument's name is already used"));
            }
        }
        if filter.as_deref() == Some("") {
            return Err(self.error(Span::at(self.text.len()), "`if` without a filter"));
        }
        Ok(Probe { kind, group, event, args, filter })
    }

    /// `[GRP/]EV`
    fn name(&self, name: &str, at: usize) -> Result<(Option<String>, Option<String>), Diagnostic> {
        let (group, event) = match name.split_once(['/', '.']) {
            Some((group, event)) => (Some((group, at)), (event, at + group.len() + 1)),
            None => (None, (name, at)),
        };
        let check = |(part, at): (&str, usize), what: &str| {
            let span = Span::new(at, at + part.len());
            let letters = part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || (c == '-' && what != "event"));
            if !letters || part.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(
                    self.error(span, format!("the {what}'s name must be letters, digits and `_`, no digit first"))
                );
            }
            if part.len() >= MAX_NAME {
                return Err(self.error(span, format!("the {what}'s name must have fewer than {MAX_NAME} bytes")));
            }
            Ok((!part.is_empty()).then(|| part.to_owned()))
        };
        if event.0.is_empty() && group.is_none() {
            return Err(self.error(Span::at(at), "the event's name is missing after `:`"));
        }
        let group = match group {
            Some(("", at)) => {
                return Err(self.error(Span::at(at), "the group's name is missing before `/`"));
            }
            Some(part) => check(part, "group")?,
            None => None,
        };
        Ok((group, check(event, "event")?))
    }

    fn place(&self, kind: char, max_active: Option<u32>, place: &str, span: Span) -> Result<ProbeKind, Diagnostic> {
        let (bare, percent) = place.strip_suffix("%return").map_or((place, false), |bare| (bare, true));
        if bare.ends_with("%return") {
            return Err(self.error(span, "`%return` stands there twice"));
        }
        Ok(match kind {
            'e' => {
                let (system, event) =
                    place.split_once(['.', '/', ':']).filter(|(s, e)| !s.is_empty() && !e.is_empty()).ok_or_else(
                        || self.error(span, "expected SYSTEM.EVENT").hint("an event with its system, as in `sched/sched_switch`; the probe's own name is `--name NAME`"),
                    )?;
                ProbeKind::Event { system: system.to_owned(), event: event.to_owned() }
            }
            _ if !place.contains('/') && bare.contains('%') => {
                return Err(self.error(span, "after the place only `%return` may stand"));
            }
            't' => ProbeKind::Tracepoint { name: place.to_owned() },
            'f' if max_active.is_some() && !percent => {
                let message = "the number of active returns is for return probes only";
                return Err(self.error(span, message).hint(format!("`{bare}%return` probes the function's return")));
            }
            'f' if bare.contains('+') => {
                let hint = format!("`p {bare}` probes any place in a function");
                return Err(self.error(span, "an fprobe is on a whole function, without an offset").hint(hint));
            }
            'f' => ProbeKind::Function { symbol: bare.to_owned(), returns: percent, max_active },
            _ if place.contains('/') && percent && bare.ends_with(')') => {
                return Err(self
                    .error(span, "a counter's `)` ends the place of a probe")
                    .hint(format!("`r {bare}` probes the function's return")));
            }
            _ if place.contains('/') => self.uprobe(kind == 'r' || percent, bare, span)?,
            _ => {
                let at = self.kernel_place(bare, span)?;
                match kind == 'r' || percent {
                    true => ProbeKind::Kretprobe { max_active, at },
                    false => ProbeKind::Kprobe(at),
                }
            }
        })
    }

    fn kernel_place(&self, text: &str, span: Span) -> Result<KernelPlace, Diagnostic> {
        let (module, rest) = match text.split_once(':') {
            Some((module, rest)) => (Some(module.to_owned()), rest),
            None => (None, text),
        };
        let (symbol, offset) = match rest.split_once('+') {
            Some((symbol, offset)) => {
                let offset = parse_int(offset).ok().and_then(|n| u64::try_from(n).ok());
                (symbol, offset.ok_or_else(|| self.error(span, "invalid offset after the symbol"))?)
            }
            None => (rest, 0),
        };
        let number = symbol.starts_with(|c: char| c.is_ascii_digit());
        let bad_number = number && parse_int(symbol).is_err();
        if symbol.is_empty() || bad_number || module.as_deref() == Some("") {
            return Err(self.error(span, "invalid address or symbol"));
        }
        Ok(KernelPlace { module, symbol: symbol.to_owned(), offset, span })
    }

    /// `PATH:OFFSET[(COUNTER)]`
    fn uprobe(&self, returns: bool, place: &str, span: Span) -> Result<ProbeKind, Diagnostic> {
        let number = |text: &str| parse_int(text).ok().and_then(|n| u64::try_from(n).ok());
        let (place, counter) = match place.strip_suffix(')').and_then(|p| p.rsplit_once('(')) {
            Some((place, counter)) => {
                let counter = number(counter).ok_or_else(|| self.error(span, "invalid offset of the counter"))?;
                (place, Some(counter))
            }
            None => (place, None),
        };
        let missing = || self.error(span, "expected PATH:OFFSET, the offset a number");
        let (path, symbol) = place.rsplit_once(':').ok_or_else(missing)?;
        let offset = number(symbol).ok_or_else(|| {
            let kind = if returns { "uretprobe" } else { "uprobe" };
            missing().hint(format!("`rtrace probe add {kind} {path}:{symbol}` takes the names of functions"))
        })?;
        if path.is_empty() {
            return Err(missing());
        }
        Ok(ProbeKind::Uprobe { path: path.to_owned(), offset, counter, returns })
    }
}

/// Words between blanks: the kernel splits there also within quotes (`argv_split` in lib/argv_split.c).
fn words(text: &str) -> impl Iterator<Item = (&str, Span)> {
    let words = text.split(|c| matches!(c, ' ' | '\t'..='\r')).filter(|word| !word.is_empty());
    words.map(|word| {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        (word, Span::new(start, start + word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_not_that_of_a_nameless_argument() {
        for text in ["p f %di arg1=%si", "p f arg2=%si %di"] {
            assert_eq!(text.parse::<Probe>().unwrap_err().message, "this argument's name is already used", "{text}");
        }
        assert!("p f %di arg1x=%si %dx".parse::<Probe>().is_ok());
        assert!("p f $arg* arg1=%si %dx".parse::<Probe>().is_ok());
    }

    #[test]
    fn a_return_is_said_once() {
        for text in ["p:x t%return%return", "f t%return%return", "p /bin/x:0x10%return%return"] {
            assert_eq!(text.parse::<Probe>().unwrap_err().message, "`%return` stands there twice", "{text}");
        }
    }

    #[test]
    fn nothing_begins_or_ends_a_line_within() {
        for text in ["u:name u32 count;\nu8 b", "p vfs_read $comm=\\\"a\nb\"", "f vfs_rea%\0\0", "e s.e $p\0rio\n"] {
            let error = text.parse::<Probe>().unwrap_err();
            assert_eq!(error.message, "a newline or a NUL within the line", "{text:?}");
        }
        assert!("p vfs_read\n".parse::<Probe>().is_ok());
        // an open quote holds neither the line's end nor blanks
        assert_eq!("r a=\\\"\t\n\n".parse::<Probe>().unwrap().to_string(), "r a=\\\"");
        let error = "p vfs_read a=\\\"two words\"".parse::<Probe>().unwrap_err();
        assert_eq!(error.message, "the text is not closed with `\"`");
    }

    #[test]
    fn every_kind() {
        for (text, printed) in [
            ("p vfs_read", "p vfs_read"),
            (
                "p:myprobe do_sys_open dfd=%ax filename=%dx flags=%cx mode=+4($stack)",
                "p:myprobe do_sys_open dfd=%ax filename=%dx flags=%cx mode=+4($stack)",
            ),
            ("r:myretprobe do_sys_open $retval", "r:myretprobe do_sys_open $retval"),
            ("r16:kprobes/x ext4:ext4_sync_fs ret=$retval:s32", "r16:kprobes/x ext4:ext4_sync_fs ret=$retval:s32"),
            (
                "p:a/b vfs_read+0x10 $comm n=$stack3 s=+0(+8(%di)):string",
                "p:a/b vfs_read+16 $comm n=$stack3 s=+0(+8(%di)):string",
            ),
            ("p vfs_read%return $retval", "r vfs_read $retval"),
            ("p:zfree_entry /bin/zsh:0x46420 %ip %ax", "p:zfree_entry /bin/zsh:0x46420 %ip %ax"),
            (
                "r:u/x /bin/bash:0x4245c0(0x10) +u0($retval):ustring",
                "r:u/x /bin/bash:0x4245c0(0x10) +u0($retval):ustring",
            ),
            ("p /bin/bash:4096%return $retval", "r /bin/bash:0x1000 $retval"),
            (
                "e:eprobes/open sched.sched_switch next=$next_pid:u32 $prev_comm if next_pid > 1",
                "e:eprobes/open sched.sched_switch next=$next_pid:u32 $prev_comm if next_pid > 1",
            ),
            ("f:myf vfs_read%return ret=$retval", "f:myf vfs_read%return ret=$retval"),
            ("f vfs_read count file->f_inode.i_ino", "f vfs_read count file->f_inode.i_ino"),
            ("t:tp sched_switch $arg*", "t:tp sched_switch $arg*"),
            (
                "f:m getname_flags%return p=$retval->name:string $arg1->a.b[3]->c",
                "f:m getname_flags%return p=$retval->name:string $arg1->a.b[3]->c",
            ),
            (
                "p vfs_read a=\\5:u8 b=\\\"word\" c=@jiffies:u64 d=%di:b4@2/32 e=$arg2:x8[4]",
                "p vfs_read a=\\5:u8 b=\\\"word\" c=@jiffies:u64 d=%di:b4@2/32 e=$arg2:x8[4]",
            ),
            ("u:test u32 count; char[16] msg", "u:test u32 count; char[16] msg"),
            ("p 0xffffffff81000000", "p 0xffffffff81000000"),
        ] {
            let probe: Probe = text.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(probe.to_string(), printed);
            assert_eq!(probe.to_string().parse(), Ok(probe));
        }
    }

    #[test]
    fn as_the_kernel_keeps_it() {
        let probe: Probe = "e:x sched.sched_switch $next_pid $comm".parse().unwrap();
        assert_eq!(probe.normal().to_string(), "e:eprobes/x sched.sched_switch arg1=$next_pid arg2=$comm");
        assert_eq!(probe.removal().unwrap(), "-:eprobes/x");
        let probe: Probe = "f vfs_read count".parse().unwrap();
        assert_eq!(probe.normal().to_string(), "f:fprobes/ vfs_read arg1=count");
        // Found by fuzzing: `$arg*` has no name.
        let probe: Probe = "p:ev mode=@jiffies+8:x64[4] %di $arg* comm=$comm %si".parse().unwrap();
        let normal = probe.normal();
        assert_eq!(normal.to_string(), "p:kprobes/ev mode=@jiffies+8:x64[4] arg1=%di $arg* comm=$comm %si");
        assert_eq!(normal.to_string().parse(), Ok(normal));
        let name = |text: &str| text.parse::<Probe>().unwrap().kind.suggested_name();
        assert_eq!(name("r vfs_read"), "vfs_read__return");
        assert_eq!(name("p /lib/libc.so.6:0x10"), "libc_so_6_10");
    }

    /// As the kernel's selftests have it (`*_syntax_errors.tc`).
    #[test]
    fn what_the_kernel_refuses() {
        for (text, message) in [
            ("f100 vfs_read", "the number of active returns is for return probes only"),
            ("p /bin/sh:10(10)%return", "a counter's `)` ends the place of a probe"),
            ("p: vfs_read", "the event's name is missing after `:`"),
            ("e: sys/ev", "the event's name is missing after `:`"),
            ("t: kfree", "the event's name is missing after `:`"),
            ("p vfs_read%hoge", "after the place only `%return` may stand"),
            ("f vfs_read%hoge", "after the place only `%return` may stand"),
            ("f vfs_read+10", "an fprobe is on a whole function, without an offset"),
            ("p f @12345678abcde", "invalid address"),
            ("p f @+10", "an offset in a file is for uprobes"),
            ("f f @+10", "an offset in a file is for uprobes"),
            ("p f @", "the address is missing after `@`"),
            ("p f @jiffies*10", "expected a symbol, as in `@jiffies` or `@jiffies+8`"),
            ("p /bin/sh:10 @+ab", "invalid offset in the file"),
            ("p /bin/sh:10 @jiffies", "a program is not probed for the kernel's symbols"),
            ("p f +0($comm)", "`$comm` is no address"),
            ("p f +10($arg*)", "`$arg*` is no address"),
            ("p f args=$arg*", "`$arg*` stands for several arguments, which have names of their own"),
            ("f f $arg* $arg*", "`$arg*` stands there twice"),
            ("p f $comm:x64", "this is a text: its type is `string`, without an array"),
            ("p f $comm:string[2]", "this is a text: its type is `string`, without an array"),
            ("p f a_name_of_more_than_thirty_two_bytes=@11", "an argument's name has at most 32 bytes"),
            ("f f %ax", "registers are for kprobes and uprobes"),
            ("t f %ax", "registers are for kprobes and uprobes"),
            ("f f file-.foo", "invalid argument"),
            ("e s.e foo", "invalid argument"),
            ("e s.e a=dfd", "invalid argument"),
            ("p /bin/sh:10 file", "invalid argument"),
            ("p f $comm->x", "only $retval and $argN have members"),
            ("r f $retval->", "invalid member"),
            ("r f $retval->a-b", "invalid member"),
            ("p f $retval->name", "`$retval` is only there when the function returns"),
        ] {
            assert_eq!(text.parse::<Probe>().unwrap_err().message, message, "{text}");
        }
        let nested = |derefs: usize| format!("p f {}@0{}", "+0(".repeat(derefs), ")".repeat(derefs));
        assert_eq!(nested(14).parse::<Probe>().unwrap_err().message, "more dereferences than the kernel takes");
        for text in [
            "f100 vfs_read%return",
            "r /bin/sh:10(10)",
            "p:group/ vfs_read",
            "p f @_sdata-10 @_sdata+0x10 +10(@_sdata-10) $comm:string \\\"a\":string",
            "p /bin/sh:10 @+0x10 @0x1000 %ax",
            &nested(13),
        ] {
            assert!(text.parse::<Probe>().is_ok(), "{text}");
        }
    }

    #[test]
    fn no_text_is_a_panic() {
        for text in [
            "", ":", "p", "p:", "p:/", "é", "r0: x", "p x +", "p x é", "p x =", "p x +u(", "p x \\\"", "p x a=:",
            "p x @", "p x %",
        ] {
            assert!(text.parse::<Probe>().is_err(), "{text}");
        }
    }
}
