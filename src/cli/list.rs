//! `rtrace list`.

mod prototypes;

use super::args::TracefsArgs;
use super::exit::{Exit, Failure};
use super::language::by_event;
use crate::cli::terminal::stdout;
use prototypes::Prototypes;
use regex::Regex;
use rtrace::syntax::nearest;
use rtrace::tracefs::{Error, EventName, EventSelection, Instance, Tracefs, glob_matches};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// List what this kernel can trace
///
/// Without an option: systems, events, tracers and options.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("which").multiple(true), after_help = "\
EXAMPLES:
  rtrace list -e                         every event
  rtrace list -e 'sched:*wak*'           events by glob, in either half
  rtrace list -e '^sched:sched_(wak|mig)'  events by regular expression
  rtrace list -e sched:sched_switch -F   the fields of an event
  rtrace list -f 'vfs_*' --proto         functions, with what they take and return
  rtrace list -t -C --json               tracers and clocks, for a program")]
pub(crate) struct ListCommandArgs {
    /// Events; PATTERN is a glob (`sched:*`), a regular expression (`^sys.*open`) or part of a name
    #[arg(short = 'e', long, value_name = "PATTERN", num_args = 0..=1, group = "which")]
    events: Option<Option<String>>,
    /// The same as -e PATTERN
    #[arg(value_name = "PATTERN", group = "which")]
    pattern: Option<String>,
    /// The format of each event: its fields, their places and sizes
    #[arg(short = 'F', long, requires = "which")]
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
    /// Functions that can be traced; PATTERN is a glob, a regular expression or part of a name
    #[arg(short = 'f', long, value_name = "PATTERN", num_args = 0..=1)]
    functions: Option<Option<String>>,
    /// Functions as C declares them, from the kernel's BTF; all that can be traced, or those of -f
    #[arg(long)]
    proto: bool,
    /// With -e: only events with triggers, and these
    #[arg(short = 'R', long)]
    triggers: bool,
    /// With -e: only events with a filter, and it
    #[arg(short = 'l', long)]
    filters: bool,
    /// Compressions of files
    #[arg(short = 'c', long)]
    compressions: bool,
    /// Events with a wording of their own, which trace-cmd has plugins for
    #[arg(short = 'P', long)]
    plugins: bool,
    /// Options of that wording, for `rtrace report -O`
    #[arg(short = 'O', long)]
    plugin_options: bool,
    /// Taken for trace-cmd's sake
    #[arg(long, hide = true)]
    debug: bool,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

impl ListCommandArgs {
    /// `None` where no events are asked for, `Some(None)` for all of them.
    fn chosen(&self) -> Option<Option<&str>> {
        match &self.pattern {
            Some(all) if ["events", "event", "available_events"].contains(&all.as_str()) => Some(None),
            Some(pattern) => Some(Some(pattern)),
            None => self.events.as_ref().map(Option::as_deref),
        }
    }

    /// The list whose name stands where a pattern of events does.
    fn another_list(&self) -> Option<&'static str> {
        let lists =
            ["tracers", "clocks", "instances", "options", "systems", "functions", "triggers", "filters", "plugins"];
        let name = self.pattern.as_deref()?;
        let name = name.strip_prefix("available_").unwrap_or(name);
        let name = if name == "filter_functions" { "functions" } else { name };
        lists.into_iter().find(|list| *list == name || list.strip_suffix('s') == Some(name))
    }
}

/// Events with a handler, by trace-cmd's name of the plugin.
const PLUGINS: [&str; 12] =
    ["blk", "cfg80211", "fgraph", "ftrace", "futex", "hrtimer", "jbd2", "kmem", "kvm", "sched_switch", "scsi", "tlb"];

/// Prints the lists that were asked for, in a fixed order.
pub(crate) fn run(args: &ListCommandArgs) -> Result<Exit, Failure> {
    if let (Some(Some(one)), Some(other)) = (&args.events, &args.pattern) {
        let error = anyhow::anyhow!("there are two patterns, `{one}` and `{other}`");
        let hint = match other.as_str() {
            "format" | "formats" | "fields" => format!("`rtrace list -e {one} -F` prints its fields."),
            _ => format!("one may be a list: `-e '{one},{other}'`."),
        };
        return Err(Failure::new(Exit::Usage, error).hint(hint));
    }
    if let Some(list) = args.another_list() {
        let pattern = args.pattern.as_deref().unwrap_or_default();
        let error = anyhow::anyhow!("`{pattern}` is taken for a pattern of events");
        return Err(Failure::new(Exit::Usage, error)
            .hint(format!("`rtrace list --{list}` lists {list}, `-e {pattern}` events with that in their name.")));
    }
    let tracefs = args.tracefs.open()?;
    let lists = Lists::gather(args, &tracefs).map_err(|failure| match &args.pattern {
        Some(pattern) if args.tracers || args.clocks || args.options => {
            failure.hint(format!("`-t`, `-C` and `-o` list all there are; `{pattern}` is a pattern of events."))
        }
        _ => failure,
    })?;
    let mut out = io::BufWriter::new(stdout().lock());
    if args.json {
        serde_json::to_writer_pretty(&mut out, &lists.to_json()).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        lists.print(&mut out)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// The parts that were asked for; the others are `None`.
#[derive(Default)]
struct Lists {
    systems: Option<Vec<String>>,
    events: Option<Vec<ListedEvent>>,
    tracers: Option<Vec<String>>,
    options: Option<Vec<(String, bool)>>,
    clocks: Option<(Vec<String>, String)>,
    instances: Option<Vec<String>>,
    functions: Option<Vec<String>>,
    prototypes: Option<Prototypes>,
    triggers: Option<Vec<(EventName, Vec<String>)>>,
    filters: Option<Vec<(EventName, Vec<String>)>>,
    compressions: Option<Vec<&'static str>>,
    plugins: bool,
    plugin_options: bool,
}

struct ListedEvent {
    name: EventName,
    format: Option<String>,
}

impl Lists {
    fn gather(args: &ListCommandArgs, tracefs: &Tracefs) -> Result<Self, Failure> {
        let top = tracefs.top();
        let ListCommandArgs { format, full, tracers, clocks, instances, options, systems, .. } = *args;
        let settings = args.triggers || args.filters;
        let of_report = args.plugins || args.plugin_options;
        let others = args.functions.is_some() || args.proto || settings || args.compressions || of_report;
        let chosen = args.chosen();
        let everything = chosen.is_none() && !(tracers || clocks || instances || options || systems || others);
        let mut lists = Lists::default();
        if systems || everything {
            lists.systems = Some(top.systems()?);
        }
        if settings {
            let names = select(chosen.flatten(), top.events()?)?;
            if args.triggers {
                lists.triggers = Some(by_event(top.event_triggers(Some(&names))?));
            }
            if args.filters {
                lists.filters = Some(by_event(top.event_filters(Some(&names))?));
            }
        } else if chosen.is_some() || everything {
            let names = select(chosen.flatten(), with_ftrace(&top, top.events()?))?;
            let text = |name: &EventName| -> Result<Option<String>, Error> {
                if !format {
                    return Ok(None);
                }
                let text = top.event_format(name)?;
                Ok(Some(if full { text } else { text.split("\nprint fmt:").next().unwrap_or("").to_owned() + "\n" }))
            };
            let events: Result<Vec<ListedEvent>, Error> =
                names.into_iter().map(|name| Ok(ListedEvent { format: text(&name)?, name })).collect();
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
        if args.functions.is_some() || args.proto {
            let pattern = args.functions.as_ref().and_then(Option::as_deref);
            let known = match tracefs.functions() {
                // A locked-down kernel does not say what can be traced, but has its types for everyone to read.
                Err(_) if args.proto => prototypes::kernel_functions(tracefs)?,
                known => known?,
            };
            let found = functions(&known, pattern)?;
            lists.prototypes = args.proto.then(|| Prototypes::read(tracefs, &found)).transpose()?;
            lists.functions = Some(found);
        }
        if args.compressions {
            lists.compressions = Some(vec!["zstd", "zlib", "none"]);
        }
        lists.plugins = args.plugins;
        lists.plugin_options = args.plugin_options;
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
            self.functions.is_some(),
            self.triggers.is_some(),
            self.filters.is_some(),
            self.compressions.is_some(),
            self.plugins,
            self.plugin_options,
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
            for ListedEvent { name, format } in events {
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
        if let Some(functions) = &self.functions {
            heading(out, "functions")?;
            match &self.prototypes {
                Some(prototypes) => functions.iter().try_for_each(|name| writeln!(out, "{}", prototypes.text(name)))?,
                None => functions.iter().try_for_each(|name| writeln!(out, "{name}"))?,
            }
        }
        for (title, set) in [("triggers", &self.triggers), ("filters", &self.filters)] {
            if let Some(set) = set {
                heading(out, title)?;
                for (event, texts) in set {
                    texts.iter().try_for_each(|text| writeln!(out, "{event} {}", text.replace('\n', "\n  ")))?;
                }
            }
        }
        if let Some(names) = &self.compressions {
            heading(out, "compressions")?;
            names.iter().try_for_each(|name| writeln!(out, "{name}"))?;
        }
        if self.plugins {
            heading(out, "plugins")?;
            PLUGINS.iter().try_for_each(|name| writeln!(out, "{name}"))?;
        }
        if self.plugin_options {
            heading(out, "plugin options")?;
            super::plugin_options::list(out)?;
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
            let event = |ListedEvent { name, format }: &ListedEvent| match format {
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
        if let Some(functions) = &self.functions {
            let functions = match &self.prototypes {
                Some(prototypes) => functions.iter().map(|name| prototypes.json(name)).collect(),
                None => json!(functions),
            };
            map.insert("functions".into(), functions);
        }
        for (key, set) in [("triggers", &self.triggers), ("filters", &self.filters)] {
            if let Some(set) = set {
                let one = |(event, texts): &(EventName, Vec<String>)| json!({"event": event.to_string(), "set": texts});
                map.insert(key.into(), set.iter().map(one).collect());
            }
        }
        if let Some(names) = &self.compressions {
            map.insert("compressions".into(), json!(names));
        }
        if self.plugins {
            map.insert("plugins".into(), json!(PLUGINS));
        }
        if self.plugin_options {
            map.insert("plugin_options".into(), super::plugin_options::to_json());
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

/// The events that `pattern` means: those that `record -e` would take. If there are none, it is a regular expression, found
/// anywhere in `system:event` as in trace-cmd.
fn select(pattern: Option<&str>, events: Vec<EventName>) -> Result<Vec<EventName>, Failure> {
    let Some(pattern) = pattern else { return Ok(events) };
    let regex_only = pattern.contains(['.', '^', '$', '(', '|', '\\', '+', '{']);
    let selection = EventSelection::new(pattern);
    if !regex_only && pattern.contains(['*', '?', '[']) {
        return Ok(selection.select(&events).map_err(Error::from)?);
    }
    // Exactly the events that `record -e` would take; else as trace-cmd finds them.
    if !regex_only && let Ok(found) = selection.select(&events) {
        return Ok(found);
    }
    let regex = Regex::new(pattern).map_err(|error| {
        Failure::new(Exit::Usage, anyhow::anyhow!("failed to understand the pattern `{pattern}`: {error}"))
    })?;
    let found: Vec<EventName> = events.iter().filter(|event| regex.is_match(&event.to_string())).cloned().collect();
    if found.is_empty() {
        return Ok(selection.select(&events).map_err(Error::from)?); // a list, or an error that knows similar names
    }
    Ok(found)
}

/// The functions that `pattern` means, with their modules: a glob for the whole name, or an expression found anywhere.
fn functions(known: &str, pattern: Option<&str>) -> Result<Vec<String>, Failure> {
    let Some(pattern) = pattern else { return Ok(known.lines().map(str::to_owned).collect()) };
    let name = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    let is_glob = pattern.contains(['*', '?', '['])
        && !pattern.contains(['^', '$', '(', '|', '\\', '+', '{'])
        && !pattern.contains(".*");
    let found: Vec<String> = if is_glob {
        known.lines().filter(|line| glob_matches(pattern, &name(line))).map(str::to_owned).collect()
    } else {
        let regex = Regex::new(pattern).map_err(|error| {
            Failure::new(Exit::Usage, anyhow::anyhow!("failed to understand the pattern `{pattern}`: {error}"))
        })?;
        known.lines().filter(|line| regex.is_match(&name(line))).map(str::to_owned).collect()
    };
    if found.is_empty() {
        let names: Vec<String> = known.lines().map(name).collect();
        let nearest = nearest(pattern, names.iter().map(String::as_str)).into_iter().map(str::to_owned).collect();
        return Err(Error::NoFunction { pattern: pattern.to_owned(), nearest }.into());
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
    fn functions_by_glob_expression_and_part() {
        let known = "vfs_read\nvfs_write\next4_sync_fs [ext4]\n";
        let found = |pattern| functions(known, Some(pattern)).unwrap();
        assert_eq!(found("vfs_*"), ["vfs_read", "vfs_write"]);
        assert_eq!(found("*sync*"), ["ext4_sync_fs [ext4]"]);
        assert_eq!(found("^vfs.*e$"), ["vfs_write"]);
        assert_eq!(found("read"), ["vfs_read"]);
        assert_eq!(functions(known, None).unwrap().len(), 3);
        assert!(functions(known, Some("vfs_raed")).is_err() && functions(known, Some("(")).is_err());
    }

    #[test]
    fn globs_and_regular_expressions() {
        // As `record -e sched` has it; what that does not know is found as trace-cmd finds it.
        assert_eq!(selected("sched"), ["sched:sched_switch", "sched:sched_waking"]);
        assert_eq!(selected("yield"), ["syscalls:sys_exit_sched_yield"]);
        assert_eq!(selected("sched:*"), ["sched:sched_switch", "sched:sched_waking"]);
        assert_eq!(selected("sched_*"), ["sched:sched_switch", "sched:sched_waking"]);
        assert_eq!(selected("^sched:.*ing$"), ["sched:sched_waking"]);
        assert_eq!(selected("switch|yield"), ["sched:sched_switch", "syscalls:sys_exit_sched_yield"]);
    }
}
