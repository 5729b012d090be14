//! JSON lines: one object per line, every field named and typed.
//!
//! ```json
//! {"type":"header","schema":"rtrace.events","version":1,"sources":[{"file":"trace.dat","cpus":2,"buffers":[...]}]}
//! {"type":"event","ts":1523404,"cpu":1,"pid":812,"comm":"sh","flags":1,"preempt_count":0,"event":"irq:irq_handler_exit","fields":{"irq":4,"ret":1}}
//! {"type":"lost","ts":1530201,"cpu":1,"count":211}
//! ```
//!
//! - `ts` counts nanoseconds as an integer (ticks with clocks that do; the header says which).
//! - Numbers are integers of up to 64 bits: readers that make floating point numbers of them lose the last digits
//!   beyond 2^53. Pointers are strings, `"0xffff888100a3c000"`; C's `bool` is `true` or `false`; arrays of numbers are
//!   arrays; CPU and node masks are arrays of the numbers that are set; structures are their bytes in hexadecimal.
//! - Text is a string, in which bytes that are not UTF-8 stand as `\xNN` ([`original_bytes`] gets them
//!   back). A field that does not lie within its record is `null`.
//! - `comm` is `null` where the recording does not know the task's name.
//! - `source` (several files) and `buffer` (instances) stand only where they are needed to tell lines apart.
//!
//! The same values are available without JSON's punctuation, as [`Style::Raw`] lines, text still quoted:
//!
//! ```text
//! 1523404 cpu=1 pid=812 comm="sh" flags=1 preempt_count=0 event=irq:irq_handler_exit irq=4 ret=1
//! 1530201 cpu=1 lost=211
//! ```
//!
//! [`schema`] gives the JSON Schema of the lines.

mod exporter;
mod kernel_names;
mod program;
mod schema;

pub use crate::base::text::json::original_bytes;
pub use exporter::{Json, JsonBuffer, JsonBufferInfo, JsonHeader, JsonSource, JsonWall, SCHEMA, VERSION};
pub(super) use kernel_names::{KernelName, addresses as kernel_addresses};
pub(super) use program::{JsonMembers, JsonValue, value as json_value};
pub use program::{JsonTypes, Style};
pub use schema::schema;
