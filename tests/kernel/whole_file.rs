//! The results of `guest/whole`, made into a trace file and printed by the program.

use rtrace::abi::Abi;
use rtrace::format::HeaderPage;
use rtrace::internal::trace_dat::{ChunkIndex, Codec, FinishedSpool, KernelView, OptionId, SectionWriter, SpoolEntry};
use rtrace::units::CpuId;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

/// A captured file, or the one that several captures share.
fn text(dir: &Path, name: &str) -> String {
    let path = [dir.join(name), dir.join("..").join(name)].into_iter().find(|p| p.exists()).unwrap_or_default();
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{name} of {}: {e}", dir.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The captured format files (`SYSTEM/EVENT/format:LINE` per line) by system.
fn formats(dir: &Path) -> BTreeMap<String, Vec<String>> {
    let mut texts: BTreeMap<(String, String), String> = BTreeMap::new();
    for line in text(dir, "formats").lines() {
        let (path, rest) = line.split_once("/format:").expect("a line of a format file");
        let (system, event) = path.split_once('/').expect("SYSTEM/EVENT");
        let text = texts.entry((system.to_owned(), event.to_owned())).or_default();
        text.push_str(rest);
        text.push('\n');
    }
    let mut systems: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((system, _), text) in texts {
        systems.entry(system).or_default().push(text);
    }
    systems
}

fn view(dir: &Path, cpus: u32) -> KernelView {
    let mut view = KernelView {
        tracer: text(dir, "current_tracer").trim().to_owned(),
        online: text(dir, "online").trim().parse().expect("a number of CPUs"),
        possible: cpus,
        release: text(dir, "uname").split(' ').nth(2).expect("a release").to_owned(),
        ..KernelView::default()
    };
    view.set_options(&text(dir, "trace_options"));
    view.set_tgids(&text(dir, "saved_tgids"));
    view.set_dynamic_events(&text(dir, "dynamic_events"));
    for cpu in 0..cpus {
        let stats = text(dir, &format!("{cpu}.stats"));
        let count = |key: &str| -> u64 {
            let line = stats.lines().find_map(|l| l.strip_prefix(key)).expect("a counter");
            line.trim_start_matches(':').trim().parse().expect("a number")
        };
        view.entries += count("entries");
        view.written += count("entries") + count("overrun");
    }
    view
}

/// Writes `to`, a trace file of what is in `dir`.
fn write(dir: &Path, to: &Path) {
    let header_page = text(dir, "header_page");
    let page_size = HeaderPage::parse(&header_page).expect("header_page").sub_buffer_size as u32;
    let file = std::fs::File::create(to).expect("the trace file");
    let mut writer = SectionWriter::create(file, Abi::HOST, page_size, Codec::None).expect("the file's header");
    writer.header_info(header_page.as_bytes(), b"").expect("header_page");
    let mut systems = formats(dir);
    writer.ftrace_formats(&systems.remove("ftrace").expect("the tracers' formats")).expect("formats");
    writer.event_formats(&systems.into_iter().collect::<Vec<_>>()).expect("formats");
    writer.kallsyms(text(dir, "kallsyms").as_bytes()).expect("kallsyms");
    writer.printk_formats(&std::fs::read(dir.join("printk_formats")).unwrap_or_default()).expect("printk_formats");
    if let Ok(btf) = std::fs::read(dir.join("../btf")) {
        writer.btf(&btf).expect("BTF");
    }
    writer.saved_cmdlines(&std::fs::read(dir.join("saved_cmdlines")).expect("comms")).expect("comms");
    let clocks = text(dir, "trace_clock");
    let clock = clocks.split(['[', ']']).nth(1).expect("a clock in brackets").to_owned();
    writer.option(OptionId::TRACECLOCK, clocks.as_bytes());
    writer.option(OptionId::UNAME, text(dir, "uname").trim().as_bytes());

    let mut spools = Vec::new();
    while let Ok(pages) = std::fs::read(dir.join(format!("{}.raw", spools.len()))) {
        let cpu = CpuId(spools.len() as u32);
        let name = format!("{cpu}.spool");
        let path = to.with_file_name(&name);
        std::fs::write(&path, &pages).expect("a spool");
        let entry =
            SpoolEntry { buffer: String::new(), clock: clock.clone(), page_size, cpu, file: name, target: (0, 0) };
        spools.push(FinishedSpool { entry, path, size: pages.len() as u64, chunks: 0, index: ChunkIndex::default() });
    }
    writer.option_u32(OptionId::CPUCOUNT, spools.len() as u32);
    writer.option(OptionId::RTRACE_VIEW, view(dir, spools.len() as u32).to_text("").as_bytes());
    writer.finish(&[(String::new(), clock, page_size)], &spools).expect("the trace file is finished");
}

/// The output of `rtrace report --format kernel` for the files in `dir`, and the kernel's own text. No event may be
/// shown as raw fields only.
pub(crate) fn both(dir: &Path) -> (Vec<u8>, Vec<u8>) {
    (reported(dir, &["--format", "kernel"]), std::fs::read(dir.join("trace")).expect("the kernel's text"))
}

/// The output of `rtrace report` for the files in `dir`.
pub(crate) fn reported(dir: &Path, options: &[&str]) -> Vec<u8> {
    let output = report(dir, options);
    let seen = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {seen}", dir.display());
    assert!(!seen.contains("raw fields") && !seen.contains("no format describes"), "{}: {seen}", dir.display());
    output.stdout
}

/// `rtrace report` of what is in `dir`.
pub(crate) fn report(dir: &Path, options: &[&str]) -> Output {
    let scratch = tempfile::TempDir::new().expect("a temporary folder");
    let file = scratch.path().join("trace.dat");
    write(dir, &file);
    Command::new(env!("CARGO_BIN_EXE_rtrace")).arg("report").args(options).arg(&file).output().expect("rtrace starts")
}
