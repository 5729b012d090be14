//! Hist triggers against what kernels took, echoed and refused.

use rtrace::format::EventFormat;
use rtrace::hist::spec::{CheckContext, Echo, Features, HistSpec, Neighbour};
use std::fs;
use std::path::{Path, PathBuf};

const KERNELS: [&str; 5] = ["vm-6.1", "vm-6.12", "arm64", "i386", "s390x"];

fn data(kernel: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hist").join(kernel)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn files(kernel: &str, extension: &str) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(data(kernel))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    found.sort();
    found
}

/// The hist triggers of a `.cmd` file: system, event, what was written.
fn commands(text: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some((event, spec)) = line.split_once(" <- ") {
            let (system, event) = event.split_once('/').unwrap();
            found.push((system.to_owned(), event.to_owned(), spec.to_owned()));
        } else if let Some((_, rest)) = line.split_once("echo '")
            && let Some((spec, target)) = rest.rsplit_once("' >")
            && spec.starts_with("hist:")
        {
            let path = target.trim_start_matches('>').trim().strip_prefix("events/").unwrap();
            let (system, rest) = path.split_once('/').unwrap();
            let event = rest.strip_suffix("/trigger").unwrap();
            found.push((system.to_owned(), event.to_owned(), spec.to_owned()));
        }
    }
    found
}

fn format(kernel: &str, system: &str, event: &str) -> Option<EventFormat> {
    let path = data(kernel).join("events").join(system).join(event).join("format");
    let text = fs::read_to_string(path).ok().or_else(|| {
        let synth = data(kernel).join("synth-onmatch.format");
        (event == "wakeup_latency").then(|| read(&synth))
    })?;
    Some(EventFormat::parse(system, &text).unwrap_or_else(|e| panic!("{kernel} {system} {event}: {e}")))
}

fn features(kernel: &str) -> Features {
    match fs::read_to_string(data(kernel).join("file-README")) {
        Ok(readme) => Features::from_readme(&readme),
        Err(_) => Features { no_hitcount: false, common_stacktrace: false, ..Features::ALL }, // the others are 6.1
    }
}

#[test]
fn every_command_prints_back_and_is_taken() {
    let mut count = 0;
    for kernel in KERNELS {
        for path in files(kernel, "cmd") {
            let mut neighbours: Vec<Neighbour> = Vec::new();
            for (system, event, text) in commands(&read(&path)) {
                let spec =
                    HistSpec::parse(&text).unwrap_or_else(|e| panic!("{}: {}", path.display(), e.diagnostic(&text)));
                assert_eq!(spec.to_string().parse(), Ok(spec.clone()), "{text}");
                let failed = path.with_extension("failed");
                let format = format(kernel, &system, &event).unwrap_or_else(|| panic!("{system}/{event}"));
                let around = CheckContext {
                    event: &format,
                    features: features(kernel),
                    neighbours: Some(&neighbours),
                    lookup: None,
                };
                let checked = spec.check(&around);
                let refused = failed.exists() || (kernel == "vm-6.1" && path.ends_with("synth-stack.cmd"));
                assert_eq!(checked.is_err(), refused, "{kernel}: {text}: {checked:?}");
                if checked.is_ok() {
                    neighbours.push(Neighbour { system, event, spec });
                }
                count += 1;
            }
        }
    }
    assert!(count >= 110, "{count} commands");
}

#[test]
fn echoes_equal_our_normal_form() {
    let mut count = 0;
    for kernel in KERNELS {
        for path in files(kernel, "trigger") {
            let text = read(&path);
            for line in text.lines() {
                let echo = Echo::parse(line).unwrap_or_else(|e| panic!("{}: {}", path.display(), e.diagnostic(line)));
                // Our words for the kernel's words are the kernel's words.
                let plain = line.rsplit_once(" [").unwrap().0;
                let plain = plain.replace("keys=stacktrace", "keys=common_stacktrace");
                assert_eq!(echo.spec.echo(), plain, "{}", path.display());
                // Our text of its removal is the same trigger.
                assert_eq!(HistSpec::parse(&echo.spec.to_string()).unwrap().normal(), echo.spec, "{line}");
            }
            let base = path.file_stem().unwrap().to_str().unwrap();
            let command = path.with_file_name(format!("{}.cmd", base.split('.').next().unwrap()));
            let Ok(command) = fs::read_to_string(command) else { continue };
            let wanted: Vec<_> = commands(&command)
                .into_iter()
                .filter(|(_, event, _)| !base.contains('.') || base.ends_with(event.as_str()))
                .map(|(_, _, spec)| HistSpec::parse(&spec).unwrap().normal())
                .collect();
            if !wanted.is_empty() {
                let echo = Echo::parse(text.lines().last().unwrap()).unwrap();
                assert_eq!(Some(&echo.spec), wanted.last(), "{}", path.display());
                count += 1;
            }
        }
    }
    assert!(count >= 90, "{count} echoes compared");
}

/// One entry of `errors.txt`.
struct Tried {
    data: String,
    taken: bool,
}

fn tried(kernel: &str, file: &str) -> Vec<Tried> {
    let text = read(&data(kernel).join("errors.txt"));
    text.split("=== file: ")
        .filter(|entry| entry.starts_with(file))
        .map(|entry| {
            let field = |name: &str| {
                let line = entry.lines().find_map(|l| l.strip_prefix(name)).unwrap();
                line.to_owned()
            };
            Tried { data: field("=== data: "), taken: field("=== rc: ").starts_with('0') }
        })
        .collect()
}

/// Triggers that the kernel takes and we refuse, on purpose.
const STRICTER: [(&str, &str); 2] = [
    ("hist:keys=next_pid:keys=prev_pid", "the kernel silently keeps the last"),
    ("hist:keys=next_comm.log2", "the kernel makes classes of the text's address"),
];

#[test]
fn refuses_what_kernels_refused() {
    let mut count = 0;
    for kernel in ["vm-6.1", "vm-6.12"] {
        let event = format(kernel, "sched", "sched_switch").unwrap();
        let lookup = |system: &str, event: &str| format(kernel, system, event);
        for Tried { data, taken } in tried(kernel, "events/sched/sched_switch/trigger") {
            if !data.starts_with("hist") {
                continue;
            }
            let around = CheckContext {
                event: &event,
                features: features(kernel),
                neighbours: Some(&[]),
                lookup: Some(&lookup),
            };
            let checked = match HistSpec::parse(&data) {
                Ok(spec) => spec.check(&around).map_err(|errors| errors[0].to_string()),
                Err(error) => Err(error.to_string()),
            };
            if data.contains(" if ") {
                continue; // the filter's own checker
            }
            let stricter = STRICTER.iter().any(|(text, _)| *text == data);
            assert_eq!(checked.is_ok(), taken && !stricter, "{kernel}: {data}: {checked:?}");
            count += 1;
        }
    }
    assert!(count >= 60, "{count} writes");
}
