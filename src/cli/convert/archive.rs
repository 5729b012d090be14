//! `--to perfetto` with an OUT that ends in .tar: a trace for each machine, and the manifest that says how Perfetto joins them.
//! <https://perfetto.dev/docs/reference/perfetto-manifest>

use super::perfetto;
use super::written::ConvertOutcome;
use crate::cli::exit::Failure;
use crate::cli::piped;
use crate::cli::query::{QueryEvents, QueryInput, ShownNames};
use anyhow::Context;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use tar::{Builder, Header};

/// True if `output` is an archive's name.
pub(super) fn is_archive(output: &Path) -> bool {
    output.extension().is_some_and(|ending| ending == "tar")
}

/// Writes the archive; `more` appends the tracks of a machine with this number, and gives what is left out of them.
pub(super) fn write<W: Write + Send>(
    events: &QueryEvents<'_>,
    more: impl Fn(&QueryEvents<'_>, &[usize], &mut File) -> Result<Vec<String>, Failure>,
    out: &mut W,
) -> Result<ConvertOutcome, Failure> {
    let members = members(events.inputs, &ShownNames::of(events));
    let manifest = manifest(&members);
    let mut archive = Builder::new(out);
    append(&mut archive, "perfetto_manifest.json", manifest.len() as u64, &mut manifest.as_bytes())?;
    let mut written = ConvertOutcome { events: 0, left_out: Vec::new() };
    for (number, of) in members.iter().enumerate() {
        let sources = events.query.sources().iter().filter(|source| source.recording == number).cloned().collect();
        let own = QueryEvents { query: events.query.clone().of_sources(sources), ..events.clone() };
        // A member's size stands before it.
        let failed = "failed to write a temporary file";
        let mut spool = piped::temporary().context(failed)?;
        let one = perfetto::write(&own, &[number], &mut spool)?;
        let mut left_out = one.left_out;
        left_out.extend(more(&own, &[number], &mut spool)?);
        let size = spool.stream_position().context(failed)?;
        spool.rewind().context(failed)?;
        append(&mut archive, &of.path, size, &mut spool)?;
        written.events += one.events;
        written.left_out.extend(left_out.into_iter().map(|what| format!("{what} of {}", of.machine)));
    }
    archive.finish()?;
    Ok(written)
}

/// A trace in the archive.
struct Member {
    path: String,
    machine: String,
}

/// The names: each machine's is its own, or the file's.
fn members(inputs: &[QueryInput], names: &ShownNames<'_>) -> Vec<Member> {
    let mut taken = BTreeSet::new();
    let member = |(number, input): (usize, &QueryInput)| {
        let uname = super::origin::uname(input);
        let host = uname.split_whitespace().nth(1).filter(|host| *host != "(none)").map(|host| names.host(host));
        let name = host.unwrap_or_else(|| names.path(&input.label()));
        let mut machine = name.clone();
        let mut again = 1;
        while !taken.insert(machine.clone()) {
            again += 1;
            machine = format!("{name} {again}");
        }
        let plain: String =
            machine.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
        let plain: String = plain.chars().take(64).collect();
        Member { path: format!("{number}-{plain}.pftrace"), machine }
    };
    inputs.iter().enumerate().map(member).collect()
}

/// Times of all files are those of one clock here: each one's BOOTTIME is that of the first.
fn manifest(members: &[Member]) -> String {
    let clock = "BOOTTIME";
    let first = members.first().map_or("", |member| member.path.as_str());
    let file = |(number, member): (usize, &Member)| {
        let mut file = json!({"path": member.path, "machine": {"name": member.machine}});
        if number > 0 {
            file["clocks"] = json!({"clock": clock, "sync_to": {"file": first, "clock": clock}});
        }
        file
    };
    let files: Vec<Value> = members.iter().enumerate().map(file).collect();
    format!(
        "{:#}\n",
        json!({"perfetto_manifest": {"version": 1, "trace_time": {"clock": clock, "file": first}, "files": files}})
    )
}

/// Appends a file of `size` bytes.
fn append(archive: &mut Builder<impl Write>, name: &str, size: u64, from: &mut impl Read) -> Result<(), Failure> {
    let mut header = Header::new_ustar();
    header.set_size(size);
    header.set_mode(0o644);
    Ok(archive.append_data(&mut header, name, from.take(size))?)
}
