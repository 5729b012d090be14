//! `rtrace report`: what its arguments ask for, of files that are opened once.

use super::args::ReportArgs;
use super::{clocks, events, facts, user};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{QueryInput, formats};
use crate::cli::terminal::{Pager, stdout};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    args.check_effects()?;
    if args.json_schema && args.input.is_empty() && args.files.is_empty() {
        formats::print_schema(&[], &mut stdout().lock())?;
        return Ok(Exit::Success);
    }
    let named: Vec<&Path> = args.input.iter().chain(&args.files).map(PathBuf::as_path).collect();
    let files = if named.is_empty() { vec![Path::new("trace.dat")] } else { named };
    let ahead = args.events.threads() > 1 && args.wants_all_texts();
    let mut inputs = files
        .iter()
        .map(|path| QueryInput::open(path, args.wording.kallsyms.as_deref(), ahead))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|failure| match args.facts.endian {
            // As to record: `report -e sched_switch`, where the event is taken for a file.
            true => failure.hint("`-e` prints the byte order; `-F EVENT` selects events."),
            false => failure,
        })?;
    let damage = DamageReport::default();
    args.names.add_to(&mut inputs, &damage);
    for input in &inputs {
        damage.opened(&input.path, &input.trace);
    }
    // Given the end of the output when this returns, whatever the outcome.
    let _pager = if args.no_pager { None } else { Pager::start() };
    let mut out = stdout(); // not locked: any thread may write
    let done = if args.json_schema {
        formats::print_schema(&inputs, &mut out)
    } else if args.facts.check_events {
        facts::check_events(args, &inputs, &mut out)
    } else if args.facts.any() {
        facts::print(args, &inputs, &damage, &mut out)
    } else {
        events::print(args, &inputs, &damage, &mut out)
    };
    let done = done.and_then(|()| Ok(out.flush()?));
    for input in &inputs {
        damage.late(&input.path, &input.recording);
        user::tell(input);
    }
    if !args.facts.any() && !args.json_schema && !args.events.time().raw {
        clocks::tell(&inputs);
    }
    std::mem::forget(inputs); // giving back thousands of small pieces takes longer than ending
    damage.outcome(done)
}
