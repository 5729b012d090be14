//! The lists of functions.

use super::{Error, Instance, Tracefs, glob_matches};
use crate::base::syntax::nearest;
use crate::language::trigger::FunctionTrigger;

/// A file that lists functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionList {
    /// `set_ftrace_filter`: trace these.
    Filter,
    /// `set_ftrace_notrace`: trace all but these.
    NoTrace,
    /// `set_graph_function`: trace these and what they call. For the whole system.
    Graph,
    /// `set_graph_notrace`: neither these nor what they call. For the whole system.
    GraphNoTrace,
    /// `stack_trace_filter`: the stack tracer looks at the entry of these. For the whole system.
    Stack,
}

impl FunctionList {
    /// Its file below the instance.
    pub fn file(self) -> &'static str {
        match self {
            FunctionList::Filter => "set_ftrace_filter",
            FunctionList::NoTrace => "set_ftrace_notrace",
            FunctionList::Graph => "set_graph_function",
            FunctionList::GraphNoTrace => "set_graph_notrace",
            FunctionList::Stack => "stack_trace_filter",
        }
    }

    /// True if there is only one of it, at the top level.
    pub fn is_of_top_level(self) -> bool {
        matches!(self, FunctionList::Graph | FunctionList::GraphNoTrace | FunctionList::Stack)
    }
}

impl Instance {
    /// The commands on functions that are set (`set_ftrace_filter`).
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unsupported`].
    pub fn function_commands(&self) -> Result<Vec<FunctionTrigger>, Error> {
        let text = self.read(FunctionList::Filter.file())?;
        Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
    }
}

impl Tracefs {
    /// The text of `available_filter_functions`: a function per line, those of modules with ` [MODULE]` after.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unsupported`].
    pub fn functions(&self) -> Result<String, Error> {
        self.top().read("available_filter_functions")
    }

    /// Fails if no function is called so, or fits: `pattern` is a name or a glob, with `:mod:MODULE` or a command after it.
    ///
    /// # Errors
    /// [`Error::NoFunction`] with similar names; as [`Tracefs::functions`].
    pub fn require_function(&self, pattern: &str) -> Result<(), Error> {
        let functions = self.functions()?;
        let names = || functions.lines().filter_map(|line| line.split_whitespace().next());
        let name = pattern.split(':').next().unwrap_or(pattern);
        let is_glob = name.contains(['*', '?', '[']);
        if names().any(|known| known == name || (is_glob && glob_matches(name, known))) {
            return Ok(());
        }
        let nearest = nearest(name, names()).into_iter().map(str::to_owned).collect();
        Err(Error::NoFunction { pattern: pattern.to_owned(), nearest })
    }
}
