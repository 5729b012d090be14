//! The place of a probe: from words and symbols to the kernel's line.

use crate::cli::exit::{Exit, Failure};
use crate::cli::language::invalid;
use crate::cli::terminal::note;
use rtrace::format::EventFormat;
use rtrace::internal::btf::Btf;
use rtrace::probe::{Fetch, Probe, ProbeKind, symbol_offset, symbols};
use rtrace::syntax::{Diagnostic, Span, did_you_mean, parse_int};
use rtrace::tracefs::Tracefs;
use rtrace::units::counted;
use std::fs;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Kinds of probes as the command line names them, with the kernel's letter and what stands after the place.
const KINDS: [(&str, char, &str); 9] = [
    ("kprobe", 'p', ""),
    ("kretprobe", 'r', ""),
    ("uprobe", 'p', ""),
    ("uretprobe", 'r', ""),
    ("eprobe", 'e', ""),
    ("fprobe", 'f', ""),
    ("fretprobe", 'f', "%return"),
    ("tprobe", 't', ""),
    ("user", 'u', ""),
];

/// The line for the kernel, from `KIND PLACE [ARG]...` or from a line that is one already.
pub(super) fn line(words: &[String], name: Option<&str>) -> Result<String, Failure> {
    let usage = |message: String| Failure::new(Exit::Usage, anyhow::anyhow!(message));
    let (first, rest) = words.split_first().ok_or_else(|| usage("what to probe is missing".to_owned()))?;
    let Some((kind, letter, suffix)) = KINDS.iter().find(|(kind, ..)| kind == first) else {
        let raw = is_whole_line(words);
        if raw && name.is_none() {
            return Ok(words.join(" "));
        }
        if raw {
            return Err(usage("a whole line names its event itself: `p:NAME PLACE`".to_owned()));
        }
        let near = did_you_mean(first, KINDS.map(|(kind, ..)| kind));
        let others = match first.as_str() {
            "tracepoint" | "trace" => Some("tprobe"),
            "fentry" => Some("fprobe"),
            "fexit" => Some("fretprobe"),
            "usdt" | "probe" if rest.first().is_some_and(|place| place.contains(':')) => Some("uprobe"),
            _ => None,
        };
        let near = others.map(|kind| format!("did you mean `{kind}`?")).or(near);
        let marker = first.strip_prefix("usdt:").map(|place| place.split(':').next().unwrap_or(place));
        let marker = marker.map(|file| format!("markers (USDT) are probed by their address: `readelf -n {file}` lists them, `rtrace probe add uprobe {file}:0xADDRESS` takes one."));
        let kind = if first.contains(['/', ':']) { "uprobe" } else { "kprobe" };
        let all = || {
            let kinds = KINDS.map(|(kind, ..)| kind).join(", ");
            format!("a kind comes first, as in `rtrace probe add {kind} {first}`: {kinds}")
        };
        let split = first
            .split_once(':')
            .filter(|(kind, place)| !place.is_empty() && KINDS.iter().any(|(one, ..)| one == kind));
        let split = split.map(|(kind, place)| format!("`rtrace probe add {kind} {place}` makes it."));
        return Err(
            usage(format!("there is no kind of probe `{first}`")).hint(marker.or(split).or(near).unwrap_or_else(all))
        );
    };
    let Some((place, args)) = rest.split_first() else {
        return Err(usage(format!("what the {kind} is to probe is missing")));
    };
    let mut line = letter.to_string();
    if *kind == "user" {
        // `user NAME FIELDS`
        let separator = if args.iter().any(|arg| arg.contains(';')) { " " } else { "; " };
        return Ok(format!("u:{place} {}", args.join(separator)).trim_end().to_owned());
    }
    if let Some(name) = name {
        if name.contains(char::is_whitespace) || name.is_empty() {
            return Err(usage(format!("`{name}` cannot be the name of an event"))
                .hint("names are letters, digits and `_`, no digit first: EVENT or SYSTEM/EVENT"));
        }
        line.push_str(&format!(":{}", name.replacen(':', "/", 1)));
    }
    let place = match *kind {
        "uprobe" | "uretprobe" => user_place(place)?,
        "eprobe" => place.replacen([':', '/'], ".", 1),
        _ => format!("{place}{suffix}"),
    };
    line.push_str(&format!(" {place}"));
    for arg in args {
        line.push_str(&format!(" {arg}"));
    }
    Ok(line)
}

/// True if the words are a line as the kernel takes it: `p:NAME PLACE`, in one word or several.
pub(super) fn is_whole_line(words: &[String]) -> bool {
    let head = words.first().and_then(|first| first.split([':', ' ']).next()).unwrap_or("");
    head.starts_with(['p', 'r', 'e', 'f', 't', 'u']) && head[1..].bytes().all(|b| b.is_ascii_digit())
}

/// The definition of a synthetic event, if the words are one: `s:NAME TYPE FIELD; ...`.
pub(super) fn synthetic(words: &[String]) -> Option<String> {
    words.first().filter(|first| first.starts_with("s:")).map(|_| words.join(" "))
}

/// A name for the event: the symbol that was named rather than the offset it became.
pub(super) fn suggested_name(words: &[String], probe: &Probe) -> String {
    let symbol = match (&probe.kind, words) {
        (ProbeKind::Uprobe { returns, .. }, [kind, place, ..]) if kind.ends_with("probe") => {
            let symbol = place.rsplit(':').next().unwrap_or(place);
            let symbol = symbol.split('+').next().unwrap_or(symbol);
            let plain = symbol.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            plain.then(|| format!("{symbol}{}", if *returns { "__return" } else { "" }))
        }
        _ => None,
    };
    match symbol {
        Some(name) => name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(60).collect(),
        None => probe.kind.suggested_name(),
    }
}

/// `libc:malloc+4`, `/bin/bash:readline`, `bash:0x1234` to `PATH:OFFSET`; what follows (a counter in parentheses) stays.
fn user_place(text: &str) -> Result<String, Failure> {
    let usage = |message: String| Failure::new(Exit::Usage, anyhow::anyhow!(message));
    let (text, counter) = text.find('(').map_or((text, ""), |at| text.split_at(at));
    let Some((program, symbol)) = text.rsplit_once(':') else {
        return Err(usage(format!("expected PROGRAM:SYMBOL, found `{text}`"))
            .hint("as in `libc:malloc`, `/bin/bash:readline` or `/bin/bash:0x4245c0`"));
    };
    let path = find_program(program).ok_or_else(|| {
        usage(format!("there is no program or library `{program}`"))
            .hint("a path names it exactly; `libc` stands for the libc.so.* that the loader takes, a bare name for a program of PATH")
    })?;
    let path_text = path.to_string_lossy();
    if !program.contains('/') {
        note!("rtrace: `{program}` is {path_text}");
    }
    if parse_int(symbol).is_ok() {
        return Ok(format!("{path_text}:{symbol}{counter}"));
    }
    let (name, plus) = match symbol.split_once('+') {
        Some((name, plus)) => {
            let plus = parse_int(plus).ok().and_then(|n| u64::try_from(n).ok());
            (name, plus.ok_or_else(|| usage(format!("invalid offset after `{name}`")))?)
        }
        None => (symbol, 0),
    };
    let file = std::fs::read(&path).map_err(|e| anyhow::anyhow!("failed to read {path_text}: {e}"))?;
    let in_file = |e: rtrace::probe::ElfError| usage(format!("failed to look for `{name}` in {path_text}: {e}"));
    match symbol_offset(&file, name).map_err(in_file)?.and_then(|offset| offset.checked_add(plus)) {
        Some(offset) => Ok(format!("{path_text}:{offset:#x}{counter}")),
        None => {
            let all = symbols(&file).map_err(in_file)?;
            let failure = usage(format!("{path_text} has no function `{name}`"));
            if all.is_empty() {
                return Err(
                    failure.hint("it is stripped of its symbols: PROGRAM:OFFSET, the offset a number, needs none")
                );
            }
            let near = did_you_mean(name, all.iter().map(String::as_str));
            let near = near.unwrap_or_else(|| {
                format!(
                    "it has {} with names; PROGRAM:OFFSET, the offset a number, needs none",
                    counted(all.len() as u64, "function")
                )
            });
            Err(failure.hint(near))
        }
    }
}

/// A path as it is, a program of PATH, or a library by the start of its name.
fn find_program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return std::fs::canonicalize(name).ok();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file());
    program.or_else(|| find_library(name)).and_then(|file| std::fs::canonicalize(file).ok())
}

/// Fails, with the nearest names, if the kernel has no such symbol. Addresses, and kernels that hide symbols, pass.
pub(super) fn kernel_symbol(tracefs: &Tracefs, symbol: &str, line: &str, span: Span) -> Result<(), Failure> {
    if symbol.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(());
    }
    let Ok(text) = tracefs.kallsyms() else { return Ok(()) };
    let text = String::from_utf8_lossy(&text);
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    if names.is_empty() || names.contains(&symbol) {
        return Ok(());
    }
    let error = Diagnostic::new("probe", line, span, format!("the kernel has no symbol `{symbol}`"));
    Err(invalid("probe", error.hint_opt(did_you_mean(symbol, names))))
}

/// Bytes at the start of a function that may come before the place that ftrace probes (`endbr64`).
const LANDING: u64 = 4;

/// Fails if a probe is within a function and only makes sense at its start: probes of returns, and of arguments.
pub(super) fn function_start(tracefs: &Tracefs, probe: &Probe, line: &str) -> Result<(), Failure> {
    fn is_argument(fetch: &Fetch) -> bool {
        match fetch {
            Fetch::Argument(_) | Fetch::Arguments => true,
            Fetch::Deref { address: inner, .. } | Fetch::Member { of: inner, .. } | Fetch::Cast { of: inner, .. } => {
                is_argument(inner)
            }
            _ => false,
        }
    }
    let (at, what) = match &probe.kind {
        ProbeKind::Kretprobe { at, .. } => (at, "a probe of a return is on a whole function"),
        ProbeKind::Kprobe(at) if probe.args.iter().any(|arg| is_argument(&arg.fetch)) => {
            (at, "a function's arguments are there at its start only")
        }
        _ => return Ok(()),
    };
    if at.offset <= LANDING && at.offset % LANDING == 0 {
        return Ok(());
    }
    let Ok(text) = tracefs.kallsyms() else { return Ok(()) };
    let text = String::from_utf8_lossy(&text);
    let symbols = || {
        text.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok().filter(|address| *address != 0)?;
            Some((address, words.nth(1)?))
        })
    };
    // A function that is named by another symbol (`_text+1234`), as perf does it.
    let starts: Vec<u64> =
        symbols().filter(|(_, name)| *name == at.symbol).filter_map(|(base, _)| base.checked_add(at.offset)).collect();
    if starts.is_empty() || symbols().any(|(address, _)| starts.contains(&address)) {
        return Ok(());
    }
    Err(invalid("probe", Diagnostic::new("probe", line, at.span, what)))
}

/// Fails if the arguments do not fit the parameters of the probed function, on kernels that hold them against its types. A
/// function that has none, or whose name another one shares, is left to the kernel.
pub(super) fn parameters(tracefs: &Tracefs, probe: &Probe, line: &str) -> Result<(), Failure> {
    fn is_typed(fetch: &Fetch) -> bool {
        match fetch {
            Fetch::Argument(_) | Fetch::ReturnValue | Fetch::Variable(_) | Fetch::Member { .. } => true,
            Fetch::Deref { address, .. } => is_typed(address),
            _ => false,
        }
    }
    let Some(name) = probe.function().filter(|_| probe.args.iter().any(|arg| is_typed(&arg.fetch))) else {
        return Ok(());
    };
    if !tracefs.top().read("README").is_ok_and(|readme| readme.contains("<argname>")) {
        return Ok(());
    }
    let Some(types) = tracefs.kernel_btf().ok().and_then(|bytes| Btf::parse(bytes).ok()) else { return Ok(()) };
    let Some(function) = types.function_named(name) else { return Ok(()) };
    probe.check_types(line, function).map_err(|error| invalid("probe", error))
}

/// Fails if an argument of an event probe is no field of its event.
pub(super) fn event_fields(probe: &Probe, format: &EventFormat) -> Result<(), Failure> {
    fn field(fetch: &Fetch) -> Option<&str> {
        match fetch {
            Fetch::EventField(name) | Fetch::Variable(name) => Some(name),
            Fetch::Deref { address: inner, .. } | Fetch::Cast { of: inner, .. } => field(inner),
            _ => None,
        }
    }
    for name in probe.args.iter().filter_map(|arg| field(&arg.fetch)) {
        if format.field(name).is_none() {
            let text = probe.to_string();
            let at = text.find(&format!("${name}")).or_else(|| text.find(name)).unwrap_or(0);
            let message = format!("{}:{} has no field `{name}`", format.system, format.name);
            let error = Diagnostic::new("probe", &text, Span::new(at, at + name.len() + 1), message);
            let known = format.fields.iter().map(|field| field.name.as_str());
            return Err(invalid("probe", error.hint_opt(did_you_mean(name, known))));
        }
    }
    Ok(())
}

// Libraries by the start of a name: those that the loader of this machine takes before others.

/// The loader's list of the libraries in its folders.
const CACHE: &str = "/etc/ld.so.cache";
/// The begin of its table, which may follow an older one.
const CACHE_MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
/// The largest list that is read.
const MOST_CACHE_BYTES: u64 = 64 << 20;
/// Folders of libraries; below them those of each architecture.
const FOLDERS: [&str; 5] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"];

/// The library `name` (`libc`, `libc.so.6`) that programs of this machine get.
fn find_library(name: &str) -> Option<PathBuf> {
    let machine = elf_machine(Path::new("/proc/self/exe"));
    let is_ours = |path: &PathBuf| elf_machine(path).is_some_and(|of| machine.is_none_or(|ours| ours == of));
    let mut cache = Vec::new();
    let _ = File::open(CACHE).and_then(|file| file.take(MOST_CACHE_BYTES).read_to_end(&mut cache));
    let listed = cached(&cache).into_iter().filter(|(file_name, _)| is_called(file_name, name));
    let listed = listed.map(|(_, path)| PathBuf::from(path)).find(is_ours);
    listed.or_else(|| {
        let found = beside_the_cache(name).into_iter().filter(is_ours);
        found.min_by_key(|path| rank(path))
    })
}

/// True if a file of that name is the library `name`: `libc.so.6` is `libc`, `libc.so` and `libc.so.6`.
fn is_called(file_name: &str, name: &str) -> bool {
    let Some(rest) = file_name.strip_prefix(name) else { return false };
    rest.starts_with(".so") || name.contains(".so") && (rest.is_empty() || rest.starts_with('.'))
}

/// The place of a library among those of the same name: folders of another C library come last, then the shortest name first.
fn rank(path: &Path) -> (bool, usize) {
    let is_of_musl = path.parent().is_some_and(|folder| folder.to_string_lossy().contains("-linux-musl"));
    (is_of_musl, path.file_name().map_or(0, |name| name.len()))
}

fn beside_the_cache(name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for root in FOLDERS {
        let mut folders = vec![PathBuf::from(root)];
        let below = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
        folders.extend(below.filter(|path| path.is_dir() && path.to_string_lossy().contains("-linux-")));
        for file in folders.iter().flat_map(fs::read_dir).flatten().flatten() {
            if is_called(&file.file_name().to_string_lossy(), name) {
                found.push(file.path());
            }
        }
    }
    found
}

/// Class and machine of an ELF file; `None` of another, as the linker's scripts that are called `.so` too.
fn elf_machine(path: &Path) -> Option<(u8, [u8; 2])> {
    let mut header = [0; 20];
    File::open(path).and_then(|mut file| file.read_exact(&mut header)).ok()?;
    let [0x7f, b'E', b'L', b'F', class, ..] = header else { return None };
    Some((class, [header[18], header[19]]))
}

/// Names and paths of the loader's list, in its order.
fn cached(cache: &[u8]) -> Vec<(String, String)> {
    /// Bytes before the entries, of one entry, and of what stands in it before the two offsets.
    const HEADER: usize = 48;
    const ENTRY: usize = 24;
    let Some(start) = cache.windows(CACHE_MAGIC.len()).position(|bytes| bytes == CACHE_MAGIC) else {
        return Vec::new();
    };
    let table = &cache[start..];
    let number = |at: usize| Some(u32::from_ne_bytes(table.get(at..at.checked_add(4)?)?.try_into().ok()?) as usize);
    let text = |at: usize| {
        let bytes = table.get(at..)?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        String::from_utf8(bytes[..end].to_vec()).ok()
    };
    let entries = table.get(HEADER..).unwrap_or_default().len() / ENTRY;
    let count = number(CACHE_MAGIC.len()).unwrap_or(0).min(entries);
    let entry = |index: usize| {
        let at = HEADER + index * ENTRY;
        Some((text(number(at + 4)?)?, text(number(at + 8)?)?))
    };
    (0..count).filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of these libraries, after the begin of an older one.
    fn list(libraries: &[(&str, &str)]) -> Vec<u8> {
        let mut table = CACHE_MAGIC.to_vec();
        table.extend(u32::try_from(libraries.len()).unwrap().to_ne_bytes());
        table.resize(48, 0);
        let mut texts = Vec::new();
        let begin = 48 + 24 * libraries.len();
        for (name, path) in libraries {
            let offsets = [name, path].map(|text| {
                let at = u32::try_from(begin + texts.len()).unwrap();
                texts.extend(text.bytes().chain([0]));
                at.to_ne_bytes()
            });
            table.extend([3, 3, 0, 0].iter().chain(offsets.as_flattened()).chain(&[0; 12]));
        }
        [b"ld.so-1.7.0\0....".to_vec(), table, texts].concat()
    }

    #[test]
    fn the_loaders_list_is_read() {
        let libraries = [("libc.so.6", "/lib/a/libc.so.6"), ("libm.so.6", "/lib/a/libm.so.6")];
        let cache = list(&libraries);
        let owned = libraries.map(|(name, path)| (name.to_owned(), path.to_owned()));
        assert_eq!(cached(&cache), owned);
        // Cut off anywhere, it has fewer.
        for end in 0..cache.len() {
            assert!(cached(&cache[..end]).len() < 2, "{end}");
        }
    }

    #[test]
    fn libraries_are_called_by_their_start() {
        for name in ["libc", "libc.so", "libc.so.6"] {
            assert!(is_called("libc.so.6", name), "{name}");
        }
        assert!(!is_called("libc++.so.1", "libc") && !is_called("libcap.so.2", "libc"));
        assert!(!is_called("libc.so.6", "libc.so.7") && !is_called("libc.so.60", "libc.so.6"));
        let path = |text: &str| rank(Path::new(text));
        assert!(path("/lib/x86_64-linux-gnu/libc.so.6") < path("/usr/lib/x86_64-linux-musl/libc.so"));
    }
}
