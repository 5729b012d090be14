//! `rtrace convert`: which format it is, and what that cannot have.

use super::args::ConvertArgs;
use super::target::{ConvertTarget, PSEUDONYMOUS};
use super::trace_dat::{rewrite, rewrite_selected};
use super::{events, markers, target};
use crate::cli::exit::{Exit, Failure};
use crate::cli::hints::GivenLine;
use crate::cli::{helper_programs, piped, unfinished};
use anyhow::anyhow;
use std::path::Path;

impl ConvertArgs {
    fn to_trace_dat(&self, inputs: &[&Path], output: &Path) -> Result<Exit, Failure> {
        let usage = |error| Err(Failure::new(Exit::Usage, error));
        let version = self.version()?;
        if !self.tracks.is_empty() {
            return usage(anyhow!(
                "--pair, --counter, --hist and --begin are for perfetto, and this is to be trace.dat"
            ));
        }
        if self.split.is_some() {
            let failure = Failure::new(Exit::Usage, anyhow!("a trace.dat file is not written in parts"));
            return Err(failure.hint("`rtrace split` cuts a recording by time, events or pages."));
        }
        if let [_, .., one] = inputs {
            if let Some(lost) = inputs.iter().find(|input| !input.exists()) {
                let failure = Failure::new(Exit::Usage, anyhow!("there is no file {}", lost.display()));
                let line = GivenLine::of_this();
                return Err(match line.before(&lost.to_string_lossy()) {
                    Some("-v") => failure.hint(
                        "`-v` takes no value: it turns the `-F` round that follows; `--file-version 6` or `7` is the version to write.",
                    ),
                    _ => failure.hint("`rtrace convert FILE... OUT` takes the files to read first."),
                });
            }
            let failure = Failure::new(
                Exit::Usage,
                anyhow!(
                    "{} is a file too many: a trace.dat file has the formats, symbols and clock of one recording",
                    one.display()
                ),
            );
            return Err(failure
                .hint("`rtrace report A B` shows several as one; all other formats take several.")
                .hint("`--to perfetto -o OUT.tar` keeps each as a trace of its own, on one clock."));
        }
        piped::check(output, self.json)?;
        if self.events.changes_times() || !self.fields.is_empty() {
            let failure =
                Failure::new(Exit::Usage, anyhow!("a trace.dat file gets events and their times as they are"));
            return Err(failure
                .hint("--since, --until, --around, --first, --last and --cpu cut a part out.")
                .hint("`--to json` and the like write what a report shows."));
        }
        let how = (version, self.overwrite, self.json);
        let whole_time = self.events.window().is_everything() && !self.events.is_limited();
        let is_whole = whole_time && self.events.cpus().is_none();
        if self.redact {
            let failure = Failure::new(
                Exit::Usage,
                anyhow!("--redact replaces names in {PSEUDONYMOUS}, and this is to be trace.dat"),
            );
            return Err(failure.hint("`--to json`, `--to perfetto` and the like name the format."));
        }
        match self.events.selection() {
            all if !self.marker_events.is_empty() => match all.is_everything() && is_whole {
                true => markers::rewrite(inputs[0], output, how, &self.marker_events),
                false => {
                    let failure = Failure::new(Exit::Usage, anyhow!("--marker-events copies all events"));
                    Err(failure.hint("`rtrace convert FILE --marker-events -o - | rtrace convert - PART.dat OPTION` selects of them."))
                }
            },
            all if all.is_everything() && is_whole => rewrite(inputs[0], output, how),
            _ => rewrite_selected(inputs[0], output, how, &self.events),
        }
    }
}

pub(crate) fn run(args: &ConvertArgs) -> Result<Exit, Failure> {
    unfinished::watch();
    let (inputs, output) = args.files()?;
    let is_column = |name: &str| !name.contains(['.', '/']) && args.output.is_none() && !output.exists();
    if let (Some(name), Some(column)) = (output.to_str().filter(|name| is_column(name)), args.fields.last()) {
        let error = anyhow!("`{name}` is taken for the file to write");
        return Err(Failure::new(Exit::Usage, error)
            .hint(format!("`--fields {column},{name}` are two columns; `-o FILE` names the file.")));
    }
    let target = args.to.or_else(|| ConvertTarget::of_ending(output));
    if let (None, Some(ending), false) =
        (target, target::strange_ending(output), helper_programs::name() == "trace-cmd")
    {
        let error = anyhow!("{} ends in `{ending}`, which stands for no format", output.display());
        let failure = Failure::new(Exit::Usage, error);
        return Err(failure.hint(target::meant_by(&ending, inputs[0], output)));
    }
    let named = output.to_str().filter(|name| args.to.is_none() && args.output.is_none() && !name.contains('.'));
    if let Some(Ok(format)) = named.map(|name| <ConvertTarget as clap::ValueEnum>::from_str(name, false)) {
        let name = format.name();
        let error = anyhow!("`{name}` is a format, not a file");
        let hint = format!("`--to {name} -o OUT` writes it, `./{name}.dat` is a recording of that name.");
        return Err(Failure::new(Exit::Usage, error).hint(hint));
    }
    match target.unwrap_or(ConvertTarget::TraceDat) {
        ConvertTarget::TraceDat => args.to_trace_dat(&inputs, output),
        target if !args.marker_events.is_empty() => {
            let failure = Failure::new(
                Exit::Usage,
                anyhow!("--marker-events makes a recording, and this is to be {}", target.name()),
            );
            Err(failure
                .hint("`rtrace convert FILE --marker-events -o - | rtrace convert - OUT` writes them in that form."))
        }
        target => events::convert(args, target, &inputs, output),
    }
}
