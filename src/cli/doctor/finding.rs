//! Findings: a fact about the machine, its severity, and what to do about it.

use rtrace::units::counted;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Part of the machine that a finding is about, in the order of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Area {
    Access,
    Kernel,
    Activity,
    Memory,
    Stale,
    Clock,
    Timing,
}

impl Area {
    fn name(self) -> &'static str {
        match self {
            Area::Access => "access",
            Area::Kernel => "kernel",
            Area::Activity => "activity",
            Area::Memory => "memory",
            Area::Stale => "stale",
            Area::Clock => "clock",
            Area::Timing => "timing",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Area::Access => "Access to tracefs",
            Area::Kernel => "This kernel",
            Area::Activity => "Who traces now",
            Area::Memory => "Memory and disk",
            Area::Stale => "Left behind",
            Area::Clock => "Clocks",
            Area::Timing => "Causes of varying times",
        }
    }
}

/// Importance of a finding, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// Checked, nothing to do.
    Ok,
    /// Worth knowing.
    Note,
    /// Events or times may not be what they seem.
    Warning,
    /// Recording does not work.
    Error,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Severity::Ok => "ok",
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A finding.
#[derive(Debug)]
pub(super) struct DoctorFinding {
    area: Area,
    /// Name for programs, the same in later versions.
    id: &'static str,
    severity: Severity,
    text: String,
    /// Why it is so, in the same line of text; among the advice for programs.
    reason: Option<String>,
    advice: Vec<String>,
    /// The values behind the text: an object.
    facts: Value,
}

impl DoctorFinding {
    /// Sets why it is so, in a few words.
    pub(super) fn because(&mut self, reason: impl Into<String>) -> &mut Self {
        self.reason = Some(reason.into());
        self
    }

    /// Adds a sentence on what to do.
    pub(super) fn advise(&mut self, advice: impl Into<String>) -> &mut Self {
        self.advice.push(advice.into());
        self
    }

    /// Sets the values behind the text, an object.
    pub(super) fn facts(&mut self, facts: Value) -> &mut Self {
        self.facts = facts;
        self
    }
}

/// All findings, in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct Findings {
    all: Vec<DoctorFinding>,
}

impl Findings {
    /// Adds a finding; advice and facts are added to what it gives.
    pub(super) fn add(
        &mut self,
        area: Area,
        id: &'static str,
        severity: Severity,
        text: impl Into<String>,
    ) -> &mut DoctorFinding {
        let at = self.all.len();
        let (text, advice) = (text.into(), Vec::new());
        self.all.push(DoctorFinding { area, id, severity, text, reason: None, advice, facts: json!({}) });
        &mut self.all[at]
    }

    /// Number of findings of this severity.
    pub(super) fn count(&self, severity: Severity) -> usize {
        self.all.iter().filter(|finding| finding.severity == severity).count()
    }

    fn shown(&self, quiet: bool) -> impl Iterator<Item = &DoctorFinding> {
        self.all.iter().filter(move |finding| !quiet || finding.severity >= Severity::Warning)
    }

    /// An array; `quiet`: of warnings and errors only.
    pub(super) fn to_json(&self, quiet: bool) -> Value {
        self.shown(quiet)
            .map(|finding| {
                json!({
                    "area": finding.area.name(),
                    "id": finding.id,
                    "severity": finding.severity.name(),
                    "text": finding.text,
                    "advice": finding.reason.iter().chain(&finding.advice).collect::<Vec<_>>(),
                    "facts": finding.facts,
                })
            })
            .collect()
    }

    /// Prints them by area, and the verdict; `quiet`: warnings, errors and the verdict only.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(super) fn print(&self, quiet: bool, out: &mut impl Write) -> io::Result<()> {
        const AREAS: [Area; 7] =
            [Area::Access, Area::Kernel, Area::Activity, Area::Memory, Area::Stale, Area::Clock, Area::Timing];
        for area in AREAS {
            let mut of_area = self.shown(quiet).filter(|finding| finding.area == area).peekable();
            if of_area.peek().is_some() {
                writeln!(out, "{}", area.title())?;
            }
            for finding in of_area {
                let reason = finding.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                writeln!(out, "  {:<9}{}{reason}", finding.severity.name(), finding.text)?;
                finding.advice.iter().try_for_each(|advice| writeln!(out, "           -> {advice}"))?;
            }
        }
        let of = |severity, name: &str| counted(self.count(severity) as u64, name);
        let (errors, warnings) = (of(Severity::Error, "error"), of(Severity::Warning, "warning"));
        match self.count(Severity::Error) {
            0 => writeln!(out, "Recording works; {warnings}"),
            _ => writeln!(out, "Recording does not work: {errors}, {warnings}"),
        }
    }
}
