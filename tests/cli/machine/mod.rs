//! Output for programs: JSON lines, CSV and numbers, held to their schema, to each other and to other readers; and the
//! parts of a recording that can be asked for, held to the whole.

mod files;
mod formats;
mod parts;
mod readers;
mod redacted;
mod schema;
mod tallies;
