//! The second recording, the mouse, pages, and recordings that grow.

use super::app::{App, Focus};
use super::flame;
use super::second::{SecondRequest, SecondView};
use super::source::ViewSource;
use super::tests::{SIZES, file, is_as, looking_at, press, screen, screen_of_both, text};
use crate::cli::query::{Align, parse_align};
use crate::cli::query::{QueryEvents, QueryInput};
use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use rtrace::recording::Query;
use std::path::Path;

/// Looks at a recording with a second one below, if they can be aligned so.
fn looking_at_both<T>(alignment: &str, look: impl FnOnce(&mut App<'_>, &mut SecondView<'_>) -> T) -> Result<T, String> {
    let path = file("readme/late.dat");
    let inputs = [QueryInput::open(&path, None, false).expect("a recording")];
    let events = QueryEvents::new(&inputs, Query::of([&inputs[0].recording])).expect("its events");
    looking_at("host/small-zlib.dat", |app| {
        let request = SecondRequest { path, alignment: parse_align(alignment)? };
        let source: ViewSource<'_> = request.aligned(app.source, &events).map_err(|failure| failure.text())?;
        Ok(look(app, &mut SecondView::new(&source, None, &request.alignment)))
    })
}

#[test]
fn two_recordings_are_below_each_other() {
    for (name, keys) in
        [("two", ""), ("two-zoomed", "<Tab><Down><Down><Tab>++s"), ("two-pinned", "/sched<Enter><Tab>p")]
    {
        for size in SIZES {
            let shown = looking_at_both("start", |app, second| {
                let _ = screen_of_both(app, Some(second), size, true);
                press(app, keys);
                text(&screen_of_both(app, Some(second), size, true))
            });
            is_as(&format!("{name}-{}x{}", size.0, size.1), &shown.expect("both"));
        }
    }
}

#[test]
fn the_second_one_has_the_times_of_the_first() {
    let ends = |alignment| {
        looking_at_both(alignment, |app, second| {
            assert!(second.alignment.to_string().starts_with(&alignment[..3]));
            [app.source.begin, app.source.end, second.source.begin, second.source.end]
        })
    };
    let by_start = ends("start").expect("both");
    assert_eq!(by_start[0], by_start[2]);
    let by_end = ends("end").expect("both");
    assert_eq!(by_end[1], by_end[3]);
    assert_eq!(by_start[3] - by_start[2], by_end[3] - by_end[2], "its length stays");
    let by_event = ends("sched:sched_switch").expect("both");
    assert_ne!(by_event[2], by_event[0], "other events come first");
    let first_of = |source: &ViewSource<'_>| {
        let (_, filter) = super::chosen_events::ChosenEvents::parse("sched:sched_switch").expect("a filter");
        source.after(source.begin, source.end, 1, Some(&filter)).expect("events")[0].at
    };
    let same = looking_at_both("sched:sched_switch", |app, second| (first_of(app.source), first_of(second.source)));
    let (one, other) = same.expect("both");
    assert_eq!(one, other);
    assert!(ends("sched:nosuch").expect_err("no such event").contains("nosuch"));
}

#[test]
fn keys_ask_for_another_second_one() {
    looking_at("host/small-zlib.dat", |app| {
        let _ = screen(app, 80, 24, true);
        press(app, "Dend<Enter>");
        assert!(app.status.contains("there is no second recording") && !app.turns, "{}", app.status);
        press(app, "dnew.dat<Enter>");
        let request = SecondRequest { path: "new.dat".into(), alignment: Align::default() };
        assert!(app.turns && app.second == Some(request), "{:?}", app.second);
        press(app, "Dwall<Enter>");
        assert_eq!(app.second.as_ref().map(|second| second.alignment.clone()), Some(Align::Wall));
        press(app, "d<Enter>");
        assert_eq!(app.second, None);
    });
}

fn mouse(app: &mut App<'_>, kind: MouseEventKind, column: u16, row: u16) {
    app.mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
}

#[test]
fn a_click_is_a_place_and_the_wheel_a_zoom() {
    looking_at("host/small-zlib.dat", |app| {
        let _ = screen(app, 80, 24, true);
        let parts = app.parts;
        mouse(app, MouseEventKind::Down(MouseButton::Left), parts.label + 20, 4);
        assert_eq!((app.cursor, app.cpu, app.focus), (app.scale().edge(20), 1, Focus::Strips));
        mouse(app, MouseEventKind::ScrollUp, parts.label + 20, 4);
        let _ = screen(app, 80, 24, true);
        assert!(app.to - app.from < (app.source.end - app.source.begin) * 6 / 10);
        assert_eq!(app.scale().column(app.cursor), 20, "what is below the pointer stays there");
        mouse(app, MouseEventKind::ScrollDown, parts.label + 20, 4);
        let before = app.list.selected().map(|row| row.at);
        mouse(app, MouseEventKind::ScrollDown, 10, parts.lower_top + 1);
        assert_eq!(app.focus, Focus::Lower);
        assert!(app.list.selected().map(|row| row.at) > before);
        for (column, row) in [(0, 0), (79, 23), (u16::MAX, u16::MAX), (parts.label + parts.columns, 3)] {
            mouse(app, MouseEventKind::Down(MouseButton::Left), column, row);
            mouse(app, MouseEventKind::ScrollUp, column, row);
            let _ = screen(app, 80, 24, true);
            assert!(app.from <= app.cursor && app.cursor <= app.to);
        }
    });
}

#[test]
fn p_writes_a_page_and_overwrites_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("window.html");
    looking_at("host/small-zlib.dat", |app| {
        let _ = screen(app, 80, 24, true);
        press(app, "<Tab><Down><Down><Tab>++");
        let name = path.to_string_lossy().into_owned();
        press(app, &format!("P{name}<Enter>"));
        assert!(app.status.starts_with("wrote all events of this window to "), "{}", app.status);
        let page = std::fs::read_to_string(&path).expect("a page");
        let window = format!("{} to ", app.source.unit.point(app.from));
        let first = app.source.after(app.from, app.to, 1, None).expect("events")[0].at;
        assert!(
            page.contains(&format!("{} to ", app.source.unit.point(first))) || page.contains(&window),
            "its window"
        );
        press(app, &format!("P{name}<Enter>"));
        assert!(app.status.contains("exists already"), "{}", app.status);
        assert_eq!(std::fs::read_to_string(&path).expect("the page"), page);
        press(app, "P/nowhere/at/all.html<Enter>");
        assert!(app.status.contains("cannot write"), "{}", app.status);
        press(app, "P-<Enter>");
        assert!(app.status.contains("name a file") && !Path::new("-").exists(), "{}", app.status);
    });
}

#[test]
fn stacks_are_a_tree_of_the_widest_first() {
    let folded = b"a;b;c 600\na;b 300\na;d 90\nz\x1b[2J 10\n";
    let pane = flame::tree(folded, "flame", |total| format!("{total} in all"));
    let lines: Vec<&str> = pane.lines.iter().map(|line| line.text.as_str()).collect();
    let bar = |full: usize| format!("{}{}", "█".repeat(full), " ".repeat(10 - full));
    let expected = [
        "1000 in all".to_owned(),
        format!(" 99.0 % {} a", bar(9)),
        format!(" 90.0 % {}  b", bar(9)),
        format!(" 60.0 % {}   c", bar(6)),
        format!("  9.0 % {}  d", bar(1)),
        format!("  1.0 % {} z\\x1b[2J", bar(1)),
    ];
    assert_eq!(lines, expected);
    let narrow = flame::tree(b"a 999\nb 1\n", "flame", |total| total.to_string());
    assert_eq!(narrow.lines.len(), 3, "a frame that cannot be seen is counted");
    looking_at("host/small-zlib.dat", |app| {
        press(app, "f");
        assert!(app.pane.is_none() && app.status.contains("has no call stacks"), "{}", app.status);
    });
}

#[test]
fn a_view_goes_on_when_its_recording_is_opened_again() {
    looking_at("host/small-zlib.dat", |app| {
        let _ = screen(app, 80, 24, true);
        press(app, "/sched_switch<Enter><Tab><Down>p<Tab><Down>ms+++");
        // What is known of the whole is in the first line.
        let below =
            |app: &mut App<'_>| text(&screen(app, 80, 24, true)).split_once('\n').map(|(_, rest)| rest.to_owned());
        let before = below(app);
        let mut again = App::new(app.source, None);
        again.resume(std::mem::replace(app, App::new(app.source, None)).keep());
        assert_eq!(below(&mut again), before);
        // The end goes with a window that ends there.
        let source = app.source;
        let mut at_end = App::new(source, None);
        at_end.grows = true;
        press(&mut at_end, "<End>++F");
        assert_eq!(at_end.status, "stays here");
        press(&mut at_end, "F");
        assert_eq!((at_end.to, at_end.cursor), (source.end, source.end));
        let mut again = App::new(source, None);
        again.resume(at_end.keep());
        assert_eq!((again.to, again.cursor), (source.end, source.end));
    });
}
