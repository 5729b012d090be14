//! The journal against the running kernel, in instances of the test's own. Needs root and a tracefs.

use crate::common::knobs::Knobs;
use crate::common::not_run::not_run;
use crate::host::kernel;
use nix::errno::Errno;
use rtrace::tracefs::{Error, EventName, EventSelection, Instance, Journal, Tracefs};
use std::fs;
use std::path::PathBuf;

/// An instance that exists before the journal does, and is removed when the test ends.
struct Existing {
    path: PathBuf,
    instance: Instance,
}

impl Existing {
    fn new(tracefs: &Tracefs, name: &str) -> Self {
        let name = format!("rtrace-test-{name}-{}", std::process::id());
        let path = tracefs.root().join("instances").join(&name);
        fs::create_dir(&path).expect("an instance");
        Existing { path, instance: tracefs.instance(&name).expect("the instance") }
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.path.join(file), text).unwrap_or_else(|e| panic!("{file}: {e}"));
    }
}

impl Drop for Existing {
    fn drop(&mut self) {
        let removed = fs::remove_dir(&self.path);
        assert!(std::thread::panicking() || removed.is_ok(), "{}: {removed:?}", self.path.display());
    }
}

fn change_everything(journal: &mut Journal, instance: &Instance) {
    let all = instance.events().unwrap();
    let switch = EventName::new("sched", "sched_switch");
    journal.set(instance, "tracing_on", "0").unwrap();
    journal.set_buffer_size(instance, 300).unwrap();
    journal.set_clock(instance, "global").unwrap();
    journal.set(instance, "set_event_pid", "1 2").unwrap();
    journal.append_to_list(instance, "set_event_pid", "3").unwrap();
    journal.set_option(instance, "event-fork", true).unwrap();
    journal.set_option(instance, "overwrite", false).unwrap();
    journal.set(instance, "tracing_cpumask", "1").unwrap();
    journal.set_filter(instance, &switch, "next_pid == 7").unwrap();
    journal.set_filter(instance, &switch, "next_pid == 8").unwrap();
    journal.add_trigger(instance, &switch, "stacktrace:5 if next_pid == 8").unwrap();
    journal.add_trigger(instance, &switch, "enable_event:sched:sched_waking").unwrap();
    for pattern in ["irq", "sched:*wak*", "timer"] {
        let events = EventSelection::new(pattern).select(&all).unwrap();
        journal.enable_events(instance, &events).unwrap();
    }
    journal.disable_events(instance, &[EventName::new("sched", "sched_process_fork")]).unwrap();
    journal.set(instance, "current_tracer", "nop").unwrap();
}

#[test]
fn an_existing_instance_is_put_back() {
    let Some((tracefs, _alone)) = kernel() else { return };
    let existing = Existing::new(&tracefs, "existing");
    existing.write("trace_clock", "mono");
    existing.write("buffer_size_kb", "100");
    existing.write("set_event_pid", "77");
    existing.write("events/sched/sched_process_fork/enable", "1");
    existing.write("events/sched/sched_waking/enable", "1");
    existing
        .write("events/sched/sched_switch/filter", "prev_pid == 1 && next_prio > 10 && prev_comm == \"a long filter\"");
    assert!(fs::write(existing.path.join("events/irq/irq_handler_entry/filter"), "nonsense == 1").is_err());
    let before = Knobs::read(&existing.path);

    let mut journal = Journal::in_memory(&tracefs);
    change_everything(&mut journal, &existing.instance);
    let during = Knobs::read(&existing.path);
    assert!(before.differences(&during).len() > 30, "{:?}", before.differences(&during));
    journal.undo().unwrap();
    before.assert_unchanged(&Knobs::read(&existing.path));

    // The same by unwinding.
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut journal = Journal::in_memory(&tracefs);
        change_everything(&mut journal, &existing.instance);
        std::panic::resume_unwind(Box::new(())); // no message on stderr
    }));
    assert!(unwound.is_err());
    before.assert_unchanged(&Knobs::read(&existing.path));
}

#[test]
fn unequal_cpu_buffers_are_put_back() {
    let Some((tracefs, _alone)) = kernel() else { return };
    let existing = Existing::new(&tracefs, "unequal");
    if existing.instance.cpus().unwrap().len() < 2 {
        not_run("one CPU only");
        return;
    }
    existing.write("per_cpu/cpu0/buffer_size_kb", "64");
    let before = Knobs::read(&existing.path);
    let mut journal = Journal::in_memory(&tracefs);
    journal.set_buffer_size(&existing.instance, 300).unwrap();
    assert!(!before.differences(&Knobs::read(&existing.path)).is_empty());
    journal.undo().unwrap();
    before.assert_unchanged(&Knobs::read(&existing.path));
}

#[test]
fn an_own_instance_disappears() {
    let Some((tracefs, _alone)) = kernel() else { return };
    let name = format!("rtrace-test-own-{}", std::process::id());
    let mut journal = Journal::in_memory(&tracefs);
    let instance = journal.create_instance(&name).unwrap();
    change_everything(&mut journal, &instance);
    let all = instance.events().unwrap();
    journal.enable_events(&instance, &all).unwrap();
    assert_eq!(instance.enabled_events().unwrap().len(), all.len(), "all that can be enabled are");
    assert_eq!(journal.create_instance(&name).unwrap_err().errno(), Some(Errno::EEXIST));
    assert!(instance.cpu_stats(instance.cpus().unwrap()[0]).is_ok());

    // A reader that ends only after the journal began to undo.
    let pipe = fs::File::open(instance.trace_pipe_raw(instance.cpus().unwrap()[0])).unwrap();
    let reader = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(150));
        drop(pipe);
    });
    journal.undo().unwrap();
    reader.join().unwrap();
    assert!(matches!(tracefs.instance(&name), Err(Error::NoInstance { .. })));
}

#[test]
fn the_kernel_is_quoted() {
    let Some((tracefs, _alone)) = kernel() else { return };
    let existing = Existing::new(&tracefs, "quoted");
    let mut journal = Journal::in_memory(&tracefs);
    let switch = EventName::new("sched", "sched_switch");
    let error = journal.set_filter(&existing.instance, &switch, "next_pid == 1 && nextpid == 1").unwrap_err();
    let name = existing.instance.name().unwrap();
    assert_eq!(
        error.to_string(),
        format!(
            "failed to set `filter` of sched:sched_switch in instance {name}: Invalid argument\n  \
             kernel: next_pid == 1 && nextpid == 1\n{:35}^ Field not found",
            ""
        )
    );
    journal.undo().unwrap();
    assert_eq!(existing.instance.filter(&switch).unwrap(), None);
    let missing = existing.instance.read("snapshot");
    if !tracefs.top().has("snapshot") {
        assert!(missing.unwrap_err().is_unable());
    }
}
