use super::app::App;
use super::chosen_events::ChosenEvents;
use super::draw;
use super::model::{Model, Quality};
use super::pen::Look;
use super::pyramid::Pyramid;
use super::scan::ViewScan;
use super::second::SecondView;
use super::source::ViewSource;
use crate::cli::query::{QueryEvents, QueryInput};
use crate::cli::terminal::harmless;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use rtrace::analysis::StripScale;
use rtrace::recording::Query;
use std::path::{Path, PathBuf};

pub(super) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Opens a recording of `tests/data/traces` and has `look` at it.
pub(super) fn looking_at<T>(name: &str, look: impl FnOnce(&mut App<'_>) -> T) -> T {
    looking_at_file(&file("traces").join(name), look).expect("a recording with events")
}

/// The same of any file; `None` if it is no recording with events.
fn looking_at_file<T>(path: &Path, look: impl FnOnce(&mut App<'_>) -> T) -> Option<T> {
    let inputs = [QueryInput::open(path, None, false).ok()?];
    let events = QueryEvents::new(&inputs, Query::of([&inputs[0].recording])).ok()?;
    let source = ViewSource::new(&events).ok()??;
    Some(look(&mut App::new(&source, None)))
}

/// The screen of this size.
pub(super) fn screen(app: &mut App<'_>, width: u16, height: u16, has_colors: bool) -> Buffer {
    screen_of_both(app, None, (width, height), has_colors)
}

/// The same with a second recording.
pub(super) fn screen_of_both(
    app: &mut App<'_>,
    mut second: Option<&mut SecondView<'_>>,
    (width, height): (u16, u16),
    has_colors: bool,
) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    let drawn = terminal.draw(|frame| {
        let area = frame.area();
        app.lay_out(second.as_deref_mut(), area.width, area.height);
        app.refresh();
        if let Some(second) = &mut second {
            second.app.refresh();
        }
        draw::draw(app, second, Look { has_colors }, area, frame.buffer_mut());
        harmless(frame.buffer_mut());
    });
    drawn.expect("to draw").buffer.clone()
}

pub(super) fn text(buffer: &Buffer) -> String {
    let row = |row: &[ratatui::buffer::Cell]| row.iter().map(|cell| cell.symbol()).collect::<String>();
    let rows = buffer.content.chunks(buffer.area.width.into()).map(row);
    rows.map(|row| format!("{}\n", row.trim_end())).collect()
}

/// Presses the keys of a text.
pub(super) fn press(app: &mut App<'_>, keys: &str) {
    for key in keys_of(keys) {
        app.key(key);
        app.refresh();
    }
}

/// Keys as a text: `<...>` is one with a name.
pub(super) fn keys_of(text: &str) -> Vec<KeyEvent> {
    let (mut keys, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let (code, length) = match rest
            .split_once('>')
            .filter(|(name, _)| first == '<' && name.len() > 2 && name[1..].chars().all(char::is_alphabetic))
        {
            Some((name, _)) => (named(&name[1..]), name.len() + 1),
            None => (KeyCode::Char(first), first.len_utf8()),
        };
        keys.push(KeyEvent::new(code, KeyModifiers::NONE));
        rest = &rest[length..];
    }
    keys
}

fn named(name: &str) -> KeyCode {
    match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "PageUp" => KeyCode::PageUp,
        "PageDown" => KeyCode::PageDown,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "Backspace" => KeyCode::Backspace,
        _ => panic!("no key {name}"),
    }
}

/// Compares a screen with the file of its name in `tests/data/view`; with `RTRACE_BLESS` set, writes it.
pub(super) fn is_as(name: &str, shown: &str) {
    let path = file("view").join(format!("{name}.txt"));
    if std::env::var_os("RTRACE_BLESS").is_some() {
        std::fs::create_dir_all(file("view")).expect("the folder");
        std::fs::write(&path, shown).expect("to write");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(shown == expected, "{name} is not as {}:\n{shown}", path.display());
}

pub(super) const SIZES: [(u16, u16); 3] = [(80, 24), (120, 36), (200, 60)];

#[test]
fn screens_are_as_they_were() {
    let cases = [
        ("first", ""),
        ("list", "<Tab><Down><Down><Down>"),
        ("zoomed", "<Tab><Down><Down><Down><Tab>++++"),
        ("filtered", "/sched_switch<Enter>n"),
        ("pinned", "<Tab><Down><Down><Down>pm<Tab><Right><Right>"),
        ("keys", "?"),
        ("why", "<Tab><Down><Down><Down><Down><Down>w"),
        ("waits", "W"),
        ("hist", "hsched_switch hist:keys=next_comm:sort=hitcount<Enter>"),
        ("latency", "lsched_wakeup, sched_switch, pid=next_pid<Enter>"),
    ];
    for (name, keys) in cases {
        for (width, height) in SIZES {
            let shown = looking_at("host/small-zlib.dat", |app| {
                let _ = screen(app, width, height, true);
                press(app, keys);
                text(&screen(app, width, height, true))
            });
            is_as(&format!("{name}-{width}x{height}"), &shown);
        }
    }
}

#[test]
fn any_keys_leave_a_picture() {
    let keys =
        "<Left><Right><Up><Down><PageUp><PageDown><Home><End><Tab><Enter><Esc><Backspace>[]+-0nNpsm'yg/:?wWoOhl=fFD";
    let mut all = Vec::new();
    let mut rest = keys;
    while let Some(first) = rest.chars().next() {
        let length = if first == '<' { rest.find('>').unwrap_or(0) + 1 } else { first.len_utf8() };
        all.push(&rest[..length]);
        rest = &rest[length..];
    }
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let typed = [
        "/sched<Enter>",
        "g+1ms<Enter>",
        "/x ==<Enter>",
        "g-0<Enter>",
        "lx, y, z<Enter>",
        "hsched_switch<Enter>",
        "dno<Enter>",
        "Dend<Enter>",
        "P/nowhere/x.html<Enter>",
        "g\u{202e}\u{1b}[2J<Enter>",
    ];
    let files = some_recordings();
    assert!(files.len() > 4, "{files:?}");
    let rounds = if files.len() > 8 { 40 } else { 150 };
    for path in files {
        looking_at_file(&path, |app| {
            for round in 0..rounds {
                let (width, height) = (random(130) as u16 + 1, random(50) as u16 + 1);
                match random(8) {
                    0 => press(app, typed[random(typed.len())]),
                    1 => {
                        let kinds = [
                            MouseEventKind::Down(MouseButton::Left),
                            MouseEventKind::ScrollUp,
                            MouseEventKind::ScrollDown,
                            MouseEventKind::Moved,
                        ];
                        let (column, row) = (random(140) as u16, random(60) as u16);
                        let (kind, modifiers) = (kinds[random(kinds.len())], KeyModifiers::NONE);
                        app.mouse(MouseEvent { kind, column, row, modifiers });
                    }
                    _ => press(app, all[random(all.len())]),
                }
                let shown = text(&screen(app, width, height, round % 2 == 0));
                assert_eq!(shown.lines().count(), usize::from(height));
                assert!(app.from <= app.cursor && app.cursor <= app.to, "{} {} {}", app.from, app.cursor, app.to);
                assert!(app.source.begin <= app.from && app.to <= app.source.end);
            }
        });
    }
}

/// The recordings of `tests/data` and, where they are, small ones of the corpus.
fn some_recordings() -> Vec<PathBuf> {
    let corpus = std::env::var_os("RTRACE_CORPUS").map(PathBuf::from);
    let mut open = vec![file("traces"), file("readme")];
    open.extend(corpus.or_else(|| Some(Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("shared/corpus"))));
    let mut found = Vec::new();
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let (path, facts) = (entry.path(), entry.metadata().expect("its facts"));
            if facts.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "dat") && facts.len() < 1_000_000 {
                found.push(path);
            }
        }
    }
    found.sort();
    // A part of the corpus has all its kinds of machines.
    let step = found.len().div_ceil(16);
    found.into_iter().step_by(step).collect()
}

#[test]
fn without_colour_the_screen_says_the_same() {
    let (plain, coloured) = looking_at("host/small-zlib.dat", |app| {
        press(app, "<Tab><Down>p");
        (screen(app, 80, 24, false), screen(app, 80, 24, true))
    });
    assert_eq!(text(&plain), text(&coloured));
    assert!(plain.content.iter().all(|cell| cell.fg == ratatui::style::Color::Reset), "no colour");
    assert!(coloured.content.iter().any(|cell| cell.fg != ratatui::style::Color::Reset));
}

#[test]
fn what_a_terminal_obeys_is_not_in_the_cells() {
    let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 6, 1));
    let symbols = ["\u{1b}[2J", "a", "\u{9b}", "\n", "\u{202e}", "\u{e4}"];
    buffer.content.iter_mut().zip(symbols).for_each(|(cell, symbol)| {
        cell.set_symbol(symbol);
    });
    harmless(&mut buffer);
    assert_eq!(text(&buffer), "?a???\u{e4}\n");
}

#[test]
fn the_list_goes_through_all_events() {
    for name in ["host/small-zlib.dat", "i386/events-v6.dat"] {
        looking_at(name, |app| {
            let _ = screen(app, 80, 24, true);
            let (mut down, mut seen) = (vec![app.list.selected().cloned()], 0);
            app.focus = super::app::Focus::Lower;
            while seen < down.len() {
                seen = down.len();
                press(app, "<Down>");
                let next = app.list.selected().cloned();
                if down.last() != Some(&next) {
                    down.push(next);
                }
            }
            let (count, mut up) =
                (app.source.events.query.clone().for_each(|_| {}).expect("events").events, Vec::new());
            assert_eq!(down.len() as u64, count, "{name}");
            while up.len() < down.len() {
                up.push(app.list.selected().cloned());
                press(app, "<Up>");
            }
            up.reverse();
            assert!(up == down, "{name}: the way up is the way down");
        });
    }
}

#[test]
fn y_is_the_command_of_the_window() {
    looking_at("host/small-zlib.dat", |app| {
        let _ = screen(app, 80, 24, true);
        press(app, "/sched_switch: prev_prio < 100<Enter>g2128.9929<Enter>+++y");
        let command = app.commands.first().cloned().unwrap_or_default();
        assert!(
            command.starts_with("rtrace report -i ") && command.ends_with("--filter 'sched_switch: prev_prio < 100'"),
            "{command}"
        );
        assert!(command.contains(" --since 2128.99") && command.contains(" --until 2128.99"), "{command}");
        press(app, "/nosuch<Enter>");
        assert!(app.status.contains("nosuch"), "{}", app.status);
    });
}

#[test]
fn the_whole_in_pieces_is_the_whole() {
    for name in ["host/small-zlib.dat", "vm-6.1/trig.dat", "s390x/inst.dat"] {
        looking_at(name, |app| {
            let source = app.source;
            let (_, filter) = ChosenEvents::parse("sched:*").expect("a filter");
            let scan = ViewScan::new(source);
            let found = std::sync::Arc::new(Pyramid::new(source, Some(filter.clone())));
            scan.search(Some(found.clone()));
            while scan.work(source).expect("to be read") {}
            for columns in [1, 7, 50, 300] {
                let scale = StripScale::new(source.begin, source.end, columns);
                assert!(scan.whole.serves(&scale));
                let mut exact = Model::exact(source, scale).expect("a picture");
                let whole = Model::of_pyramid(source, scale, &scan.whole);
                assert_eq!(whole.quality, Quality::Exact);
                assert_eq!(whole.sum().events, exact.sum().events, "{name}");
                assert_eq!((whole.sum().lost, whole.sum().gaps), (exact.sum().lost, exact.sum().gaps));
                let busy = |model: &Model| model.strips.iter().map(|strip| strip.sum().busy).collect::<Vec<_>>();
                let close = busy(&whole).iter().zip(busy(&exact)).all(|(a, b)| a.abs_diff(b) <= 8192);
                assert!(close, "{name}: {:?} {:?}", busy(&whole), busy(&exact));
                exact.add_matches(source, &filter).expect("matches");
                let matches = exact.matches.map(|strip| strip.sum().events);
                assert_eq!(matches, Some(found.totals().0), "{name}");
            }
        });
    }
}

#[test]
fn a_waker_is_followed_and_left_again() {
    looking_at("host/small-zlib.dat", |app| {
        let _ = screen(app, 120, 36, true);
        press(app, "<Tab><Down><Down><Down><Down><Down>w");
        let pane = app.pane.as_ref().expect("a tree");
        assert!(pane.title.contains("migration/1 [21]"), "{}", pane.title);
        let (before, target) = (app.cursor, pane.target().expect("a moment"));
        press(app, "<Enter>");
        assert_eq!(app.cursor, target.0);
        press(app, "<Esc><Backspace>");
        assert_eq!(app.cursor, before);
    });
}

/// Tasks of a cgroup in place of a filter of fields.
#[test]
fn events_of_a_cgroup_are_searched_for() {
    use rtrace::internal::trace_dat::write::{Version, convert};
    use rtrace::internal::trace_dat::{Cgroups, FilePart, OptionId, RawOption, Trace};
    let mut trace = Trace::open_path(file("traces/vm-6.1/trig.dat")).expect("a recording");
    let mut cgroups = Cgroups::new("");
    let pids: Vec<_> =
        rtrace::Recording::open_path(file("traces/vm-6.1/trig.dat")).expect("it").symbols.comms.pids().collect();
    for (number, pid) in pids.into_iter().enumerate() {
        cgroups.set(pid, 0, if number % 2 == 0 { "/a" } else { "/b" });
    }
    let data = format!("{}\0", cgroups.to_text()).into_bytes();
    trace.options.push(RawOption { id: OptionId::RTRACE_CGROUPS, data, offset: 0, place: FilePart::Prefix });
    let to = tempfile::NamedTempFile::new().expect("a file");
    let version = Version::V7(trace.prefix.codec);
    convert(&trace, to.reopen().expect("it"), version, 1, &mut |found| panic!("{found}")).expect("written");
    let found = looking_at_file(to.path(), |app| {
        let mut matches = |glob: &str| {
            press(app, &format!("/cgroup:{glob}<Enter>"));
            let command = super::time_words::command(
                app.source,
                app.from,
                app.to,
                app.filter.as_ref().map(|typed| typed.text.as_str()),
            );
            assert!(command.ends_with(&format!(" --cgroup {glob}")), "{command}");
            app.found.as_ref().expect("matches").totals().0
        };
        let found = (matches("/a"), matches("/b"));
        press(app, "<Esc>/cgroup:/c<Enter>");
        assert!(app.status.contains("/c"), "{}", app.status);
        found
    });
    let (a, b) = found.expect("a recording");
    assert!(a > 0 && b > 0 && a != b, "{a} {b}");
    looking_at("vm-6.1/trig.dat", |app| {
        press(app, "/cgroup:/a<Enter>");
        assert!(app.filter.is_none() && app.status.contains("does not hold"), "{}", app.status);
    });
}
