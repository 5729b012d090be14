//! A guest's FIFOs on its host.

use super::port::port_name;
use super::reader::FifoReader;
use nix::errno::Errno;
use nix::sys::stat::Mode;
use nix::unistd::{Gid, mkfifo};
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// Folder of all guests' FIFOs, trace-cmd's.
pub const FIFO_FOLDER: &str = "/var/lib/trace-cmd/virt";
/// More CPUs than any guest has.
const MAX_CPUS: u32 = 8192;
/// Mode of a guest's folder.
const FOLDER_MODE: u32 = 0o750;

/// The FIFOs of a guest on its host.
#[derive(Clone, Debug)]
pub struct GuestFifos(PathBuf);

impl GuestFifos {
    /// Those of the guest `name` below `folder`. `None` of a name that leads elsewhere.
    pub fn of(folder: &Path, name: &str) -> Option<Self> {
        let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
        is_name.then(|| GuestFifos(folder.join(name)))
    }

    /// The guest's folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The path of a CPU's pair, without `.in` and `.out`.
    pub fn path(&self, cpu: u32) -> PathBuf {
        self.0.join(port_name(cpu))
    }

    /// Opens those that the guest writes to, of all CPUs from 0 on that have one. Empty if there are none.
    ///
    /// # Errors
    /// The file system's, with the path.
    pub(in crate::control::network) fn open(&self) -> io::Result<Vec<FifoReader>> {
        let mut readers = Vec::new();
        for cpu in 0..MAX_CPUS {
            let path = self.path(cpu).with_extension("out");
            match FifoReader::open(&path) {
                Ok(reader) => readers.push(reader),
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
            }
        }
        Ok(readers)
    }

    /// Makes the FIFOs of `cpus`, with `mode` whatever the umask, of `group`. Those that are there get both, too.
    ///
    /// # Errors
    /// The file system's, with the path; [`io::ErrorKind::AlreadyExists`] if another kind of file has the name.
    pub fn create(&self, cpus: u32, mode: u32, group: Option<Gid>) -> io::Result<()> {
        let at = |path: &Path, error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let owned = |path: &Path| chown(path, None, group.map(Gid::as_raw));
        let folder = DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&self.0);
        folder.and_then(|()| owned(&self.0)).map_err(|error| at(&self.0, error))?;
        for cpu in 0..cpus {
            for end in ["in", "out"] {
                let path = self.path(cpu).with_extension(end);
                let made = match mkfifo(&path, Mode::from_bits_truncate(mode)) {
                    Err(Errno::EEXIST) if is_fifo(&path) => Ok(()),
                    made => made.map_err(io::Error::from),
                };
                let set = made.and_then(|()| owned(&path));
                set.and_then(|()| fs::set_permissions(&path, Permissions::from_mode(mode)))
                    .map_err(|error| at(&path, error))?;
            }
        }
        Ok(())
    }
}

fn is_fifo(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|file| file.file_type().is_fifo())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_made_once() {
        let dir = tempfile::tempdir().unwrap();
        for wrong in ["", "..", "a/b", ".hidden"] {
            assert!(GuestFifos::of(dir.path(), wrong).is_none(), "{wrong}");
        }
        let fifos = GuestFifos::of(dir.path(), "vm").unwrap();
        fifos.create(2, 0o620, None).unwrap();
        fifos.create(2, 0o640, None).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        let name = |cpu: u32, end: &str| dir.path().join(format!("vm/trace-pipe-cpu{cpu}.{end}"));
        assert_eq!((mode(&name(0, "in")), mode(&name(1, "out"))), (0o640, 0o640));
        fs::remove_file(name(1, "in")).unwrap();
        fs::write(name(1, "in"), "").unwrap();
        let error = fifos.create(2, 0o640, None).unwrap_err();
        assert!(error.to_string().contains("trace-pipe-cpu1.in"), "{error}");
    }
}
