//! Requests that a command line names: `analyze requests`, `convert --to perfetto`.

use super::exit::{Exit, Failure};
use super::query::QueryInput;
use anyhow::anyhow;
use rtrace::analysis::{MarkerPattern, RequestPlan, RequestSide};
use rtrace::events::EventName;
use rtrace::format::EventFormat;
use rtrace::internal::assertion::Pair;

/// The events of requests.
#[derive(clap::Args, Clone, Default)]
pub(super) struct RequestArgs {
    /// The event that begins a request: EVENT or 'EVENT if FILTER'; with --by marker, the begin of a line
    #[arg(long, value_name = "EVENT", requires_all = ["end", "by"])]
    begin: Option<String>,
    /// The event that ends it, in the same way
    #[arg(long, value_name = "EVENT", requires = "begin")]
    end: Option<String>,
    /// The event with which another thread takes it, in the same way
    #[arg(long, value_name = "EVENT", requires = "begin")]
    carry: Option<String>,
    /// Fields that are equal in all events of one request, as `pid=next_pid`; or `marker`: `*` in lines is what is equal
    #[arg(long, value_name = "FIELD|marker", value_delimiter = ',', requires = "begin")]
    by: Vec<String>,
}

impl RequestArgs {
    /// True if requests are asked for.
    pub(super) fn are_asked(&self) -> bool {
        self.begin.is_some()
    }

    /// The events that begin and end them.
    fn ends(&self) -> [&str; 2] {
        [&self.begin, &self.end].map(|end| end.as_deref().unwrap_or_default())
    }

    /// The events of requests in a recording, of which none is kept; `None` if it has none of them.
    pub(super) fn plan(&self, input: &QueryInput) -> Result<Option<RequestPlan>, Failure> {
        if self.by == ["marker"] { self.of_markers(input) } else { self.of_events(input) }
    }

    fn of_markers(&self, input: &QueryInput) -> Result<Option<RequestPlan>, Failure> {
        let pattern = |text: &str| MarkerPattern::new(input.trace.formats(), input.trace.abi, text);
        let (Some(begin), Some(end)) = (pattern(self.ends()[0]), pattern(self.ends()[1])) else { return Ok(None) };
        let carry = self.carry.as_deref().and_then(pattern);
        let has_key = begin.has_key();
        if [Some(&end), carry.as_ref()].into_iter().flatten().any(|other| other.has_key() != has_key) {
            let error = anyhow!("all lines need a `*` for what is equal in them, or none does");
            return Err(Failure::new(Exit::Usage, error).hint("As in --begin 'begin *' --end 'end *' --by marker."));
        }
        if !has_key && carry.is_some() {
            let error = anyhow!("without a `*` in its lines a request is its thread's, and no other takes it");
            return Err(
                Failure::new(Exit::Usage, error).hint("As in --begin 'begin *' --carry 'take *' --end 'end *'.")
            );
        }
        let [begin, end] = [begin, end].map(RequestSide::Marker);
        let events = vec![EventName::new("ftrace", "print")];
        Ok(Some(RequestPlan { begin, end, carry: carry.map(RequestSide::Marker), events, keep: 0, pieces: false }))
    }

    fn of_events(&self, input: &QueryInput) -> Result<Option<RequestPlan>, Failure> {
        let formats: Vec<&EventFormat> = input.trace.formats().collect();
        let [begin, end] = self.ends();
        let sides = |end: &str, nth: usize| {
            let key = |by: &String| {
                let names: Vec<&str> = by.split('=').collect();
                let other = names.get(nth).or(names.last()).copied().unwrap_or_default();
                format!("{}={other}", names.first().copied().unwrap_or_default())
            };
            let keys: Vec<String> = self.by.iter().map(key).collect();
            let pair = Pair::parse(&format!("latency({begin}, {end}, {})", keys.join(", ")))?;
            pair.sides(&formats, input.trace.abi, &input.symbols.comms)
        };
        let failure = |error: rtrace::syntax::Diagnostic| {
            let hints: Vec<String> = error.hints().iter().map(ToString::to_string).collect();
            hints.into_iter().fold(Failure::new(Exit::Usage, anyhow!("{error}")), Failure::hint)
        };
        let missing = |missing: String| {
            let error = anyhow!("{}: {missing}", input.path.display());
            let hint = format!("`rtrace report --events {}` lists those it has.", input.path.display());
            Failure::new(Exit::Failed, error).hint(hint)
        };
        let [begin, end] = sides(end, 1).map_err(failure)?.map_err(missing)?;
        let mut events = [begin.1, end.1].concat();
        let carry = match &self.carry {
            None => None,
            Some(carry) => {
                let [_, (chosen, names)] = sides(carry, 2).map_err(failure)?.map_err(missing)?;
                events.extend(names);
                Some(RequestSide::Events(chosen))
            }
        };
        let (begin, end) = (RequestSide::Events(begin.0), RequestSide::Events(end.0));
        Ok(Some(RequestPlan { begin, end, carry, events, keep: 0, pieces: false }))
    }
}
