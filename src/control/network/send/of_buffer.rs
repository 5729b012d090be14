//! The description of one buffer of several, as if it were the only one.

use crate::file::trace_dat::{OptionId, Trace};

/// Makes `trace`, an unfinished recording, that of its `buffer` alone: its clock, sub-buffers and events.
pub(super) fn narrow_to(trace: &mut Trace, buffer: &str) {
    let entry = trace.spools.as_ref().and_then(|spools| spools.entries.iter().find(|entry| entry.buffer == buffer));
    let Some((clock, page_size)) = entry.map(|entry| (entry.clock.clone(), entry.page_size)) else { return };
    trace.prefix.page_size = page_size;
    let (own, all) = (format!("buffer {buffer}\n"), "buffer \n");
    trace.options.retain(|option| option.id != OptionId::RTRACE_EVENTS || option.data.starts_with(own.as_bytes()));
    for option in &mut trace.options {
        match option.id {
            OptionId::RTRACE_EVENTS => {
                option.data.splice(..own.len(), all.bytes());
            }
            OptionId::TRACECLOCK => option.data = marked(&option.text(), &clock).into_bytes(),
            _ => {}
        }
    }
}

/// The text of `trace_clock` with `clock` as the current one.
fn marked(clocks: &str, clock: &str) -> String {
    let mark = |name: &str| match name.trim_matches(['[', ']']) {
        name if name == clock => format!("[{name}]"),
        name => name.to_owned(),
    };
    clocks.split_whitespace().map(mark).collect::<Vec<_>>().join(" ") + "\n"
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_clock_of_a_buffer_is_marked() {
        assert_eq!(super::marked("[local] global mono\n", "mono"), "local global [mono]\n");
        assert_eq!(super::marked("local [mono]\n", "mono"), "local [mono]\n");
    }
}
