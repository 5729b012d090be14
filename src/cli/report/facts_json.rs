//! Facts of a file as JSON: schema `rtrace.facts`, version 1.

use super::args::ReportArgs;
use super::stat::{cpus_with_data, stat};
use crate::cli::damage::DamageReport;
use crate::cli::exit::Failure;
use crate::cli::query::QueryInput;
use rtrace::abi::{Abi, Endian};
use rtrace::internal::trace_dat::OptionId;
use serde_json::{Map, Value, json};

/// The facts of one file that are asked for.
pub(super) fn of(args: &ReportArgs, input: &QueryInput, damage: &DamageReport) -> Result<Value, Failure> {
    let (wanted, trace) = (&args.facts, &input.trace);
    let mut facts = Map::new();
    facts.insert("file".to_owned(), input.path.to_string_lossy().into());
    let mut add = |wanted: bool, name: &str, fact: &mut dyn FnMut() -> Result<Value, Failure>| {
        if wanted {
            facts.insert(name.to_owned(), fact()?);
        }
        Ok::<(), Failure>(())
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let option = |id| trace.option(id).map(|option| option.text());
    add(wanted.cpus || wanted.first_event || wanted.last_event, "cpus", &mut || cpus(args, input, damage))?;
    let name = |endian: Endian| if endian == Endian::Little { "little" } else { "big" };
    add(wanted.endian, "endian", &mut || Ok(json!({"file": name(trace.abi.endian), "host": name(Abi::HOST.endian)})))?;
    add(wanted.page_size, "page_size", &mut || {
        let host = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE)?;
        Ok(json!({"file": trace.prefix.page_size, "host": host}))
    })?;
    add(wanted.functions, "functions", &mut || {
        let functions = input.symbols.kallsyms.iter().map(|symbol| {
            json!({
                "address": format!("{:#x}", symbol.address), "name": text(symbol.name),
                "module": (!symbol.module.is_empty()).then(|| text(symbol.module)),
            })
        });
        Ok(functions.collect::<Vec<_>>().into())
    })?;
    add(wanted.printk, "printk", &mut || {
        let strings = input.symbols.printk.iter();
        let strings = strings.map(|(at, bytes)| json!({"address": format!("{at:#x}"), "text": text(bytes)}));
        Ok(strings.collect::<Vec<_>>().into())
    })?;
    add(wanted.uname, "uname", &mut || Ok(option(OptionId::UNAME).into()))?;
    add(wanted.uname || wanted.version, "version", &mut || Ok(option(OptionId::VERSION).into()))?;
    add(wanted.event_names, "event_names", &mut || {
        let names = trace.formats().map(|format| format!("{}:{}", format.system, format.name));
        Ok(names.collect::<Vec<_>>().into())
    })?;
    add(wanted.of_formats() && (wanted.events || wanted.event.is_some()), "formats", &mut || {
        let formats = trace.formats().filter(|format| wanted.wants_format(format));
        let one = |format: &rtrace::format::EventFormat| json!({"system": format.system, "name": format.name, "format": format.to_string()});
        Ok(formats.map(one).collect::<Vec<_>>().into())
    })?;
    add(wanted.stat, "stat", &mut || {
        let mut lines = Vec::new();
        stat(input, damage, &mut lines)?;
        Ok(text(&lines).into())
    })?;
    Ok(facts.into())
}

/// The CPUs that have data, with the times of their first and last events if wanted, in the clock's unit.
fn cpus(args: &ReportArgs, input: &QueryInput, damage: &DamageReport) -> Result<Value, Failure> {
    let time = args.events.time();
    let mut all = Vec::new();
    for (cpu, (buffer, number)) in cpus_with_data(&input.trace) {
        let note = &mut |found| damage.note(&input.path, &found);
        let ends = input.trace.span(&input.trace.buffers[buffer], number, &time, note)?;
        let mut one = json!({"cpu": cpu});
        if args.facts.first_event {
            one["first"] = ends.map(|(first, _)| first.0).into();
        }
        if args.facts.last_event {
            one["last"] = ends.map(|(_, last)| last.0).into();
        }
        all.push(one);
    }
    Ok(all.into())
}
