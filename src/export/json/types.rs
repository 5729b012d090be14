//! All event types of a file, compiled.

use super::Style;
use super::program::JsonProgram;
use crate::base::abi::Abi;
use crate::base::text::literals::Literals;
use crate::kernel::event::TypedEvent;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Symbols;
use std::sync::Arc;

/// The event types of one file, compiled for [`Json`](super::Json). Immutable: any number of exporters may share it.
#[derive(Clone, Debug)]
pub struct JsonTypes {
    pub(super) abi: Abi,
    pub(super) style: Style,
    pub(super) pool: Literals,
    programs: Vec<JsonProgram>,
    /// Index into `programs` plus 1, by event id.
    by_id: Vec<u32>,
}

impl JsonTypes {
    /// Compiles `formats`. Of two with the same id the later one counts.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, style: Style) -> Self {
        Self::with_names(formats, abi, style, None)
    }

    /// The same; addresses of functions have their names, and with the symbols' [`user`](Symbols::user) the stacks of user
    /// space.
    pub fn with_names<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        style: Style,
        symbols: Option<&Symbols>,
    ) -> Self {
        let user = symbols.and_then(|symbols| symbols.user.as_ref()).filter(|_| style == Style::Json);
        let kallsyms = symbols.filter(|_| style == Style::Json).map(|symbols| Arc::new(symbols.kallsyms.clone()));
        let mut types = JsonTypes { abi, style, pool: Literals::default(), programs: Vec::new(), by_id: Vec::new() };
        for format in formats {
            let id = usize::from(format.id.0);
            if types.by_id.len() <= id {
                types.by_id.resize(id + 1, 0);
            }
            let event = TypedEvent::new(format);
            let mut program = JsonProgram::compile(&event, style, &mut types.pool);
            if let Some(kallsyms) = &kallsyms {
                program.name_functions(&event, kallsyms);
            }
            if let Some(user) = user {
                program.name_user_stack(format, style, user, &mut types.pool);
            }
            types.programs.push(program);
            types.by_id[id] = types.programs.len() as u32;
        }
        types
    }

    #[inline]
    pub(super) fn program(&self, data: &[u8]) -> Option<&JsonProgram> {
        let id = self.abi.u16(*data.first_chunk()?);
        let index = *self.by_id.get(usize::from(id))?;
        self.programs.get((index as usize).checked_sub(1)?)
    }

    /// Any type: all share the common fields.
    pub(super) fn any(&self) -> Option<&JsonProgram> {
        self.programs.first()
    }
}
