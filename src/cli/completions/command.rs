//! `rtrace completions SHELL` and the hidden `rtrace complete`.

use super::values::values;
use super::words::{Candidate, CompletionLine, CompletionPlace, place};
use crate::cli::exit::{Exit, Failure, print};

/// The scripts, by the names of their files in `completions/`.
pub(crate) const SCRIPTS: [(Shell, &str, &str); 3] = [
    (Shell::Bash, "rtrace.bash", include_str!("rtrace.bash")),
    (Shell::Zsh, "_rtrace", include_str!("rtrace.zsh")),
    (Shell::Fish, "rtrace.fish", include_str!("rtrace.fish")),
];

/// A shell.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    /// Script for ~/.bashrc, or a file `rtrace` in bash-completion's folder
    Bash,
    /// Script for a file `_rtrace` in a folder of $fpath
    Zsh,
    /// Script for ~/.config/fish/completions/rtrace.fish
    Fish,
}

/// Print a shell's completion script
///
/// It completes what lives, too: events, fields, instances, tracers, clocks, options, functions, as the running kernel has
/// them, where this user may read tracefs.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  source <(rtrace completions bash)       in this shell; it needs the package bash-completion
  rtrace completions bash > /usr/share/bash-completion/completions/rtrace    as root, for all
  rtrace completions zsh > ~/.zfunc/_rtrace
  rtrace completions fish > ~/.config/fish/completions/rtrace.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Print the completions of a command line, for the scripts
#[derive(clap::Args)]
pub(crate) struct CompleteArgs {
    shell: Shell,
    /// For bash the line up to the cursor, for others its words
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let script = SCRIPTS.iter().find(|(shell, ..)| *shell == args.shell).map_or("", |(_, _, script)| *script);
    print(script)
}

/// Prints a line that says what the shell has to do, then a completion per line: the word, a tab, its meaning.
pub(crate) fn ask(args: &CompleteArgs, mut root: clap::Command) -> Result<Exit, Failure> {
    root.build();
    let line = match args.shell {
        Shell::Bash => CompletionLine::of_bash(args.words.first().map_or("", String::as_str)),
        Shell::Zsh | Shell::Fish => CompletionLine::of_words(&args.words),
    };
    let (before, current) = (&line.before, line.current.as_str());
    let place = place(&root, before, current);
    let (kind, candidates) = match &place {
        CompletionPlace::Foreign(first) => (format!("command {first}"), Vec::new()),
        place => match values(&root, place, current) {
            Some(candidates) => ("words".to_owned(), candidates),
            None => ("files".to_owned(), Vec::new()),
        },
    };
    let mut text = kind + "\n";
    for Candidate { word, meaning } in candidates.iter().filter(|candidate| candidate.word.starts_with(current)) {
        let Some(shown) = word.get(line.cut..) else { continue };
        let meaning = meaning.lines().next().unwrap_or_default();
        text.push_str(&if meaning.is_empty() { format!("{shown}\n") } else { format!("{shown}\t{meaning}\n") });
    }
    print(&text)
}
