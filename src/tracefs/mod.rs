//! The only code that spells a tracefs path: instances, events, knobs, the journal of writes.
