//! `rtrace synth define`.

use crate::cli::args::WriteArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::definitions;
use crate::cli::language::invalid;
use anyhow::anyhow;
use rtrace::synth::SynthDef;
use rtrace::tracefs::{Feature, Tracefs, WriteMode};

#[derive(clap::Args)]
pub(super) struct SynthDefineArgs {
    /// Its name
    name: String,
    /// Its fields: 'u64 lat; pid_t pid; char comm[]'
    #[arg(value_name = "FIELDS", required = true)]
    fields: Vec<String>,
    /// Only print the line that would be written
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    write: WriteArgs,
}

pub(super) fn run(args: &SynthDefineArgs) -> Result<Exit, Failure> {
    // Each in quotes of its own, they need no semicolons.
    let separator = if args.fields.iter().all(|field| field.trim().contains(' ')) { "; " } else { " " };
    let text = format!("{} {}", args.name, args.fields.join(separator));
    define(&args.write.open()?, &args.write, &text, args.dry_run)
}

/// Makes the synthetic event that `text` defines, as `NAME TYPE FIELD; ...` or with `s:` before it. Nothing fires it yet.
pub(crate) fn define(tracefs: &Tracefs, write: &WriteArgs, text: &str, dry_run: bool) -> Result<Exit, Failure> {
    let definition = SynthDef::parse(text).map_err(|e| invalid("synthetic event", e))?;
    if dry_run {
        return crate::cli::exit::print(&format!("s:{definition}\n"));
    }
    tracefs.require(&Feature::SyntheticEvents)?;
    if definitions(tracefs)?.iter().any(|other| other.name == definition.name) {
        let error = anyhow!("there is a synthetic event {} already", definition.name);
        let hint = format!("`rtrace synth remove {}` removes it", definition.name);
        return Err(Failure::new(Exit::Usage, error).hint(hint));
    }
    let mut journal = write.changes(tracefs);
    journal.act(&tracefs.top(), "synthetic_events", &definition.to_string(), WriteMode::Append)?;
    crate::cli::exit::print(&format!("synthetic:{}\n", definition.name))
}
