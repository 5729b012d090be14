//! Fields by which known pairs of events belong together: the hint on a `--by` that was left out.

/// Begins of START and of END, with the fields that are equal.
const KNOWN: [(&str, &str, &str); 12] = [
    ("sched_wak", "sched_switch", "pid=next_pid"),
    ("sched_switch", "sched_switch", "prev_pid=next_pid"),
    ("softirq_", "softirq_", "vec,common_cpu"),
    ("irq_handler_entry", "irq_handler_exit", "irq,common_cpu"),
    ("sys_enter", "sys_exit", "common_pid"),
    ("block_rq_", "block_rq_", "dev,sector"),
    ("block_bio_", "block_bio_", "dev,sector"),
    ("timer_", "timer_", "timer"),
    ("hrtimer_", "hrtimer_", "hrtimer"),
    ("workqueue_", "workqueue_", "work"),
    ("page_fault", "page_fault", "common_pid"),
    ("contention_", "contention_", "common_pid,lock_addr"),
];

/// The hint for the events of this process's command line.
pub(in crate::cli) fn hint() -> String {
    let words: Vec<String> = std::env::args().skip(2).collect();
    of(&words)
}

/// The hint for the events among the words after the command's name.
fn of(words: &[String]) -> String {
    let names: Vec<&str> = words.iter().map(|word| word.rsplit([':', '/']).next().unwrap_or(word)).collect();
    let pair = |start: &&str, end: &&str| {
        let is = |name: &str, own: &str| name.starts_with(own);
        KNOWN.iter().find(|(first, last, _)| is(start, first) && is(end, last)).map(|(.., by)| *by)
    };
    let known = names.windows(2).find_map(|two| match two {
        [start, end] => Some((*start, *end, pair(start, end)?)),
        _ => None,
    });
    match known {
        Some((start, end, by)) => format!("`--by {by}` matches {start} with {end}: a field of the first event = one of the second."),
        None => "START=END are fields: one of the first event that equals one of the second, as in `--by pid=next_pid`; one name if both have it.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn known_pairs_have_their_fields() {
        for (line, by) in [
            ("run.dat sched_wakeup sched_switch", "--by pid=next_pid`"),
            ("sched:sched_waking sched:sched_switch --ns", "--by pid=next_pid`"),
            ("irq:softirq_entry irq:softirq_exit", "--by vec,common_cpu`"),
            ("syscalls:sys_enter_read syscalls:sys_exit_read", "--by common_pid`"),
            ("my:begin my:end", "as in `--by pid=next_pid`"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert!(of(&words).contains(by), "{line}: {}", of(&words));
        }
    }
}
