//! Names of functions as their languages have them.

use std::fmt::{self, Write};

/// No name is shown longer than this, in bytes: a few bytes of a mangled name can stand for gigabytes.
const LONGEST: usize = 1024;

/// The name of a function as it stands in a symbol table, as one reads it: Rust without hash, C++ without parameters
/// and result, without the version after `@`, and without control characters.
pub(super) fn readable(raw: &[u8]) -> String {
    let raw = String::from_utf8_lossy(raw);
    // `memcpy@@GLIBC_2.14` in static tables
    let raw = raw.split_once('@').map(|(name, _)| name).filter(|name| !name.is_empty()).unwrap_or(&raw);
    let name = rust(raw).or_else(|| cpp(raw)).unwrap_or_else(|| raw.chars().take(LONGEST).collect());
    if name.contains(char::is_control) { name.replace(char::is_control, "?") } else { name }
}

fn rust(raw: &str) -> Option<String> {
    let name = rustc_demangle::try_demangle(raw).ok()?;
    let mut text = Cut(String::new());
    write!(text, "{name:#}").ok().map(|()| text.0)
}

fn cpp(raw: &str) -> Option<String> {
    if !raw.starts_with("_Z") {
        return None;
    }
    let name = cpp_demangle::Symbol::new(raw).ok()?;
    let mut text = Cut(String::new());
    name.structured_demangle(&mut text, &cpp_demangle::DemangleOptions::new().no_params().no_return_type()).ok()?;
    Some(text.0)
}

/// A text that does not grow without end.
struct Cut(String);

impl Write for Cut {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        if self.0.len().saturating_add(s.len()) > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(s);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_language() {
        for (raw, name) in [
            ("main", "main"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            // as rustc 1.88 and g++ 12 wrote them
            ("_ZN4core3ops8function6FnOnce9call_once17h1234567890abcdefE", "core::ops::function::FnOnce::call_once"),
            ("_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"),
            ("_ZN5outer5Inner3runEi", "outer::Inner::run"),
            ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"),
            ("_Zwrong", "_Zwrong"),
            ("@plt", "@plt"),
            ("bad\nname\u{1b}[1m", "bad?name?[1m"),
        ] {
            assert_eq!(readable(raw.as_bytes()), name);
        }
    }

    /// `f<x, p<x, x>, p<p<x, x>, p<x, x> >, ..>`: each argument is twice as long as the one before.
    fn doubling(levels: u8) -> String {
        const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let mut raw = "_Z1fI1x1pIS0_S0_E".to_owned();
        for level in 0..levels {
            let before = char::from(DIGITS[2 + usize::from(level)]);
            raw += &format!("S1_IS{before}_S{before}_E");
        }
        raw + "Evv"
    }

    #[test]
    fn what_grows_without_end_stays_as_it_is() {
        assert_eq!(readable(doubling(1).as_bytes()), "f<x, p<x, x>, p<p<x, x>, p<x, x> > >");
        let long = doubling(30);
        assert_eq!(readable(long.as_bytes()), long, "some gigabytes");
        assert_eq!(readable(&vec![b'x'; 1 << 20]).len(), LONGEST);
    }
}
