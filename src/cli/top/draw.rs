//! The table in the cells of a screen.

use crate::cli::terminal::escaped;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use rtrace::analysis::{LoadPeriod, TaskLoad};
use rtrace::format::EventFormat;
use rtrace::units::{Pid, grouped};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The order of tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TopOrder {
    #[default]
    Run,
    Wait,
    Longest,
}

impl TopOrder {
    pub(super) fn next(self) -> Self {
        match self {
            TopOrder::Run => TopOrder::Wait,
            TopOrder::Wait => TopOrder::Longest,
            TopOrder::Longest => TopOrder::Run,
        }
    }

    fn of(self, task: &TaskLoad) -> u64 {
        match self {
            TopOrder::Run => task.run,
            TopOrder::Wait => task.wait,
            TopOrder::Longest => task.longest,
        }
    }
}

/// The last reading, and what came before.
pub(super) struct TopTable {
    names: BTreeMap<u16, String>,
    last: LoadPeriod,
    /// Events and losses since the begin; places of uncounted losses count as one.
    events: u64,
    lost: u64,
    /// The longest waits of the last readings: time, task, name.
    worst: Vec<(u64, Pid, Vec<u8>)>,
}

/// Readings of which the longest wait is shown.
const READINGS: usize = 10;

impl TopTable {
    pub(super) fn new(formats: &[EventFormat]) -> Self {
        let names = formats.iter().map(|format| (format.id.0, format!("{}:{}", format.system, format.name)));
        TopTable { names: names.collect(), last: LoadPeriod::default(), events: 0, lost: 0, worst: Vec::new() }
    }

    /// Takes over the next reading.
    pub(super) fn read(&mut self, period: LoadPeriod) {
        self.events += period.events.values().sum::<u64>();
        self.lost = self.lost.saturating_add(period.lost).saturating_add(period.gaps);
        let worst = period.tasks.iter().max_by_key(|(_, task)| task.longest);
        if self.worst.len() >= READINGS {
            self.worst.remove(0);
        }
        self.worst.push(worst.map_or((0, Pid(0), Vec::new()), |(pid, task)| (task.longest, *pid, task.comm.clone())));
        self.last = period;
    }

    /// Seconds of the last reading.
    fn seconds(&self) -> f64 {
        let nanos = self.last.window.map_or(0, |(begin, end)| end.saturating_sub(begin));
        (nanos.max(1)) as f64 / 1e9
    }
}

fn millis(nanos: u64) -> String {
    format!("{}.{:03}", nanos / 1_000_000, nanos % 1_000_000 / 1000)
}

fn share(part: u64, whole: u64) -> String {
    format!("{}%", (u128::from(part) * 100).checked_div(whole.into()).unwrap_or(0))
}

/// Draws the table.
pub(super) fn draw(table: &TopTable, order: TopOrder, area: Rect, buffer: &mut Buffer) {
    let (strong, plain) = (Style::new().add_modifier(Modifier::BOLD), Style::new());
    let mut row = 0;
    let mut line = |text: &str, style: Style| {
        if row < area.height {
            buffer.set_stringn(area.x, area.y + row, text, area.width.into(), style);
        }
        row += 1;
    };
    let seconds = table.seconds();
    let count: u64 = table.last.events.values().sum();
    let head = format!(
        "rtrace top  {} events/s  {} in all  lost {}",
        grouped((count as f64 / seconds) as u64),
        grouped(table.events),
        grouped(table.lost)
    );
    line(&head, if table.lost > 0 { strong.add_modifier(Modifier::REVERSED) } else { strong });
    let worst = table.worst.iter().max_by_key(|(time, ..)| *time).filter(|(time, ..)| *time > 0);
    match worst {
        Some((time, pid, comm)) => {
            line(&format!("longest wait for a CPU lately: {} ms, {}-{}", millis(*time), escaped(comm), pid.0), plain);
        }
        None => line("no wait for a CPU yet", plain),
    }
    let cpus = table.last.cpus.iter().map(|(cpu, load)| format!("cpu{} {:>4}", cpu.0, share(load.busy, load.known)));
    let each = (usize::from(area.width) / 12).max(1);
    let cpus: Vec<String> = cpus.collect();
    cpus.chunks(each)
        .take(4)
        .for_each(|cpus| line(&cpus.iter().map(|cpu| format!("{cpu:<12}")).collect::<String>(), plain));
    let rest = usize::from(area.height).saturating_sub(6 + cpus.len().div_ceil(each).min(4));
    let mut events: Vec<(&u16, &u64)> = table.last.events.iter().collect();
    events.sort_by_key(|(id, count)| (Reverse(**count), **id));
    let shown = events.len().min(rest / 3);
    line(&format!("{:>12}  event", "events/s"), strong);
    for (id, count) in events.iter().take(shown) {
        let name = table.names.get(*id).map_or_else(|| format!("event {id}"), |name| escaped(name.as_bytes()));
        line(&format!("{:>12}  {name}", grouped((**count as f64 / seconds) as u64)), plain);
    }
    let mark = |of: TopOrder, text: &str| if of == order { format!("{text}*") } else { text.to_owned() };
    let heading = format!(
        "{:>9} {:>12} {:>12}  task",
        mark(TopOrder::Run, "run"),
        mark(TopOrder::Wait, "wait ms"),
        mark(TopOrder::Longest, "longest ms")
    );
    line(&heading, strong);
    let mut tasks: Vec<(&Pid, &TaskLoad)> = table.last.tasks.iter().collect();
    tasks.sort_by_key(|(pid, task)| (Reverse(order.of(task)), pid.0));
    let time = table.last.window.map_or(0, |(begin, end)| end.saturating_sub(begin));
    for (pid, task) in tasks.iter().take(rest.saturating_sub(shown)) {
        let name = escaped(&task.comm).replace(['\n', '\t'], " ");
        let (run, wait, longest) = (share(task.run, time), millis(task.wait), millis(task.longest));
        line(&format!("{run:>9} {wait:>12} {longest:>12}  {name}-{}", pid.0), plain);
    }
    let last = area.height.saturating_sub(1);
    buffer.set_stringn(
        area.x,
        area.y + last,
        "s sort  q quit",
        area.width.into(),
        Style::new().add_modifier(Modifier::DIM),
    );
}
