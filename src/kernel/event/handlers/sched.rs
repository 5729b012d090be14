//! sched:sched_switch, sched_wakeup and sched_wakeup_new: short forms, and the task names they tell.

use super::{NumberField, TextField};
use crate::base::abi::Abi;
use crate::base::text::{num, put};
use crate::kernel::event::PrintState;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::{Context, state_letters};

struct TaskFields {
    comm: Option<TextField>,
    pid: NumberField,
    prio: Option<NumberField>,
}

impl TaskFields {
    fn new(event: &EventFormat, prefix: &str) -> Option<Self> {
        let name = |what: &str| format!("{prefix}{what}");
        Some(TaskFields {
            comm: TextField::field(event, &name("comm")),
            pid: NumberField::field(event, &name("pid"))?,
            prio: NumberField::field(event, &name("prio")),
        })
    }

    /// `comm:pid [prio]`, and remembers the name.
    #[inline]
    fn write(&self, cx: &Context<'_>, state: &mut PrintState, out: &mut Vec<u8>) {
        let pid = self.pid.signed(cx);
        if let Some(comm) = self.comm {
            let start = out.len();
            comm.put(cx, out);
            state.learn(pid as i32, out.get(start..).unwrap_or_default());
            out.push(b':');
        }
        num::signed(out, pid);
        if let Some(prio) = self.prio {
            put::all(out, b" [");
            num::signed(out, i64::from(prio.get(cx) as i32));
            out.push(b']');
        }
    }
}

/// `prev_comm:prev_pid [prev_prio] S ==> next_comm:next_pid [next_prio]`
pub(in crate::kernel::event) struct SchedSwitch {
    prev: TaskFields,
    next: TaskFields,
    state: Option<NumberField>,
    letters: Vec<u8>,
}

impl SchedSwitch {
    pub(super) fn new(event: &EventFormat, abi: Abi) -> Option<Self> {
        let letters = state_letters(event, abi.long_size);
        let state = NumberField::field(event, "prev_state");
        Some(SchedSwitch {
            prev: TaskFields::new(event, "prev_")?,
            next: TaskFields::new(event, "next_")?,
            state,
            letters,
        })
    }

    pub(super) fn write(&self, cx: &Context<'_>, state: &mut PrintState, out: &mut Vec<u8>) {
        self.prev.write(cx, state, out);
        if let Some(prev_state) = self.state {
            out.push(b' ');
            let bits = prev_state.get(cx);
            let start = out.len();
            for (bit, letter) in self.letters.iter().enumerate() {
                if bits >> bit & 1 == 1 {
                    if out.len() > start {
                        out.push(b'|');
                    }
                    out.push(*letter);
                }
            }
            if out.len() == start {
                out.push(b'R');
            }
        }
        put::all(out, b" ==> ");
        self.next.write(cx, state, out);
    }
}

/// `comm:pid [prio] success=1 CPU:000`
pub(in crate::kernel::event) struct SchedWakeup {
    task: TaskFields,
    success: Option<NumberField>,
    target_cpu: Option<NumberField>,
}

impl SchedWakeup {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        Some(SchedWakeup {
            task: TaskFields::new(event, "")?,
            success: NumberField::field(event, "success"),
            target_cpu: NumberField::field(event, "target_cpu"),
        })
    }

    pub(super) fn write(&self, cx: &Context<'_>, state: &mut PrintState, out: &mut Vec<u8>) {
        self.task.write(cx, state, out);
        if let Some(success) = self.success {
            put::all(out, b" success=");
            num::signed(out, success.signed(cx));
        }
        if let Some(cpu) = self.target_cpu {
            put::all(out, b" CPU:");
            num::dec_pad(out, cpu.get(cx), 3, b'0');
        }
    }
}
