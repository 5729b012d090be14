//! The blk tracer's events, which have no format file.

use crate::base::units::EventId;
use crate::kernel::format::EventFormat;

/// The fields of `struct blk_io_trace` (include/uapi/linux/blktrace_api.h); its first eight bytes are the common fields.
const FORMAT: &str = "name: blktrace
ID: 0
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:u64 sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:u32 bytes;\toffset:24;\tsize:4;\tsigned:0;
\tfield:u32 action;\toffset:28;\tsize:4;\tsigned:0;
\tfield:u32 pid;\toffset:32;\tsize:4;\tsigned:0;
\tfield:u32 device;\toffset:36;\tsize:4;\tsigned:0;
\tfield:u32 cpu;\toffset:40;\tsize:4;\tsigned:0;
\tfield:u16 error;\toffset:44;\tsize:2;\tsigned:0;
\tfield:u16 pdu_len;\toffset:46;\tsize:2;\tsigned:0;
\tfield:void data;\toffset:48;\tsize:0;\tsigned:0;

print fmt: \"%d\", REC->pid
";

/// The event's format. It has the number after that of the event which stands before it in `enum trace_type`
/// (kernel/trace/trace.h): `power`, `kmem_free` or `user_stack`, by the kernel's age.
pub(super) fn format<'f>(formats: impl Iterator<Item = &'f EventFormat> + Clone) -> Option<EventFormat> {
    let before = ["power", "kmem_free", "user_stack"]
        .iter()
        .find_map(|name| formats.clone().find(|f| f.system == "ftrace" && f.name == *name))?;
    let id = EventId(before.id.0.checked_add(1)?);
    let free = formats.clone().all(|f| f.id != id);
    let mut format = EventFormat::parse("ftrace", FORMAT).ok().filter(|_| free)?;
    format.id = id;
    Some(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_user_stack() {
        let mut user_stack = EventFormat::parse("ftrace", FORMAT).unwrap();
        user_stack.name = "user_stack".into();
        user_stack.id = EventId(12);
        let blk = format([&user_stack].into_iter()).unwrap();
        assert_eq!((blk.name.as_str(), blk.id), ("blktrace", EventId(13)));
        let mut taken = user_stack.clone();
        taken.id = EventId(13);
        assert_eq!(format([&user_stack, &taken].into_iter()), None);
    }
}
