//! A word that may be completed to, and its meaning.

/// A completion.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) word: String,
    pub(super) meaning: String,
}

impl Candidate {
    pub(super) fn new(word: impl Into<String>, meaning: impl Into<String>) -> Self {
        Candidate { word: word.into(), meaning: meaning.into() }
    }
}
