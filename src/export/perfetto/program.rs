//! An event type compiled to the message of its records.
//!
//! An event that Perfetto knows becomes its own message, whose fields have numbers of Perfetto's. All others describe
//! themselves: the message's field has a number of its own, and a descriptor in each bundle says what it is called and
//! what its fields are. Those with more fields than a descriptor may have spell their names in each event.

use super::known::{self, KnownField, KnownKind};
use super::proto::{bytes, message, text, uint};
use crate::answer::analysis::stacks::addresses;
use crate::base::abi::Abi;
use crate::base::text::num;
use crate::export::json::json_value;
use crate::kernel::event::{
    EventTypes, FieldKind, FieldPlace, Number, PrintState, Record, TypedEvent, TypedField, Value,
};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::Symbols;

/// The message `GenericFtraceEvent` within `FtraceEvent`.
const GENERIC: u32 = 327;
/// The engine takes self-described fields up to 31.
const MOST_FIELDS: usize = 31;

/// Types that the engine reads of a self-described event's fields (`FieldDescriptorProto.Type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldEncoding {
    Signed = 3,
    Unsigned = 4,
    Text = 9,
}

/// An event type's message, as steps to be done one after the other.
pub(super) struct PerfettoProgram {
    /// Its field in `FtraceEvent`.
    number: u32,
    steps: Vec<PerfettoStep>,
    /// The event's name, if its fields' names stand in each event.
    spelled: Option<String>,
    /// `GenericEventDescriptor`, if it describes itself.
    pub(super) descriptor: Option<Vec<u8>>,
    /// The fields of the kernel's that the message has no place for.
    pub(super) left_out: Vec<String>,
}

/// A field of the message.
struct PerfettoStep {
    number: u32,
    name: String,
    kind: FieldEncoding,
    value: PerfettoSource,
}

/// Source of a value.
enum PerfettoSource {
    Constant(u64),
    Label(String),
    /// The event's text, as `report` words it.
    EventText,
    Field(TypedField, How),
}

/// Conversion of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// A number as it is.
    Number,
    /// A kernel's device number, as user space has it.
    Device,
    /// A function's address, as the number of its name among those of the packet.
    Function,
    /// Text as it is.
    Text,
    /// Text without a newline at its end.
    Line,
    /// The constant string at an address.
    Printk,
    /// Numbers, each for itself.
    Numbers,
    /// Bytes as they are.
    Bytes,
    /// An array, mask or structure, as JSON has it.
    Json,
    /// The name of the function at an address.
    Name,
    /// Names of the functions at addresses, innermost first.
    Names,
}

/// The recording that a program's records are of.
#[derive(Clone, Copy)]
pub(super) struct Origin<'t> {
    pub(super) abi: Abi,
    pub(super) symbols: &'t Symbols,
    pub(super) types: &'t EventTypes<'t>,
}

/// The function in a record, whose name the packet must hold.
pub(super) type Function = Option<u64>;

impl PerfettoProgram {
    /// The message that Perfetto has for the event; `None` if there is none, or if it would lose what the kernel says of
    /// an event of which the engine makes no more than of any other.
    pub(super) fn known(format: &EventFormat) -> Option<PerfettoProgram> {
        let known = known::find(&format.system, &format.name)?;
        let mut program = PerfettoProgram::new(known.number);
        for (field, typed) in format.fields.iter().zip(TypedEvent::new(format).fields) {
            let place = known.fields.iter().find(|place| place.name == field.name);
            let how = place.and_then(|place| conversion(&typed, &field.type_name, place, &format.name));
            match place.zip(how) {
                Some((place, how)) => program.steps.push(PerfettoStep {
                    number: place.number,
                    name: field.name.clone(),
                    kind: FieldEncoding::Unsigned,
                    value: PerfettoSource::Field(typed, how),
                }),
                None => program.left_out.push(field.name.clone()),
            }
        }
        (program.left_out.is_empty() || known::builds(&format.system, &format.name)).then_some(program)
    }

    /// The event as it describes itself, with `number` as its field; without one its fields' names stand in each event.
    /// `instance` becomes a field. With `instant`, the engine shows the event as a slice without a length.
    pub(super) fn described(
        format: &EventFormat,
        number: Option<u32>,
        instance: Option<&str>,
        instant: bool,
    ) -> PerfettoProgram {
        let mut program = PerfettoProgram::new(number.unwrap_or(GENERIC));
        let functions = CallArguments::of(format);
        for (field, typed) in format.fields.iter().zip(TypedEvent::new(format).fields) {
            program.add_described(format, &functions, &field.name, typed);
        }
        if has_text_of_its_own(format) {
            program.add("text", FieldEncoding::Text, PerfettoSource::EventText);
        }
        if instant {
            program.add("track_event_type", FieldEncoding::Unsigned, PerfettoSource::Constant(u64::from(b'I')));
            let text = format.fields.iter().find(|field| field.name == "buf" && field.is_string());
            let name = match text {
                Some(field) => PerfettoSource::Field(TypedField::new(format, field), How::Line),
                None => PerfettoSource::EventText,
            };
            program.add("slice_name", FieldEncoding::Text, name);
        }
        if let Some(instance) = instance {
            program.add("instance", FieldEncoding::Text, PerfettoSource::Label(instance.to_owned()));
        }
        match number.filter(|_| program.steps.len() <= MOST_FIELDS) {
            Some(number) => program.descriptor = Some(descriptor(number, format, &program.steps)),
            None => (program.number, program.spelled) = (GENERIC, Some(format.name.clone())),
        }
        program
    }

    /// An event that no format describes: its id and its bytes.
    pub(super) fn unknown(number: Option<u32>) -> PerfettoProgram {
        let mut program = PerfettoProgram::new(number.unwrap_or(GENERIC));
        let place = FieldPlace::Fixed { offset: 0, len: 2 };
        let id = TypedField { name: "id".to_owned(), place, kind: FieldKind::Unsigned, is_long: false };
        program.add("id", FieldEncoding::Unsigned, PerfettoSource::Field(id, How::Number));
        let place = FieldPlace::Rest { offset: 0 };
        let data = TypedField { name: "data".to_owned(), place, kind: FieldKind::Bytes, is_long: false };
        program.add("data", FieldEncoding::Text, PerfettoSource::Field(data, How::Json));
        match number {
            Some(number) => program.descriptor = Some(describe(number, "unknown", "", &program.steps)),
            None => program.spelled = Some("unknown".to_owned()),
        }
        program
    }

    fn new(number: u32) -> PerfettoProgram {
        PerfettoProgram { number, steps: Vec::new(), spelled: None, descriptor: None, left_out: Vec::new() }
    }

    fn add(&mut self, name: &str, kind: FieldEncoding, value: PerfettoSource) {
        let number = self.steps.len() as u32 + 1;
        self.steps.push(PerfettoStep { number, name: name.to_owned(), kind, value });
    }

    /// Adds a field of the event's own, and the function at its address if it is one of a function.
    fn add_described(&mut self, format: &EventFormat, functions: &CallArguments<'_>, name: &str, field: TypedField) {
        let stack = (format.system.as_str(), format.name.as_str(), name) == ("ftrace", "kernel_stack", "caller");
        let (kind, how) = match field.kind {
            _ if stack => (FieldEncoding::Text, How::Names),
            FieldKind::Signed => (FieldEncoding::Signed, How::Number),
            FieldKind::Unsigned | FieldKind::Bool | FieldKind::Pointer => (FieldEncoding::Unsigned, How::Number),
            FieldKind::Text => (FieldEncoding::Text, How::Text),
            FieldKind::Numbers { .. } | FieldKind::Bits | FieldKind::Bytes => (FieldEncoding::Text, How::Json),
        };
        let function = (how == How::Number && functions.shows(format, name)).then(|| field.clone());
        self.add(name, kind, PerfettoSource::Field(field, how));
        if let Some(function) = function {
            self.add(&format!("{name}_symbol"), FieldEncoding::Text, PerfettoSource::Field(function, How::Name));
        }
    }

    /// Appends the message of a record to `FtraceEvent`'s.
    #[inline]
    pub(super) fn write(
        &self,
        origin: Origin<'_>,
        record: &Record<'_>,
        state: &mut Option<PrintState>,
        out: &mut Vec<u8>,
    ) -> Function {
        let mut function = None;
        message(out, self.number, |out| {
            if let Some(name) = &self.spelled {
                text(out, 1, name.as_bytes());
            }
            for step in &self.steps {
                function = function.or(step.write(self.spelled.is_some(), origin, record, state, out));
            }
        });
        function
    }
}

impl PerfettoStep {
    #[inline]
    fn write(
        &self,
        spelled: bool,
        origin: Origin<'_>,
        record: &Record<'_>,
        state: &mut Option<PrintState>,
        out: &mut Vec<u8>,
    ) -> Function {
        let (field, how) = match &self.value {
            PerfettoSource::Constant(value) => return self.number(spelled, *value, out),
            PerfettoSource::Label(label) => return self.text(spelled, label.as_bytes(), out),
            PerfettoSource::EventText => return self.text(spelled, &event_text(origin, record, state), out),
            PerfettoSource::Field(field, how) => (field, *how),
        };
        if how == How::Names {
            return self.text(spelled, &names(origin, record.data, field), out);
        }
        // A field beyond the record's end is left out.
        let value = field.value(origin.abi, record.data)?;
        let (symbols, number) = (origin.symbols, integer(value));
        match (how, value) {
            (How::Number, _) => self.number(spelled, number?, out),
            (How::Device, _) => self.number(spelled, device(number?), out),
            (How::Function, _) => {
                let symbol = symbols.kallsyms.lookup(number?);
                self.number(spelled, symbol.map_or(number?, |symbol| name_number(symbol.address)), out);
                symbol.map(|symbol| symbol.address)
            }
            (How::Text, Value::Text(value)) => self.text(spelled, value, out),
            (How::Line, Value::Text(value)) => self.text(spelled, value.strip_suffix(b"\n").unwrap_or(value), out),
            (How::Printk, _) => self.text(spelled, symbols.printk.get_whole(number?).unwrap_or_default(), out),
            (How::Numbers, Value::Numbers(numbers)) => {
                for number in numbers.iter() {
                    self.number(spelled, bits(number), out);
                }
                None
            }
            (How::Bytes, _) => {
                bytes(out, self.number, field.bytes(origin.abi, record.data)?);
                None
            }
            (How::Name, _) => match symbols.kallsyms.lookup(number?) {
                Some(symbol) => self.text(spelled, symbol.name, out),
                None => None,
            },
            (_, value) => {
                let mut json = Vec::new();
                json_value(&mut json, value);
                // Bytes of a structure are in quotes, which nothing but JSON needs.
                self.text(spelled, json.strip_prefix(b"\"").and_then(|j| j.strip_suffix(b"\"")).unwrap_or(&json), out)
            }
        }
    }

    #[inline]
    fn number(&self, spelled: bool, value: u64, out: &mut Vec<u8>) -> Function {
        match spelled {
            false => uint(out, self.number, value),
            true => message(out, 2, |out| {
                text(out, 1, self.name.as_bytes());
                uint(out, if self.kind == FieldEncoding::Signed { 4 } else { 5 }, value);
            }),
        }
        None
    }

    #[inline]
    fn text(&self, spelled: bool, value: &[u8], out: &mut Vec<u8>) -> Function {
        match spelled {
            false => text(out, self.number, value),
            true => message(out, 2, |out| {
                text(out, 1, self.name.as_bytes());
                text(out, 3, value);
            }),
        }
        None
    }
}

/// The number of a function's name among those of a packet, by the function's address. Kernels' addresses are long
/// numbers whose upper bits are all the same.
pub(super) fn name_number(address: u64) -> u64 {
    const LOW: u64 = (1 << 40) - 1;
    match address & LOW {
        low if low != 0 && address | LOW == u64::MAX => low,
        _ => address,
    }
}

/// The field of a message for a field of the kernel; `None` if there is none.
fn conversion(field: &TypedField, type_name: &str, place: &KnownField, event: &str) -> Option<How> {
    let size = match field.place {
        FieldPlace::Fixed { len, .. } => len,
        _ => 0,
    };
    let fits = place.kind == KnownKind::Wide || (place.kind == KnownKind::Narrow && size <= 4);
    match field.kind {
        FieldKind::Unsigned if type_name == "dev_t" && place.kind == KnownKind::Wide => Some(How::Device),
        _ if known::is_function(event, &field.name) => Some(How::Function),
        FieldKind::Unsigned | FieldKind::Signed | FieldKind::Bool | FieldKind::Pointer if fits => Some(How::Number),
        FieldKind::Pointer if place.kind == KnownKind::Text => Some(How::Printk),
        FieldKind::Text if place.kind == KnownKind::Text => Some(How::Text),
        FieldKind::Numbers { size: 1, .. } if place.kind == KnownKind::Bytes => Some(How::Bytes),
        FieldKind::Numbers { .. } if place.repeated && place.kind == KnownKind::Wide => Some(How::Numbers),
        _ => None,
    }
}

/// True if only the event's text says what its fields mean: messages of trace_printk(), whose words lie elsewhere.
fn has_text_of_its_own(format: &EventFormat) -> bool {
    format.system == "ftrace" && matches!(format.name.as_str(), "bprint" | "bputs" | "raw_data")
}

/// The arguments of a print fmt that are shown by a function's name: what follows each `REC->` in them, sorted.
struct CallArguments<'f>(Vec<&'f str>);

impl<'f> CallArguments<'f> {
    fn of(format: &'f EventFormat) -> Self {
        let text = &format.print_fmt;
        let arguments = text.rsplit_once('"').filter(|_| text.contains("%ps") || text.contains("%pS"));
        let arguments = arguments.map_or("", |(_, arguments)| arguments).split(',');
        let pointers = arguments.filter(|argument| argument.contains("(void *)"));
        let mut after: Vec<&str> = pointers.flat_map(|argument| argument.split("REC->").skip(1)).collect();
        after.sort_unstable();
        CallArguments(after)
    }

    /// True if the field is a function's address, and is shown by the function's name.
    fn shows(&self, format: &EventFormat, field: &str) -> bool {
        let tracers = format.system == "ftrace" && matches!(field, "ip" | "parent_ip" | "func");
        let at = self.0.partition_point(|after| *after < field);
        tracers && format.name != "print" || self.0.get(at).is_some_and(|after| after.starts_with(field))
    }
}

/// A number of either sign, as a message has it.
fn bits(number: Number) -> u64 {
    match number {
        Number::Unsigned(value) => value,
        Number::Signed(value) => value as u64,
    }
}

fn integer(value: Value<'_>) -> Option<u64> {
    match value {
        Value::Unsigned(value) | Value::Pointer(value) => Some(value),
        Value::Signed(value) => Some(value as u64),
        Value::Bool(value) => Some(value.into()),
        _ => None,
    }
}

/// A kernel's `dev_t` (12 bits of major and 20 of minor number) as glibc's `makedev()` would give it.
fn device(kernel: u64) -> u64 {
    let (major, minor) = (kernel >> 20, kernel & 0xf_ffff);
    (major & 0xffff_f000) << 32 | (major & 0xfff) << 8 | (minor & 0xffff_ff00) << 12 | minor & 0xff
}

/// `c;b;a`: the functions of a stack, innermost first, addresses where a name is not known.
fn names(origin: Origin<'_>, data: &[u8], field: &TypedField) -> Vec<u8> {
    let (FieldPlace::Fixed { offset, .. } | FieldPlace::Rest { offset } | FieldPlace::Counted { offset, .. }) =
        field.place
    else {
        return Vec::new();
    };
    let mut text = Vec::new();
    for address in addresses(origin.abi, data, offset) {
        if !text.is_empty() {
            text.push(b';');
        }
        match origin.symbols.kallsyms.lookup(address) {
            Some(symbol) => text.extend_from_slice(symbol.name),
            None => {
                text.extend_from_slice(b"0x");
                num::hex(&mut text, address);
            }
        }
    }
    text
}

#[cold]
fn event_text(origin: Origin<'_>, record: &Record<'_>, state: &mut Option<PrintState>) -> Vec<u8> {
    let (mut text, abi) = (Vec::new(), origin.abi);
    let id = origin.types.common().event_id(abi, record.data);
    if let Some(event) = origin.types.get(id) {
        let state = state.get_or_insert_with(|| PrintState::new(origin.symbols.comms.clone()));
        let cx = Context { data: record.data, abi, symbols: origin.symbols, lists: false };
        let _ = event.text(&cx, record, None, state, &mut text);
    }
    text
}

/// `GenericEventDescriptor` of an event.
fn descriptor(number: u32, format: &EventFormat, steps: &[PerfettoStep]) -> Vec<u8> {
    describe(number, &format.name, &format.system, steps)
}

fn describe(number: u32, name: &str, system: &str, steps: &[PerfettoStep]) -> Vec<u8> {
    const OPTIONAL: u64 = 1;
    let mut out = Vec::new();
    uint(&mut out, 1, number.into());
    message(&mut out, 2, |out| {
        text(out, 1, name.as_bytes());
        for step in steps {
            message(out, 2, |out| {
                text(out, 1, step.name.as_bytes());
                uint(out, 3, step.number.into());
                uint(out, 4, OPTIONAL);
                uint(out, 5, step.kind as u64);
            });
        }
    });
    text(&mut out, 3, system.as_bytes());
    out
}
