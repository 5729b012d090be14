//! Arguments of `rtrace generate`, and what it does.

use super::topic_page::PAGES;
use super::{columns, command_page, topic_page};
use crate::cli::completions::SCRIPTS;
use crate::cli::exit::{Exit, Failure};
use crate::cli::help::TOPICS;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// Write the man pages, the shell completions and the columns of analyses
#[derive(clap::Args)]
pub(crate) struct GenerateArgs {
    /// Folder that gets `man/` and `completions/`, whose files are replaced, and `docs/reference/analyses.md`
    dir: PathBuf,
}

/// Writes the files.
pub(crate) fn run(args: &GenerateArgs, root: clap::Command) -> Result<Exit, Failure> {
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
    let page = args.dir.join(columns::PAGE);
    fs::create_dir_all(page.parent().unwrap_or(&page))
        .with_context(|| format!("failed to create {}", page.display()))?;
    write(&page, columns::page()?)?;
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
