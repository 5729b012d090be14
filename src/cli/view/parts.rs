//! The parts of the screen.

use super::source::ViewCpu;

/// Rows and columns of the parts of the screen, as one recording has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScreenParts {
    /// Columns of the labels before strips.
    pub(super) label: u16,
    /// Columns of strips.
    pub(super) columns: u16,
    /// The first row of CPUs, and their number.
    pub(super) top: u16,
    pub(super) cpus: u16,
    /// Rows of pinned tasks.
    pub(super) pins: u16,
    /// The first row of the lower pane.
    pub(super) lower_top: u16,
    /// Rows of the lower pane.
    pub(super) lower: u16,
}

/// The rows that a recording would have.
#[derive(Clone, Copy)]
pub(super) struct WantedRows<'p> {
    pub(super) cpus: &'p [ViewCpu],
    pub(super) pins: usize,
    pub(super) has_filter: bool,
}

impl WantedRows<'_> {
    fn pins(&self) -> u16 {
        self.pins.min(4) as u16
    }

    /// Rows beside those of CPUs.
    fn others(&self) -> u16 {
        self.pins() + u16::from(self.has_filter)
    }

    fn cpus(&self) -> u16 {
        u16::try_from(self.cpus.len()).unwrap_or(u16::MAX)
    }
}

/// Rows above strips: header, position, ruler.
const ABOVE: u16 = 3;
/// Rows below the lower pane: status, keys.
pub(super) const BELOW: u16 = 2;

impl ScreenParts {
    /// The parts of a screen of this size, of one recording or of two; the second one has none where it has no room.
    pub(super) fn of(
        first: WantedRows<'_>,
        second: Option<WantedRows<'_>>,
        width: u16,
        height: u16,
    ) -> (Self, Option<Self>) {
        let both = || [first].into_iter().chain(second);
        let longest = both().flat_map(|wanted| wanted.cpus).map(|cpu| cpu.label.chars().count()).max().unwrap_or(0);
        let label = if both().any(|wanted| wanted.pins > 0) { longest.max(14) } else { longest.max(6) };
        let label = (label as u16 + 1).min(width / 3);
        let words = match width {
            ..60 => 0,
            60..100 => 22,
            _ => 28,
        };
        let columns = width.saturating_sub(label + words).max(1);
        let rest = height.saturating_sub(ABOVE + BELOW + 1);
        let free = rest.saturating_sub(both().map(|wanted| wanted.others()).sum());
        // Two recordings and the events have a third each.
        let second = second.filter(|_| free >= 4);
        let most = if second.is_some() { (free - 1) / 3 } else { (free / 2).max(1) };
        let block = |wanted: &WantedRows<'_>, top: u16| {
            let cpus = wanted.cpus().min(most).min(rest);
            (
                ScreenParts { label, columns, top, cpus, pins: wanted.pins(), lower_top: 0, lower: 0 },
                cpus + wanted.others(),
            )
        };
        let (first, used) = block(&first, ABOVE);
        let second = second.map(|second| block(&second, ABOVE + used + 1));
        let lower = rest.saturating_sub(used + second.map_or(0, |(_, rows)| rows + 1));
        let lower_top = height.saturating_sub(BELOW + lower);
        let with_lower = |parts: ScreenParts| ScreenParts { lower_top, lower, ..parts };
        (with_lower(first), second.map(|(parts, _)| with_lower(parts)))
    }
}
