//! A tracing directory.

use super::buffer::CopiedEvents;
use super::files::{Files, RealFiles};
use super::mount::{find_mounted, find_or_mount, lies_on_tracefs};
use super::{Error, Instance};
use crate::kernel::format::HeaderPage;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// True of a kernel in lockdown's mode confidentiality, which makes no file in tracefs; without securityfs, of one that was
/// booted so.
fn is_locked_down() -> bool {
    match std::fs::read_to_string("/sys/kernel/security/lockdown") {
        Ok(levels) => levels.contains("[confidentiality]"),
        Err(_) => std::fs::read_to_string("/proc/cmdline")
            .is_ok_and(|words| words.split_whitespace().any(|word| word == "lockdown=confidentiality")),
    }
}

/// More bytes than most kernels have in /proc/kallsyms: 5 MB with few modules, 12 MB with a distribution's.
const LARGE_KALLSYMS: usize = 16 << 20;

/// A mounted tracing directory: `/sys/kernel/tracing`, or whatever the caller named. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tracefs {
    root: Arc<Path>,
    files: Arc<dyn Files>,
}

impl Tracefs {
    /// The machine's own: found in /proc/mounts (tracefs, then debugfs); for root it is mounted if it is not.
    ///
    /// # Errors
    /// [`Error::NotMounted`], [`Error::Mount`], [`Error::NotRoot`].
    pub fn discover() -> Result<Self, Error> {
        Self::at(find_or_mount()?)
    }

    /// The machine's own, if it is mounted and open to this user: nothing is changed to get at it.
    pub fn mounted() -> Option<Self> {
        Self::at(find_mounted()?).ok()
    }

    /// The one at `root`.
    ///
    /// # Errors
    /// [`Error::NotRoot`] if it is closed to this user, [`Error::NotTracefs`] if it is something else.
    pub fn at(root: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::with_files(root, Arc::new(RealFiles))
    }

    /// A copy of `events`, or a directory with one, whose formats are read: nothing is written to it.
    ///
    /// # Errors
    /// As [`Tracefs::at`].
    pub fn formats_at(root: impl Into<PathBuf>) -> Result<Self, Error> {
        let tracefs = Tracefs { root: root.into().into(), files: Arc::new(RealFiles) };
        match tracefs.check_has(&["events"]) {
            Ok(()) => Ok(tracefs),
            Err(error) => {
                let copy = CopiedEvents::find(&tracefs.root).ok_or(error)?;
                Ok(Tracefs { files: Arc::new(copy), ..tracefs })
            }
        }
    }

    /// The one at `root`, reached through `files`.
    ///
    /// # Errors
    /// As [`Tracefs::at`].
    pub fn with_files(root: impl Into<PathBuf>, files: Arc<dyn Files>) -> Result<Self, Error> {
        let tracefs = Tracefs { root: root.into().into(), files };
        tracefs.check()?;
        Ok(tracefs)
    }

    /// Checks that the directory is a tracing directory, and still is one: it may have been unmounted.
    ///
    /// # Errors
    /// As [`Tracefs::at`].
    pub(super) fn check(&self) -> Result<(), Error> {
        self.check_has(&["events", "trace_clock"])
    }

    fn check_has(&self, wanted: &[&'static str]) -> Result<(), Error> {
        let path = || self.root.to_path_buf();
        let names = match self.files.list(&self.root) {
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => return Err(Error::NotRoot { path: path() }),
            Err(_) => return Err(Error::NotTracefs { path: path(), missing: "events" }),
            Ok(names) => names,
        };
        match wanted.iter().find(|wanted| !names.iter().any(|(name, _)| name == **wanted)) {
            Some(_) if names.is_empty() && is_locked_down() => Err(Error::LockedDown),
            Some(missing) => Err(Error::NotTracefs { path: path(), missing }),
            None => Ok(()),
        }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// True of the running kernel's tracing directory, false of a copy.
    pub fn is_live(&self) -> bool {
        lies_on_tracefs(&self.root)
    }

    pub(super) fn files(&self) -> &dyn Files {
        &*self.files
    }

    /// The top level.
    pub fn top(&self) -> Instance {
        Instance::top(self)
    }

    /// An existing instance.
    ///
    /// # Errors
    /// [`Error::InstanceName`], [`Error::NoInstance`].
    pub fn instance(&self, name: &str) -> Result<Instance, Error> {
        let instance = Instance::named(self, name)?;
        if self.files.exists(&instance.path("trace_clock"))
            || self.files.exists(&self.root.join("instances").join(name))
        {
            Ok(instance)
        } else {
            Err(Error::NoInstance { name: name.to_owned(), others: self.instances().unwrap_or_default() })
        }
    }

    /// The names of all instances, sorted.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn instances(&self) -> Result<Vec<String>, Error> {
        let names = self.list("instances")?;
        Ok(names.into_iter().filter(|(_, dir)| *dir).map(|(name, _)| name).collect())
    }

    /// Names in a directory below the root, `true` for directories, sorted.
    pub(super) fn list(&self, dir: &str) -> Result<Vec<(String, bool)>, Error> {
        self.files.list(&self.root.join(dir)).map_err(|e| Error::file("read", dir, None, e))
    }

    /// The bytes of a file below the root.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unsupported`].
    pub fn read_bytes(&self, file: &str) -> Result<Vec<u8>, Error> {
        self.files.read(&self.root.join(file)).map_err(|e| Error::file("read", file, None, e))
    }

    /// The layout of a sub-buffer's header, as text and parsed.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Content`] if it is not a header page's format.
    pub fn header_page(&self) -> Result<(String, HeaderPage), Error> {
        let file = "events/header_page";
        let text = self.top().read(file)?;
        let page = HeaderPage::parse(&text)
            .map_err(|error| Error::Content { file: file.to_owned(), text: error.to_string() })?;
        Ok((text, page))
    }

    /// `events/header_event`: the bits of an event's header, as text.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn header_event(&self) -> Result<String, Error> {
        self.top().read("events/header_event")
    }

    /// `printk_formats`: the addresses of constant trace_printk formats. Empty where the kernel has none.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn printk_formats(&self) -> Result<Vec<u8>, Error> {
        self.optional("printk_formats")
    }

    /// `saved_cmdlines`: `PID COMM` lines of tasks seen while tracing. A comm may hold any byte but NUL and newline.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn saved_cmdlines(&self) -> Result<Vec<u8>, Error> {
        self.optional("saved_cmdlines")
    }

    /// `saved_tgids`: `PID TGID` lines, filled while the option `record-tgid` is on.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn saved_tgids(&self) -> Result<Vec<u8>, Error> {
        self.optional("saved_tgids")
    }

    /// `dynamic_events`: probes and synthetic events, one definition per line.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn dynamic_events(&self) -> Result<Vec<u8>, Error> {
        self.optional("dynamic_events")
    }

    fn optional(&self, file: &str) -> Result<Vec<u8>, Error> {
        match self.files.read(&self.root.join(file)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            other => other.map_err(|e| Error::file("read", file, None, e)),
        }
    }

    /// /proc/kallsyms. All addresses are 0 where kptr_restrict hides them.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn kallsyms(&self) -> Result<Vec<u8>, Error> {
        let file = "/proc/kallsyms";
        // Its size is not to be known before. The unused part of this costs addresses only; a vector that grows is copied.
        let mut text = Vec::with_capacity(LARGE_KALLSYMS);
        let read = File::open(file).and_then(|mut file| file.read_to_end(&mut text));
        read.map(|_| text).map_err(|e| Error::file("read", file, None, e))
    }

    /// The types of the running kernel: `/sys/kernel/btf/vmlinux` (since Linux 5.4).
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Unsupported`] without CONFIG_DEBUG_INFO_BTF.
    pub fn kernel_btf(&self) -> Result<Vec<u8>, Error> {
        self.module_btf("vmlinux")
    }

    /// True if [`Tracefs::kernel_btf`] has types to give.
    pub fn has_kernel_types(&self) -> bool {
        Path::new("/sys/kernel/btf/vmlinux").exists()
    }

    /// The types that a loaded module adds to the kernel's: `/sys/kernel/btf/NAME` (since Linux 5.11).
    ///
    /// # Errors
    /// As [`Tracefs::kernel_btf`].
    pub fn module_btf(&self, module: &str) -> Result<Vec<u8>, Error> {
        let file = format!("/sys/kernel/btf/{module}");
        std::fs::read(&file).map_err(|e| Error::file("read", &file, None, e))
    }

    /// The loaded modules that [`Tracefs::module_btf`] has types of.
    pub fn modules_with_btf(&self) -> Vec<String> {
        let files = std::fs::read_dir("/sys/kernel/btf").into_iter().flatten().flatten();
        files.filter_map(|file| file.file_name().into_string().ok()).filter(|name| name != "vmlinux").collect()
    }
}
