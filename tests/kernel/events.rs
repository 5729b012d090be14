//! The events of a kernel: all of its formats are understood, and listing them leaves everything as it was.

use crate::guest_machine::{Guest, Kernel, on_kernels};

on_kernels!(every_format_is_understood: V6_1, V6_12, V6_18, V7, Arm64, I386, Riscv64, AllTracers, All7 => |kernel| {
    // The text of extlog_mem_event, which kernels for servers and desktops have, is made by code of the firmware driver's
    // (drivers/firmware/efi/cper.c): it is named as not understood, and no other is.
    let script = "knobs > before\n\
                  rtrace check-events > checked 2>&1 || ! grep -v '^ras:extlog_mem_event: \\|^rtrace: 1 of ' checked || exit\n\
                  rtrace list -e > events || exit\n knobs > after\n diff before after\n";
    let Some(guest) = Guest::run(kernel, script, &[]) else { return };
    let offered = guest.text("events").lines().filter(|line| line.contains(':')).count();
    let least = match kernel {
        Kernel::V6_1 | Kernel::V6_12 | Kernel::V6_18 | Kernel::V7 => 1200,
        _ => 800,
    };
    assert!(offered >= least, "{kernel:?} lists {offered} events only");
    assert_eq!(guest.text("stdout"), "", "knobs changed");
});
