//! A recording's answers as one page for a browser: HTML with its style and script in it, which asks for no other file.

mod document;

pub use document::{PageTimeline, PageWait, RecordingPage};
