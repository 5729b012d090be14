//! Files without a name, which are gone with the process.

use nix::fcntl::{OFlag, open as open_file};
use nix::sys::stat::Mode;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A new file without a name in `dir`, which is gone with this process.
pub(super) fn unnamed(dir: &Path) -> io::Result<File> {
    let flags = OFlag::O_TMPFILE | OFlag::O_RDWR | OFlag::O_CLOEXEC;
    match open_file(dir, flags, Mode::S_IRUSR | Mode::S_IWUSR) {
        Ok(file) => Ok(file.into()),
        // File systems without such files.
        Err(_) => {
            let path: PathBuf = dir.join(format!(".rtrace-pipe-{}", std::process::id()));
            let file = File::options().read(true).write(true).create_new(true).open(&path)?;
            std::fs::remove_file(&path)?;
            Ok(file)
        }
    }
}
