//! `rtrace hist -i FILE`: the call chains of a recording.

use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::RecordedArgs;
use crate::cli::terminal::stdout;
use crate::cli::trace_file::open_recording;
use anyhow::anyhow;
use rtrace::analysis::{Analysis, CallChain, CallChains};
use rtrace::recording::{BufferSource, Notice, Recording};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

pub(super) fn run(path: &Path, which: &RecordedArgs, one_task: bool, as_json: bool) -> Result<Exit, Failure> {
    let recording = open_recording(path)?;
    let damage = DamageReport::of(path, &recording.trace);
    let done = print_all((path, which), &recording, &damage, one_task, as_json);
    damage.late(path, &recording);
    damage.outcome(done)
}

fn print_all(
    (path, which): (&Path, &RecordedArgs),
    recording: &Recording,
    damage: &DamageReport,
    one_task: bool,
    as_json: bool,
) -> Result<(), Failure> {
    let Recording { trace, symbols, .. } = recording;
    if trace.buffers.iter().all(|buffer| buffer.cpus.is_empty()) {
        return Err(Failure::new(Exit::Failed, anyhow!("{} holds no events to count", path.display()))
            .hint("what a latency tracer left is text."));
    }
    let notice = |notice: Notice<'_>| damage.notice(|_| path, &notice);
    let whole = recording.query().threads(which.threads_for(trace)).on_notice(&notice);
    let window = which.window().within(&whole, path)?;
    let whole = whole.window(window);
    let mut out = io::BufWriter::new(stdout().lock());
    let mut all = Vec::new();
    for (number, buffer) in trace.buffers.iter().enumerate().filter(|(_, buffer)| !buffer.cpus.is_empty()) {
        let empty = CallChains::new(trace.formats(), trace.abi, symbols, one_task);
        let (query, mut part) = (whole.clone(), empty.begin());
        // One CPU after the other.
        let of_buffer = |source: &&BufferSource| source.buffer == number;
        let source = query.sources().iter().find(of_buffer).cloned();
        for (source, cpu) in source.iter().flat_map(|source| source.cpus.iter().map(move |cpu| (source, *cpu))) {
            let one = query.clone().of_sources(vec![BufferSource { cpus: vec![cpu], ..source.clone() }]);
            part = one.analyse_on(&empty, part)?.0;
        }
        let chains = Analysis::finish(empty, part);
        if as_json {
            all.push(json!({"buffer": buffer.name, "total": chains.total(), "chains": to_json(&chains)}));
            continue;
        }
        if !buffer.name.is_empty() {
            writeln!(out, "\nInstance: {}", buffer.name)?;
        }
        print(&chains, &mut out)?;
    }
    if as_json {
        writeln!(out, "{:#}", json!({"schema": "rtrace.chains", "version": 1, "buffers": all}))?;
    }
    Ok(out.flush()?)
}

fn to_json(chains: &CallChains<'_>) -> Vec<Value> {
    fn one(chains: &CallChains<'_>, chain: &CallChain) -> Value {
        let callers: Vec<Value> = chain.callers.iter().map(|c| one(chains, &chains.nodes()[*c])).collect();
        json!({"name": chains.name(chain.name), "event": chain.event, "count": chain.count, "callers": callers})
    }
    let top = |(chain, pid): (&CallChain, Option<rtrace::units::Pid>)| {
        let mut value = one(chains, chain);
        if let (Some(pid), Some(map)) = (pid, value.as_object_mut()) {
            map.insert("pid".into(), json!(pid.0));
            map.insert("comm".into(), json!(String::from_utf8_lossy(chains.comm(pid))));
        }
        value
    };
    chains.tops().map(top).collect()
}

/// In trace-cmd's layout: the innermost function, then its callers as a tree.
fn print(chains: &CallChains<'_>, out: &mut impl Write) -> io::Result<()> {
    for (number, (chain, pid)) in chains.tops().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let (percent, name) = (percent(chains.total(), chain.count), chains.name(chain.name));
        match pid {
            None => writeln!(out, "  %{percent:3.2} <all pids> {name:>30} #{}", chain.count)?,
            Some(pid) => {
                write!(out, "  %{percent:3.2}  ({pid}) ")?;
                out.write_all(chains.comm(pid))?;
                writeln!(out, " {name:>30} #{}", chain.count)?;
            }
        }
        writeln!(out, "         |")?;
        writeln!(out, "         --- {}", if chain.event { format!("*{name}*") } else { name })?;
        HistChainTree { chains, lines: 0 }.callers(chain, 0, out)?;
    }
    Ok(())
}

fn percent(total: u64, part: u64) -> f64 {
    part as f64 / total.max(1) as f64 * 100.0
}

/// The lines below one innermost function.
struct HistChainTree<'a> {
    chains: &'a CallChains<'a>,
    /// Bit by bit, whether a column still has a line downwards.
    lines: u64,
}

impl HistChainTree<'_> {
    fn indent(&self, columns: u32, out: &mut impl Write) -> io::Result<()> {
        (0..columns).try_for_each(|column| {
            let line = self.lines.checked_shr(column).unwrap_or(0) & 1 == 1;
            out.write_all(if line { b"            |" } else { b"             " })
        })
    }

    fn name(&self, chain: &CallChain, columns: u32, out: &mut impl Write) -> io::Result<()> {
        self.indent(columns, out)?;
        writeln!(out, "          {}", self.chains.name(chain.name))
    }

    fn node(&self, number: usize) -> &CallChain {
        &self.chains.nodes()[number]
    }

    /// True if no call in it has two callers.
    fn is_line<'c>(&'c self, mut chain: &'c CallChain) -> bool {
        while let Some(caller) = chain.callers.first() {
            if chain.callers.len() > 1 {
                return false;
            }
            chain = &self.chains.nodes()[*caller];
        }
        true
    }

    fn line<'c>(&'c self, mut chain: &'c CallChain, columns: u32, out: &mut impl Write) -> io::Result<()> {
        while let Some(caller) = chain.callers.first() {
            chain = &self.chains.nodes()[*caller];
            self.name(chain, columns, out)?;
        }
        Ok(())
    }

    fn callers(&mut self, chain: &CallChain, columns: u32, out: &mut impl Write) -> io::Result<()> {
        if self.is_line(chain) {
            return self.line(chain, columns, out);
        }
        let bit = 1u64.checked_shl(columns).unwrap_or(0);
        self.lines |= bit;
        for (number, caller) in chain.callers.iter().enumerate() {
            self.indent(columns + 1, out)?;
            writeln!(out)?;
            self.indent(columns + 1, out)?;
            let caller = self.chains.nodes().get(*caller).cloned().unwrap_or_default();
            let (percent, name) = (percent(chain.count, caller.count), self.chains.name(caller.name));
            writeln!(out, "--%{percent:.2}-- {name}  # {}", caller.count)?;
            if number + 1 == chain.callers.len() {
                self.lines &= bit.wrapping_sub(1);
            }
            if self.is_line(&caller) {
                self.line(&caller, columns + 1, out)?;
                continue;
            }
            let mut at = &caller;
            while let [only] = at.callers.as_slice()
                && self.node(*only).count == at.count
            {
                at = &self.chains.nodes()[*only];
                self.name(at, columns + 1, out)?;
            }
            let at = at.clone();
            self.callers(&at, columns + 1, out)?;
        }
        Ok(())
    }
}
