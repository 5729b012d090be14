//! A part of the text that knows where it stands in the whole.

use crate::base::syntax::{Span, Spanned};

#[derive(Clone, Copy, Debug)]
pub(super) struct SpecPiece<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl<'a> SpecPiece<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        SpecPiece { text, start: 0 }
    }

    pub(super) fn span(&self) -> Span {
        Span::new(self.start, self.start + self.text.len())
    }

    /// The part from byte `from` to byte `to`, which must be boundaries of characters within the text.
    pub(super) fn slice(&self, from: usize, to: usize) -> SpecPiece<'a> {
        SpecPiece { text: &self.text[from..to], start: self.start + from }
    }

    pub(super) fn from(&self, from: usize) -> SpecPiece<'a> {
        self.slice(from, self.text.len())
    }

    /// The text before and after the first `separator`.
    pub(super) fn split_once(&self, separator: char) -> Option<(SpecPiece<'a>, SpecPiece<'a>)> {
        let at = self.text.find(separator)?;
        Some((self.slice(0, at), self.from(at + separator.len_utf8())))
    }

    /// Like `str::split`.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = SpecPiece<'a>> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let piece = rest?;
            match piece.split_once(separator) {
                Some((head, tail)) => {
                    rest = Some(tail);
                    Some(head)
                }
                None => rest.take(),
            }
        })
    }

    pub(super) fn strip_prefix(&self, prefix: &str) -> Option<SpecPiece<'a>> {
        self.text.starts_with(prefix).then(|| self.from(prefix.len()))
    }

    pub(super) fn trim(&self) -> SpecPiece<'a> {
        let head = self.text.len() - self.text.trim_start().len();
        self.slice(head, head + self.text.trim().len())
    }

    pub(super) fn owned(&self) -> Spanned<String> {
        Spanned::new(self.text.to_owned(), self.span())
    }
}
