//! `rtrace list`.

use super::args::TracefsArgs;
use super::exit::{Exit, Failure};
use regex::Regex;
use rtrace::tracefs::{Error, EventName, EventSelection, Instance, Tracefs};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// List what this kernel can trace
///
/// Without an option: systems, events, tracers and options.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace list -e                         every event
  rtrace list -e 'sched:*wak*'           events by glob, in either half
  rtrace list -e '^sched:sched_(wak|mig)'  events by regular expression
  rtrace list -e sched:sched_switch -F   the fields of an event
  rtrace list -t -C --json               tracers and clocks, for a program")]
pub(crate) struct Args {
    /// Events; PATTERN is a glob (`sched:*`), a regular expression (`^sys.*open`) or part of a name
    #[arg(short = 'e', long, value_name = "PATTERN", num_args = 0..=1)]
    events: Option<Option<String>>,
    /// The format of each event: its fields, their places and sizes
    #[arg(short = 'F', long, requires = "events")]
    format: bool,
    /// With -F, also the kernel's print format
    #[arg(long, requires = "format")]
    full: bool,
    /// Tracers
    #[arg(short = 't', visible_short_alias = 'p', long)]
    tracers: bool,
    /// Trace clocks, the one in use in brackets
    #[arg(short = 'C', long)]
    clocks: bool,
    /// Instances
    #[arg(short = 'B', long)]
    instances: bool,
    /// Trace options, with `no` before those that are off
    #[arg(short = 'o', long)]
    options: bool,
    /// Event systems
    #[arg(short = 's', long)]
    systems: bool,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

/// Prints the lists that were asked for, in a fixed order.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let tracefs = args.tracefs.open()?;
    let lists = Lists::gather(args, &tracefs)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        serde_json::to_writer_pretty(&mut out, &lists.to_json()).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        lists.print(&mut out)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// What was asked for; the parts that were not are `None`.
#[derive(Default)]
struct Lists {
    systems: Option<Vec<String>>,
    events: Option<Vec<Event>>,
    tracers: Option<Vec<String>>,
    options: Option<Vec<(String, bool)>>,
    clocks: Option<(Vec<String>, String)>,
    instances: Option<Vec<String>>,
}

struct Event {
    name: EventName,
    format: Option<String>,
}

impl Lists {
    fn gather(args: &Args, tracefs: &Tracefs) -> Result<Self, Failure> {
        let top = tracefs.top();
        let Args { format, full, tracers, clocks, instances, options, systems, .. } = *args;
        let everything = args.events.is_none() && !(tracers || clocks || instances || options || systems);
        let mut lists = Lists::default();
        if systems || everything {
            lists.systems = Some(top.systems()?);
        }
        if args.events.is_some() || everything {
            let pattern = args.events.clone().flatten();
            let names = select(pattern.as_deref(), with_ftrace(&top, top.events()?))?;
            let text = |name: &EventName| -> Result<Option<String>, Error> {
                if !format {
                    return Ok(None);
                }
                let text = top.event_format(name)?;
                Ok(Some(if full { text } else { text.split("\nprint fmt:").next().unwrap_or("").to_owned() + "\n" }))
            };
            let events: Result<Vec<Event>, Error> =
                names.into_iter().map(|name| Ok(Event { format: text(&name)?, name })).collect();
            lists.events = Some(events?);
        }
        if tracers || everything {
            lists.tracers = Some(top.tracers()?);
        }
        if options || everything {
            lists.options = Some(top.options()?);
        }
        if clocks {
            let clock = top.trace_clock()?;
            lists.clocks = Some((clock.available, clock.current));
        }
        if instances {
            lists.instances = Some(tracefs.instances()?);
        }
        Ok(lists)
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        // Several lists need headings; one alone can be piped on as it is.
        let parts = [
            self.systems.is_some(),
            self.events.is_some(),
            self.tracers.is_some(),
            self.options.is_some(),
            self.clocks.is_some(),
            self.instances.is_some(),
        ];
        let headings = parts.iter().filter(|part| **part).count() > 1;
        let mut first = true;
        let mut heading = |out: &mut dyn Write, title: &str| -> io::Result<()> {
            if headings {
                writeln!(out, "{}{title}:", if first { "" } else { "\n" })?;
            }
            first = false;
            Ok(())
        };
        if let Some(systems) = &self.systems {
            heading(out, "systems")?;
            systems.iter().try_for_each(|system| writeln!(out, "{system}"))?;
        }
        if let Some(events) = &self.events {
            heading(out, "events")?;
            for Event { name, format } in events {
                match format {
                    Some(format) => writeln!(out, "system: {}\n{}\n", name.system, format.trim_end())?,
                    None => writeln!(out, "{name}")?,
                }
            }
        }
        if let Some(tracers) = &self.tracers {
            heading(out, "tracers")?;
            writeln!(out, "{}", tracers.join(" "))?;
        }
        if let Some(options) = &self.options {
            heading(out, "options")?;
            options.iter().try_for_each(|(name, on)| writeln!(out, "{}{name}", if *on { "" } else { "no" }))?;
        }
        if let Some((clocks, current)) = &self.clocks {
            heading(out, "clocks")?;
            let words: Vec<String> = clocks
                .iter()
                .map(|clock| if clock == current { format!("[{clock}]") } else { clock.clone() })
                .collect();
            writeln!(out, "{}", words.join(" "))?;
        }
        if let Some(instances) = &self.instances {
            heading(out, "instances")?;
            instances.iter().try_for_each(|name| writeln!(out, "{name}"))?;
        }
        Ok(())
    }

    fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("schema".into(), json!("rtrace.list"));
        map.insert("version".into(), json!(1));
        if let Some(systems) = &self.systems {
            map.insert("systems".into(), json!(systems));
        }
        if let Some(events) = &self.events {
            let event = |Event { name, format }: &Event| match format {
                Some(format) => json!({"system": name.system, "name": name.name, "format": format}),
                None => json!({"system": name.system, "name": name.name}),
            };
            map.insert("events".into(), events.iter().map(event).collect());
        }
        if let Some(tracers) = &self.tracers {
            map.insert("tracers".into(), json!(tracers));
        }
        if let Some(options) = &self.options {
            map.insert(
                "options".into(),
                options.iter().map(|(name, on)| (name.clone(), json!(on))).collect::<Map<_, _>>().into(),
            );
        }
        if let Some((clocks, current)) = &self.clocks {
            map.insert("clocks".into(), json!({"available": clocks, "current": current}));
        }
        if let Some(instances) = &self.instances {
            map.insert("instances".into(), json!(instances));
        }
        map.into()
    }
}

/// The events that can be enabled and those of `ftrace`, which have formats all the same, sorted.
fn with_ftrace(top: &Instance, mut events: Vec<EventName>) -> Vec<EventName> {
    events.extend(top.events_of("ftrace").unwrap_or_default());
    events.sort();
    events.dedup();
    events
}

/// The events that `pattern` means. It is a regular expression, found anywhere in `system:event` as in trace-cmd,
/// unless it looks like a glob and holds nothing that only a regular expression has.
fn select(pattern: Option<&str>, events: Vec<EventName>) -> Result<Vec<EventName>, Failure> {
    let Some(pattern) = pattern else { return Ok(events) };
    let regex_only = pattern.contains(['.', '^', '$', '(', '|', '\\', '+', '{']);
    let selection = EventSelection::new(pattern);
    if !regex_only && pattern.contains(['*', '?', '[']) {
        return Ok(selection.select(&events)?);
    }
    let regex = Regex::new(pattern).map_err(|error| {
        Failure::new(Exit::Usage, anyhow::anyhow!("failed to understand the pattern `{pattern}`: {error}"))
    })?;
    let found: Vec<EventName> = events.iter().filter(|event| regex.is_match(&event.to_string())).cloned().collect();
    if found.is_empty() {
        selection.select(&events)?; // for its error, which knows similar names
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(pattern: &str) -> Vec<String> {
        let events = ["sched:sched_switch", "sched:sched_waking", "syscalls:sys_exit_sched_yield"];
        let events = events.iter().map(|e| EventName::parse(e).unwrap()).collect();
        select(Some(pattern), events).unwrap().iter().map(EventName::to_string).collect()
    }

    #[test]
    fn globs_and_regular_expressions() {
        assert_eq!(selected("sched").len(), 3);
        assert_eq!(selected("sched:*"), ["sched:sched_switch", "sched:sched_waking"]);
        assert_eq!(selected("sched_*"), ["sched:sched_switch", "sched:sched_waking"]);
        assert_eq!(selected("^sched:.*ing$"), ["sched:sched_waking"]);
        assert_eq!(selected("switch|yield"), ["sched:sched_switch", "syscalls:sys_exit_sched_yield"]);
    }
}
