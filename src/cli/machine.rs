//! Architectures of recordings: names of system calls by their numbers, and the dialect of constants.

use rtrace::export::Dialect;
use rtrace::internal::trace_dat::{OptionId, Trace};
use syscalls::{aarch64, arm, loongarch64, powerpc64, riscv64, s390x, x86, x86_64};

/// The architecture that a recording is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordingMachine {
    X86_64,
    X86,
    Aarch64,
    Arm,
    Riscv64,
    Powerpc64,
    S390x,
    Loongarch64,
}

impl RecordingMachine {
    /// By the last word of `uname -a` as the recording keeps it.
    pub(crate) fn of(uname: &str) -> Option<Self> {
        Some(match uname.trim_end_matches('\0').split_whitespace().last()? {
            "x86_64" | "amd64" => RecordingMachine::X86_64,
            "i386" | "i486" | "i586" | "i686" => RecordingMachine::X86,
            "aarch64" | "arm64" => RecordingMachine::Aarch64,
            arm if arm.starts_with("armv") => RecordingMachine::Arm,
            "riscv64" => RecordingMachine::Riscv64,
            "ppc64" | "ppc64le" => RecordingMachine::Powerpc64,
            "s390x" => RecordingMachine::S390x,
            "loongarch64" => RecordingMachine::Loongarch64,
            _ => return None,
        })
    }

    /// The machine that made the recording.
    pub(crate) fn of_recording(trace: &Trace) -> Option<Self> {
        Self::of(&trace.option(OptionId::UNAME)?.text())
    }

    /// The constants that it has of its own.
    pub(crate) fn dialect(self) -> Dialect {
        match self {
            RecordingMachine::X86_64 | RecordingMachine::X86 => Dialect::X86,
            RecordingMachine::Aarch64 | RecordingMachine::Arm => Dialect::Arm,
            RecordingMachine::Powerpc64 => Dialect::Powerpc,
            RecordingMachine::Riscv64 | RecordingMachine::S390x | RecordingMachine::Loongarch64 => Dialect::Generic,
        }
    }

    /// Number and name of its calls, but for those of one architecture alone with numbers of their own (`cacheflush`).
    pub(crate) fn calls(self) -> impl Iterator<Item = (i64, &'static str)> {
        const END: i64 = 1024;
        (0..END).filter_map(move |number| Some((number, self.name(number)?)))
    }

    /// The machine that this runs on.
    pub(crate) fn of_this() -> Option<Self> {
        nix::sys::utsname::uname().ok().and_then(|uname| Self::of(&uname.machine().to_string_lossy()))
    }

    /// The names of its calls, and those of the kernel's functions that implement them, which events of `syscalls` have.
    pub(crate) fn call_names(self) -> impl Iterator<Item = String> {
        self.calls().flat_map(|(_, name)| [name.to_owned(), function_of(name)])
    }

    /// The name of the call with this number.
    pub(crate) fn name(self, number: i64) -> Option<&'static str> {
        let id = usize::try_from(number).ok()?;
        match self {
            RecordingMachine::X86_64 => x86_64::Sysno::new(id).map(|call| call.name()),
            RecordingMachine::X86 => x86::Sysno::new(id).map(|call| call.name()),
            RecordingMachine::Aarch64 => aarch64::Sysno::new(id).map(|call| call.name()),
            RecordingMachine::Arm => arm::Sysno::new(id).map(|call| call.name()),
            RecordingMachine::Riscv64 => riscv64::Sysno::new(id).map(|call| call.name()),
            RecordingMachine::Powerpc64 => powerpc64::Sysno::new(id).map(|call| call.name()),
            RecordingMachine::S390x => s390x::Sysno::new(id).map(|call| call.name()),
            RecordingMachine::Loongarch64 => loongarch64::Sysno::new(id).map(|call| call.name()),
        }
    }
}

/// The name of the kernel's function that implements a call.
pub(crate) fn function_of(call: &str) -> String {
    match call {
        "stat" | "fstat" | "lstat" | "uname" => format!("new{call}"),
        "sendfile" => "sendfile64".to_owned(),
        "umount2" => "umount".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_machine() {
        let name = |uname: &str, number| RecordingMachine::of(uname).and_then(|machine| machine.name(number));
        assert_eq!(name("Linux vm 6.18.0 x86_64\0", 257), Some("openat"));
        assert_eq!(name("Linux vm 6.1.0 aarch64", 56), Some("openat"));
        assert_eq!(name("Linux pi 5.10 armv7l", 322), Some("openat"));
        assert_eq!(name("Linux vm 6.1.0 i686", 295), Some("openat"));
        assert_eq!((name("Linux vm 6.1 x86_64", -1), name("Linux sun 6.1 sparc64", 4)), (None, None));
    }
}
