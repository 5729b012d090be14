//! The recordings to be damaged: the project's own, some of ours in every version and compression, and the corpus where it
//! is available.

use crate::common::recording::{data, open, record};
use crate::common::synthetic::fork_storm;
use crate::common::trace_files::trace_files;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use std::path::Path;

/// A sound recording.
pub(super) struct Sound {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// The most bytes of a recording that is damaged; `many` allows for larger ones.
const MOST: usize = 160 << 10;
const MOST_OF_MANY: usize = 640 << 10;

/// All recordings, the same ones in the same order each time.
pub(super) fn recordings(many: bool) -> Vec<Sound> {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("trace.dat");
    let mut found = Vec::new();
    let mut keep = |name: String, from: &Path| {
        let bytes = std::fs::read(from).expect("a recording");
        if bytes.len() <= if many { MOST_OF_MANY } else { MOST } {
            found.push(Sound { name, bytes });
        }
    };
    for codec in [Codec::None, Codec::Zlib, Codec::Zstd] {
        for from in ["s390x/inst.dat", "i386/kprobe.dat", "vm-6.1/trig.dat"] {
            let stopped = record(&open(&data(from)), &path, codec, 3);
            stopped.writer.finish(&stopped.buffers, &stopped.spools).expect("a whole file");
            keep(format!("{from} recorded with {}", codec.name()), &path);
        }
        fork_storm(3, 1500, 40, 1).write(&path, Version::V7(codec));
        keep(format!("a fork storm with {}", codec.name()), &path);
    }
    fork_storm(2, 1000, 40, 2).write(&path, Version::V6);
    keep("a fork storm of version 6".to_owned(), &path);
    for file in trace_files() {
        let is_own = file.starts_with(env!("CARGO_MANIFEST_DIR")) && !file.to_string_lossy().contains("..");
        if many || is_own {
            keep(file.to_string_lossy().into_owned(), &file);
        }
    }
    found
}
