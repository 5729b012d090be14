//! What programs read: JSON lines, CSV and numbers, held to their schema, to each other and to other readers; and the
//! parts of a recording that can be asked for, held to the whole.

#[path = "../common/corpus.rs"]
mod corpus;
#[path = "../common/environment.rs"]
mod environment;

mod files;
mod formats;
#[path = "../common/not_run.rs"]
mod not_run;
mod parts;
mod readers;
mod schema;
mod tallies;
