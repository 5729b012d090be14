//! The build of each mapped file: the content of our RTRACE_BUILDS option, a line `ID PATH` for each, the id in hexadecimal digits.

use std::collections::BTreeSet;
use std::fmt;

/// Files that were mapped, with the ids of their builds. A path may have had several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildIds(BTreeSet<(String, Vec<u8>)>);

impl BuildIds {
    /// Reads the lines; `None` if the text is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let build = |line: &str| {
            let (id, path) = line.split_once(' ')?;
            let digits = id.as_bytes();
            let bytes = digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
            let is_sound = !path.is_empty() && !digits.is_empty() && digits.len().is_multiple_of(2);
            is_sound.then_some((path.to_owned(), bytes.collect::<Option<Vec<u8>>>()?))
        };
        text.lines().map(build).collect::<Option<_>>().map(BuildIds)
    }

    /// True of none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Paths and ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(path, id)| (path.as_str(), id.as_slice()))
    }
}

impl FromIterator<(String, Vec<u8>)> for BuildIds {
    /// Of a path with a line break there is no line.
    fn from_iter<T: IntoIterator<Item = (String, Vec<u8>)>>(builds: T) -> Self {
        let is_sound = |(path, id): &(String, Vec<u8>)| !path.contains('\n') && !path.is_empty() && !id.is_empty();
        BuildIds(builds.into_iter().filter(is_sound).collect())
    }
}

impl fmt::Display for BuildIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|(path, id)| {
            id.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            writeln!(f, " {path}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_read_as_they_are_written() {
        let text = "00ff12 /bin/a b\n01 /lib/x\n02 /lib/x\n";
        let builds = BuildIds::parse(text).unwrap();
        assert_eq!(builds.to_string(), text);
        assert_eq!(builds.iter().next(), Some(("/bin/a b", &[0, 255, 18][..])));
        assert_eq!(BuildIds::from_iter([("a\nb".to_owned(), vec![1])]).to_string(), "");
        for text in ["x /a", "123 /a", "12", "12 ", " /a", "é0 /a"] {
            assert_eq!(BuildIds::parse(text), None, "{text}");
        }
    }
}
