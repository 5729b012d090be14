//! `rtrace generate DIR`, hidden: writes `man/` and `completions/` from the command line's own description and from
//! `docs/reference`.
//!
//! The two folders are committed; a test runs this and compares, and `cargo run -- generate .` brings them up to date.

mod command_page;
mod roff;
mod topic_page;

use super::completions::SCRIPTS;
use super::exit::{Exit, Failure};
use super::help::TOPICS;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// Write the man pages and the shell completions
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder that gets `man/` and `completions/`; what is in these two is replaced
    dir: PathBuf,
}

/// Pages of `docs/reference` that are pages of the manual: topic, name of the page and its section.
const PAGES: &[(&str, &str, &str)] = &[
    ("filter", "rtrace-filter", "7"),
    ("hist", "rtrace-hist", "7"),
    ("synth", "rtrace-synth", "7"),
    ("trigger", "rtrace-trigger", "7"),
    ("probe", "rtrace-probe", "7"),
    ("file-format", "rtrace.dat", "5"),
];

/// Writes both folders.
pub(crate) fn run(args: &Args, root: clap::Command) -> Result<Exit, Failure> {
    let man = emptied(&args.dir.join("man"))?;
    command_pages(&root, &man)?;
    for (name, page, section) in PAGES {
        let topic = TOPICS.iter().find(|topic| topic.name == *name).with_context(|| format!("no topic {name}"))?;
        write(&man.join(format!("{page}.{section}")), topic_page::page(topic, page, section))?;
    }
    let completions = emptied(&args.dir.join("completions"))?;
    for (_, name, script) in SCRIPTS {
        write(&completions.join(name), script)?;
    }
    Ok(Exit::Success)
}

/// One page per visible command: `rtrace.1`, `rtrace-record.1`, ...
fn command_pages(root: &clap::Command, dir: &Path) -> anyhow::Result<()> {
    let mut root = root.clone().disable_help_subcommand(true);
    root.build();
    let mut pages = vec![&root];
    while let Some(command) = pages.pop() {
        pages.extend(command.get_subcommands().filter(|sub| !sub.is_hide_set()));
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        write(&dir.join(format!("{name}.1")), command_page::page(command, command.get_name() == root.get_name()))?;
    }
    Ok(())
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("failed to write {}", path.display()))
}

/// The folder `dir`, made if it is not there, without files.
fn emptied(dir: &Path) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(dir).with_context(|| format!("failed to create {}", dir.display()))?;
    for entry in fs::read_dir(dir).with_context(|| format!("failed to list {}", dir.display()))? {
        let path = entry?.path();
        fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
    }
    Ok(dir.to_owned())
}
