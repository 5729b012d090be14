//! `rtrace top`: rings and screen joined.

use super::draw::{TopOrder, TopTable, draw};
use super::readings::{TopLines, TopReadings};
use crate::cli::args::TracefsArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::record_error::{explain, failure};
use crate::cli::terminal::{NoScreen, Screen, note};
use anyhow::anyhow;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use rtrace::record::{
    Audience, BufferPlan, Compression, EventPlan, LiveFacts, LiveStream, Plan, RecordError, TargetBuffer,
};
use rtrace::tracefs::EventSelection;
use rtrace::units::parse_duration;
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
