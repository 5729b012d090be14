//! Text into the cells of a screen.
//! Characters and styles: all that is told is told by characters too, as colours may be missing.

use super::parts::ScreenParts;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use rtrace::analysis::TimeIn;

/// Puts text into a buffer, row by row.
pub(super) struct Pen<'b> {
    buffer: &'b mut Buffer,
    area: Rect,
    row: u16,
    look: Look,
}

impl<'b> Pen<'b> {
    pub(super) fn new(buffer: &'b mut Buffer, area: Rect, look: Look) -> Self {
        Pen { buffer, area, row: 0, look }
    }

    pub(super) fn width(&self) -> u16 {
        self.area.width
    }

    pub(super) fn look(&self) -> Look {
        self.look
    }

    pub(super) fn next_row(&mut self) {
        self.skip(1);
    }

    pub(super) fn skip(&mut self, rows: usize) {
        self.row = self.row.saturating_add(rows as u16);
    }

    /// Goes to the first of the last `rows` rows.
    pub(super) fn below(&mut self, rows: u16) {
        self.row = self.area.height.saturating_sub(rows);
    }

    /// Text from a column on, cut at the end of the row.
    pub(super) fn text(&mut self, column: u16, text: &str, style: Style) {
        if self.row < self.area.height && column < self.area.width {
            let width = usize::from(self.area.width - column);
            self.buffer.set_stringn(self.area.x + column, self.area.y + self.row, text, width, style);
        }
    }

    /// Text that ends with the row.
    pub(super) fn right(&mut self, text: &str, style: Style) {
        let length = text.chars().count().min(self.area.width.into()) as u16;
        self.text(self.area.width - length, text, style);
    }

    pub(super) fn label(&mut self, text: &str, parts: ScreenParts, is_selected: bool) {
        let width = usize::from(parts.label.saturating_sub(1));
        let text: String = text.chars().take(width).collect();
        let style = if is_selected { self.look.selected() } else { self.look.strong() };
        self.text(0, &text, style);
    }

    pub(super) fn columns(
        &mut self,
        parts: ScreenParts,
        glyphs: impl Iterator<Item = (char, Style)>,
        cursor: Option<usize>,
    ) {
        for (column, (glyph, style)) in glyphs.enumerate().take(parts.columns.into()) {
            let style = if cursor == Some(column) { self.look.cursor(style) } else { style };
            self.text(parts.label + column as u16, glyph.encode_utf8(&mut [0; 4]), style);
        }
    }

    pub(super) fn after(&mut self, parts: ScreenParts, text: &str) {
        self.text(parts.label + parts.columns, text, self.look.plain());
    }
}

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
