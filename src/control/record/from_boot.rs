//! Parameters of a boot that trace what a plan records. What it records in an instance of its own is traced at the top level, which the
//! kernel has first.

use super::error::{PlanError, RecordError};
use super::functions::is_regex;
use super::machine::MachineSettings;
use super::plan::{BufferPlan, Plan, TargetBuffer};
use super::setup::{EventSettings, ResolvedEvents, choose};
use crate::control::tracefs::{BootForm, BootSetting, Tracefs};
use crate::kernel::events::EventName;
use std::collections::BTreeMap;

/// The text that has the kernel trace from its boot on what `plan` records, to be taken out of the ring later, and warnings of
/// events and filters that are left out of it.
///
/// # Errors
/// [`PlanError::NotFromBoot`] for what the form has no place for; as [`record()`](super::record()) for wrong names.
pub fn from_boot(plan: &Plan, tracefs: &Tracefs, form: BootForm) -> Result<(String, Vec<String>), RecordError> {
    plan.check()?;
    let refuse = |what: &str| Err(PlanError::NotFromBoot { what: what.to_owned(), form: None }.into());
    if plan.tasks.is_restricted() || !plan.tasks.left_out.is_empty() {
        return refuse("a choice of tasks");
    }
    if (MachineSettings { graph_depth: None, ..plan.machine.clone() }) != MachineSettings::default() {
        return refuse("a setting of tracers");
    }
    let top = tracefs.top();
    let existing = top.events()?;
    let mut text = BootText { form, pairs: Vec::new() };
    let (mut unknown, mut warnings) = (Vec::new(), Vec::new());
    if let Some(depth) = plan.machine.graph_depth {
        text.global(BootSetting::Depth, vec![depth.to_string()]);
    }
    for buffer in plan.buffers.iter().filter(|buffer| buffer.traces()) {
        let chosen = choose(&top, plan.allow_unknown_events, buffer, &existing, &mut unknown)?;
        text.buffer(buffer, &chosen, &existing)?;
        warnings.extend(chosen.warnings);
    }
    warnings.extend(unknown.iter().map(ToString::to_string));
    Ok((text.finish()?, warnings))
}

/// Bytes of a command line that kernels read (`COMMAND_LINE_SIZE` of x86 and arm64); they drop the rest.
const LONGEST_LINE: usize = 2048;
/// Bytes of a bootconfig (`XBC_DATA_MAX`, include/linux/bootconfig.h).
const LARGEST_CONFIG: usize = (32 << 10) - 1;

/// Keys and their values, in order.
struct BootText {
    form: BootForm,
    pairs: Vec<(String, Vec<String>)>,
}

impl BootText {
    fn buffer(
        &mut self,
        buffer: &BufferPlan,
        chosen: &ResolvedEvents,
        existing: &[EventName],
    ) -> Result<(), PlanError> {
        let refuse = |what: &str, form| Err(PlanError::NotFromBoot { what: what.to_owned(), form });
        let here = Some(self.form);
        if !buffer.cpu_sizes.is_empty() || buffer.sub_buffer.is_some() || buffer.syscall_bytes.is_some() {
            return refuse("a size of single CPUs, sub-buffers or texts", None);
        }
        let functions = &buffer.functions;
        if functions.stack || !functions.commands.is_empty() || !functions.removals.is_empty() {
            return refuse("a command of functions", None);
        }
        // The kernel looks names up itself then, before modules and their functions are there.
        let mut patterns = [&functions.trace, &functions.leave_out, &functions.graph].into_iter().flatten();
        if let Some(pattern) = patterns.find(|pattern| is_regex(pattern) || pattern.contains([':', '!'])) {
            return refuse(&format!("`{pattern}`, which is no name or glob of functions,"), None);
        }
        let instance = match &buffer.place {
            TargetBuffer::Instance(name) => Some(name.as_str()),
            TargetBuffer::Private | TargetBuffer::Top => None,
        };
        let is_word = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        if let Some(name) = instance.filter(|name| !name.chars().all(is_word)) {
            return refuse(&format!("an instance called `{name}`"), None);
        }
        let of_calls = !functions.graph.is_empty() || buffer.traces_calls() && !functions.leave_out.is_empty();
        if instance.is_some() && of_calls {
            return refuse("a list of function_graph in an instance: it is the top level's,", None);
        }
        let (plain, own): (Vec<_>, Vec<_>) =
            chosen.events.iter().partition(|(_, wish)| wish.filter.is_none() && wish.triggers.is_empty());
        let names = together(plain.iter().map(|(name, _)| *name), existing);
        let options = buffer.options.iter().map(|(name, on)| if *on { name.clone() } else { format!("no{name}") });
        let options: Vec<String> = options.collect();
        match (self.form, instance) {
            (BootForm::CommandLine, Some(name)) => {
                let else_set = [buffer.size.is_some(), buffer.clock.is_some(), buffer.cpu_mask.is_some()];
                if !own.is_empty() || else_set.contains(&true) || buffer.tracer.is_some() || !options.is_empty() {
                    return refuse("anything of an instance but its events", here);
                }
                self.pairs.push(("trace_instance".to_owned(), [vec![name.to_owned()], names].concat()));
            }
            (BootForm::CommandLine, None) => {
                if buffer.cpu_mask.is_some() {
                    return refuse("a mask of CPUs", here);
                }
                self.command_line(buffer, names, &own, options)?;
            }
            (BootForm::BootConfig, _) => self.boot_config(buffer, instance, names, &own, options),
        }
        Ok(())
    }

    fn command_line(
        &mut self,
        buffer: &BufferPlan,
        mut names: Vec<String>,
        own: &[(&EventName, &EventSettings)],
        options: Vec<String>,
    ) -> Result<(), PlanError> {
        let form = Some(self.form);
        let mut triggers = Vec::new();
        for (name, wish) in own {
            if wish.filter.is_some() {
                return Err(PlanError::NotFromBoot { what: format!("the filter of {name}"), form });
            }
            names.push(name.to_string());
            for trigger in &wish.triggers {
                if trigger.contains([',', '"']) {
                    return Err(PlanError::NotFromBoot { what: format!("the trigger {trigger}"), form });
                }
                triggers.push(format!("{}.{trigger}", name.name));
            }
        }
        self.shared("", buffer, (names, options));
        self.pairs.push(("trace_trigger".to_owned(), triggers));
        Ok(())
    }

    fn boot_config(
        &mut self,
        buffer: &BufferPlan,
        instance: Option<&str>,
        names: Vec<String>,
        own: &[(&EventName, &EventSettings)],
        options: Vec<String>,
    ) {
        let within = instance.map_or_else(|| "ftrace".to_owned(), |name| format!("ftrace.instance.{name}"));
        self.shared(&format!("{within}."), buffer, (names, options));
        self.pairs.push((format!("{within}.cpumask"), buffer.cpu_mask.iter().cloned().collect()));
        for (name, wish) in own {
            let event = format!("{within}.event.{}.{}", name.system, name.name);
            self.pairs.push((format!("{event}.filter"), wish.filter.iter().cloned().collect()));
            self.pairs.push((format!("{event}.actions"), wish.triggers.clone()));
            self.pairs.push((format!("{event}.enable"), vec!["1".to_owned()]));
        }
    }

    /// A buffer's settings that both forms have; its keys begin with `within`.
    fn shared(&mut self, within: &str, buffer: &BufferPlan, (names, options): (Vec<String>, Vec<String>)) {
        let unit = if self.form == BootForm::CommandLine { "K" } else { "KB" };
        let functions = &buffer.functions;
        let is_graph = buffer.traces_calls();
        let (of_calls, left_out): (Vec<_>, Vec<_>) = functions.leave_out.iter().cloned().partition(|_| is_graph);
        let values = [
            (BootSetting::Size, buffer.size.iter().map(|size| format!("{}{unit}", size.0.div_ceil(1024))).collect()),
            (BootSetting::Clock, buffer.clock.iter().cloned().collect()),
            (BootSetting::Options, options),
            (BootSetting::Events, names),
            (BootSetting::Functions, functions.trace.clone()),
            (BootSetting::LeftOut, left_out),
            (BootSetting::Tracer, buffer.tracer.iter().cloned().collect()),
        ];
        let form = self.form;
        self.pairs.extend(values.map(|(setting, values)| (format!("{within}{}", form.name(setting)), values)));
        self.global(BootSetting::Graph, functions.graph.clone());
        self.global(BootSetting::GraphLeftOut, of_calls);
    }

    /// A setting that is no buffer's.
    fn global(&mut self, setting: BootSetting, values: Vec<String>) {
        let below = if self.form == BootForm::CommandLine { "" } else { "kernel." };
        self.pairs.push((format!("{below}{}", self.form.name(setting)), values));
    }

    /// The text, of what has a value.
    fn finish(self) -> Result<String, PlanError> {
        let form = self.form;
        let most = match form {
            BootForm::CommandLine => LONGEST_LINE,
            BootForm::BootConfig => LARGEST_CONFIG,
        };
        let pairs = self.pairs.into_iter().filter(|(_, values)| !values.is_empty());
        let mut lines = Vec::new();
        for (key, values) in pairs {
            lines.push(match form {
                BootForm::CommandLine => {
                    let values = values.join(",");
                    if values.contains(' ') { format!("{key}=\"{values}\"") } else { format!("{key}={values}") }
                }
                BootForm::BootConfig => {
                    let values: Result<Vec<String>, PlanError> = values.iter().map(|value| quoted(value)).collect();
                    format!("{key} = {}\n", values?.join(", "))
                }
            });
        }
        let text = match form {
            BootForm::CommandLine => lines.join(" ") + "\n",
            BootForm::BootConfig => lines.concat(),
        };
        match text.len() <= most {
            true => Ok(text),
            false => Err(PlanError::NotFromBoot {
                what: format!("a text of {} bytes, of {most},", text.len()),
                form: Some(form),
            }),
        }
    }
}

/// A value of a bootconfig, in the quotes that it has none of itself.
fn quoted(value: &str) -> Result<String, PlanError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-:*.".contains(c);
    match (value.chars().all(is_plain), value.contains('"'), value.contains('\'')) {
        (true, ..) => Ok(value.to_owned()),
        (_, false, _) => Ok(format!("\"{value}\"")),
        (_, _, false) => Ok(format!("'{value}'")),
        _ => Err(PlanError::NotFromBoot {
            what: format!("quotes of both kinds in {value}"),
            form: Some(BootForm::BootConfig),
        }),
    }
}

/// The events by name, and as `SYSTEM:*` or `*:*` where all are meant: a command line is short.
fn together<'e>(events: impl Iterator<Item = &'e EventName>, existing: &'e [EventName]) -> Vec<String> {
    let mut there: BTreeMap<&str, usize> = BTreeMap::new();
    existing.iter().for_each(|name| *there.entry(&name.system).or_default() += 1);
    let mut wanted: BTreeMap<&str, Vec<&EventName>> = BTreeMap::new();
    events.for_each(|name| wanted.entry(&name.system).or_default().push(name));
    let is_whole = |system: &str, of: &[&EventName]| there.get(system) == Some(&of.len());
    if wanted.len() == there.len() && wanted.iter().all(|(system, of)| is_whole(system, of)) {
        return vec!["*:*".to_owned()];
    }
    let names = wanted.into_iter().flat_map(|(system, of)| match is_whole(system, &of) {
        true if of.len() > 1 => vec![format!("{system}:*")],
        _ => of.iter().map(|name| name.to_string()).collect(),
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_systems_are_named_once() {
        let existing = ["a:x", "a:y", "b:z", "c:v", "c:w"].map(|name| EventName::parse(name).unwrap());
        let named = |names: &[usize]| together(names.iter().map(|at| &existing[*at]), &existing);
        assert_eq!(named(&[0, 1, 2, 3]), ["a:*", "b:z", "c:v"]);
        assert_eq!(named(&[0, 1, 2, 3, 4]), ["*:*"]);
        assert!(named(&[]).is_empty());
    }

    #[test]
    fn values_are_quoted_by_the_other_quote() {
        assert_eq!(quoted("sched:*"), Ok("sched:*".to_owned()));
        assert_eq!(quoted("a < 3"), Ok("\"a < 3\"".to_owned()));
        assert_eq!(quoted("comm == \"x\""), Ok("'comm == \"x\"'".to_owned()));
        assert!(quoted("\"'").is_err());
    }
}
