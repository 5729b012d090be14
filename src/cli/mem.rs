//! `rtrace mem`.

use super::damage::DamageReport;
use super::exit::{Exit, Failure};
use super::query::WindowArgs;
use super::trace_file::{InputArg, open_recording, threads_for};
use crate::cli::terminal::{PagerArgs, stdout};
use anyhow::anyhow;
use rtrace::analysis::{Bytes, FunctionMemory, Grouped, MemoryUse};
use rtrace::recording::{BufferSource, Notice, Recording};
use serde_json::json;
use std::io::{self, Write};
use std::path::Path;

/// Show which functions hold how much of the kernel's memory
///
/// From a recording with the events kmalloc, kmem_cache_alloc, kfree and kmem_cache_free of system kmem: what each function
/// was given and had asked for, when the recording ended (waste, alloc, req), in all, and at most. Of a part of the time
/// (--since, --until, --around) what was taken within it counts, and "current" is what of that was held at its end.
/// `rtrace analyze memory` has call sites, pages and tasks as well.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace record -e kmem -- make; rtrace mem
  rtrace mem -i kmem.dat --json | jq '.functions[] | select(.current.waste > 4096)'")]
pub(crate) struct MemArgs {
    #[command(flatten)]
    input: InputArg,
    #[command(flatten)]
    window: WindowArgs,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pager: PagerArgs,
}

pub(crate) fn run(args: &MemArgs) -> Result<Exit, Failure> {
    let path = args.input.path();
    let recording = open_recording(path)?;
    let damage = DamageReport::of(path, &recording.trace);
    let _pager = args.pager.start();
    let done = print(args, path, &recording, &damage);
    damage.late(path, &recording);
    damage.outcome(done)
}

fn print(args: &MemArgs, path: &Path, recording: &Recording, damage: &DamageReport) -> Result<(), Failure> {
    let Recording { trace, symbols, .. } = recording;
    let memory = MemoryUse::new(trace.formats(), trace.abi, symbols);
    if !memory.has_events() {
        let error = anyhow!("{} holds no events of kmem", path.display());
        return Err(Failure::new(Exit::Failed, error).hint("`rtrace record -e kmem` records them."));
    }
    let notice = |notice: Notice<'_>| damage.notice(|_| path, &notice);
    let query = recording.query().threads(threads_for(None, [&recording.trace])).on_notice(&notice);
    let window = args.window.within(&query, path)?;
    let query = query.window(window);
    let name = |source: &BufferSource| trace.buffers[source.buffer].name.as_str();
    let (found, _) = query.analyse(Grouped::by_buffer(vec![memory; query.sources().len()]))?;
    let functions = query.sources().iter().map(name).zip(found).filter(|(_, of_buffer)| !of_buffer.is_empty());
    let functions: Vec<_> = functions.collect();
    let mut out = io::BufWriter::new(stdout().lock());
    if args.json {
        let one = |buffer: &str, f: &FunctionMemory| {
            json!({
                "function": f.name, "buffer": buffer, "current": bytes(f.current), "total": bytes(f.total),
                "most": bytes(f.most),
            })
        };
        let all = functions.iter().flat_map(|(buffer, all)| all.iter().map(move |f| one(buffer, f)));
        let document = json!({"schema": "rtrace.mem", "version": 1, "functions": all.collect::<Vec<_>>()});
        writeln!(out, "{document:#}")?;
    } else {
        for (buffer, functions) in &functions {
            if !buffer.is_empty() {
                writeln!(out, "\nInstance: {buffer}")?;
            }
            table(functions, &mut out)?;
        }
    }
    Ok(out.flush()?)
}

fn bytes(of: Bytes) -> serde_json::Value {
    json!({"taken": of.taken, "asked": of.asked, "waste": of.waste()})
}

/// As trace-cmd lays it out.
fn table(functions: &[FunctionMemory], out: &mut impl Write) -> io::Result<()> {
    let heading = |out: &mut dyn Write, n: [&str; 9]| {
        let [name, waste, taken, asked, total, total_asked, most, most_asked, most_waste] = n;
        writeln!(
            out,
            "                {name:<20}\t{waste}\t{taken}\t{asked}\t\t{total:<8}     {total_asked}\t\t\
             {most:<8}     {most_asked}\t{most_waste}"
        )
    };
    heading(out, ["Function", "Waste", "Alloc", "req", "TotAlloc", "TotReq", "MaxAlloc", "MaxReq", "MaxWaste"])?;
    heading(out, ["--------", "-----", "-----", "---", "--------", "------", "--------", "------", "--------"])?;
    for f in functions {
        writeln!(
            out,
            "{:>32}\t{}\t{}\t{}\t\t{:>8}   {:>8}\t\t{:>8}   {:>8}\t{}",
            f.name,
            f.current.waste(),
            f.current.taken,
            f.current.asked,
            f.total.taken,
            f.total.asked,
            f.most.taken,
            f.most.asked,
            f.most.waste()
        )?;
    }
    Ok(())
}
