//! The recorder: plan, session, one worker thread per CPU, spool.
