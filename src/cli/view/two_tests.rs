//! The second recording, the mouse, pages, and recordings that grow.

use super::app::{App, Focus};
use super::asked;
use super::second::SecondView;
use super::second_request::SecondRequest;
use super::source::ViewSource;
use super::tests::{SIZES, file, is_as, keys_of, looking_at, press, screen, screen_of_both, text};
use crate::cli::query::{Align, QueryEvents, QueryInput, parse_align};
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
        app.second = Some(request.clone());
        let mut second = SecondView::new(&source, None, &request, app, None);
        Ok(look(app, &mut second))
    })
}

#[test]
fn two_recordings_are_below_each_other() {
    let cases = [
        ("two", ""),
        ("two-zoomed", "<Tab><Down><Down><Tab><Tab><Tab>++s"),
        ("two-pinned", "/sched<Enter><Tab>p"),
        ("two-below", "<Tab><Tab>/sched_waking<Enter><Tab><Down>p"),
        ("two-why", "<Tab><Tab>/sched_switch<Enter><Tab><Down><Down>w"),
    ];
    for (name, keys) in cases {
        for size in SIZES {
            let shown = looking_at_both("start", |app, second| {
                let _ = screen_of_both(app, Some(second), size, true);
                press_both(app, second, keys);
                text(&screen_of_both(app, Some(second), size, true))
            });
            is_as(&format!("{name}-{}x{}", size.0, size.1), &shown.expect("both"));
        }
    }
}

/// Keys of a screen with two recordings.
fn press_both(app: &mut App<'_>, second: &mut SecondView<'_>, keys: &str) {
    for key in keys_of(keys) {
        second.key(app, key);
        app.refresh();
        second.app.refresh();
    }
}

#[test]
fn the_one_in_turn_has_the_keys_and_both_the_window() {
    let whole = looking_at_both("start", |app, second| {
        let _ = screen_of_both(app, Some(second), (120, 36), true);
        let turn = |app: &App<'_>, second: &SecondView<'_>| {
            assert_ne!(app.is_active, second.app.is_active);
            (app.is_active, if app.is_active { app.focus } else { second.app.focus })
        };
        let mut turns = Vec::new();
        for _ in 0..5 {
            turns.push(turn(app, second));
            press_both(app, second, "<Tab>");
        }
        use Focus::{Lower, Strips};
        assert_eq!(turns, [(true, Strips), (true, Lower), (false, Strips), (false, Lower), (true, Strips)]);
        // The second one's turn, its strips.
        press_both(app, second, "<Tab>/sched_switch<Enter><Right><Right>+m");
        assert!(app.filter.is_none() && second.app.filter.is_some());
        let window = |app: &App<'_>| (app.from, app.to, app.cursor, app.marks.clone());
        assert_eq!(window(app), window(&second.app));
        assert!(app.to - app.from < app.end - app.begin);
        let row = second.app.list.selected().expect("an event");
        assert!(row.name == "sched_switch" && row.at >= app.cursor, "{row:?}");
        press_both(app, second, "y");
        assert!(app.commands[0].contains("late.dat --since "), "{:?}", app.commands);
        let since: f64 = app.commands[0]
            .split(' ')
            .skip_while(|word| *word != "--since")
            .nth(1)
            .and_then(|at| at.parse().ok())
            .expect("a time");
        let own = app.from.saturating_add_signed(-second.app.source.later);
        assert!((since - own as f64 / 1e9).abs() < 1e-6, "{since} {own}: times of its own");
        press_both(app, second, "Dend<Enter>");
        assert!(app.turns && app.second.as_ref().is_some_and(|request| request.alignment == Align::End));
        press_both(app, second, "<Tab><Tab>/sched_waking<Enter>");
        assert!(app.is_active && app.filter.is_some());
        press_both(app, second, "<Tab><Tab>q");
        assert!(app.is_over);
        (app.begin, app.end) == (second.app.begin, second.app.end)
    });
    assert_eq!(whole, Ok(true));
}

#[test]
fn a_second_one_that_is_opened_again_is_as_it_was() {
    looking_at_both("start", |app, second| {
        let _ = screen_of_both(app, Some(second), (80, 24), true);
        press_both(app, second, "<Tab><Tab>/sched_switch<Enter><Tab><Down>p");
        let before = text(&screen_of_both(app, Some(second), (80, 24), true));
        let request = SecondRequest { path: "late.dat".into(), alignment: Align::Start };
        let source = second.app.source;
        let old = std::mem::replace(second, SecondView::new(source, None, &request, app, None));
        let mut again = SecondView::new(source, None, &request, app, Some(old.app.keep()));
        assert_eq!(text(&screen_of_both(app, Some(&mut again), (80, 24), true)), before);
    })
    .expect("both");
}

#[test]
fn a_click_gives_the_turn() {
    looking_at_both("start", |app, second| {
        let _ = screen_of_both(app, Some(second), (80, 24), true);
        let (top, label) = (second.app.parts.top, second.app.parts.label);
        let mut click = |row, app: &mut App<'_>| {
            let (kind, modifiers) = (MouseEventKind::Down(MouseButton::Left), KeyModifiers::NONE);
            second.mouse(app, MouseEvent { kind, column: label + 20, row, modifiers });
            (app.is_active, app.cursor == app.scale().edge(20), app.cpu, second.app.cpu)
        };
        assert_eq!(click(top + 1, app), (false, true, 1, 1));
        assert_eq!(click(3, app), (true, true, 0, 0));
    })
    .expect("both");
}

#[test]
fn the_second_one_has_the_times_of_the_first() {
    let ends = |alignment| {
        looking_at_both(alignment, |app, second| {
            assert!(second.alignment.to_string().starts_with(&alignment[..3]));
            [app.source.begin, app.source.end, second.app.source.begin, second.app.source.end]
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
    let same = looking_at_both("sched:sched_switch", |app, second| (first_of(app.source), first_of(second.app.source)));
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
    let pane = asked::tree(folded, "flame", |total| format!("{total} in all"));
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
    let narrow = asked::tree(b"a 999\nb 1\n", "flame", |total| total.to_string());
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
