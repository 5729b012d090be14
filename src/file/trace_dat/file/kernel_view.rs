//! Settings of the running kernel beside the events: they decide how its `trace` file shows them. Our files keep them
//! in an option of their own, one for each buffer.

use crate::base::units::Pid;
use crate::file::trace_dat::{Buffer, OptionId, Trace};

/// The settings of one buffer when it was recorded, as far as they show in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelView {
    /// The instance's `current_tracer`.
    pub tracer: String,
    /// `trace_options` of the instance.
    pub options: KernelOptions,
    /// CPUs that were online.
    pub online: u32,
    /// CPUs that the kernel could have: how wide a CPU number is.
    pub possible: u32,
    /// Entries in the buffer, and entries that were ever written to it.
    pub entries: u64,
    /// See `entries`.
    pub written: u64,
    /// The kernel's release, as `uname -r` prints it.
    pub release: String,
    /// True if the clock counts nanoseconds.
    pub in_ns: bool,
    /// `saved_tgids`: thread and process, ascending.
    pub tgids: Vec<(Pid, Pid)>,
    /// The event that an event probe sits on, by the probe's name: `("eprobes", "sw")` and `sched.sched_switch`.
    pub probed: Vec<((String, String), String)>,
}

macro_rules! options {
    ($($(#[$doc:meta])* $field:ident = $name:literal, $default:literal;)*) => {
        /// The trace options that change an event's text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct KernelOptions {
            $($(#[$doc])* pub $field: bool,)*
        }

        impl Default for KernelOptions {
            /// As kernels boot (kernel/trace/trace.c, `TRACE_DEFAULT_FLAGS`).
            fn default() -> Self {
                KernelOptions { $($field: $default,)* }
            }
        }

        impl KernelOptions {
            /// Takes in one word of `trace_options`: an option's name, after `no` if it is off. Options that change
            /// no text are left out.
            pub fn set(&mut self, word: &str) {
                let (name, on) = match word.strip_prefix("no") {
                    Some(name) => (name, false),
                    None => (word, true),
                };
                match name {
                    $($name => self.$field = on,)*
                    _ => {}
                }
            }

            /// The words that [`KernelOptions::set`] takes in.
            pub fn words(&self) -> impl Iterator<Item = String> {
                [$(($name, self.$field),)*].into_iter().map(|(name, on)| format!("{}{name}", if on { "" } else { "no" }))
            }
        }
    };
}

options! {
    /// Callers of functions.
    print_parent = "print-parent", true;
    /// Offsets after functions' names.
    sym_offset = "sym-offset", false;
    /// Addresses after functions' names.
    sym_addr = "sym-addr", false;
    /// Types of system calls' arguments; no heading.
    verbose = "verbose", false;
    /// All events as lists of their fields.
    fields = "fields", false;
    /// Bitmasks as lists of numbers (since Linux 7.0).
    bitmask_list = "bitmask-list", false;
    /// A line where a CPU's part begins, if events were overwritten.
    annotate = "annotate", true;
    /// Mapped files in user stacks.
    sym_userobj = "sym-userobj", false;
    /// Messages without task, CPU and time.
    printk_msg_only = "printk-msg-only", false;
    /// True if the two kinds of message count as such.
    trace_printk = "trace_printk", true;
    /// Task, CPU, flags and time.
    context_info = "context-info", true;
    /// The latency tracers' columns.
    latency_format = "latency-format", false;
    /// Processes beside tasks.
    record_tgid = "record-tgid", false;
    /// The flags column.
    irq_info = "irq-info", true;
    /// Function arguments of the function tracer (since Linux 6.15).
    func_args = "func-args", false;
    /// function_graph: frames lost.
    graph_overrun = "funcgraph-overrun", false;
    /// function_graph: CPU.
    graph_cpu = "funcgraph-cpu", true;
    /// function_graph: marks of long durations.
    graph_overhead = "funcgraph-overhead", true;
    /// function_graph: task.
    graph_proc = "funcgraph-proc", false;
    /// function_graph: duration.
    graph_duration = "funcgraph-duration", true;
    /// function_graph: time.
    graph_abstime = "funcgraph-abstime", false;
    /// function_graph: functions called in interrupts.
    graph_irqs = "funcgraph-irqs", true;
    /// function_graph: the function's name after its closing brace.
    graph_tail = "funcgraph-tail", false;
    /// function_graph: return values.
    graph_retval = "funcgraph-retval", false;
    /// function_graph: return values in hexadecimal.
    graph_retval_hex = "funcgraph-retval-hex", false;
    /// function_graph: callers.
    graph_retaddr = "funcgraph-retaddr", false;
    /// function_graph: arguments (since Linux 6.15).
    graph_args = "funcgraph-args", false;
    /// The blk tracer's layout as of the program blkparse.
    blk_classic = "blk_classic", false;
    /// The blk tracer: names of control groups for their numbers.
    blk_cgname = "blk_cgname", false;
}

impl Default for KernelView {
    fn default() -> Self {
        KernelView {
            tracer: "nop".to_owned(),
            options: KernelOptions::default(),
            online: 1,
            possible: 1,
            entries: 0,
            written: 0,
            release: String::new(),
            in_ns: true,
            tgids: Vec::new(),
            probed: Vec::new(),
        }
    }
}

impl KernelView {
    /// Major and minor number of the kernel's release, if it is known.
    fn version(&self) -> Option<(u32, u32)> {
        let mut numbers = self.release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }

    /// True if the kernel is known to be older than `major.minor`.
    pub fn is_before(&self, major: u32, minor: u32) -> bool {
        self.version().is_some_and(|version| version < (major, minor))
    }

    /// The process that a thread belongs to.
    pub fn tgid(&self, pid: Pid) -> Option<Pid> {
        let at = self.tgids.binary_search_by_key(&pid.0, |t| t.0.0).ok()?;
        self.tgids.get(at).map(|task| task.1)
    }

    /// Takes in the text of a `trace_options` file.
    pub fn set_options(&mut self, text: &str) {
        text.split_whitespace().for_each(|word| self.options.set(word));
    }

    /// Takes in the text of `saved_tgids`: lines `thread process`.
    pub fn set_tgids(&mut self, text: &str) {
        let pair = |line: &str| {
            let (thread, process) = line.trim().split_once(' ')?;
            Some((Pid(thread.parse().ok()?), Pid(process.trim().parse().ok()?)))
        };
        self.tgids = text.lines().filter_map(pair).collect();
        self.tgids.sort_by_key(|t| t.0.0);
        self.tgids.dedup_by_key(|t| t.0.0);
    }

    /// Takes in the text of `dynamic_events`: `e:eprobes/sw sched.sched_switch pid=$prev_pid` and other probes.
    pub fn set_dynamic_events(&mut self, text: &str) {
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let Some((system, name)) = words.next().and_then(|w| w.strip_prefix("e:")?.split_once('/')) else {
                continue;
            };
            let Some(event) = words.next() else { continue };
            self.probed.push(((system.to_owned(), name.to_owned()), event.replace('/', ".")));
        }
    }

    /// As it is kept in a file, for the buffer of that name: lines `key value`.
    pub fn to_text(&self, buffer: &str) -> String {
        use std::fmt::Write;
        let mut text = format!("buffer {buffer}\n");
        // writing to a String cannot fail
        let _ = writeln!(text, "tracer {}\nonline {}\npossible {}", self.tracer, self.online, self.possible);
        let _ = writeln!(text, "entries {}\nwritten {}\nrelease {}", self.entries, self.written, self.release);
        let _ = writeln!(text, "options {}", self.options.words().collect::<Vec<_>>().join(" "));
        for (thread, process) in &self.tgids {
            let _ = writeln!(text, "tgid {thread} {process}");
        }
        for ((system, name), event) in &self.probed {
            let _ = writeln!(text, "probed {system} {name} {event}");
        }
        text
    }

    /// Reads what [`KernelView::to_text`] wrote, the buffer's name first; lines it does not know are left out.
    pub fn parse(text: &str) -> (String, Self) {
        let mut view = KernelView::default();
        let mut buffer = String::new();
        let mut tgids = String::new();
        for line in text.lines() {
            let Some((key, value)) = line.split_once(' ') else { continue };
            match key {
                "buffer" => buffer = value.to_owned(),
                "tracer" => view.tracer = value.to_owned(),
                "online" => view.online = value.parse().unwrap_or(view.online),
                "possible" => view.possible = value.parse().unwrap_or(view.possible),
                "entries" => view.entries = value.parse().unwrap_or(0),
                "written" => view.written = value.parse().unwrap_or(0),
                "release" => view.release = value.to_owned(),
                "options" => view.set_options(value),
                "tgid" => {
                    tgids.push_str(value);
                    tgids.push('\n');
                }
                "probed" => {
                    let words: Vec<&str> = value.split(' ').collect();
                    if let [system, name, event] = words[..] {
                        view.probed.push(((system.to_owned(), name.to_owned()), event.to_owned()));
                    }
                }
                _ => {}
            }
        }
        view.set_tgids(&tgids);
        (buffer, view)
    }
}

impl Trace {
    /// The file's record of the kernel's view of `buffer`; `None` if it has none.
    pub fn kernel_view(&self, buffer: &Buffer) -> Option<KernelView> {
        let views = self.options(OptionId::RTRACE_VIEW).map(|option| KernelView::parse(&option.text()));
        views.filter(|(name, _)| *name == buffer.name).map(|(_, view)| view).last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut view = KernelView { online: 4, possible: 128, release: "6.12.1-x".into(), ..KernelView::default() };
        view.set_options("noprint-parent\nsym-offset\nfuncgraph-tail\nnocontext-info\nunknown\nnounknown\n");
        view.set_tgids("12 10\n3 3\nx\n");
        view.set_dynamic_events("e:eprobes/sw sched.sched_switch pid=$prev_pid\np:kprobes/x vfs_read\n");
        assert_eq!(view.tgid(Pid(12)), Some(Pid(10)));
        assert!(view.options.sym_offset && view.options.graph_tail && !view.options.context_info);
        assert_eq!(KernelView::parse(&view.to_text("one")), (String::from("one"), view.clone()));
        assert!(view.is_before(6, 13) && !view.is_before(6, 12));
    }
}
