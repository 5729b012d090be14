//! The kernel's configuration, where it can be read.

use super::machine::ExaminedMachine;
use flate2::read::GzDecoder;
use std::collections::HashMap;
use std::io::Read;

/// More than the configuration of any kernel has, in bytes.
const LIMIT: u64 = 4 << 20;

/// The settings of `proc/config.gz`, or of `boot/config-RELEASE`.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// File that it was read from.
    pub(super) file: Option<String>,
    settings: HashMap<String, String>,
}

impl Config {
    /// Reads it; empty where no file can be read.
    pub(super) fn read(machine: &ExaminedMachine) -> Self {
        let gzip = machine.bytes("proc/config.gz").and_then(|packed| {
            let mut text = String::new();
            GzDecoder::new(&packed[..]).take(LIMIT).read_to_string(&mut text).ok()?;
            Some(("/proc/config.gz".to_owned(), text))
        });
        let release = machine.text("proc/sys/kernel/osrelease").unwrap_or_default();
        let found = gzip.or_else(|| {
            let file = format!("boot/config-{release}");
            Some((format!("/{file}"), machine.text(&file)?))
        });
        found.map_or_else(Config::default, |(file, text)| Config { file: Some(file), settings: parse(&text) })
    }

    /// The value of `CONFIG_NAME`: `y`, `m`, `n`; `None` if it is not known.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.file.as_ref()?;
        Some(self.settings.get(name).map_or("n", String::as_str))
    }
}

/// Options that are not set have no line, or a comment.
fn parse(text: &str) -> HashMap<String, String> {
    let lines = text.lines().filter(|line| line.starts_with("CONFIG_"));
    lines.filter_map(|line| line.split_once('=')).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_and_not_set() {
        let text = "# a comment\nCONFIG_KPROBES=y\nCONFIG_BLK=m\n# CONFIG_HIST_TRIGGERS is not set\n";
        let config = Config { file: Some("/proc/config.gz".into()), settings: parse(text) };
        let values = ["CONFIG_KPROBES", "CONFIG_BLK", "CONFIG_HIST_TRIGGERS"].map(|name| config.value(name));
        assert_eq!(values, [Some("y"), Some("m"), Some("n")]);
        assert_eq!(Config::default().value("CONFIG_KPROBES"), None);
    }
}
