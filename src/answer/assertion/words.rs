//! Words of other programs and languages in assertions, and what is meant by them.

/// The hint on a quantity by a name that others have for it.
pub(super) fn other_name(name: &str) -> Option<String> {
    let own = match name {
        "avg" | "average" => "mean",
        "median" => "p50",
        "percentile" | "percentiles" | "quantile" | "quantiles" | "pct" => "p99",
        "total" => "sum",
        "maximum" | "worst" => "max",
        "minimum" => "min",
        "drops" | "dropped" | "losses" | "overruns" | "overrun" | "missed" | "lost_events" | "drop" => "lost",
        "cpu_usage" | "usage" | "utilization" | "utilisation" | "load" | "cpu" => "busy",
        "idle" => return Some("`busy` is the rest: `busy < 95%`.".to_owned()),
        "events" | "event" | "switches" => {
            return Some("`count(EVENT)` is a number of events: `count(sched:sched_switch) > 0`.".to_owned());
        }
        "memory" | "leaked" | "leak" => "live",
        "throttled" | "throttle" | "throttling" | "nr_throttled" => {
            return Some(
                "no assertion is about it: `rtrace analyze cgroups FILE --json` has the time of each.".to_owned(),
            );
        }
        "not" => return Some("the contrary of a comparison is another: `>=` of `<`.".to_owned()),
        name if reduced(name).is_some() => return reduced(name),
        name if name.contains('_') && ["latency", "delay", "runq"].iter().any(|part| name.contains(part)) => {
            return Some("`wait()` is from each wakeup to the CPU, as in `p99(wait())`, `max(wait(TASK))`.".to_owned());
        }
        name if name.contains('_') => {
            return Some(format!("of an event, `count({name})` is its number."));
        }
        name => {
            let source = other_source(name)?;
            return Some(format!("did you mean `{source}()`, as in `max({source}())`?"));
        }
    };
    Some(format!("did you mean `{own}`?"))
}

/// The hint on `max_wait` and the like: what is measured in one word with its source.
fn reduced(name: &str) -> Option<String> {
    let (reducer, source) = name.split_once('_')?;
    let own = match reducer {
        "avg" | "average" => "mean",
        "median" => "p50",
        "max" | "min" | "mean" | "sum" | "p50" | "p90" | "p95" | "p99" => reducer,
        _ => return None,
    };
    const SOURCES: [&str; 6] = ["wait", "syscall", "irq", "io", "lock", "preempted"];
    let source = SOURCES.into_iter().find(|known| *known == source).or_else(|| other_source(source))?;
    Some(format!("did you mean `{own}({source}(NAME))`, or `{own}({source}())` of all?"))
}

/// The source of durations that others call `name`.
pub(super) fn other_source(name: &str) -> Option<&'static str> {
    match name {
        "wakeup" | "wakeups" | "wake" | "waking" | "waits" | "delay" | "sched_delay" | "runqueue" | "runq" => {
            Some("wait")
        }
        "softirq" | "softirqs" | "irqs" | "interrupt" | "interrupts" => Some("irq"),
        "disk" | "block" | "blk" | "bio" | "d2c" | "q2c" | "q2d" | "i2d" | "await" | "svctm" | "r_await"
        | "w_await" => Some("io"),
        "syscalls" | "call" | "calls" => Some("syscall"),
        "contention" | "locks" | "mutex" => Some("lock"),
        _ => None,
    }
}

/// The unit that others write as `word`.
pub(super) fn other_unit(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "nsec" | "nsecs" | "nanos" | "nanoseconds" => "ns",
        "usec" | "usecs" | "micros" | "microseconds" => "us",
        "msec" | "msecs" | "millis" | "milliseconds" => "ms",
        "sec" | "secs" | "second" | "seconds" => "s",
        "mins" | "minute" | "minutes" => "min",
        "hours" | "hour" | "hr" => "h",
        "hz" => "/s",
        "percent" | "pct" => "%",
        "kb" => "KiB",
        "mb" => "MiB",
        "gb" => "GiB",
        _ => return None,
    })
}

/// The hint on what stands behind a whole assertion or, as `label` says, something like it: `rest`, after `before`.
pub(super) fn what_follows(label: &str, before: &str, rest: &str) -> Option<String> {
    let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let unit = ["ns", "us", "ms", "s", "min", "h"].into_iter().find(|unit| *unit == word);
    let number = before.trim_end().rsplit(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
    if let Some(unit) = unit.or_else(|| other_unit(word)).filter(|_| !number.is_empty()) {
        return Some(format!("a unit follows its number without a blank: `{number}{unit}`"));
    }
    if ["and ", "or ", "&&", "||", ",", ";"].iter().any(|word| rest.starts_with(word)) {
        return Some("an assertion is one comparison; `--assert` may be given several times".to_owned());
    }
    if ["per ", "a second", "each "].iter().any(|word| rest.starts_with(word)) {
        return Some(format!("a rate is `{number}/s`")).filter(|_| !number.is_empty());
    }
    if rest.starts_with("of ") {
        return Some("an assertion is about one recording; `rtrace diff BASE NEW` compares it with another".to_owned());
    }
    if rest.starts_with(['<', '>', '=', '!']) {
        return Some(
            match label {
                "metric" => "a metric has no limit, `rtrace check FILE --assert` has",
                _ => "an assertion has one comparison; give the other one with a second `--assert`",
            }
            .to_owned(),
        );
    }
    let before = before.trim();
    if let Some(one) = ["run", "faults"].into_iter().find(|one| *one == before) {
        return Some(format!("`{one}` is that of all tasks, `{one}(NAME)` that of one"));
    }
    Some(format!("`{before}` is all of it")).filter(|_| !before.contains('`'))
}

/// The hint on `rest` in the place of a comparison.
pub(super) fn no_comparison(rest: &str) -> Option<String> {
    let turned = [("=>", ">="), ("=<", "<="), ("=!", "!="), ("≤", "<="), ("≥", ">=")].into_iter();
    let turned = turned.filter(|(other, _)| rest.starts_with(other));
    let turned = turned.map(|(other, own)| format!("`{other}` is written `{own}`")).next();
    let equals = || rest.starts_with('=').then(|| "`equals` is written `==`".to_owned());
    let two = || rest.starts_with("between").then(|| "give two: `--assert 'X >= 1ms' --assert 'X <= 5ms'`".to_owned());
    let number = rest.starts_with(|c: char| c.is_ascii_digit());
    turned.or_else(equals).or_else(two).or_else(|| number.then(|| "as in `... < 5ms`".to_owned()))
}

/// The hint on an argument like `comm=sleep`, where a task's name or id stands alone, or `prio < 100`, by which none is chosen.
pub(super) fn named_argument(text: &str) -> Option<String> {
    let field = text.split(['<', '>', '=', '!', ' ']).next().unwrap_or_default();
    if field != text && ["prio", "priority", "next_prio", "prev_prio"].contains(&field) {
        return Some(
            "by priority `rtrace latency FILE sched_waking sched_switch --by pid=next_pid --if-start 'prio < 100'` has waits \
             (real-time 80 is prio 19)."
                .to_owned(),
        );
    }
    let (name, value) = text.split_once('=')?;
    let is_of_task = ["task", "comm", "pid", "tid", "name", "tgid"].contains(&name.trim());
    let value = value.trim_start_matches('=').trim().trim_matches(['"', '\'']);
    is_of_task.then(|| format!("it stands without `{}=`: `({value})`", name.trim()))
}
