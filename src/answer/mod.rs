//! Answers from many events: analyses, assertions, comparisons.

pub mod analysis;
pub mod assertion;
pub mod comparison;
pub mod table;
