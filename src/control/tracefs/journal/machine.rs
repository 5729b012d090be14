//! Knobs of which there is one for all instances, or that shape a ring buffer.

use super::core::Journal;
use super::undo::Undo;
use crate::control::tracefs::{Error, Feature, Instance, Tracefs, WriteMode};

/// One directory for each disk and each partition.
const BLOCK_DEVICES: &str = "/sys/class/block";
/// A directory for each disk or partition that blktrace(8) traces.
const OF_BLKTRACE: &str = "/sys/kernel/debug/block";

/// The switch of a device for the blk tracer.
fn enable_file(device: &str) -> String {
    format!("{BLOCK_DEVICES}/{device}/trace/enable")
}

impl Tracefs {
    /// The block devices that the blk tracer could see, sorted: disks and partitions, without those of no size (loop
    /// devices that are not in use). True for a whole disk.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn block_devices(&self) -> Result<Vec<(String, bool)>, Error> {
        let says = |name: &str, file: &str| self.read_bytes(&format!("{BLOCK_DEVICES}/{name}/{file}"));
        let names = self.list(BLOCK_DEVICES)?.into_iter().map(|(name, _)| name);
        let in_use = names.filter(|name| says(name, "size").is_ok_and(|size| size.trim_ascii() != b"0"));
        Ok(in_use.map(|name| (says(&name, "partition").is_err(), name)).map(|(disk, name)| (name, disk)).collect())
    }

    /// The files of the block devices that the blk tracer can see, without those that blktrace(8) traces, whose ring buffers
    /// are debugfs' `block/NAME/trace0`, ... None if they cannot be listed.
    pub(in crate::control::tracefs) fn traced_block_devices(&self) -> Vec<String> {
        let devices = self.list(BLOCK_DEVICES).unwrap_or_default();
        let is_of_blktrace = |name: &str| {
            self.list(&format!("{OF_BLKTRACE}/{name}")).is_ok_and(|all| all.iter().any(|(n, _)| n == "trace0"))
        };
        let files = devices.iter().filter(|(name, _)| !is_of_blktrace(name)).map(|(name, _)| enable_file(name));
        files.filter(|file| self.read_bytes(file).is_ok_and(|says| says.trim_ascii() == b"1")).collect()
    }
}

impl Journal {
    /// Depth of calls that function_graph follows (`max_graph_depth`); 0 for no limit.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn set_graph_depth(&mut self, depth: u32) -> Result<(), Error> {
        let top = self.tracefs().top();
        self.set(&top, "max_graph_depth", &depth.to_string()).map(drop)
    }

    /// Number of task names that the kernel keeps (`saved_cmdlines_size`). Those it has are forgotten.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn set_saved_cmdlines(&mut self, count: u32) -> Result<(), Error> {
        let top = self.tracefs().top();
        self.set(&top, "saved_cmdlines_size", &count.to_string()).map(drop)
    }

    /// From which latency or duration on something is traced, in microseconds (`tracing_thresh`); 0 for no limit.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn set_threshold(&mut self, micros: u64) -> Result<(), Error> {
        let top = self.tracefs().top();
        self.set(&top, "tracing_thresh", &micros.to_string()).map(drop)
    }

    /// Sets the longest latency so far (`tracing_max_latency`, in microseconds): only longer ones are traced. The kernel changes it from then on, so it is put back
    /// whatever it says now.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn set_max_latency(&mut self, instance: &Instance, micros: u64) -> Result<(), Error> {
        let file = instance.relative("tracing_max_latency");
        if !self.created(instance) {
            let _held = self.hold();
            let said = instance.read("tracing_max_latency")?;
            let write = said.trim().to_owned();
            self.note(Undo::Restore { file: file.clone(), said, write })?;
        }
        self.writer.write(&file, &micros.to_string(), WriteMode::Truncate)
    }

    /// Records events of these CPUs only (`tracing_cpumask`): hexadecimal, a comma every 8 digits.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn set_cpu_mask(&mut self, instance: &Instance, mask: &str) -> Result<(), Error> {
        self.set(instance, "tracing_cpumask", mask).map(drop)
    }

    /// Sets the size of a sub-buffer (`buffer_subbuf_size_kb`), which clears the ring buffer. The kernel rounds up to a
    /// power of two of memory pages.
    ///
    /// # Errors
    /// [`Error::NoFeature`] before Linux 6.8; as [`Journal::set`].
    pub fn set_sub_buffer_size(&mut self, instance: &Instance, kib: u64) -> Result<(), Error> {
        self.tracefs().require(&Feature::SubBufferSize)?;
        self.set(instance, "buffer_subbuf_size_kb", &kib.to_string()).map(drop)
    }

    /// Bytes that each event of a system call holds of a text or of data that the call was given by address
    /// (`syscall_user_buf_size`); 0 for none. Gives the size that the kernel took: it has a maximum of its own.
    ///
    /// # Errors
    /// [`Error::NoFeature`] before Linux 6.19; as [`Journal::set`].
    pub fn set_syscall_bytes(&mut self, instance: &Instance, bytes: u32) -> Result<u32, Error> {
        self.tracefs().require(&Feature::SyscallData)?;
        let said = self.set(instance, "syscall_user_buf_size", &bytes.to_string())?;
        said.parse().map_err(|_| Error::Content { file: instance.relative("syscall_user_buf_size"), text: said })
    }

    /// Lets the blk tracer see a disk or partition (`/sys/class/block/NAME/trace/enable`).
    ///
    /// # Errors
    /// As [`Journal::set`]; `EBUSY` while blktrace(8) traces it.
    pub fn trace_block_device(&mut self, name: &str) -> Result<(), Error> {
        let top = self.tracefs().top();
        self.set(&top, &enable_file(name), "1").map(drop)
    }

    /// The blk tracer sees no device any more.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn leave_block_devices(&mut self) -> Result<(), Error> {
        let tracefs = self.tracefs().clone();
        tracefs.traced_block_devices().iter().try_for_each(|file| self.set(&tracefs.top(), file, "0").map(drop))
    }

    /// Sets the tracer (`current_tracer`).
    ///
    /// # Errors
    /// Errors of [`Journal::require_tracer`]; as [`Journal::set`].
    pub fn set_tracer(&mut self, instance: &Instance, tracer: &str) -> Result<(), Error> {
        self.require_tracer(instance, tracer)?;
        self.set(instance, "current_tracer", tracer).map(drop)
    }

    /// Asks for a tracer before anything is set for it.
    ///
    /// # Errors
    /// [`Error::NoFeature`] if this kernel does not have it, [`Error::NoTracer`] if none has, [`Error::TopTracer`] if
    /// `instance` cannot have it; [`Error::File`].
    pub fn require_tracer(&self, instance: &Instance, tracer: &str) -> Result<(), Error> {
        let available = instance.tracers()?;
        if available.iter().any(|known| known == tracer) {
            return Ok(());
        }
        let wanted = Feature::Tracer(tracer.to_owned());
        if instance.name().is_some() && wanted.is_in(self.tracefs()) {
            return Err(Error::TopTracer { name: tracer.to_owned() });
        }
        Err(match wanted.config() {
            None => Error::NoTracer { name: tracer.to_owned(), available, lacking: Feature::tracer_near(tracer) },
            config => Error::NoFeature { what: wanted.name(), config },
        })
    }
}
