//! The first line.
//! `,"pid":1234,"comm":"bash"`, rendered once per task.

use super::Style;
use crate::base::sys::Tail;
use crate::base::text::{json, num};
use crate::base::units::Pid;
use crate::export::task_cache::TaskCache;
use crate::kernel::symbols::Comms;
use serde::Serialize;

/// The name of the schema, in the first line as `schema`.
pub const SCHEMA: &str = "rtrace.events";
/// The version of the schema, in the first line as `version`. It rises when a reader of the old one could be misled;
/// fields that are new do not count.
pub const VERSION: u32 = 1;

/// The first line of a JSON stream: what is needed to make sense of the others.
#[derive(Clone, Debug, Serialize)]
pub struct JsonHeader {
    /// The files, in the order given.
    pub sources: Vec<JsonSource>,
}

/// A trace file.
#[derive(Clone, Debug, Serialize)]
pub struct JsonSource {
    /// Its path, as given.
    pub file: String,
    /// The value of `source` in its lines, when there are several files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// `sysname nodename release machine` of the recorded machine, if the file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uname: Option<String>,
    /// Number of the machine's CPUs.
    pub cpus: u32,
    /// True of an unfinished recording, which lacks the latest events.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// Buffers of the file.
    pub buffers: Vec<JsonBufferInfo>,
}

/// A buffer of a file.
#[derive(Clone, Debug, Serialize)]
pub struct JsonBufferInfo {
    /// The instance's name, which its lines say as `buffer`; `null` for the top buffer, whose lines do not.
    pub name: Option<String>,
    /// The trace clock, if the file says.
    pub clock: Option<String>,
    /// The unit of `ts`: `ns`, or `ticks` with the clocks `counter`, `x86-tsc` and the like.
    pub unit: &'static str,
    /// A point of `ts` and of the wall clock, which is known to within an error; not there if nobody knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<JsonWall>,
    /// The CPUs that have data.
    pub cpus: Vec<u32>,
}

/// One point of time by both clocks.
#[derive(Clone, Debug, Serialize)]
pub struct JsonWall {
    /// As in the lines.
    pub ts: u64,
    /// Nanoseconds since 1970 (UTC).
    pub unix_ns: i64,
    /// Nanoseconds by which it may be wrong.
    pub error_ns: u64,
}

impl JsonHeader {
    /// Appends the line.
    pub fn write(&self, out: &mut Vec<u8>) {
        #[derive(Serialize)]
        struct Line<'a> {
            r#type: &'static str,
            schema: &'static str,
            version: u32,
            #[serde(flatten)]
            header: &'a JsonHeader,
        }
        let line = Line { r#type: "header", schema: SCHEMA, version: VERSION, header: self };
        serde_json::to_writer(&mut *out, &line).expect("writing plain data to memory cannot fail");
        out.push(b'\n');
    }
}

/// The pieces of the tasks seen last.
#[derive(Clone, Debug)]
pub(super) struct TaskPieces {
    /// The text before a pid, and before a name.
    keys: [Vec<u8>; 2],
    cache: TaskCache,
    /// Names learnt from a live trace, used instead of the recording's.
    live: Option<Comms>,
}

impl TaskPieces {
    pub(super) fn new(style: Style) -> Self {
        let keys = ["pid", "comm"].map(|name| style.key(name, false));
        TaskPieces { keys, cache: TaskCache::new(), live: None }
    }

    /// Forgets all, as names are of another file now.
    pub(super) fn clear(&mut self) {
        self.cache.clear();
    }

    /// Replaces the names by those of a live trace.
    pub(super) fn set_live(&mut self, comms: Comms) {
        self.live = Some(comms);
        self.clear();
    }

    /// Writes the piece of `pid`.
    #[inline(always)]
    pub(super) fn write<'a>(&mut self, pid: Pid, comms: &Comms, tail: Tail<'a>) -> Tail<'a> {
        let TaskPieces { keys: [before_pid, before_comm], cache, live } = self;
        cache.write(pid.0 as u64, tail, |out| {
            out.extend_from_slice(before_pid);
            num::signed(out, pid.0.into());
            out.extend_from_slice(before_comm);
            match live.as_ref().unwrap_or(comms).get(pid) {
                Some(comm) => json::string(out, comm),
                None => out.extend_from_slice(b"null"),
            }
        })
    }
}
