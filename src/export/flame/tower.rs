//! Folded lines as frames that stand upon each other.

use std::collections::BTreeMap;

/// A frame and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TowerFrame {
    pub(super) name: String,
    /// 0 for the outermost.
    pub(super) row: usize,
    /// The sum of the numbers to its left.
    pub(super) start: u64,
    /// Its number with those of the frames upon it.
    pub(super) number: u64,
}

/// All frames, each before those upon it.
#[derive(Clone, Debug, Default)]
pub(super) struct Tower {
    pub(super) frames: Vec<TowerFrame>,
}

/// Frames of one parent by name.
#[derive(Default)]
struct Level {
    number: u64,
    children: BTreeMap<String, Level>,
}

impl Tower {
    /// Of `outer;inner NUMBER` lines; frames above `rows` count for the one below them.
    pub(super) fn of_folded(folded: &[u8], rows: usize) -> Self {
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
    pub(super) fn total(&self) -> u64 {
        self.frames.iter().filter(|frame| frame.row == 0).fold(0, |sum, frame| sum.saturating_add(frame.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
