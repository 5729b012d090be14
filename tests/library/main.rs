//! The library over real files: formats, events, recordings, languages, and what the sources must hold to.

#[path = "../common"]
mod common {
    pub(crate) mod bounded;
    pub(crate) mod corpus;
    pub(crate) mod counting;
    pub(crate) mod echoes;
    pub(crate) mod examples;
    pub(crate) mod not_run;
    pub(crate) mod recording;
    #[expect(dead_code, reason = "other tests use more of it")]
    pub(crate) mod synthetic;
    pub(crate) mod trace_files;
}

mod ahead;
mod allocations;
mod analyses;
mod architecture;
mod checksums;
mod damage;
mod damage_pages;
mod damaged_spools;
mod exporters;
mod formats;
mod golden;
mod hist_spec;
mod hist_table;
mod hostile_chunks;
mod languages;
mod mutants;
mod print_fmt_any;
mod print_formats;
mod queries;
mod raw_pages;
mod trace_files;
mod trace_write;
mod unknown_events;
mod wide_formats;
mod windows;
mod workshop;
