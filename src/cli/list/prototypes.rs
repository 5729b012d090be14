//! `list --proto`: functions as C declares them.

use crate::cli::exit::Failure;
use anyhow::Context;
use rtrace::internal::btf::{Btf, Function};
use rtrace::tracefs::Tracefs;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The names of all functions that the kernel's BTF has, one per line.
pub(super) fn kernel_functions(tracefs: &Tracefs) -> Result<String, Failure> {
    let kernel = Btf::parse(tracefs.kernel_btf()?).context("failed to understand the kernel's BTF")?;
    let mut names: Vec<&str> = kernel.functions().map(Function::name).collect();
    names.dedup();
    Ok(names.join("\n"))
}

/// The types of the kernel and of the modules that functions were asked of.
pub(super) struct Prototypes {
    kernel: Arc<Btf>,
    /// `None`: this module has none.
    modules: BTreeMap<String, Option<Btf>>,
}

impl Prototypes {
    /// Reads what `functions`, lines of `available_filter_functions`, need.
    pub(super) fn read(tracefs: &Tracefs, functions: &[String]) -> Result<Self, Failure> {
        let kernel = Btf::parse(tracefs.kernel_btf()?).context("failed to understand the kernel's BTF")?;
        let kernel = Arc::new(kernel);
        let mut modules = BTreeMap::new();
        for module in functions.iter().filter_map(|line| module_of(line)) {
            if modules.contains_key(module) {
                continue;
            }
            let types = match tracefs.module_btf(module) {
                Ok(data) => {
                    let of_module = || format!("failed to understand the BTF of module {module}");
                    Some(Btf::parse_module(data, kernel.clone()).with_context(of_module)?)
                }
                // A module that was built without it, or is gone by now.
                Err(_) => None,
            };
            modules.insert(module.to_owned(), types);
        }
        Ok(Prototypes { kernel, modules })
    }

    fn find<'p>(&'p self, line: &str) -> Option<Function<'p>> {
        let types = match module_of(line) {
            Some(module) => self.modules.get(module)?.as_ref()?,
            None => &self.kernel,
        };
        types.function(name_of(line))
    }

    /// The prototype, or the bare name of a function that has none; a module's name after it.
    pub(super) fn text(&self, line: &str) -> String {
        let Some(function) = self.find(line) else { return line.to_owned() };
        match module_of(line) {
            Some(module) => format!("{function} [{module}]"),
            None => function.to_string(),
        }
    }

    /// The same, in parts.
    pub(super) fn json(&self, line: &str) -> Value {
        let function = self.find(line);
        let parameters = |function: Function<'_>| -> Vec<Value> {
            let one = |p: rtrace::internal::btf::Parameter<'_>| match p.is_rest() {
                true => json!({"name": "...", "type": null}),
                false => json!({"name": p.name(), "type": p.of().to_string()}),
            };
            function.parameters().map(one).collect()
        };
        json!({
            "name": name_of(line), "module": module_of(line),
            "returns": function.map(|f| f.returns().to_string()), "parameters": function.map(parameters),
        })
    }
}

/// `vfs_read` of `vfs_read`, and of `vfs_read [module]`.
fn name_of(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

fn module_of(line: &str) -> Option<&str> {
    line.split_whitespace().nth(1)?.strip_prefix('[')?.strip_suffix(']')
}
