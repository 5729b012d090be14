//! Names that kernels leave in their print formats are stored with their values.

use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::host::{kernel, record};
use rtrace::internal::trace_dat::{OptionId, Trace};
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
    } // Who rewrites the file keeps them, and how the kernel showed the buffer.
    let rewritten: [&[&str]; 3] = [
        &["convert", "-i", "trace.dat", "-o", "other.dat", "--file-version", "6"],
        &["convert", "-i", "other.dat", "-o", "back.dat", "--file-version", "7"],
        &["split", "-i", "trace.dat", "-o", "part.dat"],
    ];
    for args in rewritten {
        env.rtrace(args).exits(0);
    }
    for file in ["other.dat", "back.dat", "part.dat"] {
        let again = env.rtrace(&["report", "--format", "kernel", file]);
        again.exits(0).complains("");
        assert_eq!(again.stdout(), kernels.stdout(), "{file}");
    }
}
