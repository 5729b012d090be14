//! Keys and what they mean: one table, which `?` shows.

use super::prompt::PromptKind;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The meaning of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Quit,
    Suspend,
    Close,
    Left,
    Right,
    PanLeft,
    PanRight,
    Up,
    Down,
    PageUp,
    PageDown,
    ZoomIn,
    ZoomOut,
    Enter,
    Whole,
    Begin,
    End,
    Tab,
    Ask(PromptKind),
    Next,
    Previous,
    Density,
    Mark,
    ToMark,
    Pin,
    Why,
    Waits,
    NextOutlier,
    PreviousOutlier,
    Flame,
    Follow,
    Command,
    Back,
    Help,
}

/// Keys, their meaning, and the words of `?`; lines without words stand for the one before.
const KEYS: &[(&[KeyCode], Action, &str)] = &[
    (&[KeyCode::Left], Action::Left, "← →|move the cursor by a column"),
    (&[KeyCode::Right], Action::Right, ""),
    (&[KeyCode::Char('['), KeyCode::Char('<')], Action::PanLeft, "[ ]|pan by half a window"),
    (&[KeyCode::Char(']'), KeyCode::Char('>')], Action::PanRight, ""),
    (&[KeyCode::Char('+'), KeyCode::Char('=')], Action::ZoomIn, "+ -|zoom in and out, around the cursor"),
    (&[KeyCode::Char('-')], Action::ZoomOut, ""),
    (&[KeyCode::Enter], Action::Enter, "Enter|zoom in eightfold; in a text, go to the line's time"),
    (&[KeyCode::Char('0')], Action::Whole, "0|the whole recording"),
    (&[KeyCode::Home], Action::Begin, "Home End|go to the first and the last event"),
    (&[KeyCode::End], Action::End, ""),
    (
        &[KeyCode::Tab, KeyCode::BackTab],
        Action::Tab,
        "Tab|arrow keys act on strips, the list, then a second recording's",
    ),
    (&[KeyCode::Up], Action::Up, "↑ ↓|select a CPU; in the list, an event"),
    (&[KeyCode::Down], Action::Down, ""),
    (&[KeyCode::PageUp], Action::PageUp, "PgUp PgDn|the same by ten"),
    (&[KeyCode::PageDown], Action::PageDown, ""),
    (
        &[KeyCode::Char('g'), KeyCode::Char(':')],
        Action::Ask(PromptKind::Time),
        "g|go to a time: as printed, +TIME, -TIME, 12:03",
    ),
    (&[KeyCode::Char('/')], Action::Ask(PromptKind::Filter), "/|filter: sched_switch: prev_prio < 100, cgroup:/a"),
    (&[KeyCode::Char('n')], Action::Next, "n N|next and previous event, with a filter its matches"),
    (&[KeyCode::Char('N')], Action::Previous, ""),
    (&[KeyCode::Char('p')], Action::Pin, "p|pin the task under the cursor, or let it go"),
    (&[KeyCode::Char('w')], Action::Why, "w|why the task is late here; Enter follows a waker"),
    (&[KeyCode::Char('h')], Action::Ask(PromptKind::Hist), "h|histogram: sched_switch hist:keys=next_comm"),
    (&[KeyCode::Char('l')], Action::Ask(PromptKind::Latency), "l|latency: sched_waking, sched_switch, pid=next_pid"),
    (&[KeyCode::Char('f')], Action::Flame, "f|flame: the call stacks of the window"),
    (&[KeyCode::Char('W')], Action::Waits, "W|the longest waits for a CPU in the window"),
    (&[KeyCode::Char('o')], Action::NextOutlier, "o O|next and previous of the longest waits, or of l's times"),
    (&[KeyCode::Char('O')], Action::PreviousOutlier, ""),
    (&[KeyCode::Char('s')], Action::Density, "s|strips: how busy, or how many events"),
    (&[KeyCode::Char('m')], Action::Mark, "m '|set or remove a mark; go to the next one"),
    (&[KeyCode::Char('\'')], Action::ToMark, ""),
    (&[KeyCode::Char('y')], Action::Command, "y|the command that prints this window, printed at the end too"),
    (&[KeyCode::Char('P')], Action::Ask(PromptKind::Page), "P|write the window as a page for a browser"),
    (&[KeyCode::Char('d')], Action::Ask(PromptKind::Second), "d|a second recording below, with differences of load"),
    (&[KeyCode::Char('D')], Action::Ask(PromptKind::Align), "D|align it: by start, end, an event or the wall clock"),
    (&[KeyCode::Char('F')], Action::Follow, "F|follow a recording that grows, or stop"),
    (&[KeyCode::Backspace], Action::Back, "Backspace|back to before a jump"),
    (&[KeyCode::Esc], Action::Close, "Esc|close the text, then the filter"),
    (&[KeyCode::Char('?')], Action::Help, "?|these keys"),
    (&[KeyCode::Char('q')], Action::Quit, "q|quit"),
];

/// The meaning of a key that was pressed.
pub(super) fn action(key: KeyEvent) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Action::Quit),
            KeyCode::Char('z') => Some(Action::Suspend),
            _ => None,
        };
    }
    KEYS.iter().find(|(codes, ..)| codes.contains(&key.code)).map(|(_, action, _)| *action)
}

/// The lines of `?`: keys, and what they do.
pub(super) fn help() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mouse = ("mouse", "a click moves the cursor, the wheel zooms or scrolls");
    KEYS.iter().filter_map(|(.., words)| words.split_once('|')).chain([mouse])
}
