//! The agent: another machine's recording is this machine's too, and its events go there.
//!
//! One controller at a time. Its options go to the caller's recorder, which records to a [`Remote`](crate::control::record::Remote)
//! until the controller says CLOSE or is gone. A controller of trace-cmd's hears of a failure by NOT_SUPP, one of ours why.

mod controller;
mod serving;

pub use serving::{AGENT_PORT, Agent, AgentJob, AgentNotice, AgentRecorder};
