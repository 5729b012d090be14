//! The commands that have an option.

use clap::Command;

/// The commands below `root` that have the long option `name`.
pub(super) fn having(name: &str, root: &Command) -> Option<String> {
    those_with(root, "it", |arg| arg.get_long() == Some(name))
}

/// The commands below `root` that have the option `word`, a letter, and what it is called in full.
pub(super) fn having_letter(word: &str, root: &Command) -> Option<String> {
    let letter = word.strip_prefix('-')?.chars().next()?;
    let is_it = |arg: &clap::Arg| arg.get_short() == Some(letter) && !arg.is_hide_set();
    let mut args = root.get_subcommands().flat_map(Command::get_arguments);
    let long = args.find(|arg| is_it(arg) && arg.get_long().is_some())?.get_long()?;
    those_with(root, &format!("`-{letter}, --{long}`"), |arg| is_it(arg) && arg.get_long() == Some(long))
}

/// `A, B and C have it`, of commands below `root` with an option that is meant.
fn those_with(root: &Command, it: &str, is_it: impl Fn(&clap::Arg) -> bool) -> Option<String> {
    const MOST_NAMED: usize = 6;
    let commands = root.get_subcommands().filter(|command| !command.is_hide_set());
    let commands = commands.filter(|command| command.get_arguments().any(&is_it));
    let names: Vec<String> = commands.map(|command| format!("`rtrace {}`", command.get_name())).collect();
    Some(match &names[..] {
        [] => return None,
        [first @ .., _] if first.len() >= MOST_NAMED => {
            format!("{} and others have {it}.", first.get(..MOST_NAMED).unwrap_or(first).join(", "))
        }
        [all @ .., last] if !all.is_empty() => format!("{} and {last} have {it}.", all.join(", ")),
        _ => format!("{} has {it}.", names.concat()),
    })
}
