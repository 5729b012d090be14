//! The system calls that no safe wrapper offers: the one folder of this crate with unsafe code.
#![expect(
    unsafe_code,
    reason = "fork, signal, sched_setscheduler, pthread_setschedparam, setpriority, pidfd_open, waitpid, kill, PTRACE_LISTEN, PTRACE_CONT, perf_event_open, accept4, mmap, localtime_r, mktime and stores of constant size into a vector have no safe form; each block says why it is sound"
)]

mod accept;
mod append;
mod exec;
mod local_time;
mod process;
mod task_events;

pub(crate) use accept::accept;
pub(crate) use append::{Tail, append_piece};
pub(crate) use exec::{ExecImage, Identity, fork_gated};
pub(crate) use local_time::{LocalTime, free_bytes, is_clock_synchronised, wide};
pub(crate) use process::{
    Scheduling, make_idle, nice_thread, no_real_time, pidfd_open, ptrace_cont, ptrace_listen, real_time, schedule,
    send_signal, wait_for,
};
pub use process::{background, notice_children};
pub(crate) use task_events::{MappedKernelTypes, TaskEvents, page_size};
