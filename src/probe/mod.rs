//! Dynamic events: kprobe, uprobe, eprobe, fprobe, tprobe and user events.
