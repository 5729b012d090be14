//! Monitors of runtime verification (`rv/`, CONFIG_RV; Documentation/trace/rv/runtime-verification.rst): automata of the kernel's own,
//! which say `rv:error_NAME` where the machine does what their model does not allow.

use super::{Error, Feature, Journal, Tracefs};
use crate::kernel::events::glob_matches;

const ENABLED: &str = "rv/enabled_monitors";

/// True if `pattern` means the monitor `name`: by that, or by the monitor around it (`sched` is `sched:sco` and others).
fn means(pattern: &str, name: &str) -> bool {
    let (around, own) = name.split_once(':').unwrap_or((name, name));
    [name, around, own].into_iter().any(|name| glob_matches(pattern, name))
}

impl Tracefs {
    /// The monitors that can be enabled one by one: `wip`, or `sched:sco` of one that lies within another (since Linux 6.15).
    ///
    /// # Errors
    /// [`Error::NoFeature`] without CONFIG_RV; [`Error::File`].
    pub fn monitors(&self) -> Result<Vec<String>, Error> {
        self.require(&Feature::Monitors)?;
        let text = self.top().read("rv/available_monitors")?;
        let names: Vec<&str> = text.lines().map(str::trim).filter(|name| !name.is_empty()).collect();
        let is_around = |name: &str| names.iter().any(|other| other.split_once(':').is_some_and(|(it, _)| it == name));
        Ok(names.iter().filter(|name| !is_around(name)).map(|name| (*name).to_owned()).collect())
    }

    /// The monitors that a pattern means.
    ///
    /// # Errors
    /// As [`Tracefs::monitors`].
    pub fn monitors_of(&self, pattern: &str) -> Result<Vec<String>, Error> {
        Ok(self.monitors()?.into_iter().filter(|name| means(pattern, name)).collect())
    }
}

impl Journal {
    /// Enables a monitor that is not enabled, and switches monitoring on.
    ///
    /// # Errors
    /// As [`Journal::append`]: `EBUSY` if as many monitors of tasks are enabled as the kernel can run at once.
    pub fn enable_monitor(&mut self, name: &str) -> Result<(), Error> {
        let top = self.tracefs().top();
        self.set(&top, "rv/monitoring_on", "1")?;
        if top.read(ENABLED)?.lines().any(|line| line.trim() == name) {
            return Ok(());
        }
        self.append(&top, ENABLED, name, &format!("!{name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::means;

    #[test]
    fn a_monitor_has_three_names() {
        for (pattern, name, is) in [
            ("wip", "wip", true),
            ("sched", "sched:sco", true),
            ("sco", "sched:sco", true),
            ("s*", "sched:sco", true),
            ("sched:s?o", "sched:sco", true),
            ("sched", "rtapp:sleep", false),
            ("wip", "wwnr", false),
        ] {
            assert_eq!(means(pattern, name), is, "{pattern} {name}");
        }
    }
}
