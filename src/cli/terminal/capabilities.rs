//! Capabilities of the terminal, and the wishes of the user about them.

use terminal_size::{Height, Width, terminal_size};

/// Columns and rows of the terminal; `None` if there is none.
pub(crate) fn size() -> Option<(usize, usize)> {
    terminal_size().map(|(Width(columns), Height(rows))| (columns.into(), rows.into()))
}

/// True if the user wants colours and the terminal can show them: NO_COLOR is not set and TERM is not `dumb`.
pub(crate) fn colors_are_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
}

/// True if TERM says that the terminal knows no sequences.
pub(super) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}
