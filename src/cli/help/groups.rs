//! The commands by task. A new command gets its line here; a test names the one that has none.
//! Headings and texts that clap's description of the command line lacks for a good page of help.

use super::page::{WIDTH, wrapped};
use super::{layout, topics};
use crate::cli::terminal::size;
use clap::builder::{PossibleValuesParser, Styles};
use clap::{Arg, ArgAction, Command};

/// A task, and the commands for it.
pub(super) struct HelpGroup {
    title: &'static str,
    commands: &'static [HelpEntry],
}

/// A command: its name, the ring buffer or file it acts on, and what is there when it has ended.
struct HelpEntry(pub(super) &'static str, pub(super) &'static str, pub(super) &'static str);

const OWN: &str = "an instance of its own; with --top the top level, with -B also that instance";
const TOP: &str = "the top level; -B, -a: instances";
const FILES: &str = "recordings (trace.dat), no buffer";
const NOTHING: &str = "nothing";

/// All groups, in the order of `rtrace --help`.
pub(super) const GROUPS: &[HelpGroup] = &[
    HelpGroup {
        title: "Record",
        commands: &[
            HelpEntry("record", OWN, "FILE; all settings are put back (-k: they stay)"),
            HelpEntry(
                "agent",
                "an instance of its own",
                "nothing: all settings are put back; the controller has the FILE",
            ),
            HelpEntry("setup-guest", "no buffer: a guest of this host", "FIFOs for the guest's data"),
            HelpEntry("listen", "no buffer: recordings of other machines", "a FILE per sender"),
            HelpEntry("stream", OWN, "nothing: all settings are put back"),
            HelpEntry("top", "an instance of its own", "nothing: all settings are put back"),
            HelpEntry(
                "extract",
                "the top level; -B, -a: instances; -s: the snapshot",
                "FILE; tracing off, the events taken out",
            ),
            HelpEntry("save", "that of a recorder, which goes on", "OUT; the recording as it was"),
            HelpEntry(
                "recover",
                "an unfinished FILE and its recorder's instance",
                "FILE complete; all settings are put back",
            ),
        ],
    },
    HelpGroup {
        title: "Read",
        commands: &[
            HelpEntry("report", FILES, NOTHING),
            HelpEntry("view", FILES, NOTHING),
            HelpEntry("convert", FILES, "OUT"),
            HelpEntry("split", FILES, "the parts; the recording as it was"),
            HelpEntry("attach", "recordings of a host and its guest", "both files, written anew: they belong together"),
            HelpEntry("dump", FILES, NOTHING),
            HelpEntry("options", "no buffer: this program's wordings", NOTHING),
        ],
    },
    HelpGroup {
        title: "Analyse",
        commands: &[
            HelpEntry("analyze", FILES, NOTHING),
            HelpEntry("why", FILES, NOTHING),
            HelpEntry("check", FILES, "nothing but the reports asked for"),
            HelpEntry("diff", "recordings, or summaries of them", "nothing but the reports asked for"),
            HelpEntry("baseline", "recordings, or summaries of them", "OUT, of `save` and `compare --update`"),
            HelpEntry("flame", FILES, "OUT"),
            HelpEntry("sql", "recordings, or directories of tables", NOTHING),
            HelpEntry("compact", "a directory of tables", "its parts and manifest; removes what is in them"),
            HelpEntry(
                "profile",
                "an instance of its own; with --input a recording",
                "nothing: all settings are put back",
            ),
            HelpEntry(
                "latency",
                "an instance of its own; --top, -B: another; -i: a recording",
                "nothing: all that was set up is removed",
            ),
            HelpEntry(
                "hist",
                "an instance of its own; --top, -B: another; -i: a recording",
                "nothing; of `hist start` a histogram, until `hist stop`",
            ),
            HelpEntry("timerlat", "an instance of its own", "nothing: all settings are put back; of --save the FILE"),
            HelpEntry("osnoise", "an instance of its own", "nothing: all settings are put back; of --save the FILE"),
            HelpEntry("mem", FILES, NOTHING),
            HelpEntry(
                "stack",
                "the stack tracer of the whole machine",
                "the tracer on after --start, off after --stop",
            ),
        ],
    },
    HelpGroup {
        title: "Steer the kernel",
        commands: &[
            HelpEntry(
                "start",
                "the top level; options after -B: that instance",
                "tracing on as set, until `rtrace reset`",
            ),
            HelpEntry("set", "the top level; options after -B: that instance", "the settings, until `rtrace reset`"),
            HelpEntry("stop", TOP, "the buffers with their events, and off"),
            HelpEntry("restart", TOP, "the buffers on"),
            HelpEntry("clear", TOP, "the buffers empty, the settings as they were"),
            HelpEntry(
                "reset",
                "the top level; -B, -a: instances; --stale: what killed recorders changed",
                "the state after boot",
            ),
            HelpEntry("show", "the top level; -B: an instance", "nothing; -p takes the events out"),
            HelpEntry("stat", TOP, NOTHING),
            HelpEntry("filter", "the top level; -B: an instance", "the filters, until `filter clear`"),
            HelpEntry("trigger", "the top level; -B: an instance", "the triggers, until `trigger clear`"),
            HelpEntry("snapshot", "the top level; -B: an instance", "the spare buffer, until `snapshot free`"),
            HelpEntry("instance", "the instance that is named", "the instance, until `instance remove`"),
            HelpEntry("remote", "the remote that is named", "its settings; `remote stream` takes the events out"),
            HelpEntry(
                "probe",
                "no buffer: events of the whole machine",
                "the events, until `probe remove` or a reboot",
            ),
            HelpEntry(
                "synth",
                "the instance rtrace-synth; --top, -B: another; -i: a recording",
                "the event and its triggers, until `synth remove`",
            ),
        ],
    },
    HelpGroup {
        title: "Manage",
        commands: &[
            HelpEntry(
                "doctor",
                "no buffer: what this machine has",
                "nothing; tracefs mounted, if root finds it is not",
            ),
            HelpEntry("list", "no buffer: what the kernel offers", NOTHING),
            HelpEntry("check-events", "no buffer: the formats of this kernel's events", NOTHING),
            HelpEntry("schema", "no buffer", NOTHING),
            HelpEntry("completions", "no buffer", NOTHING),
            HelpEntry("help", "no buffer", NOTHING),
        ],
    },
];

/// The buffer that a command acts on and what it leaves behind; `None` if it is in no group.
pub(crate) fn effects(command: &str) -> Option<(&'static str, &'static str)> {
    let mut entries = GROUPS.iter().flat_map(|group| group.commands);
    entries.find(|entry| entry.0 == command).map(|entry| (entry.1, entry.2))
}

/// The help of the program itself: the groups, each command with its line, and the topics.
fn overview(root: &clap::Command) -> String {
    let width = size().map_or(WIDTH, |(columns, _)| columns.clamp(40, WIDTH));
    let styles = Styles::styled();
    let (head, word) = (styles.get_header(), styles.get_literal());
    let names = GROUPS.iter().flat_map(|group| group.commands).map(|entry| entry.0.len());
    let column = names.max().unwrap_or(0) + 4;
    let mut text = String::new();
    for group in GROUPS {
        text.push_str(&format!("{head}{}:{head:#}\n", group.title));
        for HelpEntry(name, ..) in group.commands {
            let Some(command) = root.find_subcommand(name) else { continue };
            let mut about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let aliases: Vec<&str> = command.get_visible_aliases().collect();
            if !aliases.is_empty() {
                about.push_str(&format!(" [alias: {}]", aliases.join(", ")));
            }
            let gap = " ".repeat(column.saturating_sub(name.len() + 2));
            let about = wrapped(&about, column, width);
            text.push_str(&format!("  {word}{name}{word:#}{gap}{about}\n"));
        }
        text.push('\n');
    }
    text.push_str(&format!("{head}Topics of `rtrace help`:{head:#}\n{}", topics::list(width)));
    text
}

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
    let overview = overview(&root).replace('{', "(").replace('}', ")"); // a template's braces are places
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
    let Some((acts_on, leaves)) = effects(name) else { return command };
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
            super::GROUPS.iter().flat_map(|group| group.commands).map(|entry| entry.0).collect();
        let mut visible: Vec<&str> =
            root.get_subcommands().filter(|sub| !sub.is_hide_set()).map(Command::get_name).collect();
        grouped.sort_unstable();
        visible.sort_unstable();
        assert_eq!(grouped, visible, "each command has a line in cli/help/groups.rs");
    }
}
