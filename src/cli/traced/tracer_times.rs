//! Settings of the tracers hwlat, osnoise and timerlat.

use rtrace::filter::{CpuList, CpuListError};
use rtrace::record::{TracerSettings, TracerTime};
use rtrace::units::parse_duration;

/// Settings of the tracers hwlat, osnoise and timerlat, which all instances share.
#[derive(clap::Args, Clone)]
pub(crate) struct TracerArgs {
    /// hwlat: sample for TIME of each window, with interrupts disabled (microseconds, or with us, ms, s)
    #[arg(long, value_name = "TIME", value_parser = micros)]
    hwlat_width: Option<u64>,
    /// hwlat: one window each TIME
    #[arg(long, value_name = "TIME", value_parser = micros)]
    hwlat_window: Option<u64>,
    /// hwlat: threads: none, round-robin, per-cpu
    #[arg(long, value_name = "MODE")]
    hwlat_mode: Option<String>,
    /// osnoise: sample for TIME of each period
    #[arg(long, value_name = "TIME", value_parser = micros)]
    osnoise_runtime: Option<u64>,
    /// osnoise: one period each TIME
    #[arg(long, value_name = "TIME", value_parser = micros)]
    osnoise_period: Option<u64>,
    /// osnoise, timerlat: measure these CPUs only, as in 0-3,7
    #[arg(long, value_name = "CPUS", value_parser = |text: &str| text.parse::<CpuList>().map_err(|e: CpuListError| e.to_string()))]
    osnoise_cpus: Option<CpuList>,
    /// osnoise, timerlat: switch an option on, or with NO_ before it off: OSNOISE_WORKLOAD, PANIC_ON_STOP, ...
    #[arg(long = "osnoise-option", value_name = "OPTION")]
    osnoise_options: Vec<String>,
    /// Stop tracing at a single noise, or an interrupt latency of timerlat, beyond TIME; 0 for never
    #[arg(long, value_name = "TIME", value_parser = micros)]
    stop_tracing: Option<u64>,
    /// Stop tracing at a noise per period, or a thread latency of timerlat, beyond TIME; 0 for never
    #[arg(long, value_name = "TIME", value_parser = micros)]
    stop_tracing_total: Option<u64>,
    /// timerlat: one timer each TIME, 100 us to 1 s
    #[arg(long, value_name = "TIME", value_parser = micros)]
    timerlat_period: Option<u64>,
    /// timerlat: TIME between the timers of two CPUs, with --osnoise-option TIMERLAT_ALIGN
    #[arg(long, value_name = "TIME", value_parser = micros)]
    timerlat_align: Option<u64>,
    /// timerlat: the stack at the interrupt, if the thread is later than TIME; 0 for never
    #[arg(long, value_name = "TIME", value_parser = micros)]
    print_stack: Option<u64>,
}

impl TracerArgs {
    pub(super) fn settings(&self) -> TracerSettings {
        let times = [
            (TracerTime::HwlatWidth, self.hwlat_width),
            (TracerTime::HwlatWindow, self.hwlat_window),
            (TracerTime::OsnoiseRuntime, self.osnoise_runtime),
            (TracerTime::OsnoisePeriod, self.osnoise_period),
            (TracerTime::StopTracing, self.stop_tracing),
            (TracerTime::StopTracingTotal, self.stop_tracing_total),
            (TracerTime::TimerlatPeriod, self.timerlat_period),
            (TracerTime::TimerlatAlign, self.timerlat_align),
            (TracerTime::PrintStack, self.print_stack),
        ];
        let option = |text: &String| match text.strip_prefix("NO_") {
            Some(name) => (name.to_owned(), false),
            None => (text.clone(), true),
        };
        TracerSettings {
            times: times.into_iter().filter_map(|(time, value)| Some((time, value?))).collect(),
            hwlat_mode: self.hwlat_mode.clone(),
            cpus: self.osnoise_cpus.clone(),
            options: self.osnoise_options.iter().map(option).collect(),
        }
    }
}

/// Ids of the options, each with the tracers that look at it.
pub(super) const OF_TRACERS: [(&str, &[&str]); 12] = [
    ("hwlat_width", &["hwlat"]),
    ("hwlat_window", &["hwlat"]),
    ("hwlat_mode", &["hwlat"]),
    ("osnoise_runtime", &["osnoise"]),
    ("osnoise_period", &["osnoise"]),
    ("osnoise_cpus", &["osnoise", "timerlat"]),
    ("osnoise_options", &["osnoise", "timerlat"]),
    ("stop_tracing", &["osnoise", "timerlat"]),
    ("stop_tracing_total", &["osnoise", "timerlat"]),
    ("timerlat_period", &["timerlat"]),
    ("timerlat_align", &["timerlat"]),
    ("print_stack", &["timerlat"]),
];

/// Whole microseconds, of which the kernel's files are: `50`, `50us`, `0.5ms`, `1s`.
pub(crate) fn micros(text: &str) -> Result<u64, String> {
    let digits_only = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let time = if digits_only { parse_duration(&format!("{text}us")) } else { parse_duration(text) };
    let nanos = time.map_err(|error| error.to_string())?.as_nanos() as u64;
    match nanos % 1000 {
        0 => Ok(nanos / 1000),
        _ => Err(format!("`{text}` is no whole number of microseconds")),
    }
}

#[cfg(test)]
mod tests {
    use super::micros;

    #[test]
    fn times_are_whole_microseconds() {
        for (text, expected) in [("50", 50), ("50us", 50), ("0.5ms", 500), ("1s", 1_000_000), ("0", 0)] {
            assert_eq!(micros(text), Ok(expected), "{text}");
        }
        assert!(micros("50ns").unwrap_err().contains("whole number of microseconds"));
        assert!(micros("").is_err() && micros("5 us").is_err() && micros("-1").is_err());
    }
}
