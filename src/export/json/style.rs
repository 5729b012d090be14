//! The two layouts that share one program: JSON, and plain `name=value` lists.

use crate::base::text::json;

/// The layout of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// `{"type":"event","ts":1,...,"fields":{"a":1}}`
    #[default]
    Json,
    /// `1 cpu=0 pid=12 comm="sh" flags=0 preempt_count=0 event=sys:name a=1`: the same values, less around them.
    Raw,
}

impl Style {
    /// The text before the time stamp of an event, or of lost events.
    pub(super) fn start(self, kind: &str) -> Vec<u8> {
        match self {
            Style::Json => format!("{{\"type\":\"{kind}\",\"ts\":").into_bytes(),
            Style::Raw => Vec::new(),
        }
    }

    /// A name, up to its value. `first` is the first of a list.
    pub(super) fn key(self, name: &str, first: bool) -> Vec<u8> {
        let mut key = Vec::new();
        match self {
            Style::Json => {
                if !first {
                    key.push(b',');
                }
                json::string(&mut key, name.as_bytes());
                key.push(b':');
            }
            Style::Raw => key.extend_from_slice(format!(" {name}=").as_bytes()),
        }
        key
    }

    /// The event's name, up to its first field.
    pub(super) fn event(self, system: &str, name: &str) -> Vec<u8> {
        let full = format!("{system}:{name}");
        let mut piece = self.key("event", false);
        match self {
            Style::Json => {
                json::string(&mut piece, full.as_bytes());
                piece.extend_from_slice(b",\"fields\":{");
            }
            Style::Raw => piece.extend_from_slice(full.as_bytes()),
        }
        piece
    }

    /// The end of an event's line.
    pub(super) fn close(self) -> &'static [u8] {
        match self {
            Style::Json => b"}}\n",
            Style::Raw => b"\n",
        }
    }

    /// The end of any other line.
    pub(super) fn end(self) -> &'static [u8] {
        match self {
            Style::Json => b"}\n",
            Style::Raw => b"\n",
        }
    }
}
