//! Sub-buffer bytes to records: time extends, absolute stamps, padding and lost-event counts.
