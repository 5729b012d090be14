//! The fields of user events (`Documentation/trace/user_events.rst`, "Command Format").

use crate::base::syntax::{Diagnostic, Span, did_you_mean};

/// The numbers there are. `long` is none: programs of both word sizes write the same event.
const NUMBERS: [&str; 14] = [
    "u8",
    "u16",
    "u32",
    "u64",
    "s8",
    "s16",
    "s32",
    "s64",
    "char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned int",
];
/// `MAX_FIELD_ARRAY_SIZE`, in bytes.
const MAX_ARRAY: u32 = 1024;

/// Checks the fields that stand in `text` from byte `start` on: `u32 count; char[20] name`.
///
/// # Errors
/// A [`Diagnostic`] at the first field that the kernel would refuse, or take for another one than it seems.
pub(super) fn check(text: &str, start: usize) -> Result<(), Diagnostic> {
    let mut at = start;
    for part in text[start..].split(';') {
        let field = part.trim();
        if !field.is_empty() {
            let from = at + part.len() - part.trim_start().len();
            check_one(field).map_err(|(message, hint)| {
                Diagnostic::new("probe", text, Span::new(from, from + field.len()), message).hint_opt(hint)
            })?;
        }
        at += part.len() + 1;
    }
    Ok(())
}

fn check_one(field: &str) -> Result<(), (String, Option<String>)> {
    let words: Vec<&str> = field.split(' ').filter(|word| !word.is_empty()).collect();
    let (ty, name) = match words.as_slice() {
        ["struct", _, name, size] => {
            let valid = size.parse::<u32>().is_ok_and(|size| size > 0);
            (if valid { Ok(()) } else { Err(format!("`{size}` is no size in bytes")) }, *name)
        }
        ["struct", ..] => return Err(("a struct is written `struct NAME FIELD SIZE`".to_owned(), None)),
        // Of a text of any length the kernel looks at the first word only.
        ["__data_loc" | "__rel_loc", "unsigned", _, name] | ["__data_loc" | "__rel_loc", _, name] => (Ok(()), *name),
        ["unsigned", ty, name] => (check_type(&format!("unsigned {ty}")), *name),
        [ty, name] => (check_type(ty), *name),
        _ => return Err((format!("`{field}` is no field: expected `TYPE NAME`"), None)),
    };
    if let Err(message) = ty {
        let near = did_you_mean(words[0], NUMBERS);
        let all = || "types are u8 to u64, s8 to s64, char, short and int (also unsigned), char[N], struct".to_owned();
        return Err((message, Some(near.unwrap_or_else(all))));
    }
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match name.split_once('[') {
        Some((bare, size)) => Err((
            format!("`{name}` cannot be the name of a field"),
            Some(format!("the size goes after the type: `char[{} {bare}`", size)),
        )),
        None if !plain || name.starts_with(|c: char| c.is_ascii_digit()) => {
            Err((format!("`{name}` cannot be the name of a field"), None))
        }
        None => Ok(()),
    }
}

fn check_type(ty: &str) -> Result<(), String> {
    match ty.split_once('[') {
        Some(("char" | "unsigned char", size)) => {
            let size = size.strip_suffix(']').and_then(|n| n.parse::<u32>().ok());
            match size.filter(|size| (1..=MAX_ARRAY).contains(size)) {
                Some(_) => Ok(()),
                None => Err(format!("`{ty}` needs a size of 1 to {MAX_ARRAY}")),
            }
        }
        Some(_) => Err(format!("`{ty}`: only char can be an array")),
        None if NUMBERS.contains(&ty) => Ok(()),
        None => Err(format!("unknown type `{ty}`")),
    }
}

#[cfg(test)]
mod tests {
    use crate::language::probe::Probe;

    /// A kernel's results for each (6.12, `tests/kernel/languages.sh` asks it again), but for names with a size, which
    /// it takes for a name with brackets.
    #[test]
    fn fields() {
        for fields in [
            "u32 count",
            "u32 count; char[20] name;",
            "unsigned int a; unsigned char[4] b",
            "struct my_type mine 20",
            "__data_loc char[] text; __rel_loc unsigned char[] more",
        ] {
            let text = format!("u:mine {fields}");
            assert!(text.parse::<Probe>().is_ok(), "{text}");
        }
        for (fields, place, hint) in [
            ("u32 a; u46 b", "u46 b", "did you mean `u16` or `u64`?"),
            ("long a", "long a", ""),
            ("a", "a", ""),
            ("u32 a b", "u32 a b", ""),
            ("char[0] a", "char[0] a", ""),
            ("u32[4] a", "u32[4] a", ""),
            ("char name[20]", "char name[20]", "the size goes after the type: `char[20] name`"),
            ("struct x y", "struct x y", ""),
            ("u32 1a", "u32 1a", ""),
        ] {
            let text = format!("u:mine {fields}");
            let error = text.parse::<Probe>().expect_err(&text);
            assert_eq!(error.span.of(&text), place, "{text}");
            if !hint.is_empty() {
                assert_eq!(error.hints(), [hint], "{text}");
            }
        }
    }
}
