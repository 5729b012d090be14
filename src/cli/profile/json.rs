//! A profile as JSON.

use rtrace::analysis::{Profile, ProfiledEvent, ProfiledTask, StackNode, Times, Who};
use rtrace::symbols::Symbols;
use serde_json::{Value, json};

/// The document, of what each buffer says: its name and its tasks.
pub(crate) fn document(buffers: Vec<Value>) -> Value {
    json!({"schema": "rtrace.profile", "version": 1, "buffers": buffers})
}

/// One buffer.
pub(crate) fn buffer(file: Option<&str>, name: &str, profile: &Profile, symbols: &Symbols, by_comm: bool) -> Value {
    let tasks = profile.tasks(symbols, by_comm);
    let tasks: Vec<Value> = tasks.map(|one| task(&one, symbols)).collect();
    let name = (!name.is_empty()).then_some(name);
    json!({"file": file, "buffer": name, "limits": profile.limits(), "tasks": tasks})
}

fn task(task: &ProfiledTask<'_>, symbols: &Symbols) -> Value {
    let (kind, pid, cpu) = match task.who {
        Who::Global => ("global", None, None),
        Who::Cpu(cpu) => ("cpu", None, Some(cpu.0)),
        Who::Group => ("group", None, None),
        Who::Task(pid) => ("task", Some(pid.0), None),
    };
    let comm = (!task.comm.is_empty()).then(|| String::from_utf8_lossy(&task.comm));
    let events: Vec<Value> = task.events.iter().map(|one| event(one, symbols)).collect();
    json!({"kind": kind, "pid": pid, "cpu": cpu, "comm": comm, "events": events})
}

fn event(event: &ProfiledEvent<'_>, symbols: &Symbols) -> Value {
    let stacks = nodes(&event.stacks(), symbols);
    let label = event.label(symbols);
    let (system, name, value) = (event.system(), event.name(), event.value);
    json!({
        "system": system, "event": name, "value": value, "label": label, "times": times(&event.times()), "stacks": stacks,
    })
}

fn times(times: &Times) -> Value {
    json!({
        "count": times.count, "total": times.known(times.total), "average": times.known(times.average()),
        "max": times.known(times.max), "max_at": times.known(times.max_at), "min": times.min, "min_at": times.min_at,
    })
}

fn nodes(all: &[StackNode], symbols: &Symbols) -> Vec<Value> {
    let function = |address: u64| {
        let name = symbols.kallsyms.lookup(address).map(|found| String::from_utf8_lossy(found.name));
        json!({"address": format!("{address:#x}"), "function": name})
    };
    let one = |node: &StackNode| {
        let path: Vec<Value> = std::iter::once(&node.address).chain(&node.path).map(|at| function(*at)).collect();
        json!({
            "percent": node.percent, "times": times(&node.times), "path": path, "callers": nodes(&node.callers, symbols),
        })
    };
    all.iter().map(one).collect()
}
