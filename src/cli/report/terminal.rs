//! Lines for a terminal: coloured, and unable to do anything to it.

use memchr::memmem;
use std::io::IsTerminal;

/// When to colour.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How to show lines where a person looks at them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terminal {
    color: bool,
    escape: bool,
}

const NAME: &[u8] = b"\x1b[36m";
const LOST: &[u8] = b"\x1b[1;31m";
const DIM: &[u8] = b"\x1b[2m";
const RESET: &[u8] = b"\x1b[0m";

impl Terminal {
    /// `None`: lines go out as they are.
    pub(super) fn of_stdout(color: Color) -> Option<Terminal> {
        let escape = std::io::stdout().is_terminal();
        let allowed = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let color = match color {
            Color::Auto => escape && allowed,
            Color::Always => true,
            Color::Never => false,
        };
        (color || escape).then_some(Terminal { color, escape })
    }

    /// Appends the lines of one event.
    pub(super) fn show(self, mut lines: &[u8], event: &str, out: &mut Vec<u8>) {
        if !self.color {
            return self.text(lines, out);
        }
        if let Some(lost) = lost_line(lines) {
            out.extend_from_slice(LOST);
            self.text(lines[..lost].trim_ascii_end(), out);
            out.extend_from_slice(RESET);
            out.push(b'\n');
            lines = &lines[lost..];
        }
        // `TIME: NAME: `
        let name = format!(": {event}: ");
        match memmem::find(lines, name.as_bytes()) {
            Some(at) => {
                let (front, text) = (&lines[..at + 1], &lines[at + name.len() - 1..]);
                out.extend_from_slice(DIM);
                self.text(front, out);
                out.extend_from_slice(RESET);
                out.push(b' ');
                out.extend_from_slice(NAME);
                self.text(event.as_bytes(), out);
                out.extend_from_slice(RESET);
                out.push(b':');
                self.text(text, out);
            }
            None => self.text(lines, out),
        }
    }

    /// Appends text. On a terminal, characters that it would obey are shown as `\xNN`; line breaks and tabs stay.
    fn text(self, text: &[u8], out: &mut Vec<u8>) {
        if !self.escape {
            return out.extend_from_slice(text);
        }
        for chunk in text.utf8_chunks() {
            for char in chunk.valid().chars() {
                let mut utf8 = [0; 4];
                let bytes = char.encode_utf8(&mut utf8).as_bytes();
                if char.is_control() && char != '\n' && char != '\t' {
                    bytes.iter().for_each(|b| hex(*b, out));
                } else {
                    out.extend_from_slice(bytes);
                }
            }
            chunk.invalid().iter().for_each(|b| hex(*b, out));
        }
    }
}

fn hex(byte: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
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

    fn shown(terminal: Terminal, lines: &[u8]) -> String {
        let mut out = Vec::new();
        terminal.show(lines, "sched_switch", &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_comm_cannot_command_the_terminal() {
        let line = b"  \x1b]0;x\x07-1  [000]  1.5: sched_switch: a\tb \xff\xc2\x9b \xc3\xa4\n";
        let plain = shown(Terminal { color: false, escape: true }, line);
        assert_eq!(plain, "  \\x1b]0;x\\x07-1  [000]  1.5: sched_switch: a\tb \\xff\\xc2\\x9b \u{e4}\n");
    }

    #[test]
    fn names_and_losses_are_coloured() {
        let both = Terminal { color: true, escape: false };
        let text = shown(both, b"CPU:1 [5 EVENTS DROPPED]\n sh-1 [000] 1.5: sched_switch:   a: b\n");
        assert_eq!(
            text,
            "\x1b[1;31mCPU:1 [5 EVENTS DROPPED]\x1b[0m\n\
             \x1b[2m sh-1 [000] 1.5:\x1b[0m \x1b[36msched_switch\x1b[0m:   a: b\n"
        );
    }
}
