//! The screen: an [`App`] in the cells of a buffer.
//! The two rows of time: where the window lies in the recording, and the times of its columns.
//! The rows of a recording: its CPUs, the filter's matches, pinned tasks.

use super::app::{App, Focus};
use super::model::{Model, Quality};
use super::parts::BELOW;
use super::pen;
use super::pen::{Look, Pen};
use super::pyramid::ModelStrip;
use super::second::SecondView;
use super::source::shown;
use super::time_words::round_length;
use crate::cli::terminal::held_messages;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rtrace::analysis::StripScale;
use rtrace::units::{ByteSize, Lost, counted, grouped};

/// The keys of the last row.
const KEYS: &str = "←→ move  +- zoom  Tab list  / filter  p pin  g go  y command  ? keys  q quit";

/// Draws all of it.
pub(super) fn draw(
    app: &mut App<'_>,
    second: Option<&mut SecondView<'_>>,
    look: Look,
    area: Rect,
    buffer: &mut Buffer,
) {
    let mut pen = Pen::new(buffer, area, look);
    header(app, &mut pen);
    position(app, &mut pen);
    draw_ruler(app, &mut pen);
    draw_strips(app, None, &mut pen);
    let Some(second) = second else {
        lower(app, None, &mut pen);
        bottom(app, &mut pen);
        return;
    };
    if second.is_shown {
        title(second, &mut pen);
        draw_strips(&second.app, Some(app), &mut pen);
    }
    match app.is_active {
        true => lower_of_two(app, &mut second.app, &mut pen),
        false => lower_of_two(&mut second.app, app, &mut pen),
    }
}

/// The rows below strips, of the recording in turn; what the other one has to tell is told too.
fn lower_of_two(active: &mut App<'_>, other: &mut App<'_>, pen: &mut Pen<'_>) {
    if active.status.is_empty() {
        active.status = std::mem::take(&mut other.status);
    }
    let name = shown(&active.source.input.label());
    lower(active, Some(&name), pen);
    bottom(active, pen);
}

/// The line above the second recording.
fn title(second: &SecondView<'_>, pen: &mut Pen<'_>) {
    let (look, totals) = (pen.look(), second.app.totals);
    let events = totals.map_or_else(String::new, |(events, _)| format!("  {}", counted(events, "event")));
    let cpus = counted(second.app.source.cpus.len() as u64, "CPU");
    let name = shown(&second.app.source.input.label());
    pen.text(0, &"─".repeat(pen.width().into()), look.dim());
    let title = format!(" {name}  by {} (D)  {cpus}{events} ", shown(&second.alignment.to_string()));
    pen.text(2, &title, look.strong());
    match totals {
        Some((_, 0)) => pen.right(" lost 0", look.plain()),
        Some((_, lost)) => pen.right(&format!(" lost {}", grouped(lost)), look.lost()),
        None => pen.right(" lost ?", look.plain()),
    }
    pen.next_row();
}

fn header(app: &App<'_>, pen: &mut Pen<'_>) {
    let look = pen.look();
    let source = app.source;
    let size = std::fs::metadata(&source.input.path).map(|file| format!("  {}", ByteSize(file.len())));
    let title = format!("rtrace view  {}", shown(&source.input.label()));
    let mut text = format!("  {}", counted(source.cpus.len() as u64, "CPU"));
    let (lost, style) = match app.totals {
        Some((events, lost)) => {
            text.push_str(&format!("  {}", counted(events, "event")));
            (format!(" lost {}", grouped(lost)), if lost > 0 { look.lost() } else { look.plain() })
        }
        None => (" lost ?".to_owned(), look.plain()),
    };
    if app.grows {
        text.push_str(if app.follows { "  growing, followed" } else { "  growing (F follows)" });
    }
    let messages = held_messages();
    if messages > 0 {
        text.push_str(&format!("  {} at the end", counted(messages as u64, "message")));
    }
    // The size is what can be spared.
    let length = |texts: [&str; 4]| texts.into_iter().map(|text| text.chars().count()).sum::<usize>();
    let size = size.ok().filter(|size| length([&title, size, &text, &lost]) <= pen.width().into()).unwrap_or_default();
    pen.text(0, &format!("{title}{size}{text}"), look.strong());
    pen.right(&lost, style);
    pen.next_row();
}

/// The events or a text, of one recording of two if it has a `name`.
fn lower(app: &mut App<'_>, name: Option<&str>, pen: &mut Pen<'_>) {
    let (look, parts) = (pen.look(), app.parts);
    let is_selected = app.focus == Focus::Lower;
    let title = match &app.pane {
        Some(pane) => pane.title.clone(),
        None => format!("events {}", app.source.unit.point(app.cursor)),
    };
    let title = name.map_or(title.clone(), |name| format!("{name}: {title}"));
    let line = "─".repeat(pen.width().into());
    pen.text(0, &line, look.dim());
    pen.text(2, &format!(" {title} "), if is_selected { look.selected() } else { look.strong() });
    if app.pane.is_none()
        && let Some(count) = count_in_view(app)
    {
        pen.right(&format!(" {count} "), look.plain());
    }
    pen.next_row();
    let height = usize::from(parts.lower);
    if let Some(pane) = &app.pane {
        let top = pane.top(height);
        for (number, line) in pane.lines.iter().enumerate().skip(top).take(height) {
            pen.text(1, &line.text, look.plain());
            if number == pane.selected {
                pen.text(0, ">", look.selected());
            }
            pen.next_row();
        }
        pen.skip(height.saturating_sub(pane.lines.len().saturating_sub(top)));
        return;
    }
    let unit = app.source.unit;
    let (source, list) = (app.source, &mut app.list);
    let (rows, selected) = list.shown(height);
    for (number, row) in rows.iter().enumerate() {
        let lost = match row.lost {
            Lost::None => String::new(),
            Lost::Count(count) => format!("{} lost  ", grouped(count)),
            Lost::Unknown => "some lost  ".to_owned(),
        };
        let cpu = source.place(row.source, row.cpu).map_or("", |place| &source.cpus[place].label);
        let cpu = cpu.strip_prefix("cpu").unwrap_or(cpu);
        let task: String = format!("{}-{}", row.comm, row.pid.0).chars().take(22).collect();
        let text = format!(" {} [{cpu}] {task:<20} ", unit.point(row.at));
        let style = if number == selected && is_selected { look.selected() } else { look.plain() };
        pen.text(0, &text, style);
        let column = text.chars().count() as u16;
        pen.text(column, &lost, look.lost());
        let column = column + lost.chars().count() as u16;
        pen.text(column, &format!("{}: {}", row.name, row.text), style);
        if number == selected {
            pen.text(0, ">", look.selected());
        }
        pen.next_row();
    }
    let missing = height.saturating_sub(rows.len());
    if rows.is_empty() && height > 0 {
        pen.text(1, "no event here", look.dim());
    }
    pen.skip(missing);
}

fn count_in_view(app: &App<'_>) -> Option<String> {
    let model = app.model()?;
    let sum = model.sum().events;
    let matches = model.matches.as_ref().map(|matches| grouped(matches.sum().events));
    let all = match (model.quality, &matches) {
        (Quality::Exact, Some(matches)) => format!("{matches} of {} in view", grouped(sum)),
        (Quality::Exact, None) => format!("{} in view", grouped(sum)),
        (Quality::Decoded(percent @ ..100), _) => format!("about {} in view, {percent} % decoded", grouped(sum)),
        _ => format!("about {} in view", grouped(sum)),
    };
    Some(app.matches_in_file().map_or_else(|| all.clone(), |in_file| format!("{all}, {in_file}")))
}

fn bottom(app: &App<'_>, pen: &mut Pen<'_>) {
    let look = pen.look();
    pen.below(BELOW);
    match &app.prompt {
        Some(prompt) => pen.text(0, &format!("{}{}_", prompt.kind.label(), shown(&prompt.text)), look.strong()),
        None => pen.text(0, &shown(&app.status), look.plain()),
    }
    pen.next_row();
    pen.text(0, KEYS, look.dim());
}

/// The window within the recording: `0.000 ....[###]....... 3612.447`.
fn position(app: &App<'_>, pen: &mut Pen<'_>) {
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
fn draw_ruler(app: &App<'_>, pen: &mut Pen<'_>) {
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

/// Draws all of them, each CPU beside that of the same name of `base`.
fn draw_strips(app: &App<'_>, base: Option<&App<'_>>, pen: &mut Pen<'_>) {
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
        let glyphs = strip.cells.iter().map(|cell| (pen::level(cell.events, highest), look.plain()));
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
                let cells = pin.states.iter().map(|state| (pen::state(*state), look.plain()));
                pen.columns(parts, cells, Some(app.scale().column(app.cursor)));
                pen.after(parts, &format!(" {}", pen::LEGEND));
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
        () if cell.has_losses() => (pen::LOST, look.lost()),
        () if by_density => (pen::level(cell.events, highest), look.dense()),
        () if cell.known == 0 => (pen::UNKNOWN, look.dim()),
        () => (pen::level(cell.busy, cell.known), look.busy()),
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
