//! `rtrace help [COMMAND|TOPIC]`, and its pages on what is not a command: exit codes, recipes, the little languages.

use super::page;
use super::page::wrapped;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::{colors_are_wanted, size, stdout, stdout_is_terminal};

/// The output of `rtrace` alone.
pub(crate) const FIRST_STEPS: &str = include_str!("../../../docs/reference/first-steps.md");

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
        name: "recipes",
        about: "Thirteen questions, each with the commands that answer it",
        text: include_str!("../../../docs/reference/recipes.md"),
    },
    Topic {
        name: "questions",
        about: "Ten questions to one recording, asked after the fact",
        text: include_str!("../../../docs/reference/questions.md"),
    },
    Topic {
        name: "skill",
        about: "For programs that drive rtrace: what to ask in which order, and how to read the answers",
        text: include_str!("../../../docs/reference/skill.md"),
    },
    Topic {
        name: "exit-codes",
        about: "Meanings of the exit codes",
        text: include_str!("../../../docs/reference/exit-codes.md"),
    },
    Topic {
        name: "convert",
        about: "Formats that recordings are converted to",
        text: include_str!("../../../docs/reference/convert.md"),
    },
    Topic {
        name: "file-format",
        about: "rtrace's additions to trace.dat files: options, index, checksums, spools",
        text: include_str!("../../../docs/reference/file-format.md"),
    },
    Topic {
        name: "analyses",
        about: "Meanings of the numbers of `rtrace analyze`",
        text: include_str!("../../../docs/reference/analyses.md"),
    },
    Topic {
        name: "why",
        about: "How `rtrace why` takes an interval apart, and what each part means",
        text: include_str!("../../../docs/reference/why.md"),
    },
    Topic {
        name: "assertions",
        about: "The language of `rtrace check`, and what its verdicts mean",
        text: include_str!("../../../docs/reference/assertions.md"),
    },
    Topic {
        name: "comparisons",
        about: "Meanings of the numbers and verdicts of `rtrace diff`",
        text: include_str!("../../../docs/reference/comparisons.md"),
    },
    Topic {
        name: "filter",
        about: "The language of event filters",
        text: include_str!("../../../docs/reference/filter.md"),
    },
    Topic {
        name: "probe",
        about: "The language of dynamic events",
        text: include_str!("../../../docs/reference/probe.md"),
    },
    Topic {
        name: "trigger",
        about: "The language of triggers",
        text: include_str!("../../../docs/reference/trigger.md"),
    },
    Topic {
        name: "hist",
        about: "Histograms: keys, modifiers, variables, actions",
        text: include_str!("../../../docs/reference/hist.md"),
    },
    Topic {
        name: "synth",
        about: "Synthetic events, from options and from SQL",
        text: include_str!("../../../docs/reference/synth.md"),
    },
];

/// The topics with a line each, for the end of `rtrace help`.
pub(super) fn list(columns: usize) -> String {
    let width = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    let line = |topic: &Topic| format!("  {:width$}  {}\n", topic.name, wrapped(topic.about, width + 4, columns));
    TOPICS.iter().map(line).collect()
}

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
    let mut command = &root;
    for name in &args.name {
        let parent = command.get_bin_name().unwrap_or_else(|| command.get_name());
        command = match command.find_subcommand(name) {
            Some(sub) => sub,
            None => {
                let error = anyhow::anyhow!("failed to find help on `{name}`: `{parent}` has no such subcommand");
                return Err(Failure::new(Exit::Usage, error).hint(elsewhere(name, &root)));
            }
        };
    }
    command.clone().print_long_help()?;
    Ok(Exit::Success)
}

/// Where there is help on a name that is no command below the one before it.
fn elsewhere(name: &str, root: &clap::Command) -> String {
    let is_topic = TOPICS.iter().any(|topic| topic.name == name);
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
