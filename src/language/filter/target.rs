//! The meaning of a field name to the kernel's filter.

use crate::kernel::format::{EventFormat, Field, Shape};

/// A field as `filter_assign_type` and `trace_find_event_field` (kernel) see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedTarget {
    pub(super) kind: TargetKind,
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) signed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// `char name[16]`
    FixedText,
    /// `__data_loc char[] name`
    DataLocText,
    /// `__rel_loc char[] name`
    RelLocText,
    /// `char *` or `const char *`: the record holds only the address.
    PointerText,
    /// `__data_loc cpumask_t name`
    CpuMask,
    /// The CPU the event happened on.
    Cpu,
    /// The name of the task it happened in.
    Comm,
    /// A number, if its size is 1, 2, 4 or 8 bytes; else nothing the kernel can compare.
    Number,
}

impl TargetKind {
    pub(super) fn is_text(self) -> bool {
        matches!(
            self,
            TargetKind::FixedText
                | TargetKind::DataLocText
                | TargetKind::RelLocText
                | TargetKind::PointerText
                | TargetKind::Comm
        )
    }
}

/// The event's own fields go first, then the words every event understands, then the common fields.
pub(super) fn find(format: &EventFormat, name: &str) -> Option<NamedTarget> {
    let of = |field: &Field| NamedTarget {
        kind: kind(field),
        offset: field.offset,
        size: field.size,
        signed: field.is_signed(),
    };
    if let Some(field) = format.fields.iter().find(|field| field.name == name) {
        return Some(of(field));
    }
    match name {
        "CPU" | "cpu" => Some(NamedTarget { kind: TargetKind::Cpu, offset: 0, size: 4, signed: true }),
        "COMM" | "comm" => Some(NamedTarget { kind: TargetKind::Comm, offset: 0, size: 16, signed: false }),
        _ => format.common.iter().find(|field| field.name == name).map(of),
    }
}

fn kind(field: &Field) -> TargetKind {
    let ty = field.type_name.as_str();
    let text = ty.contains("char");
    match field.shape {
        _ if ty.contains("cpumask_t") && field.is_dynamic() => TargetKind::CpuMask,
        Shape::DataLoc { .. } if text => TargetKind::DataLocText,
        Shape::RelLoc { .. } if text => TargetKind::RelLocText,
        Shape::Array { .. } if text => TargetKind::FixedText,
        Shape::Scalar if ty == "char *" || ty == "const char *" => TargetKind::PointerText,
        _ => TargetKind::Number,
    }
}

/// Every name a filter of this event may use.
pub(super) fn names(format: &EventFormat) -> impl Iterator<Item = &str> {
    let own = format.fields.iter().chain(format.common.iter()).map(|field| field.name.as_str());
    own.chain(["CPU", "COMM"])
}
