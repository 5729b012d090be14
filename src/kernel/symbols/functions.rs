//! Parameters of the recorded kernel's functions, out of its BTF.

use super::arguments::FunctionArguments;
use crate::base::lazy::LazyBytes;
use crate::kernel::btf::{Btf, Error};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{OnceLock, PoisonError, RwLock};

/// The kernel's functions by name. The BTF is parsed when the first function is asked for.
#[derive(Debug, Default)]
pub struct KernelFunctions {
    btf: LazyBytes,
    parsed: OnceLock<Result<Btf, Error>>,
    /// Results of lookups so far, by the function's address and whether copies of the compiler's were to be found.
    known: RwLock<HashMap<(u64, bool), Option<FunctionArguments>>>,
}

impl Clone for KernelFunctions {
    fn clone(&self) -> Self {
        KernelFunctions::new(self.btf.clone())
    }
}

impl KernelFunctions {
    /// The functions of a kernel's BTF; empty without one.
    pub fn new(btf: impl Into<LazyBytes>) -> Self {
        KernelFunctions { btf: btf.into(), ..KernelFunctions::default() }
    }

    /// The error in the BTF, if a function was asked for and it could not be understood.
    pub fn error(&self) -> Option<Error> {
        let error = self.parsed.get()?.as_ref().err().copied();
        error.filter(|_| self.btf.get().is_ok_and(|bytes| !bytes.is_empty()))
    }

    /// Gives `show` the arguments of the function at `address` called `name`; `None` if nothing is known of it. With
    /// `copies`, a compiler's copy (`vfs_read.isra.0`) is taken for the function that it is of.
    pub(crate) fn arguments<R>(
        &self,
        (address, name): (u64, &[u8]),
        copies: bool,
        show: impl FnOnce(Option<&FunctionArguments>) -> R,
    ) -> R {
        let key = (address, copies);
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&key) {
            return show(found.as_ref());
        }
        drop(known);
        let found = self.find(name, copies);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let found = match known.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(found),
        };
        show(found.as_ref())
    }

    #[cold]
    fn find(&self, name: &[u8], copies: bool) -> Option<FunctionArguments> {
        let btf = self.parsed.get_or_init(|| Btf::parse(self.btf.get().unwrap_or_default().to_vec())).as_ref().ok()?;
        let name = std::str::from_utf8(name).ok()?;
        let function = if copies { btf.function(name) } else { btf.function_named(name) };
        function.map(FunctionArguments::of)
    }
}
