//! Noise of the operating system, and latencies of its timers, as the tracers osnoise and timerlat measure them
//! (kernel/trace/trace_osnoise.c; Documentation/trace/osnoise-tracer.rst and timerlat-tracer.rst).
//!
//! ```text
//! osnoise: noise:1713 max_sample:402 hw:0 nmi:0 irq:250 softirq:31 thread:1
//! timerlat: seq:43 context:0 timer_latency:2254757
//! irq_noise: local_timer:236 start 5.946893395 duration 182543 ns
//! ```

mod events;
mod osnoise;
#[cfg(test)]
mod tests;
mod timerlat;

pub use events::{NOISE_NEEDS, Noise, NoiseSource};
pub use osnoise::{CpuNoise, NoiseSample, Osnoise, OsnoiseReport};
pub use timerlat::{CpuTimer, Timerlat, TimerlatReport, TimerlatSample};
