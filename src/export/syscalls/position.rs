//! The place of an argument among those of its call.

use super::machine::Dialect;
use super::signature::Signatures;

/// Place of an argument of one name among those of calls.
#[derive(Debug)]
pub struct ArgumentPositions {
    signatures: Signatures,
    argument: &'static str,
}

impl ArgumentPositions {
    /// Of the argument that the kernel's formats call `argument` (`fd`).
    pub fn new(argument: &'static str) -> Self {
        ArgumentPositions { signatures: Signatures::new(Dialect::Generic), argument }
    }

    /// Its position in the call `name`, from 0; `None` if the call has none, or is not known.
    pub fn of(&self, name: &str) -> Option<usize> {
        self.signatures.get(name)?.arguments.iter().position(|(name, _)| *name == self.argument)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_call_is_the_argument_of_that_name() {
        let positions = ArgumentPositions::new("fd");
        let of = ["read", "epoll_ctl", "mmap", "openat", "ftruncate64", "no_call"].map(|name| positions.of(name));
        assert_eq!(of, [Some(0), Some(2), Some(4), None, Some(0), None]);
    }
}
