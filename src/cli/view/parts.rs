//! The parts of the screen.

use super::source::ViewCpu;

/// Rows and columns of the parts of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScreenParts {
    /// Columns of the labels before strips.
    pub(super) label: u16,
    /// Columns of strips.
    pub(super) columns: u16,
    /// Rows of CPUs.
    pub(super) cpus: u16,
    /// Rows of the second recording's CPUs, below a row of its own; `None` if it is not shown.
    pub(super) second: Option<u16>,
    /// The first row of the lower pane.
    pub(super) lower_top: u16,
    /// Rows of the lower pane.
    pub(super) lower: u16,
}

/// Parts to be shown.
pub(super) struct WantedParts<'p> {
    pub(super) cpus: &'p [ViewCpu],
    /// CPUs of the second recording.
    pub(super) second: Option<&'p [ViewCpu]>,
    pub(super) pins: usize,
    pub(super) has_filter: bool,
}

/// Rows above strips: header, position, ruler.
pub(super) const ABOVE: u16 = 3;
/// Rows below the lower pane: status, keys.
pub(super) const BELOW: u16 = 2;

impl ScreenParts {
    /// The parts of a screen of this size.
    pub(super) fn of(wanted: &WantedParts<'_>, width: u16, height: u16) -> Self {
        let cpus = wanted.cpus.iter().chain(wanted.second.unwrap_or_default());
        let longest = cpus.map(|cpu| cpu.label.chars().count()).max().unwrap_or(0);
        let pins = wanted.pins.min(4) as u16;
        let label = if pins > 0 { longest.max(14) } else { longest.max(6) };
        let label = (label as u16 + 1).min(width / 3);
        let words = match width {
            ..60 => 0,
            60..100 => 22,
            _ => 28,
        };
        let rest = height.saturating_sub(ABOVE + BELOW + 1);
        let rows = |cpus: &[ViewCpu]| u16::try_from(cpus.len()).unwrap_or(u16::MAX);
        let others = pins + u16::from(wanted.has_filter);
        let free = rest.saturating_sub(others);
        // Two recordings and the events have a third each.
        let second = wanted.second.filter(|_| free >= 4).map(|cpus| rows(cpus).min((free - 1) / 3));
        let most = if second.is_some() { (free - 1) / 3 } else { (free / 2).max(1) };
        let cpus = rows(wanted.cpus).min(most).min(rest);
        let lower = rest.saturating_sub(cpus + others + second.map_or(0, |rows| rows + 1));
        let columns = width.saturating_sub(label + words).max(1);
        ScreenParts { label, columns, cpus, second, lower_top: height.saturating_sub(BELOW + lower), lower }
    }
}
