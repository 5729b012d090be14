//! Why a `print fmt` text could not become a program.

/// A `print fmt` text that does not compile; the offsets count bytes from after `print fmt: `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrintFmtError {
    /// The text is not C as print formats use it.
    #[error("byte {offset}: expected {expected}, found `{found}`")]
    Syntax {
        /// Offset in the text, in bytes.
        offset: usize,
        /// The token that was expected.
        expected: &'static str,
        /// The token that was there; empty at the end of the text.
        found: String,
    },
    /// A string or a character constant without its closing quote.
    #[error("byte {offset}: unterminated quote")]
    Unterminated {
        /// Offset of the opening quote, in bytes.
        offset: usize,
    },
    /// Expressions nested deeper than any kernel nests them.
    #[error("byte {offset}: nested too deeply")]
    TooDeep {
        /// Offset at which the limit was reached, in bytes.
        offset: usize,
    },
    /// The program would be larger than any kernel's print format needs.
    #[error("expands to too large a program")]
    TooLarge,
    /// `REC->name` names no field of the event.
    #[error("no field `{0}`")]
    UnknownField(String),
    /// A function whose result cannot be known from a record.
    #[error("unknown function `{0}`")]
    UnknownFunction(String),
    /// An enumerator or a kernel variable whose value neither the recording nor its types tell.
    #[error("no value is known for `{0}`")]
    UnknownName(String),
    /// A type in `sizeof` that only the kernel's source has.
    #[error("no size is known for `{0}`")]
    UnknownType(String),
    /// A function called with arguments it does not take.
    #[error("wrong arguments for `{0}`")]
    BadArguments(String),
    /// Fewer arguments than conversions.
    #[error("no argument for conversion {0}")]
    MissingArgument(usize),
    /// A statement expression that does more than name values.
    #[error("statement expression")]
    Statements,
    /// An expression that has no value of the kind its conversion needs.
    #[error("argument {0} does not fit its conversion")]
    Unfit(usize),
}
