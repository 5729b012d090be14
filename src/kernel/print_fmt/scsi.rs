//! `scsi_trace_parse_cdb`: what a SCSI command asks for (kernel: drivers/scsi/scsi_trace.c; layouts: SBC-3).

use crate::base::text::num;

fn be(cdb: &[u8], at: usize, len: usize) -> Option<u64> {
    let bytes = cdb.get(at..)?.get(..len)?;
    Some(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// Writes ` name=value` pairs, the first without a blank.
fn pairs(out: &mut Vec<u8>, pairs: &[(&str, u64)]) {
    for (i, (name, value)) in pairs.iter().enumerate() {
        if i > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(name.as_bytes());
        out.push(b'=');
        num::dec(out, *value);
    }
}

/// Writes what the command descriptor block says; `-` for commands without a rendering and for blocks cut short.
pub(super) fn cdb(out: &mut Vec<u8>, cdb: &[u8]) {
    let start = out.len();
    if parse(out, cdb).is_none() {
        out.truncate(start);
        out.push(b'-');
    }
}

fn parse(out: &mut Vec<u8>, cdb: &[u8]) -> Option<()> {
    let protect = |at: usize| be(cdb, at, 1).map(|b| b >> 5);
    let opcode = *cdb.first()?;
    match opcode {
        0x08 | 0x0a => {
            let count = be(cdb, 4, 1)?;
            pairs(out, &[("lba", be(cdb, 1, 3)? & 0x1f_ffff), ("txlen", if count == 0 { 256 } else { count })]);
        }
        // READ/WRITE/VERIFY/WRITE SAME (10), (12), (16)
        0x28 | 0x2a | 0x2f => {
            pairs(out, &[("lba", be(cdb, 2, 4)?), ("txlen", be(cdb, 7, 2)?), ("protect", protect(1)?)]);
        }
        0x41 => pairs(
            out,
            &[
                ("lba", be(cdb, 2, 4)?),
                ("txlen", be(cdb, 7, 2)?),
                ("protect", protect(1)?),
                ("unmap", be(cdb, 1, 1)? >> 3 & 1),
            ],
        ),
        0xa8 | 0xaa | 0xaf => {
            pairs(out, &[("lba", be(cdb, 2, 4)?), ("txlen", be(cdb, 6, 4)?), ("protect", protect(1)?)]);
        }
        0x88 | 0x8a | 0x8f => {
            pairs(out, &[("lba", be(cdb, 2, 8)?), ("txlen", be(cdb, 10, 4)?), ("protect", protect(1)?)]);
        }
        0x93 => pairs(
            out,
            &[
                ("lba", be(cdb, 2, 8)?),
                ("txlen", be(cdb, 10, 4)?),
                ("protect", protect(1)?),
                ("unmap", be(cdb, 1, 1)? >> 3 & 1),
            ],
        ),
        0x42 => pairs(out, &[("regions", be(cdb, 7, 2)?.saturating_sub(8) / 16)]),
        0x9e => {
            let name = match be(cdb, 1, 1)? & 0x1f {
                0x10 => "READ_CAPACITY_16",
                0x12 => "GET_LBA_STATUS",
                _ => return None,
            };
            out.extend_from_slice(name.as_bytes());
            out.push(b' ');
            pairs(out, &[("lba", be(cdb, 2, 8)?), ("alloc_len", be(cdb, 10, 4)?)]);
        }
        0x7f => {
            let name = match be(cdb, 8, 2)? {
                0x09 => "READ",
                0x0a => "VERIFY",
                0x0b => "WRITE",
                0x0d => "WRITE_SAME",
                _ => return None,
            };
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"_32 ");
            pairs(
                out,
                &[
                    ("lba", be(cdb, 12, 8)?),
                    ("txlen", be(cdb, 28, 4)?),
                    ("protect", protect(10)?),
                    ("ei_lbrt", be(cdb, 20, 4)?),
                ],
            );
            if name == "WRITE_SAME" {
                out.push(b' ');
                pairs(out, &[("unmap", be(cdb, 10, 1)? >> 3 & 1)]);
            }
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands() {
        let text = |cdb: &[u8]| {
            let mut out = Vec::new();
            super::cdb(&mut out, cdb);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(&[0x28, 0, 0, 1, 2, 3, 0, 0, 8, 0]), "lba=66051 txlen=8 protect=0");
        assert_eq!(text(&[0x08, 0, 0, 5, 0, 0]), "lba=5 txlen=256");
        assert_eq!(text(&[0x28, 0, 0]), "-");
        assert_eq!(text(&[0x00; 6]), "-");
        assert_eq!(text(&[]), "-");
    }
}
