//! The numbers of sections and options. They share one space: an option that points to a section has the section's id.

use std::fmt;

macro_rules! ids {
    ($(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $name:ident = $value:literal, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(pub u16);

        impl $type {
            $($(#[$vdoc])* pub const $name: $type = $type($value);)*

            /// The name of a known id.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($text),)*
                    _ => None,
                }
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl fmt::Display for $type {
            /// `12 (time_shift)`, or the bare number of an unknown one.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => write!(f, "{} ({name})", self.0),
                    None => write!(f, "{}", self.0),
                }
            }
        }
    };
}

ids! {
    /// The kind of an option. Unknown ones are kept as they are.
    OptionId {
        /// The end of the options of a section; in version 7 it holds the offset of the next options section.
        DONE = 0, "done";
        /// `0x<hex>`: microseconds to add to every time stamp, which makes them wall clock times.
        DATE = 1, "date";
        /// The text of one CPU's `stats` file.
        CPUSTAT = 2, "cpustat";
        /// A ring buffer: name, where its data lies.
        BUFFER = 3, "buffer";
        /// The whole `trace_clock` file: `[local] global counter ...`.
        TRACECLOCK = 4, "traceclock";
        /// `sysname nodename release machine` of the recorded machine.
        UNAME = 5, "uname";
        /// A profile hook of `trace-cmd record --profile`.
        HOOK = 6, "hook";
        /// Decimal number to add to every time stamp, in the clock's unit.
        OFFSET = 7, "offset";
        /// u32: how many CPUs the machine had.
        CPUCOUNT = 8, "cpucount";
        /// The version of the program that recorded.
        VERSION = 9, "version";
        /// Memory maps of the traced processes.
        PROCMAPS = 10, "procmaps";
        /// u64 that names this recording.
        TRACEID = 11, "traceid";
        /// The conversion of a guest's time stamps to its host's.
        TIME_SHIFT = 12, "time_shift";
        /// A guest: name, trace id, its virtual CPUs' threads.
        GUEST = 13, "guest";
        /// u32 mult, u32 shift, u64 offset: from x86 TSC ticks to nanoseconds.
        TSC2NSEC = 14, "tsc2nsec";
        /// Section only: the texts that section headers refer to.
        STRINGS = 15, "strings";
        /// Offset of the section with header_page and header_event.
        HEADER_INFO = 16, "header_info";
        /// Offset of the section with the formats of the `ftrace` system.
        FTRACE_EVENTS = 17, "ftrace_events";
        /// Offset of the section with all other formats.
        EVENT_FORMATS = 18, "event_formats";
        /// Offset of the section with kallsyms.
        KALLSYMS = 19, "kallsyms";
        /// Offset of the section with printk_formats.
        PRINTK = 20, "printk";
        /// Offset of the section with saved_cmdlines.
        CMDLINES = 21, "cmdlines";
        /// A latency tracer's `trace` file, as text.
        BUFFER_TEXT = 22, "buffer_text";
        /// Offset of the section with the kernel's BTF.
        BTF_FILE = 23, "btf_file";
        /// `instance:` and the text of its `last_boot_info`.
        LAST_BOOT_INFO = 24, "last_boot_info";
        /// Offset of the section with /proc/modules.
        MODULES_FILE = 25, "modules_file";
        /// Ours, only in unfinished files: the spools that hold the CPUs' data ([`super::SpoolTable`]).
        RTRACE_SPOOLS = 0x7274, "rtrace_spools";
        /// Ours: the settings that decide how the kernel shows a buffer ([`super::KernelView`]).
        RTRACE_VIEW = 0x7275, "rtrace_view";
        /// Ours: offset of the section with the kernel's BTF, in files without compression.
        RTRACE_BTF = 0x7276, "rtrace_btf";
        /// Ours: what each chunk of a CPU holds ([`super::ChunkIndex`]).
        RTRACE_INDEX = 0x7277, "rtrace_index";
        /// Ours: values of names in print formats ([`crate::kernel::btf::Enumerators`]).
        RTRACE_ENUMERATORS = 0x7278, "rtrace_enumerators";
        /// Ours: events that a killed recorder had taken and not written ([`super::UnsavedEvents`]).
        RTRACE_UNSAVED = 0x7279, "rtrace_unsaved";
        /// Ours: checksums of all but the ring buffers' data.
        RTRACE_SUMS = 0x727a, "rtrace_sums";
        /// Ours: the events that were enabled in a buffer ([`super::EnabledEvents`]).
        RTRACE_EVENTS = 0x727b, "rtrace_events";
        /// Ours: how well a guest's clock was compared with its host's ([`super::ClockComparison`]).
        RTRACE_CLOCKS = 0x727c, "rtrace_clocks";
        /// Ours: the CPUs that were offline ([`super::CpuRanges`]).
        RTRACE_OFFLINE = 0x727d, "rtrace_offline";
        /// Ours: the tasks and CPUs that a buffer was recorded of ([`super::Coverage`]).
        RTRACE_COVERAGE = 0x727e, "rtrace_coverage";
        /// Ours: the wall clock beside the trace clock, at the begin and at the end ([`super::ClockReading`]).
        RTRACE_WALL_CLOCK = 0x727f, "rtrace_wall_clock";
        /// Ours: the cgroup of each task over time ([`super::Cgroups`]).
        RTRACE_CGROUPS = 0x7280, "rtrace_cgroups";
        /// Ours: the command line that made the recording, as words of a shell.
        RTRACE_COMMAND = 0x7281, "rtrace_command";
        /// Ours: the memory node of each CPU ([`super::NumaNodes`]).
        RTRACE_NODES = 0x7282, "rtrace_nodes";
        /// Ours: the builds of the files that processes had mapped ([`super::BuildIds`]).
        RTRACE_BUILDS = 0x7283, "rtrace_builds";
        /// Ours: the throttled time of cgroups over time ([`super::QuotaSamples`]).
        RTRACE_QUOTAS = 0x7284, "rtrace_quotas";
    }
}

impl OptionId {
    /// True if it is one of rtrace's own.
    pub(super) fn is_ours(self) -> bool {
        self.0 & 0xff00 == 0x7200
    }
}

ids! {
    /// The kind of a version 7 section.
    SectionId {
        /// Options.
        OPTIONS = 0, "options";
        /// A ring buffer's data, all CPUs.
        BUFFER = 3, "buffer";
        /// Texts that section headers refer to.
        STRINGS = 15, "strings";
        /// header_page and header_event.
        HEADER_INFO = 16, "header_info";
        /// Formats of the `ftrace` system.
        FTRACE_EVENTS = 17, "ftrace_events";
        /// All other formats.
        EVENT_FORMATS = 18, "event_formats";
        /// kallsyms.
        KALLSYMS = 19, "kallsyms";
        /// printk_formats.
        PRINTK = 20, "printk";
        /// saved_cmdlines.
        CMDLINES = 21, "cmdlines";
        /// A latency tracer's `trace` file.
        BUFFER_TEXT = 22, "buffer_text";
        /// The kernel's BTF, raw.
        BTF_FILE = 23, "btf_file";
        /// /proc/modules.
        MODULES_FILE = 25, "modules_file";
        /// Ours: as `BTF_FILE`, in files without compression.
        RTRACE_BTF = 0x7276, "rtrace_btf";
    }
}
