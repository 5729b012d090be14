//! Any bytes as the journal of a killed process (`BOOT` stands for this boot's id): an error, or no more steps than
//! lines and no instance outside of `instances`.

use rtrace::tracefs::find_orphans;
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::OnceLock;

/// A folder of this process, and this boot's id.
fn place() -> (PathBuf, String) {
    let dir = std::env::temp_dir().join(format!("rtrace-fuzz-journal-{}", std::process::id()));
    DirBuilder::new().mode(0o700).recursive(true).create(&dir).expect("a temporary folder");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("the boot's id");
    (dir, boot.trim().to_owned())
}

pub(crate) fn run(text: &str) {
    static PLACE: OnceLock<(PathBuf, String)> = OnceLock::new();
    let (dir, boot) = PLACE.get_or_init(place);
    let path = dir.join("1-0.journal");
    let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(&path).expect("a journal");
    file.write_all(text.replace("BOOT", boot).as_bytes()).expect("a journal");
    let found = find_orphans(dir);
    assert!(found.orphans.len() + found.unusable.len() <= 1, "one file");
    for orphan in found.orphans {
        assert!(orphan.len() <= text.lines().count());
        let _ = (orphan.pid(), orphan.command(), orphan.tracefs());
        for name in orphan.instances() {
            assert!(!name.is_empty() && !name.contains('/') && name != "." && name != "..", "{name:?}");
        }
    }
}
