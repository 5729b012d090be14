//! Knobs of which there is one for all instances, or that shape a ring buffer.

use super::core::Journal;
use crate::tracefs::{Error, Feature, Instance};

impl Journal {
    /// How deep function_graph follows calls (`max_graph_depth`); 0 for no limit.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn set_graph_depth(&mut self, depth: u32) -> Result<(), Error> {
        let top = self.tracefs().top();
        self.set(&top, "max_graph_depth", &depth.to_string()).map(drop)
    }

    /// How many tasks' names the kernel keeps (`saved_cmdlines_size`). Those it has are forgotten.
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

    /// Forgets the longest latency so far (`tracing_max_latency`).
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn forget_max_latency(&mut self, instance: &Instance) -> Result<(), Error> {
        self.set(instance, "tracing_max_latency", "0").map(drop)
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

    /// Sets the tracer (`current_tracer`).
    ///
    /// # Errors
    /// [`Error::NoFeature`] if this kernel does not have it; as [`Journal::set`].
    pub fn set_tracer(&mut self, instance: &Instance, tracer: &str) -> Result<(), Error> {
        if !instance.tracers()?.iter().any(|known| known == tracer) {
            let wanted = Feature::Tracer(tracer.to_owned());
            return Err(Error::NoFeature { what: wanted.name(), config: wanted.config() });
        }
        self.set(instance, "current_tracer", tracer).map(drop)
    }
}
