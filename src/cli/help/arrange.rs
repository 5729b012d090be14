//! Headings and texts that clap's description of the command line lacks for a good page of help.

use super::page::{WIDTH, wrapped};
use super::{groups, layout, topics};
use crate::cli::terminal::size;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command};

/// Completes the description: groups of commands, headings of options, what each command acts on, and the names that
/// `rtrace help` understands, so that a wrong one is answered with the nearest.
pub(crate) fn complete(root: Command) -> Command {
    let names: Vec<String> = root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let mut root = root;
    for name in &names {
        root = root.mut_subcommand(name, |command| {
            let command = with_effects(command, name);
            match layout::of(name) {
                Some(sections) => with_headings(with_short_end(command, name), sections),
                None => command,
            }
        });
    }
    let overview = groups::overview(&root).replace('{', "(").replace('}', ")"); // a template's braces are places
    let known = help_names(&root);
    let template = format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{overview}\nOptions:\n{{options}}");
    root.help_template(template).mut_subcommand("help", |help| {
        help.mut_arg("name", |arg| arg.value_parser(PossibleValuesParser::new(known)).hide_possible_values(true))
    })
}

fn help_names(root: &Command) -> Vec<String> {
    fn add(command: &Command, names: &mut Vec<String>) {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            names.push(sub.get_name().to_owned());
            add(sub, names);
        }
    }
    let mut names: Vec<String> = topics::TOPICS.iter().map(|topic| topic.name.to_owned()).collect();
    add(root, &mut names);
    names.sort();
    names.dedup();
    names
}

/// Says below the usage what the command acts on and what it leaves; its subcommands say the same.
fn with_effects(command: Command, name: &str) -> Command {
    let Some((acts_on, leaves)) = groups::effects(name) else { return command };
    let columns = size().map_or(WIDTH, |(columns, _)| columns.clamp(40, WIDTH));
    let (acts_on, leaves) = (wrapped(acts_on, 10, columns), wrapped(leaves, 10, columns));
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n\
         Acts on:  {acts_on}\nLeaves:   {leaves}\n\n{{all-args}}{{after-help}}"
    );
    let subs: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = subs.iter().fold(command, |command, sub| command.mut_subcommand(sub, |sub| with_effects(sub, name)));
    command.help_template(template)
}

/// Leaves the examples to `--help`, which the last line of `-h` names.
fn with_short_end(command: Command, name: &str) -> Command {
    let examples = command.get_after_long_help().or(command.get_after_help()).cloned();
    let command = command.after_help(format!("`rtrace {name} --help` has all options, and examples."));
    match examples {
        Some(examples) => command.after_long_help(examples),
        None => command,
    }
}

/// Puts the options under their headings, in the order of `sections`; `-h` shows the common ones.
fn with_headings(command: Command, sections: &[layout::HelpSection]) -> Command {
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help("Print help (-h: the common options; --help: all)");
    let mut command = command.disable_help_flag(true).arg(help.clone());
    // clap takes the flag from subcommands as well.
    let subs: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for sub in subs {
        command = command.mut_subcommand(sub, |sub| sub.arg(help.clone().help("Print help")));
    }
    let mut place = 0;
    for section in sections {
        for (key, is_rare) in
            section.common.iter().map(|key| (key, false)).chain(section.rare.iter().map(|key| (key, true)))
        {
            let found = command.get_arguments().find(|arg| named(arg, key)).map(|arg| arg.get_id().clone());
            let Some(id) = found else { continue };
            place += 1;
            // `mut_arg` moves an argument to the end, and clap shows headings in the order of their first arguments.
            command = command
                .mut_arg(id, |arg| arg.help_heading(section.heading).display_order(place).hide_short_help(is_rare));
        }
    }
    command
}

/// True if `key` is the option's long name, or its letter where it has no long name.
pub(super) fn named(arg: &Arg, key: &str) -> bool {
    match arg.get_long() {
        Some(long) => long == key,
        None => arg.get_short().is_some_and(|letter| key.chars().eq([letter])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_visible_command_is_in_one_group() {
        let root = crate::cli::command::bare_command_line();
        let mut grouped: Vec<&str> =
            groups::GROUPS.iter().flat_map(|group| group.commands).map(|entry| entry.0).collect();
        let mut visible: Vec<&str> =
            root.get_subcommands().filter(|sub| !sub.is_hide_set()).map(Command::get_name).collect();
        grouped.sort_unstable();
        visible.sort_unstable();
        assert_eq!(grouped, visible, "each command has a line in cli/help/groups.rs");
    }
}
