//! `rtrace help [COMMAND|TOPIC]`.

use super::page;
use super::topics::TOPICS;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::{colors_are_wanted, size, stdout, stdout_is_terminal};

/// Show help on a command or a topic
#[derive(clap::Args)]
pub(crate) struct HelpArgs {
    /// Command (and subcommand) or topic; without one, list them all
    #[arg(value_name = "COMMAND|TOPIC")]
    name: Vec<String>,
}

/// Prints the page or the command's help.
pub(crate) fn run(args: &HelpArgs, mut root: clap::Command) -> Result<Exit, Failure> {
    if let [name] = args.name.as_slice()
        && let Some(topic) = TOPICS.iter().find(|topic| topic.name == name)
    {
        return print(topic.text);
    }
    root.build();
    let mut command = &mut root;
    for name in &args.name {
        let parent = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
        command = match command.find_subcommand_mut(name) {
            Some(sub) => sub,
            None => {
                let error = anyhow::anyhow!("failed to find help on `{name}`: `{parent}` has no such subcommand");
                return Err(Failure::new(Exit::Usage, error).hint(elsewhere(name)));
            }
        };
    }
    command.print_long_help()?;
    Ok(Exit::Success)
}

/// Where there is help on a name that is no command below the one before it.
fn elsewhere(name: &str) -> String {
    let is_topic = TOPICS.iter().any(|topic| topic.name == name);
    let root = crate::cli::command::bare_command_line();
    let is_below = |command: &str| root.find_subcommand(command).is_some_and(|one| one.find_subcommand(name).is_some());
    if is_topic || root.find_subcommand(name).is_some() {
        format!("`rtrace help {name}` is a page of its own.")
    } else if is_below("analyze") {
        format!("`rtrace help analyze {name}` is about that analysis, `rtrace help analyses` defines its columns.")
    } else {
        "`rtrace help` lists the commands and topics.".to_owned()
    }
}

/// Prints a topic as wide as the terminal, [`page::WIDTH`] columns at most; that wide into a pipe or a file.
fn print(text: &str) -> Result<Exit, Failure> {
    let terminal = stdout_is_terminal();
    let columns = if terminal { size().map_or(page::WIDTH, |(columns, _)| columns) } else { page::WIDTH };
    let styled = page::render(text, columns.min(page::WIDTH), terminal && colors_are_wanted());
    stdout().styled(&styled)?;
    Ok(Exit::Success)
}
