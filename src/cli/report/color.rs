//! Lines of events in colours.

use crate::cli::terminal::{Sequence, Styled};
use memchr::memmem;

/// Appends the lines of one record of the event `event`.
pub(super) fn lines(mut lines: &[u8], event: &str, out: &mut Styled) {
    if let Some(lost) = lost_line(lines) {
        let (line, rest) = lines.split_at(lost);
        out.sequence(Sequence::Lost).text(line.trim_ascii_end()).sequence(Sequence::Plain).text(b"\n");
        lines = rest;
    }
    // `TIME: NAME: `
    let name = format!(": {event}: ");
    match memmem::find(lines, name.as_bytes()) {
        Some(at) => {
            let (front, text) = (&lines[..at + 1], &lines[at + name.len() - 1..]);
            out.sequence(Sequence::Dim).text(front).sequence(Sequence::Plain).text(b" ");
            out.sequence(Sequence::Name).text(event.as_bytes()).sequence(Sequence::Plain).text(b":").text(text);
        }
        None => drop(out.text(lines)),
    }
}

/// The length of a line about lost events in front of the event's own, newline included.
fn lost_line(lines: &[u8]) -> Option<usize> {
    let end = memchr::memchr(b'\n', lines)?;
    let is_lost = lines[..end].ends_with(b"EVENTS DROPPED]") && end + 1 < lines.len();
    is_lost.then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &[u8]) -> String {
        let mut out = Styled::default();
        lines(text, "sched_switch", &mut out);
        out.for_test()
    }

    #[test]
    fn names_and_losses_are_coloured() {
        assert_eq!(
            shown(b"CPU:1 [5 EVENTS DROPPED]\n sh-1 [000] 1.5: sched_switch:   a: b\n"),
            "\x1b[1;31mCPU:1 [5 EVENTS DROPPED]\x1b[0m\n\
             \x1b[2m sh-1 [000] 1.5:\x1b[0m \x1b[36msched_switch\x1b[0m:   a: b\n"
        );
    }

    #[test]
    fn text_between_the_colours_is_escaped() {
        assert_eq!(
            shown(b" \x1b[2J-1 [000] 1.5: sched_switch: \xc2\x9b\n"),
            "\x1b[2m \\x1b[2J-1 [000] 1.5:\x1b[0m \x1b[36msched_switch\x1b[0m: \\xc2\\x9b\n"
        );
    }
}
