//! Prints the tasks that are switched in, for a second, while it happens. Needs root. `cargo run --example live`

use rtrace::event::TypedEvent;
use rtrace::events::EventSelection;
use rtrace::format::EventFormat;
use rtrace::record::{Audience, BufferPlan, Compression, EventPlan, LiveFacts, LiveStream, Plan, TargetBuffer};
use rtrace::recording::{LiveMerge, PageLayout};
use rtrace::tracefs::{Journal, Tracefs};
use std::error::Error;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Prints what the rings hold, in the order of time.
struct Printer<'f> {
    facts: &'f LiveFacts,
    switch: TypedEvent,
    merge: LiveMerge,
}

impl Audience for Printer<'_> {
    fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) {
        if let Err(damage) = self.merge.page(buffer, cpu, page) {
            eprintln!("cpu {cpu}: {damage}");
        }
    }

    fn unfinished(&mut self, buffer: usize, cpu: usize) {
        self.merge.unfinished(buffer, cpu);
    }

    fn round(&mut self, _: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()> {
        self.merge.end_round(last);
        self.merge.each(|record| {
            let next = self.switch.fields.iter().find(|field| field.name == "next_comm");
            let value = next.and_then(|field| field.value(self.facts.abi, record.data));
            println!("{} [{:03}] {value:?}", record.timestamp.0, record.cpu);
        });
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let tracefs = Tracefs::discover()?;
    let mut plan = Plan::empty(Path::new(""), Compression::None);
    let selection = EventSelection::new("sched:sched_switch");
    let mut buffer = BufferPlan::new(TargetBuffer::Private);
    buffer.events.push(EventPlan { selection, filters: Vec::new(), triggers: Vec::new(), enable: true });
    plan.buffers = vec![buffer];
    plan.all_formats = false;
    plan.own_threads = false;
    plan.duration = Some(Duration::from_secs(1));
    let warn = |text: &str| eprintln!("{text}");
    let (stream, facts) = LiveStream::set_up(&plan, Journal::in_memory(&tracefs), warn)?;
    let is_switch = |format: &&EventFormat| format.name == "sched_switch";
    let switch = TypedEvent::new(facts.formats.iter().find(is_switch).ok_or("no sched_switch")?);
    let layout = |size| PageLayout::new(&facts.header_page, facts.abi, size);
    let merge = LiveMerge::new(facts.buffers.iter().map(|of| (layout(of.sub_buffer), of.cpus.clone())));
    stream.run(&mut Printer { facts: &facts, switch, merge })?.output?;
    Ok(())
}
