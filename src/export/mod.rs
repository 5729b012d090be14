//! One exporter per output format.

mod columns;
mod json;
mod line;
mod text;

pub use json::{
    Json, JsonBuffer, JsonBufferInfo, JsonHeader, JsonSource, JsonTypes, SCHEMA, VERSION, json_string, original_bytes,
    schema,
};
pub use line::{Line, Literal, Literals};
pub use text::{Text, TextOptions, TimeColumn};
