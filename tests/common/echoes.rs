//! Texts written to a kernel beside the kernel's echoes: they must mean the same.

use rtrace::filter::Filter;
use rtrace::probe::{Probe, ProbeKind};
use rtrace::trigger::{Trigger, TriggerAction};

/// Compares lines `KIND<tab>WRITTEN<tab>SHOWN`; counts filters, triggers and probes.
pub(crate) fn compare(text: &str) -> [usize; 3] {
    let mut seen = [0; 3];
    for line in text.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        match parts[..] {
            ["filter", written, shown] => {
                seen[0] += 1;
                assert_eq!(Filter::parse(written).unwrap(), Filter::parse(shown).unwrap(), "{line}");
            }
            ["trigger", written, shown] => {
                seen[1] += 1;
                let (written, shown): (Trigger, Trigger) = (written.parse().unwrap(), shown.parse().unwrap());
                match (&written.action, &shown.action) {
                    (TriggerAction::Hist(a), TriggerAction::Hist(b)) => assert_eq!(a.normal(), b.normal(), "{line}"),
                    _ => assert_eq!(written, shown, "{line}"),
                }
            }
            ["probe", written, shown] => {
                seen[2] += 1;
                let written: Probe = written.parse().unwrap();
                let mut shown: Probe = shown.parse().unwrap();
                // The kernel chooses how many returns may be active at once unless the definition says.
                match (&written.kind, &mut shown.kind) {
                    (ProbeKind::Kretprobe { max_active: None, .. }, ProbeKind::Kretprobe { max_active, .. })
                    | (ProbeKind::Function { max_active: None, .. }, ProbeKind::Function { max_active, .. }) => {
                        *max_active = None
                    }
                    _ => {}
                }
                assert_eq!(written.normal(), shown.normal(), "{line}");
            }
            _ => panic!("{line}"),
        }
    }
    seen
}
