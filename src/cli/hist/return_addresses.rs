//! Names of return addresses, as the kernel's `%pB` gives them: a call that ends its function returns to the first byte of
//! the next one. The tables are printed with `%pS` and `%ps`, which name that one.

use rtrace::hist::table::{HistTable, KeyValue};
use rtrace::symbols::{Kallsyms, Symbol};

/// Fields of the kernel's events that hold return addresses.
const FIELDS: [&str; 3] = ["call_site", "caller", "parent_ip"];

/// Renames the frames of stacks, and values of fields that hold return addresses. `symbols` is called for addresses that
/// may need it only: most tables have none.
pub(super) fn rename<'a>(tables: &mut [HistTable], symbols: impl Fn() -> Option<&'a Kallsyms>) {
    let keys = tables.iter_mut().flat_map(|table| &mut table.entries).flat_map(|entry| &mut entry.keys);
    for key in keys {
        match &mut key.value {
            KeyValue::Stack { frames, .. } => {
                for frame in frames.iter_mut().filter(|frame| frame.contains("+0x0/")) {
                    if let Some(name) = symbols().and_then(|symbols| caller_of_frame(symbols, frame)) {
                        *frame = name;
                    }
                }
            }
            KeyValue::Symbol { address, name, offset } if FIELDS.contains(&key.name.as_str()) => {
                let Some(symbols) = symbols() else { continue };
                if symbols.lookup_first(*address).is_some_and(|symbol| symbol.address == *address)
                    && let Some(caller) = caller(symbols, *address)
                {
                    *name = if *offset { with_offset(&caller) } else { text(&caller).into_owned() };
                }
            }
            _ => {}
        }
    }
}

/// `before+0x40/0x40` for `name+0x0/0x20`; `None` if several functions are called `name`, or none is before it.
fn caller_of_frame(symbols: &Kallsyms, frame: &str) -> Option<String> {
    let (name, _) = frame.split_once("+0x0/")?;
    let mut called = symbols.iter().filter(|symbol| symbol.name == name.as_bytes());
    let (one, None) = (called.next()?, called.next()) else { return None };
    caller(symbols, one.address).map(|caller| with_offset(&caller))
}

/// The function that ends right before `address`.
fn caller(symbols: &Kallsyms, address: u64) -> Option<Symbol<'_>> {
    symbols.lookup_first(address.checked_sub(1)?).filter(|symbol| symbol.size.is_some())
}

fn text<'a>(symbol: &Symbol<'a>) -> std::borrow::Cow<'a, str> {
    String::from_utf8_lossy(symbol.name)
}

/// The address right after the symbol, as the kernel writes it.
fn with_offset(symbol: &Symbol<'_>) -> String {
    let size = symbol.size.unwrap_or(0);
    let module = match symbol.module {
        [] => String::new(),
        module => format!(" [{}]", String::from_utf8_lossy(module)),
    };
    format!("{}+0x{size:x}/0x{size:x}{module}", text(symbol))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtrace::hist::table;

    const SYMBOLS: &[u8] = b"ffffffff81000000 T _stext\nffffffff81000100 T do_exit\nffffffff81000140 T next_one\n\
        ffffffff81000180 t twice\nffffffff81000200 t twice\nffffffff81000300 T _etext\n\
        ffffffffc0000000 t last\t[mod]\nffffffffc0000010 t after\t[mod]\nffffffffc0000030 t end\t[mod]\n";

    fn renamed(body: &str, trigger: &str) -> Vec<HistTable> {
        let text = format!(
            "# event histogram\n#\n# trigger info: hist:{trigger}:vals=hitcount:sort=hitcount:size=2048 [active]\n#\n\n\
             {body} hitcount:          1\n\nTotals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0\n"
        );
        let mut tables = table::parse(text.as_bytes()).unwrap();
        let symbols = Kallsyms::parse(SYMBOLS);
        rename(&mut tables, || Some(&symbols));
        tables
    }

    #[test]
    fn a_call_that_ends_its_function_is_in_it() {
        let body = "{ common_stacktrace:\n         schedule+0x1/0x2\n         next_one+0x0/0x40\n         twice+0x0/0x80\n\
                    \u{20}        after+0x0/0x20 [mod]\n}";
        let tables = renamed(body, "keys=common_stacktrace");
        let KeyValue::Stack { frames, .. } = &tables[0].entries[0].keys[0].value else { panic!("a stack") };
        assert_eq!(frames[..], ["schedule+0x1/0x2", "do_exit+0x40/0x40", "twice+0x0/0x80", "last+0x10/0x10 [mod]"]);
    }

    #[test]
    fn only_fields_with_return_addresses_are_renamed() {
        let symbol = |tables: &[HistTable]| match &tables[0].entries[0].keys[0].value {
            KeyValue::Symbol { name, .. } => name.clone(),
            other => panic!("{other:?}"),
        };
        let body = |field: &str| format!("{{ {field}: [ffffffff81000140] {:<45} }}", "next_one");
        assert_eq!(symbol(&renamed(&body("call_site"), "keys=call_site.sym")), "do_exit");
        assert_eq!(symbol(&renamed(&body("function"), "keys=function.sym")), "next_one");
    }
}
