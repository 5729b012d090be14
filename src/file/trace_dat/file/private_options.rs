//! rtrace's private options, stored after the NUL of the VERSION option so that other readers skip them.
//!
//! KernelShark warns of every option that its library does not know. All versions of that library read the VERSION
//! option as a text that ends with a NUL and pass over what follows, and take the last one if there are several. So our
//! options ride there: the version's text, NUL, [`MAGIC`], then options as they are elsewhere (u16 id, u32 size, data).
//! RTRACE_SPOOLS stands by itself, for no other program reads files with it.
//!
//! [`put`] is the one way for options into a file, [`take`] the one way out of it. Private options that stand by
//! themselves, as in earlier files, are read as well.

use super::scan::Scan;
use crate::base::abi::Abi;
use crate::file::trace_dat::read_at::FileBytes;
use crate::file::trace_dat::{FileError, OptionId, RawOption};

/// Says that options follow.
const MAGIC: &[u8; 8] = b"rtrace+\0";
/// About this many bytes ride on one option: less than is read of one.
const MOST: usize = 64 << 20;
/// Size of an option's id and length, in bytes.
const HEAD: u64 = 6;

fn rides(id: OptionId) -> bool {
    id.is_ours() && id != OptionId::RTRACE_SPOOLS
}

fn put_one(out: &mut FileBytes, id: OptionId, data: &[u8]) {
    out.u16(id.0).u32(data.len() as u32).raw(data);
}

/// Writes the options of one section; the end of the options is the caller's. A VERSION option that others ride on
/// comes first and replaces those of `options`.
pub(in crate::file::trace_dat) fn put<D: AsRef<[u8]>>(out: &mut FileBytes, abi: Abi, options: &[(OptionId, D)]) {
    put_parts(out, abi, options, MOST);
}

fn put_parts<D: AsRef<[u8]>>(out: &mut FileBytes, abi: Abi, options: &[(OptionId, D)], most: usize) {
    let mut parts: Vec<FileBytes> = Vec::new();
    for (id, data) in options.iter().filter(|option| rides(option.0)) {
        let data = data.as_ref();
        if parts.last().is_none_or(|part| part.bytes.len().saturating_add(data.len()) > most) {
            parts.push(FileBytes::new(abi));
        }
        parts.iter_mut().last().into_iter().for_each(|part| put_one(part, *id, data));
    }
    let version = options.iter().rfind(|option| option.0 == OptionId::VERSION).map(|option| option.1.as_ref());
    let text = version.and_then(|data| data.split(|byte| *byte == 0).next()).unwrap_or_default();
    for part in &parts {
        put_one(out, OptionId::VERSION, &[text, b"\0", MAGIC, &part.bytes].concat());
    }
    let replaced = |id: OptionId| rides(id) || (id == OptionId::VERSION && !parts.is_empty());
    for (id, data) in options.iter().filter(|option| !replaced(option.0)) {
        put_one(out, *id, data.as_ref());
    }
}

/// Adds an option that was read to `to`; of a VERSION option that others ride on, its text and those. Damage
/// among those goes to `damage`.
pub(in crate::file::trace_dat) fn take(
    mut option: RawOption,
    abi: Abi,
    to: &mut Vec<RawOption>,
    damage: &mut Vec<FileError>,
) {
    let Some((text, riders)) = split(&option) else { return to.push(option) };
    let mut scan = Scan::unpacked(&option.data, abi, option.place);
    scan.seek(riders as u64);
    let mut found = Vec::new();
    let end = loop {
        if scan.remain() == 0 {
            break None;
        }
        let offset = option.offset.saturating_add(HEAD).saturating_add(scan.pos());
        let mut one = || Ok::<_, FileError>((OptionId(scan.u16()?), scan.u32()?));
        let Ok((id, len)) = one() else { break Some("an option in it is cut off") };
        if !rides(id) {
            break Some("an option in it does not belong there");
        }
        let Ok(data) = scan.bytes(len.into()) else { break Some("an option in it is cut off") };
        found.push(RawOption { id, data, offset, place: option.place });
    };
    damage.extend(end.map(|what| option.error(what)));
    option.data.truncate(text);
    // Files that do not tell their version have an empty one for others to ride on.
    if option.data.len() > 1 {
        to.push(option);
    }
    to.append(&mut found);
}

/// Of a VERSION option that carries others: the size of its text with the NUL, and the offset of the first of those.
fn split(option: &RawOption) -> Option<(usize, usize)> {
    let nul = memchr::memchr(0, &option.data).filter(|_| option.id == OptionId::VERSION)?;
    let text = nul.checked_add(1)?;
    option.data.get(text..)?.starts_with(MAGIC).then_some((text, text.checked_add(MAGIC.len())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;
    use crate::file::trace_dat::FilePart;

    const VIEW: (OptionId, &[u8]) = (OptionId::RTRACE_VIEW, b"some settings");
    const INDEX: (OptionId, &[u8]) = (OptionId::RTRACE_INDEX, b"");
    const VERSION: (OptionId, &[u8]) = (OptionId::VERSION, b"rtrace 1\0");
    const UNAME: (OptionId, &[u8]) = (OptionId::UNAME, b"Linux\0");

    fn abis() -> [Abi; 2] {
        [Endian::Little, Endian::Big].map(|endian| Abi { endian, long_size: 8 })
    }

    fn written(abi: Abi, options: &[(OptionId, &[u8])], most: usize) -> Vec<u8> {
        let mut out = FileBytes::new(abi);
        put_parts(&mut out, abi, options, most);
        out.u16(0);
        out.bytes
    }

    /// The options as they stand in the file.
    fn outer(abi: Abi, bytes: &Vec<u8>) -> Vec<RawOption> {
        let mut scan = Scan::unpacked(bytes, abi, FilePart::Prefix);
        let mut found = Vec::new();
        while let Ok(option) = RawOption::read(&mut scan, 6).unwrap() {
            found.push(option);
        }
        assert_eq!(scan.remain(), 0);
        found
    }

    fn read(abi: Abi, bytes: &Vec<u8>) -> (Vec<RawOption>, Vec<FileError>) {
        let (mut found, mut damage) = (Vec::new(), Vec::new());
        outer(abi, bytes).into_iter().for_each(|option| take(option, abi, &mut found, &mut damage));
        (found, damage)
    }

    fn contents(options: &[RawOption]) -> Vec<(OptionId, &[u8])> {
        options.iter().map(|option| (option.id, &option.data[..])).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        for abi in abis() {
            let bytes = written(abi, &[UNAME, VIEW, VERSION, INDEX], MOST);
            let ids: Vec<OptionId> = outer(abi, &bytes).iter().map(|option| option.id).collect();
            assert_eq!(ids, [OptionId::VERSION, OptionId::UNAME]);
            let (found, damage) = read(abi, &bytes);
            assert!(damage.is_empty());
            assert_eq!(contents(&found), [VERSION, VIEW, INDEX, UNAME]);
            // An option that is listed exists.
            for option in &found {
                let head = FileBytes::new(abi).u16(option.id.0).bytes.clone();
                assert_eq!(bytes[option.offset as usize..][..2], head);
            }
        }
    }

    #[test]
    fn without_a_version_there_is_none_afterwards() {
        let abi = Abi::HOST;
        assert_eq!(contents(&read(abi, &written(abi, &[VIEW], MOST)).0), [VIEW]);
        let alone = written(abi, &[UNAME, VERSION, (OptionId::VERSION, b"2")], MOST);
        assert_eq!(contents(&outer(abi, &alone)), [UNAME, VERSION, (OptionId::VERSION, b"2")]);
    }

    #[test]
    fn many_ride_on_several() {
        let abi = Abi::HOST;
        let bytes = written(abi, &[VERSION, VIEW, VIEW, VIEW], 30);
        assert_eq!(outer(abi, &bytes).len(), 3);
        assert_eq!(contents(&read(abi, &bytes).0), [VERSION, VIEW, VERSION, VIEW, VERSION, VIEW]);
    }

    #[test]
    fn those_that_stand_by_themselves_are_read() {
        let abi = Abi::HOST;
        let mut out = FileBytes::new(abi);
        [VERSION, VIEW, INDEX].iter().for_each(|(id, data)| put_one(&mut out, *id, data));
        out.u16(0);
        let (found, damage) = read(abi, &out.bytes);
        assert!(damage.is_empty());
        assert_eq!(contents(&found), [VERSION, VIEW, INDEX]);
    }

    #[test]
    fn what_is_damaged_is_reported() {
        let abi = Abi::HOST;
        let whole = outer(abi, &written(abi, &[VERSION, VIEW, VIEW], MOST)).remove(0);
        let parsed = |data: Vec<u8>| {
            let (mut found, mut damage) = (Vec::new(), Vec::new());
            take(RawOption { data, ..whole.clone() }, abi, &mut found, &mut damage);
            (found.len(), damage.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        let (start, one) = (VERSION.1.len() + MAGIC.len(), HEAD as usize + VIEW.1.len());
        for len in start..=whole.data.len() {
            let (found, damage) = parsed(whole.data[..len].to_vec());
            assert_eq!(found, 1 + (len - start) / one);
            assert_eq!(damage.contains("an option in it is cut off"), (len - start) % one != 0, "{damage}");
        }
        for id in [OptionId::DONE, OptionId::VERSION, OptionId::BUFFER, OptionId::RTRACE_SPOOLS] {
            let mut data = whole.data.clone();
            data[start + one..][..2].copy_from_slice(&FileBytes::new(abi).u16(id.0).bytes);
            let (found, damage) = parsed(data);
            assert!(found == 2 && damage.contains("does not belong there"), "{damage}");
        }
    }
}
