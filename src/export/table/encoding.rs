//! Tables that are being encoded, each by any thread that has time.
//!
//! The rows of a table come in pieces, in the order of time. They are encoded in that order, a page of a fixed number of rows
//! after the other, by one thread at a time; different tables by several threads. So the bytes of a file depend neither on
//! the pieces nor on the threads.

use super::parquet::{PageCodec, ParquetWriter};
use super::rows::{AddedRows, Columns, Piece, TableDescription, TableNote, TableRows};
use crate::export::frames::frame;
use crate::kernel::event::Record;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::{io, thread};

/// Rows of a page: those of each table are kept until there are that many.
const PAGE: usize = 8192;
/// Rows of a table beyond which a thread waits for the one that encodes it.
const MOST: usize = 4 * PAGE;

/// The makers of tables, each of which has a key.
pub(super) trait Tabled {
    type Key: Ord + Copy + Send + Sync;

    /// The file of a table.
    fn file(&self, table: Self::Key) -> TableDescription;

    /// The columns of a table of records.
    fn columns(&self, table: Self::Key) -> &Columns;

    /// Adds the rows of records to those of their table.
    fn add_rows(&self, table: Self::Key, records: &[Record<'_>], rows: &mut TableRows);
}

/// The files being made, by the key `K` of their table.
pub(super) struct Encoding<K> {
    tables: Mutex<BTreeMap<K, Arc<OpenTable<K>>>>,
    /// Tables with rows for a page, the one that waits longest first.
    due: Mutex<VecDeque<Arc<OpenTable<K>>>>,
    /// Pieces of files, as [`Frames`](crate::export::Frames).
    made: Mutex<Vec<u8>>,
    /// Codecs of threads that do not encode now.
    codecs: Mutex<Vec<PageCodec>>,
    failed: Mutex<Option<String>>,
}

struct OpenTable<K> {
    key: K,
    waiting: Mutex<WaitingRows>,
    file: Mutex<OpenFile>,
}

/// Rows whose turn has not come.
#[derive(Default)]
struct WaitingRows {
    piece: Option<Piece>,
    /// An empty one, for its memory.
    spare: Option<Piece>,
    /// Those in `piece`, and those that were gathered but not encoded yet.
    rows: usize,
    is_due: bool,
}

struct OpenFile {
    writer: ParquetWriter,
    /// Rows for the next page.
    gathered: Piece,
}

impl<K: Ord + Copy + Send + Sync> Encoding<K> {
    pub(super) fn new() -> Self {
        Encoding {
            tables: Mutex::default(),
            due: Mutex::default(),
            made: Mutex::default(),
            codecs: Mutex::default(),
            failed: Mutex::default(),
        }
    }

    /// The reason why the tables are not whole, if they are not.
    pub(super) fn failed(&self) -> Option<String> {
        locked(&self.failed).clone()
    }

    /// Takes rows of a table, and leaves none but their memory: threads that free each other's memory wait for the allocator.
    pub(super) fn add(&self, key: K, mut rows: AddedRows<'_>, of: &impl Tabled<Key = K>) {
        if rows.len() == 0 {
            return;
        }
        let open = || {
            let file = OpenFile { writer: ParquetWriter::new(of.file(key)), gathered: rows.emptied() };
            Arc::new(OpenTable { key, waiting: Mutex::default(), file: Mutex::new(file) })
        };
        let table = Arc::clone(locked(&self.tables).entry(key).or_insert_with(open));
        let mut waiting = locked(&table.waiting);
        waiting.rows += rows.len();
        // Straight to the page, where nothing waits before them and nobody encodes.
        match table.file.try_lock().ok().filter(|_| waiting.is_empty()) {
            Some(mut file) => file.gathered.add(&mut rows),
            None => waiting.take(&mut rows),
        }
        if waiting.rows >= PAGE && !std::mem::replace(&mut waiting.is_due, true) {
            locked(&self.due).push_back(Arc::clone(&table));
        }
    }

    /// Encodes the tables that have rows for a page, but those that another thread encodes.
    pub(super) fn work(&self, of: &impl Tabled<Key = K>) {
        let mut left = Vec::new();
        let mut codec = None;
        loop {
            let Some(table) = locked(&self.due).pop_front() else { break };
            let is_after = locked(&table.waiting).rows > MOST;
            let is_free = {
                let file = match table.file.try_lock() {
                    Err(TryLockError::WouldBlock) if !is_after => None,
                    Ok(file) => Some(file),
                    Err(_) => Some(locked(&table.file)),
                };
                let encode = |mut file: MutexGuard<'_, OpenFile>| {
                    self.encode(of, &table, &mut file, codec.get_or_insert_with(|| self.codec()));
                };
                file.map(encode).is_some()
            };
            if !is_free {
                left.push(table);
            }
        }
        locked(&self.due).extend(left);
        locked(&self.codecs).extend(codec.and_then(Result::ok));
    }

    /// Encodes all pages that are full.
    fn encode(
        &self,
        of: &impl Tabled<Key = K>,
        table: &OpenTable<K>,
        file: &mut OpenFile,
        codec: &mut io::Result<PageCodec>,
    ) {
        let (mut encoded, mut emptied) = (0, None);
        loop {
            let (is_due, next) = locked(&table.waiting).next(encoded, emptied.take());
            if !is_due {
                break;
            }
            encoded = 0;
            if let Some(mut piece) = next {
                file.gathered.append(&mut piece);
                emptied = Some(piece);
            }
            while file.gathered.len() >= PAGE {
                self.page(of, table.key, file, codec);
                encoded += PAGE;
            }
        }
    }

    /// Encodes the next page, of all rows if there are fewer.
    fn page(
        &self,
        of: &impl Tabled<Key = K>,
        key: K,
        OpenFile { writer, gathered }: &mut OpenFile,
        codec: &mut io::Result<PageCodec>,
    ) {
        let count = gathered.len().min(PAGE);
        let mut write = |rows: &TableRows, codec: &mut io::Result<PageCodec>| match codec {
            Ok(codec) => writer.write(rows, count, codec),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        };
        let written = match gathered {
            Piece::Rows(rows) => write(rows, codec),
            Piece::Records(records) => {
                let mut used = codec.as_mut().map(|codec| std::mem::take(&mut codec.columns)).unwrap_or_default();
                let mut rows = TableRows::reusing(&mut used, of.columns(key));
                records.front(count, |records| of.add_rows(key, records, &mut rows));
                let written = write(&rows, codec);
                if let Ok(codec) = codec {
                    used.append(&mut rows.columns);
                    codec.columns = used;
                }
                written
            }
        };
        gathered.remove(count);
        if let Err(error) = written {
            self.fail(&writer.name, &error);
        }
        let piece = writer.take();
        if !piece.is_empty() {
            frame(&mut locked(&self.made), &writer.name, &piece);
        }
    }

    /// Appends the pieces of files that are made.
    pub(super) fn take(&self, out: &mut Vec<u8>) {
        out.append(&mut locked(&self.made));
    }

    /// Encodes the rows that are left of some tables, and ends their files, on as many threads as encoded before; false: there
    /// are no more. Those files get no more rows. `notes` gives the metadata of a table's file.
    pub(super) fn finish_some(
        &self,
        of: &(impl Tabled<Key = K> + Sync),
        notes: &(impl Fn(K) -> Vec<TableNote> + Sync),
        out: &mut Vec<u8>,
    ) -> bool {
        self.work(of);
        let threads = locked(&self.codecs).len().max(1);
        let some: Vec<_> = {
            let mut tables = locked(&self.tables);
            std::iter::from_fn(|| tables.pop_first()).take(threads * 8).map(|(_, table)| table).collect()
        };
        let is_last = some.is_empty();
        let next = Mutex::new(some.into_iter());
        let finish = || {
            let mut codec = self.codec();
            while let Some(table) = { locked(&next).next() } {
                self.finish(of, table, notes, &mut codec);
            }
            locked(&self.codecs).extend(codec.ok());
        };
        thread::scope(|scope| {
            // One that cannot be started is not needed.
            (1..threads).for_each(|_| drop(thread::Builder::new().spawn_scoped(scope, finish)));
            finish();
        });
        self.take(out);
        !is_last
    }

    /// Encodes the rows that are left of a table, and ends its file.
    fn finish(
        &self,
        of: &impl Tabled<Key = K>,
        table: Arc<OpenTable<K>>,
        notes: &impl Fn(K) -> Vec<TableNote>,
        codec: &mut io::Result<PageCodec>,
    ) {
        let Some(OpenTable { key, waiting, file }) = Arc::into_inner(table) else { return };
        let mut file = file.into_inner().unwrap_or_else(PoisonError::into_inner);
        let waiting = waiting.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut piece) = waiting.piece {
            file.gathered.append(&mut piece);
        }
        while file.gathered.len() > 0 {
            self.page(of, key, &mut file, codec);
        }
        let name = file.writer.name.clone();
        if let Ok(codec) = codec {
            match file.writer.finish(&notes(key), codec) {
                Ok(piece) => frame(&mut locked(&self.made), &name, &piece),
                Err(error) => self.fail(&name, &error),
            }
        }
    }

    fn codec(&self) -> io::Result<PageCodec> {
        locked(&self.codecs).pop().map_or_else(PageCodec::new, Ok)
    }

    fn fail(&self, name: &str, error: &io::Error) {
        locked(&self.failed).get_or_insert_with(|| format!("{name}: {error}"));
    }
}

impl WaitingRows {
    fn is_empty(&self) -> bool {
        self.piece.as_ref().is_none_or(|piece| piece.len() == 0)
    }

    fn take(&mut self, rows: &mut AddedRows<'_>) {
        let WaitingRows { piece, spare, .. } = self;
        piece.get_or_insert_with(|| spare.take().unwrap_or_else(|| rows.emptied())).add(rows);
    }

    /// True and the rows, if they make a page with those that were gathered; that many were encoded since, and a piece was
    /// `emptied`.
    fn next(&mut self, encoded: usize, emptied: Option<Piece>) -> (bool, Option<Piece>) {
        self.spare = emptied.or(self.spare.take());
        self.rows -= encoded;
        self.is_due = self.rows >= PAGE;
        (self.is_due, if self.is_due { self.piece.take() } else { None })
    }
}

/// A panic of another thread ends the export, so that it does not matter what it left.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
