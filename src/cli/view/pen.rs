//! Text into the cells of a screen.

use super::glyphs::Look;
use super::parts::ScreenParts;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

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
