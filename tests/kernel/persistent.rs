//! An instance whose memory outlives a restart: what the last boot wrote is shown, and saved as a file that decodes.

use crate::guest_machine::{Guest, Kernel, on_kernels};

const SCRIPT: &str = r#"
T=/sys/kernel/tracing/instances/boot_map
mkdir -p /mnt && mount -t ext4 /dev/vdb /mnt || exit 1
if [ ! -e /mnt/written ]; then
  echo 1 > $T/events/sched/sched_switch/enable
  for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done
  echo 0 > $T/tracing_on
  cat $T/trace > /mnt/written
  umount /mnt; sync
  reboot -f
  sleep 600
fi
grep -v '^#' /mnt/written > written
grep -v '^#' $T/trace > survived
rtrace instance list > list || exit 2
rtrace instance show boot_map > shown || exit 3
rtrace instance save boot_map saved.dat 2> said || { cat said; exit 4; }
rtrace report -i saved.dat > report || exit 5
grep -v '^#' $T/trace > after
rtrace instance remove boot_map --force 2> refused
exit 0
"#;

on_kernels!(what_the_last_boot_wrote_is_saved: V6_12, AllTracers => |kernel| {
    let how = ["-r", "-a", "nokaslr", "-a", "reserve_mem=8M:4096:trace", "-a", "trace_instance=boot_map@trace"];
    let Some(guest) = Guest::run_with(&how, kernel, SCRIPT, &[]) else { return };
    assert!(guest.text("list").contains("persistent"), "{}", guest.text("list"));
    assert!(guest.text("shown").contains("perhaps with events of the last boot"), "{}", guest.text("shown"));
    let stamps = |file: &str| -> Vec<String> {
        let text = guest.text(file);
        let stamp = |line: &str| line.split_whitespace().find(|w| w.ends_with(':')).map(str::to_owned);
        text.lines().filter(|line| line.contains("sched_switch")).filter_map(stamp).collect()
    };
    let written = stamps("written");
    assert!(written.len() > 10, "{written:?}");
    // A kernel may drop what it was writing when the machine went down; what it kept is what is saved.
    let survived = stamps("survived");
    assert!(survived.len() > 10 && survived.iter().all(|stamp| written.contains(stamp)), "{survived:?}");
    assert_eq!(stamps("report"), survived);
    assert_eq!(stamps("after"), Vec::<String>::new(), "saving moves");
});
