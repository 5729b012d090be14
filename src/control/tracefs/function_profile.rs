//! The function profiler: hits and times of functions, per CPU in `trace_stat/functionN`.
//! The stack tracer: the deepest kernel stack that any function found.

use super::{Error, Instance, Journal, Tracefs, WriteMode};
use std::collections::BTreeMap;

/// One function, all CPUs added up. Times in microseconds; 0 on kernels without CONFIG_FUNCTION_GRAPH_TRACER, which count
/// only.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionProfile {
    /// Name of the function.
    pub name: String,
    /// Number of calls.
    pub hits: u64,
    /// Duration with all that it called, in microseconds.
    pub total_us: f64,
    /// The sum of the squares of each call's time, as far as the kernel's rounded numbers tell.
    squares: f64,
}

impl FunctionProfile {
    /// Reads what was counted on all CPUs, sorted by name.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Content`] with the line that is not a function's.
    pub fn read(tracefs: &Tracefs) -> Result<Vec<FunctionProfile>, Error> {
        let top = tracefs.top();
        let mut all: BTreeMap<String, FunctionProfile> = BTreeMap::new();
        for (file, _) in top.list("trace_stat")?.iter().filter(|(name, _)| name.starts_with("function")) {
            let file = format!("trace_stat/{file}");
            add(&mut all, &top.read(&file)?)
                .map_err(|line| Error::Content { file: file.clone(), text: line.to_owned() })?;
        }
        Ok(all.into_values().collect())
    }

    /// The mean of a call's time.
    pub fn average_us(&self) -> f64 {
        if self.hits == 0 { 0.0 } else { self.total_us / self.hits as f64 }
    }

    /// The standard deviation of a call's time.
    pub fn deviation_us(&self) -> f64 {
        if self.hits < 2 {
            return 0.0;
        }
        let n = self.hits as f64;
        ((self.squares - self.total_us * self.total_us / n) / (n - 1.0)).max(0.0).sqrt()
    }
}

/// Adds one CPU's table:
///
/// ```text
///   Function                               Hit    Time            Avg             s^2
///   --------                               ---    ----            ---             ---
///   schedule                                34    1021.345 us     30.039 us       10.5 us
/// ```
fn add<'a>(all: &mut BTreeMap<String, FunctionProfile>, text: &'a str) -> Result<(), &'a str> {
    for line in text.lines().skip(2).filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "us").collect();
        let number = |at: usize| words.get(at).map_or(Some(0.0), |word| word.parse::<f64>().ok());
        let parsed = (|| Some((*words.first()?, words.get(1)?.parse::<u64>().ok()?, number(2)?, number(4)?)))();
        let Some((name, hits, total, variance)) = parsed else { return Err(line) };
        let entry = all.entry(name.to_owned()).or_insert_with(|| FunctionProfile {
            name: name.to_owned(),
            hits: 0,
            total_us: 0.0,
            squares: 0.0,
        });
        entry.hits += hits;
        entry.total_us += total;
        if hits > 0 {
            // s^2 = (sum of squares - total^2 / n) / (n - 1)
            entry.squares += variance * (hits as f64 - 1.0) + total * total / hits as f64;
        }
    }
    Ok(())
}

impl Journal {
    /// Starts counting from zero (`function_profile_enabled`).
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn start_function_profile(&mut self) -> Result<(), Error> {
        let top: Instance = self.tracefs().top();
        // Switching it on empties the tables.
        self.set(&top, "function_profile_enabled", "0")?;
        self.set(&top, "function_profile_enabled", "1").map(drop)
    }
}

const SWITCH: &str = "/proc/sys/kernel/stack_tracer_enabled";

/// Findings of the stack tracer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackTrace {
    /// True if it looks.
    pub on: bool,
    /// The size of the deepest stack in bytes.
    pub max_size: u64,
    /// The kernel's table of it (`stack_trace`).
    pub text: String,
}

impl StackTrace {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unsupported`] without CONFIG_STACK_TRACER.
    pub fn read(tracefs: &Tracefs) -> Result<Self, Error> {
        let top = tracefs.top();
        let size = top.read("stack_max_size")?;
        let max_size = size.trim().parse();
        Ok(StackTrace {
            on: top.read(SWITCH)?.trim() != "0",
            max_size: max_size
                .map_err(|_| Error::Content { file: "stack_max_size".to_owned(), text: size.trim().to_owned() })?,
            text: top.read("stack_trace")?,
        })
    }
}

impl Journal {
    /// Switches the stack tracer on or off, to stay so (`/proc/sys/kernel/stack_tracer_enabled`).
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn switch_stack_tracer(&mut self, on: bool) -> Result<(), Error> {
        let top = self.tracefs().top();
        self.act(&top, SWITCH, if on { "1" } else { "0" }, WriteMode::Truncate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_added_up() {
        let table = |rows: &str| {
            format!(
                "  Function                               Hit    Time            Avg             s^2\n  --------                               ---    ----            ---             ---\n{rows}"
            )
        };
        let mut all = BTreeMap::new();
        // Calls of 1, 3 and 2, 6 us.
        add(
            &mut all,
            &table("  schedule                                 2    4.000 us        2.000 us        2.000 us    \n"),
        )
        .unwrap();
        add(&mut all, &table("  schedule                                 2    8.000 us        4.000 us        8.000 us    \n  vfs_read  1  5.000 us  5.000 us  0.000 us\n")).unwrap();
        let schedule = &all["schedule"];
        assert_eq!((schedule.hits, schedule.total_us, schedule.average_us()), (4, 12.0, 3.0));
        // Of 1, 3, 2, 6 the variance is (4 + 0 + 1 + 9) / 3.
        assert!((schedule.deviation_us() - (14.0f64 / 3.0).sqrt()).abs() < 1e-9);
        assert_eq!(all["vfs_read"].deviation_us(), 0.0);
        assert_eq!(add(&mut all, &table("  schedule many\n")).unwrap_err(), "  schedule many");
    }
}
