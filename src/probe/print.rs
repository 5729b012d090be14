//! A probe as the line that makes it.

use super::{KernelPlace, Kind, Probe};
use std::fmt;

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match &self.kind {
            Kind::Kprobe(_) | Kind::Uprobe { returns: false, .. } => "p",
            Kind::Kretprobe { .. } | Kind::Uprobe { returns: true, .. } => "r",
            Kind::Event { .. } => "e",
            Kind::Function { .. } => "f",
            Kind::Tracepoint { .. } => "t",
            Kind::User { .. } => "u",
        };
        f.write_str(letter)?;
        if let Kind::Kretprobe { max_active: Some(n), .. } | Kind::Function { max_active: Some(n), .. } = &self.kind {
            write!(f, "{n}")?;
        }
        let user = matches!(self.kind, Kind::User { .. });
        match (&self.group, &self.event) {
            // A user event's group is always user_events, and not written.
            (Some(_), Some(event)) if user => write!(f, ":{event}")?,
            (Some(group), Some(event)) => write!(f, ":{group}/{event}")?,
            (Some(group), None) => write!(f, ":{group}/")?,
            (None, Some(event)) => write!(f, ":{event}")?,
            (None, None) => {}
        }
        match &self.kind {
            Kind::Kprobe(at) | Kind::Kretprobe { at, .. } => write!(f, " {at}")?,
            Kind::Uprobe { path, offset, counter, .. } => {
                write!(f, " {path}:{offset:#x}")?;
                if let Some(counter) = counter {
                    write!(f, "({counter:#x})")?;
                }
            }
            Kind::Event { system, event } => write!(f, " {system}.{event}")?,
            Kind::Function { symbol, returns, .. } => {
                write!(f, " {symbol}{}", if *returns { "%return" } else { "" })?;
            }
            Kind::Tracepoint { name } => write!(f, " {name}")?,
            Kind::User { fields } if fields.is_empty() => {}
            Kind::User { fields } => write!(f, " {fields}")?,
        }
        for arg in &self.args {
            write!(f, " {arg}")?;
        }
        match &self.filter {
            Some(filter) => write!(f, " if {filter}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for KernelPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(module) = &self.module {
            write!(f, "{module}:")?;
        }
        f.write_str(&self.symbol)?;
        match self.offset {
            0 => Ok(()),
            offset => write!(f, "+{offset}"),
        }
    }
}
