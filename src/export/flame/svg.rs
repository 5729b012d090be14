//! A flame graph: folded stacks as a picture (SVG) that a browser opens, with a search and a zoom of its own.
//!
//! Each frame is a rectangle as wide as its number's share of all; those it called stand above it, in the order of their
//! names. `<title>`s hold the whole name, the number and the share, so a viewer that runs no scripts shows them too.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The unit of the numbers of folded lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlameUnit {
    /// Nanoseconds.
    Time,
    /// Occurrences, each of this name in the plural.
    Count(&'static str),
}

/// A flame graph to be drawn.
#[derive(Clone, Debug)]
pub struct FlameGraph {
    /// The words above it.
    pub title: String,
    /// The unit of the lines' numbers.
    pub unit: FlameUnit,
}

/// Size of the picture's content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The sum of all numbers.
    pub total: u64,
    /// Frames that are narrower than a tenth of a pixel, which are left out.
    pub narrow: u64,
}

/// Width of the picture, in pixels.
const WIDTH: f64 = 1200.0;
/// Room at the left and at the right.
const MARGIN: f64 = 10.0;
/// Height of a frame with the gap above it.
const ROW: usize = 16;
/// Room for the title and the search.
const HEAD: usize = 50;
/// Room for the line about the frame under the pointer.
const FOOT: usize = 34;
/// Width of a character of the names.
const CHARACTER: f64 = 7.2;
/// Frames narrower than this, in pixels, are left out.
const NARROW: f64 = 0.1;
/// Frames above this row are left out: browsers draw nothing that high.
const ROWS: usize = 2000;

impl FlameGraph {
    /// Appends the picture of folded lines (`outer;inner NUMBER`). A line without a number at its end is left out.
    pub fn draw(&self, folded: &[u8], out: &mut String) -> Drawn {
        let tower = Tower::of_folded(folded, ROWS);
        let mut drawn = Drawn { total: tower.total(), narrow: 0 };
        let scale = (WIDTH - 2.0 * MARGIN) / (drawn.total.max(1) as f64);
        let (shown, narrow): (Vec<_>, Vec<_>) =
            tower.frames.iter().partition(|frame| frame.number as f64 * scale >= NARROW);
        drawn.narrow = narrow.len() as u64;
        let rows = shown.iter().map(|frame| frame.row + 1).max().unwrap_or(1);
        let height = HEAD + rows * ROW + FOOT;
        self.head(height, out);
        for frame in shown {
            let y = height - FOOT - (frame.row + 1) * ROW;
            self.frame(frame, scale, y, drawn.total, out);
        }
        out.push_str("</g>\n</svg>\n");
        drawn
    }

    fn head(&self, height: usize, out: &mut String) {
        let mut title = String::new();
        escape(&self.title, &mut title);
        let (middle, right, foot) = (WIDTH / 2.0, WIDTH - MARGIN, height - 12);
        let _ = write!(
            out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
             <svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" font-family=\"monospace\" font-size=\"12\">\n\
             <style>rect {{ stroke: #fff; stroke-width: .5 }} #frames g {{ cursor: pointer }} \
             #frames text {{ pointer-events: none }} .button {{ cursor: pointer; fill: #555 }} \
             .faded {{ opacity: .5 }} .found rect {{ fill: #e0e }}</style>\n\
             <script>//<![CDATA[\n{SCRIPT}//]]></script>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fafafa\"/>\n\
             <text x=\"{middle}\" y=\"22\" font-size=\"16\" text-anchor=\"middle\">{title}</text>\n\
             <text id=\"reset\" class=\"button\" x=\"{MARGIN}\" y=\"42\" display=\"none\">whole graph</text>\n\
             <text id=\"search\" class=\"button\" x=\"{right}\" y=\"42\" text-anchor=\"end\">search</text>\n\
             <text id=\"pointed\" x=\"{MARGIN}\" y=\"{foot}\"> </text>\n\
             <text id=\"matched\" x=\"{right}\" y=\"{foot}\" text-anchor=\"end\"> </text>\n\
             <g id=\"frames\">\n"
        );
    }

    fn frame(&self, frame: &TowerFrame, scale: f64, y: usize, total: u64, out: &mut String) {
        let (x, width) = (MARGIN + frame.start as f64 * scale, frame.number as f64 * scale);
        let share = frame.number as f64 * 100.0 / total.max(1) as f64;
        let (mut title, mut label) = (String::new(), String::new());
        escape(&frame.name, &mut title);
        escape(&fitting(&frame.name, width), &mut label);
        let (height, line) = (ROW - 1, y + 11);
        let number = self.number(frame.number);
        let colour = colour(&frame.name);
        let _ = writeln!(
            out,
            "<g data-s=\"{}\" data-n=\"{}\"><title>{title} ({number}, {share:.2}%)</title>\
             <rect x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{line}\">{label}</text></g>",
            frame.start,
            frame.number,
            x + 3.0
        );
    }

    fn number(&self, number: u64) -> String {
        match self.unit {
            FlameUnit::Count(noun) => format!("{number} {noun}"),
            FlameUnit::Time => match number {
                0..1_000 => format!("{number} ns"),
                1_000..1_000_000 => format!("{:.3} us", number as f64 / 1e3),
                1_000_000..1_000_000_000 => format!("{:.3} ms", number as f64 / 1e6),
                _ => format!("{:.3} s", number as f64 / 1e9),
            },
        }
    }
}

/// As much of a name as stands within `width` pixels.
fn fitting(name: &str, width: f64) -> String {
    let room = ((width - 6.0) / CHARACTER) as usize;
    match name.chars().count() {
        length if length <= room => name.to_owned(),
        _ if room < 3 => String::new(),
        _ => name.chars().take(room - 2).chain("..".chars()).collect(),
    }
}

/// The same colour for the same name: warm for functions, blue for time that is in none.
fn colour(name: &str) -> String {
    // FNV-1a, so that a graph is the same on every machine.
    let hash = name.bytes().fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let shade = |shift: u32, from: u32, range: u32| from + (hash >> shift & 0xff) * range / 255;
    match name.starts_with('[') {
        true => format!("rgb({},{},{})", shade(0, 120, 50), shade(8, 160, 40), shade(16, 205, 40)),
        false => format!("rgb({},{},{})", shade(0, 215, 40), shade(8, 80, 140), shade(16, 20, 50)),
    }
}

/// Appends a text to a document: markup as entities, characters that no document may have as `?`.
fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('?'),
            control if control.is_control() => out.push('?'),
            other => out.push(other),
        }
    }
}

/// Zoom at a click, search by a regular expression; without it the picture shows all but stays as it is.
const SCRIPT: &str = include_str!("flame.js");

// Folded lines as frames that stand upon each other.

/// A frame and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TowerFrame {
    name: String,
    /// 0 for the outermost.
    row: usize,
    /// The sum of the numbers to its left.
    start: u64,
    /// Its number with those of the frames upon it.
    number: u64,
}

/// All frames, each before those upon it.
#[derive(Clone, Debug, Default)]
struct Tower {
    frames: Vec<TowerFrame>,
}

/// Frames of one parent by name.
#[derive(Default)]
struct Level {
    number: u64,
    children: BTreeMap<String, Level>,
}

impl Tower {
    /// Of `outer;inner NUMBER` lines; frames above `rows` count for the one below them.
    fn of_folded(folded: &[u8], rows: usize) -> Self {
        let mut all = Level::default();
        for line in folded.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            let Some((stack, number)) = line.rsplit_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            all.number = all.number.saturating_add(number);
            let mut level = &mut all;
            for name in stack.split(';').take(rows) {
                level = level.children.entry(name.to_owned()).or_default();
                level.number = level.number.saturating_add(number);
            }
        }
        let mut tower = Tower::default();
        let mut open: Vec<(usize, u64, std::collections::btree_map::IntoIter<String, Level>)> =
            vec![(0, 0, all.children.into_iter())];
        while let Some((row, start, children)) = open.last_mut() {
            let Some((name, level)) = children.next() else {
                open.pop();
                continue;
            };
            let (row, at) = (*row, *start);
            *start = start.saturating_add(level.number);
            tower.frames.push(TowerFrame { name, row, start: at, number: level.number });
            open.push((row + 1, at, level.children.into_iter()));
        }
        tower
    }

    /// The sum of the outermost frames' numbers.
    fn total(&self) -> u64 {
        self.frames.iter().filter(|frame| frame.row == 0).fold(0, |sum, frame| sum.saturating_add(frame.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(folded: &[u8]) -> (String, Drawn) {
        let mut out = String::new();
        let graph = FlameGraph { title: "a < b".into(), unit: FlameUnit::Time };
        let drawn = graph.draw(folded, &mut out);
        (out, drawn)
    }

    #[test]
    fn frames_are_as_wide_as_their_numbers() {
        let (svg, drawn) = drawn(b"sh;a 1000\nsh;a;b 2000000\nsh;c 1\n");
        assert_eq!(drawn, Drawn { total: 2_001_001, narrow: 1 });
        assert!(svg.contains("<title>sh (2.001 ms, 100.00%)</title>"), "{svg}");
        assert!(svg.contains("<title>b (2.000 ms, 99.95%)</title>"), "{svg}");
        assert!(svg.contains("a &lt; b</text>"));
    }

    #[test]
    fn names_command_no_viewer() {
        let (svg, _) = drawn("<script>alert(1)</script>;&\u{1b}[2J\u{ffff}\" 5\n".as_bytes());
        assert!(svg.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && svg.contains("&amp;?[2J?&quot;"), "{svg}");
        assert_eq!(svg.matches("<script>").count(), 1);
    }

    #[test]
    fn nothing_is_an_empty_picture() {
        let (svg, drawn) = drawn(b"no number\n");
        assert_eq!(drawn, Drawn::default());
        assert!(svg.ends_with("</svg>\n"));
    }

    #[test]
    fn frames_stand_upon_each_other() {
        let tower = Tower::of_folded(b"sh;a;b 2\nsh;a 1\nsh;c 4\ncat;a 8\n", 9);
        let found: Vec<_> =
            tower.frames.iter().map(|frame| (frame.name.as_str(), frame.row, frame.start, frame.number)).collect();
        assert_eq!(
            found,
            [("cat", 0, 0, 8), ("a", 1, 0, 8), ("sh", 0, 8, 7), ("a", 1, 8, 3), ("b", 2, 8, 2), ("c", 1, 11, 4)]
        );
        assert_eq!(tower.total(), 15);
        assert_eq!(Tower::of_folded(b"a;b;c 1\n", 2).frames.len(), 2);
    }
}
