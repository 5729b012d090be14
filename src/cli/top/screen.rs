//! Readings to a table on the terminal, and its keys.

use super::draw::{TopOrder, TopTable, draw};
use super::readings::TopReadings;
use crate::cli::terminal::Screen;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use rtrace::record::{Audience, LiveFacts};
use std::io;
use std::time::Duration;

/// Shows the load of the running machine.
pub(super) struct TopScreen {
    readings: TopReadings,
    screen: Screen,
    table: TopTable,
    order: TopOrder,
}

impl TopScreen {
    pub(super) fn new(facts: &LiveFacts, screen: Screen, interval: Duration) -> Self {
        TopScreen {
            readings: TopReadings::new(facts, interval, None),
            screen,
            table: TopTable::new(&facts.formats),
            order: TopOrder::default(),
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
