//! Options of trace-cmd for guests, which are planned: they are refused with that message.

const OPTIONS: [&str; 1] = ["--proxy"];
const INSTEAD: &str = "tracing over the network and of guests comes later; record on each machine, and \
                       `rtrace report FILE FILE` merges what their clocks agree on";

/// The answer to an option of trace-cmd's record that is about the network or guests.
pub(crate) fn later_option(word: &str) -> Option<String> {
    let name = word.split('=').next().unwrap_or(word);
    let short =
        |option: &&str| option.len() == 2 && name.len() > 2 && !name.starts_with("--") && name.starts_with(*option);
    let found = OPTIONS.iter().find(|option| name == **option || short(option))?;
    Some(format!("`{found}` is not here yet: {INSTEAD}\n"))
}
