//! The screen: an [`App`] in the cells of a buffer.

use super::app::{App, Focus};
use super::glyphs::Look;
use super::model::Quality;
use super::parts::BELOW;
use super::pen::Pen;
use super::ruler;
use super::second::SecondView;
use super::source::shown;
use super::strips;
use crate::cli::terminal::held_messages;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
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
    ruler::position(app, &mut pen);
    ruler::ruler(app, &mut pen);
    strips::draw(app, None, &mut pen);
    let Some(second) = second else {
        lower(app, None, &mut pen);
        bottom(app, &mut pen);
        return;
    };
    if second.is_shown {
        title(second, &mut pen);
        strips::draw(&second.app, Some(app), &mut pen);
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
