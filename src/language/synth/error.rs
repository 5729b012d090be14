//! Why a synthetic event cannot be built.

use crate::base::syntax::Diagnostic;

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
