//! The syntax tree of probes.
//! A probe as the line that makes it.

use super::{Fetch, ProbeArg};
use crate::base::syntax::Span;
use std::fmt;

/// A dynamic event. `Display` prints the line that makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The place that it is attached to.
    pub kind: ProbeKind,
    /// Its system; `None` leaves it to the kernel ([`ProbeKind::default_group`]).
    pub group: Option<String>,
    /// Its name; `None` leaves it to the kernel.
    pub event: Option<String>,
    /// The values that it records.
    pub args: Vec<ProbeArg>,
    /// An event probe's filter, from the word after `if`.
    pub filter: Option<String>,
}

/// The place that a probe is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// `p:grp/ev vfs_read+0x10` (`CONFIG_KPROBE_EVENTS`)
    Kprobe(KernelPlace),
    /// `r16:grp/ev vfs_read`: when the function returns; the number is how many may run at once.
    Kretprobe {
        /// `maxactive`
        max_active: Option<u32>,
        /// The function.
        at: KernelPlace,
    },
    /// `p:grp/ev /bin/bash:0x4245c0(0x10)` (`CONFIG_UPROBE_EVENTS`)
    Uprobe {
        /// The program or library.
        path: String,
        /// Offset in the file, in bytes.
        offset: u64,
        /// Offset in the file of a counter of users, in bytes (SDT semaphores).
        counter: Option<u64>,
        /// True if it fires at the function's return: `r`, or `%return` after the offset.
        returns: bool,
    },
    /// `e:grp/ev sched.sched_switch` (since Linux 5.15)
    Event {
        /// The event's system.
        system: String,
        /// The event.
        event: String,
    },
    /// `f:grp/ev vfs_read%return` (`CONFIG_FPROBE_EVENTS`, since Linux 6.5)
    Function {
        /// The function.
        symbol: String,
        /// True if it fires at the return.
        returns: bool,
        /// Limit of instances that run at once (returns only).
        max_active: Option<u32>,
    },
    /// `t:grp/ev sched_switch`: a tracepoint, also one without an event (since Linux 6.5)
    Tracepoint {
        /// The tracepoint.
        name: String,
    },
    /// `u:name u32 count; char[16] msg` (`CONFIG_USER_EVENTS`): an event that programs write.
    User {
        /// The fields, as in C, separated by `;`.
        fields: String,
    },
}

impl ProbeKind {
    /// The system the kernel puts such an event into if none is named.
    pub fn default_group(&self) -> &'static str {
        match self {
            ProbeKind::Kprobe(_) | ProbeKind::Kretprobe { .. } => "kprobes",
            ProbeKind::Uprobe { .. } => "uprobes",
            ProbeKind::Event { .. } => "eprobes",
            ProbeKind::Function { .. } => "fprobes",
            ProbeKind::Tracepoint { .. } => "tracepoints",
            ProbeKind::User { .. } => "user_events",
        }
    }

    /// A name that says what is probed, made of what names may be made of.
    pub fn suggested_name(&self) -> String {
        let (base, returns) = match self {
            ProbeKind::Kprobe(at) => (at.symbol.clone(), false),
            ProbeKind::Kretprobe { at, .. } => (at.symbol.clone(), true),
            ProbeKind::Uprobe { path, offset, returns, .. } => {
                (format!("{}_{offset:x}", path.rsplit('/').next().unwrap_or(path)), *returns)
            }
            ProbeKind::Event { event, .. } => (event.clone(), false),
            ProbeKind::Function { symbol, returns, .. } => (symbol.clone(), *returns),
            ProbeKind::Tracepoint { name } => (name.clone(), false),
            ProbeKind::User { .. } => ("event".to_owned(), false),
        };
        let mut name: String = base.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(50).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert(0, '_');
        }
        if returns {
            name.push_str("__return");
        }
        name
    }
}

/// A place in the kernel's text: `mod:vfs_read+0x10`, or an address.
#[derive(Clone, Debug)]
pub struct KernelPlace {
    /// The module the symbol is in.
    pub module: Option<String>,
    /// A symbol, or a number.
    pub symbol: String,
    /// Bytes after the symbol.
    pub offset: u64,
    /// Its place in the text.
    pub span: Span,
}

impl PartialEq for KernelPlace {
    fn eq(&self, other: &Self) -> bool {
        (&self.module, &self.symbol, self.offset) == (&other.module, &other.symbol, other.offset)
    }
}

impl Eq for KernelPlace {}

impl Probe {
    /// The system the event will be in.
    pub fn group_or_default(&self) -> &str {
        self.group.as_deref().unwrap_or_else(|| self.kind.default_group())
    }

    /// `SYSTEM:EVENT`; nothing after the colon if it has no name yet.
    pub fn full_name(&self) -> String {
        format!("{}:{}", self.group_or_default(), self.event.as_deref().unwrap_or(""))
    }

    /// The line that removes it; it needs a name. A user event is only found by its fields, too.
    pub fn removal(&self) -> Option<String> {
        let fields = match &self.kind {
            ProbeKind::User { fields } if !fields.is_empty() => format!(" {fields}"),
            _ => String::new(),
        };
        self.event.as_ref().map(|event| format!("-:{}/{event}{fields}", self.group_or_default()))
    }

    /// The same as the kernel keeps it: every part named, what has no name is called `arg1`, `arg2`... From `$arg*` on the
    /// kernel alone can count: it stands for as many arguments as the function has.
    pub fn normal(&self) -> Probe {
        let mut probe = self.clone();
        probe.group = Some(self.group_or_default().to_owned());
        let names: Vec<_> = names(&self.args).collect();
        probe.args.iter_mut().zip(names).for_each(|(arg, name)| arg.name = name);
        probe
    }
}

/// The name of each argument: its own, or that of its place; none of what has no name from `$arg*` on.
pub(super) fn names(args: &[ProbeArg]) -> impl Iterator<Item = Option<String>> {
    let all = args.iter().position(|arg| arg.fetch == Fetch::Arguments).unwrap_or(args.len());
    args.iter()
        .enumerate()
        .map(move |(place, arg)| arg.name.clone().or_else(|| (place < all).then(|| format!("arg{}", place + 1))))
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match &self.kind {
            ProbeKind::Kprobe(_) | ProbeKind::Uprobe { returns: false, .. } => "p",
            ProbeKind::Kretprobe { .. } | ProbeKind::Uprobe { returns: true, .. } => "r",
            ProbeKind::Event { .. } => "e",
            ProbeKind::Function { .. } => "f",
            ProbeKind::Tracepoint { .. } => "t",
            ProbeKind::User { .. } => "u",
        };
        f.write_str(letter)?;
        if let ProbeKind::Kretprobe { max_active: Some(n), .. } | ProbeKind::Function { max_active: Some(n), .. } =
            &self.kind
        {
            write!(f, "{n}")?;
        }
        let user = matches!(self.kind, ProbeKind::User { .. });
        match (&self.group, &self.event) {
            // A user event's group is always user_events, and not written.
            (Some(_), Some(event)) if user => write!(f, ":{event}")?,
            (Some(group), Some(event)) => write!(f, ":{group}/{event}")?,
            (Some(group), None) => write!(f, ":{group}/")?,
            (None, Some(event)) => write!(f, ":{event}")?,
            (None, None) => {}
        }
        match &self.kind {
            ProbeKind::Kprobe(at) | ProbeKind::Kretprobe { at, .. } => write!(f, " {at}")?,
            ProbeKind::Uprobe { path, offset, counter, .. } => {
                write!(f, " {path}:{offset:#x}")?;
                if let Some(counter) = counter {
                    write!(f, "({counter:#x})")?;
                }
            }
            ProbeKind::Event { system, event } => write!(f, " {system}.{event}")?,
            ProbeKind::Function { symbol, returns, .. } => {
                write!(f, " {symbol}{}", if *returns { "%return" } else { "" })?;
            }
            ProbeKind::Tracepoint { name } => write!(f, " {name}")?,
            ProbeKind::User { fields } if fields.is_empty() => {}
            ProbeKind::User { fields } => write!(f, " {fields}")?,
        }
        for arg in &self.args {
            write!(f, " {arg}")?;
        }
        match &self.filter {
            Some(filter) => write!(f, " if {filter}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for KernelPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(module) = &self.module {
            write!(f, "{module}:")?;
        }
        f.write_str(&self.symbol)?;
        match self.offset {
            0 => Ok(()),
            offset => write!(f, "+{offset}"),
        }
    }
}
