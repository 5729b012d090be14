//! The two filter languages: the kernel's, and that of `trace-cmd report -F`.
