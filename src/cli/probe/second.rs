//! A second probe of an event that is there already.

use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::probe::{Fetch, Probe, ProbeArg, ProbeKind};
use rtrace::tracefs::{EventName, Tracefs};

/// Fails if the event of `probe` exists and cannot have it as well: the kernel adds kprobes, uprobes and fprobes at other
/// places that record the same arguments (`trace_probe_compare_arg_type` in `kernel/trace/trace_probe.c`).
pub(super) fn check(tracefs: &Tracefs, probe: &Probe, known: &[(Probe, String)]) -> Result<(), Failure> {
    let name = EventName::new(probe.group_or_default(), probe.event.clone().unwrap_or_default());
    if !tracefs.top().has(&format!("events/{}/{}", name.system, name.name)) {
        return Ok(());
    }
    let others: Vec<&Probe> =
        known.iter().map(|(other, _)| other).filter(|o| o.full_name() == probe.full_name()).collect();
    objection(probe, &others).map_or(Ok(()), |why| {
        let error = anyhow!("failed to add the probe: there is an event {name} already{why}");
        Err(Failure::new(Exit::Usage, error).hint("`--name EVENT` gives it another name"))
    })
}

/// The reason why an event with the probes `others` cannot have `probe`, to follow `there is an event X already`.
fn objection(probe: &Probe, others: &[&Probe]) -> Option<&'static str> {
    let Some(first) = others.first() else { return Some("") };
    if !can_be_several(&probe.kind) || sort(&probe.kind) != sort(&first.kind) {
        return Some("");
    }
    let normal = probe.normal();
    if others.iter().any(|other| other.normal() == normal) {
        return Some(", with this very probe");
    }
    let first = first.normal();
    let differ = |(a, b): (&ProbeArg, &ProbeArg)| {
        let types = [a, b].map(recorded_as);
        a.name != b.name || (types.iter().all(Option::is_some) && types[0] != types[1])
    };
    let other_args = first.args.len() != normal.args.len() || first.args.iter().zip(&normal.args).any(differ);
    other_args.then_some(", whose probe records other arguments")
}

/// The type that an argument is recorded as; `None` where the function's own types decide.
fn recorded_as(arg: &ProbeArg) -> Option<&str> {
    fn by_default(fetch: &Fetch) -> Option<&'static str> {
        match fetch {
            Fetch::Comm | Fetch::Text(_) => Some("string"),
            Fetch::Deref { address, .. } => by_default(address),
            Fetch::Register(_) | Fetch::Memory(_) | Fetch::StackEntry(_) | Fetch::Stack | Fetch::Immediate(_) => {
                Some(if cfg!(target_pointer_width = "64") { "x64" } else { "x32" })
            }
            _ => None,
        }
    }
    arg.kind.as_deref().or_else(|| by_default(&arg.fetch))
}

fn can_be_several(kind: &ProbeKind) -> bool {
    !matches!(kind, ProbeKind::Event { .. } | ProbeKind::User { .. })
}

/// Probes of one event are of one sort.
fn sort(kind: &ProbeKind) -> u8 {
    match kind {
        ProbeKind::Kprobe(_) => 0,
        ProbeKind::Kretprobe { .. } => 1,
        ProbeKind::Uprobe { returns, .. } => 2 + u8::from(*returns),
        ProbeKind::Function { returns, .. } => 4 + u8::from(*returns),
        ProbeKind::Tracepoint { .. } => 6,
        ProbeKind::Event { .. } => 7,
        ProbeKind::User { .. } => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_places_with_the_same_arguments() {
        let of = |text: &str, other: &str| objection(&text.parse().unwrap(), &[&other.parse().unwrap()]);
        assert_eq!(of("p:ev vfs_write", "p:kprobes/ev vfs_read"), None);
        assert_eq!(of("p:ev vfs_write count=%dx:u64 %si", "p:ev vfs_read count=%di:u64 arg2=%si:x64"), None);
        assert_eq!(of("p:ev /bin/sh:0x10", "p:uprobes/ev /bin/sh:0x0000000000000020"), None);
        assert_eq!(of("p:ev vfs_read", "p:kprobes/ev vfs_read"), Some(", with this very probe"));
        assert_eq!(of("p:ev vfs_write count=%dx", "p:ev vfs_read count=%di:x64"), None);
        // The type that the kernel takes from the function's own is not shown.
        assert_eq!(of("p:ev vfs_write count", "p:ev vfs_read count:u64"), None);
        for text in
            ["p:ev vfs_write", "p:ev vfs_write n=%di:u64", "p:ev vfs_write count=%di:u8", "p:ev vfs_write count=%di"]
        {
            assert_eq!(
                of(text, "p:ev vfs_read count=%di:u64"),
                Some(", whose probe records other arguments"),
                "{text}"
            );
        }
        for text in ["r:ev vfs_write", "f:kprobes/ev vfs_write", "p:kprobes/ev /bin/sh:0x10", "e:kprobes/ev s.e"] {
            assert_eq!(of(text, "p:ev vfs_read"), Some(""), "{text}");
        }
        assert_eq!(objection(&"p:ev vfs_read".parse().unwrap(), &[]), Some(""), "no probe's event");
    }
}
