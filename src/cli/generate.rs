//! `rtrace generate DIR`, hidden: writes `man/` and `completions/` from the command line's own description.
//!
//! The two folders are committed; a test runs this and compares, and `cargo run -- generate .` brings them up to date.

use super::completions::SCRIPTS;
use super::exit::{Exit, Failure};
use super::help;
use anyhow::Context;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs;
use std::path::{Path, PathBuf};

/// Write the man pages and the shell completions
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder that gets `man/` and `completions/`; what is in these two is replaced
    dir: PathBuf,
}

/// Writes both folders.
pub(crate) fn run(args: &Args, root: clap::Command) -> Result<Exit, Failure> {
    let man = emptied(&args.dir.join("man"))?;
    man_pages(&root, &man)?;
    let completions = emptied(&args.dir.join("completions"))?;
    for (_, name, script) in SCRIPTS {
        let path = completions.join(name);
        fs::write(&path, script).with_context(|| format!("failed to write {}", path.display()))?;
    }
    Ok(Exit::Success)
}

/// One page per visible command: `rtrace.1`, `rtrace-record.1`, ...
fn man_pages(root: &clap::Command, dir: &Path) -> anyhow::Result<()> {
    let mut root = root.clone().disable_help_subcommand(true);
    root.build();
    let mut pages = vec![&root];
    while let Some(command) = pages.pop() {
        pages.extend(command.get_subcommands().filter(|sub| !sub.is_hide_set()));
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        let path = dir.join(format!("{name}.1"));
        fs::write(&path, man_page(command, command.get_name() == root.get_name())?)
            .with_context(|| format!("failed to write {}", path.display()))?;
    }
    Ok(())
}

fn man_page(command: &clap::Command, is_root: bool) -> anyhow::Result<Vec<u8>> {
    let man = Man::new(command.clone()).manual("rtrace").source(concat!("rtrace ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|arg| !arg.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let verb = name_of_verb(command);
    if let Some((acts_on, leaves)) = help::effects(&verb) {
        verbatim("BUFFER", &format!("Acts on:  {acts_on}\nLeaves:   {leaves}"), &mut page)?;
    }
    if let Some(text) = command.get_after_long_help() {
        verbatim("NOTES", &text.to_string(), &mut page)?;
    }
    if is_root {
        for topic in help::TOPICS.iter().filter(|topic| topic.name == "exit-codes") {
            verbatim("EXIT STATUS", body(topic.text), &mut page)?;
        }
    } else {
        verbatim("EXIT STATUS", "See `rtrace help exit-codes` and rtrace(1).", &mut page)?;
    }
    page.push(b'\n');
    Ok(page)
}

/// `hist` of `rtrace-hist` and `rtrace-hist-start`; of a verb with a hyphen all of it.
fn name_of_verb(command: &clap::Command) -> String {
    let shown = command.get_bin_name().unwrap_or_else(|| command.get_name());
    shown.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// A section whose lines stay as they are.
fn verbatim(title: &str, text: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    roff.control("nf", []);
    for line in text.trim_end().lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff.to_writer(page)
}

/// A page of `docs/reference` without its heading.
fn body(text: &str) -> &str {
    match text.strip_prefix("# ").and_then(|rest| rest.split_once('\n')) {
        Some((_, rest)) => rest.trim_start_matches('\n'),
        None => text,
    }
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
