//! Pages of the manual that are topics of the help.

/// Pages of `docs/reference` that are pages of the manual: topic, name of the page and its section.
pub(super) const PAGES: &[(&str, &str, &str)] = &[
    ("filter", "rtrace-filter", "7"),
    ("hist", "rtrace-hist", "7"),
    ("synth", "rtrace-synth", "7"),
    ("trigger", "rtrace-trigger", "7"),
    ("probe", "rtrace-probe", "7"),
    ("file-format", "rtrace.dat", "5"),
];
