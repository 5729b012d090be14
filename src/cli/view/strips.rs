//! The rows of CPUs, of the filter's matches and of pinned tasks, and the CPUs of the second recording.

use super::app::{App, Focus};
use super::glyphs;
use super::model::{Model, Quality};
use super::parts::ScreenParts;
use super::pen::Pen;
use super::pyramid::ModelStrip;
use super::second::SecondView;
use super::source::{ViewSource, shown};
use rtrace::units::{counted, grouped};

/// Draws all of them.
pub(super) fn draw(app: &App<'_>, second: Option<&SecondView<'_>>, parts: ScreenParts, pen: &mut Pen<'_>) {
    let Some(model) = app.model() else { return };
    let first = (app.cpu + 1).saturating_sub(parts.cpus.into());
    let shown = app.source.cpus.iter().zip(&model.strips).enumerate().skip(first).take(parts.cpus.into());
    for (number, (cpu, strip)) in shown {
        let is_selected = number == app.cpu && app.focus == Focus::Strips;
        pen.label(&cpu.label, parts, is_selected);
        cells(app, model, strip, parts, pen);
        pen.after(parts, &words(app, app.source, model, strip, None));
        pen.next_row();
    }
    if let (Some(second), Some(rows)) = (second, parts.second) {
        draw_second(app, (model, second), (first, rows), parts, pen);
    }
    draw_matches(app, model, parts, pen);
    draw_pins(app, model, parts, pen);
}

fn draw_matches(app: &App<'_>, model: &Model, parts: ScreenParts, pen: &mut Pen<'_>) {
    let look = pen.look();
    let Some(typed) = &app.filter else { return };
    pen.label("match", parts, false);
    if let Some(strip) = &model.matches {
        let highest = strip.cells.iter().map(|cell| cell.events).max().unwrap_or(0);
        let glyphs = strip.cells.iter().map(|cell| (glyphs::level(cell.events, highest), look.plain()));
        pen.columns(parts, glyphs, None);
        pen.after(parts, &format!(" {}  {}", grouped(strip.sum().events), typed.text));
    } else {
        pen.text(parts.label, &format!("zoom in to see where  {}", typed.text), look.dim());
    }
    pen.next_row();
}

fn draw_pins(app: &App<'_>, model: &Model, parts: ScreenParts, pen: &mut Pen<'_>) {
    let look = pen.look();
    for pid in app.pins.iter().take(4) {
        pen.label(&format!("{}-{}", app.source.comm(*pid), pid.0), parts, false);
        match model.pins.iter().find(|pin| pin.pid == *pid) {
            Some(pin) => {
                let cells = pin.states.iter().map(|state| (glyphs::state(*state), look.plain()));
                pen.columns(parts, cells, Some(app.scale().column(app.cursor)));
                pen.after(parts, &format!(" {}", glyphs::LEGEND));
            }
            None => pen.text(parts.label, "zoom in to see its states", look.dim()),
        }
        pen.next_row();
    }
}

/// The CPUs of the second recording, each beside the first one's of the same name.
fn draw_second(
    app: &App<'_>,
    (model, second): (&Model, &SecondView<'_>),
    (first, rows): (usize, u16),
    parts: ScreenParts,
    pen: &mut Pen<'_>,
) {
    let look = pen.look();
    let events = second.totals.map_or_else(String::new, |(events, _)| format!("  {}", counted(events, "event")));
    let cpus = counted(second.source.cpus.len() as u64, "CPU");
    let name = shown(&second.source.input.label());
    pen.text(0, &"─".repeat(pen.width().into()), look.dim());
    let title = format!(" {name}  by {} (D)  {cpus}{events} ", shown(&second.alignment.to_string()));
    pen.text(2, &title, look.strong());
    match second.totals {
        Some((_, 0)) => pen.right(" lost 0", look.plain()),
        Some((_, lost)) => pen.right(&format!(" lost {}", grouped(lost)), look.lost()),
        None => pen.right(" lost ?", look.plain()),
    }
    pen.next_row();
    let Some(own) = second.model() else { return pen.skip(rows.into()) };
    let first = first.min(second.source.cpus.len().saturating_sub(rows.into()));
    for (cpu, strip) in second.source.cpus.iter().zip(&own.strips).skip(first).take(rows.into()) {
        let above = app.source.cpus.iter().position(|one| one.label == cpu.label);
        let above = above.and_then(|place| model.strips.get(place));
        pen.label(&cpu.label, parts, false);
        cells(app, own, strip, parts, pen);
        pen.after(parts, &words(app, second.source, own, strip, above));
        pen.next_row();
    }
}

fn cells(app: &App<'_>, model: &Model, strip: &ModelStrip, parts: ScreenParts, pen: &mut Pen<'_>) {
    let look = pen.look();
    let by_density = app.density || !strip.has_tasks;
    let highest = model.strips.iter().flat_map(|strip| &strip.cells).map(|cell| cell.events).max().unwrap_or(0);
    let cells = strip.cells.iter().map(|cell| match () {
        () if cell.has_losses() => (glyphs::LOST, look.lost()),
        () if by_density => (glyphs::level(cell.events, highest), look.dense()),
        () if cell.known == 0 => (glyphs::UNKNOWN, look.dim()),
        () => (glyphs::level(cell.busy, cell.known), look.busy()),
    });
    pen.columns(parts, cells, Some(app.scale().column(app.cursor)));
}

/// The share of time that a CPU was busy, in hundredths; `None` if that is not known.
fn busy(strip: &ModelStrip) -> Option<i64> {
    let sum = strip.sum();
    let is_known = strip.has_tasks && sum.known > 0;
    is_known.then(|| (u128::from(sum.busy) * 100 / u128::from(sum.known)) as i64)
}

/// The share of time that a CPU was busy, and its longest task; with `base` the difference from that.
fn words(
    app: &App<'_>,
    source: &ViewSource<'_>,
    model: &Model,
    strip: &ModelStrip,
    base: Option<&ModelStrip>,
) -> String {
    let about = if model.quality == Quality::Exact { "" } else { "~" };
    let Some(share) = busy(strip).filter(|_| !app.density) else {
        let events = strip.sum().events;
        let change = base.map(|base| i128::from(events) - i128::from(base.sum().events));
        let sign = |change: i128| if change < 0 { '-' } else { '+' };
        let change = change.map(|change| format!(" {}{}", sign(change), grouped(change.unsigned_abs() as u64)));
        return format!(" {about}{}{}", counted(events, "event"), change.unwrap_or_default());
    };
    let change = base.and_then(busy).map_or_else(String::new, |base| format!(" {:>+4}", share - base));
    let task = strip.top.map_or_else(|| "idle".to_owned(), |(pid, _)| format!("{}-{}", source.comm(pid), pid.0));
    format!(" {about}{share:>3}%{change} {task}")
}
