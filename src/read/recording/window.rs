//! A part of the time.

use crate::base::units::Timestamp;

/// A part of the time, both ends included; open at an end that is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// First moment of the window.
    pub since: Option<Timestamp>,
    /// Last moment of the window.
    pub until: Option<Timestamp>,
}

impl Window {
    /// True if `time` is earlier than the window.
    #[inline]
    pub fn is_before(&self, time: Timestamp) -> bool {
        self.since.is_some_and(|since| time < since)
    }

    /// True if `time` is later than the window.
    #[inline]
    pub fn is_over(&self, time: Timestamp) -> bool {
        self.until.is_some_and(|until| time > until)
    }

    /// True if it is all the time there is.
    pub fn is_whole(&self) -> bool {
        *self == Window::default()
    }
}
