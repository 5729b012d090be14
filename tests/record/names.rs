//! Names that kernels leave in their print formats are stored with their values.

use crate::environment::TestEnvironment;
use crate::host::{kernel, record};
use crate::not_run::not_run;
use rtrace::trace_dat::{OptionId, Trace};
use std::path::Path;

#[test]
fn enumerators_of_the_formats_are_stored_and_shown() {
    let Some((tracefs, _one)) = kernel() else { return };
    let (types, latency) = (Path::new("/sys/kernel/btf/vmlinux"), Path::new("/dev/cpu_dma_latency"));
    if !types.exists() || !latency.exists() {
        return not_run("this kernel has no types, or no /dev/cpu_dma_latency");
    }
    let env = TestEnvironment::new();
    // The last of a process's requests is taken back when it ends.
    let asks = "exec 3>/dev/cpu_dma_latency; printf 0x7 >&3";
    record(&env, &["-e", "power:pm_qos_update_target", "--", "sh", "-c", asks]).exits(0);
    let format = tracefs.top().event_format(&rtrace::tracefs::EventName::new("power", "pm_qos_update_target")).unwrap();
    let trace = Trace::open(std::fs::read(env.path().join("trace.dat")).unwrap()).unwrap();
    let stored = trace.option(OptionId::RTRACE_ENUMERATORS).map(|option| option.text());
    if format.contains("PM_QOS_ADD_REQ") {
        // enum pm_qos_req_action (include/linux/pm_qos.h)
        assert_eq!(stored.as_deref(), Some("PM_QOS_ADD_REQ 0\nPM_QOS_REMOVE_REQ 2\nPM_QOS_UPDATE_REQ 1"));
    }
    let kernels = env.rtrace(&["report", "--format", "kernel"]);
    kernels.exits(0).complains("");
    for (action, value) in [("ADD_REQ", "curr_value=2000000000"), ("UPDATE_REQ", "curr_value=7"), ("REMOVE_REQ", "")] {
        let shown = |line: &str| line.contains(&format!("action={action} ")) && line.contains(value);
        assert!(kernels.stdout().lines().any(shown), "{action} {value}: {}", kernels.stdout());
    }
}
