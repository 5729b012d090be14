//! `rtrace setup-guest`: FIFOs, and how an emulator gets them.

use crate::common::environment::TestEnvironment;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};

#[test]
fn fifos_and_the_options_of_the_emulator() {
    let env = TestEnvironment::new();
    let made = env.rtrace(&["setup-guest", "-c", "2", "-p", "640", "--dir", "virt", "vm"]).exits(0).stdout();
    assert_eq!(
        made,
        "virt/vm: FIFOs of 2 CPUs\nQEMU connects them to the guest with\n  -device virtio-serial,id=trace-serial0 \\\n  \
         -chardev pipe,id=trace-cpu0,path=virt/vm/trace-pipe-cpu0 \
         -device virtserialport,bus=trace-serial0.0,chardev=trace-cpu0,name=trace-pipe-cpu0 \\\n  \
         -chardev pipe,id=trace-cpu1,path=virt/vm/trace-pipe-cpu1 \
         -device virtserialport,bus=trace-serial0.0,chardev=trace-cpu1,name=trace-pipe-cpu1\n"
    );
    for name in ["trace-pipe-cpu0.in", "trace-pipe-cpu0.out", "trace-pipe-cpu1.in", "trace-pipe-cpu1.out"] {
        let fifo = fs::metadata(env.path().join("virt/vm").join(name)).unwrap();
        assert!(fifo.file_type().is_fifo() && fifo.permissions().mode() & 0o777 == 0o640, "{name}");
    }
    let fails = |line: &str, exit: i32, says: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        env.rtrace(&words).exits(exit).complains_with(says);
    };
    fails("setup-guest -c 1 --dir virt ../x", 2, "is no name of a guest");
    fails("setup-guest -c 1 --dir virt -g no-such-group vm", 2, "there is no group no-such-group");
    fails("setup-guest -c 1 --dir virt -p 999 vm", 2, "expected octal digits");
    fs::write(env.path().join("virt/vm/trace-pipe-cpu2.in"), "").unwrap();
    fails("setup-guest -c 3 --dir virt vm", 1, "trace-pipe-cpu2.in");
}
