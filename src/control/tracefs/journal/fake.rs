//! A kernel for tests: files in memory that answer as tracefs does, and a write that fails when asked to.

use crate::control::tracefs::{Files, Tracefs, WriteMode};
use nix::errno::Errno;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

pub(super) const EVENTS: [(&str, &str); 4] =
    [("irq", "irq_handler_entry"), ("sched", "sched_switch"), ("sched", "sched_waking"), ("timer", "timer_start")];
const CLOCKS: [&str; 3] = ["local", "mono", "x86-tsc"];
const TRIGGERS: &str = "# Available triggers:\n# traceon traceoff stacktrace enable_event disable_event\n";

/// One instance's state.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FakeState {
    enabled: [bool; 4],
    filters: [String; 4],
    triggers: [Vec<String>; 4],
    clock: usize,
    buffer_kib: u64,
    tracing_on: bool,
    options: BTreeMap<String, bool>,
    event_pids: Vec<String>,
    /// Clearing is what a needless write of the clock would do.
    cleared: u32,
    error_log: String,
}

#[derive(Debug)]
pub(super) struct Fake {
    instances: BTreeMap<String, FakeState>,
    /// Counts down with each change; the one at 0 fails.
    pub(super) fail_in: Option<usize>,
    pub(super) writes: usize,
}

#[derive(Clone, Debug)]
struct FakeFiles(pub(super) Arc<Mutex<Fake>>);

impl FakeState {
    fn new() -> Self {
        FakeState {
            enabled: [false; 4],
            filters: std::array::from_fn(|_| "none\n".to_owned()),
            triggers: Default::default(),
            clock: 0,
            buffer_kib: 1410,
            tracing_on: true,
            options: [("sym-addr", false), ("overwrite", true), ("event-fork", false)]
                .map(|(k, v)| (k.to_owned(), v))
                .into(),
            event_pids: Vec::new(),
            cleared: 0,
            error_log: String::new(),
        }
    }

    fn read(&self, file: &str) -> Option<String> {
        let bit = |on: bool| if on { "1\n".to_owned() } else { "0\n".to_owned() };
        let many = |which: &mut dyn Iterator<Item = usize>| {
            let on: Vec<bool> = which.map(|i| self.enabled[i]).collect();
            match (on.iter().all(|b| *b), on.iter().any(|b| *b)) {
                (true, _) => "1\n".to_owned(),
                (_, true) => "X\n".to_owned(),
                _ => "0\n".to_owned(),
            }
        };
        let names = |keep: &dyn Fn(usize) -> bool| {
            (0..4).filter(|i| keep(*i)).map(|i| format!("{}:{}\n", EVENTS[i].0, EVENTS[i].1)).collect::<String>()
        };
        Some(match file.split('/').collect::<Vec<_>>().as_slice() {
            ["available_events"] => names(&|_| true),
            ["set_event"] => names(&|i| self.enabled[i] || self.is_held_ready(i)),
            ["events", "enable"] => many(&mut (0..4)),
            ["events", system, "enable"] => many(&mut (0..4).filter(|i| EVENTS[*i].0 == *system)),
            ["events", system, event, file] => {
                let i = EVENTS.iter().position(|e| *e == (*system, *event))?;
                match *file {
                    "enable" if !self.is_held_ready(i) => bit(self.enabled[i]),
                    "enable" => bit(self.enabled[i]).replace('\n', "*\n"),
                    "filter" => self.filters[i].clone(),
                    "trigger" if self.triggers[i].is_empty() => TRIGGERS.to_owned(),
                    "trigger" => self.triggers[i]
                        .iter()
                        .map(|t| if t.starts_with("hist:") { format!("{t}\n") } else { format!("{t}:unlimited\n") })
                        .collect(),
                    _ => return None,
                }
            }
            ["trace_clock"] => {
                let word = |(i, c): (usize, &&str)| if i == self.clock { format!("[{c}]") } else { (*c).to_owned() };
                CLOCKS.iter().enumerate().map(word).collect::<Vec<_>>().join(" ") + "\n"
            }
            ["buffer_size_kb"] => format!("{}\n", self.buffer_kib),
            ["tracing_on"] => bit(self.tracing_on),
            ["options", name] => bit(*self.options.get(*name)?),
            ["set_event_pid"] => self.event_pids.iter().map(|pid| format!("{pid}\n")).collect(),
            ["error_log"] => self.error_log.clone(),
            _ => return None,
        })
    }

    fn write(&mut self, file: &str, text: &str, mode: WriteMode) -> Result<(), Errno> {
        let text = text.trim();
        let bit = || match text {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(Errno::EINVAL),
        };
        match file.split('/').collect::<Vec<_>>().as_slice() {
            ["events", "enable"] => self.enabled = [bit()?; 4],
            ["events", system, "enable"] => {
                for i in (0..4).filter(|i| EVENTS[*i].0 == *system) {
                    self.enabled[i] = bit()?;
                }
            }
            ["events", system, event, file] => {
                let i = EVENTS.iter().position(|e| *e == (*system, *event)).ok_or(Errno::ENOENT)?;
                match *file {
                    "enable" => self.enabled[i] = bit()?,
                    "filter" => self.filter(i, text)?,
                    "trigger" => self.trigger(i, text, mode)?,
                    _ => return Err(Errno::ENOENT),
                }
            }
            ["trace_clock"] => {
                self.clock = CLOCKS.iter().position(|c| *c == text).ok_or(Errno::EINVAL)?;
                self.cleared += 1;
            }
            ["buffer_size_kb"] => {
                let kib: u64 = text.parse().map_err(|_| Errno::EINVAL)?;
                // whole sub-buffers of 4080 bytes
                self.buffer_kib = (kib * 1024).div_ceil(4080) * 4080 / 1024;
            }
            ["tracing_on"] => self.tracing_on = bit()?,
            ["options", name] => *self.options.get_mut(*name).ok_or(Errno::ENOENT)? = bit()?,
            ["set_event_pid"] => {
                if mode == WriteMode::Truncate {
                    self.event_pids.clear();
                }
                self.event_pids.extend(text.split_whitespace().map(str::to_owned));
                self.event_pids.sort();
                self.event_pids.dedup();
            }
            _ => return Err(Errno::ENOENT),
        }
        Ok(())
    }

    /// True if the event has triggers or one may enable it: the kernel lists it as enabled from then on.
    fn is_held_ready(&self, i: usize) -> bool {
        let trigger = format!("enable_event:{}:{}", EVENTS[i].0, EVENTS[i].1);
        !self.triggers[i].is_empty() || self.triggers.iter().flatten().any(|text| *text == trigger)
    }

    fn filter(&mut self, i: usize, text: &str) -> Result<(), Errno> {
        if text == "0" {
            self.filters[i] = "none\n".to_owned();
        } else if text.starts_with("common_pid") {
            self.filters[i] = format!("{text}\n");
        } else {
            self.filters[i] = format!("{text}\n^\nparse_error: Field not found\n");
            self.error_log = format!(
                "[    1.5] event filter parse error: error: Field not found\n  Command: {text}\n           ^\n"
            );
            return Err(Errno::EINVAL);
        }
        Ok(())
    }

    /// As the kernel with hist variables: `hist:ref:SYS:EV` refers to the `hist:var` of an event, which then stays.
    fn trigger(&mut self, i: usize, text: &str, mode: WriteMode) -> Result<(), Errno> {
        if mode == WriteMode::Truncate {
            self.triggers[i].clear();
        }
        let referred = |i: usize| format!("hist:ref:{}:{}", EVENTS[i].0, EVENTS[i].1);
        match text.strip_prefix('!') {
            Some(text) => {
                if text == "hist:var" && self.triggers.iter().flatten().any(|t| *t == referred(i)) {
                    return Err(Errno::EBUSY);
                }
                if text.starts_with("hist:") && !self.triggers[i].iter().any(|t| t == text) {
                    return Err(Errno::ENOENT);
                }
                self.triggers[i].retain(|t| t != text);
            }
            None if self.triggers[i].iter().any(|t| t == text) => return Err(Errno::EEXIST),
            None if text.starts_with("hist:ref:") => {
                let to = (0..4).find(|to| referred(*to) == text).ok_or(Errno::EINVAL)?;
                if !self.triggers[to].iter().any(|t| t == "hist:var") {
                    return Err(Errno::EINVAL);
                }
                self.triggers[i].push(text.to_owned());
            }
            None => self.triggers[i].push(text.to_owned()),
        }
        Ok(())
    }
}

impl Fake {
    pub(super) fn tracefs() -> (Tracefs, Arc<Mutex<Fake>>) {
        let fake = Fake { instances: [(String::new(), FakeState::new())].into(), fail_in: None, writes: 0 };
        let fake = Arc::new(Mutex::new(fake));
        (Tracefs::with_files("/fake", Arc::new(FakeFiles(fake.clone()))).unwrap(), fake)
    }

    /// Everything that must be as before; the error_log is a log.
    pub(super) fn snapshot(&self) -> String {
        let mut instances = self.instances.clone();
        instances.values_mut().for_each(|state| {
            state.error_log.clear();
            state.cleared = 0;
        });
        format!("{instances:#?}")
    }

    pub(super) fn cleared(&self) -> u32 {
        self.instances[""].cleared
    }

    fn change(&mut self) -> io::Result<()> {
        self.writes += 1;
        match &mut self.fail_in {
            Some(0) => {
                self.fail_in = None;
                Err(Errno::ENOMEM.into())
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// The instance, and the file in it.
fn place(path: &Path) -> (String, String) {
    let file = path.strip_prefix("/fake").unwrap().to_str().unwrap();
    match file.strip_prefix("instances/") {
        None => (String::new(), file.to_owned()),
        Some(rest) => match rest.split_once('/') {
            None => (rest.to_owned(), String::new()),
            Some((name, file)) => (name.to_owned(), file.to_owned()),
        },
    }
}

impl Files for FakeFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let (instance, file) = place(path);
        let fake = self.0.lock().unwrap();
        let text = fake.instances.get(&instance).and_then(|state| state.read(&file));
        text.map(String::into_bytes).ok_or_else(|| Errno::ENOENT.into())
    }

    fn write(&self, path: &Path, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
        let (instance, file) = place(path);
        let mut fake = self.0.lock().unwrap();
        fake.change()?;
        let state = fake.instances.get_mut(&instance).ok_or(Errno::ENOENT)?;
        Ok(state.write(&file, std::str::from_utf8(bytes).unwrap(), mode)?)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut fake = self.0.lock().unwrap();
        fake.change()?;
        match fake.instances.insert(place(path).0, FakeState::new()) {
            None => Ok(()),
            Some(_) => Err(Errno::EEXIST.into()),
        }
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut fake = self.0.lock().unwrap();
        fake.change()?;
        let name = place(path).0;
        match fake.instances.get(&name) {
            None => Err(Errno::ENOENT.into()),
            Some(state) if state.triggers.iter().flatten().next().is_some() => Err(Errno::EBUSY.into()),
            Some(_) => {
                fake.instances.remove(&name);
                Ok(())
            }
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<(String, bool)>> {
        let (instance, file) = place(path);
        let fake = self.0.lock().unwrap();
        let dirs = |names: Vec<&str>| {
            let mut names: Vec<(String, bool)> = names.into_iter().map(|name| (name.to_owned(), true)).collect();
            names.sort();
            names.dedup();
            names
        };
        if path == Path::new("/fake") {
            return Ok(dirs(vec!["events", "trace_clock"]));
        }
        if file.is_empty() || !fake.instances.contains_key(&instance) {
            return Err(Errno::ENOENT.into());
        }
        Ok(match file.split('/').collect::<Vec<_>>().as_slice() {
            ["events"] => dirs(EVENTS.iter().map(|e| e.0).collect()),
            ["events", system] => dirs(EVENTS.iter().filter(|e| e.0 == *system).map(|e| e.1).collect()),
            _ => return Err(Errno::ENOENT.into()),
        })
    }

    fn exists(&self, path: &Path) -> bool {
        let (instance, file) = place(path);
        let fake = self.0.lock().unwrap();
        fake.instances.get(&instance).is_some_and(|state| file.is_empty() || state.read(&file).is_some())
    }
}
