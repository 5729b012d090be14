//! Which dynamic events a word of `probe remove` means, and the lines that remove them.

use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::probe::{Probe, ProbeKind};
use rtrace::syntax::did_you_mean;
use rtrace::tracefs::EventName;

/// Probes that one line removes.
#[derive(Debug, PartialEq)]
pub(super) struct Doomed {
    pub(super) event: EventName,
    pub(super) kind: ProbeKind,
    /// The line that removes them.
    pub(super) removal: String,
    /// They, as the kernel shows them.
    pub(super) lines: Vec<String>,
}

/// The probes that `text` means: an event by its name, a group by `GROUP/`, or one probe by its text.
pub(super) fn named(text: &str, known: &[(Probe, String)]) -> Result<Vec<Doomed>, Failure> {
    let bare = text.trim().trim_start_matches('!');
    let bare = bare.strip_prefix("-:").unwrap_or(bare);
    if bare.contains(char::is_whitespace) {
        return one(bare, known).map(|doomed| vec![doomed]);
    }
    let wanted = bare.replace('/', ":");
    let usage = |message: String| Failure::new(Exit::Usage, anyhow!(message));
    if let Some(group) = wanted.strip_suffix(':') {
        let doomed = whole_events(known, |probe| probe.group_or_default() == group);
        return match doomed.is_empty() {
            true => Err(usage(format!("there is no dynamic event in the group `{group}`"))),
            false => Ok(doomed),
        };
    }
    let doomed = whole_events(known, |probe| probe.full_name() == wanted || probe.event.as_deref() == Some(bare));
    match doomed.as_slice() {
        [_] => Ok(doomed),
        [] => {
            let names: Vec<String> = known.iter().map(|(probe, _)| probe.full_name()).collect();
            let near = did_you_mean(&wanted, names.iter().map(String::as_str));
            let failure = usage(format!("there is no dynamic event `{text}`"));
            let all = match names.len() {
                0 => "there is none at all".to_owned(),
                1..=8 => format!("there are {}", names.join(", ")),
                _ => "`rtrace probe list` shows all".to_owned(),
            };
            Err(near.into_iter().chain([all]).fold(failure, Failure::hint))
        }
        several => {
            let names: Vec<String> = several.iter().map(|doomed| doomed.event.to_string()).collect();
            let failure = usage(format!("several dynamic events are called `{text}`"));
            Err(failure.hint(format!("they are {}", names.join(", "))))
        }
    }
}

/// The events whose probes `wanted` accepts, each with all of them.
pub(super) fn whole_events(known: &[(Probe, String)], wanted: impl Fn(&Probe) -> bool) -> Vec<Doomed> {
    let mut doomed: Vec<Doomed> = Vec::new();
    for (probe, line) in known.iter().filter(|(probe, _)| wanted(probe)) {
        let event = event(probe);
        match doomed.iter_mut().find(|doomed| doomed.event == event) {
            Some(same) => same.lines.push(line.clone()),
            None => doomed.push(Doomed {
                event,
                kind: probe.kind.clone(),
                removal: probe.removal().unwrap_or_default(),
                lines: vec![line.clone()],
            }),
        }
    }
    doomed
}

/// One probe, by the line that added it or that the kernel shows. Others of its event stay.
fn one(text: &str, known: &[(Probe, String)]) -> Result<Doomed, Failure> {
    let found = known.iter().find(|(probe, line)| {
        let is = |text: &str| text.parse::<Probe>().is_ok_and(|wanted| is_meant(&wanted.normal(), &probe.normal()));
        // `EVENT PLACE`, as the kernel takes it after `-:`.
        let (letters, _) = line.split_once(':').unwrap_or_default();
        line == text || is(text) || is(&format!("{letters}:{text}"))
    });
    let Some((probe, line)) = found else {
        let failure = Failure::new(Exit::Usage, anyhow!("there is no probe `{text}`"));
        return Err(failure.hint("`rtrace probe list` shows those there are"));
    };
    let event = event(probe);
    let has_others = known.iter().any(|(other, other_line)| self::event(other) == event && other_line != line);
    let removal = match line.split_once(' ').filter(|_| has_others) {
        Some((_, place)) => format!("-:{}/{} {place}", event.system, event.name),
        None => probe.removal().unwrap_or_default(),
    };
    Ok(Doomed { event, kind: probe.kind.clone(), removal, lines: vec![line.clone()] })
}

/// True if `set` is the probe `wanted`, whose name and arguments may be missing, and the number of active returns, which
/// the kernel chooses then.
fn is_meant(wanted: &Probe, set: &Probe) -> bool {
    let args = if wanted.args.is_empty() { set.args.clone() } else { wanted.args.clone() };
    let mut wanted = Probe { event: wanted.event.clone().or_else(|| set.event.clone()), args, ..wanted.clone() };
    if let ProbeKind::Kretprobe { max_active: wanted @ None, .. }
    | ProbeKind::Function { max_active: wanted @ None, .. } = &mut wanted.kind
        && let ProbeKind::Kretprobe { max_active, .. } | ProbeKind::Function { max_active, .. } = &set.kind
    {
        *wanted = *max_active;
    }
    wanted == *set
}

fn event(probe: &Probe) -> EventName {
    EventName::new(probe.group_or_default(), probe.event.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removals(text: &str) -> Result<Vec<String>, Failure> {
        let lines = [
            "p:kprobes/ev vfs_read arg1=%di",
            "p:kprobes/ev vfs_write arg1=%di",
            "r8:kprobes/ret vfs_read ret=$retval",
            "p:mine/ev vfs_open",
            "p:mine/u /bin/sh:0x0000000000001000",
        ];
        let known: Vec<(Probe, String)> =
            lines.iter().map(|line| (line.parse().unwrap(), (*line).to_owned())).collect();
        Ok(named(text, &known)?.into_iter().map(|doomed| doomed.removal).collect())
    }

    #[test]
    fn by_name_by_group_and_by_text() {
        for (text, expected) in [
            ("ret", &["-:kprobes/ret"][..]),
            ("kprobes/ev", &["-:kprobes/ev"]),
            ("mine:ev", &["-:mine/ev"]),
            ("-:mine/ev", &["-:mine/ev"]),
            ("mine/", &["-:mine/ev", "-:mine/u"]),
            ("p:ev vfs_write %di", &["-:kprobes/ev vfs_write arg1=%di"]),
            ("!p:kprobes/ev vfs_read arg1=%di", &["-:kprobes/ev vfs_read arg1=%di"]),
            ("r8 vfs_read ret=$retval", &["-:kprobes/ret"]),
            ("!r:ret vfs_read ret=$retval", &["-:kprobes/ret"]),
            ("p:mine/u /bin/sh:0x1000", &["-:mine/u"]),
            ("-:kprobes/ev vfs_write", &["-:kprobes/ev vfs_write arg1=%di"]),
            ("-:ev vfs_read %di", &["-:kprobes/ev vfs_read arg1=%di"]),
            ("-:mine/u /bin/sh:0x1000", &["-:mine/u"]),
        ] {
            assert_eq!(removals(text).unwrap_or_else(|e| panic!("{text}: {e:?}")), expected, "{text}");
        }
        for text in ["ev", "nosuch", "others/", "p:ev vfs_lock", "p:ev", "r9:ret vfs_read ret=$retval"] {
            assert!(removals(text).is_err(), "{text}");
        }
    }
}
