//! Bare sub-buffers, one file per CPU, as a killed trace-cmd leaves them or `cat trace_pipe_raw` copies them, and the header
//! that they lack.
//! The result of `recover` and `restore`, printed.

use super::analyze::words::percent;
use super::exit::{Exit, Failure};
use super::foreign::cpu_of;
use super::piped::{named, say_of};
use super::trace_file::{OutputFile, Overwrite, open};
use anyhow::{Context, anyhow};
use rtrace::abi::{Abi, Endian};
use rtrace::internal::safe_file::{PRIVATE, open_seekable};
use rtrace::internal::trace_dat::write::{BareBuffer, Version, restore};
use rtrace::internal::trace_dat::{Codec, Trace};
use rtrace::record::{Rings, header};
use rtrace::tracefs::Tracefs;
use rtrace::units::{ByteSize, CpuId, counted, grouped};
use serde_json::json;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The kernel that says what a header says, and a file of symbols instead of its own.
type Source<'a> = (Tracefs, Option<&'a Path>);

/// Makes a header at `path`, of a machine of this one's byte order; gives its size in bytes.
pub(super) fn make_header(source: &Source<'_>, path: &Path, overwrite: Overwrite) -> Result<u64, Failure> {
    make_header_of(source, Abi::HOST.endian, path, overwrite)
}

fn make_header_of(
    (tracefs, kallsyms): &Source<'_>,
    endian: Endian,
    path: &Path,
    overwrite: Overwrite,
) -> Result<u64, Failure> {
    let kallsyms = match kallsyms {
        Some(path) => std::fs::read(path).with_context(|| format!("failed to read {}", path.display()))?,
        None if tracefs.is_live() => tracefs.kallsyms()?,
        None => Vec::new(),
    };
    let (made, file) = OutputFile::new(path, PRIVATE, overwrite)?;
    let size = header(tracefs, &kallsyms, endian, file, path)?;
    made.keep()?;
    Ok(size)
}

/// A header that is needed only for this once.
pub(super) struct RestoreHeader {
    facts: Trace,
    path: PathBuf,
}

impl RestoreHeader {
    /// Makes it beside `output`, in the byte order of the data of `cpus`.
    pub(super) fn new(source: &Source<'_>, output: &Path, cpus: &[BareBuffer<File>]) -> Result<Self, Failure> {
        let made = Self::of(source, Abi::HOST.endian, output)?;
        if source.0.is_live() || !are_in_other_order(&made.facts, cpus) {
            return Ok(made);
        }
        drop(made);
        Self::of(source, Abi::HOST.endian.swapped(), output)
    }

    fn of(source: &Source<'_>, endian: Endian, output: &Path) -> Result<Self, Failure> {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.header.tmp", std::process::id()));
        let path = output.with_file_name(name);
        make_header_of(source, endian, &path, Overwrite::default())?;
        match open(&path) {
            Ok(facts) => Ok(RestoreHeader { facts, path }),
            Err(failure) => {
                let _ = std::fs::remove_file(&path);
                Err(failure)
            }
        }
    }

    pub(super) fn facts(&mut self) -> &mut Trace {
        &mut self.facts
    }
}

impl Drop for RestoreHeader {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// True if the data of `cpus` is sound in another byte order than that of `header`, and not in that.
fn are_in_other_order(header: &Trace, cpus: &[BareBuffer<File>]) -> bool {
    const SAMPLE: usize = 128 << 10;
    let is_other = |file: &File| {
        let mut start = vec![0; SAMPLE];
        let len = file.read_at(&mut start, 0).unwrap_or(0);
        header.is_in_other_order(start.get(..len).unwrap_or_default())
    };
    cpus.iter().flat_map(|(_, cpus)| cpus).any(|(_, file)| is_other(file))
}

/// The names of the buffers that files are of: `trace.dat.cpu3` is of the top one, and then `trace.dat.web.cpu3` of instance
/// web. Without the former all that stands before the CPU is the same, or the instance's name cannot be separated from the file's.
fn buffers_of(files: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let stem = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.rsplit_once(".cpu").filter(|(_, cpu)| cpu.parse::<u32>().is_ok()).map(|(stem, _)| stem);
        stem.unwrap_or_default().to_owned()
    };
    let stems: Vec<String> = files.iter().map(stem).collect();
    let Some(top) = stems.iter().min_by_key(|stem| stem.len()) else { return Ok(Vec::new()) };
    let name = |(stem, path): (&String, &PathBuf)| {
        if stem == top {
            return Ok(String::new());
        }
        let name = stem.strip_prefix(top.as_str()).and_then(|rest| rest.strip_prefix('.'));
        name.filter(|_| !top.is_empty()).map(str::to_owned).ok_or_else(|| {
            Failure::new(Exit::Usage, anyhow!("{} and {top}.cpu* are of different recordings", path.display()))
                .hint("a recording's files are called FILE.cpuN and, of its instances, FILE.INSTANCE.cpuN.")
        })
    };
    stems.iter().zip(files).map(name).collect()
}

/// Opens the files of the CPUs, and sorts them by buffer and number.
pub(super) fn open_cpus(files: &[PathBuf]) -> Result<Vec<BareBuffer<File>>, Failure> {
    let names = buffers_of(files)?;
    let mut buffers: Vec<BareBuffer<File>> = vec![(String::new(), Vec::new())];
    for (nth, (path, name)) in files.iter().zip(names).enumerate() {
        let cpu = cpu_of(path).unwrap_or(CpuId(nth as u32));
        let at = buffers.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            buffers.push((name, Vec::new()));
            buffers.len() - 1
        });
        let cpus = &mut buffers[at].1;
        if cpus.iter().any(|(known, _)| *known == cpu) {
            return Err(Failure::new(Exit::Usage, anyhow!("{} is of CPU {cpu} too", path.display()))
                .hint("the names of the files end in .cpu0, .cpu1, ..."));
        }
        let file = open_seekable(path).map_err(|error| {
            let failure = Failure::from(anyhow!("failed to open {}: {error}", path.display()));
            let name = path.display().to_string();
            let whole = name.rsplit_once(".cpu").map(|(whole, _)| whole).filter(|whole| Path::new(whole).exists());
            match whole {
                Some(whole) => failure.hint(format!(
                    "{whole} is there, and a recording is one file: `rtrace recover {whole}` finishes one that was cut short."
                )),
                None => failure,
            }
        })?;
        if Trace::is_one(&file) {
            return Err(Failure::new(Exit::Usage, anyhow!("{} is a recording, not the file of a CPU", path.display()))
                .hint(format!("`rtrace recover {}` finishes it if it needs that.", path.display())));
        }
        cpus.push((cpu, file));
    }
    for (_, cpus) in &mut buffers {
        cpus.sort_by_key(|(cpu, _)| *cpu);
    }
    Ok(buffers)
}

/// Makes a recording of them.
pub(super) fn put_together(
    facts: &mut Trace,
    cpus: Vec<BareBuffer<File>>,
    output: &Path,
    overwrite: Overwrite,
) -> Result<RecoveryOutcome, Failure> {
    if are_in_other_order(facts, &cpus) {
        let failure = anyhow!("the files of the CPUs are of a machine of another byte order than what describes them");
        return Err(Failure::new(Exit::Failed, failure).hint(
            "`rtrace restore -t EVENTS -o FILE ...` with that machine's folder of formats finds the byte order itself.",
        ));
    }
    let (made, file) = OutputFile::new(output, PRIVATE, overwrite)?;
    let done = restore(facts, cpus, file, Version::V7(Codec::Zstd))
        .with_context(|| format!("failed to write {}", output.display()))?;
    made.keep()?;
    Ok(RecoveryOutcome::Recording { how: "restored", size: done.size, data: done.data, dropped: done.dropped })
}

/// Result of recovering or restoring a recording; sizes are in bytes.
pub(super) enum RecoveryOutcome {
    Nothing { is_whole: bool },
    Removed,
    Header { size: u64 },
    Recording { how: &'static str, size: u64, data: u64, dropped: u64 },
}

impl RecoveryOutcome {
    pub(super) fn tell(&self, file: &Path, json: bool) -> Result<Exit, Failure> {
        self.tell_with(file, None, None, json)
    }

    /// The same, with the result for the ring buffers of a killed recorder, and the number of events in the file if that is
    /// known.
    pub(super) fn tell_with(
        &self,
        file: &Path,
        rings: Option<&Rings>,
        events: Option<u64>,
        json: bool,
    ) -> Result<Exit, Failure> {
        let name = named(file);
        if json {
            let (what, size, data, dropped) = match *self {
                RecoveryOutcome::Nothing { .. } => ("complete", None, None, None),
                RecoveryOutcome::Removed => ("removed", None, None, None),
                RecoveryOutcome::Header { size } => ("header", Some(size), None, None),
                RecoveryOutcome::Recording { how, size, data, dropped } => (how, Some(size), Some(data), Some(dropped)),
            };
            let document = json!({
                "schema": "rtrace.recover", "version": 1, "file": file.to_string_lossy(), "done": what,
                "size": size, "data_size": data, "dropped": dropped,
                "rings": rings.map(|rings| json!({
                    "bytes": rings.bytes, "events": rings.events, "missing": rings.missing, "overrun": rings.overrun,
                    "failures": rings.failures, "put_back": rings.put_back,
                })),
            });
            say_of(file, &format!("{document:#}\n"))?;
            return Ok(Exit::Success);
        }
        let text = match *self {
            RecoveryOutcome::Nothing { is_whole } => {
                let what = if is_whole { "complete" } else { "finished" };
                format!("{name}: a {what} recording, nothing to recover\n")
            }
            RecoveryOutcome::Removed => format!("{name}: killed before its first event: what it left is cleared up\n"),
            RecoveryOutcome::Header { size } => {
                format!("{name}: {} of formats and symbols, for `rtrace restore -i`\n", ByteSize(size))
            }
            RecoveryOutcome::Recording { how, size, data, dropped } => {
                format!("{name}: {how}, {} with {} of events{}\n", ByteSize(size), ByteSize(data), torn(dropped))
            }
        };
        say_of(file, &(text + &rings.map(|rings| of_rings(&name, rings, events)).unwrap_or_default()))?;
        Ok(Exit::Success)
    }
}

/// The torn end that was left out.
fn torn(dropped: u64) -> String {
    if dropped == 0 { String::new() } else { format!(", {} of torn ends dropped", ByteSize(dropped)) }
}

/// The data that the ring buffers gave, and the state that they are in.
fn of_rings(name: &str, rings: &Rings, events: Option<u64>) -> String {
    let taken = match (rings.bytes, rings.events) {
        (0, _) => String::new(),
        (_, Some(events)) => format!("{name}: {} of it still in the ring buffers\n", counted(events, "event")),
        (bytes, None) => format!("{name}: {} of it still in the ring buffers\n", ByteSize(bytes)),
    };
    let put_back =
        if rings.put_back { format!("{name}: tracing is as it was before the recording\n") } else { String::new() };
    let missing = match rings.missing {
        Some(missing) if missing > 0 => {
            let share = events.map_or_else(String::new, |events| {
                format!(" ({} % of {})", percent(missing, events + missing), grouped(events + missing))
            });
            let missing = counted(missing, "event");
            format!("{name}: lost {missing}{share}: the killed recorder had read them and not yet written them\n")
        }
        _ => String::new(),
    };
    let overrun = match rings.overrun {
        Some(overrun) if overrun > 0 => {
            let overrun = counted(overrun, "event");
            format!("{name}: lost {overrun} to ring buffers that were full, as the file's marks say\n")
        }
        _ => String::new(),
    };
    taken + &missing + &overrun + &put_back
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_buffer() {
        let buffers = |files: &[&str]| buffers_of(&files.iter().map(PathBuf::from).collect::<Vec<_>>());
        let all = buffers(&["d/t.dat.cpu0", "d/t.dat.web.cpu0", "d/t.dat.cpu1", "d/t.dat.a.b.cpu1"]).unwrap();
        assert_eq!(all, ["", "web", "", "a.b"]);
        assert_eq!(buffers(&["t.dat.web.cpu0", "t.dat.web.cpu1"]).unwrap(), ["", ""]);
        assert_eq!(buffers(&["one", "two"]).unwrap(), ["", ""]);
        assert!(buffers(&["a.cpu0", "b.cpu0"]).is_err());
        assert!(buffers(&["t.dat.cpu0", "t.datum.cpu0"]).is_err());
    }
}
