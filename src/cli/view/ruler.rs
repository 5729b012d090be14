//! The two rows of time: where the window lies in the recording, and the times of its columns.

use super::app::App;
use super::pen::Pen;
use super::time_words::round_length;
use rtrace::analysis::StripScale;

/// The window within the recording: `0.000 ....[###]....... 3612.447`.
pub(super) fn position(app: &App<'_>, pen: &mut Pen<'_>) {
    let unit = app.source.unit;
    let (begin, end) = (unit.micros(app.begin), unit.micros(app.end));
    let width = usize::from(pen.width()).saturating_sub(begin.chars().count() + end.chars().count() + 2);
    if width >= 4 {
        let whole = StripScale::new(app.begin, app.end, width);
        let place = |at: u64| whole.column(at) * width / whole.columns();
        let (first, last) = (place(app.from), place(app.to));
        let bar: String = (0..width).map(|column| if (first..=last).contains(&column) { '#' } else { '.' }).collect();
        pen.text(0, &format!("{begin} {bar} {end}"), pen.look().dim());
    }
    pen.next_row();
}

/// The times of the columns, marks, and the cursor.
pub(super) fn ruler(app: &App<'_>, pen: &mut Pen<'_>) {
    let (scale, unit, look, parts) = (app.scale(), app.source.unit, pen.look(), app.parts);
    let first = unit.point(app.from);
    let length = first.chars().count();
    // Beside the cursor, which would hide a digit.
    let cursor = usize::from(parts.label) + scale.column(app.cursor);
    let place = if cursor < length { cursor + 1 } else { 0 };
    pen.text(place as u16, &first, look.dim());
    let mut used = place + length + 1;
    let step = step(&scale, 14);
    let mut into = step;
    while let Some(at) = app.from.checked_add(into).filter(|at| *at <= app.to && step > 0) {
        let label = format!("|+{}", round_length(unit, into));
        let column = usize::from(parts.label) + scale.column(at);
        if column >= used && column + label.chars().count() <= usize::from(parts.label + parts.columns) {
            pen.text(column as u16, &label, look.dim());
            used = column + label.chars().count() + 1;
        }
        into = into.saturating_add(step);
    }
    for mark in app.marks.iter().filter(|mark| (app.from..=app.to).contains(*mark)) {
        pen.text(parts.label + scale.column(*mark) as u16, "◆", look.strong());
    }
    pen.text(parts.label + scale.column(app.cursor) as u16, "▼", look.strong());
    if let Some(distance) = app.distance() {
        pen.text(parts.label + parts.columns, &format!(" Δ {distance}"), look.strong());
    }
    pen.next_row();
}

/// A round length of time of at least so many columns.
fn step(scale: &StripScale, columns: u128) -> u64 {
    let least = scale.span() * columns / scale.columns() as u128;
    let mut step: u128 = 1;
    for factor in [2u128, 5, 10].iter().cycle().copied().scan(1u128, |power, factor| {
        let step = power.saturating_mul(factor);
        if factor == 10 {
            *power = step;
        }
        Some(step)
    }) {
        if step >= least {
            break;
        }
        step = factor;
        if step > u128::from(u64::MAX) {
            return 0;
        }
    }
    step as u64
}
