//! The time window: `--since`, `--until`, `--around`.
//! Local time: `--wall`, and points of time by the day.

use super::ClockUnit;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::internal::trace_dat::WallClock;
use rtrace::internal::wall_time::{WallPoint, local_second, with_zone};
use rtrace::recording::{Query, Window};
use rtrace::units::{Timestamp, parse_duration};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Once;

/// The part of the recording to show.
#[derive(clap::Args, Clone, Default, PartialEq, Eq)]
pub(crate) struct WindowArgs {
    /// Only from this time on: as printed, +TIME, -TIME, 12:03
    ///
    /// Seconds as they are printed, +TIME from the start, -TIME from the end. Or local time: 12:03, 12:03:05.25, 2026-11-26
    /// 12:03, `today`; Z or +01:00 at its end says another zone. A time without a day is of the day of the recording.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time_spec)]
    since: Option<TimeSpec>,
    /// Only up to this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time_spec)]
    until: Option<TimeSpec>,
    /// Only around this time: 1 ms to each side, or W
    ///
    /// W stands after `±` or `+-`.
    #[arg(long, value_name = "TIME[±W]", allow_hyphen_values = true, conflicts_with_all = ["since", "until"],
          value_parser = around)]
    around: Option<(TimeSpec, u64)>,
}

/// A point of time as the user gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeSpec {
    /// As printed: in nanoseconds, and, if it is a bare whole number, for clocks that count ticks.
    At { nanos: u64, ticks: Option<u64> },
    /// This many nanoseconds after the first event.
    FromStart(u64),
    /// This many nanoseconds before the last event.
    FromEnd(u64),
    /// By the wall clock.
    Wall(WallPoint),
}

impl TimeSpec {
    fn to_text(self) -> String {
        match self {
            TimeSpec::At { nanos, .. } => format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000),
            TimeSpec::FromStart(nanos) => format!("+{nanos}ns"),
            TimeSpec::FromEnd(nanos) => format!("-{nanos}ns"),
            TimeSpec::Wall(point) => point.to_string(),
        }
    }
}

/// A single point of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryMoment(TimeSpec);

impl QueryMoment {
    /// As printed, or `+TIME`, `-TIME`: from the start, from the end.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        time_spec(text).map(QueryMoment)
    }

    /// True of a time of day.
    pub(crate) fn is_wall(self) -> bool {
        matches!(self.0, TimeSpec::Wall(_))
    }

    /// A point that is known, in the clock's unit.
    pub(crate) fn at(time: u64) -> Self {
        QueryMoment(TimeSpec::At { nanos: time, ticks: Some(time) })
    }

    /// The point in these files' time.
    pub(crate) fn resolve(self, query: &Query<'_>) -> Result<u64, Failure> {
        Clock::of(query, [self.0])?.point(self.0)
    }

    /// The same, of files whose first and last moment are known.
    pub(crate) fn resolve_in(self, query: &Query<'_>, (start, end): (u64, u64)) -> Result<u64, Failure> {
        Clock { start, end, ..Clock::of(query, [])? }.point(self.0)
    }

    /// The point as it was asked for, in `unit`: a time of day may lie before the recording's time begins.
    pub(crate) fn shown(self, query: &Query<'_>, unit: ClockUnit) -> Result<String, Failure> {
        let clock = Clock::of(query, [self.0])?;
        if let (TimeSpec::Wall(point), Some(wall)) = (self.0, clock.wall)
            && let Some(asked) = point.nanoseconds(wall.wall(clock.start), wall.wall(clock.end))
        {
            let (second, rest) = local_second(asked);
            return Ok(format!("{second}.{:06}", rest / 1000));
        }
        Ok(unit.micros(clock.point(self.0)?))
    }
}

/// Converts points of time from the user's notation to those of files.
struct Clock {
    start: u64,
    end: u64,
    in_ticks: bool,
    wall: Option<WallClock>,
}

impl Clock {
    /// The clock of these files, for some points.
    fn of(query: &Query<'_>, specs: impl IntoIterator<Item = TimeSpec>) -> Result<Self, Failure> {
        let relative = specs.into_iter().any(|spec| !matches!(spec, TimeSpec::At { .. }));
        let span = if relative { query.span()? } else { None };
        let (start, end) = span.map_or((0, 0), |(start, end)| (start.0, end.0));
        let in_ticks = query.sources().iter().any(|source| source.shown_in_ticks);
        Ok(Clock { start, end, in_ticks, wall: wall_clock(query) })
    }

    /// The point where a window begins.
    fn point(&self, spec: TimeSpec) -> Result<u64, Failure> {
        self.converted(spec, WallClock::first_time)
    }

    /// The point where a window ends.
    fn last_point(&self, spec: TimeSpec) -> Result<u64, Failure> {
        self.converted(spec, WallClock::last_time)
    }

    /// The point on the wall clock, in nanoseconds since the epoch.
    fn nanoseconds(&self, point: WallPoint) -> Option<i64> {
        let wall = self.wall?;
        point.nanoseconds(wall.wall(self.start), wall.wall(self.end))
    }

    fn converted(&self, spec: TimeSpec, by_wall: impl Fn(&WallClock, i64) -> u64) -> Result<u64, Failure> {
        match spec {
            TimeSpec::At { ticks, .. } if self.in_ticks => {
                Ok(ticks
                    .ok_or_else(|| anyhow!("the trace clock counts ticks: a time must be a whole number of them"))?)
            }
            TimeSpec::At { nanos, .. } => Ok(nanos),
            TimeSpec::FromStart(span) => Ok(self.start.saturating_add(span)),
            TimeSpec::FromEnd(span) => Ok(self.end.saturating_sub(span)),
            TimeSpec::Wall(point) => {
                let wall = self.wall.ok_or_else(|| unknown_wall_clock("the recording"))?;
                tell_of_step(&wall);
                let time = point.nanoseconds(wall.wall(self.start), wall.wall(self.end)).map(|at| by_wall(&wall, at));
                Ok(time.ok_or_else(|| anyhow!("{point} is out of the range of times"))?)
            }
        }
    }
}

fn nanos(text: &str) -> Result<u64, String> {
    let time = parse_duration(text).map_err(|e| e.to_string())?;
    u64::try_from(time.as_nanos()).map_err(|_| format!("`{text}` is too long"))
}

fn time_spec(text: &str) -> Result<TimeSpec, String> {
    if let Some(rest) = text.strip_prefix('+') {
        return nanos(rest).map(TimeSpec::FromStart);
    }
    if let Some(rest) = text.strip_prefix('-') {
        return nanos(rest).map(TimeSpec::FromEnd);
    }
    if let Some(point) = WallPoint::parse(text) {
        return point.map(TimeSpec::Wall);
    }
    let ticks = text.parse().ok();
    match nanos(text) {
        Ok(nanos) => Ok(TimeSpec::At { nanos, ticks }),
        // More seconds than there can be nanoseconds of: ticks, as of the TSC.
        Err(_) if ticks.is_some() => Ok(TimeSpec::At { nanos: u64::MAX, ticks }),
        Err(_) if text.ends_with("ago") => Err("`-5m` is five minutes before the last event".to_owned()),
        Err(e) => Err(format!("{e}, or a time of day: 12:03, 2026-11-26 12:03, today")),
    }
}

fn around(text: &str) -> Result<(TimeSpec, u64), String> {
    let (at, width) = match text.split_once('±').or_else(|| text.split_once("+-")) {
        Some((at, _)) if at.trim().is_empty() => {
            return Err("a time comes first, as in `1123.5+-1ms`".to_owned());
        }
        Some((at, width)) => (at.trim_end(), nanos(width.trim_start())?),
        None => (text, 1_000_000),
    };
    let width_of = |wrong| match text.split_once(',') {
        Some((at, width)) => format!("{wrong}; a width follows `+-`: `{at}+-{width}`"),
        None => wrong,
    };
    Ok((time_spec(at).map_err(width_of)?, width))
}

impl WindowArgs {
    /// The options as they chose the window, for a reader; empty of the whole recording.
    pub(crate) fn to_text(&self) -> String {
        let one = |name: &str, spec: Option<TimeSpec>| spec.map(|spec| format!("{name} {}", spec.to_text()));
        let around = self.around.map(|(at, width)| format!("--around {}±{width}ns", at.to_text()));
        [one("--since", self.since), one("--until", self.until), around]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// True if nothing is cut off.
    pub(crate) fn is_everything(&self) -> bool {
        *self == WindowArgs::default()
    }

    /// The window in the time of the recording at `path`; an error if the recording has events, and none of its time is in it:
    /// an account of nothing would look like one of a quiet time.
    pub(crate) fn within(&self, query: &Query<'_>, path: &Path) -> Result<Window, Failure> {
        if let Some(reason) = self.outside(query)? {
            let error = anyhow!("{} holds nothing in this window: {reason}", path.display());
            return Err(Failure::new(Exit::Failed, error)
                .hint("`--since +TIME` counts from the first event, `--since -TIME` from the last one."));
        }
        self.tell_of_early_start(query)?;
        self.resolve(query)
    }

    /// Says that the window begins long before the first event, where a time that counts from an end was meant.
    pub(super) fn tell_of_early_start(&self, query: &Query<'_>) -> Result<(), Failure> {
        let Some(TimeSpec::At { nanos, .. }) = self.since else { return Ok(()) };
        let Some((first, last)) = query.span()? else { return Ok(()) };
        let is_outside = matches!(self.until, Some(TimeSpec::At { nanos, .. }) if nanos < first.0);
        if !is_outside && !query.sources().iter().any(|source| source.shown_in_ticks) {
            tell_of_early(nanos, (first.0, last.0), "`--since -TIME` from the last one");
        }
        Ok(())
    }

    /// A reason why no event can be in the window; `None` if there may be one, or if there are no events at all.
    pub(super) fn outside(&self, query: &Query<'_>) -> Result<Option<String>, Failure> {
        if self.is_everything() {
            return Ok(None);
        }
        let window = self.resolve(query)?;
        let (since, until) = (window.since.unwrap_or_default().0, window.until.map_or(u64::MAX, |until| until.0));
        let Some((start, end)) = query.span()?.filter(|(start, end)| since > end.0 || until < start.0) else {
            return Ok(None);
        };
        let in_ticks = query.sources().iter().any(|source| source.shown_in_ticks);
        let shown = |time: u64| match in_ticks {
            true => time.to_string(),
            false => format!("{}.{:06}", time / 1_000_000_000, time % 1_000_000_000 / 1000),
        };
        let by_day = wall_clock(query).filter(|_| !in_ticks).map(|clock| {
            let day = |time: Timestamp| local_second(clock.wall(time.0)).0;
            format!(" ({} to {})", day(start), day(end))
        });
        let by_day = by_day.unwrap_or_default();
        let is_span = until < start.0 && until <= end.0.saturating_sub(start.0);
        let from_first = if is_span { "; `+TIME` counts from the first" } else { "" };
        Ok(Some(format!("the events lie between {} and {}{by_day}", shown(start.0), shown(end.0)) + from_first))
    }

    /// The window in these files' time.
    pub(crate) fn resolve(&self, query: &Query<'_>) -> Result<Window, Failure> {
        let specs = [self.since, self.until, self.around.map(|a| a.0)];
        let clock = Clock::of(query, specs.into_iter().flatten())?;
        let point = |spec| clock.point(spec);
        if let Some((middle, width)) = self.around {
            let middle = point(middle)?;
            let (since, until) = (middle.saturating_sub(width), middle.saturating_add(width));
            return Ok(Window { since: Some(Timestamp(since)), until: Some(Timestamp(until)) });
        }
        let since = self.since.map(point).transpose()?.map(Timestamp);
        let until = self.until.map(|spec| clock.last_point(spec)).transpose()?.map(Timestamp);
        let is_reversed = match (self.since, self.until) {
            // A day before the machine was booted is no time of its trace clock.
            (Some(TimeSpec::Wall(since)), Some(TimeSpec::Wall(until))) => {
                clock.nanoseconds(since) > clock.nanoseconds(until)
            }
            _ => matches!((since, until), (Some(since), Some(until)) if since > until),
        };
        if is_reversed {
            let error = anyhow!("the window ends before it begins");
            let hint = match (self.since, self.until) {
                (Some(TimeSpec::Wall(_)), _) | (_, Some(TimeSpec::Wall(_))) => "",
                _ => " `+500ms` counts from the first event, `500ms` alone is a time as reports print it.",
            };
            let hint = format!("--since is the earlier time, --until the later one.{hint}");
            return Err(Failure::new(Exit::Usage, error).hint(hint));
        }
        Ok(Window { since, until })
    }
}

/// A time as options take it: `1s`, `0.25s`.
fn as_typed(nanos: u64) -> String {
    let text = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Says that a start `at`, as reports show times, lies before a recording from `first` to `last` by more than it is long: all
/// of it follows. Zero says so itself.
pub(crate) fn tell_of_early(at: u64, (first, last): (u64, u64), from_end: &str) {
    let is_early = at > 0 && first.checked_sub(at).is_some_and(|before| before > last.saturating_sub(first));
    if is_early {
        let (at, first) = (as_typed(at), ClockUnit::Nanoseconds.micros(first));
        note!(
            "rtrace: {at} is before the first event at {first}: nothing is cut off\n  \
             Hint: `+{at}` counts from the first event, {from_end}."
        );
    }
}

/// The clock that points of time are shown by.
#[derive(clap::Args, Clone, Copy, Default)]
pub(crate) struct WallArgs {
    /// Show points of time as local time, as in 2026-11-26T12:03:05.250123
    ///
    /// By the clock that the recorder read beside the trace clock, when it began and when it ended; $TZ is the zone.
    #[arg(long)]
    wall: bool,
}

impl WallArgs {
    /// True if they are to be local time.
    pub(crate) fn is_wanted(self) -> bool {
        self.wall
    }

    /// The same as an option of another kind.
    pub(crate) fn of(wall: bool) -> Self {
        WallArgs { wall }
    }

    /// The unit of the times of a query of the recording at `path`.
    ///
    /// # Errors
    /// If they are to be local time, and the recording does not know it.
    pub(crate) fn unit(self, query: &Query<'_>, path: &Path) -> Result<ClockUnit, Failure> {
        if !self.wall {
            return Ok(ClockUnit::of(query.sources().iter().any(|source| source.in_ticks)));
        }
        let clock = wall_clock(query).ok_or_else(|| unknown_wall_clock(&path.to_string_lossy()))?;
        tell_of_step(&clock);
        Ok(ClockUnit::Wall(clock))
    }
}

/// A window for programs: its points of time, and their local time where the clock of that is known.
pub(crate) fn window_json(begin: u64, end: u64, clock: Option<WallClock>) -> Value {
    let mut window = json!({"begin": begin, "end": end});
    if let Some(clock) = clock {
        window["begin_wall"] = json!(with_zone(clock.wall(begin)));
        window["end_wall"] = json!(with_zone(clock.wall(end)));
    }
    window
}

/// Adds to each object of a document the local time of its points, `NAME_wall`, where the clock of that is known.
pub(crate) fn add_wall(document: &mut Value, points: &[&str], clock: Option<WallClock>) {
    let Some(clock) = clock else { return };
    match document {
        Value::Object(members) => {
            for name in points {
                // Where nothing happened, when it did is 0.
                if let Some(at) = members.get(*name).and_then(Value::as_u64).filter(|at| *at > 0) {
                    members.insert(format!("{name}_wall"), json!(with_zone(clock.wall(at))));
                }
            }
            members.values_mut().for_each(|member| add_wall(member, points, Some(clock)));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| add_wall(value, points, Some(clock))),
        _ => {}
    }
}

/// Local time of a point in the times of a query, if its recording knows it.
pub(crate) fn local_time(query: &Query<'_>, at: u64) -> Option<String> {
    wall_clock(query).map(|clock| with_zone(clock.wall(at)))
}

/// The wall clock by the times of a query: that of the first source that has one.
pub(crate) fn wall_clock(query: &Query<'_>) -> Option<WallClock> {
    query.sources().iter().find_map(|source| source.wall_clock(query.recordings()))
}

/// Says, once, that local time after some point is not what the machine showed, if its wall clock was set meanwhile.
pub(super) fn tell_of_step(clock: &WallClock) {
    static TOLD: Once = Once::new();
    let (step, sign) = (clock.step().unsigned_abs() / 1_000_000, if clock.step() < 0 { '-' } else { '+' });
    if step > 0 {
        TOLD.call_once(|| {
            note!(
                "rtrace: the wall clock was set by {sign}{}.{:03} s while this was recorded: local time here is by the clock as \
                 it was at the begin",
                step / 1000,
                step % 1000
            );
        });
    }
}

/// The refusal of local time.
pub(super) fn unknown_wall_clock(recording: &str) -> Failure {
    let error = anyhow!("{recording} does not say what time of day it was");
    Failure::new(Exit::Usage, error).hint(
        "`record` stores it since version 0.1.0, for clocks that count nanoseconds; trace-cmd stores it with `record --date`.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_time() {
        let at = |nanos, ticks| Ok(TimeSpec::At { nanos, ticks });
        assert_eq!(time_spec("167.716832"), at(167_716_832_000, None));
        assert_eq!(time_spec("3"), at(3_000_000_000, Some(3)));
        assert_eq!(time_spec("99999999999999"), at(u64::MAX, Some(99_999_999_999_999)));
        assert_eq!(time_spec("+1.5s"), Ok(TimeSpec::FromStart(1_500_000_000)));
        assert_eq!(time_spec("-200ms"), Ok(TimeSpec::FromEnd(200_000_000)));
        assert!(time_spec("soon").is_err() && time_spec("+").is_err());
        assert_eq!(around("2.5±10us").unwrap(), (TimeSpec::At { nanos: 2_500_000_000, ticks: None }, 10_000));
        assert_eq!(around("-1s+-2ms").unwrap(), (TimeSpec::FromEnd(1_000_000_000), 2_000_000));
        assert_eq!(around("5").unwrap().1, 1_000_000);
    }
}
