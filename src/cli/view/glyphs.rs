//! Characters and styles: all that is told is told by characters too, as colours may be missing.

use ratatui::style::{Color, Modifier, Style};
use rtrace::analysis::TimeIn;

/// A column with lost events.
pub(super) const LOST: char = '×';
/// A column of which it is not known what ran.
pub(super) const UNKNOWN: char = '·';
/// The characters of tasks' states.
pub(super) const LEGEND: &str = "█run ░wait ▒preempted ─sleep ━blocked";

/// A part of the whole in nine steps; a little is never nothing.
pub(super) fn level(part: u64, whole: u64) -> char {
    const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let step = (u128::from(part) * 8).div_ceil(u128::from(whole.max(1)));
    LEVELS[step.min(8) as usize]
}

/// The character of a state.
pub(super) fn state(state: TimeIn) -> char {
    match state {
        TimeIn::Run => '█',
        TimeIn::Wait => '░',
        TimeIn::Preempted => '▒',
        TimeIn::Sleep => '─',
        TimeIn::Blocked => '━',
        TimeIn::Unknown => UNKNOWN,
    }
}

/// The styles of one screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) has_colors: bool,
}

impl Look {
    fn colored(self, color: Color) -> Style {
        if self.has_colors { Style::new().fg(color) } else { Style::new() }
    }

    pub(super) fn plain(self) -> Style {
        Style::new()
    }

    pub(super) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(super) fn cursor(self, style: Style) -> Style {
        style.add_modifier(Modifier::REVERSED)
    }

    pub(super) fn lost(self) -> Style {
        self.colored(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(super) fn busy(self) -> Style {
        self.colored(Color::Green)
    }

    pub(super) fn dense(self) -> Style {
        self.colored(Color::Cyan)
    }
}
