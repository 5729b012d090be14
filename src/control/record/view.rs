//! Settings that decide how the kernel shows a buffer's events, kept for `report --format kernel`.

use super::setup::SetUpBuffer;
use crate::control::tracefs::{Error, Tracefs};
use crate::file::trace_dat::KernelView;
use nix::sys::utsname;
use nix::unistd::{SysconfVar, sysconf};

/// The settings of `buffer`, which has been read out to its end.
pub(super) fn view(tracefs: &Tracefs, buffer: &SetUpBuffer) -> Result<KernelView, Error> {
    let possible = buffer.cpus.len() as u32;
    let online = sysconf(SysconfVar::_NPROCESSORS_ONLN).ok().flatten().and_then(|n| u32::try_from(n).ok());
    let mut view = KernelView {
        tracer: buffer.instance.current_tracer()?,
        online: online.unwrap_or(possible),
        possible,
        release: uname().split(' ').nth(2).unwrap_or_default().to_owned(),
        ..KernelView::default()
    };
    for (name, on) in buffer.instance.options()? {
        view.options.set(&if on { name } else { format!("no{name}") });
    }
    if view.options.record_tgid {
        view.set_tgids(&String::from_utf8_lossy(&tracefs.saved_tgids()?));
    }
    view.set_dynamic_events(&String::from_utf8_lossy(&tracefs.dynamic_events()?));
    for (cpu, _) in &buffer.cpus {
        let stats = buffer.instance.cpu_stats(*cpu)?;
        view.entries += stats.read + stats.entries;
        view.written += stats.read + stats.entries + stats.overrun;
    }
    Ok(view)
}

/// `sysname nodename release machine` of the running kernel, as uname(1) prints them and recordings keep them; empty
/// where the kernel does not tell.
pub fn uname() -> String {
    let Ok(name) = utsname::uname() else { return String::new() };
    let words = [name.sysname(), name.nodename(), name.release(), name.machine()];
    words.map(|word| word.to_string_lossy().into_owned()).join(" ")
}
