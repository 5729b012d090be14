//! Libraries by the start of a name: those that the loader of this machine takes before others.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The loader's list of the libraries in its folders.
const CACHE: &str = "/etc/ld.so.cache";
/// The begin of its table, which may follow an older one.
const CACHE_MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
/// The largest list that is read.
const MOST_CACHE_BYTES: u64 = 64 << 20;
/// Folders of libraries; below them those of each architecture.
const FOLDERS: [&str; 5] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"];

/// The library `name` (`libc`, `libc.so.6`) that programs of this machine get.
pub(super) fn find_library(name: &str) -> Option<PathBuf> {
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
