//! trace-cmd's filter language: `report -F 'sys/event, ...: expr'`.
//!
//! As libtraceevent does it (`parse-filter.c`), which differs from the kernel in much:
//!
//! - an event is named by `system/event`, or by one word that may be either; each is an anchored, case-insensitive
//!   POSIX basic regular expression; without `: expr` the events are simply chosen;
//! - `&&` and `||` bind equally and from the left: `a || b && c` is `(a || b) && c`;
//! - every number is compared as unsigned 64 bits (signed fields are sign-extended first);
//! - a comparison with a field that the event does not have is false, not an error;
//! - `=~` and `!~` match a case-insensitive basic regular expression anywhere in the text;
//! - text compared with a pointer or `long` is compared with the function it points into, else with its `0x` digits.
//!
//! More than libtraceevent takes: arithmetic on both sides of a comparison without parentheses around the rest.

mod parse;
mod posix;
mod resolve;

pub use parse::ReportFilter;
pub use resolve::{ReportFilters, Sign};
