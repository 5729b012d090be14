//! The parameters of functions, with what is needed to show their values.

use crate::kernel::btf::{Function, Int, TypeKind};

/// The layout of a function's arguments.
#[derive(Clone, Debug)]
pub(crate) struct FunctionArguments {
    pub(crate) list: Vec<FunctionArgument>,
}

#[derive(Clone, Debug)]
pub(crate) struct FunctionArgument {
    pub(crate) name: Box<str>,
    pub(crate) is: Passed,
}

/// The way an argument is passed, as far as it shows.
#[derive(Clone, Debug)]
pub(crate) enum Passed {
    Pointer,
    Int(Int),
    /// With the names of its values.
    Enum(Box<[(i32, Box<str>)]>),
    /// The type of `...`: none.
    Rest,
    /// A type that is not known.
    Unknown,
    /// Anything else: what it is called, and its size in bytes.
    Other(&'static str, u32),
}

impl FunctionArguments {
    pub(super) fn of(function: Function<'_>) -> Self {
        let argument = |p: crate::kernel::btf::Parameter<'_>| {
            let resolved = p.of().resolved();
            let is = match resolved.kind() {
                TypeKind::Void if p.of().id() == 0 => Passed::Rest,
                TypeKind::Void => Passed::Unknown,
                TypeKind::Pointer => Passed::Pointer,
                TypeKind::Int(int) => Passed::Int(int),
                TypeKind::Enum { .. } => {
                    Passed::Enum(resolved.enumerators().map(|(name, value)| (value as i32, name.into())).collect())
                }
                kind => Passed::Other(kind.word(), resolved.size().unwrap_or(0)),
            };
            FunctionArgument { name: p.name().into(), is }
        };
        FunctionArguments { list: function.parameters().map(argument).collect() }
    }
}
