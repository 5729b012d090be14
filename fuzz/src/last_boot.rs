//! Any texts as `last_boot_info`, kallsyms, printk_formats and /proc/modules, with a NUL between them: symbols and
//! strings are moved, never more than there are and never another name.

use rtrace::symbols::LastBoot;

pub(crate) fn run(data: &[u8]) {
    let [info, kallsyms, printk, modules] = crate::parts(data);
    let Some(then) = LastBoot::parse(&String::from_utf8_lossy(info)) else { return };
    let Some(moved) = then.apply(kallsyms, printk, modules) else { return };
    same_but_for_addresses(kallsyms, &moved.kallsyms, b"");
    same_but_for_addresses(printk, &moved.printk_formats, b"0x");
}

/// Each line of `moved` is one of `lines`, in their order, with another number after the `prefix`.
fn same_but_for_addresses(lines: &[u8], moved: &[u8], prefix: &[u8]) {
    let rest = |line: &[u8]| {
        let line = line.strip_prefix(prefix).unwrap_or(line);
        line.iter().skip_while(|byte| byte.is_ascii_hexdigit()).copied().collect::<Vec<u8>>()
    };
    let mut lines = lines.split(|byte| *byte == b'\n').map(rest);
    for line in moved.split_inclusive(|byte| *byte == b'\n') {
        let line = rest(line.strip_suffix(b"\n").expect("whole lines"));
        assert!(lines.any(|other| other == line), "a line that was not there: {line:?}");
    }
}
