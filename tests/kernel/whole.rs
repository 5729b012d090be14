//! Whole `trace` files: what `rtrace report --format kernel` prints of a buffer is what the kernel printed, line by line,
//! heading and columns included.

use crate::captured::{unknowable_left_out, without_addresses};
use crate::common::bounded::output_within;
use crate::common::not_run::not_run;
use crate::guest_machine::{Guest, Kernel, on_kernels};
use crate::whole_file::both;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

/// Of a pointer to text, 6.18 prints with the option `fields` an address of its own memory for the field's.
static OWN_ADDRESS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\(0x[0-9a-f]{16}(:[^)]*)?\)").expect("a pattern"));

/// The case whose triggers make the kernel discard events it has already begun to write. Such an event stays as padding
/// with the time since the one before, which the kernel's readers forget (kernel/trace/ring_buffer.c,
/// `rb_update_iter_read_stamp()` returns at padding) although all that follow count from it. We count it, so times
/// differ, and with them the order of the CPUs.
const DISCARDING: &str = "dynamic";

/// The lines in their own order, times left out.
fn timeless(text: &str) -> String {
    static TIME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" +\d+\.\d{6}: ").expect("a pattern"));
    let mut lines: Vec<_> = text.lines().map(|line| TIME.replace(line, ": ")).collect();
    lines.sort();
    lines.join("\n")
}

/// The number of comparisons.
#[derive(Default)]
pub(crate) struct Tally {
    lines: usize,
    events: BTreeSet<String>,
    cases: usize,
    /// True if the kernel printed a plain `%p` hashed, with a secret: only the kernel can know it.
    hashed: bool,
    /// By case and event the first line that differs, and how many do.
    differences: BTreeMap<(String, String), (String, usize)>,
}

impl Tally {
    pub(crate) fn of(hashed: bool) -> Self {
        Tally { hashed, ..Tally::default() }
    }

    pub(crate) fn case(&mut self, dir: &Path) {
        let (ours, kernel) = both(dir);
        let case = dir.file_name().expect("a name").to_string_lossy().into_owned();
        let (mut ours, mut kernel) = (String::from_utf8_lossy(&ours), String::from_utf8_lossy(&kernel));
        if case == DISCARDING {
            (ours, kernel) = (timeless(&ours).into(), timeless(&kernel).into());
        }
        self.cases += 1;
        let mut event = String::from("heading");
        for (kernel, our) in kernel.lines().zip(ours.lines()) {
            self.lines += 1;
            if let Some(name) = event_of(kernel) {
                event = name;
                self.events.insert(event.clone());
            }
            let known = |line: &str| {
                let mut line = unknowable_left_out(&event, line);
                if case.ends_with("fields") {
                    line = OWN_ADDRESS.replace_all(&line, "(0x)").into_owned();
                }
                if self.hashed { without_addresses(&line) } else { line }
            };
            let same = kernel == our || known(kernel) == known(our);
            if !same {
                let text = format!("  kernel: {kernel}\n  ours:   {our}");
                self.differences.entry((case.clone(), event.clone())).or_insert((text, 0)).1 += 1;
            }
        }
        let (theirs, mine) = (kernel.lines().count(), ours.lines().count());
        if theirs != mine {
            let text = format!("  kernel: {theirs} lines\n  ours:   {mine} lines");
            self.differences.insert((case, "count".into()), (text, theirs.abs_diff(mine)));
        }
    }

    #[track_caller]
    pub(crate) fn judge(&self, where_: &str, events: usize, lines: usize) {
        let line = format!(
            "{where_}: {} whole trace files, {} lines of {} events compared, {} differ\n",
            self.cases,
            self.lines,
            self.events.len(),
            self.differences.values().map(|d| d.1).sum::<usize>()
        );
        let _ = std::io::stderr().write_all(line.as_bytes());
        let shown: Vec<String> = self
            .differences
            .iter()
            .map(|((case, event), (text, n))| format!("{case}, {event}, {n} lines:\n{text}"))
            .collect();
        assert!(shown.is_empty(), "{line}{}", shown.join("\n"));
        assert!(self.events.len() >= events, "{line}only {} events, {events} wanted", self.events.len());
        assert!(self.lines >= lines, "{line}only {} lines, {lines} wanted", self.lines);
    }
}

/// The event that a line is of: what stands after the time, or the comment of function_graph.
fn event_of(line: &str) -> Option<String> {
    let line = line.strip_suffix(" */").unwrap_or(line);
    let text = match line.split_once("/* ") {
        Some((_, comment)) => comment,
        None => line.split_once(": ")?.1,
    };
    let word = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(word);
    match name.strip_prefix("sys_") {
        Some(call) if rest.starts_with(" -> ") => Some(format!("sys_exit_{call}")),
        Some(call) if rest.starts_with('(') => Some(format!("sys_enter_{call}")),
        _ if rest.starts_with(": ") && !name.is_empty() => Some(name.to_owned()),
        _ => None,
    }
}

/// The folders that `guest/whole` made in `dir`.
pub(crate) fn cases(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("the captures").map(|e| e.expect("an entry").path());
    let mut cases: Vec<PathBuf> = entries.filter(|path| path.join("header_page").exists()).collect();
    cases.sort();
    cases
}

/// This machine's own kernel: all of its events.
#[test]
fn on_this_machine() {
    if crate::common::long::is_left_out("whole::on_this_machine") {
        return;
    }
    let tracing = Path::new("/sys/kernel/tracing");
    if !tracing.join("events/sched").exists() {
        let _ = std::io::stderr().write_all(b"not run: tracefs cannot be read here (not root, or not mounted)\n");
        return;
    }
    let Some(load) = crate::load::program("load") else { return };
    let _alone = crate::load::alone_on_this_machine();
    let dir = tempfile::TempDir::new().expect("a temporary folder");
    let output = output_within(
        std::process::Command::new("sh")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/whole_host.sh"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/guest/whole"))
            .arg(dir.path())
            .arg(&load.path),
        Duration::from_secs(600),
    )
    .expect("the script starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut tally = Tally::default();
    for case in cases(dir.path()) {
        tally.case(&case);
    }
    tally.judge("this machine", 800, 300_000);
}

/// Modules that make more events, where the kernel has them in its package.
const MODULES: &[&str] = &["scsi_debug", "sd_mod", "dummy", "veth", "bridge", "vsock_loopback", "null_blk", "ext4"];

// All-tracers takes three minutes that CI has not: it is done when `RTRACE_WHOLE_ALL` is set.
on_kernels!(long in_guests: V6_1, V6_12, V7, AllTracers => |kernel| {
    if kernel == Kernel::AllTracers && std::env::var_os("RTRACE_WHOLE_ALL").is_none() {
        return not_run("whole trace files of all-tracers, which take three minutes: RTRACE_WHOLE_ALL=1 has them compared");
    }
    let Some(load) = crate::load::program("load") else { return };
    let module = crate::module::built_for(kernel);
    let files: Vec<&Path> = [Some(&load.path), module.as_ref().map(|m| &m.path)].into_iter().flatten().map(PathBuf::as_path).collect();
    let options: Vec<&str> = MODULES.iter().flat_map(|module| ["-m", module]).collect();
    let script = include_str!("whole.sh");
    let Some(guest) = Guest::run_with(&options, kernel, script, &files) else { return };
    let mut tally = Tally::of(kernel == Kernel::V6_1);
    for case in cases(&guest.file("")) {
        tally.case(&case);
    }
    tally.judge(&format!("{kernel:?}"), 400, 20_000);
});
