//! The profile of a file.

use super::live::TraceArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::trace_file::{Damage, each_record, open_recording};
use rtrace::recording::Recording;
use rtrace::trace_dat::OptionId;
use std::path::Path;

pub(super) fn run(path: &Path, args: &TraceArgs) -> Result<Exit, Failure> {
    let Recording { trace, symbols, .. } = open_recording(path)?;
    let mut damage = Damage::of(path, &trace);
    let stored: Vec<String> = trace.options(OptionId::HOOK).map(|option| option.text()).collect();
    let hooks = args.what.hooks();
    let mut profiles = Vec::new();
    for buffer in &trace.buffers {
        let mut profile = args.account.profile(trace.formats(), trace.abi, &hooks, &stored)?;
        each_record(&trace, buffer, 0..buffer.cpus.len(), &mut damage, |record| profile.record(record))?;
        profiles.push((buffer.name.clone(), profile));
    }
    args.output.open()?.write(Some(&path.to_string_lossy()), &profiles, &symbols, args.account.by_comm)?;
    Ok(damage.exit())
}
