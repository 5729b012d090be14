//! The parts of the screen.

use super::app::App;

/// Rows and columns of the parts of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScreenParts {
    /// Columns of the labels before strips.
    pub(super) label: u16,
    /// Columns of strips.
    pub(super) columns: u16,
    /// Rows of CPUs.
    pub(super) cpus: u16,
    /// Rows of the lower pane.
    pub(super) lower: u16,
}

/// Rows above strips: header, position, ruler.
const ABOVE: u16 = 3;
/// Rows below the lower pane: status, keys.
pub(super) const BELOW: u16 = 2;

impl ScreenParts {
    /// The parts of a screen of this size.
    pub(super) fn of(app: &App<'_>, width: u16, height: u16) -> Self {
        let longest = app.source.cpus.iter().map(|cpu| cpu.label.chars().count()).max().unwrap_or(0);
        let pins = app.pins.len().min(4) as u16;
        let label = if pins > 0 { longest.max(14) } else { longest.max(6) };
        let label = (label as u16 + 1).min(width / 3);
        let words = match width {
            ..60 => 0,
            60..100 => 22,
            _ => 28,
        };
        let rest = height.saturating_sub(ABOVE + BELOW + 1);
        let wanted = u16::try_from(app.source.cpus.len()).unwrap_or(u16::MAX);
        let others = pins + u16::from(app.filter.is_some());
        let cpus = wanted.min((rest.saturating_sub(others) / 2).max(1)).min(rest);
        let lower = rest.saturating_sub(cpus + others);
        ScreenParts { label, columns: width.saturating_sub(label + words).max(1), cpus, lower }
    }
}
