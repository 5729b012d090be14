//! Checks of options' contents against their ids. An option has no checksum in trace-cmd's files, so plausibility is all
//! there is: a time stamp's offset that became an unknown option would go unnoticed.

use super::buffer::GuestFacts;
use super::cgroups::Cgroups;
use super::cpus::{CpuRanges, NumaNodes};
use super::options::chosen_clock;
use super::quota_samples::QuotaSamples;
use super::time_shift::ClockComparison;
use super::wall_clock::ClockReading;
use super::{proc_maps, wall_clock};
use crate::base::abi::Abi;
use crate::file::trace_dat::{FileError, OptionId, RawOption};
use crate::kernel::events::EventName;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::ops::RangeInclusive;

/// Kinds from here on up are neither trace-cmd's, which counts on from 25, nor rtrace's.
const FAR: u16 = 64;
/// rtrace's own, as far as it may have counted on.
const OURS: RangeInclusive<u16> = 0x7274..=0x7280;
/// More damaged options than this are not named.
const MOST: usize = 1000;

/// Adds those of `options` that cannot be in a file of this version to `damage`.
pub(super) fn check(options: &[RawOption], version: u8, abi: Abi, damage: &mut Vec<FileError>) {
    let mut once = HashSet::new();
    let kinds: HashSet<OptionId> = options.iter().map(|option| option.id).collect();
    let lacks = ALWAYS.iter().any(|id| !kinds.contains(id));
    let defects = options.iter().filter_map(|option| {
        let again = is_once(option.id) && !once.insert(option.id);
        let what = match option.id {
            _ if again => Some("there is another one of its kind"),
            id if is_newer(id) && (lacks || KNOWN_BY_CONTENT.iter().any(|id| holds(option, *id, abi))) => {
                Some("its kind is not known, and it may be the one of another kind that is missing")
            }
            // Before trace-cmd 3.0 it only says that the clock follows the table of CPUs.
            OptionId::TRACECLOCK if version == 6 && option.data.is_empty() => None,
            _ => defect(option, abi),
        };
        what.map(|what| option.error(what))
    });
    damage.extend(defects.take(MOST));
}

/// True if the option is the list of thread groups, lines of `TID TGID`, that the trace-cmd of Steam's and gpuvis' users
/// stores under the number that CPUCOUNT has elsewhere.
pub(in crate::file::trace_dat) fn is_thread_groups(option: &RawOption) -> bool {
    let number = |word: &str| word.parse::<u32>().is_ok();
    let pair = |line: &str| line.split_once(' ').is_some_and(|(tid, tgid)| number(tid) && number(tgid.trim_end()));
    option.id == OptionId::CPUCOUNT && text(option).is_some_and(|text| !text.is_empty() && text.lines().all(pair))
}

/// The highest number of a CPU whose statistics there are, and one more.
pub(super) fn cpus_with_statistics(options: &[RawOption]) -> Option<u32> {
    let stats = options.iter().filter(|option| option.id == OptionId::CPUSTAT);
    let cpus =
        stats.filter_map(|option| option.text().strip_prefix("CPU: ")?.lines().next()?.trim().parse::<u32>().ok());
    cpus.max()?.checked_add(1)
}

/// True if a recording has one of them at most.
fn is_once(id: OptionId) -> bool {
    const ONCE: [OptionId; 7] = [
        OptionId::DATE,
        OptionId::OFFSET,
        OptionId::TRACECLOCK,
        OptionId::UNAME,
        OptionId::CPUCOUNT,
        OptionId::TRACEID,
        OptionId::TSC2NSEC,
    ];
    ONCE.contains(&id) || points_to_section(id)
}

/// Options of every recorder that knows kinds which we do not.
const ALWAYS: [OptionId; 4] = [OptionId::TRACECLOCK, OptionId::UNAME, OptionId::VERSION, OptionId::TRACEID];

/// Kinds whose content is like no other.
const KNOWN_BY_CONTENT: [OptionId; 6] =
    [OptionId::DATE, OptionId::CPUSTAT, OptionId::HOOK, OptionId::OFFSET, OptionId::PROCMAPS, OptionId::GUEST];

/// True if it is a kind of a trace-cmd or rtrace that is newer than this.
fn is_newer(id: OptionId) -> bool {
    id.name().is_none() && (id.0 < FAR || OURS.contains(&id.0))
}

/// True if an option has what one of the kind `id` holds.
fn holds(option: &RawOption, id: OptionId, abi: Abi) -> bool {
    let as_kind = RawOption { id, ..option.clone() };
    match id {
        OptionId::DATE => wall_clock::date(&as_kind).is_ok(),
        OptionId::OFFSET => as_kind.text().trim().parse::<i64>().is_ok(),
        _ => defect(&as_kind, abi).is_none(),
    }
}

fn points_to_section(id: OptionId) -> bool {
    const POINTERS: [OptionId; 8] = [
        OptionId::HEADER_INFO,
        OptionId::FTRACE_EVENTS,
        OptionId::EVENT_FORMATS,
        OptionId::KALLSYMS,
        OptionId::PRINTK,
        OptionId::CMDLINES,
        OptionId::BTF_FILE,
        OptionId::MODULES_FILE,
    ];
    POINTERS.contains(&id)
}

fn defect(option: &RawOption, abi: Abi) -> Option<&'static str> {
    let sound = match option.id {
        OptionId::TRACECLOCK => line(option).is_some_and(|text| !chosen_clock(text).is_empty()),
        OptionId::UNAME => line(option).is_some_and(|text| text.split_whitespace().nth(2).is_some()),
        OptionId::VERSION => line(option).is_some_and(|text| !text.starts_with("Linux ") && !text.starts_with("0x")),
        OptionId::HOOK => line(option).is_some_and(is_hook),
        OptionId::PROCMAPS => proc_maps::parse(option).is_ok(),
        OptionId::GUEST => GuestFacts::read(option, abi).is_some(),
        OptionId::LAST_BOOT_INFO => text(option).is_some_and(|text| {
            let printable = !text.contains(|c: char| c.is_ascii_control() && !matches!(c, '\n' | '\t'));
            printable && text.contains(':')
        }),
        OptionId::RTRACE_VIEW | OptionId::RTRACE_COVERAGE => {
            text(option).is_some_and(|text| text.starts_with("buffer "))
        }
        OptionId::RTRACE_EVENTS => {
            let named = |line: &str| line.split(' ').next().is_some_and(|event| EventName::parse(event).is_some());
            text(option).is_some_and(|text| text.starts_with("buffer ") && text.lines().skip(1).all(named))
        }
        OptionId::RTRACE_ENUMERATORS => text(option).is_some_and(|text| text.lines().all(is_enumerator)),
        OptionId::RTRACE_CLOCKS => ClockComparison::read(option).is_some(),
        OptionId::RTRACE_OFFLINE => line(option).is_some_and(|text| CpuRanges::parse(text).is_some()),
        OptionId::RTRACE_CGROUPS => text(option).is_some_and(|text| Cgroups::parse(text).is_some()),
        OptionId::RTRACE_QUOTAS => text(option).is_some_and(|text| QuotaSamples::parse(text).is_some()),
        OptionId::RTRACE_NODES => text(option).is_some_and(|text| NumaNodes::parse(text).is_some()),
        OptionId::RTRACE_BUILDS => text(option).is_some_and(|text| BuildIds::parse(text).is_some()),
        OptionId::RTRACE_WALL_CLOCK => line(option).is_some_and(|text| ClockReading::parse(text).is_some()),
        OptionId::RTRACE_COMMAND => text(option).is_some_and(|text| !text.is_empty()),
        OptionId::RTRACE_SUMS => option.data.len() % 16 == 8,
        // a section's name in the same numbers
        OptionId::STRINGS => false,
        OptionId::CPUSTAT => return statistics(option),
        OptionId::TRACEID => option.data.len() == size_of::<u64>(),
        id if points_to_section(id) || id == OptionId::RTRACE_BTF => option.data.len() == size_of::<u64>(),
        id if id.name().is_none() && !is_newer(id) => return Some("its kind is not known"),
        _ => true,
    };
    (!sound).then_some("it does not hold what its kind does")
}

/// `[SYSTEM:]EVENT,FIELD[,FIELD]/[SYSTEM:]EVENT,FIELD[,FLAGS]`.
fn is_hook(text: &str) -> bool {
    text.split_once('/').is_some_and(|(start, end)| start.contains(',') && end.contains(','))
}

/// `NAME VALUE`.
fn is_enumerator(line: &str) -> bool {
    line.split_once(' ').is_some_and(|(_, value)| value.parse::<i128>().is_ok())
}

/// A name, the u64 of a trace, a u32 of CPUs and for each two u32: its number and its thread.
/// The option's data as one line, if that is all it is.
fn line(option: &RawOption) -> Option<&str> {
    let text = text(option)?;
    (!text.is_empty() && !text.contains(|c: char| c.is_ascii_control() && c != '\t')).then_some(text)
}

/// The option's data as text, without the newlines and NULs at its end.
fn text(option: &RawOption) -> Option<&str> {
    let end = option.data.iter().rposition(|byte| !matches!(byte, 0 | b'\n')).map_or(0, |last| last.saturating_add(1));
    std::str::from_utf8(option.data.get(..end)?).ok()
}

/// `CPU: N` and a line for each counter, or `Buffer: NAME`. trace-cmd may leave a piece of an earlier text at the end.
fn statistics(option: &RawOption) -> Option<&'static str> {
    let Some(text) = text(option) else { return Some("it is no text") };
    let first = text.trim_start().lines().next().unwrap_or_default();
    let sound = match first.strip_prefix("CPU: ") {
        Some(cpu) => cpu.trim().parse::<u32>().is_ok(),
        None => first.starts_with("Buffer: "),
    };
    let printable = !text.contains(|c: char| c.is_ascii_control() && c != '\n');
    (!(sound && printable)).then_some("it holds no statistics")
}

// The build of each mapped file: the content of our RTRACE_BUILDS option, a line `ID PATH` for each, the id in hexadecimal digits.

/// Files that were mapped, with the ids of their builds. A path may have had several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildIds(BTreeSet<(String, Vec<u8>)>);

impl BuildIds {
    /// Reads the lines; `None` if the text is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let build = |line: &str| {
            let (id, path) = line.split_once(' ')?;
            let digits = id.as_bytes();
            let bytes = digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
            let is_sound = !path.is_empty() && !digits.is_empty() && digits.len().is_multiple_of(2);
            is_sound.then_some((path.to_owned(), bytes.collect::<Option<Vec<u8>>>()?))
        };
        text.lines().map(build).collect::<Option<_>>().map(BuildIds)
    }

    /// True of none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Paths and ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(path, id)| (path.as_str(), id.as_slice()))
    }
}

impl FromIterator<(String, Vec<u8>)> for BuildIds {
    /// Of a path with a line break there is no line.
    fn from_iter<T: IntoIterator<Item = (String, Vec<u8>)>>(builds: T) -> Self {
        let is_sound = |(path, id): &(String, Vec<u8>)| !path.contains('\n') && !path.is_empty() && !id.is_empty();
        BuildIds(builds.into_iter().filter(is_sound).collect())
    }
}

impl fmt::Display for BuildIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|(path, id)| {
            id.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            writeln!(f, " {path}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::trace_dat::FilePart;

    fn damage(options: &[(OptionId, &[u8])]) -> Vec<String> {
        damage_in(7, options)
    }

    fn damage_in(version: u8, options: &[(OptionId, &[u8])]) -> Vec<String> {
        let option = |(id, data): &(OptionId, &[u8])| RawOption {
            id: *id,
            data: data.to_vec(),
            offset: 9,
            place: FilePart::Prefix,
        };
        let options: Vec<RawOption> = options.iter().map(option).collect();
        let mut damage = Vec::new();
        let abi = Abi { endian: crate::base::abi::Endian::Little, long_size: 8 };
        check(&options, version, abi, &mut damage);
        damage.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn sound_options_are_sound() {
        let stats: (OptionId, &[u8]) = (OptionId::CPUSTAT, b"CPU: 0\nentries: 39\noverrun: 0\n\0");
        let sound: [(OptionId, &[u8]); 10] = [
            (OptionId::TRACECLOCK, b"[local] global\n\0"),
            (OptionId::UNAME, b"Linux vm 6.1 x86_64\0"),
            (OptionId::VERSION, b"3.4.0\0"),
            (OptionId::TRACEID, &[0; 8]),
            stats,
            stats,
            (OptionId::CPUSTAT, b"\nBuffer: one\n\n\0"),
            (OptionId(40), b"of a newer trace-cmd"),
            (OptionId::GUEST, b"vm\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x07\0\0\0"),
            (OptionId::HOOK, b"sched_switch,next_pid/sched_switch,prev_pid\0"),
        ];
        assert!(damage(&sound).is_empty(), "{:?}", damage(&sound));
    }

    #[test]
    fn a_clock_without_text_is_sound_in_version_6() {
        assert!(damage_in(6, &[(OptionId::TRACECLOCK, b"")]).is_empty());
        assert_eq!(damage_in(7, &[(OptionId::TRACECLOCK, b"")]).len(), 1);
    }

    #[test]
    fn thread_groups_are_no_count_of_cpus() {
        let of = |data: &[u8]| {
            is_thread_groups(&RawOption {
                id: OptionId::CPUCOUNT,
                data: data.to_vec(),
                offset: 9,
                place: FilePart::Prefix,
            })
        };
        assert!(of(b"1 1\n") && of(b"812 810\n813 810\n\0"));
        assert!(!of(&[8, 0, 0, 0]) && !of(&[0; 4]) && !of(b"") && !of(b"812\n") && !of(b"812 x\n"));
    }

    #[test]
    fn options_that_are_others_are_reported() {
        let uname: (OptionId, &[u8]) = (OptionId::UNAME, b"Linux vm 6.1 x86_64\0");
        for (wrong, says) in [
            ((OptionId(0x1005), uname.1), "not known"),
            ((OptionId::TRACECLOCK, uname.1), "does not hold"),
            ((OptionId::CPUSTAT, uname.1), "no statistics"),
            ((OptionId::KALLSYMS, uname.1), "does not hold"),
            ((OptionId::TRACEID, uname.1), "does not hold"),
            (uname, "another one"),
            ((OptionId::PROCMAPS, &[7; 8]), "does not hold"),
            ((OptionId::HOOK, b"3.4.0\0"), "does not hold"),
            ((OptionId::GUEST, b"3.4.0\0"), "does not hold"),
            ((OptionId::STRINGS, &[7; 8]), "does not hold"),
            ((OptionId(43), &[7; 8]), "missing"),
            ((OptionId(0x7200), b""), "not known"),
        ] {
            let found = damage(&[uname, wrong]);
            assert!(found.len() == 1 && found[0].contains(says) && found[0].contains("0x9"), "{found:?}");
        }
    }

    #[test]
    fn builds_are_read_as_they_are_written() {
        let text = "00ff12 /bin/a b\n01 /lib/x\n02 /lib/x\n";
        let builds = BuildIds::parse(text).unwrap();
        assert_eq!(builds.to_string(), text);
        assert_eq!(builds.iter().next(), Some(("/bin/a b", &[0, 255, 18][..])));
        assert_eq!(BuildIds::from_iter([("a\nb".to_owned(), vec![1])]).to_string(), "");
        for text in ["x /a", "123 /a", "12", "12 ", " /a", "é0 /a"] {
            assert_eq!(BuildIds::parse(text), None, "{text}");
        }
    }
}
