//! `rtrace mem`.

use super::exit::{Exit, Failure};
use super::trace_file::{Damage, InputArg, each_record, open_recording};
use crate::cli::terminal::stdout;
use anyhow::anyhow;
use rtrace::analysis::{Bytes, FunctionMemory, MemoryUse};
use rtrace::recording::Recording;
use serde_json::json;
use std::io::{self, Write};

/// Show which functions hold how much of the kernel's memory
///
/// From a recording with the events kmalloc, kmem_cache_alloc, kfree and kmem_cache_free of system kmem: what each function
/// was given and had asked for, when the recording ended (waste, alloc, req), in all, and at most.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace record -e kmem -- make; rtrace mem
  rtrace mem -i kmem.dat --json | jq '.functions[] | select(.current.waste > 4096)'")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArg,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let path = args.input.path();
    let Recording { trace, symbols, .. } = open_recording(path)?;
    let mut damage = Damage::of(path, &trace);
    let mut functions = Vec::new();
    for buffer in &trace.buffers {
        let mut memory = MemoryUse::new(trace.formats(), trace.abi, &symbols);
        if !memory.has_events() {
            let error = anyhow!("{} holds no events of kmem", path.display());
            return Err(Failure::new(Exit::Failed, error).hint("`rtrace record -e kmem` records them."));
        }
        each_record(&trace, buffer, 0..buffer.cpus.len(), &mut damage, |record| memory.record(record))?;
        let of_buffer = memory.functions();
        if !of_buffer.is_empty() {
            functions.push((buffer.name.as_str(), of_buffer));
        }
    }
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
    out.flush()?;
    Ok(damage.exit())
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
