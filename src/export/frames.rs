//! Several files through one output: pieces, each with the name of the file whose next bytes it holds.
//!
//! ```text
//! u16 length of the name | u64 length of the piece | name | piece        (little endian)
//! ```

use std::io::{self, Write};

const HEAD: usize = size_of::<u16>() + size_of::<u64>();

/// Appends a piece of the file `name`.
pub(super) fn frame(out: &mut Vec<u8>, name: &str, piece: &[u8]) {
    let Ok(length) = u16::try_from(name.len()) else { return };
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(piece.len() as u64).to_le_bytes());
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(piece);
}

/// Takes the pieces apart again: an output that hands each one's bytes, as they come, to a function with the file's name.
pub struct Frames<F> {
    each: F,
    /// The head and the name, until both are whole.
    head: Vec<u8>,
    name: String,
    /// Bytes of the piece that are still to come.
    left: u64,
}

impl<F: FnMut(&str, &[u8]) -> io::Result<()>> Frames<F> {
    /// Hands the pieces to `each`.
    pub fn new(each: F) -> Self {
        Frames { each, head: Vec::new(), name: String::new(), left: 0 }
    }

    /// True between two pieces.
    pub fn is_whole(&self) -> bool {
        self.left == 0 && self.head.is_empty()
    }

    /// Takes bytes of the head; gives how many.
    fn head(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let wanted = match self.head.first_chunk() {
            Some(length) if self.head.len() >= HEAD => HEAD + usize::from(u16::from_le_bytes(*length)),
            _ => HEAD,
        };
        let taken = bytes.len().min(wanted - self.head.len());
        self.head.extend_from_slice(&bytes[..taken]);
        let (Some(length), Some(piece)) =
            (self.head.first_chunk(), self.head.get(2..).and_then(|rest| rest.first_chunk()))
        else {
            return Ok(taken);
        };
        if self.head.len() == HEAD + usize::from(u16::from_le_bytes(*length)) {
            self.left = u64::from_le_bytes(*piece);
            self.name = String::from_utf8_lossy(&self.head[HEAD..]).into_owned();
            self.head.clear();
            (self.each)(&self.name, &[])?;
        }
        Ok(taken)
    }
}

impl<F: FnMut(&str, &[u8]) -> io::Result<()>> Write for Frames<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return self.head(bytes);
        }
        let taken = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        (self.each)(&self.name, &bytes[..taken])?;
        self.left -= taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn pieces_come_back_whatever_the_writes_are() {
        let mut out = Vec::new();
        for (name, piece) in [("a", "one"), ("b", ""), ("a", "two"), ("long name", "three")] {
            frame(&mut out, name, piece.as_bytes());
        }
        for size in 1..out.len() {
            let mut files = BTreeMap::new();
            let mut frames = Frames::new(|name: &str, bytes: &[u8]| {
                files.entry(name.to_owned()).or_insert_with(Vec::new).extend_from_slice(bytes);
                Ok(())
            });
            out.chunks(size).for_each(|chunk| frames.write_all(chunk).expect("memory"));
            assert!(frames.is_whole());
            let files: Vec<_> =
                files.into_iter().map(|(name, text)| (name, String::from_utf8(text).unwrap())).collect();
            assert_eq!(files, [("a", "onetwo"), ("b", ""), ("long name", "three")].map(|(a, b)| (a.into(), b.into())));
        }
    }
}
