//! Any text as a probe: an error, or a probe that reads back as itself from what it prints, and so does its normal form.

use rtrace::probe::Probe;

pub(crate) fn run(text: &str) {
    let Ok(probe) = text.parse::<Probe>() else { return };
    let read = |probe: &Probe| probe.to_string().parse::<Probe>();
    assert!(!probe.to_string().contains(['\n', '\0']), "more than one line: {probe}");
    assert_eq!(read(&probe).as_ref(), Ok(&probe), "{probe}");
    let normal = probe.normal();
    // of a user event the kernel, and so we, write no group
    assert_eq!(read(&normal).map(|again| again.normal()).as_ref(), Ok(&normal), "{normal}");
}
