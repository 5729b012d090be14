//! The two filter languages: the kernel's, and that of `trace-cmd report -F`.
//!
//! # The kernel's
//! [`Filter::parse`] reads what goes into an event's `filter` file, [`Filter::check`] holds it against the event's
//! format, `Display` prints what the kernel takes. [`Filter::compile`] makes a [`FilterProgram`] that decides over recorded
//! events as the kernel would have (`kernel/trace/trace_events_filter.c`).
//!
//! # trace-cmd's
//! [`ReportFilter::parse`] reads one `-F 'sys/event, ...: expr'`; [`ReportFilters::compile`] holds all of them
//! against the formats of a file. Both fail before the first event is read.
//!
//! # Per event
//! ```
//! # use rtrace::{abi::Abi, format::EventFormat, units::CpuId};
//! use rtrace::filter::{ReportFilter, ReportFilters, Sign, Subject};
//! # let text = "name: e\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
//! #     \tfield:int pid;\toffset:4;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
//! # let format = EventFormat::parse("s", text).unwrap();
//! # let data = [7u8, 0, 0, 0, 42, 0, 0, 0];
//! let options = [(ReportFilter::parse("s/e: pid == 42")?, Sign::Keep)];
//! let filters = ReportFilters::compile(&options, [&format], Abi::HOST)?;
//! let subject = Subject { data: &data, cpu: CpuId(0), comm: b"bash", names: &() };
//! assert!(filters.matches(format.id, &subject));
//! # Ok::<(), rtrace::syntax::Diagnostic>(())
//! ```
//! Nothing is allocated or looked up by name per event; `comm` is only looked at if [`ReportFilters::needs_comm`].

mod ast;
mod check;
mod event_filter;
mod number_forms;
mod parse;
mod pattern;
mod report;
mod test;

pub use crate::kernel::symbols::{AddressNames, FunctionAddresses};
pub use ast::{CompareOp, FieldModifier, FilterExpr, FilterValue, Predicate};
pub use check::with_numbers;
pub use event_filter::{EventFilter, Filter};
pub use number_forms::{CpuList, CpuListError, device_hint};
pub use report::{ReportFilter, ReportFilters, Sign};
pub use test::{FilterProgram, Subject};
