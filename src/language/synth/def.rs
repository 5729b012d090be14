//! The definition of a synthetic event.
//! Why a synthetic event cannot be built.

use crate::base::syntax::{Diagnostic, Span, did_you_mean};
use crate::kernel::format::Field;
use std::fmt;
use std::fmt::{Display, Formatter};

/// Numeric types that the kernel knows by name.
const TYPES: [&str; 21] = [
    "s8",
    "s16",
    "s32",
    "s64",
    "u8",
    "u16",
    "u32",
    "u64",
    "char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned int",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "bool",
    "pid_t",
    "gfp_t",
];
/// `SYNTH_FIELDS_MAX` since Linux 5.17 (32 before, 16 before 5.6).
const MAX_FIELDS: usize = 64;
/// `STR_VAR_LEN_MAX`: the longest text.
const MAX_TEXT: u32 = 256;

/// `wakeup_latency  u64 lat; pid_t pid; char[16] comm`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthDef {
    /// Its name in the system `synthetic`.
    pub name: String,
    /// Its fields, in order.
    pub fields: Vec<SynthField>,
}

/// `u64 lat`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthField {
    /// Type of the field.
    pub ty: FieldType,
    /// Name of the field.
    pub name: String,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// A number: `u64`, `pid_t`, `unsigned int`.
    Number(String),
    /// A text: `char[16]`, cut to that length, or `char[]`, up to 256 bytes.
    Text(Option<u32>),
    /// A stack: `unsigned long[]`, `long[]`.
    Stack {
        /// `long[]` instead of `unsigned long[]`.
        signed: bool,
    },
}

/// A definition that the kernel would refuse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefError {
    /// No name, or one with other characters than letters, digits and `_`.
    #[error("`{0}` is no name for an event: letters, digits and `_`, no digit first")]
    EventName(String),
    /// No fields.
    #[error("an event needs at least one field: `NAME TYPE FIELD[; TYPE FIELD]`")]
    NoFields,
    /// Too many fields.
    #[error("{0} fields: the kernel takes at most 64")]
    TooManyFields(usize),
    /// A field without type or name.
    #[error("`{0}` is no field: expected `TYPE NAME`")]
    Field(String),
    /// A type the kernel does not know.
    #[error("unknown type `{0}`")]
    Type(String),
    /// A field's name is none.
    #[error("`{0}` is no name for a field")]
    FieldName(String),
    /// Two fields of the same name; the kernel takes them, but cannot distinguish them.
    #[error("two fields are called `{0}`")]
    Duplicate(String),
    /// An array of something else than characters, or a bad length.
    #[error("`{0}` is no array that an event can hold: char[N] up to 256, char[], long[] or unsigned long[]")]
    Array(String),
}

impl SynthDef {
    /// Parses a line of `synthetic_events` or `dynamic_events` (`s:[synthetic/]NAME ...`), or what one would write.
    ///
    /// # Errors
    /// A [`Diagnostic`] about `text`.
    pub fn parse(text: &str) -> Result<SynthDef, Diagnostic> {
        let body = text.strip_prefix("s:").unwrap_or(text);
        let body = body.strip_prefix("synthetic/").unwrap_or(body);
        let offset = text.len() - body.len();
        let at = |start: usize, part: &str| Span::new(offset + start, offset + start + part.len());
        let fail = |error: DefError, span: Span| Diagnostic::new("synth", text, span, error.to_string());
        let end = body.find([' ', '\t']).unwrap_or(body.len());
        let name = &body[..end];
        if !is_name(name) {
            return Err(fail(DefError::EventName(name.to_owned()), at(0, name)));
        }
        let mut fields: Vec<SynthField> = Vec::new();
        let mut start = end;
        for part in body[end..].split(';') {
            let trimmed = part.trim();
            let span = at(start + (part.len() - part.trim_start().len()), trimmed);
            start += part.len() + 1;
            if trimmed.is_empty() {
                if fields.is_empty() && !body[end..].trim().is_empty() {
                    return Err(fail(DefError::NoFields, span));
                }
                continue; // a `;` at the end is usual
            }
            let parsed = SynthField::parse_all(trimmed).map_err(|error| {
                let hint = match &error {
                    DefError::Type(ty) if ty.contains(',') => {
                        Some("fields are separated by `;`: `u64 lat; pid_t pid`".to_owned())
                    }
                    DefError::Type(ty) => did_you_mean(ty, TYPES).or_else(|| {
                        Some("types are s8 to s64, u8 to u64, C's integers, bool, pid_t, gfp_t, char[N], char[]".into())
                    }),
                    _ => None,
                };
                fail(error, span).hint_opt(hint)
            })?;
            for field in parsed {
                if fields.iter().any(|f| f.name == field.name) {
                    return Err(fail(DefError::Duplicate(field.name), span));
                }
                fields.push(field);
            }
        }
        if fields.is_empty() {
            return Err(fail(DefError::NoFields, at(0, body)));
        }
        if fields.len() > MAX_FIELDS {
            return Err(fail(DefError::TooManyFields(fields.len()), at(0, body)));
        }
        Ok(SynthDef { name: name.to_owned(), fields })
    }

    /// True if a variable of that name is one that a [`Builder`](super::Builder) made for this event.
    pub fn has_variable(&self, name: &str) -> bool {
        let made = |field: &str| name == variable(&self.name, field) || name == start_variable(&self.name, field);
        self.fields.iter().any(|field| made(&field.name))
    }
}

/// The variable of the end trigger that holds a field of an event. Synthetic events are named once in a system, so these
/// names are, too.
pub(super) fn variable(event: &str, field: &str) -> String {
    format!("__{event}_{field}")
}

/// The variable of the start trigger that holds a field of an event, or what it is calculated from.
pub(super) fn start_variable(event: &str, field: &str) -> String {
    format!("__{event}_start_{field}")
}

impl SynthField {
    /// The fields of a text without semicolons: one, or several, as kernels before 5.11 had them and later ones still take.
    fn parse_all(text: &str) -> Result<Vec<SynthField>, DefError> {
        let error = match SynthField::parse(text) {
            Ok(field) => return Ok(vec![field]),
            Err(error) => error,
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut rest = words.as_slice();
        let mut fields = Vec::new();
        while !rest.is_empty() {
            let first = (2..=rest.len()).find_map(|count| {
                let (first, rest) = rest.split_at(count);
                let field = SynthField::parse(&first.join(" ")).ok()?;
                (!TYPES.contains(&field.name.as_str())).then_some((field, rest))
            });
            let Some((field, left)) = first else { return Err(error) };
            fields.push(field);
            rest = left;
        }
        Ok(fields)
    }

    fn parse(text: &str) -> Result<SynthField, DefError> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (ty, mut name) = text.rsplit_once(' ').ok_or_else(|| DefError::Field(text.clone()))?;
        // `char comm[16]` is `char[16] comm`.
        let mut ty = ty.to_owned();
        if let Some(open) = name.find('[') {
            if ty.contains('[') {
                return Err(DefError::Array(text.clone()));
            }
            ty.push_str(&name[open..]);
            name = &name[..open];
        }
        let ty = FieldType::parse(&ty)?;
        if !is_name(name) {
            return Err(DefError::FieldName(name.to_owned()));
        }
        Ok(SynthField { ty, name: name.to_owned() })
    }
}

impl FieldType {
    fn parse(text: &str) -> Result<FieldType, DefError> {
        let array = || DefError::Array(text.to_owned());
        match text.split_once('[') {
            Some(("char", length)) => match length.strip_suffix(']') {
                Some("") => Ok(FieldType::Text(None)),
                Some(n) => match n.trim().parse() {
                    Ok(n) if (1..=MAX_TEXT).contains(&n) => Ok(FieldType::Text(Some(n))),
                    _ => Err(array()),
                },
                None => Err(array()),
            },
            Some(("unsigned long", "]")) => Ok(FieldType::Stack { signed: false }),
            Some(("long", "]")) => Ok(FieldType::Stack { signed: true }),
            Some(_) => Err(array()),
            None if TYPES.contains(&text) => Ok(FieldType::Number(text.to_owned())),
            None => Err(DefError::Type(text.to_owned())),
        }
    }

    /// The type of a synthetic field that takes over `field` of another event: as libtracefs chooses it. `None` if no
    /// synthetic event can hold it.
    pub(super) fn of(field: &Field) -> Option<FieldType> {
        let kept = ["pid_t", "gfp_t", "bool"];
        if field.is_string() {
            return Some(FieldType::Text(if field.is_dynamic() { None } else { u32::try_from(field.size).ok() }));
        }
        if field.is_dynamic() && field.is_long() {
            return Some(FieldType::Stack { signed: !field.type_name.contains("unsigned") });
        }
        if kept.contains(&field.type_name.as_str()) {
            return Some(FieldType::Number(field.type_name.clone()));
        }
        if field.is_dynamic() {
            return None;
        }
        let name = match (field.size, field.is_signed()) {
            (1, true) => "char",
            (1, false) => "unsigned char",
            (2, true) => "s16",
            (2, false) => "u16",
            (4, true) => "s32",
            (4, false) => "u32",
            (8, true) => "s64",
            (8, false) => "u64",
            _ => return None,
        };
        Some(FieldType::Number(name.to_owned()))
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// True if an event or a field may be called so.
pub(super) fn valid_name(text: &str) -> bool {
    is_name(text)
}

impl Display for SynthDef {
    /// As the kernel prints it in `synthetic_events`, but for the tab after the name, which is a blank here.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, field) in self.fields.iter().enumerate() {
            write!(f, "{} {}", if at > 0 { ";" } else { "" }, field)?;
        }
        Ok(())
    }
}

impl Display for SynthField {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ty, self.name)
    }
}

impl Display for FieldType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FieldType::Number(name) => f.write_str(name),
            FieldType::Text(None) => f.write_str("char[]"),
            FieldType::Text(Some(n)) => write!(f, "char[{n}]"),
            FieldType::Stack { signed: true } => f.write_str("long[]"),
            FieldType::Stack { signed: false } => f.write_str("unsigned long[]"),
        }
    }
}

/// An error in the parts of a synthetic event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SynthError {
    /// Not a name.
    #[error("`{0}` is no name: letters, digits and `_`, no digit first")]
    Name(String),
    /// Two fields would have the same name.
    #[error("two fields are called `{0}`")]
    Duplicate(String),
    /// An event has no such field (libtracefs: ENODEV).
    #[error("{event} has no field `{field}`")]
    NoField {
        /// `system:event`
        event: String,
        /// The name.
        field: String,
        /// A name that is near, or a list of those there are.
        hint: String,
    },
    /// Two fields cannot be matched or calculated with each other (libtracefs: EBADE).
    #[error("`{start}` ({start_type}) and `{end}` ({end_type}) cannot be {what}: their types differ")]
    Types {
        /// Field of the start event.
        start: String,
        /// Type of the start field.
        start_type: String,
        /// Field of the end event.
        end: String,
        /// Type of the end field.
        end_type: String,
        /// "matched", "subtracted" or "added".
        what: &'static str,
    },
    /// A field that no synthetic event can hold (libtracefs: EINVAL).
    #[error("`{field}` ({ty}) is of a type that no synthetic event can hold")]
    Unsupported {
        /// The field.
        field: String,
        /// Type that was given.
        ty: String,
    },
    /// A filter that does not parse or does not fit its event.
    #[error("{0}")]
    Filter(Box<Diagnostic>),
    /// A timestamp against a field, or microseconds against nanoseconds.
    #[error("a timestamp can only be compared with a timestamp of the same unit")]
    Timestamp,
    /// The handler's variable is none of the event's fields (from the end event, or calculated).
    #[error("`{0}` is not a field that is calculated or comes from the end event")]
    Tracked(String),
    /// There is nothing to trace.
    #[error("the event has no fields: name the match, or add a field or a difference")]
    NoFields,
    /// More pairs of fields than a table has keys; the first that is too many.
    #[error("`{0}` is one field too many to match: a table of the kernel has at most 3 keys")]
    TooManyMatches(String),
    /// More values to distinguish than a table has keys; the first that is too many.
    #[error("`{0}` is one field too many to split by: a table of the kernel has at most 3 keys, one is the time")]
    TooManySplits(String),
    /// A text or a stack of an event that others follow before the last one.
    #[error("`{0}` is text or a stack: of a chain's events before the last it cannot be kept")]
    NotKept(String),
    /// A stack where this kernel keeps none.
    #[error("this kernel keeps no stack with an event")]
    StackUnsupported,
    /// More variables than a trigger may have.
    #[error("{0} variables are needed on one event: the kernel takes at most 16")]
    TooManyVariables(usize),
}
