//! Booting a guest: `tests/kernel/boot` does it, this is its Rust face.

use crate::common::not_run::not_run;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A kernel that the tests know how to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Debian's newest 6.1 cloud kernel.
    V6_1,
    /// Debian's newest 6.12 cloud kernel.
    V6_12,
    /// Debian's cloud kernel 6.18 out of backports, used where it was fetched before.
    V6_18,
    /// Debian's newest kernel, from unstable or backports. A boot costs more than CI has left, so it is used only where
    /// it was fetched before (`tests/kernel/boot -p 7`, with `RTRACE_KERNELS` as the test will have it).
    V7,
    /// Debian's newest cloud kernel for arm64, used where it was fetched before (`tests/kernel/boot -p arm64`) and
    /// `RTRACE_ARM64` names a static program for that.
    Arm64,
    /// Debian's 6.1 for i386, likewise, with `RTRACE_I386`.
    I386,
    /// Debian's kernel for riscv64, likewise, with `RTRACE_RISCV64`.
    Riscv64,
    /// A 6.12 built with every tracer there is; no package has it, so it is used where it is available.
    AllTracers,
    /// A 7.2 built with every tracer, runtime verification, a remote and tracing from a bootconfig, used where
    /// `tests/kernel/build-kernel` made it.
    All7,
}

impl Kernel {
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Kernel::V6_1 => "6.1",
            Kernel::V6_12 => "6.12",
            Kernel::V6_18 => "6.18",
            Kernel::V7 => "7",
            Kernel::Arm64 => "arm64",
            Kernel::I386 => "i386",
            Kernel::Riscv64 => "riscv64",
            Kernel::AllTracers => "all-tracers",
            Kernel::All7 => "all-7",
        }
    }

    /// True if this machine has the one that no package has.
    pub(crate) fn all_tracers_are_there() -> bool {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/kernels/bzImage-6.12-all-tracers").exists()
    }

    /// One that is there beside Debian's 6.1 and 6.12, which everything is tested on.
    pub(crate) fn is_extra(self) -> bool {
        !matches!(self, Kernel::V6_1 | Kernel::V6_12)
    }
}

/// The remains of a guest.
pub(crate) struct Guest {
    dir: tempfile::TempDir,
    kernel: Kernel,
}

impl Guest {
    /// Boots `kernel` and runs the shell script `script` in it, with `files` in its `/case`.
    ///
    /// `None`, after a line on the uncaptured stderr, where this machine cannot boot that kernel. In CI (`CI=true`) a
    /// kernel that has a package must boot, unless `RTRACE_CANNOT_BOOT` says why it is unavailable.
    #[track_caller]
    pub(crate) fn run(kernel: Kernel, script: &str, files: &[&Path]) -> Option<Guest> {
        Guest::run_with(&[], kernel, script, files)
    }

    /// The same with further options of `tests/kernel/boot`.
    #[track_caller]
    pub(crate) fn run_with(options: &[&str], kernel: Kernel, script: &str, files: &[&Path]) -> Option<Guest> {
        let guest = Guest { dir: tempfile::TempDir::new().expect("a temporary folder"), kernel };
        let script_file = guest.dir.path().join("script");
        std::fs::write(&script_file, script).expect("the script is written");
        let mut boot = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/boot"));
        boot.args(options);
        for file in files {
            boot.arg("-f").arg(file);
        }
        boot.arg(kernel.argument()).arg(&script_file).arg(guest.out()).stdin(Stdio::null());
        let output = boot.env("RTRACE", env!("CARGO_BIN_EXE_rtrace")).output().expect("tests/kernel/boot starts");
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(77) => {
                not_run(complaint.trim_end());
                let excused = kernel.is_extra() || std::env::var_os("RTRACE_CANNOT_BOOT").is_some();
                let ci = std::env::var("CI").is_ok_and(|value| value == "true");
                assert!(excused || !ci, "in CI this kernel must boot: {complaint}");
                None
            }
            Some(0) => {
                if !complaint.is_empty() {
                    // A crash, after which it was booted again: not to be swallowed by the test runner.
                    let _ = std::io::stderr().write_all(complaint.as_bytes());
                }
                Some(guest)
            }
            _ => panic!(
                "the guest's script failed on {kernel:?}: {}\n{complaint}--- stdout\n{}\n--- stderr\n{}\n--- script\n{script}",
                output.status,
                guest.text_or_empty("stdout"),
                guest.text_or_empty("stderr")
            ),
        }
    }

    /// The path on the host of a file that the script left in `/out`.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.out().join(name)
    }

    /// The text of a file that the script left in `/out`; `stdout` and `stderr` are the script's own.
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        match std::fs::read(self.file(name)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(e) => panic!("the guest ({:?}) left no {name}: {e}", self.kernel),
        }
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    fn text_or_empty(&self, name: &str) -> String {
        std::fs::read(self.file(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }
}

/// One test per kernel: `on_kernels!(name: V6_1, V6_12 => |kernel| { ... });`; `long name` where a guest takes minutes, and
/// `; suites V6_12` for a kernel that says nothing new beside `AllTracers`, which is a 6.12, too: `.ci/run suites` has time for it,
/// and where that one is missing it stands in.
macro_rules! on_kernels {
    (long $name:ident: $($kernel:ident),+ $(; suites $($more:ident),+)? => $case:expr) => {
        on_kernels!(@ true, $name: $($kernel),+; $($($more),+)? => $case);
    };
    ($name:ident: $($kernel:ident),+ $(; suites $($more:ident),+)? => $case:expr) => {
        on_kernels!(@ false, $name: $($kernel),+; $($($more),+)? => $case);
    };
    (@ $long:literal, $name:ident: $($kernel:ident),+; $($more:ident),* => $case:expr) => {
        mod $name {
            use super::*;

            fn case(kernel: Kernel) {
                let case: fn(Kernel) = $case;
                case(kernel);
            }
            $(
                #[test]
                #[expect(non_snake_case, reason = "named as the kernel")]
                fn $kernel() {
                    let test = concat!(module_path!(), "::", stringify!($kernel));
                    if ($long || Kernel::$kernel.is_extra()) && crate::common::long::is_left_out(test) {
                        return;
                    }
                    case(Kernel::$kernel);
                }
            )+
            $(
                mod suites {
                    #[test]
                    #[expect(non_snake_case, reason = "named as the kernel")]
                    fn $more() {
                        let test = concat!(module_path!(), "::", stringify!($more));
                        let is_left_out = match crate::guest_machine::Kernel::all_tracers_are_there() {
                            true => crate::suites::is_left_out(test),
                            false => crate::common::long::is_left_out(test),
                        };
                        if is_left_out {
                            return;
                        }
                        super::case(super::Kernel::$more);
                    }
                }
            )*
        }
    };
}
pub(crate) use on_kernels;
