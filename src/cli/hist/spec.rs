//! The trigger that the options describe.

use super::chain::instances;
use super::place::{event, events_with_hists, hist_triggers, neighbours, syntax_failure};
use crate::cli::exit::{Exit, Failure};
use crate::cli::keywords::{ACTIONS, FILTERS, KEYS, SORTS, words};
use crate::cli::language::warn;
use crate::cli::terminal::note;
use rtrace::filter::Filter;
use rtrace::format::EventFormat;
use rtrace::hist::spec::{
    CheckContext, Echo, Features, HistExpr, HistSpec, KeyModifier, SortKey, SpecError, SpecErrorKind,
};
use rtrace::syntax::{Diagnostic, did_you_mean};
use rtrace::tracefs::{EventName, Instance, Tracefs};

/// The histogram: keys, values and filters.
#[derive(clap::Args)]
pub(super) struct SpecArgs {
    /// Event to count: `sched:sched_switch`
    #[arg(value_name = "EVENT", required = true)]
    event: Option<String>,
    /// The whole trigger in the kernel's words: 'hist:keys=...'
    #[arg(value_name = "TRIGGER", conflicts_with_all = ["key", "val"])]
    trigger: Option<String>,
    /// Keys: fields with modifiers (.hex .sym .sym-offset .syscall .execname .log2 .buckets=N), common_stacktrace, ...
    #[arg(short, long, value_name = "KEY", value_delimiter = ',', required_unless_present = "trigger", value_parser = words(KEYS), hide_possible_values = true)]
    key: Vec<String>,
    /// Fields to sum up, besides the number of events
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    val: Vec<String>,
    /// Keys or values to sort by, with .desc or .asc
    #[arg(short, long, value_name = "FIELD", value_delimiter = ',', value_parser = words(SORTS), hide_possible_values = true)]
    sort: Vec<String>,
    /// Only events that pass this filter
    #[arg(long = "filter", visible_alias = "if", value_name = "FILTER", value_parser = words(FILTERS), hide_possible_values = true)]
    filter: Option<String>,
    /// Number of entries
    #[arg(long, value_name = "N")]
    size: Option<u64>,
    /// Name; histograms of one name share a table
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Variable: `ts0=common_timestamp.usecs`
    #[arg(long, value_name = "VAR=EXPR")]
    var: Vec<String>,
    /// Action: 'onmax($lat).save(next_comm)'
    #[arg(long, value_name = "HANDLER.ACTION", value_parser = words(ACTIONS), hide_possible_values = true)]
    action: Vec<String>,
    /// Do not show the number of events (needs a value)
    #[arg(long)]
    nohitcount: bool,
}

impl SpecArgs {
    /// The event as it was typed, if one was.
    pub(super) fn event_text(&self) -> Option<&str> {
        self.event.as_deref()
    }

    /// The number of entries that was asked for.
    pub(super) fn size(&self) -> Option<u64> {
        self.size
    }

    /// The trigger in the kernel's words, and parsed.
    pub(super) fn parsed(&self) -> Result<(String, HistSpec), Failure> {
        if let Some(trigger) = self.event.as_deref().filter(|event| event.starts_with("hist:")) {
            let event = self.trigger.as_deref().unwrap_or("EVENT");
            return Err(Failure::new(
                Exit::Usage,
                anyhow::anyhow!("`{trigger}` is a trigger, and the event stands before it"),
            )
            .hint(format!("`rtrace hist ... {event} '{trigger}'`.")));
        }
        if self.trigger.is_none() && self.key.iter().all(String::is_empty) {
            let failure = Failure::new(Exit::Usage, anyhow::anyhow!("--key is missing: what is counted by?"));
            if let Some((event, _)) = self.event.as_deref().and_then(|event| event.split_once('{')) {
                let event = event.trim().trim_start_matches("tracepoint:");
                return Err(failure
                    .hint(format!("programs are bpftrace's: `{event} --key common_pid.execname` counts by task.")));
            }
            return Err(failure.hint("a field of the event, or as in `--key common_pid.execname`."));
        }
        if let Some((field, order)) = self.sort.iter().find_map(|key| key.split_once(':')) {
            let error = anyhow::anyhow!("invalid --sort `{field}:{order}`");
            let order = if order.starts_with("asc") { "asc" } else { "desc" };
            return Err(Failure::new(Exit::Usage, error).hint(format!("did you mean `--sort {field}.{order}`?")));
        }
        let text = self.text();
        let mut spec = HistSpec::parse(&text).map_err(|e| syntax_failure("trigger", &e.diagnostic(&text)))?;
        if self.trigger.is_none() && spec.sort.is_empty() {
            spec.sort.push(default_sort(&spec).into());
        }
        Ok((text, spec))
    }

    /// The event.
    pub(super) fn event(&self, tracefs: &Tracefs) -> Result<EventName, Failure> {
        event(&tracefs.top(), self.event.as_deref().unwrap_or_default())
    }

    /// The trigger, checked against the event, the kernel and what else is set in `instance`.
    pub(super) fn spec(
        &self,
        tracefs: &Tracefs,
        event: &EventName,
        instance: Option<&Instance>,
    ) -> Result<HistSpec, Failure> {
        let top = tracefs.top();
        let features = Features::from_readme(&top.read("README")?);
        let (text, mut spec) = self.parsed()?;
        let format = read_format(&top, event)?;
        let lookup = |system: &str, name: &str| read_format(&top, &EventName::new(system, name)).ok();
        let asked = instance.filter(|_| text.contains('$'));
        let neighbours = asked.map_or(Ok(Vec::new()), neighbours)?;
        let around = CheckContext { event: &format, features, neighbours: Some(&neighbours), lookup: Some(&lookup) };
        let checked = spec
            .check(&around)
            .and_then(|()| clock(&spec, tracefs).and_then(|()| named(&spec, tracefs, &format)).map_err(|e| vec![e]));
        match checked {
            Ok(()) => {
                warn(&summed_texts(&spec, &format, &text));
                if let Some(field) = no_address(&spec, &format) {
                    note!(
                        "rtrace: `.sym` names functions at addresses, and {field} is none: its values are shown in hexadecimal"
                    );
                }
                if let Some(filter) = &spec.filter {
                    let filter = Filter::parse(&filter.value).and_then(|filter| filter.check(&format));
                    warn(&filter.unwrap_or_default());
                }
                // In our printing bare words are text, as the kernel wants it.
                if let Some(filter) = &mut spec.filter
                    && let Ok(parsed) = Filter::parse(&filter.value)
                {
                    filter.value = parsed.to_string();
                }
                Ok(spec)
            }
            Err(errors) => match errors.first() {
                Some(first) => {
                    let failure = syntax_failure("trigger", &first.diagnostic(&text));
                    let lacks = matches!(first.kind, SpecErrorKind::NotInThisKernel(_));
                    Err(failure.with_exit(|exit| if lacks { Exit::Unable } else { exit }))
                }
                None => Err(Failure::new(Exit::Usage, anyhow::anyhow!("the trigger was refused"))),
            },
        }
    }

    /// The trigger in the kernel's words.
    fn text(&self) -> String {
        let mut text = match &self.trigger {
            Some(trigger) => {
                let (body, filter) = trigger.split_once(" if ").unwrap_or((trigger, ""));
                let mut text = body.to_owned();
                self.parts(&mut text);
                if !filter.is_empty() {
                    text.push_str(" if ");
                    text.push_str(filter);
                }
                text
            }
            None => {
                let mut text = format!("hist:keys={}", self.key.join(","));
                if !self.val.is_empty() {
                    text.push_str(&format!(":vals={}", self.val.join(",")));
                }
                self.parts(&mut text);
                text
            }
        };
        if let Some(filter) = &self.filter {
            text.push_str(" if ");
            text.push_str(filter);
        }
        text
    }

    fn parts(&self, text: &mut String) {
        for var in &self.var {
            text.push_str(&format!(":{var}"));
        }
        if !self.sort.is_empty() {
            let long = |key: &String| match key.rsplit_once('.') {
                Some((field, "desc")) => format!("{field}.descending"),
                Some((field, "asc")) => format!("{field}.ascending"),
                _ => key.clone(),
            };
            text.push_str(&format!(":sort={}", self.sort.iter().map(long).collect::<Vec<_>>().join(",")));
        }
        if let Some(size) = self.size {
            text.push_str(&format!(":size={size}"));
        }
        if let Some(name) = &self.name {
            text.push_str(&format!(":name={name}"));
        }
        if self.nohitcount {
            text.push_str(":nohitcount");
        }
        for action in &self.action {
            text.push_str(&format!(":{action}"));
        }
    }
}

/// Checks that this kernel has the clock.
pub(crate) fn clock(spec: &HistSpec, tracefs: &Tracefs) -> Result<(), SpecError> {
    let clocks = tracefs.top().trace_clock().map(|clocks| clocks.available).unwrap_or_default();
    if let Some(clock) = spec.clock.as_ref().filter(|clock| !clocks.is_empty() && !clocks.contains(&clock.value)) {
        let near = did_you_mean(&clock.value, clocks.iter().map(String::as_str));
        let kind = SpecErrorKind::UnknownClock(clock.value.clone());
        let hint = near.or_else(|| Some(format!("this kernel has {}", clocks.join(", "))));
        return Err(SpecError { kind, span: clock.span, hint });
    }
    Ok(())
}

/// Checks that another histogram of that name, in whatever instance, has the same table.
pub(crate) fn named(spec: &HistSpec, tracefs: &Tracefs, format: &EventFormat) -> Result<(), SpecError> {
    let Some(name) = &spec.name else { return Ok(()) };
    for instance in instances(tracefs).unwrap_or_default() {
        for event in events_with_hists(&instance).unwrap_or_default() {
            for Echo { spec: other, .. } in hist_triggers(&instance, &event).unwrap_or_default() {
                if other.name.as_ref() != Some(name) {
                    continue;
                }
                if let Ok(other_format) = read_format(&instance, &event) {
                    spec.check_named(format, &other, &other_format)?;
                }
            }
        }
    }
    Ok(())
}

/// The kernel takes a text for a value, and sums up its bytes as if they were a number.
fn summed_texts(spec: &HistSpec, format: &EventFormat, text: &str) -> Vec<Diagnostic> {
    let name = |value: &HistExpr| match value {
        HistExpr::Field { name, .. } => format.field(name).filter(|field| field.is_string()).map(|_| name.clone()),
        _ => None,
    };
    let refused = |name: String, span| {
        Diagnostic::new("trigger", text, span, format!("`{name}` is text: a sum of it means nothing"))
            .hint("a text can be a key")
    };
    spec.vals.iter().filter_map(|value| name(&value.value).map(|name| refused(name, value.span))).collect()
}

/// A key that is to be shown as a function and is no address, by its size and sign.
fn no_address<'s>(spec: &'s HistSpec, format: &EventFormat) -> Option<&'s str> {
    spec.keys.iter().find_map(|key| match &key.value {
        HistExpr::Field { name, modifier: Some(KeyModifier::Sym | KeyModifier::SymOffset) } => {
            let field = format.field(name)?;
            (field.size < 4 || field.signed == Some(true)).then_some(name.as_str())
        }
        _ => None,
    })
}

/// Classes in their order, everything else by what is most frequent.
fn default_sort(spec: &HistSpec) -> SortKey {
    match spec.keys.first().map(|k| &k.value) {
        Some(HistExpr::Field { name, modifier: Some(KeyModifier::Log2 | KeyModifier::Buckets(_)) }) => {
            SortKey { field: name.clone(), descending: false }
        }
        _ => SortKey { field: "hitcount".to_owned(), descending: true },
    }
}

/// The format of an event.
pub(crate) fn read_format(instance: &Instance, event: &EventName) -> Result<EventFormat, Failure> {
    let text = instance.event_format(event)?;
    EventFormat::parse(&event.system, &text)
        .map_err(|e| anyhow::anyhow!("failed to read {}: {e}", event.file("format")).into())
}
