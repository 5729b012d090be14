//! trace-cmd's layout for the buffers of several recordings.

use super::{Exporter, Text};
use crate::kernel::event::{Consumed, NameFix, PrintState, Record};
use crate::kernel::symbols::Comms;
use crate::read::merge::ahead::Commit;

/// Lines of several buffers in trace-cmd's layout. Names are learnt per recording.
pub struct TextLines<'a> {
    head: Vec<u8>,
    /// By [`Record::buffer`].
    buffers: Vec<(usize, Text<'a>)>,
    /// The task names of each recording.
    comms: Vec<&'a Comms>,
}

impl<'a> TextLines<'a> {
    /// For records whose [`Record::buffer`] is an index into `buffers`: each the number of its recording and its layout.
    /// `comms` are the task names of the recordings; `head` stands before all lines.
    pub fn new(head: Vec<u8>, buffers: Vec<(usize, Text<'a>)>, comms: Vec<&'a Comms>) -> Self {
        TextLines { head, buffers, comms }
    }

    /// The recording and the layout of a buffer's lines.
    pub(super) fn layout(&self, buffer: usize) -> (usize, &Text<'a>) {
        let (recording, text) = &self.buffers[buffer];
        (*recording, text)
    }
}

impl Exporter for TextLines<'_> {
    /// By recording.
    type State = Vec<PrintState>;

    fn state(&self) -> Vec<PrintState> {
        self.comms.iter().map(|comms| PrintState::new((*comms).clone())).collect()
    }

    fn begin(&self, _: &mut Vec<PrintState>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
    }

    #[inline]
    fn event<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        states: &mut Vec<PrintState>,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let (recording, text) = &self.buffers[record.buffer];
        text.event(record, next, &mut states[*recording], out)
    }

    fn fork(&self, known: &Vec<PrintState>, used: Option<Vec<PrintState>>) -> Vec<PrintState> {
        let mut used = used.into_iter().flatten();
        known.iter().map(|known| known.fork(used.next())).collect()
    }

    fn commit(&self, known: &mut Vec<PrintState>, done: &mut Vec<PrintState>, out: &mut Vec<u8>) -> Commit {
        if done.iter().any(PrintState::needs_order) {
            return Commit::Serialize;
        }
        let mut fixes: Vec<NameFix> = known.iter_mut().zip(&*done).flat_map(|(k, d)| k.join(d)).collect();
        if let (Some((_, text)), false) = (self.buffers.first(), fixes.is_empty()) {
            fixes.sort_by_key(NameFix::at);
            text.amend(out, &fixes);
        }
        Commit::Accept
    }

    fn needs_next(&self, record: &Record<'_>) -> bool {
        self.buffers[record.buffer].1.needs_next(record)
    }

    fn set_comms(&self, states: &mut Vec<PrintState>, comms: &Comms) {
        states.iter_mut().for_each(|state| state.set_comms(comms.clone()));
    }

    fn undecoded(&self, states: &Vec<PrintState>) -> u64 {
        states.iter().flat_map(PrintState::undecoded).map(|(_, count)| count).sum()
    }
}
