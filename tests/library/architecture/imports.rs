//! Uses between the modules of the sources: the paths that begin with `crate`, `super` or a child's name, followed
//! through re-exports to the module that defines the item.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module's path below the crate: `["trace_dat", "file", "v7"]`.
pub(super) type Module = Vec<String>;

/// All modules below `src/`, with what they use.
#[derive(Default)]
pub(super) struct Imports {
    modules: BTreeSet<Module>,
    uses: BTreeMap<Module, Vec<Vec<String>>>,
    re_exports: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

/// One import: who, and the module that has what it uses.
pub(super) struct Import {
    pub(super) from: Module,
    pub(super) to: Module,
}

impl Imports {
    /// Of the sources; `code` gives a file's text without comments and tests.
    pub(super) fn read(code: impl Fn(&Path) -> String) -> Self {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        super::collect(&src, &mut files);
        let texts: BTreeMap<Module, String> = files.iter().map(|file| (module_of(&src, file), code(file))).collect();
        let mut imports = Imports { modules: texts.keys().cloned().collect(), ..Imports::default() };
        imports.modules.insert(vec!["cli".to_owned()]);
        for (module, text) in &texts {
            imports.take(module, text);
        }
        imports
    }

    fn take(&mut self, module: &Module, text: &str) {
        for (at, _) in text.match_indices("::") {
            let start = text[..at].rfind(|c: char| !is_word(c)).map_or(0, |before| before + 1);
            if text[..start].ends_with("::") || text[start..at].is_empty() {
                continue;
            }
            let statement = text[..start].trim_end();
            let in_use = statement.ends_with("use");
            let child = || self.modules.contains(&[&module[..], &[text[start..at].to_owned()]].concat());
            match &text[start..at] {
                "crate" | "super" => {}
                "self" if in_use => {}
                _ if in_use && child() => {}
                _ => continue,
            }
            let exported = in_use && {
                let before = statement.strip_suffix("use").unwrap_or_default().trim_end();
                before.ends_with("pub") || before.ends_with(')')
            };
            let mut paths = Vec::new();
            tree(&text[start..], Vec::new(), &mut paths);
            for path in paths.into_iter().map(|path| absolute(module, path)) {
                if exported {
                    let names = self.re_exports.entry(module.clone()).or_default();
                    names.extend(path.last().cloned().map(|name| (name, path)));
                } else {
                    self.uses.entry(module.clone()).or_default().push(path);
                }
            }
        }
    }

    /// The module that defines what `path` names.
    fn resolve(&self, path: &[String], depth: usize) -> Module {
        let mut module = Module::new();
        for (at, segment) in path.iter().enumerate() {
            let child = [&module[..], std::slice::from_ref(segment)].concat();
            if self.modules.contains(&child) {
                module = child;
                continue;
            }
            return match self.re_exports.get(&module).and_then(|names| names.get(segment)) {
                Some(real) if depth < 8 && real[..] != path[..=at] => {
                    self.resolve(&[real, &path[at + 1..]].concat(), depth + 1)
                }
                _ => module,
            };
        }
        module
    }

    /// All imports.
    pub(super) fn all(&self) -> impl Iterator<Item = Import> {
        let to = |from: &Module, path: &Vec<String>| Import { from: from.clone(), to: self.resolve(path, 0) };
        self.uses.iter().flat_map(move |(from, paths)| paths.iter().map(move |path| to(from, path)))
    }

    /// The circles between the children of each module: its path, and the children that use each other.
    pub(super) fn circles(&self) -> Vec<(Module, Vec<String>)> {
        let folders: BTreeSet<&[String]> =
            self.modules.iter().map(|module| &module[..module.len().max(1) - 1]).collect();
        let mut circles = Vec::new();
        for folder in folders {
            let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for import in self.all() {
                if let (Some(from), Some(to)) = (child(folder, &import.from), child(folder, &import.to))
                    && from != to
                {
                    graph.entry(from).or_default().insert(to);
                }
            }
            circles.extend(components(&graph).into_iter().map(|circle| (folder.to_vec(), circle)));
        }
        circles
    }
}

/// The child of `folder` that `module` is or lies in; `mod` is the folder's own file.
fn child(folder: &[String], module: &[String]) -> Option<String> {
    let rest = module.strip_prefix(folder)?;
    Some(rest.first().cloned().unwrap_or_else(|| "mod".to_owned()))
}

/// The sets of nodes that reach each other.
fn components(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reach = |from: &String| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(node) = left.pop() {
            left.extend(graph.get(&node).into_iter().flatten().filter(|to| seen.insert((*to).clone())).cloned());
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|node| (node, reach(node))).collect();
    let mut circles = BTreeSet::new();
    for (node, to) in &reached {
        if to.contains(*node) {
            let back = |other: &&String| reached.get(other).is_some_and(|from_there| from_there.contains(*node));
            circles.insert(to.iter().filter(back).cloned().collect::<Vec<_>>());
        }
    }
    circles.into_iter().collect()
}

fn module_of(src: &Path, file: &Path) -> Module {
    let path = file.strip_prefix(src).expect("below src").with_extension("");
    let mut module: Module = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
        module.pop();
    }
    module
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Takes the paths of a `use` tree or an expression that `text` begins with; gives what follows them.
fn tree<'a>(text: &'a str, prefix: Vec<String>, to: &mut Vec<Vec<String>>) -> &'a str {
    let mut text = text.trim_start();
    if let Some(inside) = text.strip_prefix('{') {
        text = inside.trim_start();
        while !text.starts_with('}') && !text.is_empty() {
            let rest = tree(text, prefix.clone(), to).trim_start();
            text = rest.trim_start_matches(|c: char| c != ',' && c != '}').trim_start_matches(',').trim_start();
        }
        return text.strip_prefix('}').unwrap_or_default();
    }
    let len = text.find(|c: char| !is_word(c) && c != '*').unwrap_or(text.len());
    let (name, rest) = text.split_at(len);
    let path = [prefix, vec![name.to_owned()]].concat();
    match rest.strip_prefix("::") {
        Some(rest) if rest.starts_with(|c: char| is_word(c) || c == '{' || c == '*') => tree(rest, path, to),
        _ => {
            to.push(path);
            rest
        }
    }
}

/// The path from the crate's root.
fn absolute(module: &[String], mut path: Vec<String>) -> Vec<String> {
    let mut base = module.to_vec();
    match path.first().map(String::as_str) {
        Some("crate") => return path.split_off(1),
        Some("self") => path = path.split_off(1),
        _ => {}
    }
    while path.first().is_some_and(|first| first == "super") {
        base.pop();
        path.remove(0);
    }
    [base, path].concat()
}
