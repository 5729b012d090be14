//! A profile in trace-cmd's layout.

use rtrace::analysis::{Profile, ProfiledEvent, StackNode, Times, Who};
use rtrace::symbols::Symbols;
use std::io::{self, Write};

/// Columns per branch of the trees.
const INDENT: usize = 5;

/// Writes all of it.
pub(crate) fn write(profile: &Profile, symbols: &Symbols, by_comm: bool, out: &mut impl Write) -> io::Result<()> {
    for task in profile.tasks(symbols, by_comm) {
        match task.who {
            Who::Global => writeln!(out, "Global Events")?,
            Who::Cpu(cpu) => writeln!(out, "Global CPU[{cpu}] Events")?,
            Who::Group => out.write_all(&[b"\ngroup: ", &task.comm[..], b"\n"].concat())?,
            Who::Task(pid) => {
                out.write_all(&[b"\ntask: ", &task.comm[..]].concat())?;
                writeln!(out, "-{pid}")?;
            }
        }
        for event in &task.events {
            write_event(event, symbols, out)?;
        }
    }
    Ok(())
}

fn write_event(event: &ProfiledEvent<'_>, symbols: &Symbols, out: &mut impl Write) -> io::Result<()> {
    let times = &event.times();
    write!(out, "  Event: {} ({})", event.label(symbols), times.count)?;
    if times.total > 0 {
        let [total, average, max, max_at] = longest(times);
        let (min, min_at) = (times.min, seconds(times.min_at));
        write!(out, " Total: {total} Avg: {average} Max: {max}(ts:{max_at}) Min:{min}(ts:{min_at})")?;
    }
    writeln!(out)?;
    let mut tree = ProfileTree { symbols, lines: Vec::new() };
    tree.write(&event.stacks(), 0, out)
}

/// Sum, mean, maximum and when it ended; `?` where one of the durations may be two.
fn longest(times: &Times) -> [String; 4] {
    let all = [times.total.to_string(), times.average().to_string(), times.max.to_string(), seconds(times.max_at)];
    all.map(|text| times.known(text).unwrap_or_else(|| "?".to_owned()))
}

/// A time stamp in seconds, to the nearest microsecond.
fn seconds(at: u64) -> String {
    let micros = at.saturating_add(500) / 1000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// Draws a tree.
struct ProfileTree<'a> {
    symbols: &'a Symbols,
    /// For each level, whether its line goes on below.
    lines: Vec<bool>,
}

impl ProfileTree<'_> {
    fn write(&mut self, nodes: &[StackNode], level: usize, out: &mut impl Write) -> io::Result<()> {
        let Some(last) = nodes.len().checked_sub(1) else { return Ok(()) };
        self.set(level + 1, true);
        self.indent(level + 1, out)?;
        writeln!(out)?;
        for (number, node) in nodes.iter().enumerate() {
            self.indent(level, out)?;
            write!(out, "{:>INDENT$} ", '+')?;
            self.function(node.address, out)?;
            if number == last {
                self.set(level + 1, false);
            }
            self.indent(level + 1, out)?;
            let Times { count, min, .. } = node.times;
            write!(out, "  {}% ({count})", node.percent)?;
            if node.times.total > 0 {
                let [total, average, max, max_at] = longest(&node.times);
                let min_at = seconds(node.times.min_at);
                write!(out, " time:{total} max:{max}(ts:{max_at}) min:{min}(ts:{min_at}) avg:{average}")?;
            }
            writeln!(out)?;
            for caller in &node.path {
                self.indent(level + 1, out)?;
                out.write_all(b"   ")?;
                self.function(*caller, out)?;
            }
            self.write(&node.callers, level + 1, out)?;
            self.indent(level + 1, out)?;
            writeln!(out)?;
        }
        self.set(level + 1, false);
        self.indent(level, out)?;
        writeln!(out)
    }

    fn set(&mut self, level: usize, goes_on: bool) {
        if self.lines.len() <= level {
            self.lines.resize(level + 1, false);
        }
        self.lines[level] = goes_on;
    }

    fn indent(&self, level: usize, out: &mut impl Write) -> io::Result<()> {
        for level in 0..=level {
            let line = if self.lines.get(level) == Some(&true) { '|' } else { ' ' };
            write!(out, "{line:>INDENT$} ")?;
        }
        Ok(())
    }

    fn function(&self, address: u64, out: &mut impl Write) -> io::Result<()> {
        match self.symbols.kallsyms.lookup(address) {
            Some(function) => writeln!(out, "{} ({address:#x})", String::from_utf8_lossy(function.name)),
            None => writeln!(out, "{address:#x}"),
        }
    }
}
