//! A range of a text.

use std::fmt;
use std::ops::Deref;

/// A range of bytes of the text being parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte, counted from the start of the text.
    pub start: usize,
    /// One past the last byte; equal to `start` for a place between two bytes (the end of the text, say).
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to but not including `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end: end.max(start) }
    }

    /// The place before byte `at`.
    pub fn at(at: usize) -> Self {
        Span { start: at, end: at }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Self {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The text of the span; empty if `text` is not the text the span is of.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or("")
    }
}

/// A value and where it stood. Two are equal if their values are: a printed and re-parsed tree equals the first one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place in the text.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, which stood at `span`.
    pub fn new(value: T, span: Span) -> Self {
        Spanned { value, span }
    }

    /// Another value at the same place.
    pub fn with<U>(&self, value: U) -> Spanned<U> {
        Spanned { value, span: self.span }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Display> fmt::Display for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T> From<T> for Spanned<T> {
    /// A value that no text said: built by a program.
    fn from(value: T) -> Self {
        Spanned { value, span: Span::default() }
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}
