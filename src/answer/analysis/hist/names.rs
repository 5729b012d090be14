//! Names for what the keys of entries hold.

use crate::base::units::Pid;

/// Names for what keys hold.
pub trait HistNames {
    /// A function as `%ps` prints it (`schedule`, `nf_hook [nf_tables]`), or with `offset` as `%pS` does
    /// (`schedule+0x27/0xc0`); the number in hexadecimal where there is none.
    fn symbol(&self, address: u64, offset: bool) -> String;

    /// A system call by its number: `sys_read`.
    fn syscall(&self, number: u64) -> Option<String>;

    /// The name of a task.
    fn comm(&self, pid: Pid) -> String;
}
