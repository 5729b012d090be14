//! The lines above the first event (kernel/trace/trace.c, `s_show()`, and the tracers' own headings).

use crate::file::trace_dat::KernelView;
use std::fmt::Write;

/// All lines that begin with `#`.
pub(super) fn header(view: &KernelView) -> String {
    let mut text = format!("# tracer: {}\n#\n", view.tracer);
    match view.tracer.as_str() {
        "function_graph" => graph(&mut text, view),
        "osnoise" => text.push_str(OSNOISE),
        "timerlat" => text.push_str(TIMERLAT),
        "blk" => {
            if view.options.blk_classic {
                text.push_str(BLK);
            }
        }
        "mmiotrace" => text.push_str("VERSION 20070824\n"),
        _ => usual(&mut text, view),
    }
    text
}

fn usual(text: &mut String, view: &KernelView) {
    if !view.options.context_info || view.options.verbose {
        return;
    }
    // writing to a String cannot fail
    let _ = writeln!(
        text,
        "# entries-in-buffer/entries-written: {}/{}   #P:{}\n#",
        view.entries, view.written, view.online
    );
    let tgid = view.options.record_tgid;
    if !view.options.irq_info {
        let (first, second) = if tgid { ("   TGID   ", "     |    ") } else { ("", "") };
        let _ = writeln!(text, "#           TASK-PID    {first} CPU#     TIMESTAMP  FUNCTION");
        let _ = writeln!(text, "#              | |      {second}   |         |         |");
        return;
    }
    let (gap, first, second) = match tgid {
        true => ("            ", "     TGID   ", "       |    "),
        false => ("  ", "  ", "  "),
    };
    for line in [
        "  _-----=> irqs-off/BH-disabled",
        " / _----=> need-resched",
        "| / _---=> hardirq/softirq",
        "|| / _--=> preempt-depth",
        "||| / _-=> migrate-disable",
        "|||| /     delay",
    ] {
        let _ = writeln!(text, "#                            {gap}{line}");
    }
    let _ = writeln!(text, "#           TASK-PID  {first} CPU#  |||||  TIMESTAMP  FUNCTION");
    let _ = writeln!(text, "#              | |    {second}   |   |||||     |         |");
}

fn graph(text: &mut String, view: &KernelView) {
    let options = &view.options;
    if !options.context_info {
        return;
    }
    let columns: [(bool, &str, &str); 4] = [
        (options.graph_abstime, "     TIME       ", "      |         "),
        (options.graph_cpu, " CPU", " |  "),
        (options.graph_proc, "  TASK/PID       ", "   |    |        "),
        (options.graph_duration, "  DURATION   ", "   |   |      "),
    ];
    let mut lines = (String::from("#"), String::from("#"));
    for (_, first, second) in columns.iter().filter(|c| c.0) {
        lines.0.push_str(first);
        lines.1.push_str(second);
    }
    let _ = writeln!(text, "{}               FUNCTION CALLS\n{}               |   |   |   |", lines.0, lines.1);
}

const BLK: &str = "# DEV   CPU TIMESTAMP     PID ACT FLG\n#  |     |     |           |   |   |\n";

const OSNOISE: &str = "\
#                                _-----=> irqs-off
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable                         MAX
#                              |||| /     delay                                   SINGLE      Interference counters:
#                              |||||               RUNTIME      NOISE  %% OF CPU  NOISE    +-----------------------------+
#           TASK-PID      CPU# |||||   TIMESTAMP    IN US       IN US  AVAILABLE  IN US     HW    NMI    IRQ   SIRQ THREAD
#              | |         |   |||||      |           |             |    |            |      |      |      |      |      |
";

const TIMERLAT: &str = "\
#                                _-----=> irqs-off
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#                              |||||            ACTIVATION
#           TASK-PID      CPU# |||||   TIMESTAMP   ID            CONTEXT                 LATENCY
#              | |         |   |||||      |         |                  |                       |
";

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.12 printed it.
    #[test]
    fn usual_heading() {
        let mut view = KernelView { entries: 377, written: 124_501, online: 2, ..KernelView::default() };
        let expected = "\
# tracer: nop
#
# entries-in-buffer/entries-written: 377/124501   #P:2
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
";
        assert_eq!(header(&view), expected);
        view.set_options("record-tgid");
        let tgid = header(&view);
        assert!(tgid.contains("#           TASK-PID       TGID    CPU#  |||||  TIMESTAMP  FUNCTION\n"), "{tgid}");
        view.set_options("nocontext-info");
        assert_eq!(header(&view), "# tracer: nop\n#\n");
    }

    /// As Linux 6.12 printed it.
    #[test]
    fn graph_heading() {
        let mut view = KernelView { tracer: "function_graph".into(), ..KernelView::default() };
        view.set_options("funcgraph-abstime funcgraph-proc");
        let expected = "# tracer: function_graph\n#\n\
             #     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS\n\
             #      |          |     |    |           |   |                     |   |   |   |\n";
        assert_eq!(header(&view), expected);
    }
}
