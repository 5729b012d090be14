//! A query without a result: what was asked for that no recording has, and what there is instead.

use super::QueryInput;
use super::args::{LimitArgs, QueryArgs};
use crate::cli::exit::Failure;
use crate::cli::terminal::note;
use rtrace::events::glob_matches;
use rtrace::filter::Filter;
use rtrace::recording::Query;
use rtrace::syntax::did_you_mean;
use rtrace::units::Pid;
use std::collections::BTreeSet;

impl QueryArgs {
    /// Says on stderr why no event was shown.
    pub(crate) fn tell_of_nothing(&self, inputs: &[QueryInput]) -> Result<(), Failure> {
        if let Some(reason) = self.nothing(inputs)? {
            note!("rtrace: {reason}");
        }
        Ok(())
    }

    /// The reason why no event was selected; `None` if none was wanted, or text is there instead.
    pub(crate) fn nothing(&self, inputs: &[QueryInput]) -> Result<Option<String>, Failure> {
        let wanted_none = matches!(self.limit, LimitArgs { first: Some(0), .. } | LimitArgs { last: Some(0), .. });
        if wanted_none {
            return Ok(None);
        }
        let paths: Vec<String> = inputs.iter().map(|input| input.path.display().to_string()).collect();
        let files = paths.join(", ");
        let all = Query::of(inputs.iter().map(|input| &input.recording)).time(&self.time());
        // A latency tracer's text is shown, though it is no event.
        let has_text = |input: &QueryInput| input.trace.buffers.iter().any(|buffer| buffer.text.is_some());
        if inputs.iter().any(has_text) {
            return Ok(None);
        }
        if all.span()?.is_none() {
            return Ok(Some(format!("{files}: no events")));
        }
        let reasons: Vec<String> =
            [self.no_cpu(inputs), self.no_comm(inputs), self.no_pid(inputs), self.no_time(&all)?, no_match(inputs)]
                .into_iter()
                .flatten()
                .collect();
        Ok(Some(match reasons.is_empty() {
            true => format!(
                "{files}: no event matches\n  Hint: `rtrace report --summary {}` shows what there is.",
                paths.join(" ")
            ),
            false => format!("{files}: no event matches: {}", reasons.join("; ")),
        }))
    }

    fn no_cpu(&self, inputs: &[QueryInput]) -> Option<String> {
        let (there, absent) = self.absent_cpus(inputs)?;
        let none = absent.len() == self.cpu.as_ref()?.len();
        none.then(|| format!("none of these CPUs was recorded, but {}", ranges(&there)))
    }

    /// The CPUs of the recordings, and those of `--cpu` that are not among them.
    fn absent_cpus(&self, inputs: &[QueryInput]) -> Option<(BTreeSet<u32>, BTreeSet<u32>)> {
        let wanted = self.cpu.as_ref()?;
        let buffers = inputs.iter().flat_map(|input| &input.trace.buffers);
        let there: BTreeSet<u32> = buffers.flat_map(|buffer| &buffer.cpus).map(|cpu| cpu.cpu.0).collect();
        let absent = wanted.iter().filter(|cpu| !there.contains(cpu)).collect();
        Some((there, absent))
    }

    /// Says which CPUs of `--cpu` have nothing to show.
    pub(crate) fn tell_of_absent_cpus(&self, inputs: &[QueryInput]) {
        if let Some((there, absent)) = self.absent_cpus(inputs)
            && !absent.is_empty()
        {
            note!("rtrace: CPUs {} were not recorded, but {}", ranges(&absent), ranges(&there));
        }
    }

    fn no_comm(&self, inputs: &[QueryInput]) -> Option<String> {
        let wanted = self.select.comms();
        let names: BTreeSet<String> = inputs
            .iter()
            .flat_map(|input| input.symbols.comms.pids().filter_map(|pid| input.symbols.comms.get(pid)))
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        no_task_called(wanted, &names)
    }

    fn no_pid(&self, inputs: &[QueryInput]) -> Option<String> {
        let wanted = self.select.pids();
        let known = |pid: &i32| *pid == 0 || inputs.iter().any(|input| input.symbols.comms.get(Pid(*pid)).is_some());
        if wanted.is_empty() || wanted.iter().any(known) {
            return None;
        }
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        Some(format!(
            "no task with the pid {} is known; `--summary` lists the tasks, `--tgid` takes a process's",
            wanted.join(" or ")
        ))
    }

    fn no_time(&self, all: &Query<'_>) -> Result<Option<String>, Failure> {
        if self.align.is_some() || self.align_ts {
            return Ok(None);
        }
        self.window.outside(all)
    }
}

/// The reason why none of these tasks is one of `wanted`, of which each may be a glob; `None` if one is.
pub(crate) fn no_task_called(wanted: &[String], names: &BTreeSet<String>) -> Option<String> {
    none_called("task", "--comm", wanted, names)
}

/// The reason why nothing of a kind, chosen by an option, is called as one of the globs `wanted`, with what there is.
pub(crate) fn none_called(kind: &str, option: &str, wanted: &[String], names: &BTreeSet<String>) -> Option<String> {
    if wanted.is_empty() || names.iter().any(|name| wanted.iter().any(|glob| glob_matches(glob, name))) {
        return None;
    }
    let near = wanted.iter().find_map(|name| did_you_mean(name, names.iter().map(String::as_str)));
    let list = wanted.iter().find(|name| name.contains(','));
    let list = list.map(|names| {
        let each: Vec<String> = names.split(',').map(|name| format!("{option} {name}")).collect();
        format!("one name at a time: `{}`", each.join(" "))
    });
    let begun = wanted.iter().find_map(|name| {
        let count = names.iter().filter(|one| one.len() > name.len() && one.starts_with(name.as_str())).count();
        (count > 1).then(|| format!("`{option} '{name}*'` are the {count} whose names begin so"))
    });
    let instead = list.or(begun).or(near).unwrap_or_else(|| format!("there are {}", some(names)));
    Some(format!("no {kind} is called `{}`; {instead}", wanted.join("` or `")))
}

/// The mistake that the kernel's language finds in a filter of -F, which takes any comparison, as trace-cmd does.
fn no_match(inputs: &[QueryInput]) -> Option<String> {
    let words: Vec<String> = std::env::args().collect();
    words.windows(2).find_map(|pair| {
        let [option, filter] = pair else { return None };
        let (event, expr) = filter.split_once(": ").filter(|_| matches!(option.as_str(), "-F" | "--select"))?;
        let name = event.rsplit([':', '/']).next()?;
        let format = inputs.iter().flat_map(|input| input.trace.formats()).find(|format| format.name == name)?;
        let error = Filter::parse(expr).ok()?.check(format).err()?;
        let hints = error.hints().iter().map(|hint| format!("; {hint}"));
        Some(error.message.clone() + &hints.collect::<String>())
    })
}

/// `0-3,8`.
fn ranges(cpus: &BTreeSet<u32>) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let part = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}

/// The first names of a list that may be long.
fn some(names: &BTreeSet<String>) -> String {
    const MOST: usize = 8;
    let first: Vec<&str> = names.iter().take(MOST).map(String::as_str).collect();
    let more = names.len().saturating_sub(MOST);
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    first.join(", ") + &rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_as_a_list() {
        assert_eq!(ranges(&BTreeSet::from([0, 1, 2, 5, 7, 8])), "0-2,5,7-8");
    }
}
