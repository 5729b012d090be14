//! Widths that come from data: std pads to 65,535 columns at most and panics beyond, and a terminal shows fewer.

/// The widest of some cells, in characters, for a column of that width; at most 1,000, which no name of a kernel has.
/// A wider cell of a made-up file stands out of its column.
pub fn widest(cells: impl IntoIterator<Item = usize>) -> usize {
    const MOST: usize = 1_000;
    cells.into_iter().max().unwrap_or(0).min(MOST)
}

/// The part of a line that is shown of it: all, or of a long line some hundred characters around the place `start..end`,
/// with `...` for what is left out. Returns the text, and the place in it. In characters.
pub(super) fn clip(line: &str, start: usize, end: usize) -> (String, usize, usize) {
    const LONG: usize = 1_000;
    const AROUND: usize = 200;
    const LEFT_OUT: &str = "...";
    let length = line.chars().count();
    if length <= LONG {
        return (line.to_owned(), start, end);
    }
    let (from, to) = (start.saturating_sub(AROUND), start.saturating_add(AROUND).min(length));
    let before = if from > 0 { LEFT_OUT } else { "" };
    let after = if to < length { LEFT_OUT } else { "" };
    let part: String = line.chars().skip(from).take(to - from).collect();
    let place = |at: usize| at.min(to) - from + before.len();
    (format!("{before}{part}{after}"), place(start), place(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_made_up_names_are_bounded() {
        assert_eq!([widest([]), widest([3, 64, 5]), widest([5, 70_000])], [0, 64, 1_000]);
        let cell = "x".repeat(70_000);
        assert_eq!(format!("{:1$}", "", widest([cell.len()])).len(), 1_000);
    }

    #[test]
    fn long_lines_are_clipped_around_the_place() {
        let line = format!("{}here{}", "a".repeat(70_000), "b".repeat(70_000));
        let (shown, start, end) = clip(&line, 70_000, 70_004);
        assert_eq!((&shown[start..end], shown.len()), ("here", 406));
        assert!(shown.starts_with("...aaa") && shown.ends_with("bbb..."));
        let (shown, start, end) = clip(&line, 70_000, 140_004);
        assert_eq!((start, end, shown.len()), (203, 403, 406), "the place itself is cut");
        let (shown, start, _) = clip(&line, 140_004, 140_004);
        assert_eq!((start, shown.len()), (203, 203), "at the end");
        let short = "a".repeat(1_000);
        assert_eq!(clip(&short, 999, 1_000), (short.clone(), 999, 1_000));
    }
}
