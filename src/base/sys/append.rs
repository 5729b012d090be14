//! Stores of constant size after the end of a vector.

/// Appends the first `len` bytes of `piece` by storing all of it. The safe forms (`extend_from_slice`, `extend` by value)
/// are instantiated out of line for any length, as calls of `memcpy`, which cost more than the few bytes they move.
#[inline(always)]
pub(crate) fn append_piece<const N: usize>(out: &mut Vec<u8>, piece: &[u8; N], len: usize) {
    let old = out.len();
    if out.capacity() - old < N {
        out.reserve(N);
    }
    // SAFETY: there is room for N bytes after the `old` that are there. All N are written before the length
    // says that at most N of them belong to the vector.
    unsafe {
        out.as_mut_ptr().add(old).cast::<[u8; N]>().write_unaligned(*piece);
        out.set_len(old + len.min(N));
    }
}

/// Room after a vector's end that pieces of text are stored to. Where the next one goes is kept here rather than in the
/// vector, so that it can stay in a register from piece to piece; each call consumes the value and gives it back for
/// that reason. Stored bytes belong to the vector after [`Tail::done`].
#[must_use = "what was written is lost without `done`"]
pub(crate) struct Tail<'a> {
    out: &'a mut Vec<u8>,
    /// Between the vector's end and the end of its capacity, after what was stored.
    at: *mut u8,
    /// The address up to which `at` has room for any piece after it: with the pieces' own sizes each would be subtracted
    /// from the end again.
    last: usize,
}

/// The size of the largest piece, in bytes.
const LARGEST: usize = 64;

impl<'a> Tail<'a> {
    #[inline(always)]
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        let room = out.spare_capacity_mut().as_mut_ptr_range();
        Tail { at: room.start.cast(), last: room.end.addr().saturating_sub(LARGEST), out }
    }

    /// Appends the first `len` bytes of `piece` by storing all of it.
    #[inline(always)]
    pub(crate) fn piece<const N: usize>(self, piece: &[u8; N], len: usize) -> Self {
        const { assert!(N <= LARGEST) };
        let Tail { out, mut at, mut last } = self;
        if at.addr() > last {
            (at, last) = room_for(out, at);
        }
        // SAFETY: there are at least LARGEST bytes of the vector's capacity after `at`: that is what was checked, and
        // what `room_for` ensures. All N are written, so that the at most N by which `at` moves are initialised.
        unsafe {
            at.cast::<[u8; N]>().write_unaligned(*piece);
            Tail { out, at: at.add(len.min(N)), last }
        }
    }

    /// Appends to the vector itself.
    #[inline(always)]
    pub(crate) fn with(self, append: impl FnOnce(&mut Vec<u8>)) -> Self {
        let out = self.done();
        append(out);
        Tail::new(out)
    }

    /// The vector, with all that was appended.
    #[inline(always)]
    pub(crate) fn done(self) -> &'a mut Vec<u8> {
        let Tail { out, at, .. } = self;
        let len = at.addr() - out.as_ptr().addr();
        // SAFETY: `at` lies between the vector's old end and the end of its capacity, and every byte before it has been
        // written by `piece`.
        unsafe { out.set_len(len) };
        out
    }
}

/// Makes room for any piece after the vector and what a [`Tail`] has stored before `at`; gives the new place, and up to
/// where there is room. It takes and gives single words: a `Tail` that is passed on as a whole has to be in memory, all
/// along.
#[cold]
#[inline(never)]
fn room_for(out: &mut Vec<u8>, at: *mut u8) -> (*mut u8, usize) {
    let Tail { at, last, .. } = {
        let out = Tail { out, at, last: 0 }.done();
        out.reserve(LARGEST);
        Tail::new(out)
    };
    (at, last)
}
