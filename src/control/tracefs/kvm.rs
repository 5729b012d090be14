//! Guests of this machine's KVM: the offsets of their time stamp counters from its own, which debugfs has.
//!
//! ```text
//! DIR/PID-FD/vcpuN/tsc-offset                    what KVM adds to the host's counter for that CPU of the guest
//!                  tsc-scaling-ratio             what it multiplies by before, 1 << tsc-scaling-ratio-frac-bits: not at all
//! ```
//!
//! PID is that of the process that runs the guest, FD a number of its own. The last two are there where the processor can scale.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Places of facts about guests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvmFolders {
    /// A folder for each guest.
    pub guests: PathBuf,
    /// A folder for each process, with its command line.
    pub processes: PathBuf,
}

impl Default for KvmFolders {
    fn default() -> Self {
        KvmFolders { guests: "/sys/kernel/debug/kvm".into(), processes: "/proc".into() }
    }
}

impl KvmFolders {
    /// The guest that has the context identifier `cid` for vsock.
    ///
    /// # Errors
    /// Why the offsets of its counters are not known.
    pub fn guest(&self, cid: u32) -> Result<KvmGuest, String> {
        let at = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
        let guests = fs::read_dir(&self.guests).map_err(|error| at(&self.guests, error))?;
        let is_its = |path: &PathBuf| {
            let pid = path.file_name()?.to_str()?.split_once('-')?.0.parse::<u32>().ok()?;
            let line = fs::read(self.processes.join(pid.to_string()).join("cmdline")).ok()?;
            (cid_in(&line) == Some(cid)).then_some(())
        };
        let mut found = guests.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_its(path).is_some());
        let folder = found.next().ok_or_else(|| format!("no process of a guest of KVM has guest-cid={cid}"))?;
        let mut cpus = Vec::new();
        for cpu in 0.. {
            let cpu = folder.join(format!("vcpu{cpu}"));
            if !cpu.is_dir() {
                break;
            }
            is_unscaled(&cpu)?;
            cpus.push(cpu.join("tsc-offset"));
        }
        let guest = KvmGuest { cpus };
        for cpu in 0..guest.cpus() {
            guest.offset(cpu).map_err(|error| error.to_string())?;
        }
        match guest.cpus.is_empty() {
            true => Err(format!("{} has no CPUs", folder.display())),
            false => Ok(guest),
        }
    }
}

/// A guest whose counters run as fast as this machine's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvmGuest {
    /// Each CPU's offset.
    cpus: Vec<PathBuf>,
}

impl KvmGuest {
    /// Number of its CPUs.
    pub fn cpus(&self) -> usize {
        self.cpus.len()
    }

    /// The offset that makes this machine's ticks those of the guest's CPU number `cpu`.
    ///
    /// # Errors
    /// The file system's, with the path; [`io::ErrorKind::InvalidData`] if it is no number.
    pub fn offset(&self, cpu: usize) -> io::Result<i64> {
        let path =
            self.cpus.get(cpu).ok_or_else(|| io::Error::other(format!("KVM knows no CPU {cpu} of the guest")))?;
        number(path)
    }
}

/// Checks that a CPU's counter is not scaled, or says so.
fn is_unscaled(cpu: &Path) -> Result<(), String> {
    let [ratio, bits] = ["tsc-scaling-ratio", "tsc-scaling-ratio-frac-bits"].map(|name| cpu.join(name));
    match (ratio.exists(), bits.exists()) {
        (false, false) => return Ok(()),
        (true, true) => {}
        _ => return Err(format!("{} has only one of two numbers about scaling", cpu.display())),
    }
    let numbers = number(&ratio).and_then(|ratio| Ok((ratio, number(&bits)?)));
    let (ratio, bits) = numbers.map_err(|error| error.to_string())?;
    let one = u32::try_from(bits).ok().and_then(|bits| 1i64.checked_shl(bits));
    match one == Some(ratio) {
        true => Ok(()),
        false => Err(format!("its counter is scaled by {ratio} >> {bits}")),
    }
}

fn number(path: &Path) -> io::Result<i64> {
    let at =
        |kind: io::ErrorKind, why: &dyn std::fmt::Display| io::Error::new(kind, format!("{}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| at(error.kind(), &error))?;
    text.trim().parse().map_err(|error| at(io::ErrorKind::InvalidData, &error))
}

/// The number after `guest-cid` in a command line: `-device vhost-vsock-pci,guest-cid=3`, or that in JSON, as libvirt writes it.
fn cid_in(line: &[u8]) -> Option<u32> {
    let line = String::from_utf8_lossy(line);
    let (_, rest) = line.split_once("guest-cid")?;
    let rest = rest.trim_start_matches(['"', '=', ':', ' ']);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like a host's, with one guest of two CPUs.
    fn host() -> (tempfile::TempDir, KvmFolders) {
        let dir = tempfile::tempdir().unwrap();
        let folders = KvmFolders { guests: dir.path().join("kvm"), processes: dir.path().join("proc") };
        put(&dir, "kvm/exits", "5\n");
        put(&dir, "proc/41/cmdline", "qemu\0-device\0vhost-vsock-pci,guest-cid=33\0");
        put(
            &dir,
            "proc/42/cmdline",
            "qemu\0-device\0{\"driver\":\"vhost-vsock-pci\",\"guest-cid\":3,\"vhostfd\":\"25\"}\0",
        );
        put(&dir, "kvm/41-11/vcpu0/tsc-offset", "-1\n");
        put(&dir, "kvm/42-12/vcpu0/tsc-offset", "-27950965013436847\n");
        put(&dir, "kvm/42-12/vcpu1/tsc-offset", "-27950965013436840\n");
        (dir, folders)
    }

    fn put(dir: &tempfile::TempDir, file: &str, text: &str) {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn offsets_of_a_guest() {
        let (dir, folders) = host();
        let guest = folders.guest(3).unwrap();
        let offsets = [0, 1].map(|cpu| guest.offset(cpu).unwrap());
        assert_eq!((guest.cpus(), offsets), (2, [-27_950_965_013_436_847, -27_950_965_013_436_840]));
        assert!(guest.offset(2).unwrap_err().to_string().contains("no CPU 2"));
        assert_eq!(folders.guest(33).unwrap().offset(0).unwrap(), -1);
        // AMD's one and Intel's.
        for (ratio, bits) in [("4294967296", "32"), ("281474976710656", "48")] {
            put(&dir, "kvm/42-12/vcpu1/tsc-scaling-ratio", ratio);
            put(&dir, "kvm/42-12/vcpu1/tsc-scaling-ratio-frac-bits", bits);
            assert!(folders.guest(3).is_ok(), "{ratio}");
        }
    }

    #[test]
    fn what_is_not_known_is_said() {
        let (dir, folders) = host();
        assert_eq!(folders.guest(4).unwrap_err(), "no process of a guest of KVM has guest-cid=4");
        put(&dir, "kvm/42-12/vcpu1/tsc-scaling-ratio", "300000000000000");
        assert!(folders.guest(3).unwrap_err().contains("only one of two"));
        put(&dir, "kvm/42-12/vcpu1/tsc-scaling-ratio-frac-bits", "48");
        assert_eq!(folders.guest(3).unwrap_err(), "its counter is scaled by 300000000000000 >> 48");
        for wrong in ["x", "", "99999999999999999999"] {
            put(&dir, "kvm/41-11/vcpu0/tsc-offset", wrong);
            assert!(folders.guest(33).unwrap_err().contains("vcpu0/tsc-offset: "), "{wrong}");
        }
        let nowhere = KvmFolders { guests: dir.path().join("none"), ..folders };
        assert!(nowhere.guest(3).unwrap_err().contains("No such file"));
    }
}
