//! Functions' arguments (options `func-args` and `funcgraph-args`, since Linux 6.15): numbers in registers, which only the
//! kernel's types give names.

use super::setup::SetUpBuffer;
use crate::control::tracefs::Tracefs;

/// Options of tracers that store them.
const OPTIONS: [&str; 2] = ["func-args", "funcgraph-args"];

/// The kernel's BTF if any of the buffers stores arguments: megabytes that are of no use to others. Without it arguments
/// stay numbers, so no error is worth a recording.
pub(super) fn btf(tracefs: &Tracefs, buffers: &[SetUpBuffer]) -> Option<Vec<u8>> {
    let is_on = |(name, on): &(String, bool)| *on && OPTIONS.contains(&name.as_str());
    let stores = |buffer: &SetUpBuffer| buffer.instance.options().is_ok_and(|options| options.iter().any(is_on));
    if !buffers.iter().any(stores) {
        return None;
    }
    tracefs.kernel_btf().ok()
}
