use super::chain::{Who, tree};
use super::*;
use crate::answer::analysis::InOrder;
use crate::answer::analysis::test_formats::{self, comm, format, record};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::file::trace_dat::{Coverage, CoveredTasks};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Symbols;

const SWITCH: u16 = 1;
const WAKEUP: u16 = 2;
const STACK: u16 = 3;
const ENTRY: u16 = 4;
const EXIT: u16 = 5;
const TIMER: u16 = 6;
const DONE: u16 = 7;
const MORE: u16 = 8;
const PRINT: u16 = 9;

fn formats() -> Vec<EventFormat> {
    let states = r#""%s", (REC->prev_state & 7) ? __print_flags(REC->prev_state & 7, "|", { 1, "S" }, { 2, "D" }, { 4, "I" }) : "R""#;
    vec![
        format(
            "sched",
            "sched_switch",
            SWITCH,
            &["prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid"],
            states,
        ),
        format("sched", "sched_wakeup", WAKEUP, &["comm", "pid"], "\"\""),
        format("ftrace", "kernel_stack", STACK, &["caller"], "\"\""),
        format("ftrace", "funcgraph_entry", ENTRY, &["func", "depth"], "\"\""),
        format("ftrace", "funcgraph_exit", EXIT, &["func", "depth"], "\"\""),
        format("timer", "start", TIMER, &["timer", "owner"], "\"\""),
        format("timer", "done", DONE, &["timer"], "\"\""),
        format("timer", "more", MORE, &["timer"], "\"\""),
        format("ftrace", "print", PRINT, &["ip", "buf"], "\"\""),
    ]
}

/// A kernel that says what happens.
struct ProfiledKernel {
    profile: Profile,
    cpu: u32,
    lost: Lost,
}

fn kernel() -> ProfiledKernel {
    ProfiledKernel { profile: Profile::new(&formats(), Abi::HOST, false), cpu: 0, lost: Lost::None }
}

fn number(value: u64) -> Vec<u8> {
    test_formats::number(value as i64)
}

impl ProfiledKernel {
    fn event(&mut self, at: u64, pid: i32, id: u16, fields: &[Vec<u8>]) {
        let data = record(id, pid, fields);
        let lost = std::mem::take(&mut self.lost);
        let (timestamp, cpu) = (Timestamp(at), CpuId(self.cpu));
        self.profile.record(&Record { timestamp, cpu, buffer: 0, lost, data: &data });
    }

    fn switch(&mut self, at: u64, [prev, next]: [i32; 2], state: u64) {
        let pid = |pid: i32| number(pid as u64);
        let (from, to) = (comm(&format!("t{prev}")), comm(&format!("t{next}")));
        self.event(at, prev, SWITCH, &[from, pid(prev), number(state), to, pid(next)]);
    }

    fn wakeup(&mut self, at: u64, waker: i32, pid: i32) {
        self.event(at, waker, WAKEUP, &[comm(&format!("t{pid}")), number(pid as u64)]);
    }

    fn stack(&mut self, at: u64, pid: i32, callers: &[u64]) {
        let callers: Vec<Vec<u8>> = callers.iter().map(|address| number(*address)).collect();
        self.event(at, pid, STACK, &callers);
    }

    fn numbers(&mut self, at: u64, pid: i32, id: u16, values: &[u64]) {
        let fields: Vec<Vec<u8>> = values.iter().map(|value| number(*value)).collect();
        self.event(at, pid, id, &fields);
    }

    /// `who label count total [stack addresses]` of all events.
    fn rows(&self, by_comm: bool) -> Vec<String> {
        let symbols = Symbols::default();
        let mut lines = Vec::new();
        for task in self.profile.tasks(&symbols, by_comm) {
            let who = match task.who {
                Who::Task(Pid(pid)) => pid.to_string(),
                Who::Group => String::from_utf8_lossy(&task.comm).into_owned(),
                other => format!("{other:?}"),
            };
            for event in &task.events {
                let stacks: Vec<String> = event
                    .stacks()
                    .iter()
                    .map(|node| format!(" {:x}:{}:{}%", node.address, node.times.total, node.percent))
                    .collect();
                let times = event.times();
                lines.push(format!(
                    "{who} {} {} {}{}",
                    event.label(&symbols),
                    times.count,
                    times.total,
                    stacks.concat()
                ));
            }
        }
        lines
    }
}

/// The switch to task 7 after its first wakeup is missing: it left its CPU at 200, so that it did not wait until 330.
#[test]
fn a_wait_whose_switch_is_missing_ends_at_no_later_one() {
    let wakeups = |mut kernel: ProfiledKernel| {
        kernel.switch(100, [7, 9], 1);
        kernel.wakeup(150, 9, 7);
        kernel.switch(200, [7, 9], 1);
        kernel.wakeup(300, 9, 7);
        kernel.switch(310, [9, 7], 0);
        // It is preempted, and not woken.
        kernel.switch(320, [7, 9], 0);
        kernel.switch(330, [9, 7], 0);
        let rows = kernel.rows(false).into_iter().filter(|row| row.contains("sched_wakeup"));
        (rows.collect::<Vec<_>>(), kernel.profile.limits().len())
    };
    assert_eq!(wakeups(kernel()), (vec!["7 sched_wakeup:0x7 1 10".to_owned()], 1));
    let theirs = kernel();
    let theirs = ProfiledKernel { profile: theirs.profile.as_trace_cmd(), ..theirs };
    assert_eq!(wakeups(theirs), (vec!["7 sched_wakeup:0x7 2 190".to_owned()], 0));
}

#[test]
fn a_task_sleeps_is_woken_and_waits() {
    let mut kernel = kernel();
    kernel.switch(100, [7, 9], 1);
    kernel.stack(101, 7, &[0x10, 0x20]);
    kernel.wakeup(150, 9, 7);
    kernel.stack(151, 9, &[0x30]);
    kernel.switch(170, [9, 7], 0);
    kernel.switch(190, [7, 9], 8); // pushed aside
    kernel.wakeup(195, 9, 7); // which wakes no task
    kernel.stack(196, 9, &[0x40]);
    kernel.switch(200, [9, 7], 2);
    assert_eq!(
        kernel.rows(false),
        [
            "7 sched_switch:S 1 50 10:50:100%",
            "7 sched_switch:R+ 1 10",
            "7 sched_wakeup:0x7 1 20 30:20:100%",
            "9 sched_switch:R 1 20",
        ]
    );
}

/// A loss is told by the next event of its CPU only: what ended on another one meanwhile may be two durations.
#[test]
fn what_ended_while_another_cpu_lost_events_is_doubtful() {
    let mut kernel = kernel();
    let doubtful = |kernel: &ProfiledKernel| -> Vec<(u64, Option<u64>)> {
        let symbols = Symbols::default();
        let tasks: Vec<ProfiledTask<'_>> = kernel.profile.tasks(&symbols, false).collect();
        let events = tasks.iter().flat_map(|task| &task.events);
        events.map(|event| (event.value, event.times().known(event.times().total))).collect()
    };
    kernel.cpu = 1;
    kernel.switch(50, [4, 5], 0);
    kernel.cpu = 0;
    kernel.switch(100, [7, 9], 1);
    kernel.wakeup(150, 9, 7);
    kernel.switch(170, [9, 7], 0); // it may have run on CPU 1 since 150
    assert_eq!(doubtful(&kernel), [(1, Some(50)), (7, Some(20))]);
    kernel.cpu = 1;
    kernel.lost = Lost::Count(2);
    kernel.switch(180, [5, 4], 0);
    assert_eq!(doubtful(&kernel), [(1, None), (7, None)]);
    kernel.switch(190, [4, 8], 2);
    kernel.switch(195, [8, 4], 1);
    kernel.lost = Lost::Count(1);
    kernel.switch(200, [4, 6], 0); // nothing ended on another CPU since 195
    let known = doubtful(&kernel);
    assert!(known.contains(&(2, Some(5))), "{known:?}");
}

#[test]
fn what_was_lost_ends_nothing() {
    let mut kernel = kernel();
    kernel.switch(100, [7, 9], 1);
    kernel.lost = Lost::Count(3);
    kernel.wakeup(150, 9, 7);
    kernel.switch(170, [9, 7], 0);
    assert_eq!(kernel.rows(false), ["7 sched_wakeup:0x7 1 20"]);
    let mut kernel = super::tests::kernel();
    kernel.profile.hook(&"start,timer/done,timer,p".parse().unwrap()).unwrap();
    kernel.numbers(1, 5, TIMER, &[0xa, 0]);
    kernel.cpu = 1;
    kernel.lost = Lost::Unknown;
    kernel.numbers(2, 6, TIMER, &[0xa, 0]);
    kernel.cpu = 0;
    kernel.numbers(4, 5, DONE, &[0xa]); // other CPUs' losses do not matter to it
    kernel.lost = Lost::Unknown;
    kernel.numbers(4, 5, TIMER, &[0xb, 0]);
    kernel.cpu = 1;
    kernel.numbers(5, 6, DONE, &[0xa]);
    assert_eq!(kernel.rows(false), ["5 start:0xa 1 3", "6 start:0xa 1 3"]);
    // Each CPU has an idle task of its own.
    let mut kernel = super::tests::kernel();
    kernel.profile.hook(&"start,timer/done,timer,p".parse().unwrap()).unwrap();
    kernel.numbers(10, 0, TIMER, &[0xa, 0]);
    kernel.cpu = 1;
    kernel.numbers(12, 0, TIMER, &[0xa, 0]);
    kernel.cpu = 0;
    kernel.numbers(15, 0, DONE, &[0xa]);
    kernel.cpu = 1;
    kernel.numbers(20, 0, DONE, &[0xa]);
    assert_eq!(kernel.rows(false), ["0 start:0xa 2 13"]);
}

#[test]
fn each_cpu_has_an_idle_task() {
    let mut kernel = kernel();
    kernel.switch(100, [0, 7], 0);
    kernel.cpu = 1;
    kernel.switch(110, [0, 8], 0);
    kernel.cpu = 0;
    kernel.switch(130, [7, 0], 1);
    kernel.cpu = 1;
    kernel.switch(210, [8, 0], 1);
    assert_eq!(kernel.rows(false), ["0 sched_switch:R 2 130"]);
    let symbols = Symbols::default();
    let tasks: Vec<ProfiledTask<'_>> = kernel.profile.tasks(&symbols, false).collect();
    let idle = tasks[0].events[0].times();
    assert_eq!((idle.max, idle.max_at, idle.min, idle.min_at), (100, 210, 30, 130));
}

#[test]
fn functions_nest_and_their_stack_traces_come_before() {
    let mut kernel = kernel();
    kernel.stack(99, 7, &[0x10]);
    kernel.numbers(100, 7, ENTRY, &[0xf, 0]);
    kernel.stack(109, 7, &[0x20]);
    kernel.numbers(109, 7, TIMER, &[1, 0]); // takes none, but ends the waiting
    kernel.numbers(110, 7, ENTRY, &[0xf, 1]);
    kernel.numbers(115, 7, EXIT, &[0xf, 1]);
    kernel.numbers(140, 7, EXIT, &[0xf, 0]);
    assert_eq!(kernel.rows(false), ["7 func: 0xf 2 45 10:40:100%", "7 start:0x1 1 0"]);
}

#[test]
fn hooks_make_pairs() {
    let hook = |text: &str| text.parse::<Hook>().unwrap();
    let mut kernel = kernel();
    for text in
        ["timer:start,timer,owner/done,timer,s", "start,timer,owner/timer:done,timer", "done,timer/more,timer,g"]
    {
        kernel.profile.hook(&hook(text)).unwrap();
    }
    kernel.numbers(10, 1, TIMER, &[0xa, 5]);
    kernel.stack(11, 1, &[0x10]);
    kernel.numbers(20, 5, DONE, &[0xa]);
    kernel.numbers(26, 9, MORE, &[0xa]);
    assert_eq!(kernel.rows(false), ["Global done:0xa 1 6", "5 start:0xa 1 10 10:10:100%"]);

    let mut kernel = super::tests::kernel();
    kernel.profile.hook(&hook("start,timer/done,timer")).unwrap();
    kernel.profile.hook(&hook("start,timer/more,timer")).unwrap();
    kernel.numbers(10, 1, TIMER, &[0xa, 5]);
    kernel.numbers(20, 1, MORE, &[0xa]);
    kernel.numbers(50, 1, DONE, &[0xa]);
    assert_eq!(kernel.rows(false), ["1 start:0xa 1 40", "1 start:0xa/more 1 10"]);

    let profile = &mut kernel.profile;
    let wrong = |profile: &mut Profile, text: &str| profile.hook(&hook(text)).unwrap_err().to_string();
    assert_eq!(wrong(profile, "start,timer/end,timer"), "hook `start,timer/end,timer`: no event `end`");
    assert_eq!(wrong(profile, "start,at/done,timer"), "hook `start,at/done,timer`: start has no field `at`");
    let comm = "sched_wakeup,comm/done,timer";
    assert_eq!(wrong(profile, comm), format!("hook `{comm}`: `comm` of sched_wakeup is not a number"));
}

#[test]
fn hooks_are_parsed() {
    let hook: Hook = "irq:entry,irq,pid/exit,irq,sP".parse().unwrap();
    assert_eq!((hook.start.system.as_deref(), hook.start.event.as_str()), (Some("irq"), "entry"));
    assert_eq!((hook.start_pid.as_deref(), hook.end.system.as_deref()), (Some("pid"), None));
    assert_eq!((hook.pinned, hook.stack, hook.global), (true, true, false));
    assert_eq!(hook.to_string(), "irq:entry,irq,pid/exit,irq,sP");
    for wrong in ["", "a,b", "a/b", "a,b/c", "a,b,c,d/e,f", "a,b/c,d,x", ":a,b/c,d", "a,,c/d,e", "a,b,/c,d"] {
        assert!(wrong.parse::<Hook>().is_err(), "{wrong}");
    }
}

#[test]
fn tasks_of_a_name_are_put_together() {
    let mut kernel = kernel();
    for (at, pid) in [(100, 7), (300, 8)] {
        let start = |kernel: &mut ProfiledKernel, at, state| {
            let fields = [comm("same"), number(pid as u64), number(state), comm("idle"), number(0)];
            kernel.event(at, pid, SWITCH, &fields);
        };
        start(&mut kernel, at, 1);
        kernel.stack(at + 1, pid, &[0x10, pid as u64]);
        kernel.wakeup(at + 20 * pid as u64, 0, pid);
        kernel.switch(at + 30 * pid as u64, [0, pid], 0);
    }
    let rows = kernel.rows(true);
    assert_eq!(rows[1], "same sched_switch:S 2 300 10:300:100%");
    assert_eq!(rows[2], "same sched_wakeup:0x0 2 150");
}

#[test]
fn stack_traces_make_a_tree() {
    let times = |count, total| Times { count, total, max: total, max_at: total, min: 1, min_at: 2, doubtful: false };
    let stop = u64::MAX;
    let nodes = tree(
        vec![
            (&[1, 2, 3, 4], times(1, 10)),
            (&[1, 2, 3, 5, 6], times(2, 30)),
            (&[1, 2, stop, 9], times(1, 5)),
            (&[7], times(1, 5)),
            (&[], times(9, 9)),
        ],
        stop,
    );
    let [first, second] = &nodes[..] else { panic!("{nodes:?}") };
    assert_eq!((first.address, first.percent, first.times.count, first.times.total), (1, 90, 4, 45));
    assert_eq!((first.times.max, first.path.as_slice()), (30, &[2, 3][..]));
    let [five, four] = &first.callers[..] else { panic!("{first:?}") };
    assert_eq!((five.address, five.percent, five.path.as_slice()), (5, 75, &[6][..]));
    assert_eq!((four.address, four.percent), (4, 25));
    assert_eq!((second.address, second.percent, second.callers.len()), (7, 10, 0));
    let counted = tree(vec![(&[1], times(1, 0)), (&[2], times(3, 0))], stop);
    assert_eq!((counted[0].address, counted[0].percent, counted[1].percent), (2, 75, 25));
}

#[test]
fn who_writes_a_mark_is_no_child_of_those_recorded() {
    let mut kernel = kernel();
    let tasks = Some(CoveredTasks::Only { pids: vec![Pid(7)], children: true });
    kernel.profile = kernel.profile.covering(Coverage { tasks, ..Coverage::default() });
    kernel.numbers(10, 8, PRINT, &[1, 2]);
    kernel.numbers(11, 9, TIMER, &[1, 2]);
    assert_eq!([7, 8, 9].map(|pid| kernel.profile.covers(Who::Task(Pid(pid)))), [true, false, true]);
}
