//! Disks that are full soon.

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::fs;
use std::path::Path;

/// A filesystem of its own in memory, too small for what is written to it.
pub(crate) struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    /// Mounts it at a directory that is made for it.
    pub(crate) fn mount(at: &'a Path, size: &str) -> Self {
        fs::create_dir(at).unwrap();
        let options = Some(format!("size={size}"));
        mount(Some("tmpfs"), at, Some("tmpfs"), MsFlags::empty(), options.as_deref()).unwrap();
        SmallDisk(at)
    }

    /// Gives it another size.
    pub(crate) fn resize(&self, size: &str) {
        let options = Some(format!("size={size}"));
        mount(None::<&str>, self.0, None::<&str>, MsFlags::MS_REMOUNT, options.as_deref()).unwrap();
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        // At once, though a program that another test starts may hold a file of it until it is executed.
        let _ = umount2(self.0, MntFlags::MNT_DETACH);
    }
}
