//! `rtrace options`, and what `report -O` takes: the options of what trace-cmd calls plugins.

use super::exit::{Exit, Failure};
use crate::cli::terminal::stdout;
use rtrace::event::DecodeOptions;
use rtrace::syntax::did_you_mean;
use serde_json::json;
use std::io::{self, Write};

/// List options that change how `report` formats events
///
/// `rtrace report -O PLUGIN:OPTION` switches one on, `-O PLUGIN:OPTION=0` off.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace options
  rtrace report -O ftrace:parent -O fgraph:tailprint")]
pub(crate) struct PluginOptionsArgs {
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
}

/// An option: whose, its name, what it does, and where it is kept.
struct PluginOption {
    plugin: &'static str,
    name: &'static str,
    about: &'static str,
    place: fn(&mut DecodeOptions) -> &mut bool,
}

const KNOWN: [PluginOption; 8] = [
    PluginOption {
        plugin: "ftrace",
        name: "parent",
        about: "Show each function's caller",
        place: |o| &mut o.function.parent,
    },
    PluginOption {
        plugin: "ftrace",
        name: "indent",
        about: "Indent functions below their callers",
        place: |o| &mut o.function.indent,
    },
    PluginOption {
        plugin: "ftrace",
        name: "offset",
        about: "Show offsets within functions",
        place: |o| &mut o.function.offset,
    },
    PluginOption {
        plugin: "fgraph",
        name: "tailprint",
        about: "Repeat a function's name where it ends",
        place: |o| &mut o.graph.tail,
    },
    PluginOption {
        plugin: "fgraph",
        name: "depth",
        about: "Show how deep each call is nested",
        place: |o| &mut o.graph.depth,
    },
    PluginOption {
        plugin: "fgraph",
        name: "retval-skip",
        about: "Leave out return values",
        place: |o| &mut o.graph.retval_skip,
    },
    PluginOption {
        plugin: "fgraph",
        name: "retval-dec",
        about: "Show return values in decimal",
        place: |o| &mut o.graph.retval_dec,
    },
    PluginOption {
        plugin: "fgraph",
        name: "retval-hex",
        about: "Show return values in hexadecimal",
        place: |o| &mut o.graph.retval_hex,
    },
];

/// One option with the value it is to have.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    place: fn(&mut DecodeOptions) -> &mut bool,
    on: bool,
}

impl Setting {
    pub(crate) fn apply(self, options: &mut DecodeOptions) {
        *(self.place)(options) = self.on;
    }
}

/// Parses `[PLUGIN:]OPTION[=VALUE]`; without a value it is switched on.
pub(crate) fn parse(text: &str) -> Result<Setting, String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let (plugin, name) = name.split_once(':').map_or((None, name), |(plugin, name)| (Some(plugin), name));
    let on = match value {
        "1" | "on" | "true" | "yes" => true,
        "0" | "off" | "false" | "no" => false,
        _ => return Err(format!("`{value}` is neither 1 nor 0")),
    };
    let known = KNOWN.iter().find(|known| known.name == name && plugin.is_none_or(|plugin| plugin == known.plugin));
    match known {
        Some(known) => Ok(Setting { place: known.place, on }),
        None => {
            let hint = did_you_mean(name, KNOWN.iter().map(|known| known.name));
            Err(format!(
                "there is no option `{name}`; {}",
                hint.unwrap_or_else(|| "`rtrace options` lists them".into())
            ))
        }
    }
}

/// Writes the list in trace-cmd's layout.
pub(crate) fn list(out: &mut impl Write) -> io::Result<()> {
    let mut before: Option<&PluginOption> = None;
    for known in &KNOWN {
        if let Some(before) = before {
            let line = if before.plugin == known.plugin { "------------" } else { "============" };
            writeln!(out, "{line}")?;
        }
        let on = u8::from(*(known.place)(&mut DecodeOptions::default()));
        writeln!(out, "  plugin:\t{}\n  option:\t{}\n    desc:\t{}", known.plugin, known.name, known.about)?;
        writeln!(out, "     set:\t{on}")?;
        before = Some(known);
    }
    Ok(())
}

/// The same for programs.
pub(crate) fn to_json() -> serde_json::Value {
    let one = |known: &PluginOption| {
        let on = *(known.place)(&mut DecodeOptions::default());
        json!({"plugin": known.plugin, "option": known.name, "description": known.about, "default": on})
    };
    KNOWN.iter().map(one).collect()
}

pub(crate) fn run(args: &PluginOptionsArgs) -> Result<Exit, Failure> {
    let mut out = stdout().lock();
    if args.json {
        writeln!(out, "{:#}", json!({"schema": "rtrace.options", "version": 1, "options": to_json()}))?;
    } else {
        list(&mut out)?;
    }
    Ok(Exit::Success)
}
