//! A recording of a sender of ours, as it grows: the trace file and the spools, byte for byte what the sender makes.
//! Names of the files that a listener writes: `NAME.HOST:PORT.dat` after the peer, as trace-cmd names them.

use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::control::network::incoming::new_private;
use crate::control::network::transport::{Address, Host};
use crate::control::network::wire::{RingId, RingSizes};
use crate::control::record::Spool;
use crate::file::trace_dat::{Codec, FileLock, OptionId, Siblings, Trace, WriteError, spool_name};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Size of the chunk count at the start of a spool of chunks, in bytes.
const COUNT: u64 = 4;

/// An unfinished recording that is written to.
#[derive(Debug)]
pub(super) struct UnfinishedRecording {
    path: PathBuf,
    file: File,
    _lock: FileLock,
    len: u64,
    spools: Vec<Spool>,
    chunked: bool,
    /// Bytes that may still be written.
    left: u64,
}

/// A recording that a sender wants to go on with.
#[derive(Debug)]
pub(super) enum FoundFile {
    /// It is unfinished.
    Unfinished(UnfinishedRecording),
    /// It is complete, of this size and with these rings.
    Complete(u64, Vec<u64>),
}

/// Why bytes of a sender are not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum StoreError {
    #[error("failed to write {what}: {source}")]
    Io { what: &'static str, source: io::Error },
    #[error("it is as large as --max-size allows")]
    Full,
    #[error("{0}")]
    Refused(&'static str),
    #[error(transparent)]
    File(#[from] WriteError),
}

impl From<io::Error> for StoreError {
    fn from(source: io::Error) -> Self {
        StoreError::Io { what: "the file", source }
    }
}

impl UnfinishedRecording {
    /// Begins one in the empty `file`.
    pub(super) fn begin(
        path: PathBuf,
        file: File,
        rings: &[RingId],
        chunked: bool,
        most: Option<u64>,
    ) -> Result<Self, StoreError> {
        let _lock = FileLock::take(&file)?;
        let left = most.unwrap_or(u64::MAX);
        let mut new = UnfinishedRecording { path, file, _lock, len: 0, spools: Vec::new(), chunked, left };
        for ring in rings {
            let path = new.spool_path(ring);
            match Spool::create(&path, chunked) {
                Ok(spool) => new.spools.push(spool),
                Err(source) => {
                    new.remove();
                    // Two rings of one name, or a name that another recording has.
                    if source.kind() == io::ErrorKind::AlreadyExists {
                        return Err(StoreError::Refused("one of its spools is there already"));
                    }
                    let _ = fs::remove_file(path);
                    return Err(StoreError::Io { what: "a spool", source });
                }
            }
        }
        Ok(new)
    }

    fn spool_path(&self, ring: &RingId) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(spool_name(&name, &ring.buffer, CpuId(ring.cpu)))
    }

    /// Finds the recording of `id` at `path`, to go on with. The part of a chunk that a break left is cut off.
    pub(super) fn find(path: &Path, id: u64, rings: &[RingId], most: Option<u64>) -> Result<FoundFile, StoreError> {
        if !fs::symlink_metadata(path)?.is_file() {
            return Err(StoreError::Refused("it is not a file"));
        }
        let file = File::options().read(true).write(true).open(path)?;
        let _lock = FileLock::take(&file)?;
        let trace = Trace::open(file.try_clone()?).map_err(WriteError::from)?;
        if trace_id(&trace) != Some(id) {
            return Err(StoreError::Refused("it is another recording"));
        }
        let chunked = trace.prefix.codec != Codec::None;
        let Some(table) = &trace.spools else {
            if trace.option(OptionId::RTRACE_UNSAVED).is_some() {
                return Err(StoreError::Refused("it was completed meanwhile, with what had come by then"));
            }
            return Ok(FoundFile::Complete(file.metadata()?.len(), complete_sizes(&trace, rings, chunked)));
        };
        let known = table.entries.iter().map(|entry| (&entry.buffer, entry.cpu.0));
        if table.finishing || !known.eq(rings.iter().map(|ring| (&ring.buffer, ring.cpu))) {
            return Err(StoreError::Refused("its rings are others, or it is being completed"));
        }
        let beside = Siblings::of(path, &file)?;
        let mut spools = Vec::new();
        for entry in &table.entries {
            let spool = beside.open_spool(&entry.buffer, entry.cpu, true)?;
            let spool = spool.ok_or(StoreError::Refused("one of its spools is gone"))?;
            let whole = whole_end(&spool, trace.prefix.abi, chunked, entry.page_size)?;
            spool.set_len(whole)?;
            let path = beside.spool_path(&entry.buffer, entry.cpu);
            spools.push(Spool::resume(spool, path, chunked, whole));
        }
        let len = file.metadata()?.len();
        let held = len + spools.iter().map(Spool::len).sum::<u64>();
        let left = most.map_or(u64::MAX, |most| most.saturating_sub(held));
        Ok(FoundFile::Unfinished(UnfinishedRecording {
            path: path.to_owned(),
            file,
            _lock,
            len,
            spools,
            chunked,
            left,
        }))
    }

    /// The file's name.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Sizes of the file and its rings, in bytes.
    pub(super) fn sizes(&self) -> RingSizes {
        RingSizes { file: self.len, rings: self.spools.iter().map(Spool::len).collect() }
    }

    fn take(&mut self, len: usize) -> Result<(), StoreError> {
        self.left = self.left.checked_sub(len as u64).ok_or(StoreError::Full)?;
        Ok(())
    }

    /// Writes bytes of the trace file.
    pub(super) fn write(&mut self, at: u64, data: &[u8]) -> Result<(), StoreError> {
        let end = at.checked_add(data.len() as u64).filter(|_| at <= self.len);
        let end = end.ok_or(StoreError::Refused("bytes of the file come before those in front of them"))?;
        self.take(end.saturating_sub(self.len) as usize)?;
        self.file.write_all_at(data, at)?;
        self.len = self.len.max(end);
        Ok(())
    }

    /// Appends a chunk to the spool of the ring with that number. One that is there already, as after a break, is passed
    /// over.
    pub(super) fn append(&mut self, ring: u32, at: u64, data: &[u8]) -> Result<(), StoreError> {
        self.take(data.len())?;
        let chunked = self.chunked;
        let spool = self.spools.get_mut(ring as usize).ok_or(StoreError::Refused("there is no such ring"))?;
        if chunked && !is_chunk(data) {
            return Err(StoreError::Refused("a chunk is not as long as it says"));
        }
        match at.cmp(&spool.len()) {
            std::cmp::Ordering::Less => Ok(()),
            std::cmp::Ordering::Greater => Err(StoreError::Refused("a chunk is missing before one that came")),
            std::cmp::Ordering::Equal => {
                spool.append(data, 0).map_err(|e| StoreError::Io { what: "a spool", source: e.source })
            }
        }
    }

    /// Releases the file, to be completed by another.
    pub(super) fn release(self) -> PathBuf {
        self.path
    }

    /// Removes it.
    pub(super) fn remove(self) {
        self.spools.into_iter().for_each(Spool::remove);
        let _ = fs::remove_file(self.path);
    }
}

/// The TRACEID of a recording.
fn trace_id(trace: &Trace) -> Option<u64> {
    let bytes: [u8; 8] = trace.option(OptionId::TRACEID)?.data.as_slice().try_into().ok()?;
    Some(if trace.prefix.abi.endian == Abi::HOST.endian {
        u64::from_ne_bytes(bytes)
    } else {
        u64::from_ne_bytes(bytes).swap_bytes()
    })
}

/// The sizes that the spools of a complete recording had.
fn complete_sizes(trace: &Trace, rings: &[RingId], chunked: bool) -> Vec<u64> {
    let empty = if chunked { COUNT } else { 0 };
    let size = |ring: &RingId| {
        let buffer = trace.buffers.iter().find(|buffer| buffer.name == ring.buffer)?;
        buffer.cpus.iter().find(|data| data.cpu.0 == ring.cpu).map(|data| data.size)
    };
    rings.iter().map(|ring| size(ring).unwrap_or(empty)).collect()
}

/// True if the length at the start of a chunk is that of what follows its header, in either byte order.
fn is_chunk(data: &[u8]) -> bool {
    let Some((size, rest)) = data.split_first_chunk::<4>() else { return false };
    let len = rest.len().checked_sub(4).and_then(|len| u32::try_from(len).ok());
    len.is_some_and(|len| len == u32::from_le_bytes(*size) || len == u32::from_be_bytes(*size))
}

/// Offset of the end of the last whole chunk or sub-buffer of `spool`.
fn whole_end(spool: &File, abi: Abi, chunked: bool, page_size: u32) -> io::Result<u64> {
    let len = spool.metadata()?.len();
    if !chunked {
        return Ok(len - len % u64::from(page_size.max(1)));
    }
    let mut end = COUNT;
    loop {
        let mut size = [0; 4];
        if end + 8 > len || spool.read_exact_at(&mut size, end).is_err() {
            return Ok(end);
        }
        let size = if abi.endian == Abi::HOST.endian {
            u32::from_ne_bytes(size)
        } else {
            u32::from_ne_bytes(size).swap_bytes()
        };
        let next = end + 8 + u64::from(size);
        if next > len {
            return Ok(end);
        }
        end = next;
    }
}

/// The path of the recording `name` that a sender asks for; `None` if no listener gave such a name.
pub(super) fn path_of(dir: &Path, name: &str) -> Option<PathBuf> {
    is_ours(name).then(|| dir.join(name))
}

/// Names that one peer's address and port can have had before.
const TRIES: u32 = 1000;

/// Creates the file of a session, readable by its owner alone. A name that is taken gets a number: an address and port
/// repeat.
pub(super) fn create(dir: &Path, name: &str, peer: Address) -> io::Result<(PathBuf, File)> {
    for nth in 1..=TRIES {
        let path = dir.join(file_name(name, peer, nth));
        match new_private(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (path, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn file_name(name: &str, peer: Address, nth: u32) -> String {
    // No name server is asked, which can take seconds.
    let host = match peer.host().canonical() {
        Host::Ip(address) if address.is_loopback() => "localhost".to_owned(),
        Host::Ip(address) => address.to_string(),
        Host::Cid(cid) => format!("V{cid}"),
    };
    match nth {
        1 => format!("{name}.{host}:{}.dat", peer.port()),
        nth => format!("{name}.{host}:{}-{nth}.dat", peer.port()),
    }
}

/// True if `name` can be one that [`create`] gave: of a file in the listener's directory.
fn is_ours(name: &str) -> bool {
    name.ends_with(".dat") && !name.starts_with('.') && !name.contains(['/', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_chunk_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let chunk = [&3u32.to_ne_bytes()[..], &4096u32.to_ne_bytes(), b"abc"].concat();
        assert!(is_chunk(&chunk) && !is_chunk(&chunk[..10]) && !is_chunk(b"abc"));
        for (extra, whole) in [(0, 26), (1, 26), (9, 26), (11, 37)] {
            fs::write(&path, [&[0; 4][..], &chunk, &chunk, &chunk[..extra]].concat()).unwrap();
            let file = File::open(&path).unwrap();
            assert_eq!(whole_end(&file, Abi::HOST, true, 4096).unwrap(), whole, "{extra}");
        }
        fs::write(&path, [0; 5000]).unwrap();
        assert_eq!(whole_end(&File::open(&path).unwrap(), Abi::HOST, false, 4096).unwrap(), 4096);
    }

    #[test]
    fn bytes_go_where_they_belong_or_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.dat");
        let file = crate::control::network::incoming::new_private(&path).unwrap();
        let rings = [RingId { buffer: String::new(), cpu: 0 }];
        let mut recording = UnfinishedRecording::begin(path, file, &rings, true, Some(60)).unwrap();
        let chunk = [&3u32.to_ne_bytes()[..], &4096u32.to_ne_bytes(), b"abc"].concat();
        assert!(matches!(recording.write(1, b"x"), Err(StoreError::Refused(_))));
        recording.write(0, b"head").unwrap();
        recording.write(2, b"ADER").unwrap();
        assert!(matches!(recording.append(0, 15, &chunk), Err(StoreError::Refused(_))));
        assert!(matches!(recording.append(1, 4, &chunk), Err(StoreError::Refused(_))));
        recording.append(0, 4, &chunk).unwrap();
        recording.append(0, 4, &chunk).unwrap();
        assert_eq!(recording.sizes(), RingSizes { file: 6, rings: vec![15] });
        assert!(matches!(recording.append(0, 15, &[0; 40]), Err(StoreError::Full)));
        assert_eq!(fs::read(dir.path().join("t.dat")).unwrap(), b"heADER");
        recording.remove();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_senders_words_are_no_control_characters_of_a_file_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.dat");
        let file = crate::control::network::incoming::new_private(&path).unwrap();
        let rings = [RingId { buffer: "\x1b]0;a\x07/b".to_owned(), cpu: 0 }];
        UnfinishedRecording::begin(path, file, &rings, true, None).unwrap();
        let mut names =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.any(|name| name == ".t.dat._]0;a__b.cpu0.spool"));
    }

    #[test]
    fn names_are_trace_cmds_and_new() {
        let dir = tempfile::tempdir().unwrap();
        let name = |peer: &str| {
            let (path, _) = create(dir.path(), "trace", Address::resolve(peer, None).unwrap()[0]).unwrap();
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(name("127.0.0.1:4242"), "trace.localhost:4242.dat");
        assert_eq!(name("127.0.0.1:4242"), "trace.localhost:4242-2.dat");
        assert_eq!(name("[::ffff:10.1.2.3]:7"), "trace.10.1.2.3:7.dat");
        assert_eq!(name("@3:1027"), "trace.V3:1027.dat");
        assert!(is_ours("trace.localhost:4242.dat"));
        for other in ["../trace.dat", "a/b.dat", ".dat", "trace.dat.cpu0.spool", ".trace.dat.cpu0.spool", "", "a\0.dat"]
        {
            assert!(!is_ours(other), "{other}");
        }
    }
}
