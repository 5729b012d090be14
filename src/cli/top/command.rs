//! `rtrace top`: rings and screen joined.
//! The table in the cells of a screen.

use super::readings::{TopLines, TopReadings};
use crate::cli::args::TracefsArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::record_error::{explain, failure};
use crate::cli::terminal::{NoScreen, Screen, escaped, note};
use anyhow::anyhow;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use rtrace::analysis::{LoadPeriod, TaskLoad};
use rtrace::format::EventFormat;
use rtrace::record::{
    Audience, BufferPlan, Compression, EventPlan, LiveFacts, LiveStream, Plan, RecordError, TargetBuffer,
};
use rtrace::tracefs::EventSelection;
use rtrace::units::{Pid, grouped, parse_duration};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

pub(crate) fn run(args: &TopArgs) -> Result<Exit, Failure> {
    if !args.json {
        Screen::check().map_err(no_screen)?;
    }
    let tracefs = args.tracefs.open()?;
    let events = tracefs.top().events()?;
    let plan = args.plan(|name| events.iter().any(|event| event.to_string() == name));
    let refused = |error: RecordError| match explain(&tracefs, &error) {
        Some(known) => known,
        None => failure(error, |exit| exit),
    };
    let warn = |text: &str| note!("rtrace: warning: {text}");
    let set_up = LiveStream::set_up(&plan, args.tracefs.journal(&tracefs, args.verbose), warn);
    let (stream, facts) = set_up.map_err(refused)?;
    let streamed = if args.json {
        stream.run(&mut TopLines::new(&facts, args.interval, args.duration))
    } else {
        let mut table = TopScreen::new(&facts, Screen::open(false).map_err(no_screen)?, args.interval);
        let streamed = stream.run(&mut table);
        table.close();
        streamed
    };
    match streamed.map_err(refused)?.output {
        // The way in which a key ends the stream, or a reader that has read enough.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Failed, anyhow!("failed to write the table: {error}")))
        }
        _ => Ok(Exit::Success),
    }
}

fn no_screen(error: NoScreen) -> Failure {
    let exit = if matches!(error, NoScreen::Failed(_)) { Exit::Failed } else { Exit::Usage };
    Failure::new(exit, anyhow!(error))
        .hint("top draws on a terminal; with `--json` it prints, as `rtrace profile` and `rtrace stream` do.")
}

// The arguments of `rtrace top`.

/// Show a live table: events a second, tasks by run and wait, CPUs, losses
///
/// Counts the scheduler's events in a ring buffer of its own, which is removed at the end. `s` sorts tasks by run time, by time
/// waited for a CPU, or by the longest wait; `q` quits. With --json it prints and needs no terminal.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace top
  rtrace top -e irq -e 'block:*' --interval 2
  rtrace top --json --duration 10 | jq -c '.tasks[0]'")]
pub(crate) struct TopArgs {
    /// Events to count besides the scheduler's
    #[arg(short, long = "event", value_name = "EVENT")]
    events: Vec<String>,
    /// Time between two tables (seconds, or with ms, m)
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1")]
    interval: Duration,
    /// A JSON document per line and interval instead of the table
    #[arg(long)]
    json: bool,
    /// End after TIME
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// Show each write to tracefs as a line of shell
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

/// Events without which there is no table.
const NEEDED: [&str; 1] = ["sched:sched_switch"];
/// Events that some kernels lack.
const WANTED: [&str; 3] = ["sched:sched_waking", "sched:sched_wakeup", "sched:sched_wakeup_new"];

impl TopArgs {
    /// The events to be enabled, with those of `names` that this machine has.
    fn plan(&self, has: impl Fn(&str) -> bool) -> Plan {
        let wanted = WANTED.iter().filter(|name| has(name));
        let names = NEEDED.iter().chain(wanted).copied().chain(self.events.iter().map(String::as_str));
        let event = |name: &str| EventPlan {
            selection: EventSelection::new(name),
            filters: Vec::new(),
            triggers: Vec::new(),
            enable: true,
        };
        let events = names.map(event).collect();
        let buffer = BufferPlan { events, ..BufferPlan::new(TargetBuffer::Private) };
        // Its own time counts as that of any task.
        let plan = Plan::empty(Path::new(""), Compression::None);
        Plan { buffers: vec![buffer], duration: self.duration, own_threads: true, ..plan }
    }
}

// Readings to a table on the terminal, and its keys.

/// Shows the load of the running machine.
struct TopScreen {
    readings: TopReadings,
    screen: Screen,
    table: TopTable,
    order: TopOrder,
}

impl TopScreen {
    fn new(facts: &LiveFacts, screen: Screen, interval: Duration) -> Self {
        TopScreen {
            readings: TopReadings::new(facts, interval, None),
            screen,
            table: TopTable::new(&facts.formats),
            order: TopOrder::default(),
        }
    }

    /// Gives the terminal back.
    fn close(self) {
        self.screen.close();
    }

    /// Takes the keys that wait; true if one asks for the end.
    fn is_over(&mut self) -> io::Result<bool> {
        while let Some(event) = self.screen.input(Duration::ZERO)? {
            let Event::Key(key) = event else {
                self.show()?;
                continue;
            };
            if key.kind == KeyEventKind::Release {
                continue;
            }
            match key.code {
                KeyCode::Char('q') | KeyCode::Esc => return Ok(true),
                KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Ok(true),
                KeyCode::Char('s') => {
                    self.order = self.order.next();
                    self.show()?;
                }
                _ => {}
            }
        }
        Ok(self.screen.is_to_end())
    }

    fn show(&mut self) -> io::Result<()> {
        let (table, order) = (&self.table, self.order);
        self.screen.draw(|frame| draw(table, order, frame.area(), frame.buffer_mut()))
    }
}

impl Audience for TopScreen {
    fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) {
        self.readings.page(buffer, cpu, page);
    }

    fn unfinished(&mut self, buffer: usize, cpu: usize) {
        self.readings.unfinished(buffer, cpu);
    }

    fn round(&mut self, _: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()> {
        self.readings.end_round(last);
        if self.is_over()? {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if let Some(period) = self.readings.due() {
            self.table.read(period);
            self.show()?;
        }
        Ok(())
    }
}

/// The order of tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TopOrder {
    #[default]
    Run,
    Wait,
    Longest,
}

impl TopOrder {
    fn next(self) -> Self {
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
