//! The calls of one recording in words.

use super::calls::{CallEvent, CallsByEvent};
use super::kind::{Dialect, ValueKind, hex};
use super::result;
use super::result::ResultKind;
use super::signature::{MOST, Signatures};
use crate::base::abi::Abi;
use crate::base::text::json;
use crate::base::units::Pid;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::borrow::Cow;
use std::fmt;

/// Names of calls by their number, which each architecture has its own of.
pub type SyscallNames = Box<dyn Fn(i64) -> Option<&'static str> + Send + Sync>;

/// Decodes the calls of one recording.
pub struct SyscallDecoder {
    calls: CallsByEvent,
    signatures: Signatures,
    names: SyscallNames,
    dialect: Dialect,
}

impl fmt::Debug for SyscallDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyscallDecoder").field("calls", &self.calls).field("dialect", &self.dialect).finish()
    }
}

/// An argument to be shown.
pub(super) struct DecodedArgument<'d> {
    pub(super) name: Cow<'d, str>,
    kind: ValueKind,
    text: Option<&'d [u8]>,
    nth: usize,
}

impl SyscallDecoder {
    /// For records of a recording with these formats; `names` are those of its architecture.
    pub fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        dialect: Dialect,
        names: SyscallNames,
    ) -> Self {
        SyscallDecoder { calls: CallsByEvent::new(formats, abi), signatures: Signatures::new(dialect), names, dialect }
    }

    /// True if the recording has formats of entries or exits.
    pub fn has_events(&self) -> bool {
        self.calls.any()
    }

    #[inline]
    pub(super) fn event(&self, record: &Record<'_>) -> Option<CallEvent> {
        self.calls.event(record.data)
    }

    pub(super) fn task(&self, record: &Record<'_>) -> Pid {
        self.calls.task(record)
    }

    /// The call's name: that of its number, else that of the kernel's function, else the number.
    pub(super) fn name(&self, data: &[u8]) -> Cow<'_, str> {
        let number = match self.calls.event(data) {
            Some(CallEvent::Entry { number, .. } | CallEvent::Exit { number, .. }) => number,
            None => -1,
        };
        if let Some(name) = (self.names)(number) {
            return name.into();
        }
        match self.calls.meaning(data).and_then(|meaning| meaning.name.as_deref()) {
            Some(name) => name.into(),
            None => format!("syscall_{number}").into(),
        }
    }

    /// The arguments of an entry, those that mean something, and their values.
    pub(super) fn arguments<'d>(&'d self, name: &str, data: &'d [u8]) -> (Vec<DecodedArgument<'d>>, [u64; MOST]) {
        let abi = self.calls.abi();
        let Some(meaning) = self.calls.meaning(data) else { return (Vec::new(), [0; MOST]) };
        let values = meaning.arguments.values(abi, data);
        let signature = self.signatures.get(name);
        let known = signature.map(|signature| signature.arguments.as_slice()).unwrap_or_default();
        let in_array = meaning.arguments.len().is_none();
        let len = meaning.arguments.len().unwrap_or(if signature.is_some() { known.len() } else { MOST });
        let mut list = Vec::with_capacity(len);
        let mut split = false;
        for nth in 0..shown(name, &values, len) {
            let (mut kind, mut argument) = (ValueKind::Hex, None);
            if let Some((name, known)) = known.get(nth) {
                (kind, argument) = (*known, Some(Cow::from(*name)));
            }
            let field = meaning.arguments.field(nth);
            if let Some(field) = field {
                argument = Some(Cow::from(field.name.as_str()));
                if known.is_empty() {
                    kind = field.kind;
                }
            }
            // 64 bits are two registers here, aligned or not: the rest is not where it is elsewhere.
            split |= in_array && abi.long_size == 4 && matches!(kind, ValueKind::LongLong);
            if split {
                (kind, argument) = (ValueKind::Hex, None);
            }
            // The upper half of an offset, of which 64 bits have one.
            if abi.long_size == 8 && argument.as_deref() == Some("pos_h") {
                continue;
            }
            let name = argument.unwrap_or_else(|| format!("arg{nth}").into());
            list.push(DecodedArgument { name, kind, text: field.and_then(|field| field.text(abi, data)), nth });
        }
        if split {
            let rest = list.len()..MOST;
            list.extend(rest.map(|nth| DecodedArgument {
                name: format!("arg{nth}").into(),
                kind: ValueKind::Hex,
                text: None,
                nth,
            }));
        }
        (list, values)
    }

    /// Appends an argument as text.
    pub(super) fn write(&self, shown: &DecodedArgument<'_>, values: &[u64], out: &mut Vec<u8>) {
        match shown.text {
            // As JSON writes it: quotes, and no control characters.
            Some(text) if !text.is_empty() => json::string(out, text),
            _ => shown.kind.write(values, shown.nth, self.dialect, self.calls.abi().long_size, out),
        }
    }

    /// True if it is a number rather than a name.
    pub(super) fn is_number(shown: &DecodedArgument<'_>) -> bool {
        shown.text.is_none() && shown.kind.is_number()
    }

    /// Appends `openat(AT_FDCWD, 0x7f21c0d1a0f0, O_RDONLY`, the parenthesis left open, of an entry's record.
    pub(super) fn write_call(&self, data: &[u8], out: &mut Vec<u8>) {
        let name = self.name(data);
        out.extend_from_slice(name.as_bytes());
        out.push(b'(');
        let (list, values) = self.arguments(&name, data);
        for (nth, shown) in list.iter().enumerate() {
            if nth > 0 {
                out.extend_from_slice(b", ");
            }
            self.write(shown, &values, out);
        }
    }

    /// Appends the result of the call `name`.
    pub(super) fn write_result(&self, name: &str, result: i64, out: &mut Vec<u8>) {
        let kind = self.signatures.get(name).map_or(ResultKind::Number, |signature| signature.result);
        if kind == ResultKind::Pointer && result::error(result).is_none() && self.calls.abi().long_size == 4 {
            return hex(u64::from(result as u32), out);
        }
        result::write(result, kind, out);
    }

    /// The values of the arguments shown, as they were recorded.
    pub(super) fn raw(list: &[DecodedArgument<'_>], values: &[u64]) -> Vec<u64> {
        list.iter().map(|shown| values.get(shown.nth).copied().unwrap_or_default()).collect()
    }
}

/// True for the calls that do not return.
pub(super) fn never_returns(name: &str) -> bool {
    matches!(name, "exit" | "exit_group")
}

// Number of meaningful arguments of calls where it depends on their values.

/// Number of `args` of the call `name` to show, of the `len` that it has.
fn shown(name: &str, args: &[u64], len: usize) -> usize {
    let arg = |nth: usize| args.get(nth).copied().unwrap_or_default() & 0xffff_ffff;
    let shown = match name {
        // Permissions count only with O_CREAT and O_TMPFILE, which are the same everywhere.
        "open" if !creates(arg(1)) => 2,
        "openat" if !creates(arg(2)) => 3,
        // F_GETFD, F_GETFL, F_GETOWN, F_GETSIG, F_GETLEASE, F_GETPIPE_SZ, F_GET_SEALS
        "fcntl" | "fcntl64" if matches!(arg(1), 1 | 3 | 9 | 11 | 1025 | 1032 | 1034) => 2,
        "futex" | "futex_time64" => match arg(1) & 0x7f {
            0 => 4,     // FUTEX_WAIT
            1 => 3,     // FUTEX_WAKE
            3 => 5,     // FUTEX_REQUEUE
            6 => 4,     // FUTEX_LOCK_PI
            7 | 8 => 2, // FUTEX_UNLOCK_PI, FUTEX_TRYLOCK_PI
            _ => len,
        },
        // The new address counts with MREMAP_FIXED and MREMAP_DONTUNMAP.
        "mremap" if arg(3) & 6 == 0 => 4,
        // FIOCLEX and FIONCLEX, TIOCNOTTY: no argument.
        "ioctl" if matches!(arg(1), 0x5450 | 0x5451 | 0x5422) => 2,
        // PR_SET_NAME and PR_GET_NAME take one argument, PR_GET_DUMPABLE and the like none.
        "prctl" => match arg(0) {
            1 | 2 | 4 | 8 | 15 | 16 | 23 | 24 | 36 | 37 => 2,
            3 | 7 => 1,
            _ => len,
        },
        _ => len,
    };
    shown.min(len)
}

/// O_CREAT, or the bit of O_TMPFILE that no other flag has.
fn creates(flags: u64) -> bool {
    flags & (0o100 | 0o20_000_000) != 0
}
