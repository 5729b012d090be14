//! An exporter of one's own, with all that the trait offers: binary output, batches by event type, state that is written
//! at the end. Any number of threads writes the same bytes.

use crate::common::corpus::{has_all, is_small};
use crate::common::synthetic::fork_storm;
use crate::common::trace_files::trace_files;
use rtrace::abi::Abi;
use rtrace::event::{Consumed, Record};
use rtrace::export::Exporter;
use rtrace::internal::merge::ahead::Commit;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use rtrace::recording::Recording;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

/// Rows of a batch.
const ROWS: usize = 100;

/// A column store in the small: batches of an event type's rows (type, number of rows; time and CPU of each), and at the
/// end the unfinished ones, with the number of all rows.
struct Columns {
    abi: Abi,
}

#[derive(Default)]
struct Batches {
    /// In a fork: rows in their order, as it is not known which batch they fill.
    ahead: Option<Vec<(u16, u64, u32)>>,
    open: BTreeMap<u16, Vec<(u64, u32)>>,
    rows: u64,
}

impl Batches {
    fn add(&mut self, (id, time, cpu): (u16, u64, u32), out: &mut Vec<u8>) {
        self.rows += 1;
        let rows = self.open.entry(id).or_default();
        rows.push((time, cpu));
        if rows.len() == ROWS {
            write(id, rows, out);
        }
    }
}

fn write(id: u16, rows: &mut Vec<(u64, u32)>, out: &mut Vec<u8>) {
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&(rows.len() as u32).to_le_bytes());
    rows.iter().for_each(|(time, _)| out.extend_from_slice(&time.to_le_bytes()));
    rows.drain(..).for_each(|(_, cpu)| out.extend_from_slice(&cpu.to_le_bytes()));
}

impl Exporter for Columns {
    type State = Batches;

    fn state(&self) -> Batches {
        Batches::default()
    }

    fn begin(&self, _: &mut Batches, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\x7fROWS");
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        batches: &mut Batches,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let id = record.data.first_chunk().map_or(0, |id| self.abi.u16(*id));
        let row = (id, record.timestamp.0, record.cpu.0);
        match &mut batches.ahead {
            Some(rows) => rows.push(row),
            None => batches.add(row, out),
        }
        Consumed::One
    }

    fn end(&self, batches: &mut Batches, out: &mut Vec<u8>) {
        for (id, rows) in &mut batches.open {
            write(*id, rows, out);
        }
        out.extend_from_slice(&batches.rows.to_le_bytes());
    }

    fn fork(&self, _: &Batches, _: Option<Batches>) -> Batches {
        Batches { ahead: Some(Vec::new()), ..Batches::default() }
    }

    fn commit(&self, known: &mut Batches, done: &mut Batches, out: &mut Vec<u8>) -> Commit {
        done.ahead.take().into_iter().flatten().for_each(|row| known.add(row, out));
        Commit::Accept
    }
}

fn exported(recording: &Recording, threads: usize, narrow: bool) -> (Vec<u8>, u64, u64) {
    let mut query = recording.query().threads(threads);
    if narrow {
        let (first, last) = query.span().unwrap().unwrap_or_default();
        query = query.since(rtrace::units::Timestamp(first.0 + (last.0 - first.0) / 5)).comm("*");
    }
    let mut out = Vec::new();
    let (state, outcome) = query.export(&Columns { abi: recording.trace.abi }, &mut out).unwrap();
    assert_eq!(state.rows, outcome.events);
    (out, outcome.events, outcome.lost)
}

fn counted(recording: &Recording) -> u64 {
    recording.query().for_each(|_| ()).unwrap().events
}

#[test]
fn batches_of_rows_are_the_same_on_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("storm.dat");
    fork_storm(6, 30_000, 400, 7).write(&path, Version::V7(Codec::Zstd));
    let mut most = 0;
    let small = |path: &PathBuf| is_small(path, 1 << 20);
    for path in trace_files().into_iter().filter(small).chain([path]) {
        let Ok(recording) = Recording::open(File::open(&path).unwrap()) else { continue };
        let whole = exported(&recording, 1, false);
        assert_eq!(whole.1, counted(&recording), "{}", path.display());
        most = most.max(whole.1);
        for threads in [2, 3] {
            assert!(exported(&recording, threads, false) == whole, "{}: {threads} threads", path.display());
        }
        let narrow = exported(&recording, 1, true);
        assert!(narrow.1 <= whole.1);
        assert!(exported(&recording, 3, true) == narrow, "{}: a window", path.display());
    }
    assert!(!has_all("batches on threads") || most >= 29_000, "no file has many segments");
}
