//! Every print format of every kernel available compiles, in both readings.

use crate::common::not_run::not_run;
use rtrace::abi::Abi;
use rtrace::format::EventFormat;
use rtrace::print_fmt::{PrintFmtError, Semantics, compile};
use rtrace::symbols::Symbols;
use std::path::Path;

/// All formats below an `events` directory, as (system, text).
fn formats(dir: &Path, found: &mut Vec<(String, String)>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            formats(&path, found);
        } else if path.file_name().is_some_and(|n| n == "format") {
            let system = path.parent().and_then(Path::parent).and_then(Path::file_name).unwrap_or_default();
            if let Ok(text) = std::fs::read_to_string(&path) {
                found.push((system.to_string_lossy().into_owned(), text));
            }
        }
    }
}

/// Events whose print format runs statements; a handler prints them, or nothing does.
fn has_handler(event: &EventFormat) -> bool {
    event.system == "kvmmmu"
        && ["kvm_mmu_get_page", "kvm_mmu_sync_page", "kvm_mmu_unsync_page", "kvm_mmu_prepare_zap_page"]
            .contains(&event.name.as_str())
}

/// Events whose print format has a name that only the kernel's types explain, which a recording of ours has: their fields
/// are shown.
fn has_unknown_name(event: &EventFormat) -> bool {
    event.name == "rdev_set_mcast_rate" && event.print_fmt.contains("[NL80211_BAND_5GHZ]")
}

fn check(what: &str, formats: &[(String, String)]) {
    let symbols = Symbols::default();
    let mut failed = Vec::new();
    for (system, text) in formats {
        let event = EventFormat::parse(system, text).unwrap();
        for semantics in [Semantics::TraceCmd, Semantics::Kernel] {
            match compile(&event, Abi::HOST, &symbols, semantics) {
                Ok(_) => {}
                Err(_) if has_handler(&event) => {}
                Err(PrintFmtError::UnknownName(_)) if has_unknown_name(&event) => {}
                Err(e) => failed.push(format!("{system}:{}: {e} ({semantics:?})", event.name)),
            }
        }
    }
    println!("{what}: {} print formats, {} failed", formats.len(), failed.len());
    assert!(failed.is_empty(), "{what}:\n{}", failed.join("\n"));
}

#[test]
fn of_this_machine() {
    let dir = Path::new("/sys/kernel/tracing/events");
    let mut found = Vec::new();
    formats(dir, &mut found);
    if found.is_empty() {
        not_run(format_args!("{} is not readable: this machine's formats not compiled", dir.display()));
    }
    check("this machine", &found);
}

#[test]
fn of_stored_kernels() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/formats");
    for (kernel, least) in
        [("host-6.18", 2300), ("debian-6.1", 1300), ("debian-6.12", 1000), ("debian-7.3", 1600), ("wireless-6.1", 321)]
    {
        let path = dir.join(format!("{kernel}.zst"));
        let text = zstd::decode_all(std::fs::File::open(&path).unwrap()).unwrap();
        let text = String::from_utf8(text).unwrap();
        // `=== system` on a line of its own starts each format
        let found: Vec<_> = text
            .split("=== ")
            .skip(1)
            .map(|part| part.split_once('\n').unwrap())
            .map(|(system, text)| (system.to_owned(), text.to_owned()))
            .collect();
        assert!(found.len() >= least, "{kernel}: {} formats", found.len());
        check(kernel, &found);
    }
}
