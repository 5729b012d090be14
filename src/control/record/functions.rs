//! The functions to trace: from the user's patterns to the kernel's.

use super::error::{PlanError, RecordError};
use crate::control::tracefs::{Error, FunctionList, Instance, Journal};
use crate::language::trigger::FunctionTrigger;
use regex::Regex;

/// More names than this are written as numbers, which the kernel finds without comparing texts (since Linux 5.1).
const MANY: usize = 64;

/// Tracers that trace no functions.
const WITHOUT_FUNCTIONS: [&str; 6] = ["nop", "hwlat", "osnoise", "timerlat", "blk", "mmiotrace"];

/// True if `tracer` traces functions.
pub(super) fn are_traced_by(tracer: &str) -> bool {
    !WITHOUT_FUNCTIONS.contains(&tracer)
}

/// Functions to trace, or not to. Patterns are names, the kernel's globs or regular expressions, each with `:mod:MODULE`
/// after it where only that module's are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionFilters {
    /// `-l`: only these.
    pub trace: Vec<String>,
    /// `-n`: not these; for function_graph, nothing that they call either.
    pub leave_out: Vec<String>,
    /// `-g`: these and what they call.
    pub graph: Vec<String>,
    /// `-l` with a command: `schedule:traceoff:3`.
    pub commands: Vec<FunctionTrigger>,
    /// `-l` with a command after a `!`: it is removed, whatever its count.
    pub removals: Vec<FunctionTrigger>,
    /// `--func-stack`: a stack trace with each.
    pub stack: bool,
}

impl FunctionFilters {
    /// True if nothing is said about functions.
    pub fn is_empty(&self) -> bool {
        *self == FunctionFilters::default()
    }

    /// Refuses what would bring the machine to its knees, and what `tracer` would not heed.
    pub(super) fn check(&self, tracer: Option<&str>) -> Result<(), PlanError> {
        if self.stack && tracer == Some("function_graph") {
            return Err(PlanError::StackInGraph);
        }
        if self.stack && self.trace.is_empty() {
            return Err(PlanError::StackOfEverything);
        }
        let Some(tracer) = tracer else { return Ok(()) };
        let lists = !(self.trace.is_empty() && self.leave_out.is_empty() && self.graph.is_empty());
        if lists && !are_traced_by(tracer) {
            return Err(PlanError::NoFunctionsIn(tracer.to_owned()));
        }
        // The latency tracers draw a graph with the option display-graph.
        if !self.graph.is_empty() && tracer == "function" {
            return Err(PlanError::NoGraph);
        }
        Ok(())
    }

    /// Writes the lists and the commands without a count, before `tracer` is set: a `traceoff` then acts on an empty ring.
    /// Counted commands are set when tracing starts. Gives the lists that have become empty by functions taken out of them.
    pub(super) fn set(
        &self,
        journal: &mut Journal,
        instance: &Instance,
        tracer: &str,
    ) -> Result<Vec<FunctionList>, RecordError> {
        let mut emptied = Vec::new();
        let graph = tracer == "function_graph";
        let leave_out = if graph { FunctionList::GraphNoTrace } else { FunctionList::NoTrace };
        for (list, patterns) in
            [(FunctionList::Filter, &self.trace), (leave_out, &self.leave_out), (FunctionList::Graph, &self.graph)]
        {
            if !patterns.is_empty() {
                let words = resolve(patterns, list.is_of_top_level(), || journal.tracefs().functions())?;
                if journal.set_functions(instance, list, &words)? {
                    emptied.push(list);
                }
            }
        }
        for command in &self.removals {
            journal.remove_function_commands(instance, command)?;
        }
        for command in self.commands.iter().filter(|command| command.count.is_none()) {
            journal.add_function_command(instance, command)?;
        }
        if self.stack {
            journal.set_option(instance, "func_stack_trace", true)?;
        }
        Ok(emptied)
    }
}

/// The words that the kernel takes for `patterns`. The lists of the function_graph tracer take names, no numbers.
fn resolve(
    patterns: &[String],
    by_name: bool,
    known: impl FnOnce() -> Result<String, Error>,
) -> Result<Vec<String>, RecordError> {
    let names = patterns.iter().filter(|pattern| !is_regex(pattern) && !pattern.contains(['*', '?', '[', ':'])).count();
    if names <= MANY && !patterns.iter().any(|pattern| is_regex(pattern)) {
        return Ok(patterns.to_vec());
    }
    let known = known()?;
    let functions: Vec<(&str, Option<&str>)> = known.lines().map(function).collect();
    let mut words = Vec::new();
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for pattern in patterns {
        let (bare, numbers) = match pattern.strip_prefix('!') {
            Some(bare) => (bare, &mut removed),
            None => (pattern.as_str(), &mut added),
        };
        let (name, module) = match bare.split_once(":mod:") {
            Some((name, module)) => (name, Some(module)),
            None => (bare, None),
        };
        let in_module = |of: Option<&str>| module.is_none() || module == of;
        let before = numbers.len();
        if is_regex(pattern) {
            let regex = Regex::new(&format!("^(?:{name})$"))
                .map_err(|source| PlanError::FunctionPattern { pattern: name.to_owned(), source })?;
            let found = functions.iter().enumerate().filter(|(_, (f, of))| in_module(*of) && regex.is_match(f));
            numbers.extend(found.map(|(index, _)| index + 1));
        } else if names > MANY && !pattern.contains(['*', '?', '[', ':']) {
            numbers.extend(functions.iter().enumerate().filter(|(_, (f, _))| *f == name).map(|(index, _)| index + 1));
        } else {
            words.push(pattern.clone());
            continue;
        }
        if numbers.len() == before {
            let nearest = crate::base::syntax::nearest(name, functions.iter().map(|(f, _)| *f));
            let nearest = nearest.into_iter().map(str::to_owned).collect();
            return Err(Error::NoFunction { pattern: pattern.clone(), nearest }.into());
        }
    }
    for (mark, mut numbers) in [("", added), ("!", removed)] {
        numbers.sort_unstable();
        numbers.dedup();
        if !numbers.is_empty() {
            let word = |number: &usize| match functions.get(number.wrapping_sub(1)) {
                Some((name, _)) if by_name => format!("{mark}{name}"),
                _ => format!("{mark}{number}"),
            };
            words.push(numbers.iter().map(word).collect::<Vec<_>>().join(" "));
        }
    }
    Ok(words)
}

/// A line of `available_filter_functions`: `ext4_sync_fs [ext4]`.
fn function(line: &str) -> (&str, Option<&str>) {
    match line.split_once(" [") {
        Some((name, module)) => (name, Some(module.trim_end_matches(']'))),
        None => (line, None),
    }
}

/// True if a pattern has what only regular expressions have. A dot alone is part of names (`foo.isra.0`).
pub(super) fn is_regex(pattern: &str) -> bool {
    pattern.contains(['^', '$', '(', '|', '\\', '+', '{']) || pattern.contains(".*")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &str = "schedule\nsched_fork\next4_sync_fs [ext4]\next4_release [ext4]\nfoo.isra.0\n";

    fn words(patterns: &[&str]) -> Result<Vec<String>, RecordError> {
        let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
        resolve(&patterns, false, || Ok(KNOWN.to_owned()))
    }

    #[test]
    fn globs_go_to_the_kernel_and_expressions_become_numbers() {
        assert_eq!(words(&["sched*", "foo.isra.0", "*:mod:ext4"]).unwrap(), ["sched*", "foo.isra.0", "*:mod:ext4"]);
        assert_eq!(words(&["^s", "foo.isra.0"]).unwrap_err().to_string(), "no function matches `^s`");
        assert_eq!(words(&["sched.*|foo.*", "ext4*"]).unwrap(), ["ext4*", "1 2 5"]);
        assert_eq!(words(&[".*e$:mod:ext4"]).unwrap(), ["4"]);
        assert_eq!(words(&["!sched.*|foo.*", "sched_.*"]).unwrap(), ["2", "!1 !2 !5"]);
        let graph = resolve(&["sched.*|foo.*".to_owned()], true, || Ok(KNOWN.to_owned()));
        assert_eq!(graph.unwrap(), ["schedule sched_fork foo.isra.0"]);
        assert!(words(&["(:mod:ext4"]).is_err());
        let many: Vec<&str> = std::iter::repeat_n("schedule", MANY + 1).collect();
        assert_eq!(words(&many).unwrap(), ["1"]);
    }
}
