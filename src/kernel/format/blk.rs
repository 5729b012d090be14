//! The format of the blk tracer's events, for which the kernel has no format file.

use super::EventFormat;
use crate::base::units::EventId;

/// The fields of `struct blk_io_trace` (include/uapi/linux/blktrace_api.h); its first eight bytes are the common fields.
const FIRST: &str = "name: blktrace
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

/// The same of `struct blk_io_trace2`, with an action of 64 bits (seen in Linux 7.3, not in 6.18).
const SECOND: &str = "name: blktrace
ID: 0
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:u64 sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:u32 bytes;\toffset:24;\tsize:4;\tsigned:0;
\tfield:u32 pid;\toffset:28;\tsize:4;\tsigned:0;
\tfield:u64 action;\toffset:32;\tsize:8;\tsigned:0;
\tfield:u32 device;\toffset:40;\tsize:4;\tsigned:0;
\tfield:u32 cpu;\toffset:44;\tsize:4;\tsigned:0;
\tfield:u16 error;\toffset:48;\tsize:2;\tsigned:0;
\tfield:u16 pdu_len;\toffset:50;\tsize:2;\tsigned:0;
\tfield:void data;\toffset:64;\tsize:0;\tsigned:0;

print fmt: \"%d\", REC->pid
";

/// The event's format in the kernel with these other formats, of which `uname` is `sysname nodename release machine`; `None`
/// if it has no such event. Its number is that after the event which stands before it in `enum trace_type`
/// (kernel/trace/trace.h): `power`, `kmem_free` or `user_stack`, by the kernel's age.
pub fn blk_format<'f>(formats: impl Iterator<Item = &'f EventFormat> + Clone, uname: &str) -> Option<EventFormat> {
    let before = ["power", "kmem_free", "user_stack"]
        .iter()
        .find_map(|name| formats.clone().find(|f| f.system == "ftrace" && f.name == *name))?;
    let id = EventId(before.id.0.checked_add(1)?);
    let free = formats.clone().all(|f| f.id != id);
    let text = if is_since(uname, (6, 19)) { SECOND } else { FIRST };
    let mut format = EventFormat::parse("ftrace", text).ok().filter(|_| free)?;
    format.id = id;
    Some(format)
}

/// True of Linux `version` (major and minor number) and later; false if `uname`, which is `sysname nodename release
/// machine`, tells no release.
pub fn is_since(uname: &str, version: (u32, u32)) -> bool {
    let release = uname.split_whitespace().nth(2).unwrap_or_default();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse::<u32>().ok());
    matches!((numbers.next(), numbers.next()), (Some(major), Some(minor)) if (major, minor) >= version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_user_stack() {
        let mut user_stack = EventFormat::parse("ftrace", FIRST).unwrap();
        user_stack.name = "user_stack".into();
        user_stack.id = EventId(12);
        let blk = blk_format([&user_stack].into_iter(), "").unwrap();
        assert_eq!((blk.name.as_str(), blk.id), ("blktrace", EventId(13)));
        let mut taken = user_stack.clone();
        taken.id = EventId(13);
        assert_eq!(blk_format([&user_stack, &taken].into_iter(), ""), None);
    }

    #[test]
    fn the_action_has_grown() {
        let mut user_stack = EventFormat::parse("ftrace", FIRST).unwrap();
        user_stack.name = "user_stack".into();
        for (release, size) in [("6.1.0-1", 4), ("6.18.5", 4), ("6.19-rc1", 8), ("7.0", 8), ("", 4)] {
            let blk = blk_format([&user_stack].into_iter(), &format!("Linux vm {release} x86_64")).unwrap();
            assert_eq!(blk.fields.iter().find(|f| f.name == "action").unwrap().size, size, "{release}");
        }
    }
}
