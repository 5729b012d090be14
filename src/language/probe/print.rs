//! A probe as the line that makes it.

use super::{KernelPlace, Probe, ProbeKind};
use std::fmt;

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match &self.kind {
            ProbeKind::Kprobe(_) | ProbeKind::Uprobe { returns: false, .. } => "p",
            ProbeKind::Kretprobe { .. } | ProbeKind::Uprobe { returns: true, .. } => "r",
            ProbeKind::Event { .. } => "e",
            ProbeKind::Function { .. } => "f",
            ProbeKind::Tracepoint { .. } => "t",
            ProbeKind::User { .. } => "u",
        };
        f.write_str(letter)?;
        if let ProbeKind::Kretprobe { max_active: Some(n), .. } | ProbeKind::Function { max_active: Some(n), .. } =
            &self.kind
        {
            write!(f, "{n}")?;
        }
        let user = matches!(self.kind, ProbeKind::User { .. });
        match (&self.group, &self.event) {
            // A user event's group is always user_events, and not written.
            (Some(_), Some(event)) if user => write!(f, ":{event}")?,
            (Some(group), Some(event)) => write!(f, ":{group}/{event}")?,
            (Some(group), None) => write!(f, ":{group}/")?,
            (None, Some(event)) => write!(f, ":{event}")?,
            (None, None) => {}
        }
        match &self.kind {
            ProbeKind::Kprobe(at) | ProbeKind::Kretprobe { at, .. } => write!(f, " {at}")?,
            ProbeKind::Uprobe { path, offset, counter, .. } => {
                write!(f, " {path}:{offset:#x}")?;
                if let Some(counter) = counter {
                    write!(f, "({counter:#x})")?;
                }
            }
            ProbeKind::Event { system, event } => write!(f, " {system}.{event}")?,
            ProbeKind::Function { symbol, returns, .. } => {
                write!(f, " {symbol}{}", if *returns { "%return" } else { "" })?;
            }
            ProbeKind::Tracepoint { name } => write!(f, " {name}")?,
            ProbeKind::User { fields } if fields.is_empty() => {}
            ProbeKind::User { fields } => write!(f, " {fields}")?,
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
