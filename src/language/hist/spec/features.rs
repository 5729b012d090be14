//! Features of a kernel's hist triggers.

/// Differences between kernels, as their own `README` file lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// There are hist triggers at all (`CONFIG_HIST_TRIGGERS`).
    pub hist: bool,
    /// There are synthetic events (`CONFIG_SYNTH_EVENTS`).
    pub synth: bool,
    /// `nohitcount`, and `.percent` and `.graph` on values (Linux 6.3; documented since 6.2, but refused).
    pub no_hitcount: bool,
    /// `common_stacktrace`, `.stacktrace`, and stacks in variables (Linux 6.3); before: `stacktrace`, keys only.
    pub common_stacktrace: bool,
    /// `.buckets=N` (Linux 5.15).
    pub buckets: bool,
    /// Numbers, `*` and `/` in expressions (Linux 5.17).
    pub arithmetic: bool,
    /// `onmatch`, `onmax`, `onchange` with their actions (Linux 4.17 to 5.2).
    pub actions: bool,
    /// `snapshot()` (`CONFIG_TRACER_SNAPSHOT`).
    pub snapshot: bool,
}

impl Features {
    /// A kernel that can do everything known here.
    pub const ALL: Features = Features {
        hist: true,
        synth: true,
        no_hitcount: true,
        common_stacktrace: true,
        buckets: true,
        arithmetic: true,
        actions: true,
        snapshot: true,
    };

    /// From the text of tracefs's `README`, which the kernel assembles from what it was built with.
    pub fn from_readme(readme: &str) -> Features {
        Features {
            hist: readme.contains("hist trigger\t- If set"),
            synth: readme.contains("events/synthetic_events"),
            no_hitcount: readme.contains("[:nohitcount]"),
            common_stacktrace: readme.contains("'common_stacktrace'"),
            buckets: readme.contains(".buckets=size"),
            arithmetic: readme.contains("multiplication(*)"),
            actions: readme.contains("onmatch("),
            snapshot: readme.contains("snapshot()"),
        }
    }
}
