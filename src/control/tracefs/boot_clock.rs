//! The trace clock that the kernel chose at boot.

use super::Instance;

/// The clock of every ring buffer whose kernel had no reason for another one.
const LOCAL: &str = "local";
/// Its answer to a time stamp counter that is not stable, with the line that it logs
/// (kernel: `tracing_set_default_clock` in `kernel/trace/trace.c`). Other CPUs' readings of the local clock differ then.
const UNSTABLE: (&str, &str) = ("global", "Unstable clock detected, switching default tracing");

/// The clock of `instance` after boot: that of the parameter `trace_clock=`, or the one that the kernel log tells of.
/// Only the top level's differs from `local`.
pub fn boot_clock(instance: &Instance) -> String {
    let tracefs = instance.tracefs();
    if instance.name().is_some() {
        return LOCAL.to_owned();
    }
    let parameters = tracefs.read_bytes("/proc/cmdline").unwrap_or_default();
    chosen(&String::from_utf8_lossy(&parameters), || tracefs.files().kernel_log())
}

fn chosen(parameters: &str, log: impl FnOnce() -> Vec<u8>) -> String {
    let mut named = parameters.split_whitespace().filter_map(|word| word.strip_prefix("trace_clock="));
    if let Some(clock) = named.next_back() {
        return clock.to_owned();
    }
    let (global, line) = UNSTABLE;
    let is_unstable = memchr::memmem::find(&log(), line.as_bytes()).is_some();
    if is_unstable { global } else { LOCAL }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn parameter_then_log() {
        let log = "4,412,987595,-;Unstable clock detected, switching default tracing clock to \"global\"\n";
        assert_eq!(chosen("quiet", Vec::new), "local");
        assert_eq!(chosen("quiet", || log.into()), "global");
        assert_eq!(chosen("trace_clock=mono quiet trace_clock=boot", || log.into()), "boot");
    }
}
