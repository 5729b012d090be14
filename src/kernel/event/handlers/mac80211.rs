//! mac80211:drv_bss_info_changed, whose text trace-cmd lays out in four lines.

use super::{NumberField, TextField};
use crate::base::text::num;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;

/// Indentation of the lines after the first.
const INDENT: usize = 65;

/// The fields of each line: in decimal, or with `true` in hexadecimal.
const LINES: [&[(&str, bool)]; 3] = [
    &[("assoc", false), ("aid", false), ("cts", false), ("shortpre", false), ("shortslot", false), ("dtimper", false)],
    &[("bcnint", false), ("assoc_cap", true), ("basic_rates", true), ("enable_beacon", false)],
    &[("ht_operation_mode", false)],
];

pub(in crate::kernel::event) struct BssInfo {
    wiphy: TextField,
    vif: TextField,
    kind: NumberField,
    lines: Vec<Vec<(&'static str, Option<NumberField>, bool)>>,
}

impl BssInfo {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        let fields = |line: &&'static [(&'static str, bool)]| -> Vec<_> {
            line.iter().map(|(name, hex)| (*name, NumberField::field(event, name), *hex)).collect()
        };
        Some(BssInfo {
            wiphy: TextField::field(event, "wiphy_name")?,
            vif: TextField::field(event, "vif_name")?,
            kind: NumberField::field(event, "vif_type")?,
            lines: LINES.iter().map(fields).collect(),
        })
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        self.wiphy.put(cx, out);
        out.extend_from_slice(b" vif:");
        self.vif.put(cx, out);
        out.push(b'(');
        decimal(&self.kind, cx, out);
        out.push(b')');
        let last = self.lines.len().saturating_sub(1);
        for (number, line) in self.lines.iter().enumerate() {
            out.push(b'\n');
            out.extend_from_slice(&[b' '; INDENT]);
            let mut rest = line.iter();
            while let Some((name, field, hex)) = rest.next() {
                if let Some(field) = field {
                    out.extend_from_slice(name.as_bytes());
                    out.push(b':');
                    if *hex {
                        let value = field.get(cx);
                        out.extend_from_slice(if value == 0 { b"" } else { b"0x" });
                        num::hex(out, value);
                    } else {
                        decimal(field, cx, out);
                    }
                }
                // A blank stands after each but those that end the last two lines.
                if number == 0 || rest.len() > 0 && number < last {
                    out.push(b' ');
                }
            }
        }
    }
}

/// As C's `%d`: trace-cmd has it print the types of interfaces too, which are unsigned.
fn decimal(field: &NumberField, cx: &Context<'_>, out: &mut Vec<u8>) {
    num::signed(out, i64::from(field.get(cx) as i32));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::{Abi, Endian};
    use crate::kernel::symbols::Symbols;

    /// The layout is that of libtraceevent's mac80211 plugin; fields that a kernel lacks are left out.
    #[test]
    fn four_lines() {
        let format = "name: drv_bss_info_changed\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n
\tfield:char wiphy_name[32];\toffset:8;\tsize:32;\tsigned:1;
\tfield:enum nl80211_iftype vif_type;\toffset:40;\tsize:4;\tsigned:0;
\tfield:__data_loc char[] vif_name;\toffset:44;\tsize:4;\tsigned:1;
\tfield:bool assoc;\toffset:48;\tsize:1;\tsigned:0;
\tfield:u16 aid;\toffset:50;\tsize:2;\tsigned:0;
\tfield:u16 bcnint;\toffset:52;\tsize:2;\tsigned:0;
\tfield:u32 basic_rates;\toffset:56;\tsize:4;\tsigned:0;
\nprint fmt: \"\"\n";
        let mut data = [0u8; 66];
        data[8..12].copy_from_slice(b"phy0");
        (data[40], data[44], data[46], data[48], data[50], data[52], data[56]) = (2, 60, 6, 1, 7, 100, 0x1f);
        data[60..65].copy_from_slice(b"wlan0");
        let event = EventFormat::parse("mac80211", format).unwrap();
        let symbols = Symbols::default();
        let cx =
            Context { data: &data, abi: Abi { endian: Endian::Little, long_size: 8 }, symbols: &symbols, lists: false };
        let mut out = Vec::new();
        BssInfo::new(&event).unwrap().write(&cx, &mut out);
        let lines: Vec<String> = String::from_utf8(out).unwrap().lines().map(|line| line.trim().to_owned()).collect();
        assert_eq!(lines, ["phy0 vif:wlan0(2)", "assoc:1 aid:7", "bcnint:100  basic_rates:0x1f", ""]);
    }
}
