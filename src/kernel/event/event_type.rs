//! One event type: all that its records' texts need, resolved.

use super::Consumed;
use super::handlers::EventHandler;
use super::raw::RawField;
use super::{DecodeOptions, PrintState, Record, raw};
use crate::base::abi::Abi;
use crate::base::text::literal::Literal;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::{Context, PrintFmtError, PrintProgram, compile};
use crate::kernel::symbols::Symbols;

/// An event type, compiled.
pub struct EventType {
    /// Format file of the event.
    pub format: EventFormat,
    /// ` name: ` and blanks up to 20 columns of name.
    pub(crate) name_column: Literal,
    pub(super) program: Result<PrintProgram, PrintFmtError>,
    pub(super) handler: EventHandler,
    fields: Box<[RawField]>,
    /// True if records of the same bytes have the same text.
    pub(crate) repeats: bool,
}

/// Width of the name column: 20 of the name, a blank before it, a colon and a blank after it.
const COLUMNS: usize = 23;

impl EventType {
    pub(super) fn new(format: &EventFormat, abi: Abi, symbols: &Symbols, options: &DecodeOptions) -> Self {
        let program = compile(format, abi, symbols, options.semantics);
        let handler = EventHandler::of(format, abi, options);
        let name = format.name.as_bytes();
        let mut name_column = [b" ", name, b": "].concat();
        name_column.resize(name_column.len().max(COLUMNS), b' ');
        EventType {
            name_column: Literal::new(&name_column),
            program,
            handler,
            fields: raw::fields(format, abi),
            format: format.clone(),
            repeats: false,
        }
    }

    /// To be called when the handler is complete.
    pub(super) fn finish(&mut self) {
        self.repeats = self.program.is_ok() && !self.handler.depends_on_order();
    }

    /// Why the event's text is a list of its fields; `None` if it is not.
    pub fn failure(&self) -> Option<&PrintFmtError> {
        match self.handler {
            EventHandler::Program | EventHandler::Kmem(_) => self.program.as_ref().err(),
            _ => None,
        }
    }

    /// True if the text depends on the record that follows in the same buffer.
    #[inline]
    pub fn needs_next(&self) -> bool {
        matches!(self.handler, EventHandler::GraphEntry(_))
    }

    /// Appends the event's text; [`Consumed::Two`] if it covers `next` too.
    #[inline]
    pub(crate) fn text(
        &self,
        cx: &Context<'_>,
        record: &Record<'_>,
        next: Option<&Record<'_>>,
        state: &mut PrintState,
        out: &mut Vec<u8>,
    ) -> Consumed {
        match &self.handler {
            EventHandler::Program => self.program_text(cx, state, out),
            EventHandler::Raw => self.raw(cx, out),
            handler => {
                let done = handler.write(cx, record, next, state, out);
                if !done.complete {
                    self.program_text(cx, state, out);
                }
                return done.consumed;
            }
        }
        Consumed::One
    }

    #[inline]
    fn program_text(&self, cx: &Context<'_>, state: &mut PrintState, out: &mut Vec<u8>) {
        match &self.program {
            Ok(program) => program.render(cx, out),
            Err(_) => {
                state.note_undecoded(self.format.id.0);
                out.extend_from_slice(b"[FAILED TO PARSE]");
                self.raw(cx, out);
            }
        }
    }

    /// Appends ` name=value` for each of the event's own fields.
    pub(crate) fn raw(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        raw::write(&self.fields, self.program.as_ref().ok(), cx, out);
    }
}
