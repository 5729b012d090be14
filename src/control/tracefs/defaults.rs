//! Values of knobs after boot, where the kernel's source fixes them (`kernel/trace/trace.c`,
//! `trace_functions_graph.c`).

/// KiB per CPU of a ring buffer once it is used (`TRACE_BUF_SIZE_DEFAULT`), unless `trace_buf_size=` says otherwise.
pub(super) const BUFFER_KIB: u64 = 1408;

/// Bytes of each text that a system call is given (`CONFIG_TRACE_SYSCALL_BUF_SIZE_DEFAULT`, as kernels are built).
pub(super) const SYSCALL_BYTES: u32 = 63;

/// Options that are on after boot (`TRACE_DEFAULT_FLAGS`, and those of the function_graph tracer).
const ON: [&str; 16] = [
    "annotate",
    "context-info",
    "funcgraph-cpu",
    "funcgraph-duration",
    "funcgraph-irqs",
    "funcgraph-overhead",
    "function-trace",
    "graph-time",
    "hash-ptr",
    "irq-info",
    "markers",
    "overwrite",
    "print-parent",
    "record-cmd",
    "sleep-time",
    "trace_printk",
];

/// Options whose value after boot is not the same in every instance or on every kernel.
const VARYING: [&str; 4] = ["copy_trace_marker", "trace_printk_dest", "test_nop_accept", "test_nop_refuse"];

/// State of an option after boot; `None` where that depends.
pub(super) fn option(name: &str) -> Option<bool> {
    (!VARYING.contains(&name)).then(|| ON.contains(&name))
}
