//! One event type: all that its records' texts need, resolved.
//! All event types of a file, by id.

use super::handlers::{EventHandler, graph_exit};
use super::raw::RawField;
use super::{Common, Consumed, DecodeOptions, PrintState, Record, raw};
use crate::base::abi::Abi;
use crate::base::text::literal::Literal;
use crate::base::units::EventId;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::{
    Context, PrintFmtError, PrintProgram, Semantics, compile, offers_allocation_flags, wants_allocation_flags,
};
use crate::kernel::symbols::Symbols;
use std::collections::HashMap;
use std::sync::OnceLock;

/// An event type, compiled.
pub struct EventType {
    /// Format file of the event.
    pub format: EventFormat,
    /// ` name: ` and blanks up to 20 columns of name.
    pub(crate) name_column: Literal,
    program: Result<PrintProgram, PrintFmtError>,
    handler: EventHandler,
    fields: Box<[RawField]>,
    /// True if records of the same bytes have the same text.
    pub(crate) repeats: bool,
}

/// Width of the name column: 20 of the name, a blank before it, a colon and a blank after it.
const COLUMNS: usize = 23;

impl EventType {
    fn new(format: &EventFormat, abi: Abi, symbols: &Symbols, options: &DecodeOptions) -> Self {
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
    fn finish(&mut self) {
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

/// Event types by id. Each is compiled when it is first asked for: a kernel has some two thousand of them, a recording
/// rarely a hundred, and compiling all takes longer than printing a hundred thousand lines.
pub struct EventTypes<'a> {
    table: Vec<OnceLock<Box<EventType>>>,
    /// As long as `table`.
    formats: Vec<Option<&'a EventFormat>>,
    common: Common,
    abi: Abi,
    symbols: &'a Symbols,
    options: DecodeOptions,
    /// Options of some events, instead of the general ones.
    exceptions: HashMap<u16, DecodeOptions>,
}

impl<'a> EventTypes<'a> {
    /// The types of these formats. Of two formats with one id the later one counts. `symbols` are asked for the addresses
    /// of kernel variables that print formats name.
    pub fn new(
        formats: impl IntoIterator<Item = &'a EventFormat>,
        abi: Abi,
        symbols: &'a Symbols,
        options: &DecodeOptions,
    ) -> Self {
        let given: Vec<&EventFormat> = formats.into_iter().collect();
        let ids = given.iter().map(|f| usize::from(f.id.0).saturating_add(1)).max().unwrap_or(0);
        let mut formats = vec![None; ids];
        for format in given {
            if let Some(slot) = formats.get_mut(usize::from(format.id.0)) {
                *slot = Some(format);
            }
        }
        let common = Common::of_all(formats.iter().flatten().copied());
        let table = std::iter::repeat_with(OnceLock::new).take(ids).collect();
        EventTypes { table, formats, common, abi, symbols, options: *options, exceptions: HashMap::new() }
    }

    /// The same with other options for the events with this id.
    pub fn except(mut self, id: EventId, options: DecodeOptions) -> Self {
        self.exceptions.insert(id.0, options);
        self
    }

    /// The type of events with this id.
    #[inline]
    pub fn get(&self, id: u16) -> Option<&EventType> {
        let slot = self.table.get(usize::from(id))?;
        match slot.get() {
            Some(event) => Some(event),
            None => self.compile(id, slot),
        }
    }

    #[cold]
    fn compile<'s>(&'s self, id: u16, slot: &'s OnceLock<Box<EventType>>) -> Option<&'s EventType> {
        let format = self.format(id)?;
        let compiled = slot.get_or_init(|| {
            let mut event =
                EventType::new(format, self.abi, self.symbols, self.exceptions.get(&id).unwrap_or(&self.options));
            if matches!(event.handler, EventHandler::GraphEntry(_)) {
                event.handler.link_exit(graph_exit(self.formats(), self.abi, &self.options), &self.common);
            }
            event.handler.link_symbols(format, self.abi, self.symbols);
            if wants_allocation_flags(&format.print_fmt)
                && let Some(other) = self.formats().find(|other| offers_allocation_flags(&other.print_fmt))
                && let Ok(other) = compile(other, self.abi, self.symbols, Semantics::Kernel)
                && let Ok(program) = &mut event.program
            {
                program.name_allocation_flags(&other);
            }
            event.finish();
            Box::new(event)
        });
        Some(compiled)
    }

    fn format(&self, id: u16) -> Option<&EventFormat> {
        self.formats.get(usize::from(id)).copied().flatten()
    }

    /// The formats of all types, by rising id.
    pub fn formats(&self) -> impl Iterator<Item = &EventFormat> {
        (0..self.table.len()).filter_map(|id| self.format(id as u16))
    }

    /// All types, by rising id: compiles those that were not asked for yet.
    pub fn iter(&self) -> impl Iterator<Item = &EventType> {
        (0..self.table.len()).filter_map(|id| self.get(id as u16))
    }

    /// Offsets of the fields that all events have.
    #[inline]
    pub fn common(&self) -> &Common {
        &self.common
    }

    /// The recorded kernel's ABI.
    #[inline]
    pub fn abi(&self) -> Abi {
        self.abi
    }

    /// The types whose print format could not be compiled and which have no handler, with the reason.
    pub fn failed(&self) -> impl Iterator<Item = (&EventType, &PrintFmtError)> {
        self.iter().filter_map(|t| t.failure().map(|e| (t, e)))
    }
}
