//! The mount point of tracefs, or mounting it.

use super::Error;
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use std::path::{Path, PathBuf};

/// The usual mount point, since Linux 4.1.
const USUAL: &str = "/sys/kernel/tracing";

/// The tracing directory of this machine: a mounted tracefs, else `tracing` in a mounted debugfs, else (as root) a
/// tracefs mounted now.
pub(super) fn find_or_mount() -> Result<PathBuf, Error> {
    if let Some(path) = find_mounted() {
        return Ok(path);
    }
    if !nix::unistd::geteuid().is_root() {
        return Err(Error::NotMounted);
    }
    match mount(Some("nodev"), USUAL, Some("tracefs"), MsFlags::empty(), None::<&str>) {
        Ok(()) | Err(Errno::EBUSY) => Ok(PathBuf::from(USUAL)), // busy: someone mounted it at this moment
        Err(errno) => Err(Error::Mount { path: PathBuf::from(USUAL), cause: errno.into() }),
    }
}

/// The same without mounting anything.
pub(super) fn find_mounted() -> Option<PathBuf> {
    find(&std::fs::read_to_string("/proc/mounts").unwrap_or_default())
}

/// Picks the tracing directory from the text of /proc/mounts; of several tracefs the usual place wins.
fn find(mounts: &str) -> Option<PathBuf> {
    let mounted = |kind: &str| {
        let paths: Vec<PathBuf> = mounts
            .lines()
            .filter_map(|line| {
                let mut words = line.split(' ').skip(1);
                let path = words.next()?;
                (words.next()? == kind).then(|| PathBuf::from(unescape(path)))
            })
            .collect();
        paths.iter().find(|p| *p == Path::new(USUAL)).cloned().or_else(|| paths.into_iter().next())
    };
    mounted("tracefs").or_else(|| mounted("debugfs").map(|path| path.join("tracing")))
}

/// Undoes the kernel's `\040` for blanks and the like.
fn unescape(path: &str) -> String {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let octal = tail.get(..3).and_then(|d| std::str::from_utf8(d).ok()).and_then(|d| u8::from_str_radix(d, 8).ok());
        match (byte, octal) {
            (b'\\', Some(value)) => {
                out.push(value);
                rest = &tail[3..];
            }
            _ => {
                out.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracefs_before_debugfs_and_the_usual_place_first() {
        let debug = "debugfs /sys/kernel/debug debugfs rw,relatime 0 0\n";
        assert_eq!(find(debug), Some(PathBuf::from("/sys/kernel/debug/tracing")));
        let both = format!("{debug}tracefs /mnt/a\\040b tracefs rw 0 0\n");
        assert_eq!(find(&both), Some(PathBuf::from("/mnt/a b")));
        let usual = format!("{both}none /sys/kernel/tracing tracefs rw 0 0\n");
        assert_eq!(find(&usual), Some(PathBuf::from(USUAL)));
        assert_eq!(find("proc /proc proc rw 0 0\nbroken\n"), None);
    }
}
