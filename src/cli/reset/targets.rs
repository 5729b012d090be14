//! The instances of `reset`, each with the `-b` and `-d` that stand after it on the command line.

use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};
use rtrace::tracefs::{Instance, Tracefs};
use rtrace::units::ByteSize;
use std::collections::BTreeMap;

/// `-B -a -t -b -d` as they stood on the command line.
#[derive(Clone, Debug)]
pub(super) struct Targets {
    /// Words before the first of `-B`, `-a` and `-t`: they are about all of them.
    about_all: InstanceReset,
    groups: Vec<(ResetGroup, InstanceReset)>,
}

/// Instances that one option names.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ResetGroup {
    Top,
    Named(String),
    All,
}

/// The fate of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InstanceReset {
    /// It is removed.
    pub(super) delete: bool,
    /// Size of its ring buffer, in KiB per CPU; the size after boot if `None`.
    pub(super) buffer_kib: Option<u64>,
    /// It is named, not one of all.
    pub(super) is_named: bool,
}

impl InstanceReset {
    fn or(self, other: InstanceReset) -> InstanceReset {
        InstanceReset {
            delete: self.delete || other.delete,
            buffer_kib: self.buffer_kib.or(other.buffer_kib),
            is_named: self.is_named || other.is_named,
        }
    }
}

impl Targets {
    /// `-a -t` and `-t -a` are one: everything. A size after them is that of both.
    fn size_of_both(&mut self) {
        if let [.., (first, before), (second, last)] = self.groups.as_mut_slice()
            && matches!((first, second), (ResetGroup::All, ResetGroup::Top) | (ResetGroup::Top, ResetGroup::All))
            && !before.delete
        {
            before.buffer_kib = last.buffer_kib;
        }
    }

    /// Names of the arguments.
    pub(super) const IDS: [&'static str; 5] = ["instances", "all", "top", "delete", "buffer_size"];

    /// The instances, which must exist, with the fate of each; the top level first.
    pub(super) fn open(&self, tracefs: &Tracefs) -> Result<Vec<(Instance, InstanceReset)>, Failure> {
        let resets = self.resets(|| Ok(tracefs.instances()?))?;
        let open = |(name, reset): (Option<String>, InstanceReset)| {
            let instance = name.map_or_else(|| Ok(tracefs.top()), |name| tracefs.instance(&name))?;
            Ok((instance, reset))
        };
        resets.into_iter().map(open).collect()
    }

    /// The fate of each instance by its name; `existing` are the names of all.
    fn resets(
        &self,
        existing: impl Fn() -> Result<Vec<String>, Failure>,
    ) -> Result<BTreeMap<Option<String>, InstanceReset>, Failure> {
        let mut resets: BTreeMap<Option<String>, InstanceReset> = BTreeMap::new();
        for (group, reset) in &self.groups {
            let names = match group {
                ResetGroup::Top => vec![None],
                ResetGroup::Named(name) => vec![Some(name.clone())],
                ResetGroup::All => existing()?.into_iter().map(Some).collect(),
            };
            for name in names {
                let known = resets.entry(name).or_default();
                *known = reset.or(*known);
            }
        }
        if self.groups.is_empty() {
            resets.insert(None, InstanceReset::default());
        }
        resets.values_mut().for_each(|reset| *reset = reset.or(self.about_all));
        match resets.get(&None) {
            Some(top) if top.delete => Err(Failure::new(Exit::Usage, anyhow!("the top level cannot be deleted"))
                .hint("-d removes the instance of the -B before it, after -a all of them.")),
            _ => Ok(resets),
        }
    }
}

impl clap::Args for Targets {
    fn augment_args(command: clap::Command) -> clap::Command {
        let flag = |id: &'static str, short: char| {
            Arg::new(id).short(short).action(ArgAction::Append).num_args(0).default_missing_value("")
        };
        command
            .arg(
                Arg::new("instances")
                    .short('B')
                    .long("instance")
                    .value_name("NAME")
                    .action(ArgAction::Append)
                    .help("Instance to use, instead of the top level; may be given more than once"),
            )
            .arg(flag("all", 'a').long("all").help("Every instance; with -t, the top level too"))
            .arg(flag("top", 't').long("top").help("The top level too, beside -B or -a"))
            .arg(
                flag("delete", 'd')
                    .long("delete")
                    .help("Remove the instance of the -B before it, after -a all instances, instead of resetting them"),
            )
            .arg(
                Arg::new("buffer_size")
                    .short('b')
                    .long("buffer-size")
                    .value_name("SIZE")
                    .action(ArgAction::Append)
                    .help("Ring buffer size of the -B, -a or -t before it, in KiB per CPU or with a unit (`4M`)"),
            )
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Targets {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut words: Vec<(usize, &str, &str)> = Vec::new();
        for id in Self::IDS {
            let values = matches.get_many::<String>(id).into_iter().flatten();
            let places = matches.indices_of(id).into_iter().flatten();
            words.extend(places.zip(values).map(|(at, value)| (at, id, value.as_str())));
        }
        words.sort_by_key(|&(at, ..)| at);
        let mut targets = Targets { about_all: InstanceReset::default(), groups: Vec::new() };
        for (_, id, value) in words {
            match id {
                "instances" => {
                    let named = InstanceReset { is_named: true, ..InstanceReset::default() };
                    targets.groups.push((ResetGroup::Named(value.to_owned()), named));
                }
                "all" => targets.groups.push((ResetGroup::All, InstanceReset::default())),
                "top" => targets.groups.push((ResetGroup::Top, InstanceReset::default())),
                "delete" => match targets.groups.as_mut_slice() {
                    // As trace-cmd has it: the top level beside all instances stays.
                    [.., (ResetGroup::All, all), (ResetGroup::Top, _)] => all.delete = true,
                    [.., (_, last)] => last.delete = true,
                    [] => targets.about_all.delete = true,
                },
                _ => {
                    let size = ByteSize::parse_with_unit(value, 1024);
                    let size = size.map_err(|e| clap::Error::raw(ErrorKind::ValueValidation, format!("{e}\n")))?;
                    let reset = targets.groups.last_mut().map_or(&mut targets.about_all, |(_, reset)| reset);
                    reset.buffer_kib = Some(size.0.div_ceil(1024));
                    targets.size_of_both();
                }
            }
        }
        Ok(targets)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resets(words: &str) -> Result<Vec<(String, bool, Option<u64>)>, Failure> {
        let command = <Targets as clap::Args>::augment_args(clap::Command::new("reset"));
        let matches = command.try_get_matches_from(["reset"].into_iter().chain(words.split_whitespace())).unwrap();
        let targets = Targets::from_arg_matches(&matches).unwrap();
        let resets = targets.resets(|| Ok(vec!["one".to_owned(), "two".to_owned()]))?;
        let named = |name: Option<String>| name.unwrap_or_else(|| "top".to_owned());
        Ok(resets.into_iter().map(|(name, reset)| (named(name), reset.delete, reset.buffer_kib)).collect())
    }

    #[test]
    fn each_belongs_to_the_instance_before_it() {
        let is = |words: &str, expected: &[(&str, bool, Option<u64>)]| {
            let found = resets(words).unwrap();
            let found: Vec<_> = found.iter().map(|(name, delete, kib)| (name.as_str(), *delete, *kib)).collect();
            assert_eq!(found, expected, "{words}");
        };
        is("", &[("top", false, None)]);
        is("-b 4M", &[("top", false, Some(4096))]);
        is("-B one -b 4096 -B two -d", &[("one", false, Some(4096)), ("two", true, None)]);
        is("-t -a -d", &[("top", false, None), ("one", true, None), ("two", true, None)]);
        is("-a -t -d", &[("top", false, None), ("one", true, None), ("two", true, None)]);
        is("-a -d -t -b 8", &[("top", false, Some(8)), ("one", true, None), ("two", true, None)]);
        is("-a -t -b 8", &[("top", false, Some(8)), ("one", false, Some(8)), ("two", false, Some(8))]);
        is("-a -B two -d", &[("one", false, None), ("two", true, None)]);
        is("-B one -a -d", &[("one", true, None), ("two", true, None)]);
        // before the first of them, about all
        is("-d -B one", &[("one", true, None)]);
        is("-b 8 -B one -b 16 -t", &[("top", false, Some(8)), ("one", false, Some(16))]);
    }

    #[test]
    fn the_top_level_stays() {
        for words in ["-d", "-t -d", "-d -t -a", "-B one -t -d"] {
            assert!(resets(words).is_err(), "{words}");
        }
    }
}
