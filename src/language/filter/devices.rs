//! Numbers of devices as filters compare them: the kernel's `dev_t`, of which events print `MAJOR,MINOR`.

use crate::kernel::format::EventFormat;

/// Bits of the minor number (`MINORBITS` of the kernel's `include/linux/kdev_t.h`).
const MINOR_BITS: u32 = 20;

/// The number of `MAJOR,MINOR` or `MAJOR:MINOR`.
fn number(text: &str) -> Option<u32> {
    let (major, minor) = text.split_once([',', ':'])?;
    let (major, minor): (u32, u32) = (major.trim().parse().ok()?, minor.trim().parse().ok()?);
    (major < 1 << (u32::BITS - MINOR_BITS) && minor < 1 << MINOR_BITS).then_some(major << MINOR_BITS | minor)
}

/// The hint on a text that `field`, a device of `format`, is compared with.
pub(super) fn hint(format: &EventFormat, field: &str, text: &str) -> Option<String> {
    let is_device = format.field(field).is_some_and(|field| field.type_name.contains("dev_t"));
    is_device.then(|| device_hint(field, text)).flatten().or_else(|| {
        is_device.then(|| format!("a device is a number, as `{field} == 0x800010` of 8,16: `cat /sys/block/{text}/dev` prints MAJOR:MINOR, whose number is major << 20 | minor"))
    })
}

/// The hint on a device in the form that events print, `MAJOR,MINOR`, or as sysfs has it, `MAJOR:MINOR`.
pub fn device_hint(field: &str, pair: &str) -> Option<String> {
    number(pair).map(|number| format!("the device {pair} is a number: `{field} == {number:#x}`"))
}

/// The hint on a filter in which a device stands as a pair, at which `rest`, its second half, begins behind `before`.
pub(super) fn at(before: &str, rest: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let minor = rest.strip_prefix([',', ':'])?;
    let minor = minor.get(..minor.find(|c| !is_digit(c)).unwrap_or(minor.len()))?;
    let (left, operator) = (before.trim_end_matches(is_digit), rest.get(..1)?);
    let major = before.get(left.len()..)?;
    let field = left.trim_end().trim_end_matches(['=', '!']).split_whitespace().next_back()?;
    device_hint(field.trim_start_matches('('), &format!("{major}{operator}{minor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_numbers() {
        for (before, rest) in
            [("dev == 254", ",0"), ("bytes > 4 && (dev==254", ":0)"), ("dev != 254", ",0 && bytes > 4")]
        {
            let hint = at(before, rest).unwrap_or_default();
            assert!(hint.ends_with("is a number: `dev == 0xfe00000`"), "{before}{rest}: {hint}");
        }
        for (before, rest) in [("dev == ", ",0"), ("dev == 254", ", 0"), ("dev == 99999", ",0"), ("dev == 4", " x")] {
            assert_eq!(at(before, rest), None, "{before}{rest}");
        }
    }
}
