//! `rtrace recover`.

use super::exit::{Exit, Failure};
use anyhow::Context;
use rtrace::trace_dat::{Recovered, recover};
use rtrace::units::ByteSize;
use std::path::PathBuf;

/// Finish a recording whose recorder was killed
///
/// Moves the spools beside the file into it. Nothing is lost but what had not been written when the recorder died.
#[derive(clap::Args)]
#[command(
    after_help = "EXAMPLES:\n  rtrace recover            finishes trace.dat\n  rtrace recover run.dat    finishes run.dat"
)]
pub(crate) struct Args {
    /// File of the recording
    #[arg(value_name = "FILE", default_value = "trace.dat", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let name = args.file.display();
    let done = recover(&args.file).with_context(|| format!("failed to recover {name}"))?;
    match done {
        Recovered::WasComplete => println!("{name}: a complete recording, nothing to recover"),
        Recovered::Finished { written, dropped } => {
            let ends =
                if dropped == 0 { String::new() } else { format!(", {} of torn ends dropped", ByteSize(dropped)) };
            let (file, data) = (ByteSize(written.file_size), ByteSize(written.data_size));
            println!("{name}: recovered, {file} with {data} of events{ends}");
        }
    }
    Ok(Exit::Success)
}
