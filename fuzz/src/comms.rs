//! Any text as `saved_cmdlines`: every pid has the name of the first line that names it.

use rtrace::symbols::Comms;
use rtrace::units::Pid;
use std::collections::BTreeMap;

pub(crate) fn run(text: &[u8]) {
    let mut first: BTreeMap<i32, &[u8]> = BTreeMap::new();
    for line in text.split(|byte| *byte == b'\n') {
        let mut words = line.splitn(2, |byte| *byte == b' ');
        let (Some(pid), Some(name)) = (words.next(), words.next()) else { continue };
        if let Some(pid) = std::str::from_utf8(pid).ok().and_then(|pid| pid.trim().parse().ok()) {
            first.entry(pid).or_insert(name);
        }
    }
    first.insert(0, b"<idle>");
    let comms = Comms::parse(text);
    for (pid, name) in &first {
        assert_eq!(comms.get(Pid(*pid)), Some(*name), "{pid}");
        for near in [pid.wrapping_add(1), pid.wrapping_sub(1)] {
            assert_eq!(comms.get(Pid(near)), first.get(&near).copied(), "{near}");
        }
    }
    let mut pids: Vec<i32> = comms.pids().map(|pid| pid.0).collect();
    pids.sort_unstable();
    assert!(pids.iter().eq(first.keys().filter(|pid| **pid != 0)));
}
