//! `rtrace help`: the help of each command, and pages on what is not a command (exit codes, the little languages).
//!
//! The pages are the files of `docs/reference`, so that the documentation and the help cannot differ.

use super::exit::{Exit, Failure};
use clap::builder::PossibleValuesParser;

/// The output of `rtrace` alone.
pub(crate) const FIRST_STEPS: &str = include_str!("../../docs/reference/first-steps.md");

/// A page of `rtrace help`.
pub(crate) struct Topic {
    /// The word after `rtrace help`.
    pub(crate) name: &'static str,
    /// One line for the list of topics.
    pub(crate) about: &'static str,
    /// The whole page.
    pub(crate) text: &'static str,
}

/// The pages, in the order in which `rtrace help` lists them. A page that is named as a command is shown by
/// `rtrace help NAME`; the command's own options are shown by `rtrace NAME --help`.
pub(crate) const TOPICS: &[Topic] = &[
    Topic {
        name: "exit-codes",
        about: "What each exit code means",
        text: include_str!("../../docs/reference/exit-codes.md"),
    },
    Topic {
        name: "convert",
        about: "Formats that recordings are converted to",
        text: include_str!("../../docs/reference/convert.md"),
    },
    Topic {
        name: "analyses",
        about: "What each number of `rtrace analyze` means",
        text: include_str!("../../docs/reference/analyses.md"),
    },
    Topic {
        name: "assertions",
        about: "The language of `rtrace check`, and what its verdicts mean",
        text: include_str!("../../docs/reference/assertions.md"),
    },
    Topic {
        name: "comparisons",
        about: "What each number and verdict of `rtrace diff` means",
        text: include_str!("../../docs/reference/comparisons.md"),
    },
    Topic {
        name: "filter",
        about: "The language of event filters",
        text: include_str!("../../docs/reference/filter.md"),
    },
    Topic {
        name: "probe",
        about: "The language of dynamic events",
        text: include_str!("../../docs/reference/probe.md"),
    },
    Topic { name: "trigger", about: "The language of triggers", text: include_str!("../../docs/reference/trigger.md") },
    Topic {
        name: "hist",
        about: "Histograms: keys, modifiers, variables, actions",
        text: include_str!("../../docs/reference/hist.md"),
    },
    Topic {
        name: "synth",
        about: "Synthetic events, from options and from SQL",
        text: include_str!("../../docs/reference/synth.md"),
    },
];

/// Show help on a command or a topic
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Command (and subcommand) or topic; without one, list them all
    #[arg(value_name = "COMMAND|TOPIC")]
    name: Vec<String>,
}

/// Teaches the `help` command of `root` the names it understands, so that a wrong one is answered with the nearest.
pub(crate) fn complete(root: clap::Command) -> clap::Command {
    let mut names: Vec<String> = TOPICS.iter().map(|topic| topic.name.to_owned()).collect();
    fn add(command: &clap::Command, names: &mut Vec<String>) {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            names.push(sub.get_name().to_owned());
            add(sub, names);
        }
    }
    add(&root, &mut names);
    names.sort();
    names.dedup();
    root.after_help(topic_list()).mut_subcommand("help", |help| {
        help.mut_arg("name", |arg| arg.value_parser(PossibleValuesParser::new(names)).hide_possible_values(true))
    })
}

/// Prints the page or the command's help.
pub(crate) fn run(args: &Args, mut root: clap::Command) -> Result<Exit, Failure> {
    if let [name] = args.name.as_slice()
        && let Some(topic) = TOPICS.iter().find(|topic| topic.name == name)
    {
        return super::exit::print(topic.text);
    }
    root.build();
    let mut command = &mut root;
    for name in &args.name {
        let parent = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
        command = match command.find_subcommand_mut(name) {
            Some(sub) => sub,
            None => {
                let error = anyhow::anyhow!("failed to find help on `{name}`: `{parent}` has no such subcommand");
                return Err(Failure::new(Exit::Usage, error).hint("`rtrace help` lists the commands and topics."));
            }
        };
    }
    command.print_long_help()?;
    Ok(Exit::Success)
}

fn topic_list() -> String {
    let width = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    let mut text = String::from("Topics of `rtrace help`:\n");
    for Topic { name, about, .. } in TOPICS {
        text.push_str(&format!("  {name:width$}  {about}\n"));
    }
    text
}
