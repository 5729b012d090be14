//! The rows of a recording: its CPUs, the filter's matches, pinned tasks.

use super::app::{App, Focus};
use super::glyphs;
use super::model::{Model, Quality};
use super::pen::Pen;
use super::pyramid::ModelStrip;
use rtrace::units::{counted, grouped};

/// Draws all of them, each CPU beside that of the same name of `base`.
pub(super) fn draw(app: &App<'_>, base: Option<&App<'_>>, pen: &mut Pen<'_>) {
    let Some(model) = app.model() else { return };
    let parts = app.parts;
    let first = (app.cpu + 1).saturating_sub(parts.cpus.into());
    let shown = app.source.cpus.iter().zip(&model.strips).enumerate().skip(first).take(parts.cpus.into());
    for (number, (cpu, strip)) in shown {
        let is_selected = number == app.cpu && app.focus == Focus::Strips && app.is_active;
        pen.label(&cpu.label, parts, is_selected);
        cells(app, model, strip, pen);
        pen.after(parts, &words(app, model, strip, base.and_then(|base| strip_of(base, &cpu.label))));
        pen.next_row();
    }
    draw_matches(app, model, pen);
    draw_pins(app, model, pen);
}

/// The strip of the CPU of that name.
fn strip_of<'m>(app: &'m App<'_>, label: &str) -> Option<&'m ModelStrip> {
    let place = app.source.cpus.iter().position(|cpu| cpu.label == label)?;
    app.model()?.strips.get(place)
}

fn draw_matches(app: &App<'_>, model: &Model, pen: &mut Pen<'_>) {
    let (look, parts) = (pen.look(), app.parts);
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

fn draw_pins(app: &App<'_>, model: &Model, pen: &mut Pen<'_>) {
    let (look, parts) = (pen.look(), app.parts);
    for pid in app.pins.iter().take(parts.pins.into()) {
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

fn cells(app: &App<'_>, model: &Model, strip: &ModelStrip, pen: &mut Pen<'_>) {
    let look = pen.look();
    let by_density = app.density || !strip.has_tasks;
    let highest = model.strips.iter().flat_map(|strip| &strip.cells).map(|cell| cell.events).max().unwrap_or(0);
    let cells = strip.cells.iter().map(|cell| match () {
        () if cell.has_losses() => (glyphs::LOST, look.lost()),
        () if by_density => (glyphs::level(cell.events, highest), look.dense()),
        () if cell.known == 0 => (glyphs::UNKNOWN, look.dim()),
        () => (glyphs::level(cell.busy, cell.known), look.busy()),
    });
    pen.columns(app.parts, cells, Some(app.scale().column(app.cursor)));
}

/// The share of time that a CPU was busy, in hundredths; `None` if that is not known.
fn busy(strip: &ModelStrip) -> Option<i64> {
    let sum = strip.sum();
    let is_known = strip.has_tasks && sum.known > 0;
    is_known.then(|| (u128::from(sum.busy) * 100 / u128::from(sum.known)) as i64)
}

/// The share of time that a CPU was busy, and its longest task; with `base` the difference from that.
fn words(app: &App<'_>, model: &Model, strip: &ModelStrip, base: Option<&ModelStrip>) -> String {
    let about = if model.quality == Quality::Exact { "" } else { "~" };
    let Some(share) = busy(strip).filter(|_| !app.density) else {
        let events = strip.sum().events;
        let change = base.map(|base| i128::from(events) - i128::from(base.sum().events));
        let sign = |change: i128| if change < 0 { '-' } else { '+' };
        let change = change.map(|change| format!(" {}{}", sign(change), grouped(change.unsigned_abs() as u64)));
        return format!(" {about}{}{}", counted(events, "event"), change.unwrap_or_default());
    };
    let change = base.and_then(busy).map_or_else(String::new, |base| format!(" {:>+4}", share - base));
    let task = strip.top.map_or_else(|| "idle".to_owned(), |(pid, _)| format!("{}-{}", app.source.comm(pid), pid.0));
    format!(" {about}{share:>3}%{change} {task}")
}
