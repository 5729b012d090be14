//! Entries, exits and what asks for them, out of records.

use crate::answer::analysis::by_event::{ByEvent, KnownEvents, RecordNumber, RecordText};
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::ops::Deref;

/// A kind of code that interrupts tasks, or that the kernel runs later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HandlerKind {
    /// The handler of a device's interrupt (`irq:irq_handler_*`), by number.
    Irq,
    /// An interrupt of the processor itself (`irq_vectors:*`, x86): local timer, rescheduling, function calls; by vector.
    Vector,
    /// A soft interrupt (`irq:softirq_*`), by vector.
    SoftIrq,
    /// A tasklet (`irq:tasklet_*`, since Linux 6.4), by function.
    Tasklet,
    /// A timer (`timer:timer_expire_*`), by function.
    Timer,
    /// A high-resolution timer (`timer:hrtimer_expire_*`), by function.
    HrTimer,
    /// A work item (`workqueue:workqueue_execute_*`), by function; a worker task runs it.
    Work,
}

impl HandlerKind {
    /// All, in the order of their numbers.
    pub const ALL: [HandlerKind; 7] = [
        HandlerKind::Irq,
        HandlerKind::Vector,
        HandlerKind::SoftIrq,
        HandlerKind::Tasklet,
        HandlerKind::Timer,
        HandlerKind::HrTimer,
        HandlerKind::Work,
    ];

    /// Soft interrupts in the order of their vectors (include/linux/interrupt.h).
    pub const SOFT_IRQS: [&str; 10] =
        ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

    /// The kind of handler whose end an event is.
    pub(crate) fn of_exit(system: &str, event: &str) -> Option<Self> {
        IrqKind::place(system, event).filter(|(_, step, ..)| *step == IrqStep::Exit).map(|(kind, ..)| kind)
    }

    /// The kind in a word.
    pub fn name(self) -> &'static str {
        match self {
            HandlerKind::Irq => "irq",
            HandlerKind::Vector => "vector",
            HandlerKind::SoftIrq => "softirq",
            HandlerKind::Tasklet => "tasklet",
            HandlerKind::Timer => "timer",
            HandlerKind::HrTimer => "hrtimer",
            HandlerKind::Work => "work",
        }
    }
}

/// The event of a record. `key` tells entries of a kind apart, `id` is what they are counted under.
#[derive(Clone, Copy, Debug)]
pub(super) enum IrqEvent<'a> {
    /// A soft interrupt or a work item is asked for.
    Request {
        kind: HandlerKind,
        key: u64,
    },
    Entry {
        kind: HandlerKind,
        key: u64,
        id: u64,
        name: &'a [u8],
    },
    Exit {
        kind: HandlerKind,
        key: u64,
    },
    /// A CPU goes from one task to another.
    Switch {
        previous: Pid,
        next: Pid,
    },
}

/// The events of one recording.
#[derive(Clone, Debug)]
pub(super) struct IrqEvents(ByEvent<IrqEventKind>);

#[derive(Clone, Debug)]
enum IrqEventKind {
    Handler(IrqKind),
    Switch { previous: RecordNumber, next: RecordNumber },
}

#[derive(Clone, Debug)]
struct IrqKind {
    kind: HandlerKind,
    step: IrqStep,
    key: RecordNumber,
    id: RecordNumber,
    name: HandlerName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IrqStep {
    Request,
    Entry,
    Exit,
}

#[derive(Clone, Debug)]
enum HandlerName {
    None,
    Field(RecordText),
    Fixed(Box<[u8]>),
}

impl IrqKind {
    /// The kind of handler that an event is about, its step, and the fields that tell runs and handlers apart.
    fn place(system: &str, event: &str) -> Option<(HandlerKind, IrqStep, &'static str, &'static str)> {
        use HandlerKind::{HrTimer, Irq, SoftIrq, Tasklet, Timer, Vector, Work};
        Some(match (system, event) {
            ("irq", "irq_handler_entry") => (Irq, IrqStep::Entry, "irq", "irq"),
            ("irq", "irq_handler_exit") => (Irq, IrqStep::Exit, "irq", "irq"),
            ("irq", "softirq_raise") => (SoftIrq, IrqStep::Request, "vec", "vec"),
            ("irq", "softirq_entry") => (SoftIrq, IrqStep::Entry, "vec", "vec"),
            ("irq", "softirq_exit") => (SoftIrq, IrqStep::Exit, "vec", "vec"),
            ("irq", "tasklet_entry") => (Tasklet, IrqStep::Entry, "tasklet", "func"),
            ("irq", "tasklet_exit") => (Tasklet, IrqStep::Exit, "tasklet", "func"),
            ("timer", "timer_expire_entry") => (Timer, IrqStep::Entry, "timer", "function"),
            ("timer", "timer_expire_exit") => (Timer, IrqStep::Exit, "timer", "timer"),
            ("timer", "hrtimer_expire_entry") => (HrTimer, IrqStep::Entry, "hrtimer", "function"),
            ("timer", "hrtimer_expire_exit") => (HrTimer, IrqStep::Exit, "hrtimer", "hrtimer"),
            ("workqueue", "workqueue_queue_work") => (Work, IrqStep::Request, "work", "work"),
            ("workqueue", "workqueue_execute_start") => (Work, IrqStep::Entry, "work", "function"),
            ("workqueue", "workqueue_execute_end") => (Work, IrqStep::Exit, "work", "work"),
            ("irq_vectors", name) if name.ends_with("_entry") => (Vector, IrqStep::Entry, "vector", "vector"),
            ("irq_vectors", name) if name.ends_with("_exit") => (Vector, IrqStep::Exit, "vector", "vector"),
            _ => return None,
        })
    }

    fn of(format: &EventFormat) -> Option<IrqKind> {
        let (kind, step, key, id) = IrqKind::place(&format.system, &format.name)?;
        let name = match kind {
            HandlerKind::Irq if step == IrqStep::Entry => HandlerName::Field(RecordText::of(format, "name")?),
            HandlerKind::Vector => HandlerName::Fixed(format.name.trim_end_matches("_entry").as_bytes().into()),
            _ => HandlerName::None,
        };
        Some(IrqKind { kind, step, key: RecordNumber::of(format, key)?, id: RecordNumber::of(format, id)?, name })
    }
}

impl IrqEventKind {
    fn of(format: &EventFormat) -> Option<IrqEventKind> {
        if (format.system.as_str(), format.name.as_str()) == ("sched", "sched_switch") {
            let field = |name| RecordNumber::of(format, name);
            return Some(IrqEventKind::Switch { previous: field("prev_pid")?, next: field("next_pid")? });
        }
        IrqKind::of(format).map(IrqEventKind::Handler)
    }
}

/// The ids and the common fields of its events.
impl Deref for IrqEvents {
    type Target = dyn KnownEvents;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl IrqEvents {
    pub(super) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        IrqEvents(ByEvent::new(formats, abi, IrqEventKind::of))
    }

    fn handlers(&self) -> impl Iterator<Item = &IrqKind> {
        self.0.all().filter_map(|kind| match kind {
            IrqEventKind::Handler(kind) => Some(kind),
            IrqEventKind::Switch { .. } => None,
        })
    }

    /// True if there are exits, without which nothing has a duration.
    pub(super) fn have_handlers(&self) -> bool {
        self.handlers().any(|kind| kind.step == IrqStep::Exit)
    }

    /// True if soft interrupts or work items are asked for.
    pub(super) fn have_requests(&self) -> bool {
        self.handlers().any(|kind| kind.step == IrqStep::Request)
    }

    pub(super) fn event<'a>(&'a self, record: &Record<'a>) -> Option<IrqEvent<'a>> {
        let (abi, data) = (self.0.abi, record.data);
        let found = match self.0.of(record)? {
            IrqEventKind::Handler(kind) => kind,
            IrqEventKind::Switch { previous, next } => {
                let pid = |field: &RecordNumber| Pid(field.read(abi, data) as i32);
                return Some(IrqEvent::Switch { previous: pid(previous), next: pid(next) });
            }
        };
        let (kind, key) = (found.kind, found.key.read(abi, data));
        Some(match found.step {
            IrqStep::Request => IrqEvent::Request { kind, key },
            IrqStep::Exit => IrqEvent::Exit { kind, key },
            IrqStep::Entry => {
                let name = match &found.name {
                    HandlerName::None => b"".as_slice(),
                    HandlerName::Field(text) => text.read(abi, data),
                    HandlerName::Fixed(name) => name,
                };
                IrqEvent::Entry { kind, key, id: found.id.read(abi, data), name }
            }
        })
    }
}
