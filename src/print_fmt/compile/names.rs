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

/// More of them, which libtraceevent does not know either (it takes them for 0) but the kernel of course does.
/// `mode=REL|HARD` of `timer:hrtimer_init`, `be,0,4` of `block:block_rq_issue`.
pub(super) fn kernel_constant(name: &str) -> Option<u64> {
    Some(match name {
        // include/linux/hrtimer.h: ABS, REL 1, PINNED 2, SOFT 4, HARD 8
        "HRTIMER_MODE_ABS" => 0,
        "HRTIMER_MODE_REL" => 1,
        "HRTIMER_MODE_PINNED" | "HRTIMER_MODE_ABS_PINNED" => 2,
        "HRTIMER_MODE_REL_PINNED" => 3,
        "HRTIMER_MODE_SOFT" | "HRTIMER_MODE_ABS_SOFT" => 4,
        "HRTIMER_MODE_REL_SOFT" => 5,
        "HRTIMER_MODE_ABS_PINNED_SOFT" => 6,
        "HRTIMER_MODE_REL_PINNED_SOFT" => 7,
        "HRTIMER_MODE_HARD" | "HRTIMER_MODE_ABS_HARD" => 8,
        "HRTIMER_MODE_REL_HARD" => 9,
        "HRTIMER_MODE_ABS_PINNED_HARD" => 10,
        "HRTIMER_MODE_REL_PINNED_HARD" => 11,
        // include/uapi/linux/ioprio.h
        "IOPRIO_CLASS_NONE" => 0,
        "IOPRIO_CLASS_RT" => 1,
        "IOPRIO_CLASS_BE" => 2,
        "IOPRIO_CLASS_IDLE" => 3,
        // include/net/tcp_states.h
        "TCP_ESTABLISHED" => 1,
        "TCP_SYN_SENT" => 2,
        "TCP_SYN_RECV" => 3,
        "TCP_FIN_WAIT1" => 4,
        "TCP_FIN_WAIT2" => 5,
        "TCP_TIME_WAIT" => 6,
        "TCP_CLOSE" => 7,
        "TCP_CLOSE_WAIT" => 8,
        "TCP_LAST_ACK" => 9,
        "TCP_LISTEN" => 10,
        "TCP_CLOSING" => 11,
        "TCP_NEW_SYN_RECV" => 12,
        _ => return None,
    })
}
