//! What many events say: analyses, assertions, comparisons.

pub mod analysis;
pub mod assertion;
pub mod comparison;
