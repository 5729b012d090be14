//! Errors in a hist trigger, with their place.

use crate::base::syntax::{Diagnostic, Span};

/// An error with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SpecError {
    /// The error.
    pub kind: SpecErrorKind,
    /// Its place in the text.
    pub span: Span,
    /// A way out, if one is known.
    pub hint: Option<String>,
}

/// An error in a hist trigger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecErrorKind {
    /// The text does not start with `hist:`.
    #[error("a hist trigger starts with `hist:`")]
    NotHist,
    /// No `keys=` part.
    #[error("no keys: a hist trigger needs `keys=FIELD[,FIELD..]`")]
    NoKeys,
    /// A part that may stand once stands twice; the kernel would silently keep the last.
    #[error("`{0}` is given twice")]
    Twice(&'static str),
    /// Nothing between two separators or after `=`.
    #[error("empty {0}")]
    Empty(&'static str),
    /// A part that is neither `x=y`, a word of the language nor an action.
    #[error("unknown part `{0}`")]
    UnknownPart(String),
    /// A name with characters that no name has.
    #[error("`{0}` is no name")]
    BadName(String),
    /// A number that is none, or does not fit.
    #[error("`{0}` is no number")]
    BadNumber(String),
    /// An unknown word after a field's dot.
    #[error("unknown modifier `.{0}`")]
    UnknownModifier(String),
    /// `.buckets` without a size, or of size 0.
    #[error("`.buckets` needs a size of at least 1: `.buckets=10`")]
    BadBuckets,
    /// A sort modifier that is not `.ascending` or `.descending`.
    #[error("unknown sort direction `.{0}`")]
    BadSortModifier(String),
    /// Something like `a+` or `+a`.
    #[error("an operand is missing")]
    MissingOperand,
    /// `-` that is not the outermost `-(...)`, or parentheses elsewhere.
    #[error("parentheses and a sign are only possible around the whole: `-(a+b)`")]
    Parentheses,
    /// A handler without `)` or without an action.
    #[error("malformed action: expected `HANDLER(...).ACTION(...)`")]
    MalformedAction,
    /// A word before `(` that is no handler.
    #[error("unknown handler `{0}`")]
    UnknownHandler(String),
    /// `onmax(x)` where x has no `$`.
    #[error("{0}() takes a variable: `{0}($name)`")]
    NotAVariable(&'static str),
    /// Several words of pause, cont and clear.
    #[error("only one of pause, cont and clear is possible")]
    Contradiction,
    /// A filter that is empty.
    #[error("no filter after `if`")]
    EmptyFilter,
    /// A character that would end the command early.
    #[error("a trigger is one line")]
    Newline,

    // Errors that only a check against the event and the kernel finds.
    /// More of something than the kernel takes.
    #[error("{found} {what}: the kernel takes at most {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// Number found.
        found: usize,
        /// Greatest number allowed.
        limit: usize,
    },
    /// The event has no such field.
    #[error("{event} has no field `{field}`")]
    UnknownField {
        /// `system:event`.
        event: String,
        /// The name searched for.
        field: String,
    },
    /// A field whose content the kernel cannot put in a table.
    #[error("field `{0}` is an array of numbers, which cannot be used here")]
    ArrayField(String),
    /// A modifier that does not go with this field or place.
    #[error("`.{modifier}` cannot be used {place}")]
    ModifierPlace {
        /// The modifier as written.
        modifier: String,
        /// Place of use: "on a value", "on a key", "on `next_pid`".
        place: String,
    },
    /// A variable in a key.
    #[error("a key cannot be a variable")]
    VariableKey,
    /// A variable is defined twice.
    #[error("variable `{0}` is already defined")]
    DuplicateVariable(String),
    /// A variable is used that is not defined.
    #[error("no variable `${0}`")]
    UnknownVariable(String),
    /// A variable name is defined by more than one event.
    #[error("variable `${0}` is defined by several events: {1}")]
    AmbiguousVariable(String, String),
    /// A text in arithmetic.
    #[error("`{0}` is text, which cannot be calculated with")]
    TextOperand(String),
    /// A variable of the same trigger that is calculated, in an expression.
    #[error("`${0}` is calculated in this same trigger, and later than this")]
    SameStage(String),
    /// A histogram of that name, on another event, with another table.
    #[error("the histogram `{name}` of {differs}: histograms of one name share a table")]
    NamedDiffers {
        /// The name.
        name: String,
        /// `EVENT has THIS, this one THAT`.
        differs: String,
    },
    /// A clock that this kernel does not have.
    #[error("no trace clock `{0}`")]
    UnknownClock(String),
    /// A variable of the same trigger that is a number, in an expression.
    #[error("`${0}` is a number of this same trigger, which the kernel does not read back in an expression")]
    OwnNumber(String),
    /// Microseconds and nanoseconds in one expression.
    #[error("timestamps in one expression must have the same unit: all with or all without `.usecs`")]
    MixedUnits,
    /// `/0`
    #[error("division by zero")]
    DivisionByZero,
    /// A sort field that is no key and no value.
    #[error("cannot sort by `{0}`, which is neither a key nor a value")]
    UnknownSort(String),
    /// A size out of range.
    #[error("size {0} is out of range: 65 to 131072")]
    SizeRange(u64),
    /// nohitcount and nothing else to show.
    #[error("`nohitcount` needs at least one value that is not the plain hitcount")]
    NothingToShow,
    /// An action that does not go with its handler.
    #[error("{action}() needs onmax or onchange")]
    HandlerAction {
        /// `save` or `snapshot`.
        action: &'static str,
    },
    /// The kernel refuses names of one character as arguments.
    #[error("the kernel takes no argument of a single character: `{0}`")]
    ShortArgument(String),
    /// save() without fields, or twice.
    #[error("{0}")]
    Save(&'static str),
    /// The event of onmatch() does not exist.
    #[error("no event {0}")]
    UnknownEvent(String),
    /// The synthetic event of trace() does not exist.
    #[error("no synthetic event `{0}`")]
    UnknownSynthetic(String),
    /// A different number of arguments and fields.
    #[error("{event} has {fields} fields, but {args} arguments are given")]
    ArgumentCount {
        /// The synthetic event.
        event: String,
        /// Its number of fields.
        fields: usize,
        /// The number of arguments.
        args: usize,
    },
    /// The filter does not parse, or does not fit the event.
    #[error("{0}")]
    Filter(String),
    /// This kernel is too old for it.
    #[error("this kernel knows no `{0}`")]
    NotInThisKernel(&'static str),
}

impl SpecError {
    pub(super) fn new(kind: SpecErrorKind, span: Span) -> Self {
        SpecError { kind, span, hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl SpecError {
    /// The error with the text it is about, for showing.
    pub fn diagnostic(&self, text: &str) -> Diagnostic {
        Diagnostic::new("trigger", text, self.span, self.kind.to_string()).hint_opt(self.hint.clone())
    }
}
