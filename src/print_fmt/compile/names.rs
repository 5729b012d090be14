//! Constants that kernels leave as names in their print formats.

/// The value of an enum constant that some kernel does not translate to its number.
pub(super) fn constant(name: &str) -> Option<u64> {
    Some(match name {
        "true" => 1,
        "false" | "NULL" => 0,
        // include/linux/interrupt.h, in the order of the softirq vectors
        "HI_SOFTIRQ" => 0,
        "TIMER_SOFTIRQ" => 1,
        "NET_TX_SOFTIRQ" => 2,
        "NET_RX_SOFTIRQ" => 3,
        "BLOCK_SOFTIRQ" => 4,
        "IRQ_POLL_SOFTIRQ" | "BLOCK_IOPOLL_SOFTIRQ" => 5,
        "TASKLET_SOFTIRQ" => 6,
        "SCHED_SOFTIRQ" => 7,
        "HRTIMER_SOFTIRQ" => 8,
        "RCU_SOFTIRQ" => 9,
        "HRTIMER_NORESTART" => 0,
        "HRTIMER_RESTART" => 1,
        _ => return None,
    })
}
