//! A condition that ends a recording while it runs: `latency(sched:sched_waking, sched:sched_switch, pid=next_pid) > 2ms`.

use super::ast::{DurationSource, EventsExpr, Quantity, QuantityExpr, Reducer};
use super::interval::{Compare, Dimension, Interval};
use super::measure::Measure;
use super::parse::AssertionParser;
use super::plan::{Named, Planner};
use crate::answer::analysis::{InOrder, Spot};
use crate::base::abi::Abi;
use crate::base::syntax::{Diagnostic, Span, Spanned};
use crate::base::units::Pid;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;

/// The name of a condition in errors.
const LABEL: &str = "stop-if";

/// Conditions, for the hint of an error.
const EXAMPLE: &str = "As in `latency(sched:sched_waking, sched:sched_switch, pid=next_pid) > 1ms` or `count(sched:sched_process_exit) >= 1`.";
/// Intervals that are on at one time at most: the bound of the memory that they take.
const MOST_OPEN: usize = 1 << 16;

/// An event or an interval that ends a recording.
#[derive(Clone, Debug)]
pub struct StopCondition {
    /// The text it was parsed from.
    pub text: String,
    quantity: Spanned<Quantity>,
    /// The most that is allowed: nanoseconds, or events.
    limit: u64,
}

impl StopCondition {
    /// Parses `latency(FROM, TO, KEY) > TIME` or `count(EVENTS) > N`, with `>` or `>=`.
    ///
    /// # Errors
    /// A [`Diagnostic`] labelled `stop-if` with the place of the error; also of quantities that only a whole recording has.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Self::parsed(text).map_err(|error| match error.hints() {
            [] => error.hint(EXAMPLE),
            _ => error,
        })
    }

    fn parsed(text: &str) -> Result<Self, Diagnostic> {
        let mut parser = AssertionParser::new(LABEL, text);
        let quantity = parser.one_of_many()?;
        let op = parser.comparison()?;
        let limit = parser.sum()?;
        parser.end()?;
        let whole = Span::new(0, text.len());
        let live =
            matches!(quantity.value, Quantity::Reduced(Reducer::Max, DurationSource::Latency(_)) | Quantity::Count(_));
        if !live {
            let error = Diagnostic::new(LABEL, text, quantity.span, "only a whole recording has this quantity");
            let limit = text.get(quantity.span.end..).and_then(|rest| rest.trim_start().strip_prefix('>'));
            let limit = limit.map(|limit| limit.trim_start_matches('=').trim()).filter(|limit| !limit.is_empty());
            let limit = match limit {
                Some(limit) if limit.bytes().all(|byte| byte.is_ascii_digit()) => format!("{limit}ms"),
                limit => limit.filter(|limit| limit.ends_with('s')).unwrap_or("2ms").to_owned(),
            };
            let hint = match &quantity.value {
                Quantity::Reduced(_, DurationSource::Wait(task)) => format!(
                    "A wait for a CPU is seen while it runs as `latency(sched:sched_waking, sched:sched_switch{}, pid=next_pid) > {limit}`.",
                    of_task(task)
                ),
                _ => format!(
                    "While it runs, times between two events and numbers of events are known: `latency(FROM, TO, KEY) > {limit}`, \
                     `count(EVENTS) >= 1`, as in `latency(sched:sched_waking, sched:sched_switch, pid=next_pid) > {limit}`."
                ),
            };
            return Err(error.hint(hint));
        }
        let QuantityExpr::Number(number) = limit else {
            return Err(Diagnostic::new(LABEL, text, whole, "the limit is a number: `> 2ms`, `>= 1`"));
        };
        if number.dimension != quantity.value.dimension() {
            let error = Diagnostic::new(LABEL, text, whole, "times are compared with times, numbers with numbers");
            return Err(error.hint("Times have a unit: 500us, 2ms, 1s."));
        }
        let limit = match op {
            Compare::Greater => number.observed.floor() as u64,
            Compare::GreaterOrEqual if number.observed > 0.0 => (number.observed.ceil() as u64).saturating_sub(1),
            _ => {
                let error = Diagnostic::new(LABEL, text, whole, "a recording ends when something is beyond a limit");
                return Err(error.hint("Compare with `>` or `>=`, and with more than 0 if with `>=`."));
            }
        };
        Ok(StopCondition { text: text.trim().to_owned(), quantity, limit })
    }

    /// The events that it is about, as `-e` has them.
    pub fn events(&self) -> Vec<&str> {
        self.parts().into_iter().map(|events| events.names.value.as_str()).collect()
    }

    /// True if it compares times, which needs a clock that counts nanoseconds.
    pub fn is_of_time(&self) -> bool {
        self.quantity.value.dimension() == Dimension::Time
    }

    fn parts(&self) -> Vec<&EventsExpr> {
        match &self.quantity.value {
            Quantity::Reduced(_, DurationSource::Latency(latency)) => vec![&latency.from, &latency.to],
            Quantity::Count(events) => vec![events],
            _ => Vec::new(),
        }
    }
}

/// A condition held against events as they come, in memory that does not grow with their number.
#[derive(Clone, Debug)]
pub struct StopWatch<'a> {
    measure: Measure<'a>,
    dimension: Dimension,
    limit: u64,
    missed: Missed,
}

/// The first thing beyond the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopped {
    /// Its time, or the number of events.
    pub value: Interval,
    /// Place of the event that decided.
    pub spot: Spot,
    /// The task that it is about: the one that the key names, else the one that was running.
    pub task: Option<Pid>,
}

/// Things that a [`StopWatch`] could not see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// Events that the kernel dropped, as far as it counted them.
    pub events: u64,
    /// Places where it dropped some without counting them.
    pub places: u64,
    /// Intervals that were given up because of it, or because too many were on at one time.
    pub intervals: u64,
}

impl<'a> StopWatch<'a> {
    /// Watches for `condition` among events of these formats; `comms` is what keeps none.
    ///
    /// # Errors
    /// A filter or a key that does not fit the fields of its events, or events that are in no format.
    pub fn new(
        condition: &StopCondition,
        formats: &[&EventFormat],
        abi: Abi,
        comms: &'a Comms,
    ) -> Result<Self, Diagnostic> {
        for filter in condition.parts().iter().filter_map(|events| events.filter.as_ref()) {
            let needs = |format: &&EventFormat| filter.value.compile(format, abi, &()).is_ok_and(|it| it.needs_comm());
            if formats.iter().any(needs) {
                let error =
                    Diagnostic::new(LABEL, &condition.text, filter.span, "tasks have no names while they are recorded");
                return Err(error.hint("Compare a field of the event: prev_comm, next_comm, common_pid."));
            }
        }
        let mut planner = Planner::new(formats, abi, comms, None);
        let named = Named { label: LABEL, text: &condition.text };
        let need = planner.need(&condition.quantity, named, condition.limit)?;
        let missing = || {
            let why = need.missing.clone().unwrap_or_else(|| "there is no such event".to_owned());
            Diagnostic::new(LABEL, &condition.text, condition.quantity.span, why)
        };
        let measure = match planner.measures.into_iter().next().ok_or_else(missing)? {
            Measure::Pairs(pairs) => Measure::Pairs(Box::new(pairs.at_most(MOST_OPEN))),
            measure => measure,
        };
        let dimension = condition.quantity.value.dimension();
        Ok(StopWatch { measure, dimension, limit: condition.limit, missed: Missed::default() })
    }

    /// Leaves out intervals whose key names one of these tasks: the recorder's own threads.
    pub fn leave_out(&mut self, tasks: &[Pid]) {
        if let Measure::Pairs(pairs) = &mut self.measure {
            pairs.leave_out(tasks);
        }
    }

    /// Takes the next event, in the order of time; gives the first thing beyond the limit.
    pub fn record(&mut self, record: &Record<'_>) -> Option<Stopped> {
        match record.lost {
            Lost::None => {}
            Lost::Count(count) => self.missed.events = self.missed.events.saturating_add(count),
            Lost::Unknown => self.missed.places = self.missed.places.saturating_add(1),
        }
        self.measure.record(record);
        let (spot, task) = match &self.measure {
            Measure::Pairs(pairs) => {
                self.missed.intervals = pairs.so_far().censored;
                (pairs.so_far().beyond?, pairs.so_far().beyond_task)
            }
            Measure::Count(count) => count.so_far().beyond.map(|spot| (spot, spot.pid))?,
            _ => return None,
        };
        let value = if self.dimension == Dimension::Time { spot.time() } else { self.limit.saturating_add(1) };
        Some(Stopped { value: Interval::exactly(value as f64, self.dimension), spot, task })
    }

    /// Forgets what was beyond the limit: looks for the next, events counted from here.
    pub fn go_on(&mut self) {
        match &mut self.measure {
            Measure::Pairs(pairs) => pairs.go_on(),
            Measure::Count(count) => count.go_on(),
            _ => {}
        }
    }

    /// Things that it could not see so far.
    pub fn missed(&self) -> Missed {
        self.missed
    }
}

/// The condition that a switch is to a task, as `wait(TASK)` names it; nothing if that is no name or number of one.
fn of_task(task: &str) -> String {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte);
    match task {
        _ if task.is_empty() || task.starts_with("cgroup:") || !task.bytes().all(is_name) => String::new(),
        _ if task.bytes().all(|byte| byte.is_ascii_digit()) => format!(" if next_pid == {task}"),
        _ => format!(" if next_comm == \"{task}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_of_one_event_or_interval() {
        for (text, limit) in [
            ("latency(a:b, a:c, pid=next_pid) > 2ms", 2_000_000),
            ("max(latency(a:b if x == 1, a:c, common_cpu)) >= 1us", 999),
            ("count(a:b if y > 3) >= 1", 0),
            ("count(a:b) > 5", 5),
        ] {
            assert_eq!(StopCondition::parse(text).unwrap().limit, limit, "{text}");
        }
        assert_eq!(StopCondition::parse("latency(a:b, a:c, x) > 1s").unwrap().events(), ["a:b", "a:c"]);
        for (text, message) in [
            ("latency(a:b, a:c, pid) < 2ms", "beyond a limit"),
            ("latency(a:b, a:c, pid) >= 0s", "beyond a limit"),
            ("latency(a:b, a:c, pid) > 2", "compared with"),
            ("latency(a:b, a:c) > 2ms", "a key is expected"),
            ("p99(latency(a:b, a:c, x)) > 2ms", "only a whole recording"),
            ("wait(ls) > 2ms", "only a whole recording"),
            ("lost > 0", "only a whole recording"),
            ("latency(a:b, a:c, x) > duration", "the limit is a number"),
            ("latency(a:b, a:c, x)", "a comparison"),
            ("latency(a:b, a:c, x) > 2ms or so", "nothing more"),
            ("latency > 1ms", "`(` is expected here"),
        ] {
            let error = StopCondition::parse(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {error}");
            assert!(!error.hints().is_empty(), "{text}: {error}");
        }
    }

    /// An event with one number of four bytes, `field`.
    fn format(name: &str, id: u16, field: &str) -> EventFormat {
        let text = format!(
            "name: {name}\nID: {id}\nformat:\n\
             \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
             \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
             \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
             \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
             \tfield:int {field};\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n"
        );
        EventFormat::parse("a", &text).unwrap()
    }

    /// The intervals of tasks from `begin` to `end` that stop it, with the events: time, id, task, whether some were lost.
    fn stopped_by(events: &[(u64, u16, i32, bool)], left_out: &[i32]) -> (Option<(u64, u64)>, Missed) {
        let condition = StopCondition::parse("latency(a:begin, a:end, pid=next_pid) > 10ns").unwrap();
        let (formats, comms) = ([format("begin", 1, "pid"), format("end", 2, "next_pid")], Comms::default());
        let mut watch = StopWatch::new(&condition, &formats.each_ref(), Abi::HOST, &comms).unwrap();
        watch.leave_out(&left_out.iter().map(|pid| Pid(*pid)).collect::<Vec<_>>());
        let mut found = None;
        for (time, id, task, lost) in events {
            let data = [&id.to_ne_bytes()[..], &[0; 6], &task.to_ne_bytes()].concat();
            let lost = if *lost { Lost::Count(3) } else { Lost::None };
            let (timestamp, cpu) = (crate::base::units::Timestamp(*time), crate::base::units::CpuId(0));
            found = found.or(watch.record(&Record { timestamp, cpu, buffer: 0, lost, data: &data }));
            assert!(found.is_none_or(|found| found.task.is_some_and(|task| task.0 != 0)), "the task of the key");
        }
        (found.map(|found| (found.spot.begin, found.spot.at)), watch.missed())
    }

    #[test]
    fn the_first_interval_beyond_the_limit_stops() {
        let (begin, end) = (1, 2);
        let events = [(0, begin, 7, false), (10, end, 7, false), (20, begin, 7, false), (25, begin, 8, false)];
        assert_eq!(stopped_by(&events, &[]), (None, Missed::default()));
        let later = [&events[..], &[(31, end, 7, false), (90, end, 8, false)]].concat();
        assert_eq!(stopped_by(&later, &[]).0, Some((20, 31)));
        // A thread of the recorder.
        assert_eq!(stopped_by(&later, &[7]).0, Some((25, 90)));
        assert_eq!(stopped_by(&later, &[7, 8]).0, None);
    }

    #[test]
    fn intervals_across_a_loss_are_given_up() {
        let (begin, end) = (1, 2);
        let events = [(0, begin, 7, false), (5, begin, 8, false), (50, end, 7, true), (60, end, 8, false)];
        assert_eq!(stopped_by(&events, &[]), (None, Missed { events: 3, places: 0, intervals: 2 }));
        let many: Vec<_> = (0..=MOST_OPEN as i32).map(|task| (0, begin, task, false)).collect();
        let (found, missed) =
            stopped_by(&[&many[..], &[(99, end, 0, false), (99, end, MOST_OPEN as i32, false)]].concat(), &[]);
        assert_eq!((found, missed.intervals), (Some((0, 99)), MOST_OPEN as u64));
    }
}
