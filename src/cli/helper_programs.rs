//! Programs that rtrace starts by itself, such as `duckdb`, `python3`, `less` and `virsh`: where they may lie.
//!
//! A directory of `PATH` is searched only if nobody but root and the user can put something into it. A command that the
//! user typed (`rtrace record CMD`) is the user's choice, and not looked up here.
//!
//! The program's version, and the name that it was called by.

use nix::unistd::{Gid, Group, geteuid};
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// The directories of `PATH` that are searched for helper programs, in its order.
#[derive(Debug)]
pub(crate) struct HelperPath(Vec<PathBuf>);

impl HelperPath {
    /// `PATH` of this process, without relative directories and those that others can write to.
    pub(crate) fn of_environment() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut dirs: Vec<PathBuf> = std::env::split_paths(&path).filter(|dir| check_owned(dir).is_ok()).collect();
        if dirs.is_empty() {
            // A shell takes an empty PATH for the current directory.
            dirs = ["/usr/bin", "/bin"].map(PathBuf::from).into();
        }
        HelperPath(dirs)
    }

    /// The file of `program`, a name without a slash.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        self.0.iter().map(|dir| dir.join(program)).find(|file| file.is_file() && check_owned(file).is_ok())
    }

    /// A command that runs the program at `file` and has these directories as its `PATH`.
    pub(crate) fn command(&self, file: &Path) -> Command {
        let mut command = Command::new(file);
        command.env("PATH", std::env::join_paths(&self.0).unwrap_or_default());
        command
    }
}

/// Fails, with the reason, if somebody but root and the effective user can change what lies at `path`: that file or
/// directory, a directory above it, a link on the way. Only absolute paths are looked at; a sticky directory protects
/// what lies in it.
pub(crate) fn check_owned(path: &Path) -> io::Result<()> {
    const MOST_LINKS: u32 = 40;
    let refused = |why: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    if !path.is_absolute() {
        return refused(format!("`{}` is relative", path.display()));
    }
    let (mut at, mut rest, mut links) = (PathBuf::new(), steps(path), 0);
    while let Some(step) = rest.pop() {
        match Path::new(&step).components().next() {
            Some(Component::RootDir) => at = PathBuf::from("/"),
            Some(Component::ParentDir) => _ = at.pop(),
            _ => at.push(step),
        }
        let found = fs::symlink_metadata(&at)?;
        if found.uid() != 0 && found.uid() != geteuid().as_raw() {
            return refused(format!("{} belongs to another user", at.display()));
        }
        if found.is_symlink() {
            links += 1;
            if links > MOST_LINKS {
                return refused(format!("{} has too many links", path.display()));
            }
            rest.extend(steps(&fs::read_link(&at)?));
            at.pop();
            continue;
        }
        let protected = found.is_dir() && found.mode() & STICKY != 0 && !rest.is_empty();
        if is_written_by_others(&found) && !protected {
            return refused(format!("others can write to {}", at.display()));
        }
    }
    Ok(())
}

const STICKY: u32 = 0o1000;

/// The components of a path, last first.
fn steps(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|step| step.as_os_str().to_owned()).collect()
}

/// True if its mode lets somebody else write: everybody, or a group with other members than root and the effective user.
fn is_written_by_others(found: &Metadata) -> bool {
    found.mode() & 0o002 != 0 || (found.mode() & 0o020 != 0 && !is_private_group(found.gid()))
}

/// True if root and the effective user are the group's only members, as in groups that a distribution makes per user.
fn is_private_group(gid: u32) -> bool {
    let Ok(Some(group)) = Group::from_gid(Gid::from_raw(gid)) else { return false };
    let user = geteuid().as_raw();
    let Ok(users) = fs::read("/etc/passwd") else { return false };
    // NAME:PASSWORD:UID:GID:...
    users.split(|byte| *byte == b'\n').map(|line| line.split(|byte| *byte == b':').collect::<Vec<_>>()).all(|line| {
        let number = |at: usize| line.get(at).and_then(|text| std::str::from_utf8(text).ok()?.parse::<u32>().ok());
        let name = line.first().copied().unwrap_or_default();
        let is_member = number(3) == Some(gid) || group.mem.iter().any(|member| member.as_bytes() == name);
        !is_member || number(2).is_some_and(|uid| uid == 0 || uid == user)
    })
}

/// Version, commit and features, as `--version` prints them.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("RTRACE_BUILD"), ")");

/// The name that messages begin with, so that a script that calls a link named `trace-cmd` shows what it called.
///
/// Called by any other name the program is `rtrace`: the first argument may be anything.
pub(crate) fn name() -> &'static str {
    let called = std::env::args_os().next();
    let file = called.as_deref().and_then(|path| Path::new(path).file_name());
    if file.is_some_and(|file| file == "trace-cmd") { "trace-cmd" } else { "rtrace" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_others_can_change_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        let allow = |name: &str, mode| fs::set_permissions(at(name), PermissionsExt::from_mode(mode)).expect("a mode");
        for name in ["own/bin", "open/bin", "sticky/bin"] {
            fs::create_dir_all(at(name)).expect("a folder");
            fs::write(at(name).join("program"), "").expect("a file");
        }
        symlink("own/bin", at("link")).expect("a link");
        symlink(at("open/bin"), at("through")).expect("a link");
        symlink("loop", at("loop")).expect("a link");
        allow("open", 0o777);
        allow("sticky", 0o1777);
        let refused = |name: &str| check_owned(&at(name)).err().map(|error| error.to_string()).unwrap_or_default();
        for name in ["own", "own/bin/program", "link/program", "own/../link", "sticky/bin/program"] {
            assert_eq!(refused(name), "", "{name}");
        }
        for (name, why) in [
            ("open", "others can write to"),
            ("open/bin/program", "others can write to"),
            ("open/../own", "others can write to"),
            ("sticky", "others can write to"),
            ("through", "others can write to"),
            ("loop", "too many links"),
            ("nothing", "No such file"),
        ] {
            assert!(refused(name).contains(why), "{name}: {}", refused(name));
        }
        assert!(check_owned(Path::new("own/bin")).is_err_and(|error| error.to_string().contains("relative")));
        assert!(check_owned(Path::new("")).is_err());
        allow("own/bin/program", 0o757);
        assert!(refused("own/bin/program").contains("others can write to"));
        if geteuid().is_root() {
            std::os::unix::fs::chown(at("own/bin"), Some(65534), None).expect("another owner");
            std::os::unix::fs::lchown(at("through"), Some(65534), None).expect("another owner");
            assert!(refused("own/bin").contains("another user") && refused("through").contains("another user"));
        }
    }

    #[test]
    fn a_group_of_the_user_alone_may_write() {
        assert!(is_private_group(if geteuid().is_root() { 0 } else { nix::unistd::getegid().as_raw() }));
        assert!(!is_private_group(u32::MAX - 1), "nobody knows who is in it");
    }
}
