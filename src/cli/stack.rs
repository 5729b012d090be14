//! `rtrace stack`.

use super::args::WriteArgs;
use super::exit::{Exit, Failure};
use crate::cli::terminal::{note, stdout};
use rtrace::tracefs::{Feature, FunctionList, StackTrace, WriteMode};
use serde_json::json;
use std::io::Write;

/// Show the deepest kernel stack so far
///
/// The kernel's stack tracer looks at the stack at each function and keeps the deepest. It is one for the whole machine
/// and costs time while it is on.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace stack --start         look at every stack from now on
  rtrace stack                 the deepest so far
  rtrace stack --reset         forget it
  rtrace stack --stop          stop looking")]
pub(crate) struct StackArgs {
    /// Start the stack tracer
    #[arg(long, conflicts_with_all = ["stop", "json"])]
    start: bool,
    /// Stop the stack tracer
    #[arg(long, conflicts_with = "json")]
    stop: bool,
    /// Forget the deepest stack
    #[arg(long)]
    reset: bool,
    /// Look at the entry of these functions only (name, glob; `!FUNC` takes one out, an empty FUNC all)
    #[arg(long, value_name = "FUNC", conflicts_with = "json")]
    filter: Vec<String>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn run(args: &StackArgs) -> Result<Exit, Failure> {
    let tracefs = args.write.open()?;
    tracefs.require(&Feature::StackTracer)?;
    let top = tracefs.top();
    let mut journal = args.write.changes(&tracefs);
    if args.reset {
        journal.act(&top, "stack_max_size", "0", WriteMode::Truncate)?;
    }
    if !args.filter.is_empty() && journal.set_functions(&top, FunctionList::Stack, &args.filter)? {
        note!("rtrace: warning: stack_trace_filter is empty now: all functions are looked at");
    }
    if args.start || args.stop {
        journal.switch_stack_tracer(args.start)?;
    }
    if args.start || args.stop || args.reset || !args.filter.is_empty() {
        journal.keep()?;
        return Ok(Exit::Success);
    }
    let stack = StackTrace::read(&tracefs)?;
    let mut out = stdout().lock();
    if args.json {
        let document = json!({
            "schema": "rtrace.stack", "version": 1, "on": stack.on, "max_size": stack.max_size, "text": stack.text,
        });
        writeln!(out, "{document:#}")?;
        return Ok(Exit::Success);
    }
    if !stack.on {
        writeln!(out, "(the stack tracer is off)")?;
    }
    out.write_all(stack.text.as_bytes())?;
    Ok(Exit::Success)
}
