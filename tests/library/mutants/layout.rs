//! Places of a sound file's numbers, and the bytes that nothing vouches for: read from the whole file, by other code
//! than that under test.
//!
//! Unvouched are, each by itself: a record of bare sub-buffers with its head, a sub-buffer's time stamp, its flags of lost
//! events, what lies after its records; the content of a zstd frame that has no checksum, and two bytes of a frame's header
//! that are copied and not needed; a line of text in a section that is not compressed; the
//! content of an option but for those that say where something lies or how many CPUs there are; the names in a buffer's
//! option; the version of the codec and the size of sub-buffers in the file header; the number of CPUs where no
//! CPU has statistics, or data: beside a latency tracer's text. In a file with checksums of ours only the data's.

use super::bytes::{Bytes, number};
use super::pages::{PageShape, page};
use rtrace::internal::trace_dat::{Codec, Unpacker};
use std::ops::Range;

/// See the module.
#[derive(Default)]
pub(super) struct Layout {
    /// Lengths, counts, offsets, ids, flags.
    pub(super) numbers: Vec<Range<usize>>,
    /// By rising start.
    pub(super) unvouched: Vec<Range<usize>>,
    pub(super) big: bool,
}

/// A file being gone through.
struct Reader<'a> {
    file: &'a [u8],
    codec: Codec,
    out: Layout,
    data_offset: usize,
    page_size: usize,
    buffers: Vec<Claim>,
    has_clock: bool,
    /// It has options with the statistics of each CPU.
    has_statistics: bool,
    /// Place of the number of CPUs.
    cpu_count: Option<Range<usize>>,
}

/// True if options of ours ride on a VERSION option, one of them with checksums.
fn has_sums(file: &[u8], big: bool) -> bool {
    let id: u16 = 0x727a;
    let id = if big { id.to_be_bytes() } else { id.to_le_bytes() };
    let riders = file.windows(8).position(|bytes| bytes == b"rtrace+\0").map(|at| &file[at..]);
    riders.is_some_and(|riders| {
        riders.windows(6).any(|head| head[..2] == id && matches!(number(&head[2..], big), 8 | 24 | 40))
    })
}

/// The facts in a buffer's option.
struct Claim {
    section: usize,
    page_size: usize,
    cpus: Vec<(usize, usize)>,
}

impl Layout {
    pub(super) fn of(file: &[u8]) -> Layout {
        let big = file[12] == 1;
        let mut reader = Reader {
            file,
            codec: Codec::None,
            out: Layout { big, ..Layout::default() },
            data_offset: 16,
            page_size: 0,
            buffers: Vec::new(),
            has_clock: false,
            has_statistics: false,
            cpu_count: None,
        };
        let mut bytes = Bytes::new(file, Some(0), big);
        bytes.at = 14;
        reader.page_size = bytes.number(4, &mut reader.out.numbers) as usize;
        match file[10] {
            b'6' => reader.version_6(&mut bytes),
            _ => {
                // what it says of sub-buffers the buffers' options say again, and theirs counts
                reader.out.unvouched.push(14..18);
                reader.version_7(&mut bytes);
            }
        }
        reader.out.unvouched.sort_by_key(|range| range.start);
        reader.out
    }

    /// True if these bytes lie in one piece that nothing vouches for.
    pub(super) fn is_unvouched(&self, changed: &Range<usize>) -> bool {
        let before = self.unvouched.partition_point(|piece| piece.start <= changed.start);
        self.unvouched[..before].last().is_some_and(|piece| changed.end <= piece.end)
    }
}

impl Reader<'_> {
    fn unvouched(&mut self, place: Option<Range<usize>>) {
        self.out.unvouched.extend(place);
    }

    /// The next `len` bytes are a text.
    fn lines(&mut self, bytes: &mut Bytes<'_>, len: usize) {
        let Some(place) = bytes.place(len) else {
            bytes.at += len;
            return;
        };
        let mut at = place.start;
        for line in bytes.take(len).split_inclusive(|byte| *byte == b'\n') {
            self.out.unvouched.push(at..at + line.len());
            at += line.len();
        }
    }

    fn sized(&mut self, bytes: &mut Bytes<'_>, width: usize) {
        let len = bytes.number(width, &mut self.out.numbers) as usize;
        self.lines(bytes, len);
    }

    fn header_info(&mut self, bytes: &mut Bytes<'_>) {
        bytes.text();
        let len = bytes.number(8, &mut self.out.numbers) as usize;
        let text = String::from_utf8_lossy(bytes.take(len)).into_owned();
        bytes.at -= len;
        self.lines(bytes, len);
        let data = text.lines().find(|line| line.contains("char data;")).expect("where the data starts");
        let offset = data.split("offset:").nth(1).and_then(|rest| rest.split(';').next()).expect("an offset");
        self.data_offset = offset.trim().parse().expect("a number");
        bytes.text();
        self.sized(bytes, 8);
    }

    fn formats(&mut self, bytes: &mut Bytes<'_>) {
        for _ in 0..bytes.number(4, &mut self.out.numbers) {
            self.sized(bytes, 8);
        }
    }

    fn systems(&mut self, bytes: &mut Bytes<'_>) {
        for _ in 0..bytes.number(4, &mut self.out.numbers) {
            let from = bytes.place(0);
            let len = bytes.text().len();
            self.unvouched(from.map(|from| from.start..from.start + len));
            self.formats(bytes);
        }
    }

    /// Options up to the one that ends them.
    fn options(&mut self, bytes: &mut Bytes<'_>) {
        loop {
            let id = bytes.number(2, &mut self.out.numbers);
            if id == 0 && self.file[10] == b'6' {
                return;
            }
            let len = bytes.number(4, &mut self.out.numbers) as usize;
            let end = bytes.at + len;
            self.has_clock |= id == 4;
            self.has_statistics |= id == 2;
            match id {
                0 => drop(bytes.number(8, &mut self.out.numbers)),
                3 => self.buffer(bytes, end),
                8 => {
                    self.cpu_count = bytes.place(4);
                    bytes.number(4, &mut self.out.numbers);
                }
                16..=21 | 23 | 25 => drop(bytes.number(8, &mut self.out.numbers)),
                22 => {
                    bytes.number(8, &mut self.out.numbers);
                    self.unvouched(bytes.place(end - bytes.at));
                }
                _ => self.unvouched(bytes.place(len)),
            }
            bytes.at = end;
            if id == 0 {
                return;
            }
        }
    }

    fn buffer(&mut self, bytes: &mut Bytes<'_>, end: usize) {
        let section = bytes.number(8, &mut self.out.numbers) as usize;
        let names = if self.file[10] == b'6' { 1 } else { 2 };
        for _ in 0..names {
            let from = bytes.place(0);
            let len = bytes.text().len();
            self.unvouched(from.map(|from| from.start..from.start + len));
        }
        let mut claim = Claim { section, page_size: self.page_size, cpus: Vec::new() };
        if bytes.at < end {
            claim.page_size = bytes.number(4, &mut self.out.numbers) as usize;
            for _ in 0..bytes.number(4, &mut self.out.numbers) {
                bytes.number(4, &mut self.out.numbers);
                let mut number = || bytes.number(8, &mut self.out.numbers) as usize;
                claim.cpus.push((number(), number()));
            }
        }
        self.buffers.push(claim);
    }

    /// The bytes of a frame or stream: zlib's has a checksum, zstd's may. Of a zstd frame's header, a bit of the descriptor
    /// means nothing, and the size of the window nothing to a reader that unpacks the whole frame at once; both are copied
    /// with the frame.
    fn frame(&mut self, place: Range<usize>) {
        if self.codec != Codec::Zstd {
            return;
        }
        let descriptor = self.file[place.start + 4];
        let single = usize::from(descriptor >> 5 & 1);
        let size = [single, 2, 4, 8][usize::from(descriptor >> 6)];
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        self.out.unvouched.push(place.start + 4..place.start + 5);
        if single == 0 {
            self.out.unvouched.push(place.start + 5..place.start + 6);
        }
        if descriptor >> 2 & 1 == 0 {
            self.out.unvouched.push(place.start + 5 + (1 - single) + dictionary + size..place.end);
        }
    }

    /// Sub-buffers as they are.
    fn bare(&mut self, place: Range<usize>, size: usize) {
        let shape = PageShape { big: self.out.big, data_offset: self.data_offset };
        let Layout { numbers, unvouched, .. } = &mut self.out;
        for (index, bytes) in self.file[place.clone()].chunks_exact(size).enumerate() {
            page(bytes, place.start + index * size, shape, numbers, unvouched);
        }
    }

    fn chunks(&mut self, at: usize) {
        let mut bytes = Bytes::new(self.file, Some(0), self.out.big);
        bytes.at = at;
        for _ in 0..bytes.number(4, &mut self.out.numbers) {
            let stored = bytes.number(4, &mut self.out.numbers) as usize;
            bytes.number(4, &mut self.out.numbers);
            self.frame(bytes.at..bytes.at + stored);
            bytes.at += stored;
        }
    }

    fn version_7(&mut self, bytes: &mut Bytes<'_>) {
        let name = String::from_utf8_lossy(bytes.text()).into_owned();
        self.codec = Codec::from_name(&name).expect("a codec");
        let from = bytes.at;
        let len = bytes.text().len();
        self.out.unvouched.push(from..from + len);
        bytes.number(8, &mut self.out.numbers);
        let mut data = Vec::new();
        while !bytes.is_done() {
            let offset = bytes.at;
            let id = bytes.number(2, &mut self.out.numbers);
            let compressed = bytes.number(2, &mut self.out.numbers) == 1;
            bytes.number(4, &mut Vec::new());
            let size = bytes.number(8, &mut self.out.numbers) as usize;
            let place = bytes.at..bytes.at + size;
            bytes.at = place.end;
            match id {
                3 => data.push((offset, compressed)),
                22 if compressed => self.chunks(place.start),
                _ if compressed => self.packed(id, place),
                _ => self.section(id, &mut Bytes::new(&self.file[place.clone()], Some(place.start), self.out.big)),
            }
        }
        if !self.has_statistics || self.buffers.iter().all(|claim| claim.cpus.is_empty()) {
            let count = self.cpu_count.take();
            self.unvouched(count);
        }
        if has_sums(self.file, self.out.big) {
            self.out.unvouched.clear();
        }
        for claim in std::mem::take(&mut self.buffers) {
            let compressed = data.iter().any(|(offset, compressed)| *offset == claim.section && *compressed);
            for (at, size) in claim.cpus.into_iter().filter(|cpu| cpu.1 > 0) {
                if compressed { self.chunks(at) } else { self.bare(at..at + size, claim.page_size) }
            }
        }
    }

    fn packed(&mut self, id: u64, place: Range<usize>) {
        self.out.numbers.extend([place.start..place.start + 4, place.start + 4..place.start + 8]);
        let size = number(&self.file[place.start + 4..place.start + 8], self.out.big) as usize;
        self.frame(place.start + 8..place.end);
        let mut unpacked = Vec::new();
        Unpacker::new(self.codec)
            .unpack(&self.file[place.start + 8..place.end], size, &mut unpacked)
            .expect("a sound section");
        self.section(id, &mut Bytes::new(&unpacked, None, self.out.big));
    }

    fn section(&mut self, id: u64, bytes: &mut Bytes<'_>) {
        match id {
            0 => self.options(bytes),
            16 => self.header_info(bytes),
            17 => self.formats(bytes),
            18 => self.systems(bytes),
            19 | 20 => self.sized(bytes, 4),
            21 => self.sized(bytes, 8),
            _ => {
                let len = bytes.remain();
                self.lines(bytes, len);
            }
        }
    }

    fn version_6(&mut self, bytes: &mut Bytes<'_>) {
        self.header_info(bytes);
        self.formats(bytes);
        self.systems(bytes);
        self.sized(bytes, 4);
        self.sized(bytes, 4);
        self.sized(bytes, 8);
        let count = bytes.place(4);
        let cpus = bytes.number(4, &mut self.out.numbers) as usize;
        let mut kind = bytes.take(10);
        if kind == b"options  \0" {
            self.options(bytes);
            kind = bytes.take(10);
        }
        if kind != b"flyrecord\0" {
            self.unvouched(count);
            return; // a latency tracer's text
        }
        self.flyrecord(bytes, cpus);
        for claim in std::mem::take(&mut self.buffers) {
            bytes.at = claim.section + 10;
            self.flyrecord(bytes, cpus);
        }
    }

    fn flyrecord(&mut self, bytes: &mut Bytes<'_>, cpus: usize) {
        for _ in 0..cpus {
            let mut number = || bytes.number(8, &mut self.out.numbers) as usize;
            let (at, size) = (number(), number());
            self.bare(at..at + size, self.page_size);
        }
        if self.has_clock {
            self.sized(bytes, 8);
        }
    }
}
