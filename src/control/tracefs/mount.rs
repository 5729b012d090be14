//! The mount point of tracefs, or mounting it.

use super::Error;
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sys::statfs::{DEBUGFS_MAGIC, TRACEFS_MAGIC, statfs};
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

/// True if a directory lies on tracefs, or on debugfs, so that it is the kernel's.
pub(super) fn lies_on_tracefs(path: &Path) -> bool {
    let kind = statfs(path).map(|of| of.filesystem_type());
    kind.is_ok_and(|kind| kind == TRACEFS_MAGIC || kind == DEBUGFS_MAGIC)
}

/// A mounted tracefs or debugfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountPoint {
    /// `tracefs` or `debugfs`.
    pub kind: &'static str,
    /// Directory that it is mounted on.
    pub path: PathBuf,
    /// Its options, as the kernel shows them: `rw,relatime,gid=27,mode=750`.
    pub options: String,
}

/// The mounted tracefs and debugfs, from the text of /proc/mounts, in its order.
pub fn mount_points(mounts: &str) -> Vec<MountPoint> {
    let parsed = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let path = PathBuf::from(unescape(words.next()?));
        let kind = words.next()?;
        let kind = ["tracefs", "debugfs"].into_iter().find(|known| *known == kind)?;
        Some(MountPoint { kind, path, options: words.next().unwrap_or_default().to_owned() })
    });
    parsed.collect()
}

/// The same without mounting anything.
pub(super) fn find_mounted() -> Option<PathBuf> {
    find(&std::fs::read_to_string("/proc/mounts").unwrap_or_default())
}

/// Picks the tracing directory from the text of /proc/mounts; of several tracefs the usual place wins.
fn find(mounts: &str) -> Option<PathBuf> {
    let points = mount_points(mounts);
    let mounted = |kind: &str| {
        let mut paths = points.iter().filter(|point| point.kind == kind).map(|point| &point.path);
        paths.clone().find(|path| *path == Path::new(USUAL)).or_else(|| paths.next()).cloned()
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
        let points = mount_points("none /mnt/t tracefs rw,gid=27,mode=750 0 0\nproc /proc proc rw 0 0\n");
        let options = "rw,gid=27,mode=750".to_owned();
        assert_eq!(points, [MountPoint { kind: "tracefs", path: "/mnt/t".into(), options }]);
    }
}
