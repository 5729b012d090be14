//! Sub-buffers to a table.

use super::draw::{TopOrder, TopTable, draw};
use crate::cli::live::{live_merge, warn_of_damage};
use crate::cli::terminal::Screen;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use rtrace::analysis::Loads;
use rtrace::record::{Audience, LiveFacts};
use rtrace::recording::LiveMerge;
use std::io;
use std::time::{Duration, Instant};

/// Shows the load of the running machine.
pub(super) struct TopScreen {
    events: LiveMerge,
    loads: Loads,
    screen: Screen,
    table: TopTable,
    order: TopOrder,
    interval: Duration,
    next: Instant,
}

impl TopScreen {
    pub(super) fn new(facts: &LiveFacts, screen: Screen, interval: Duration) -> Self {
        TopScreen {
            events: live_merge(facts),
            loads: Loads::new(&facts.formats, facts.abi),
            screen,
            table: TopTable::new(&facts.formats),
            order: TopOrder::default(),
            interval,
            next: Instant::now() + interval,
        }
    }

    /// Gives the terminal back.
    pub(super) fn close(self) {
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
        warn_of_damage(self.events.page(buffer, cpu, page), false);
    }

    fn unfinished(&mut self, buffer: usize, cpu: usize) {
        self.events.unfinished(buffer, cpu);
    }

    fn round(&mut self, _: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()> {
        self.events.end_round(last);
        let loads = &mut self.loads;
        self.events.each(|record| loads.record(record));
        if self.is_over()? {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let now = Instant::now();
        if now >= self.next {
            self.next = now + self.interval;
            self.table.read(self.loads.take());
            self.show()?;
        }
        Ok(())
    }
}
