//! A trigger held against its event.

use super::{Trigger, TriggerAction};
use crate::base::syntax::{Diagnostic, Span, did_you_mean};
use crate::kernel::format::EventFormat;

impl Trigger {
    /// Checks filter and target. `events` are the names (`system:event`) of all events; `text` is what the trigger was
    /// parsed from. Hist triggers have a checker of their own ([`crate::language::hist::spec::HistSpec::check`]).
    ///
    /// Returns what the kernel takes but what cannot mean what it seems to.
    ///
    /// # Errors
    /// The kernel's objections, at their place in `text`.
    pub fn check(&self, text: &str, format: &EventFormat, events: &[String]) -> Result<Vec<Diagnostic>, Diagnostic> {
        let mut warnings = Vec::new();
        if let Some(target) = self.action.target() {
            let name = target.to_string();
            if !events.contains(&name) {
                let near = did_you_mean(&name, events.iter().map(String::as_str));
                let at = text.find(&name).unwrap_or(0);
                let span = Span::new(at, at + name.len());
                let error = Diagnostic::new("trigger", text, span, format!("there is no event `{name}`"));
                return Err(error.hint_opt(near));
            }
        }
        if let Some(filter) = &self.filter {
            let offset = text.rfind(filter.text()).unwrap_or(0);
            let within = |e: Diagnostic| e.within("trigger", text, offset);
            warnings.extend(filter.check(format).map_err(within)?.into_iter().map(within));
        }
        if self.count == Some(0) && !matches!(self.action, TriggerAction::Hist(_)) {
            let message = "a count of 0 means never";
            warnings.push(Diagnostic::new("trigger", text, Span::new(0, text.len()), message));
        }
        Ok(warnings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: e\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
                          \tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

    #[test]
    fn filter_and_target() {
        let format = EventFormat::parse("s", FORMAT).unwrap();
        let events = ["s:e".to_owned(), "s:other".to_owned()];
        let check = |text: &str| text.parse::<Trigger>().unwrap().check(text, &format, &events);
        assert!(check("enable_event:s:other if pid > 1").unwrap().is_empty());
        let error = check("enable_event:s:othr").unwrap_err();
        assert_eq!(error.hints(), ["did you mean `s:other`?"]);
        assert_eq!(error.span, Span::new(13, 19));
        let error = check("stacktrace:2 if  pdi == 1").unwrap_err();
        assert_eq!((error.label, error.span), ("trigger", Span::new(17, 20)));
        assert_eq!(check("traceoff:0").unwrap().len(), 1);
    }
}
