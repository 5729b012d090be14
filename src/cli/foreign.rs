//! Files that are no recordings, named by their first bytes: what they are, and how to get at what they hold.

use super::exit::{Exit, Failure};
use super::own_documents;
use anyhow::anyhow;
use rtrace::internal::safe_file::open_seekable;
use rtrace::internal::trace_dat::{Trace, is_recording};
use rtrace::syntax::did_you_mean;
use rtrace::units::CpuId;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Number of bytes that are looked at.
const START: usize = 4096;
/// Packed files: first bytes, name, and the program that writes the unpacked bytes to standard output.
const PACKED: [(&[u8], &str, &str); 6] = [
    (b"\x1f\x8b", "gzip", "zcat"),
    (b"\xfd7zXZ\0", "xz", "xzcat"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstdcat"),
    (b"BZh", "bzip2", "bzcat"),
    (b"\x04\x22\x4d\x18", "lz4", "lz4cat"),
    (b"PK\x03\x04", "zip", "unzip -p"),
];
/// The first bytes of a CTF stream, in either byte order.
const CTF_STREAM: [&[u8]; 2] = [&[0xc1, 0x1f, 0xfc, 0xc1], &[0xc1, 0xfc, 0x1f, 0xc1]];
/// The first bytes of CTF metadata, of 1.8 and of 2.
const CTF_METADATA: [&[u8]; 2] = [b"/* CTF 1", b"\x1e{"];
/// Advice on traces that Perfetto's viewer opens and rtrace does not.
const PERFETTO: &str = "https://ui.perfetto.dev opens it; rtrace reads trace.dat files only.";

/// The failure to open `file` at `path` as a recording, if its first bytes or its name tell what it is.
pub(super) fn failure(path: &Path, file: &File) -> Option<Failure> {
    let mut start = vec![0; START];
    let len = file.read_at(&mut start, 0).ok()?;
    let size = file.metadata().map_or(0, |of| of.len());
    start.truncate(len);
    let (what, way) = match start.trim_ascii_start().first() {
        Some(b'{' | b'[') => own_documents::kind(path, FromBegin { file, at: 0 }),
        _ => kind(path, &start, size)?,
    };
    Some(refuse(path, &what, way))
}

/// A file from its begin, whatever its position is.
struct FromBegin<'f> {
    file: &'f File,
    at: u64,
}

impl Read for FromBegin<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// The same of a folder.
pub(super) fn folder(path: &Path) -> Option<Failure> {
    let mut files = std::fs::read_dir(path).ok()?.flatten().map(|entry| entry.path());
    let is_ctf = path.join("metadata").is_file();
    if is_ctf {
        let way = format!(
            "`babeltrace2 {}` prints it; rtrace writes such folders, and reads trace.dat files.",
            path.display()
        );
        return Some(refuse(path, "a folder in the Common Trace Format (CTF)", way));
    }
    let recording = files.find(|file| open_seekable(file).is_ok_and(|file| Trace::is_one(&file)))?;
    let way = format!("it holds a recording: `rtrace report {}`.", recording.display());
    Some(refuse(path, "a folder", way))
}

/// The recordings in the folder of a path at which nothing lies, those of a similar name first; none if there are many.
pub(super) fn beside(path: &Path) -> Option<String> {
    const MOST: usize = 5;
    const MOST_FILES: usize = 1000;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files = std::fs::read_dir(folder).ok()?.flatten().take(MOST_FILES).map(|entry| entry.path());
    let mut names: Vec<String> = files
        .filter(|file| file.extension().is_some_and(|end| end == "dat") && is_recording(file))
        .filter_map(|file| file.file_name()?.to_str().map(str::to_owned))
        .collect();
    names.sort_unstable();
    let near = path.file_name().and_then(|name| did_you_mean(name.to_str()?, names.iter().map(String::as_str)));
    let all = || (1..=MOST).contains(&names.len()).then(|| format!("recordings there are {}.", names.join(", ")));
    near.or_else(all)
}

/// The same of what lies at `path`, if it can be opened and is no recording.
pub(super) fn at(path: &Path) -> Option<Failure> {
    match open_seekable(path) {
        Ok(file) if Trace::is_one(&file) => None,
        Ok(file) => failure(path, &file),
        Err(_) => folder(path),
    }
}

fn refuse(path: &Path, what: &str, way: String) -> Failure {
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    Failure::new(Exit::Failed, anyhow!("{name} is not a trace.dat file: it is {what}")).hint(way)
}

/// The kind of file that begins with `start` and has `size` bytes, and the way to what it holds.
fn kind(path: &Path, start: &[u8], size: u64) -> Option<(String, String)> {
    let found = |what: &str, way: String| Some((what.to_owned(), way));
    if let Some((_, name, unpack)) = PACKED.iter().find(|(magic, ..)| start.starts_with(magic)) {
        let way = match path == Path::new("-") {
            true => {
                format!("unpack it on the way: `... | {} | rtrace report -`.", unpack.replace("unzip -p", "funzip"))
            }
            false => format!("`{unpack} {} | rtrace report -` reads what is in it.", path.display()),
        };
        return found(&format!("packed ({name})"), way);
    }
    if start.get(257..262) == Some(b"ustar") {
        return found("a tar archive", format!("`tar -xf {}` unpacks it.", path.display()));
    }
    if start.starts_with(b"PERFILE2") || start.starts_with(b"2ELIFREP") {
        return found("perf's data", format!("`perf script -i {}` prints it.", path.display()));
    }
    if start.starts_with(b"version https://git-lfs.github.com/spec/") {
        return found("a git-lfs pointer in place of the file", "`git lfs pull` fetches the file.".to_owned());
    }
    if CTF_STREAM.iter().any(|magic| start.starts_with(magic))
        || CTF_METADATA.iter().any(|text| start.starts_with(text))
    {
        return found(
            "of the Common Trace Format (CTF)",
            "`babeltrace2` prints the folder that it lies in.".to_owned(),
        );
    }
    if start.starts_with(b"\x07\x74\x61\x65") || start.starts_with(b"\x65\x61\x74\x07") {
        return found(
            "of blktrace",
            "`blkparse -i NAME` prints it; `rtrace record --for io` records block requests.".to_owned(),
        );
    }
    if start.starts_with(b"PAR1") {
        return found("a Parquet table", "`duckdb`, pandas and polars read it.".to_owned());
    }
    if is_perfetto(start, size) {
        return found("a Perfetto trace", PERFETTO.to_owned());
    }
    let text = std::str::from_utf8(start)
        .or_else(|error| std::str::from_utf8(start.get(..error.valid_up_to()).unwrap_or_default()));
    let text = text.unwrap_or_default().trim_start();
    let low = text.get(..text.len().min(64)).unwrap_or_default().to_ascii_lowercase();
    if low.starts_with("<!doctype html") || low.starts_with("<html") {
        return found("an HTML page, as systrace writes", PERFETTO.to_owned());
    }
    if is_ftrace_text(text) {
        let way = "it is what `report` would print: grep and awk read it, and https://ui.perfetto.dev draws it.";
        return found("the text of a trace, not the recording", way.to_owned());
    }
    let is_text = |text: &str| text.chars().all(|c| !c.is_control() || c.is_whitespace());
    if !text.is_empty() && text.len() + 3 >= start.trim_ascii_start().len() && is_text(text) {
        return found("text", "`rtrace record -o run.dat` writes recordings; nothing else is read as one.".to_owned());
    }
    let way = || format!("`rtrace restore -o run.dat {}` makes a recording of it.", path.display());
    cpu_of(path).and_then(|cpu| found(&format!("the bare data of CPU {cpu}"), way()))
}

/// The CPU that a file's name ends in: `trace.dat.cpu3`.
pub(super) fn cpu_of(path: &Path) -> Option<CpuId> {
    let name = path.file_name()?.to_str()?;
    name.rsplit_once(".cpu")?.1.parse().ok().map(CpuId)
}

/// True of Perfetto's format: a protobuf message `Trace`, whose field 1 repeats. The first one must end where another
/// field 1 begins, or with the file.
fn is_perfetto(start: &[u8], size: u64) -> bool {
    let Some((0x0a, rest)) = start.split_first().map(|(first, rest)| (*first, rest)) else { return false };
    let Some(last) = rest.iter().take(5).position(|byte| byte & 0x80 == 0) else { return false };
    let length = rest[..=last].iter().rev().fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
    let end = 2 + last as u64 + length;
    match usize::try_from(end).ok().and_then(|end| start.get(end)) {
        Some(next) => *next == 0x0a,
        None => length > 0 && end <= size && rest.get(last + 1).is_some_and(|tag| matches!(tag & 7, 0 | 1 | 2 | 5)),
    }
}

/// True of what ftrace's `trace` file and `report` print: their headers, or a line with a CPU in brackets, a time and an event.
fn is_ftrace_text(text: &str) -> bool {
    let is_line = |line: &str| {
        let Some((task, rest)) = line.split_once(" [") else { return false };
        let Some((cpu, rest)) = rest.split_once(']') else { return false };
        let is_task = task.rsplit_once('-').is_some_and(|(_, pid)| pid.split(' ').next().is_some_and(is_number));
        is_task
            && is_number(cpu)
            && rest.split_whitespace().take(3).any(|word| word.ends_with(':') && word.contains('.'))
    };
    let is_start = ["# tracer: ", "cpus=", "version = "].iter().any(|header| text.starts_with(header));
    is_start || text.lines().take(40).any(is_line)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_their_first_bytes() {
        let of = |name: &str, start: &[u8]| {
            kind(Path::new(name), start, start.len() as u64).map(|(what, way)| format!("{what}; {way}"))
        };
        let line = b"     kworker/4:1-51    [004]  1583.765274: thermal_temperature:  temp=68786\n";
        let new_line = b"  bash-12 (   12) [003] d..2. 12.000001: sched_waking: comm=a\n";
        for (start, says) in [
            (&b"\x1f\x8b\x08"[..], "(gzip); `zcat x | rtrace report -`"),
            (b"\xfd7zXZ\0\0", "xzcat x"),
            (b"\x28\xb5\x2f\xfd\0", "zstdcat x"),
            (b"PK\x03\x04", "unzip -p x"),
            (b"PERFILE2\0", "perf script -i x"),
            (b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
            (b"/* CTF 1.8 */", "babeltrace2"),
            (b"\x1e{\"type\":\"preamble\"", "babeltrace2"),
            (b"\x0a\x03\x10\x50\x01\x0a\x00", "Perfetto"),
            (b"<!DOCTYPE html>\n", "systrace"),
            (b"# tracer: nop\n#\n", "text of a trace"),
            (b"cpus=6\n", "text of a trace"),
            (line, "text of a trace"),
            (new_line, "text of a trace"),
            (b"hello [world] x: y\n", "text; `rtrace record"),
        ] {
            let found = of("x", start).unwrap_or_default();
            assert!(found.contains(says), "{says}: {found}");
        }
        assert!(of("-", b"\x1f\x8b").unwrap_or_default().contains("| zcat | rtrace report -"));
        assert!(of("t.dat.cpu3", &[0; 64]).unwrap_or_default().contains("bare data of CPU 3; `rtrace restore"));
        assert_eq!(cpu_of(Path::new("x/trace.dat.cpu12")), Some(CpuId(12)));
        assert_eq!(cpu_of(Path::new("x/trace.dat.cpu0.spool")), None);
        for unknown in [&[0; 64][..], b"", b"\x0a", b"\x0a\x02ab?"] {
            assert_eq!(of("x", unknown), None, "{unknown:?}");
        }
    }
}
