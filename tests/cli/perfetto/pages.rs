//! The pages of Perfetto and speedscope in a browser, which open what we write, and our own. `RTRACE_PICTURES` is a directory for pictures of
//! them, to be looked at.

use super::{engine, here};
use crate::common::bounded::output;
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of a page that `fetch-engine` made, where there is a browser to open it.
fn page(name: &str) -> Option<PathBuf> {
    let page = engine()?.join(name);
    let browser = Command::new("chromium").arg("--version").output().is_ok_and(|done| done.status.success());
    if !page.exists() {
        not_run(format!("the page of {name}: tests/cli/perfetto/fetch-engine has not fetched it"));
    } else if !browser {
        not_run(format!("the page of {name}: there is no chromium"));
    } else {
        return Some(page);
    }
    None
}

/// The value of `expression` in the page, opened with the files of `env`, once it has one.
fn shown(env: &TestEnvironment, page: &Path, address: &str, expression: &str, picture: &str) -> String {
    let folders = format!("{}:{}", page.display(), env.path().display());
    let pictures = std::env::var_os("RTRACE_PICTURES").map_or_else(|| env.path().to_owned(), PathBuf::from);
    let picture = pictures.join(picture);
    let mut command = Command::new("node");
    command.arg(here("page.cjs")).args(["chromium", &folders, address, expression]).arg(&picture);
    let done = output(&mut command).expect("node");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(std::fs::read(&picture).expect("a picture").starts_with(b"\x89PNG"));
    String::from_utf8(done.stdout).expect("text")
}

#[test]
fn perfettos_page_shows_who_ran_where() {
    let Some(page) = page("web") else { return };
    let env = TestEnvironment::new();
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fleet/web2.dat");
    env.rtrace(&["convert", &recording.to_string_lossy(), "run.pftrace"]).exits(0);
    let version = std::fs::read_dir(&page).expect("the page").map(|entry| entry.expect("one").file_name());
    let version = version.map(|name| name.to_string_lossy().into_owned()).find(|name| name.starts_with('v'));
    let address = format!("ORIGIN/{}/index.html#!/?url=ORIGIN/run.pftrace", version.expect("a version"));
    let text = "document.querySelectorAll('.pf-track').length > 3 && document.body.innerText";
    let text = shown(&env, &page, &address, text, "perfetto.png");
    for track in ["CPU 0 Scheduling", "CPU 1 Scheduling", "batch-job 24427", "service 24426"] {
        assert!(text.contains(track), "{track}: {text}");
    }
}

/// speedscope's own reader finds each task, with its time in functions.
#[test]
fn speedscopes_page_shows_all_tasks() {
    let Some(page) = page("speedscope") else { return };
    let Some(corpus) = crate::common::corpus::corpus() else {
        return not_run("function_graph in speedscope: there is no corpus");
    };
    let env = TestEnvironment::new();
    let recording = corpus.join("vm-6.12/graph-depth.dat");
    env.rtrace(&["convert", &recording.to_string_lossy(), "run.speedscope.json"]).exits(0);
    let address = "ORIGIN/index.html#profileURL=ORIGIN/run.speedscope.json&view=sandwich";
    let rows = "document.querySelectorAll('tr').length > 3 && [...document.querySelectorAll('tr')]\
                .map((row) => [...row.children].map((cell) => cell.innerText).join('|')).join('\\n')";
    let text = shown(&env, &page, address, rows, "speedscope.png");
    // `1|rcu_preempt 18|23.22ms`
    let time = |text: &str| {
        let at = text.find(|c: char| c != '.' && !c.is_ascii_digit()).expect("a unit");
        let unit = match &text[at..] {
            "ns" => 1.0,
            "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            unit => panic!("{unit}: {text}"),
        };
        text[..at].parse::<f64>().expect("a number") * unit
    };
    let found: Vec<(&str, f64)> = text
        .lines()
        .filter_map(|row| match row.split('|').collect::<Vec<_>>()[..] {
            [number, name, total] if number.parse::<u32>().is_ok() => Some((name, time(total))),
            _ => None,
        })
        .collect();
    let whole = std::fs::read(env.path().join("run.speedscope.json")).expect("a profile");
    let whole: Value = serde_json::from_slice(&whole).expect("JSON");
    let profiles = whole["profiles"].as_array().expect("profiles");
    assert_eq!(found.len(), profiles.len(), "{text}");
    for ((name, total), profile) in found.iter().zip(profiles) {
        // The time in any function.
        let (mut expected, mut depth, mut last) = (0.0, 0, 0.0);
        for event in profile["events"].as_array().expect("events") {
            let at = event["at"].as_f64().expect("a time");
            expected += if depth > 0 { at - last } else { 0.0 };
            depth += if event["type"] == "O" { 1 } else { -1 };
            last = at;
        }
        assert_eq!(profile["name"], *name);
        assert!((total - expected).abs() <= expected * 0.01, "{name}: {total} instead of {expected}");
    }
    assert!(text.contains("do_idle"), "{text}");
}

/// `convert --to html` is a page by itself: it zooms to a wait, sorts its tables, and asks for no other file.
#[test]
fn our_page_zooms_and_sorts_by_itself() {
    let Some(env) = with_our_page() else { return };
    let asked = "window.rtracePage && (() => { const before = rtracePage.window();\
        document.querySelector('button[data-from]').click(); const after = rtracePage.window();\
        const table = [...document.querySelectorAll('table.sorts')].find((one) => one.tHead.innerText.includes('preempted'));\
        const at = [...table.tHead.rows[0].cells].findIndex((one) => one.textContent === 'run'); table.tHead.rows[0].cells[at].click();\
        return JSON.stringify({ before, after, run: [...table.tBodies[0].rows].map((row) => parseFloat(row.cells[at].textContent)).filter((time) => !isNaN(time)),\
        pixels: new Set(document.getElementById('timeline').getContext('2d').getImageData(0, 0, 900, 60).data).size,\
        fetched: performance.getEntriesByType('resource').length }); })()";
    let text = shown(&env, env.path(), "ORIGIN/late.html", asked, "page.png");
    let page: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let span = |name: &str| page[name][1].as_f64().unwrap() - page[name][0].as_f64().unwrap();
    assert!(span("after") < span("before") / 2.0 && span("after") > 0.0, "{page}");
    let run: Vec<f64> = page["run"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
    assert!(run.len() > 3 && run.is_sorted_by(|a, b| a >= b), "{page}");
    assert!(page["pixels"].as_u64().unwrap() > 20, "something is drawn: {page}");
    assert_eq!(page["fetched"], 0);
}

/// A folder with `late.html`, if there is a browser.
fn with_our_page() -> Option<TestEnvironment> {
    if !Command::new("chromium").arg("--version").output().is_ok_and(|done| done.status.success()) {
        not_run("our page in a browser: there is no chromium");
        return None;
    }
    let env = TestEnvironment::new();
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/readme/late.dat");
    env.rtrace(&["convert", &recording.to_string_lossy(), "late.html"]).exits(0);
    Some(env)
}

/// The name of a task leaves its slices bright and dims all others; without a name all are as before.
#[test]
fn our_page_searches_a_task() {
    let Some(env) = with_our_page() else { return };
    let asked = "window.rtracePage && (() => { const input = document.getElementById('search'), canvas = document.getElementById('timeline');\
        const bright = words => { input.value = words; input.dispatchEvent(new Event('input'));\
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; let count = 0;\
        for (let i = 0; i < data.length; i += 4) { const rgb = [data[i], data[i + 1], data[i + 2]];\
        if (Math.max(...rgb) - Math.min(...rgb) > 60) count++; } return count; };\
        return JSON.stringify({ all: bright(''), server: bright('SERVER'), none: bright('no such task'), again: bright(' ') }); })()";
    let text = shown(&env, env.path(), "ORIGIN/late.html", asked, "search.png");
    let page: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let bright = |name: &str| page[name].as_u64().unwrap();
    assert!(bright("all") > bright("server") && bright("server") > bright("none") + 100, "{page}");
    // The browser smooths edges in more than one way.
    assert!(bright("again").abs_diff(bright("all")) < bright("all") / 50, "{page}");
}
